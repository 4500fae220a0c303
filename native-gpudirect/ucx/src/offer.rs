//! What a target offers: how to reach it, and its registered memory.

use os2g_transfer::Result;

use crate::frame::refused;

/// Regions in one `Offer`.
pub const REGIONS_MAX: usize = 64;

/// Registered memory of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Where it is in the target's process.
    pub address: u64,
    /// Bytes.
    pub length: u64,
    /// `ucs_memory_type_t`.
    pub memory_type: u32,
    /// Bytes from the region's start to where the check may write.
    pub scratch_offset: u64,
    /// Bytes that the check may write.
    pub scratch_length: u64,
    /// The packed remote key.
    pub key: Vec<u8>,
}

/// How to reach a target and its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// UCX's worker address.
    pub worker: Vec<u8>,
    /// Its memory.
    pub regions: Vec<Region>,
}

impl Offer {
    /// Appends the offer's bytes.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        put_bytes(bytes, &self.worker);
        bytes.extend((self.regions.len() as u32).to_le_bytes());
        for region in &self.regions {
            bytes.extend(region.address.to_le_bytes());
            bytes.extend(region.length.to_le_bytes());
            bytes.extend(region.memory_type.to_le_bytes());
            bytes.extend(region.scratch_offset.to_le_bytes());
            bytes.extend(region.scratch_length.to_le_bytes());
            put_bytes(bytes, &region.key);
        }
    }

    /// The offer that a description's bytes hold, and nothing after it.
    ///
    /// # Errors
    /// `Refused` for other bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader(bytes);
        let offer = Self::decode(&mut reader)?;
        if reader.0.is_empty() {
            Ok(offer)
        } else {
            Err(refused("sent an offer that is longer than its content"))
        }
    }

    /// The next offer of a payload.
    pub fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        let worker = reader.bytes()?;
        let count = reader.u32()? as usize;
        if worker.is_empty() || count == 0 || count > REGIONS_MAX {
            return Err(refused(&format!(
                "offered {count} regions; from 1 to {REGIONS_MAX} can be"
            )));
        }
        let regions = (0..count)
            .map(|_| Region::decode(reader))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { worker, regions })
    }
}

impl Region {
    fn decode(reader: &mut Reader<'_>) -> Result<Self> {
        let region = Self {
            address: reader.u64()?,
            length: reader.u64()?,
            memory_type: reader.u32()?,
            scratch_offset: reader.u64()?,
            scratch_length: reader.u64()?,
            key: reader.bytes()?,
        };
        let inside =
            |start: u64, length: u64, end: u64| start.checked_add(length).is_some_and(|last| last <= end);
        let fits = inside(region.address, region.length, u64::MAX)
            && inside(region.scratch_offset, region.scratch_length, region.length);
        if fits && region.length > 0 && region.scratch_length > 0 && !region.key.is_empty() {
            Ok(region)
        } else {
            Err(refused("offered memory whose numbers contradict each other"))
        }
    }
}

fn put_bytes(bytes: &mut Vec<u8>, content: &[u8]) {
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(content);
}

/// Reads from the front of a payload, never past its end.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// So many bytes.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (head, tail) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| refused("sent a message that is cut short"))?;
        self.0 = tail;
        Ok(head)
    }

    /// A number.
    pub fn u32(&mut self) -> Result<u32> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(bytes))
    }

    /// A number.
    pub fn u64(&mut self) -> Result<u64> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let count = self.u32()? as usize;
        Ok(self.take(count)?.to_vec())
    }
}
