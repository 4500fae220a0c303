use std::any::Any;
use std::mem::MaybeUninit;
use std::sync::{Arc, RwLock};

use crate::sync::{read, write};

/// Memory where bodies land, as [`crate::Submission::region`] names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionId(
    /// The number for submissions.
    pub u32,
);

/// Registered memory. It lives as long as a slot in it does.
pub(crate) struct Region {
    start: *mut u8,
    len: usize,
    _keep: Box<dyn Any + Send>,
}

// SAFETY: the memory is used through raw pointers only, and who registered it has promised that any thread may do so.
unsafe impl Send for Region {}
// SAFETY: as above; a shared Region gives access to slots only, whose use the contract of `register` orders.
unsafe impl Sync for Region {}

/// All regions of an engine.
#[derive(Default)]
pub(crate) struct Regions(RwLock<Vec<Arc<Region>>>);

impl Regions {
    /// # Safety
    /// As [`crate::Engine::register`].
    pub unsafe fn add(&self, start: *mut u8, len: usize, keep: Box<dyn Any + Send>) -> RegionId {
        let mut regions = write(&self.0);
        regions.push(Arc::new(Region {
            start,
            len,
            _keep: keep,
        }));
        RegionId(u32::try_from(regions.len() - 1).unwrap_or(u32::MAX))
    }

    pub fn get(&self, id: u32) -> Option<Arc<Region>> {
        read(&self.0).get(id as usize).cloned()
    }

    /// Lets go of all memory that no slot is in.
    pub fn clear(&self) {
        let regions = std::mem::take(&mut *write(&self.0));
        drop(regions);
    }
}

/// Where the bytes of one attempt go. Nothing outside it can be written through it.
pub(crate) struct Slot {
    start: *mut u8,
    len: usize,
    _region: Arc<Region>,
}

// SAFETY: the pointer is into a region, which any thread may use and which the slot keeps alive.
unsafe impl Send for Slot {}

impl Slot {
    /// `None` where it would not lie inside the region.
    pub fn new(region: Arc<Region>, offset: usize, len: usize) -> Option<Slot> {
        if offset.checked_add(len)? > region.len {
            return None;
        }
        // SAFETY: the offset is inside the region, or one past its end, as was just checked.
        let start = unsafe { region.start.add(offset) };
        Some(Slot {
            start,
            len,
            _region: region,
        })
    }

    /// Where bytes `at..at + len` go, as far as they are inside.
    pub fn span(&mut self, at: usize, len: usize) -> &mut [MaybeUninit<u8>] {
        let at = at.min(self.len);
        let len = len.min(self.len - at);
        // SAFETY: inside the slot; nobody else uses these bytes while the attempt runs (contract of `register`), attempts of
        // one id run on one thread and hold no span while they wait.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(at).cast(), len) }
    }

    /// Copies bytes to `at`, as far as there is room.
    pub fn copy(&mut self, at: usize, bytes: &[u8]) {
        let to = self.span(at, bytes.len());
        // SAFETY: `to` is memory for its length, which is at most that of `bytes`; `bytes` is the engine's own, not a region's.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.as_mut_ptr().cast(), to.len()) };
    }

    /// Bytes that were received.
    pub fn received(&self, from: usize, to: usize) -> &[u8] {
        let to = to.min(self.len);
        let from = from.min(to);
        // SAFETY: inside the slot; nobody else writes there while the attempt runs (contract of `register`).
        unsafe { std::slice::from_raw_parts(self.start.add(from), to - from) }
    }
}
