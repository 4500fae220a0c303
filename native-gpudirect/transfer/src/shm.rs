//! The `shm` back end: landing memory that both processes map.
//!
//! A receiver writes straight into it (`in_place`), so [`Backend::put`] is for what arrived elsewhere, such as the
//! answer of a hedged request: one `memcpy`, complete when it returns.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::backend::{Backend, Capabilities, Handle, Memory, Probe, Put, PutDone, check_range};
use crate::error::{Error, Kind, Result};
use crate::memory::{Pages, Segment, SegmentOptions};

const NAME: &str = "shm";

struct Entry {
    segment: Arc<Segment>,
    lost: bool,
}

/// Landing memory shared with the trainer.
pub struct Shm {
    capabilities: Capabilities,
    entries: HashMap<Handle, Entry>,
    next: u32,
    done: VecDeque<PutDone>,
    closed: bool,
}

impl Default for Shm {
    fn default() -> Self {
        Self::new()
    }
}

impl Shm {
    /// A back end with nothing registered.
    pub fn new() -> Self {
        Self {
            capabilities: Capabilities {
                name: NAME,
                direct: false,
                target_passive: true,
                in_place: true,
                alignment: 1,
                largest_message: isize::MAX as u64,
                path: "The host's CPU receives straight into host memory that both processes map; a put is a memcpy."
                    .into(),
            },
            entries: HashMap::new(),
            next: 1,
            done: VecDeque::new(),
            closed: false,
        }
    }

    /// The segment behind a handle, for a receiver that writes in place.
    ///
    /// # Errors
    /// `UnknownHandle`; `PeerGone` after [`Backend::lose`].
    pub fn segment(&self, handle: Handle) -> Result<&Arc<Segment>> {
        let entry = self
            .entries
            .get(&handle)
            .ok_or_else(|| Error::unknown_handle(handle.0))?;
        if entry.lost {
            return Err(Error::peer_gone("landing memory"));
        }
        Ok(&entry.segment)
    }

    /// Whether shared memory works here, tried with a small segment; `details` says which pages are to be had.
    pub fn probe() -> Probe {
        let made = |pages| {
            Segment::create(
                2 << 20,
                SegmentOptions {
                    pages,
                    populate: true,
                },
            )
        };
        let segment = match made(Pages::Normal) {
            Ok(segment) => segment,
            Err(error) => return Probe::failed(NAME, true, None, &error),
        };
        let shared = segment.fd().try_clone_to_owned().map_err(|error| {
            Error::from_io(
                &error,
                "fcntl",
                "Sharing memory",
                "Raise the limit of open files (ulimit -n).",
            )
        });
        if let Err(error) = shared.and_then(|fd| Segment::attach(fd, segment.len() as u64)) {
            return Probe::failed(NAME, true, None, &error);
        }
        let huge = match made(Pages::Huge).map(|segment| segment.pages()) {
            Ok(Pages::Huge) => "2 MiB pages: reserved ones are there",
            _ => "2 MiB pages: none reserved (vm.nr_hugepages), transparent ones are asked for",
        };
        Probe {
            name: NAME,
            found: true,
            version: None,
            works: true,
            why: "Sealed shared memory was made, mapped twice and released.".into(),
            mend: String::new(),
            details: vec![huge.into()],
        }
    }
}

impl Backend for Shm {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn register(&mut self, memory: Memory) -> Result<Handle> {
        if self.closed {
            return Err(Error::closed(NAME));
        }
        let segment = match memory {
            Memory::Segment(segment) => segment,
            Memory::Remote(description) => Arc::new(description.into_segment()?),
        };
        let handle = Handle(self.next);
        self.next = self.next.checked_add(1).ok_or_else(|| {
            Error::new(
                Kind::Full,
                "All 2^32 memory handles were given out.",
                "Open the back end again.",
            )
        })?;
        self.entries.insert(handle, Entry { segment, lost: false });
        Ok(handle)
    }

    fn unregister(&mut self, handle: Handle) -> Result<()> {
        self.entries
            .remove(&handle)
            .map(drop)
            .ok_or_else(|| Error::unknown_handle(handle.0))
    }

    fn put(&mut self, put: &Put) -> Result<()> {
        if self.closed {
            return Err(Error::closed(NAME));
        }
        let target = self.segment(put.handle)?;
        let source = self.segment(put.from.handle)?;
        check_range("landing memory", put.offset, put.length, target.len() as u64)?;
        check_range("staging memory", put.from.offset, put.length, source.len() as u64)?;
        // SAFETY: both ranges were checked to lie inside their mappings, which live as long as the entries; the
        // offsets fit in usize since the lengths do. They may overlap or be the same memory mapped twice, for
        // which `copy` between distinct mappings is as good as memmove gets: bytes only, no type with a rule.
        unsafe {
            let from = source.pointer().add(put.from.offset as usize);
            let to = target.pointer().add(put.offset as usize);
            std::ptr::copy(from, to, put.length as usize);
        }
        self.done.push_back(PutDone {
            tag: put.tag,
            result: Ok(()),
        });
        Ok(())
    }

    fn poll(&mut self, done: &mut [PutDone]) -> usize {
        let count = done.len().min(self.done.len());
        for (place, item) in done.iter_mut().zip(self.done.drain(..count)) {
            *place = item;
        }
        count
    }

    fn waiting(&self) -> usize {
        self.done.len()
    }

    fn lose(&mut self, handle: Handle) -> Result<()> {
        self.entries
            .get_mut(&handle)
            .ok_or_else(|| Error::unknown_handle(handle.0))?
            .lost = true;
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.closed = true;
        self.entries.clear();
        Ok(())
    }
}
