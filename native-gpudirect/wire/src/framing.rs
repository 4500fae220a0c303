use crate::Head;

/// Where the body of an answer to a GET ends (RFC 9112, 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// After so many bytes.
    Length(u64),
    /// Where the chunks say; see [`crate::ChunkDecoder`].
    Chunked,
    /// Where the connection ends.
    UntilClose,
    /// There is no body: 1xx, 204 and 304.
    None,
}

impl Framing {
    /// The framing of this answer. What contradicts itself never became a head.
    pub fn of(head: &Head) -> Framing {
        if matches!(head.status(), 100..=199 | 204 | 304) {
            Framing::None
        } else if head.is_chunked() {
            Framing::Chunked
        } else {
            head.content_length().map_or(Framing::UntilClose, Framing::Length)
        }
    }
}
