use napi_derive::napi;
use os2g_engine::Failure;

/// See `NativeFailure` of the TypeScript side.
#[napi(object, use_nullable = true)]
pub struct NativeFailure {
    /// Number of the class.
    pub class: u32,
    /// A sentence; none where the store's answer says it all.
    pub what: Option<String>,
    /// HTTP status, or 0.
    pub status: u32,
    /// `Code` of the error document.
    pub s3_code: Option<String>,
    /// `Message` of the error document.
    pub message: Option<String>,
    /// The store's id of the request.
    pub request_id: Option<String>,
    /// Where the bucket is.
    pub region: Option<String>,
    /// How the body begins.
    pub body_start: Option<String>,
    /// ETag that was wanted.
    pub expected_etag: Option<String>,
    /// ETag that came.
    pub actual_etag: Option<String>,
    /// `Date` of the answer.
    pub date: Option<String>,
    /// The store refused If-Match itself.
    pub refuses_if_match: bool,
    /// Which credentials signed the request; 0: none.
    pub credentials_generation: f64,
}

impl From<Failure> for NativeFailure {
    fn from(failure: Failure) -> NativeFailure {
        NativeFailure {
            class: u32::from(failure.class.number()),
            what: failure.what,
            status: u32::from(failure.status),
            s3_code: failure.s3_code,
            message: failure.message,
            request_id: failure.request_id,
            region: failure.region,
            body_start: failure.body_start,
            expected_etag: failure.expected_etag,
            actual_etag: failure.actual_etag,
            date: failure.date,
            refuses_if_match: failure.if_match_refused,
            credentials_generation: failure.credentials as f64,
        }
    }
}
