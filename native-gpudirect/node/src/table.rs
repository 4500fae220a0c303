use napi::Result;
use napi::bindgen_prelude::{Uint8Array, Uint32Array};
use napi_derive::napi;
use os2g_engine::ObjectTable;

use crate::options::invalid;

/// Numbers as they lie in a manifest's buffer.
#[napi(object, object_to_js = false)]
pub struct NativeNumbers {
    /// The buffer.
    pub bytes: Uint8Array,
    /// `u8`, `u16`, `u32`, `u64` (signed ones are never negative), or `f64`.
    pub kind: String,
    /// Bit i: row i has a value.
    pub validity: Option<Uint8Array>,
}

/// Strings as they lie in a manifest's buffers.
#[napi(object, object_to_js = false)]
pub struct NativeText {
    /// The strings, end to end.
    pub bytes: Uint8Array,
    /// Where each begins, and where the last one ends.
    pub offsets: Uint32Array,
    /// Words from one offset to the next.
    pub stride: u32,
    /// Bit i: string i is there.
    pub validity: Option<Uint8Array>,
    /// Of a dictionary: the string of each row.
    pub indices: Option<NativeNumbers>,
}

/// Rows that lie together.
#[napi(object, object_to_js = false)]
pub struct NativeBatch {
    /// Its first row in the table.
    pub first_row: f64,
    /// How many rows it has.
    pub rows: f64,
    /// Keys.
    pub key: NativeText,
    /// ETags; none: all are unknown.
    pub etag: Option<NativeText>,
    /// Sizes of whole objects, in bytes.
    pub object_size: NativeNumbers,
}

/// The manifest's columns.
#[napi(object, object_to_js = false)]
pub struct NativeTable {
    /// Rows of all batches.
    pub rows: f64,
    /// In the order of their rows.
    pub batches: Vec<NativeBatch>,
}

/// The columns of a manifest, read where they lie: their buffers are held, not copied.
pub struct Columns {
    rows: u64,
    batches: Vec<Batch>,
}

struct Batch {
    first_row: u64,
    rows: u64,
    key: Text,
    etag: Option<Text>,
    object_size: Numbers,
}

struct Text {
    bytes: Uint8Array,
    offsets: Uint32Array,
    stride: usize,
    validity: Option<Uint8Array>,
    indices: Option<Numbers>,
}

struct Numbers {
    bytes: Uint8Array,
    kind: Kind,
    validity: Option<Uint8Array>,
}

#[derive(Clone, Copy)]
enum Kind {
    U8,
    U16,
    U32,
    U64,
    F64,
}

impl Columns {
    /// # Errors
    /// Columns that are too short for their rows, or batches that leave rows out.
    pub fn new(table: NativeTable) -> Result<Columns> {
        let rows = table.rows as u64;
        let mut batches = Vec::with_capacity(table.batches.len());
        let mut next = 0;
        for batch in table.batches {
            let batch = Batch::new(batch)?;
            if batch.first_row != next {
                return Err(invalid(format!(
                    "a batch begins at row {}, not {next}",
                    batch.first_row
                )));
            }
            next += batch.rows;
            batches.push(batch);
        }
        if next != rows {
            return Err(invalid(format!("batches of {next} rows in a table of {rows}")));
        }
        Ok(Columns { rows, batches })
    }

    fn batch(&self, row: u64) -> Option<(&Batch, usize)> {
        let at = self
            .batches
            .partition_point(|batch| batch.first_row <= row)
            .checked_sub(1)?;
        let batch = self.batches.get(at)?;
        Some((batch, usize::try_from(row - batch.first_row).ok()?))
    }
}

impl ObjectTable for Columns {
    fn rows(&self) -> u64 {
        self.rows
    }

    fn key(&self, row: u64) -> &[u8] {
        self.batch(row)
            .and_then(|(batch, at)| batch.key.get(at))
            .unwrap_or_default()
    }

    fn etag(&self, row: u64) -> Option<&[u8]> {
        let (batch, at) = self.batch(row)?;
        batch.etag.as_ref()?.get(at)
    }

    fn object_size(&self, row: u64) -> u64 {
        self.batch(row)
            .and_then(|(batch, at)| batch.object_size.get(at))
            .unwrap_or(0)
    }
}

impl Batch {
    fn new(batch: NativeBatch) -> Result<Batch> {
        let rows = batch.rows as u64;
        let made = Batch {
            first_row: batch.first_row as u64,
            rows,
            key: Text::new(batch.key)?,
            etag: batch.etag.map(Text::new).transpose()?,
            object_size: Numbers::new(batch.object_size)?,
        };
        let shortest = made
            .etag
            .as_ref()
            .map_or(u64::MAX, Text::rows)
            .min(made.key.rows());
        if shortest.min(made.object_size.rows()) < rows {
            return Err(invalid(format!(
                "a column is shorter than the {rows} rows of its batch"
            )));
        }
        Ok(made)
    }
}

impl Text {
    fn new(text: NativeText) -> Result<Text> {
        let stride = text.stride as usize;
        if !(1..=2).contains(&stride) {
            return Err(invalid(format!("offsets with a stride of {stride}")));
        }
        let indices = text.indices.map(Numbers::new).transpose()?;
        Ok(Text {
            bytes: text.bytes,
            offsets: text.offsets,
            stride,
            validity: text.validity,
            indices,
        })
    }

    fn rows(&self) -> u64 {
        match &self.indices {
            Some(indices) => indices.rows(),
            None => ((self.offsets.len() / self.stride) as u64).saturating_sub(1),
        }
    }

    /// None where it is null, or not inside its buffer (which the manifest's own checks have excluded).
    fn get(&self, row: usize) -> Option<&[u8]> {
        let slot = match &self.indices {
            Some(indices) => usize::try_from(indices.get(row)?).ok()?,
            None => row,
        };
        if !is_set(self.validity.as_ref(), slot) {
            return None;
        }
        let start = *self.offsets.get(slot.checked_mul(self.stride)?)? as usize;
        let end = *self.offsets.get(slot.checked_add(1)?.checked_mul(self.stride)?)? as usize;
        self.bytes.get(start..end)
    }
}

impl Numbers {
    fn new(numbers: NativeNumbers) -> Result<Numbers> {
        let kind = match numbers.kind.as_str() {
            "u8" => Kind::U8,
            "u16" => Kind::U16,
            "u32" => Kind::U32,
            "u64" => Kind::U64,
            "f64" => Kind::F64,
            other => return Err(invalid(format!("numbers of kind {other:?}"))),
        };
        Ok(Numbers {
            bytes: numbers.bytes,
            kind,
            validity: numbers.validity,
        })
    }

    fn rows(&self) -> u64 {
        (self.bytes.len() / self.kind.width()) as u64
    }

    fn get(&self, row: usize) -> Option<u64> {
        if !is_set(self.validity.as_ref(), row) {
            return None;
        }
        let width = self.kind.width();
        let bytes = self.bytes.get(row.checked_mul(width)?..)?;
        match self.kind {
            Kind::U8 => bytes.first().map(|byte| u64::from(*byte)),
            Kind::U16 => bytes
                .first_chunk()
                .map(|word| u64::from(u16::from_ne_bytes(*word))),
            Kind::U32 => bytes
                .first_chunk()
                .map(|word| u64::from(u32::from_ne_bytes(*word))),
            Kind::U64 => bytes.first_chunk().map(|word| u64::from_ne_bytes(*word)),
            Kind::F64 => bytes.first_chunk().map(|word| f64::from_ne_bytes(*word) as u64),
        }
    }
}

impl Kind {
    fn width(self) -> usize {
        match self {
            Kind::U8 => 1,
            Kind::U16 => 2,
            Kind::U32 => 4,
            Kind::U64 | Kind::F64 => 8,
        }
    }
}

fn is_set(bitmap: Option<&Uint8Array>, slot: usize) -> bool {
    bitmap.is_none_or(|bits| {
        bits.get(slot / 8)
            .is_some_and(|byte| (byte >> (slot % 8)) & 1 == 1)
    })
}
