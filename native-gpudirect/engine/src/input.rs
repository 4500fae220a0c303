use std::mem::MaybeUninit;

/// Enough for the heads that stores send, and little enough that next to nothing of a body is read with them: that part
/// is copied, the rest goes straight to its place.
const FIRST_READ_BYTES: usize = 1024;

/// Bytes that were received and not used yet.
pub(crate) struct Input {
    buffer: Vec<u8>,
    from: usize,
}

impl Input {
    pub fn new() -> Input {
        Input {
            buffer: Vec::with_capacity(FIRST_READ_BYTES),
            from: 0,
        }
    }

    pub fn unread(&self) -> &[u8] {
        &self.buffer[self.from..]
    }

    /// Takes bytes off the front.
    pub fn consume(&mut self, count: usize) {
        self.from = (self.from + count).min(self.buffer.len());
        if self.from == self.buffer.len() {
            self.clear();
        }
    }

    /// Room for what comes next, never empty: where there is none, the buffer grows.
    pub fn spare(&mut self) -> &mut [MaybeUninit<u8>] {
        if self.from > 0 {
            self.buffer.drain(..self.from);
            self.from = 0;
        }
        if self.buffer.len() == self.buffer.capacity() {
            self.buffer.reserve(FIRST_READ_BYTES);
        }
        self.buffer.spare_capacity_mut()
    }

    /// So many bytes were written to the front of `spare`.
    pub fn received(&mut self, count: usize) {
        let len = (self.buffer.len() + count).min(self.buffer.capacity());
        // SAFETY: within the capacity, and the bytes up to there were written, as the caller says.
        unsafe { self.buffer.set_len(len) };
    }

    /// Gives back what a huge head has taken, and forgets what is unread.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.from = 0;
        self.buffer.shrink_to(FIRST_READ_BYTES);
    }
}
