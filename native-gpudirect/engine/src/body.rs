use os2g_wire::{BadChunk, ChunkDecoder, Framing, Step};

use crate::input::Input;

/// How the body of an answer goes on.
pub(crate) enum Piece {
    /// The first so many unread bytes are data.
    Here(usize),
    /// Nothing is unread, and what comes next is data, up to so many bytes.
    Coming(u64),
    /// Framing comes next that has not been received.
    More,
    End,
    Bad(BadChunk),
}

/// Finds the data in a body by its framing.
pub(crate) enum Body {
    Length(u64),
    Chunked(ChunkDecoder),
    UntilClose,
    None,
}

impl Body {
    pub fn new(framing: Framing) -> Body {
        match framing {
            Framing::Length(bytes) => Body::Length(bytes),
            Framing::Chunked => Body::Chunked(ChunkDecoder::new()),
            Framing::UntilClose => Body::UntilClose,
            Framing::None => Body::None,
        }
    }

    /// The end of the connection is the body's.
    pub fn ends_with_connection(&self) -> bool {
        matches!(self, Body::UntilClose)
    }

    /// What comes next. Data that is said to be here counts as taken; it is to be consumed before the next call.
    pub fn next(&mut self, input: &mut Input) -> Piece {
        match self {
            Body::Length(0) | Body::None => Piece::End,
            Body::Length(left) if input.unread().is_empty() => Piece::Coming(*left),
            Body::Length(left) => {
                let here = usize::try_from(*left)
                    .unwrap_or(usize::MAX)
                    .min(input.unread().len());
                *left -= here as u64;
                Piece::Here(here)
            }
            Body::UntilClose if input.unread().is_empty() => Piece::Coming(u64::MAX),
            Body::UntilClose => Piece::Here(input.unread().len()),
            Body::Chunked(decoder) => loop {
                if decoder.data_remaining() > 0 && input.unread().is_empty() {
                    return Piece::Coming(decoder.data_remaining());
                }
                match decoder.next(input.unread()) {
                    Step::Data(here) => return Piece::Here(here),
                    Step::Skip(count) => input.consume(count),
                    Step::NeedMore => return Piece::More,
                    Step::End => return Piece::End,
                    Step::Bad(why) => return Piece::Bad(why),
                }
            },
        }
    }

    /// So much of what was coming has been received elsewhere.
    pub fn received(&mut self, data: &[u8]) {
        match self {
            Body::Length(left) => *left = left.saturating_sub(data.len() as u64),
            Body::Chunked(decoder) => {
                decoder.next(data);
            }
            Body::UntilClose | Body::None => {}
        }
    }
}
