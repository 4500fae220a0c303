//! The trait of all back ends, over UCX.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use os2g_transfer::backend::check_range;
use os2g_transfer::{
    Backend, Capabilities, Description, Error, Handle, Kind, Memory, Purpose, Put, PutDone, Result,
};

use super::{Entry, NAME, Ucx};
use crate::connection;
use crate::frame::refused;
use crate::offer::Offer;
use crate::record::{Record, Source, Use};

impl Backend for Ucx {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn register(&mut self, memory: Memory) -> Result<Handle> {
        self.check_open()?;
        match memory {
            Memory::Segment(segment) => Ok(self.insert(Entry::Staging {
                segment,
                uses: Arc::default(),
            })),
            Memory::Remote(Description {
                purpose: Purpose::Ucx,
                length,
                bytes,
                ..
            }) => {
                let offer = Offer::parse(&bytes)?;
                if offer.regions.len() != 1 || offer.regions[0].length != length {
                    return Err(refused("described memory whose length is not that of its key"));
                }
                let landings = self.start(offer, None)?;
                landings
                    .first()
                    .map(|landing| landing.handle)
                    .ok_or_else(|| refused("described no memory"))
            }
            Memory::Remote(Description { purpose, .. }) => Err(Error::new(
                Kind::Unsupported,
                format!("The ucx back end cannot put into memory described as {purpose:?}."),
                "Use the back end that made the description.",
            )),
        }
    }

    fn unregister(&mut self, handle: Handle) -> Result<()> {
        let entry = self.entry(handle)?;
        let uses = entry.uses().load(Ordering::Acquire);
        if uses > 0 {
            return Err(Error::new(
                Kind::InUse,
                format!("{uses} puts still use the memory of handle {}.", handle.0),
                "Wait for their completions first.",
            ));
        }
        match self.memory.remove(&handle.0) {
            Some(Entry::Staging { .. }) => {
                self.connections
                    .values()
                    .for_each(|connection| connection.unstage(handle.0));
            }
            Some(Entry::Landing { connection, .. }) => {
                let still = self.memory.values().any(
                    |entry| matches!(entry, Entry::Landing { connection: other, .. } if *other == connection),
                );
                if !still {
                    // Dropping it closes it.
                    self.connections.remove(&connection);
                    self.look();
                }
            }
            None => (),
        }
        Ok(())
    }

    fn put(&mut self, put: &Put) -> Result<()> {
        self.check_open()?;
        let Entry::Landing {
            connection,
            region,
            length,
            uses,
        } = self.entry(put.handle)?
        else {
            return Err(Error::new(
                Kind::Unsupported,
                format!(
                    "Handle {} is staging memory of this process, not a target's.",
                    put.handle.0
                ),
                "Put into a handle that connect or a description gave.",
            ));
        };
        let Entry::Staging {
            segment,
            uses: source_uses,
        } = self.entry(put.from.handle)?
        else {
            return Err(Error::new(
                Kind::Unsupported,
                format!(
                    "Handle {} is a target's memory; puts read from this process's.",
                    put.from.handle.0
                ),
                "Register the staging memory as a segment.",
            ));
        };
        check_range("landing memory", put.offset, put.length, *length)?;
        check_range(
            "staging memory",
            put.from.offset,
            put.length,
            segment.len() as u64,
        )?;
        if self.waiting >= self.settings.puts_in_flight {
            return Err(Error::new(
                Kind::Full,
                format!("{} puts are under way already.", self.waiting),
                "Take completions, then try again.",
            ));
        }
        let connection = self
            .connections
            .get(connection)
            .ok_or_else(|| Error::closed(NAME))?;
        connection.put(connection::Put {
            region: *region,
            offset: put.offset,
            staging: put.from.handle.0,
            segment: Arc::clone(segment),
            from: put.from.offset,
            length: put.length,
            record: Record {
                tag: put.tag,
                result: Ok(()),
                uses: vec![Use::of(uses), Use::of(source_uses)],
                source: Source::Segment(Arc::clone(segment)),
            },
        })?;
        self.waiting += 1;
        Ok(())
    }

    fn poll(&mut self, done: &mut [PutDone]) -> usize {
        let count = self.completions.take(done);
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
        match self.entry(handle)? {
            Entry::Landing { connection, .. } => {
                if let Some(connection) = self.connections.get(connection) {
                    connection.end(Error::peer_gone("control socket"));
                }
                Ok(())
            }
            Entry::Staging { .. } => Err(Error::unknown_handle(handle.0)),
        }
    }

    fn close(&mut self) -> Result<()> {
        self.closed = true;
        // Each waits for its thread, so nothing touches memory after.
        self.connections.clear();
        self.memory.clear();
        Ok(())
    }
}
