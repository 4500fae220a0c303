//! S3 GET over HTTP/1.1 without I/O: what is written, what comes back, and what that means.
//!
//! Nothing here opens a socket, starts a thread or waits. The engine hands in bytes and times and is told what they mean.

#![forbid(unsafe_code)]

mod amz_date;
mod checksum;
mod chunks;
mod class;
mod classify;
mod credentials;
mod error_document;
mod field_value;
mod framing;
mod head;
mod hide;
mod object_path;
mod pinned_etags;
mod request;
mod response_check;
mod retry_after;
mod sigv4;
mod text;
mod unaskable;

pub use checksum::{ChecksumAlgorithm, RunningChecksum};
pub use chunks::{BadChunk, ChunkDecoder, Step};
pub use class::Class;
pub use classify::{AnsweredRequest, ERROR_BODY_KEPT_BYTES, ErrorAnswer, classify_answer, refuses_if_match};
pub use credentials::Credentials;
pub use error_document::{ErrorDocument, printable_start, read_error_document};
pub use framing::Framing;
pub use head::{Head, MAX_HEAD_BYTES, Malformed, parse_head};
pub use hide::Hider;
pub use object_path::{encode_object_path, may_be_folded};
pub use pinned_etags::PinnedEtags;
pub use request::{Get, RequestWriter, Target};
pub use response_check::{
    Asked, Verdict, check_answer, is_document_instead_of_object, quoted_etag, range_text, same_etag,
};
pub use retry_after::parse_retry_after_ns;
pub use sigv4::{EMPTY_SHA256, RequestSigner, SignedField};
pub use unaskable::{Wanted, why_unaskable};
