//! The trainer's end: registers landing memory, offers it, and sleeps until it is told of puts that are done.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use os2g_transfer::{Description, Error, Kind, Purpose, Result, Segment};

use crate::check::pattern;
use crate::context::Context;
use crate::frame::{Frame, refused};
use crate::keeper::Keeper;
use crate::library;
use crate::mapping::{Mapping, MemoryType};
use crate::offer::{Offer, REGIONS_MAX, Region};
use crate::settings::Settings;
use crate::socket::Socket;
use crate::worker::Worker;

/// The most bytes of a region that the check writes; they are zeroed after it, where the CPU reaches them.
const SCRATCH_BYTES_MAX: u64 = 1 << 20;

/// Memory to be put into. Its first bytes, 1 MiB at most, are written by the check of each initiator.
#[derive(Debug)]
pub enum LandingMemory {
    /// Host memory of that many bytes, allocated by UCX: on one machine its fastest path (`posix`).
    Allocate(usize),
    /// A shared segment; on one machine UCX reaches it by `cma`.
    Segment(Arc<Segment>),
    /// Memory of somebody else, such as a CUDA allocation.
    Foreign(Foreign),
}

/// See [`LandingMemory::Foreign`].
#[derive(Debug)]
pub struct Foreign {
    address: *mut u8,
    length: usize,
    memory_type: MemoryType,
}

// SAFETY: an address and numbers; whoever made it promised that the memory stays, whichever thread asks.
unsafe impl Send for Foreign {}

impl Foreign {
    /// Memory at an address.
    ///
    /// # Safety
    /// `length` bytes at `address` are memory of that type, may be written by others at any time, and stay until
    /// the [`Target`] is dropped.
    pub unsafe fn new(address: *mut u8, length: usize, memory_type: MemoryType) -> Self {
        Self {
            address,
            length,
            memory_type,
        }
    }
}

/// A registered region. The registration is dropped before the memory.
#[derive(Debug)]
struct Area {
    mapping: Mapping,
    _segment: Option<Arc<Segment>>,
    memory_type: MemoryType,
    key: Vec<u8>,
}

/// Whether the target's process helps connections to come up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Progress {
    /// It never runs UCX: all that shared memory and `cma` need.
    #[default]
    Never,
    /// A thread sleeps in `poll` and wakes for UCX's own messages: network cards whose connections are made by both
    /// ends need it. It is stopped during the check, so puts are passive all the same.
    Thread,
}

/// Landing memory registered with UCX. Dropped in this order: the worker, registrations, the context.
#[derive(Debug)]
pub struct Target {
    keeper: Option<Keeper>,
    /// Where no thread has it. Behind a lock only so that a target may be shared; nobody uses it.
    _worker: Mutex<Option<Worker>>,
    areas: Vec<Area>,
    offer: Offer,
}

impl Target {
    /// Loads UCX and registers memory.
    ///
    /// # Errors
    /// `MissingLibrary`, `MissingSymbol`, `Unsupported` for a UCX that is too old, `Invalid`, `Driver`.
    pub fn new(settings: &Settings, memory: Vec<LandingMemory>, progress: Progress) -> Result<Self> {
        if memory.is_empty() || memory.len() > REGIONS_MAX {
            return Err(Error::new(
                Kind::Invalid,
                format!("{} pieces of landing memory were given.", memory.len()),
                format!("Give from 1 to {REGIONS_MAX}."),
            ));
        }
        let ucp = library::load(&settings.places)?;
        let context = Context::open(&ucp, settings)?;
        let areas = memory
            .into_iter()
            .map(|piece| area(&context, piece))
            .collect::<Result<Vec<_>>>()?;
        let worker = Worker::create(&context)?;
        let offer = Offer {
            worker: worker.address()?,
            regions: areas.iter().map(region).collect(),
        };
        let (keeper, worker) = match progress {
            Progress::Never => (None, Some(worker)),
            Progress::Thread => (Some(Keeper::start(worker)?), None),
        };
        Ok(Self {
            keeper,
            _worker: Mutex::new(worker),
            areas,
            offer,
        })
    }

    /// Start and bytes of the landing memory with that index, in the order given to [`Target::new`]. Of CUDA memory
    /// it is the device address.
    pub fn memory(&self, index: usize) -> Option<(*mut u8, usize)> {
        self.areas
            .get(index)
            .map(|area| (area.mapping.address(), area.mapping.len()))
    }

    /// One region as a description, for those who bring a control channel of their own. Puts into it are then not
    /// announced, and whoever puts must be told of this process's end ([`os2g_transfer::Backend::lose`]).
    pub fn describe(&self, index: usize) -> Option<Description> {
        let region = self.offer.regions.get(index)?;
        let mut bytes = Vec::new();
        Offer {
            worker: self.offer.worker.clone(),
            regions: vec![region.clone()],
        }
        .encode(&mut bytes);
        Some(Description {
            purpose: Purpose::Ucx,
            length: region.length,
            bytes,
            fds: Vec::new(),
        })
    }

    /// Offers all regions over a connected control socket (Unix or TCP) to a [`crate::Ucx`] at its other end, which
    /// must be a process of the same job: it may write all of the landing memory.
    ///
    /// # Errors
    /// `PeerGone`, `System`.
    pub fn accept(&self, control: impl Into<OwnedFd>) -> Result<Link<'_>> {
        let socket = Socket::new(control.into());
        socket.send(&Frame::Offer(self.offer.clone()))?;
        Ok(Link { target: self, socket })
    }

    /// Whether the pattern is in the scratch range; zeroes it. `None` where the CPU cannot read it.
    fn verify(&self, index: u32, length: u64, seed: u64) -> Result<Option<bool>> {
        let index = index as usize;
        let (Some(area), Some(region)) = (self.areas.get(index), self.offer.regions.get(index)) else {
            return Err(refused("asked for a region that was not offered"));
        };
        if length > region.scratch_length {
            return Err(refused("asked for more bytes than the check may write"));
        }
        if area.memory_type != MemoryType::Host {
            return Ok(None);
        }
        let start = area
            .mapping
            .address()
            .wrapping_add(region.scratch_offset as usize);
        let mut matches = true;
        for at in 0..length {
            let byte = start.wrapping_add(at as usize);
            // SAFETY: inside the region (its offer keeps the scratch range inside, and `length` was checked).
            // Volatile, since another process wrote it.
            let found = unsafe { byte.read_volatile() };
            matches &= found == pattern(seed, at);
            // SAFETY: as above; nobody else uses the scratch range before the check is over.
            unsafe { byte.write_volatile(0) };
        }
        Ok(Some(matches))
    }
}

fn area(context: &Arc<Context>, piece: LandingMemory) -> Result<Area> {
    let (mapping, segment, memory_type) = match piece {
        LandingMemory::Allocate(length) => (Mapping::allocate(context, length)?, None, MemoryType::Host),
        LandingMemory::Segment(segment) => {
            // SAFETY: the segment stays mapped while its `Arc` lives, which the area drops after the mapping.
            let mapping =
                unsafe { Mapping::register(context, segment.pointer(), segment.len(), MemoryType::Host)? };
            (mapping, Some(segment), MemoryType::Host)
        }
        LandingMemory::Foreign(Foreign {
            address,
            length,
            memory_type,
        }) => {
            // SAFETY: the promise of `Foreign::new`.
            let mapping = unsafe { Mapping::register(context, address, length, memory_type)? };
            (mapping, None, memory_type)
        }
    };
    let key = mapping.pack_key()?;
    Ok(Area {
        mapping,
        _segment: segment,
        memory_type,
        key,
    })
}

fn region(area: &Area) -> Region {
    let length = area.mapping.len() as u64;
    Region {
        address: area.mapping.address() as u64,
        length,
        memory_type: area.memory_type.number(),
        scratch_offset: 0,
        scratch_length: length.min(SCRATCH_BYTES_MAX),
        key: area.key.clone(),
    }
}

/// What an initiator tells its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The puts with these tags are in the landing memory.
    Done(Vec<u64>),
    /// The initiator ends in order; nothing more will come.
    Bye,
}

/// A target's end of a control socket.
#[derive(Debug)]
pub struct Link<'a> {
    target: &'a Target,
    socket: Socket,
}

impl Link<'_> {
    /// Sleeps in `recv` until puts are done. Answers the check on the way.
    ///
    /// # Errors
    /// `PeerGone` where the initiator ended without a word; `Unsupported` with its reason where it cannot put into
    /// this target; `Refused`, `System`.
    pub fn wait(&mut self) -> Result<Event> {
        let ended = self.next();
        if ended.is_err() {
            self.resume();
        }
        ended
    }

    fn next(&mut self) -> Result<Event> {
        loop {
            match self.socket.receive()? {
                None => return Err(Error::peer_gone("control socket")),
                Some(Frame::Done(tags)) => return Ok(Event::Done(tags)),
                Some(Frame::Bye) => return Ok(Event::Bye),
                Some(Frame::Wake) => self.resume(),
                Some(Frame::Sleep) => {
                    if let Some(keeper) = &self.target.keeper {
                        keeper.park();
                    }
                    self.socket.send(&Frame::Slept)?;
                }
                Some(Frame::Check { region, length, seed }) => {
                    let seen = self.target.verify(region, length, seed)?;
                    if region as usize + 1 == self.target.areas.len() {
                        self.resume();
                    }
                    self.socket.send(&Frame::Checked(seen))?;
                }
                Some(Frame::Refused(why)) => {
                    return Err(Error::new(
                        Kind::Unsupported,
                        format!("The initiator will not put into this memory: {why}"),
                        "See the reason it gave.",
                    ));
                }
                Some(Frame::Offer(_) | Frame::Slept | Frame::Checked(_)) => {
                    return Err(refused("sent a message that only a target sends"));
                }
            }
        }
    }

    fn resume(&self) {
        if let Some(keeper) = &self.target.keeper {
            keeper.resume();
        }
    }
}
