use napi_derive::napi;
use os2g_transfer::{Error, Kind};

/// See `NativeTransferFailure` of the TypeScript side.
#[napi(object, use_nullable = true, object_from_js = false)]
pub struct NativeTransferFailure {
    /// For programs.
    pub kind: &'static str,
    /// The driver's name for it, such as `CUDA_ERROR_OUT_OF_MEMORY`.
    pub name: Option<String>,
    /// What happened, as a sentence.
    pub what: String,
    /// What to do, as a sentence.
    pub mend: String,
}

impl From<&Error> for NativeTransferFailure {
    fn from(error: &Error) -> NativeTransferFailure {
        NativeTransferFailure {
            kind: kind_name(&error.kind),
            name: match &error.kind {
                Kind::Driver { name, .. } => Some(name.clone()),
                _ => None,
            },
            what: error.what.clone(),
            mend: error.mend.clone(),
        }
    }
}

fn kind_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::MissingLibrary => "missing_library",
        Kind::MissingSymbol(_) => "missing_symbol",
        Kind::Driver { .. } => "driver",
        Kind::System { .. } => "system",
        Kind::OutOfBounds => "out_of_bounds",
        Kind::UnknownHandle => "unknown_handle",
        Kind::InUse => "in_use",
        Kind::PeerGone => "peer_gone",
        Kind::Refused => "refused",
        Kind::Unsupported => "unsupported",
        Kind::Invalid => "invalid",
        Kind::Full => "full",
        Kind::TimedOut => "timed_out",
        Kind::Closed => "closed",
        _ => "other",
    }
}
