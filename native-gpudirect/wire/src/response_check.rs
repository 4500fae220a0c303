use crate::text::{json_quoted, whole_number};
use crate::{Class, Head};

/// What was asked for, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// First byte of the range.
    pub offset: u64,
    /// Bytes of the range, at least 1.
    pub length: u64,
    /// Bytes of the whole object.
    pub object_size: u64,
    /// The ETag that the answer must carry; none: any.
    pub etag: Option<&'a str>,
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its class.
    pub class: Class,
    /// A sentence for people; it may repeat what the store said.
    pub what: String,
}

/// ETags compare without their quotes: stores leave them out in one place or the other.
pub fn same_etag(a: &str, b: &str) -> bool {
    bare_etag(a) == bare_etag(b)
}

/// An ETag as If-Match wants it.
pub fn quoted_etag(etag: &str) -> String {
    format!("\"{}\"", bare_etag(etag))
}

fn bare_etag(etag: &str) -> &str {
    etag.strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(etag)
}

/// An error page under a good status: XML or HTML without an ETag, from a store that had begun to answer when it failed
/// (or from something in between that is no store).
pub fn is_document_instead_of_object(head: &Head) -> bool {
    if head.etag().is_some() || head.content_range().is_some() {
        return false;
    }
    head.content_type()
        .is_some_and(|kind| kind.contains("xml") || kind.contains("html"))
}

/// Whether an answer of status 200 or 206 is the one that was asked for, before a byte of it is used; none where it is.
pub fn check_answer(status: u16, head: &Head, asked: &Asked<'_>) -> Option<Verdict> {
    let of_range = |head| {
        if status == 206 {
            check_content_range(head, asked)
        } else {
            check_whole(asked)
        }
    };
    check_etag(head, asked)
        .or_else(|| of_range(head))
        .or_else(|| check_content_length(head, asked))
}

fn wrong(class: Class, what: String) -> Option<Verdict> {
    Some(Verdict { class, what })
}

fn check_etag(head: &Head, asked: &Asked<'_>) -> Option<Verdict> {
    let expected = asked.etag?;
    let Some(etag) = head.etag() else {
        return wrong(
            Class::Changed,
            format!("the answer has no ETag, expected {}", quoted_etag(expected)),
        );
    };
    if same_etag(etag, expected) {
        return None;
    }
    let expected = quoted_etag(expected);
    wrong(
        Class::Changed,
        format!("the object was replaced: its ETag is {etag}, the manifest says {expected}"),
    )
}

fn check_whole(asked: &Asked<'_>) -> Option<Verdict> {
    if asked.offset == 0 && asked.length == asked.object_size {
        return None;
    }
    let range = range_text(asked.offset, asked.length);
    wrong(
        Class::Range,
        format!("the store ignored the range {range} and sent the whole object (status 200)"),
    )
}

fn check_content_range(head: &Head, asked: &Asked<'_>) -> Option<Verdict> {
    let wanted = || range_text(asked.offset, asked.length);
    let Some(given) = head.content_range() else {
        let wanted = wanted();
        return wrong(
            Class::Range,
            format!("status 206 without Content-Range, expected bytes {wanted}"),
        );
    };
    let object_size = asked.object_size;
    if let Some(range) = ContentRange::parse(given) {
        if let Some(size) = range
            .size
            .filter(|&size| whole_number(size.as_bytes()) != Some(object_size))
        {
            let what = format!("the object is {size} bytes long, the manifest says {object_size}");
            return wrong(Class::Changed, what);
        }
        if range.first == asked.offset && range.last == asked.offset + (asked.length - 1) {
            return None;
        }
    }
    let (given, wanted) = (json_quoted(given), wanted());
    wrong(
        Class::Range,
        format!("Content-Range is {given}, expected bytes {wanted}/{object_size}"),
    )
}

struct ContentRange<'a> {
    first: u64,
    last: u64,
    /// As it came; none: `*`.
    size: Option<&'a str>,
}

impl<'a> ContentRange<'a> {
    /// `bytes 0-9/10` or `bytes 0-9/*` (RFC 9110, 14.4).
    fn parse(text: &'a str) -> Option<ContentRange<'a>> {
        let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let size = if size == "*" {
            None
        } else {
            whole_number(size.as_bytes())?;
            Some(size)
        };
        let [first, last] = [whole_number(first.as_bytes())?, whole_number(last.as_bytes())?];
        Some(ContentRange { first, last, size })
    }
}

fn check_content_length(head: &Head, asked: &Asked<'_>) -> Option<Verdict> {
    let length = head.content_length()?;
    let class = match length.cmp(&asked.length) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Less => Class::Short,
        std::cmp::Ordering::Greater => Class::Long,
    };
    wrong(
        class,
        format!("Content-Length is {length}, expected {}", asked.length),
    )
}

/// `offset-last` as Range and Content-Range write it; both ends are in.
pub fn range_text(offset: u64, length: u64) -> String {
    format!("{}-{}", offset, offset + length.saturating_sub(1))
}
