//! The back end's face: memory by handles, puts, completions.

mod contract;

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use os2g_transfer::{Capabilities, Error, Handle, Result, Segment};

use crate::completions::Completions;
use crate::connection::Connection;
use crate::frame::{Frame, refused};
use crate::library::{self, Ucp};
use crate::offer::Offer;
use crate::report::Report;
use crate::settings::Settings;
use crate::socket::Socket;

/// The name of this back end.
pub const NAME: &str = "ucx";

/// Puts into memory that targets registered with UCX, each target by a thread of its own.
pub struct Ucx {
    ucp: Arc<Ucp>,
    settings: Settings,
    completions: Arc<Completions>,
    connections: BTreeMap<u32, Connection>,
    memory: BTreeMap<u32, Entry>,
    next: u32,
    waiting: usize,
    closed: bool,
    capabilities: Capabilities,
}

/// Memory behind a handle.
enum Entry {
    Staging {
        segment: Arc<Segment>,
        uses: Arc<AtomicU64>,
    },
    Landing {
        connection: u32,
        region: usize,
        length: u64,
        uses: Arc<AtomicU64>,
    },
}

impl Entry {
    fn uses(&self) -> &Arc<AtomicU64> {
        match self {
            Self::Staging { uses, .. } | Self::Landing { uses, .. } => uses,
        }
    }
}

/// Landing memory of a target that [`Ucx::connect`] reached, in the order of the target's offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Landing {
    /// For puts.
    pub handle: Handle,
    /// Bytes.
    pub length: u64,
}

impl Ucx {
    /// Loads UCX. No target is known yet.
    ///
    /// # Errors
    /// `MissingLibrary`, `MissingSymbol`, `Unsupported` for a UCX that is too old.
    pub fn open(settings: Settings) -> Result<Self> {
        let ucp = library::load(&settings.places)?;
        let capabilities = capabilities(&ucp, std::iter::empty());
        Ok(Self {
            ucp,
            settings,
            completions: Arc::new(Completions::new()?),
            connections: BTreeMap::new(),
            memory: BTreeMap::new(),
            next: 0,
            waiting: 0,
            closed: false,
            capabilities,
        })
    }

    /// Takes over the connected control socket (Unix or TCP) of a [`crate::Target`]: reads its offer, checks that
    /// puts arrive while it sleeps, and from then on tells it of every put that is done. When the socket ends, the
    /// puts under way end with `PeerGone`.
    ///
    /// # Errors
    /// `Unsupported` where UCX has no path that leaves the target asleep; `Refused`, `PeerGone`, `TimedOut`,
    /// `Driver`.
    pub fn connect(&mut self, control: impl Into<OwnedFd>) -> Result<Vec<Landing>> {
        self.check_open()?;
        let control = Socket::new(control.into());
        let offer = match control.receive_within(self.settings.limits.check, "its offer of memory")? {
            Some(Frame::Offer(offer)) => offer,
            Some(_) => return Err(refused("sent another message than its offer")),
            None => return Err(Error::peer_gone("control socket")),
        };
        self.start(offer, Some(control))
    }

    /// How bytes travel to landing memory; `None` for other handles.
    pub fn report(&self, handle: Handle) -> Option<&Report> {
        match self.memory.get(&handle.0)? {
            Entry::Landing { connection, .. } => self.connections.get(connection).map(|found| &found.report),
            Entry::Staging { .. } => None,
        }
    }

    fn start(&mut self, offer: Offer, control: Option<Socket>) -> Result<Vec<Landing>> {
        let lengths: Vec<u64> = offer.regions.iter().map(|region| region.length).collect();
        let connection = Connection::start(&self.ucp, &self.settings, offer, control, &self.completions)?;
        let number = self.number();
        self.connections.insert(number, connection);
        let landings = lengths.into_iter().enumerate().map(|(region, length)| {
            let entry = Entry::Landing {
                connection: number,
                region,
                length,
                uses: Arc::default(),
            };
            Landing {
                handle: self.insert(entry),
                length,
            }
        });
        let landings = landings.collect();
        self.look();
        Ok(landings)
    }

    fn insert(&mut self, entry: Entry) -> Handle {
        let number = self.number();
        self.memory.insert(number, entry);
        Handle(number)
    }

    /// Numbers are never used again; 2^32 registrations do not happen in a process's life.
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.next
    }

    fn look(&mut self) {
        self.capabilities = capabilities(&self.ucp, self.connections.values().map(|found| &found.report));
    }

    fn check_open(&self) -> Result<()> {
        if self.closed {
            Err(Error::closed(NAME))
        } else {
            Ok(())
        }
    }

    fn entry(&self, handle: Handle) -> Result<&Entry> {
        self.memory
            .get(&handle.0)
            .ok_or_else(|| Error::unknown_handle(handle.0))
    }
}

/// What is true of all targets at once.
fn capabilities<'a>(ucp: &Ucp, reports: impl Iterator<Item = &'a Report>) -> Capabilities {
    let reports: Vec<&Report> = reports.collect();
    let mut paths: Vec<String> = reports.iter().map(|report| report.path()).collect();
    paths.sort();
    paths.dedup();
    let path = if paths.is_empty() {
        format!("{ucp:?}; no target yet")
    } else {
        paths.join("; ")
    };
    Capabilities {
        name: NAME,
        direct: !reports.is_empty() && reports.iter().all(|report| report.direct),
        // Every connection has passed the check.
        target_passive: !reports.is_empty(),
        in_place: false,
        alignment: 1,
        largest_message: isize::MAX as u64,
        path,
    }
}
