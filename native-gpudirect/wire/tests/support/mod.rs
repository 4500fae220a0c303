//! A reader of answers out of the library's parts, as an engine puts them together, without an engine's connections.
#![allow(dead_code)] // each test program uses a part of it

pub mod requests;
pub mod rows;

use os2g_wire::{
    AnsweredRequest, Asked, ChunkDecoder, Class, ERROR_BODY_KEPT_BYTES, ErrorAnswer, Framing, Head,
    RunningChecksum, Step, check_answer, classify_answer, is_document_instead_of_object, parse_head,
};

pub const MAX_HEADERS: usize = 100;
const MOST_INTERIM: usize = 8;

/// How reading one answer ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Fetched(Vec<u8>),
    Failed {
        class: Class,
        what: String,
        answer: Option<ErrorAnswer>,
    },
    /// All that came is read, and the answer goes on.
    Waiting,
}

impl Outcome {
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Fetched(_) => "fetched",
            Outcome::Failed { class, .. } => class.name(),
            Outcome::Waiting => "waiting",
        }
    }

    pub fn answer(&self) -> Option<&ErrorAnswer> {
        if let Outcome::Failed { answer, .. } = self {
            answer.as_ref()
        } else {
            None
        }
    }
}

fn failed(class: Class, what: String) -> Outcome {
    Outcome::Failed {
        class,
        what,
        answer: None,
    }
}

/// Reads the pieces one after another; `closes`: the connection ends after the last one.
pub fn receive(pieces: &[&[u8]], closes: bool, asked: &Asked<'_>, request: &AnsweredRequest<'_>) -> Outcome {
    let mut reader = Reader::new(*asked, *request);
    for piece in pieces {
        if let Some(outcome) = reader.feed(piece) {
            return outcome;
        }
    }
    if closes { reader.close() } else { Outcome::Waiting }
}

struct Reader<'a> {
    asked: Asked<'a>,
    request: AnsweredRequest<'a>,
    /// Of the head, until it is whole.
    buffer: Vec<u8>,
    interim: usize,
    head: Option<Head>,
    is_error: bool,
    body: Body,
    bytes: Vec<u8>,
    checksum: Option<RunningChecksum>,
}

enum Body {
    Length(u64),
    Chunked(ChunkDecoder),
    UntilClose,
}

impl<'a> Reader<'a> {
    fn new(asked: Asked<'a>, request: AnsweredRequest<'a>) -> Reader<'a> {
        Reader {
            asked,
            request,
            buffer: Vec::new(),
            interim: 0,
            head: None,
            is_error: false,
            body: Body::UntilClose,
            bytes: Vec::new(),
            checksum: None,
        }
    }

    fn feed(&mut self, piece: &[u8]) -> Option<Outcome> {
        if self.head.is_some() {
            return self.feed_body(piece);
        }
        self.buffer.extend_from_slice(piece);
        loop {
            let (head, length) = match parse_head(&self.buffer, MAX_HEADERS) {
                Err(malformed) => return Some(failed(Class::Protocol, malformed.to_string())),
                Ok(None) => return None,
                Ok(Some(read)) => read,
            };
            assert!(length <= self.buffer.len());
            let rest = self.buffer.split_off(length);
            if head.status() >= 200 || head.status() == 101 {
                return self.begin_body(head).or_else(|| self.feed_body(&rest));
            }
            self.interim += 1;
            if self.interim > MOST_INTERIM {
                return Some(failed(Class::Protocol, "too many interim answers".to_owned()));
            }
            self.buffer = rest;
        }
    }

    fn begin_body(&mut self, head: Head) -> Option<Outcome> {
        let status = head.status();
        self.is_error = (status != 200 && status != 206) || is_document_instead_of_object(&head);
        if !self.is_error {
            if let Some(verdict) = check_answer(status, &head, &self.asked) {
                return Some(failed(verdict.class, verdict.what));
            }
            let is_whole = self.asked.length == self.asked.object_size;
            self.checksum = if is_whole {
                RunningChecksum::of(&head)
            } else {
                None
            };
        }
        self.body = match Framing::of(&head) {
            Framing::Length(length) => Body::Length(length),
            Framing::Chunked => Body::Chunked(ChunkDecoder::new()),
            Framing::UntilClose => Body::UntilClose,
            Framing::None => Body::Length(0),
        };
        self.head = Some(head);
        None
    }

    fn feed_body(&mut self, piece: &[u8]) -> Option<Outcome> {
        let mut rest = piece;
        loop {
            let (data, taken) = match &mut self.body {
                Body::UntilClose => (rest.len(), rest.len()),
                Body::Length(0) => return Some(self.complete()),
                Body::Length(left) => {
                    let taken = rest.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= taken as u64;
                    (taken, taken)
                }
                Body::Chunked(decoder) => {
                    let sure = decoder.data_remaining();
                    match decoder.next(rest) {
                        Step::Data(taken) => {
                            assert!(taken as u64 <= sure && taken > 0);
                            (taken, taken)
                        }
                        Step::Skip(taken) => {
                            assert!(sure == 0 && taken > 0);
                            (0, taken)
                        }
                        Step::NeedMore => return None,
                        Step::End => return Some(self.complete()),
                        Step::Bad(bad) => return Some(failed(Class::Protocol, bad.to_string())),
                    }
                }
            };
            if let Some(outcome) = self.take(&rest[..data]) {
                return Some(outcome);
            }
            rest = &rest[taken..];
            if rest.is_empty() && !self.may_be_over() {
                return None;
            }
        }
    }

    fn may_be_over(&self) -> bool {
        !matches!(self.body, Body::UntilClose | Body::Length(1..))
    }

    fn take(&mut self, data: &[u8]) -> Option<Outcome> {
        if !self.is_error && (self.bytes.len() + data.len()) as u64 > self.asked.length {
            let what = format!("more than the {} bytes asked for came", self.asked.length);
            return Some(failed(Class::Long, what));
        }
        let room = ERROR_BODY_KEPT_BYTES.saturating_sub(self.bytes.len());
        let kept = if self.is_error {
            &data[..data.len().min(room)]
        } else {
            data
        };
        self.bytes.extend_from_slice(kept);
        if let Some(checksum) = &mut self.checksum {
            checksum.update(data);
        }
        None
    }

    fn complete(&mut self) -> Outcome {
        let Some(head) = &self.head else {
            return failed(Class::Internal, "a body without a head".to_owned());
        };
        if self.is_error {
            let answer = classify_answer(head.status(), head, &self.bytes, &self.request);
            return Outcome::Failed {
                class: answer.class,
                what: String::new(),
                answer: Some(answer),
            };
        }
        let (came, length) = (self.bytes.len(), self.asked.length);
        if (came as u64) < length {
            return failed(
                Class::Short,
                format!("the body ended after {came} of {length} bytes"),
            );
        }
        match &self.checksum {
            Some(checksum) if checksum.digest() != checksum.expected() => failed(
                Class::Checksum,
                format!("the {} checksum is another", checksum.algorithm().name()),
            ),
            _ => Outcome::Fetched(std::mem::take(&mut self.bytes)),
        }
    }

    fn close(mut self) -> Outcome {
        match &self.body {
            Body::UntilClose if self.head.is_some() => self.complete(),
            _ if self.is_error => self.complete(),
            _ => failed(Class::Reset, "the connection was cut".to_owned()),
        }
    }
}

/// A small generator of pseudo-random numbers (SplitMix64): the same seed gives the same numbers.
pub struct Random(u64);

impl Random {
    /// With the seed of `OS2G_SEED`, or a fixed one; it is printed, so that a failure can be repeated.
    pub fn seeded(what: &str) -> Random {
        let seed = std::env::var("OS2G_SEED")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(20_130_524);
        println!("{what}: OS2G_SEED={seed}");
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// The answer's bytes: a status line, header fields and a body.
pub fn answer(status: u16, fields: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} X\r\n").into_bytes();
    for (name, value) in fields {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

pub fn error_xml(code: &str, more: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>as told</Message>{more}<RequestId>R1</RequestId></Error>"
    )
}

pub fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{:x}\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(b"\r\n0\r\n\r\n");
    bytes
}
