use std::sync::Arc;

use napi::bindgen_prelude::Uint8Array;
use napi::{Error, Result};
use napi_derive::napi;
use os2g_transfer::{Pages, Segment, SegmentOptions};

use crate::options::invalid;

/// Shared memory that a trainer's process can map, as JavaScript sees it.
#[napi]
pub struct SharedSegment {
    segment: Arc<Segment>,
}

#[napi]
impl SharedSegment {
    /// Makes one of so many bytes, zeroed, with huge pages where the machine has them.
    #[napi(constructor)]
    pub fn new(length: f64) -> Result<SharedSegment> {
        if !(length >= 1.0 && length <= 2f64.powi(53)) {
            return Err(invalid(format!("a segment of {length} bytes")));
        }
        let options = SegmentOptions {
            pages: Pages::Huge,
            populate: false,
        };
        let segment = Segment::create(length as usize, options)
            .map_err(|error| Error::from_reason(format!("{} {}", error.what, error.mend)))?;
        Ok(SharedSegment {
            segment: Arc::new(segment),
        })
    }

    /// The memory itself, not a copy. It stays mapped for as long as this view, or one on its buffer, is there.
    #[napi]
    pub fn memory(&self) -> Uint8Array {
        let held = Arc::clone(&self.segment);
        // SAFETY: the mapping has so many bytes and lives until `held` is dropped, which the finalizer does.
        unsafe { Uint8Array::with_external_data(held.pointer(), held.len(), move |_, _| drop(held)) }
    }

    /// Its file descriptor, open for as long as this object is there.
    #[napi]
    pub fn fd(&self) -> i32 {
        use std::os::fd::AsRawFd;
        self.segment.fd().as_raw_fd()
    }

    /// `normal`, `transparent` or `huge`: the pages that were got.
    #[napi]
    pub fn pages(&self) -> &'static str {
        match self.segment.pages() {
            Pages::Normal => "normal",
            Pages::Transparent => "transparent",
            Pages::Huge => "huge",
        }
    }
}
