use os2g_wire::{Class, Verdict};

/// Why the last attempt of a request failed. Whatever a store said is here without the request's secrets.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// As in the completion.
    pub class: Class,
    /// What happened, as a sentence without the object's name; `None` where the store answered with an error: then the
    /// sentence is to be made of the fields below.
    pub what: Option<String>,
    /// HTTP status; 0: no answer came so far.
    pub status: u16,
    /// `Code` of the error document.
    pub s3_code: Option<String>,
    /// `Message` of the error document.
    pub message: Option<String>,
    /// The store's id of the request.
    pub request_id: Option<String>,
    /// The bucket's region, where the store names it.
    pub region: Option<String>,
    /// The first characters of an error answer's body, fit for a terminal.
    pub body_start: Option<String>,
    /// The ETag that was wanted, in quotes; of class `changed` only.
    pub expected_etag: Option<String>,
    /// The ETag that the store has, as it gave it; of class `changed` only.
    pub actual_etag: Option<String>,
    /// `Date` of an error answer: the store's clock.
    pub date: Option<String>,
    /// The store seems to have refused If-Match itself, not the object's version.
    pub if_match_refused: bool,
    /// The request was not signed.
    pub anonymous: bool,
    /// What [`crate::Engine::set_credentials`] returned for the credentials that the request was signed with; 0 for none.
    pub credentials: u64,
    /// When an error answer was judged: milliseconds since 1970, on the options' clock; else 0.
    pub at_ms: f64,
    /// How long the store asks to wait, in nanoseconds; 0: it does not say.
    pub retry_after_ns: u64,
}

impl Failure {
    pub(crate) fn new(class: Class, what: impl Into<String>) -> Failure {
        Failure {
            class,
            what: Some(what.into()),
            status: 0,
            s3_code: None,
            message: None,
            request_id: None,
            region: None,
            body_start: None,
            expected_etag: None,
            actual_etag: None,
            date: None,
            if_match_refused: false,
            anonymous: false,
            credentials: 0,
            at_ms: 0.0,
            retry_after_ns: 0,
        }
    }
}

impl From<Verdict> for Failure {
    fn from(verdict: Verdict) -> Failure {
        Failure::new(verdict.class, verdict.what)
    }
}
