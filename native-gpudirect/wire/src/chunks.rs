use std::fmt;

/// Digits of a chunk's size: below 2^52, whole as a double.
const MOST_SIZE_DIGITS: u8 = 13;
/// Bytes of all chunk extensions of a body together.
const MOST_EXTENSION_BYTES: u32 = 16 * 1024;
/// Bytes of all trailer fields of a body together.
const MOST_TRAILER_BYTES: u32 = 64 * 1024;

/// What the next bytes of a chunked body are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The first so many are the object's.
    Data(usize),
    /// The first so many are framing.
    Skip(usize),
    /// There were none, and the body goes on.
    NeedMore,
    /// The body is over; the bytes handed in belong to what follows it.
    End,
    /// This is no chunked body. Nothing more can be made of the connection.
    Bad(BadChunk),
}

/// What is wrong with a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadChunk {
    /// No digits, other characters, or too many of them.
    Size,
    /// An extension too long or with a control character in it.
    Extension,
    /// Something else than CR LF where a line or a chunk ends.
    LineEnd,
    /// Trailer fields too long or with a control character in them.
    Trailer,
}

impl fmt::Display for BadChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadChunk::Size => "the size of a chunk is not a number",
            BadChunk::Extension => "the extensions of chunks are too long or not text",
            BadChunk::LineEnd => "a chunk does not end where its size says",
            BadChunk::Trailer => "the trailer fields are too long or not text",
        })
    }
}

impl std::error::Error for BadChunk {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size { digits: u8 },
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    End,
    Failed(BadChunk),
}

/// Reads the framing of a chunked body (RFC 9112, 7.1) as its bytes come, in any pieces: it says which bytes are the
/// object's, and how many of the present chunk are still to come, so that those can be received straight into their
/// place. It keeps no bytes. Extensions and trailer fields are skipped, within bounds.
///
/// ```
/// # use os2g_wire::{ChunkDecoder, Step};
/// let mut decoder = ChunkDecoder::new();
/// assert_eq!(decoder.next(b"5\r\nhel"), Step::Skip(3));
/// assert_eq!(decoder.next(b"hel"), Step::Data(3));
/// assert_eq!(decoder.data_remaining(), 2);
/// assert_eq!(decoder.next(b"lo"), Step::Data(2)); // received straight into its place
/// assert_eq!(decoder.next(b"\r\n0\r\n\r\nHTTP"), Step::Skip(7));
/// assert_eq!(decoder.next(b"HTTP"), Step::End);
/// ```
#[derive(Clone, Debug)]
pub struct ChunkDecoder {
    state: State,
    /// The size as far as it is read, then the bytes of the chunk that are still to come.
    remaining: u64,
    extension_bytes: u32,
    trailer_bytes: u32,
}

impl Default for ChunkDecoder {
    fn default() -> Self {
        ChunkDecoder::new()
    }
}

impl ChunkDecoder {
    /// At the start of a body.
    pub fn new() -> ChunkDecoder {
        ChunkDecoder {
            state: State::Size { digits: 0 },
            remaining: 0,
            extension_bytes: 0,
            trailer_bytes: 0,
        }
    }

    /// Bytes of the object that are sure to come next: 0 outside the data of a chunk.
    pub fn data_remaining(&self) -> u64 {
        if self.state == State::Data {
            self.remaining
        } else {
            0
        }
    }

    /// The body is over.
    pub fn is_end(&self) -> bool {
        self.state == State::End
    }

    /// What the next bytes are. `Data(n)` and `Skip(n)` take the first `n` (at least 1); hand in the rest again.
    #[allow(clippy::should_implement_trait)] // takes input, so it is no iterator
    pub fn next(&mut self, input: &[u8]) -> Step {
        if self.state == State::End {
            return Step::End;
        }
        if self.state == State::Data && !input.is_empty() {
            let taken = usize::try_from(self.remaining)
                .unwrap_or(usize::MAX)
                .min(input.len());
            self.remaining -= taken as u64;
            if self.remaining == 0 {
                self.state = State::DataCr;
            }
            return Step::Data(taken);
        }
        for (at, &byte) in input.iter().enumerate() {
            self.state = self.after(byte);
            match self.state {
                State::Failed(_) => break,
                State::Data | State::End => return Step::Skip(at + 1),
                _ => {}
            }
        }
        match self.state {
            State::Failed(bad) => Step::Bad(bad),
            _ if input.is_empty() => Step::NeedMore,
            _ => Step::Skip(input.len()),
        }
    }

    /// The state after a byte of framing.
    fn after(&mut self, byte: u8) -> State {
        match self.state {
            State::Size { digits } => self.after_size_byte(byte, digits),
            State::Extension => match byte {
                b'\r' => State::SizeLf,
                _ => self.counted_extension(byte),
            },
            State::SizeLf if byte == b'\n' => {
                if self.remaining == 0 {
                    State::TrailerStart
                } else {
                    State::Data
                }
            }
            State::DataCr if byte == b'\r' => State::DataLf,
            State::DataLf if byte == b'\n' => State::Size { digits: 0 },
            State::TrailerStart if byte == b'\r' => State::EndLf,
            State::Trailer if byte == b'\r' => State::TrailerLf,
            State::TrailerStart | State::Trailer => self.counted_trailer(byte),
            State::TrailerLf if byte == b'\n' => State::TrailerStart,
            State::EndLf if byte == b'\n' => State::End,
            State::SizeLf | State::DataCr | State::DataLf | State::TrailerLf | State::EndLf => {
                State::Failed(BadChunk::LineEnd)
            }
            State::Data | State::End | State::Failed(_) => self.state,
        }
    }

    fn after_size_byte(&mut self, byte: u8, digits: u8) -> State {
        if let Some(digit) = char::from(byte).to_digit(16) {
            if digits >= MOST_SIZE_DIGITS {
                return State::Failed(BadChunk::Size);
            }
            self.remaining = self.remaining * 16 + u64::from(digit);
            return State::Size { digits: digits + 1 };
        }
        match byte {
            _ if digits == 0 => State::Failed(BadChunk::Size),
            b'\r' => State::SizeLf,
            b';' | b' ' | b'\t' => self.counted_extension(byte),
            _ => State::Failed(BadChunk::Size),
        }
    }

    fn counted_extension(&mut self, byte: u8) -> State {
        self.extension_bytes += 1;
        if self.extension_bytes > MOST_EXTENSION_BYTES || !is_text(byte) {
            return State::Failed(BadChunk::Extension);
        }
        State::Extension
    }

    fn counted_trailer(&mut self, byte: u8) -> State {
        self.trailer_bytes += 1;
        if self.trailer_bytes > MOST_TRAILER_BYTES || !is_text(byte) {
            return State::Failed(BadChunk::Trailer);
        }
        State::Trailer
    }
}

fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}
