//! The messages of the control socket: a header of 8 bytes (`U2`, version, kind, length), then a payload whose
//! length is bounded. All numbers are little-endian.
//!
//! | message | from | says |
//! | --- | --- | --- |
//! | `Offer` | target | worker address, and for each region: address, length, memory type, scratch range, remote key |
//! | `Wake` | initiator | a connection is about to be made: progress, if that is the target's way |
//! | `Sleep`, `Slept` | initiator, target | stop progress for the check; it is stopped |
//! | `Check`, `Checked` | initiator, target | a pattern was put into the scratch range; it is there |
//! | `Done` | initiator | the tags of puts whose bytes are in place |
//! | `Refused` | initiator | why this target cannot be used |
//! | `Bye` | initiator | an orderly end |

use os2g_transfer::{Error, Kind, Result};

use crate::offer::{Offer, Reader};

/// Of the header.
pub const HEADER_BYTES: usize = 8;
/// Of a payload.
pub const PAYLOAD_BYTES_MAX: usize = 256 << 10;
/// Tags in one `Done`.
pub const TAGS_MAX: usize = 4096;
const MAGIC: [u8; 2] = *b"U2";
const VERSION: u8 = 1;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// See the module.
    Offer(Offer),
    /// See the module.
    Wake,
    /// See the module.
    Sleep,
    /// See the module.
    Slept,
    /// The first `length` bytes of the scratch range of region `region` hold the pattern of `seed`.
    Check { region: u32, length: u64, seed: u64 },
    /// Whether the pattern was found; `None` where the target cannot read its memory by itself.
    Checked(Option<bool>),
    /// See the module.
    Done(Vec<u64>),
    /// See the module.
    Refused(String),
    /// See the module.
    Bye,
}

impl Frame {
    /// Header and payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        let kind = match self {
            Self::Offer(offer) => {
                offer.encode(&mut payload);
                1
            }
            Self::Sleep => 2,
            Self::Slept => 3,
            Self::Check { region, length, seed } => {
                payload.extend(region.to_le_bytes());
                payload.extend(length.to_le_bytes());
                payload.extend(seed.to_le_bytes());
                4
            }
            Self::Checked(found) => {
                payload.push(found.map_or(2, u8::from));
                5
            }
            Self::Done(tags) => {
                payload.extend(tags.iter().flat_map(|tag| tag.to_le_bytes()));
                6
            }
            Self::Refused(why) => {
                let end = (0..=why.len().min(1024))
                    .rev()
                    .find(|end| why.is_char_boundary(*end))
                    .unwrap_or(0);
                payload.extend(&why.as_bytes()[..end]);
                7
            }
            Self::Bye => 8,
            Self::Wake => 9,
        };
        let mut bytes = Vec::with_capacity(HEADER_BYTES + payload.len());
        bytes.extend(MAGIC);
        bytes.extend([VERSION, kind]);
        bytes.extend((payload.len() as u32).to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    /// The kind and the payload's length that a header names.
    ///
    /// # Errors
    /// `Refused` for anything but a header of this version within bounds.
    pub fn header(bytes: [u8; HEADER_BYTES]) -> Result<(u8, usize)> {
        let [a, b, version, kind, length @ ..] = bytes;
        if [a, b] != MAGIC || version != VERSION {
            return Err(refused("does not speak this protocol, or not its version 1"));
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > PAYLOAD_BYTES_MAX {
            return Err(refused(&format!(
                "sent a message of {length} bytes, more than {PAYLOAD_BYTES_MAX}"
            )));
        }
        Ok((kind, length))
    }

    /// The message of a payload.
    ///
    /// # Errors
    /// `Refused` for a payload that is not what its kind says.
    pub fn decode(kind: u8, payload: &[u8]) -> Result<Self> {
        let mut reader = Reader(payload);
        let frame = match kind {
            1 => Self::Offer(Offer::decode(&mut reader)?),
            2 => Self::Sleep,
            3 => Self::Slept,
            4 => Self::Check {
                region: reader.u32()?,
                length: reader.u64()?,
                seed: reader.u64()?,
            },
            5 => Self::Checked(match reader.take(1)? {
                [0] => Some(false),
                [1] => Some(true),
                _ => None,
            }),
            6 => {
                let count = payload.len() / 8;
                if count > TAGS_MAX {
                    return Err(refused("sent more tags than one message may hold"));
                }
                Self::Done((0..count).map(|_| reader.u64()).collect::<Result<_>>()?)
            }
            7 => Self::Refused(String::from_utf8_lossy(reader.take(payload.len())?).into_owned()),
            8 => Self::Bye,
            9 => Self::Wake,
            _ => return Err(refused(&format!("sent a message of unknown kind {kind}"))),
        };
        if reader.0.is_empty() {
            Ok(frame)
        } else {
            Err(refused("sent a message that is longer than its content"))
        }
    }
}

/// The peer sent something that cannot be.
pub fn refused(why: &str) -> Error {
    Error::new(
        Kind::Refused,
        format!("The process at the other end of the control socket {why}."),
        "Run the same version of OS2G at both ends.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offer::{REGIONS_MAX, Region};

    fn offer() -> Offer {
        let region = Region {
            address: 0x7f00_0000_0000,
            length: 1 << 20,
            memory_type: 0,
            scratch_offset: 4096,
            scratch_length: 4096,
            key: vec![1, 2, 3],
        };
        Offer {
            worker: vec![9; 77],
            regions: vec![
                region.clone(),
                Region {
                    memory_type: 1,
                    ..region
                },
            ],
        }
    }

    fn round_trip(frame: &Frame) -> Result<Frame> {
        let bytes = frame.encode();
        let mut header = [0; HEADER_BYTES];
        header.copy_from_slice(&bytes[..HEADER_BYTES]);
        let (kind, length) = Frame::header(header)?;
        assert_eq!(length, bytes.len() - HEADER_BYTES);
        Frame::decode(kind, &bytes[HEADER_BYTES..])
    }

    #[test]
    fn what_is_sent_is_read() {
        let table = [
            Frame::Offer(offer()),
            Frame::Wake,
            Frame::Sleep,
            Frame::Slept,
            Frame::Check {
                region: 1,
                length: 4096,
                seed: u64::MAX,
            },
            Frame::Checked(Some(true)),
            Frame::Checked(Some(false)),
            Frame::Checked(None),
            Frame::Done(vec![]),
            Frame::Done((0..TAGS_MAX as u64).collect()),
            Frame::Refused("no path".into()),
            Frame::Bye,
        ];
        for frame in table {
            assert_eq!(round_trip(&frame).as_ref(), Ok(&frame));
        }
        let Ok(Frame::Refused(cut)) = round_trip(&Frame::Refused("é".repeat(1000))) else {
            panic!("not refused")
        };
        assert_eq!(cut, "é".repeat(512));
    }

    #[test]
    fn every_cut_and_every_lie_is_refused() {
        let bytes = Frame::Offer(offer()).encode();
        for end in HEADER_BYTES..bytes.len() {
            let got = Frame::decode(1, &bytes[HEADER_BYTES..end]);
            assert!(
                matches!(
                    got,
                    Err(Error {
                        kind: Kind::Refused,
                        ..
                    })
                ),
                "cut at {end}: {got:?}"
            );
        }
        let mut longer = bytes[HEADER_BYTES..].to_vec();
        longer.push(0);
        assert!(Frame::decode(1, &longer).is_err());

        let with = |change: fn(&mut Offer)| {
            let mut changed = offer();
            change(&mut changed);
            round_trip(&Frame::Offer(changed))
        };
        assert!(with(|_| ()).is_ok());
        let lies: [fn(&mut Offer); 8] = [
            |offer| offer.worker.clear(),
            |offer| offer.regions.clear(),
            |offer| offer.regions = vec![offer.regions[0].clone(); REGIONS_MAX + 1],
            |offer| offer.regions[0].length = 0,
            |offer| offer.regions[0].address = u64::MAX,
            |offer| offer.regions[1].scratch_length = 1 << 21,
            |offer| offer.regions[1].scratch_offset = u64::MAX,
            |offer| offer.regions[1].key.clear(),
        ];
        for (row, lie) in lies.into_iter().enumerate() {
            assert!(with(lie).is_err(), "row {row}");
        }
        assert!(Frame::decode(6, &vec![0; 8 * (TAGS_MAX + 1)]).is_err());
        assert!(Frame::decode(6, &[0; 7]).is_err());
        assert!(Frame::decode(99, &[]).is_err());
        assert!(Frame::header(*b"HTTP/1.1").is_err());
        assert!(Frame::header([b'U', b'2', 2, 1, 0, 0, 0, 0]).is_err());
        assert!(Frame::header([b'U', b'2', 1, 1, 0xff, 0xff, 0xff, 0xff]).is_err());
    }
}
