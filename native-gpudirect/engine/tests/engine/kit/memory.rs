use std::cell::UnsafeCell;

const GUARD: u8 = 0xee;

/// Landing memory that shows where it was written.
pub struct Memory(Box<[UnsafeCell<u8>]>);

// SAFETY: the bytes are read only while no attempt runs on them.
unsafe impl Sync for Memory {}
// SAFETY: plain bytes.
unsafe impl Send for Memory {}

impl Memory {
    pub fn new(len: usize) -> Memory {
        Memory((0..len).map(|_| UnsafeCell::new(GUARD)).collect())
    }

    pub fn start(&self) -> *mut u8 {
        UnsafeCell::raw_get(self.0.as_ptr())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes of a slot whose attempt has ended.
    pub fn read(&self, at: usize, len: usize) -> Vec<u8> {
        assert!(at + len <= self.len());
        // SAFETY: inside the memory, and no attempt runs there.
        unsafe { std::slice::from_raw_parts(self.start().add(at), len) }.to_vec()
    }

    /// Makes the bytes guards again.
    pub fn reset(&self, at: usize, len: usize) {
        self.fill(at, len, GUARD);
    }

    /// Sets bytes where no attempt runs.
    pub fn fill(&self, at: usize, len: usize, byte: u8) {
        assert!(at + len <= self.len());
        // SAFETY: inside the memory, and no attempt runs there.
        unsafe { std::ptr::write_bytes(self.start().add(at), byte, len) };
    }

    /// Whether bytes where no attempt runs are all this one.
    pub fn is_all(&self, at: usize, len: usize, byte: u8) -> bool {
        assert!(at + len <= self.len());
        // SAFETY: inside the memory, and no attempt runs there.
        let bytes = unsafe { std::slice::from_raw_parts(self.start().add(at), len) };
        bytes.first().is_none_or(|first| *first == byte)
            && bytes[len.min(1)..] == bytes[..len.saturating_sub(1)]
    }

    /// Nothing was written in the 4 KiB before `at`, nor in the 4 KiB from `at + len` on.
    pub fn check_guards(&self, at: usize, len: usize) {
        let start = at.saturating_sub(4096);
        let end = (at + len + 4096).min(self.len());
        assert!(self.is_all(start, at - start, GUARD), "written before the slot");
        assert!(
            self.is_all(at + len, end - at - len, GUARD),
            "written behind the slot"
        );
    }
}
