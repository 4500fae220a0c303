//! Tables of answers and what they mean.

use super::{Outcome, answer, error_xml, receive};
use os2g_wire::{AnsweredRequest, Asked};

pub const BODY: &[u8] = b"0123456789abcdefghij";
pub const SIZE: u64 = BODY.len() as u64;
pub const ETAG: &str = "\"e1\"";
pub const NOW_MS: u64 = 1_700_000_000_000;

pub struct Row {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub range: (u64, u64),
    pub etag: Option<&'static str>,
    pub if_match: bool,
    pub closes: bool,
    pub outcome: &'static str,
    pub says: &'static str,
    pub s3_code: Option<&'static str>,
    pub region: Option<&'static str>,
    pub retry_after_ns: u64,
}

pub fn row(name: &'static str, bytes: Vec<u8>, outcome: &'static str) -> Row {
    Row {
        name,
        bytes,
        range: (0, SIZE),
        etag: Some(ETAG),
        if_match: false,
        closes: false,
        outcome,
        says: "",
        s3_code: None,
        region: None,
        retry_after_ns: 0,
    }
}

impl Row {
    pub fn closes(self) -> Row {
        Row { closes: true, ..self }
    }
    pub fn range(self, offset: u64, length: u64) -> Row {
        Row {
            range: (offset, length),
            ..self
        }
    }
    pub fn says(self, says: &'static str) -> Row {
        Row { says, ..self }
    }
    pub fn code(self, code: &'static str) -> Row {
        Row {
            s3_code: Some(code),
            ..self
        }
    }
    pub fn region(self, region: &'static str) -> Row {
        Row {
            region: Some(region),
            ..self
        }
    }
}

pub fn good(status: u16, fields: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let length = body.len().to_string();
    let mut all = vec![("Content-Length", &*length)];
    if !fields.iter().any(|(name, _)| *name == "ETag") {
        all.push(("ETag", ETAG));
    }
    all.extend_from_slice(fields);
    answer(status, &all, body)
}
pub fn error(status: u16, code: &str, fields: &[(&str, &str)], more: &str) -> Vec<u8> {
    let body = error_xml(code, more);
    let length = body.len().to_string();
    let mut all = vec![("Content-Type", "application/xml"), ("Content-Length", &*length)];
    all.extend_from_slice(fields);
    answer(status, &all, body.as_bytes())
}
pub fn bare(status: u16, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut all = vec![("Content-Length", "0")];
    all.extend_from_slice(fields);
    answer(status, &all, b"")
}
pub fn in_chunks(fields: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut all = vec![("ETag", ETAG), ("Transfer-Encoding", "chunked")];
    all.extend_from_slice(fields);
    answer(200, &all, body)
}
pub fn part(range: &str) -> Vec<u8> {
    good(206, &[("Content-Range", range)], b"3456")
}

/// Fails with the name of the first row that has another outcome.
pub fn check(rows: Vec<Row>) {
    for row in rows {
        let (offset, length) = row.range;
        let asked = Asked {
            offset,
            length,
            object_size: SIZE,
            etag: row.etag,
        };
        let request = AnsweredRequest {
            if_match: row.if_match,
            signing_region: "us-east-1",
            credentials: None,
            proxy_authorization: None,
            now_ms: NOW_MS,
        };
        let got = receive(&[&row.bytes], row.closes, &asked, &request);
        assert_eq!(got.name(), row.outcome, "{}: {got:?}", row.name);
        match &got {
            Outcome::Fetched(bytes) => {
                assert_eq!(
                    *bytes,
                    BODY[offset as usize..(offset + length) as usize],
                    "{}",
                    row.name
                );
            }
            Outcome::Failed { what, .. } if !row.says.is_empty() => {
                assert_eq!(what, row.says, "{}", row.name)
            }
            _ => {}
        }
        let answer = got.answer();
        if row.s3_code.is_some() {
            assert_eq!(
                answer.and_then(|answer| answer.s3_code.as_deref()),
                row.s3_code,
                "{}",
                row.name
            );
        }
        assert_eq!(
            answer.and_then(|answer| answer.region.as_deref()),
            row.region,
            "{}",
            row.name
        );
        assert_eq!(
            answer.map_or(0, |answer| answer.retry_after_ns),
            row.retry_after_ns,
            "{}",
            row.name
        );
    }
}
