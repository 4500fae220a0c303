use crate::text::latin1;
use crate::{Class, Credentials, Head, Hider, parse_retry_after_ns, printable_start, read_error_document};

/// Longest part of an error answer's body that is looked at, in bytes.
pub const ERROR_BODY_KEPT_BYTES: usize = 4096;

const EXPIRED_CODES: [&str; 3] = ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"];
const THROTTLED_CODES: [&str; 8] = [
    "SlowDown",
    "SlowDownRead",
    "ServiceUnavailable",
    "Throttling",
    "ThrottlingException",
    "RequestLimitExceeded",
    "TooManyRequests",
    "BandwidthLimitExceeded",
];
const OTHER_REGION: [&str; 3] = [
    "PermanentRedirect",
    "TemporaryRedirect",
    "AuthorizationHeaderMalformed",
];
/// How stores say that they do not know a conditional header.
const HEADER_UNKNOWN: [&str; 4] = [
    "NotImplemented",
    "InvalidArgument",
    "InvalidRequest",
    "UnsupportedHeader",
];

/// What of the request the meaning of an answer depends on.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredRequest<'a> {
    /// It had an If-Match header.
    pub if_match: bool,
    /// The region it was signed for.
    pub signing_region: &'a str,
    /// What it was signed with; none: anonymous. Taken out of what the answer says: some stores and proxies echo the request.
    pub credentials: Option<&'a Credentials>,
    /// The Proxy-Authorization that it had; taken out likewise.
    pub proxy_authorization: Option<&'a str>,
    /// Milliseconds since 1970.
    pub now_ms: u64,
}

impl AnsweredRequest<'_> {
    fn may_be_expired(&self) -> bool {
        self.credentials
            .is_some_and(|credentials| credentials.may_be_expired(self.now_ms))
    }
}

/// An answer that is no object, put in a class. No text in it has the request's secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorAnswer {
    /// Its class.
    pub class: Class,
    /// The store seems to have refused If-Match itself, not the object's version; the class is `Server`.
    pub if_match_refused: bool,
    /// S3's error code.
    pub s3_code: Option<String>,
    /// S3's sentence.
    pub message: Option<String>,
    /// The store's name for the request.
    pub request_id: Option<String>,
    /// The region that the bucket is in, as the store says.
    pub region: Option<String>,
    /// The Date header, as it came: the store's clock.
    pub date: Option<String>,
    /// First characters of the body, fit for a terminal.
    pub body_start: String,
    /// What the store asked for with Retry-After; 0: nothing.
    pub retry_after_ns: u64,
}

/// Puts an answer that is no object in its class. `body`: as it came, of which the first 4 KiB count.
pub fn classify_answer(status: u16, head: &Head, body: &[u8], request: &AnsweredRequest<'_>) -> ErrorAnswer {
    let hider = Hider::of(request.credentials).and_of_proxy(request.proxy_authorization);
    let hidden = |text: Option<&str>| text.map(|text| hider.hide(text));
    let body = hider.hide(&latin1(&body[..body.len().min(ERROR_BODY_KEPT_BYTES)]));
    let document = read_error_document(&body);
    let code = document.code.as_deref();
    let region = hidden(head.bucket_region()).or(document.region);
    let class = class_of(status, code, body.is_empty(), region.as_deref(), request);
    ErrorAnswer {
        class,
        if_match_refused: class == Class::Server && refuses_if_match(status, code, request),
        s3_code: document.code,
        message: document.message,
        request_id: hidden(head.request_id()).or(document.request_id),
        region,
        date: hidden(head.date()),
        body_start: printable_start(&body),
        retry_after_ns: parse_retry_after_ns(head.retry_after(), request.now_ms),
    }
}

/// Whether the store seems to have refused If-Match itself, not the object's version.
pub fn refuses_if_match(status: u16, s3_code: Option<&str>, request: &AnsweredRequest<'_>) -> bool {
    if !request.if_match {
        return false;
    }
    if status == 501 || s3_code == Some("NotImplemented") {
        return true;
    }
    status == 400
        && s3_code.map_or_else(
            || !request.may_be_expired(),
            |code| HEADER_UNKNOWN.contains(&code),
        )
}

fn class_of(
    status: u16,
    code: Option<&str>,
    bodyless: bool,
    region: Option<&str>,
    request: &AnsweredRequest<'_>,
) -> Class {
    let is_one_of = |codes: &[&str]| code.is_some_and(|code| codes.contains(&code));
    let elsewhere = region.is_some_and(|region| region != request.signing_region);
    match status {
        _ if is_one_of(&EXPIRED_CODES) => Class::Expired,
        _ if is_one_of(&THROTTLED_CODES) => Class::Throttled,
        503 | 429 => Class::Throttled,
        _ if refuses_if_match(status, code, request) => Class::Server,
        500.. | 408 => Class::Server,
        _ if is_one_of(&["RequestTimeout", "InternalError"]) => Class::Server,
        412 | 416 => Class::Changed,
        404 => Class::NotFound,
        301 | 302 | 307 | 308 => Class::Moved,
        _ if is_one_of(&OTHER_REGION) => Class::Moved,
        400 if elsewhere => Class::Moved,
        400 if bodyless && request.may_be_expired() => Class::Expired,
        403 if code == Some("InvalidObjectState") => Class::Archived,
        403 | 401 => Class::Forbidden,
        _ if code == Some("InvalidToken") => Class::Forbidden,
        400.. => Class::Refused,
        200 | 206 => Class::Server,
        _ => Class::Protocol,
    }
}
