//! A put on its way: what it moves, and what it holds until it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use os2g_transfer::{Result, Segment};

use crate::sys::ucp_mem;

/// A count of puts that use a piece of memory, up while it lives.
#[derive(Debug)]
pub struct Use(Arc<AtomicU64>);

impl Use {
    /// One more.
    pub fn of(count: &Arc<AtomicU64>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A put as its poster will hear of it.
#[derive(Debug)]
pub struct Record {
    /// The caller's.
    pub tag: u64,
    /// So far.
    pub result: Result<()>,
    /// Of source and destination.
    pub uses: Vec<Use>,
    /// Keeps the source where it is.
    pub source: Source,
}

/// Who owns the bytes of a put.
#[derive(Debug)]
pub enum Source {
    /// Staging memory.
    Segment(Arc<Segment>),
    /// Bytes of the check.
    Bytes(Vec<u8>),
}

/// Where a put goes and comes from. The bytes must stay readable until its record comes back.
pub struct Transfer {
    /// Index in the offer.
    pub region: usize,
    /// Bytes from the region's start.
    pub offset: u64,
    /// Local bytes.
    pub source: *const u8,
    /// Their registration, or null.
    pub memh: *mut ucp_mem,
    /// How many.
    pub length: usize,
}
