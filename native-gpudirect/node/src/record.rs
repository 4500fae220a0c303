/// Bytes of one record of the shared buffers.
pub const RECORD_BYTES: usize = 64;

/// The record's word at `at`.
pub fn word(record: &[u8; RECORD_BYTES], at: usize) -> u32 {
    record
        .get(at * 4..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

/// The record's number at `at`, counted in numbers.
pub fn number(record: &[u8; RECORD_BYTES], at: usize) -> f64 {
    record
        .get(at * 8..)
        .and_then(|rest| rest.first_chunk())
        .map_or(f64::NAN, |bytes| f64::from_ne_bytes(*bytes))
}

/// A record of words, the rest of it zero.
pub fn from_words<const N: usize>(words: [u32; N]) -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    for (to, from) in record
        .iter_mut()
        .zip(words.into_iter().flat_map(u32::to_ne_bytes))
    {
        *to = from;
    }
    record
}
