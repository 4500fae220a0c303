//! The trait's implementation.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Instant;

use super::back_end::{Cuda, NAME, What};
use super::landing::LandingMemory;
use super::plain_memory::Pinned;
use crate::backend::{Backend, Capabilities, Handle, Memory, Put, PutDone};
use crate::error::{Error, Kind, Result};

impl Backend for Cuda {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn register(&mut self, memory: Memory) -> Result<Handle> {
        match memory {
            Memory::Segment(segment) => {
                let device = self.devices.first().ok_or_else(|| Error::closed(NAME))?;
                let pinned = Pinned::new(device, segment)?;
                self.insert(What::Staging(pinned))
            }
            Memory::Remote(description) => {
                let memory = LandingMemory::open(&self.devices, description)?;
                self.register_landing(Arc::new(memory))
            }
        }
    }

    fn unregister(&mut self, handle: Handle) -> Result<()> {
        let uses = self.entry(handle)?.uses;
        if uses > 0 {
            return Err(Error::new(
                Kind::InUse,
                format!(
                    "{uses} puts with memory {} were started and not yet polled.",
                    handle.0
                ),
                "Poll until they are done, then unregister.",
            ));
        }
        self.entries.remove(&handle);
        Ok(())
    }

    fn put(&mut self, put: &Put) -> Result<()> {
        if self.closed {
            return Err(Error::closed(NAME));
        }
        self.start(put)?;
        self.waiting += 1;
        for handle in [put.handle, put.from.handle] {
            if let Some(entry) = self.entries.get_mut(&handle) {
                entry.uses += 1;
            }
        }
        Ok(())
    }

    fn poll(&mut self, done: &mut [PutDone]) -> usize {
        let mut places = done.iter_mut();
        let entries = &mut self.entries;
        let count = self.completions.take(places.len(), |mut ended| {
            for handle in [ended.job.target, ended.job.source] {
                if let Some(entry) = entries.get_mut(&handle) {
                    entry.uses -= 1;
                }
            }
            if entries.get(&ended.job.target).is_some_and(|entry| entry.lost) {
                ended.done.result = Err(Error::peer_gone("landing memory"));
            }
            if let Some(place) = places.next() {
                *place = ended.done;
            }
        });
        self.waiting -= count;
        count
    }

    fn waiting(&self) -> usize {
        self.waiting
    }

    fn wake(&self) -> Option<BorrowedFd<'_>> {
        Some(self.completions.wake())
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
        let deadline = Instant::now() + self.close_limit;
        let mut first = Ok(());
        for lane in &mut self.lanes {
            let stopped = lane.stop(deadline);
            first = first.and(stopped);
        }
        let entries = std::mem::take(&mut self.entries);
        if first.is_err() {
            // The GPU may still use this memory: it must stay until the process ends.
            std::mem::forget(entries);
            std::mem::forget(std::mem::take(&mut self.devices));
            std::mem::forget(std::mem::take(&mut self.lanes));
        } else {
            drop(entries);
            self.lanes.clear();
            self.devices.clear();
        }
        first
    }
}
