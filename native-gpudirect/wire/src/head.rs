mod fields;

use crate::ChecksumAlgorithm;
use crate::text::{push_latin1, trim_latin1};
use std::fmt;
use std::mem::MaybeUninit;

/// Longest head of an answer, in bytes: status line, all fields and the line that ends them.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Most fields that a caller may allow.
const MOST_HEADERS: usize = 256;

/// Why bytes are not the head of an HTTP/1.1 answer, or one that contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(&'static str);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}

/// The fields of an answer that a GET cares about. Their text stands in one string, and a head can be read into again, so
/// that reading one allocates nothing once that string is large enough. Where a field comes twice, the last one counts,
/// but for those that say where the body ends: they must agree.
#[derive(Clone, Debug, Default)]
pub struct Head {
    status: u16,
    text: String,
    spans: [Span; FIELDS],
    content_length: Option<u64>,
    checksum_algorithm: Option<ChecksumAlgorithm>,
    transfer_encoding: bool,
    says_close: bool,
    says_keep_alive: bool,
    is_http_1_0: bool,
}

/// Of `Head::text`. A head has no more than twice `MAX_HEAD_BYTES` bytes of text.
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    is_there: bool,
    from: u32,
    to: u32,
}

#[derive(Clone, Copy)]
enum Field {
    Etag,
    Date,
    RetryAfter,
    ContentType,
    ContentRange,
    RequestId,
    BucketRegion,
    ChecksumType,
    Checksum,
}
const FIELDS: usize = Field::Checksum as usize + 1;

/// Reads the head of an answer from the first bytes that came: the head and its length in bytes, or none where more bytes
/// are needed. At most `max_headers` fields (256 at the most) and [`MAX_HEAD_BYTES`] are taken.
///
/// An interim answer (1xx) is a head like any other: the caller skips it, but 101, which nobody asked for.
pub fn parse_head(bytes: &[u8], max_headers: usize) -> Result<Option<(Head, usize)>, Malformed> {
    let mut head = Head::default();
    Ok(head.read(bytes, max_headers)?.map(|length| (head, length)))
}

impl Head {
    /// As [`parse_head`], into this head: the length in bytes, or none where more bytes are needed.
    pub fn read(&mut self, bytes: &[u8], max_headers: usize) -> Result<Option<usize>, Malformed> {
        let looked_at = &bytes[..bytes.len().min(MAX_HEAD_BYTES)];
        let mut fields = [const { MaybeUninit::uninit() }; MOST_HEADERS];
        let fields = &mut fields[..max_headers.min(MOST_HEADERS)];
        let mut response = httparse::Response::new(&mut []);
        let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
            &mut response,
            looked_at,
            fields,
        );
        let length = match parsed.map_err(malformed)? {
            httparse::Status::Complete(length) => length,
            httparse::Status::Partial if looked_at.len() == MAX_HEAD_BYTES => {
                return Err(Malformed("the head of the answer is too long"));
            }
            httparse::Status::Partial => return Ok(None),
        };
        check_line_ends(&looked_at[..length])?;
        self.reset();
        self.status = response.code.unwrap_or_default();
        self.is_http_1_0 = response.version == Some(0);
        if self.status < 100 {
            return Err(Malformed("the status is not a number of three digits"));
        }
        for field in response.headers.iter() {
            self.take(field.name.as_bytes(), trim_latin1(field.value))?;
        }
        self.check_framing()?;
        Ok(Some(length))
    }

    fn reset(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        *self = Head {
            text,
            ..Head::default()
        };
    }

    fn keep(&mut self, field: Field, value: &[u8]) {
        let from = self.text.len() as u32;
        push_latin1(&mut self.text, value);
        self.spans[field as usize] = Span {
            is_there: true,
            from,
            to: self.text.len() as u32,
        };
    }

    fn get(&self, field: Field) -> Option<&str> {
        let Span { is_there, from, to } = self.spans[field as usize];
        if is_there {
            self.text.get(from as usize..to as usize)
        } else {
            None
        }
    }

    /// The status code, 100 to 999.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// ETag, as it came.
    pub fn etag(&self) -> Option<&str> {
        self.get(Field::Etag)
    }

    /// Content-Length, below 10^15.
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }

    /// Content-Range, as it came.
    pub fn content_range(&self) -> Option<&str> {
        self.get(Field::ContentRange)
    }

    /// Content-Type, as it came.
    pub fn content_type(&self) -> Option<&str> {
        self.get(Field::ContentType)
    }

    /// Retry-After, as it came; see [`crate::parse_retry_after_ns`].
    pub fn retry_after(&self) -> Option<&str> {
        self.get(Field::RetryAfter)
    }

    /// x-amz-request-id.
    pub fn request_id(&self) -> Option<&str> {
        self.get(Field::RequestId)
    }

    /// x-amz-bucket-region.
    pub fn bucket_region(&self) -> Option<&str> {
        self.get(Field::BucketRegion)
    }

    /// Date, as it came.
    pub fn date(&self) -> Option<&str> {
        self.get(Field::Date)
    }

    /// x-amz-checksum-type: `FULL_OBJECT` or `COMPOSITE`, where the store says.
    pub fn checksum_type(&self) -> Option<&str> {
        self.get(Field::ChecksumType)
    }

    /// The strongest checksum that the store sent, in base64.
    pub fn checksum(&self) -> Option<(ChecksumAlgorithm, &str)> {
        Some((self.checksum_algorithm?, self.get(Field::Checksum)?))
    }

    /// The body is chunked; see [`crate::Framing`].
    pub fn is_chunked(&self) -> bool {
        self.transfer_encoding
    }

    /// The version is HTTP/1.0, not HTTP/1.1.
    pub fn is_http_1_0(&self) -> bool {
        self.is_http_1_0
    }

    /// The connection may serve another request after this answer (RFC 9112, 9.3).
    pub fn keeps_alive(&self) -> bool {
        !self.says_close && (!self.is_http_1_0 || self.says_keep_alive)
    }
}

/// A bare LF ends a line for some readers and not for others.
fn check_line_ends(head: &[u8]) -> Result<(), Malformed> {
    for at in memchr::memchr_iter(b'\n', head) {
        if at == 0 || head[at - 1] != b'\r' {
            return Err(Malformed("a line of the head does not end in CR LF"));
        }
    }
    Ok(())
}

fn malformed(error: httparse::Error) -> Malformed {
    Malformed(match error {
        httparse::Error::HeaderName => "a field of the head has no name, or one that cannot be",
        httparse::Error::HeaderValue => "a field of the head has a control character in its value",
        httparse::Error::NewLine => "a line of the head does not end in CR LF",
        httparse::Error::Status => "the status line is not one of HTTP",
        httparse::Error::TooManyHeaders => "too many fields in the head",
        httparse::Error::Version => "the answer does not begin as HTTP/1.1 or HTTP/1.0 does",
        httparse::Error::Token => "a character that cannot stand in a head",
    })
}
