//! The back end: its GPUs, and the memory that is registered with it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::completions::{Completions, Job, Wake};
use super::device::Device;
use super::driver::Driver;
use super::event::SharedEvent;
use super::landing::LandingMemory;
use super::lane::Lane;
use super::plain_memory::Pinned;
use crate::backend::{Backend, Capabilities, Handle, Put, check_range};
use crate::error::{Error, Kind, Result};

pub(super) const NAME: &str = "cuda";

/// How to open the back end.
#[derive(Debug, Clone)]
pub struct CudaOptions {
    /// The driver's library, [`super::DEFAULT_LIBRARY`] if none is named.
    pub library: Option<PathBuf>,
    /// Ordinals of the GPUs to put into; none: all that are visible.
    pub devices: Vec<i32>,
    /// How long closing waits for puts under way.
    pub close_limit: Duration,
}

impl Default for CudaOptions {
    fn default() -> Self {
        Self {
            library: None,
            devices: Vec::new(),
            close_limit: Duration::from_secs(10),
        }
    }
}

pub(super) enum What {
    Staging(Pinned),
    Landing { memory: Arc<LandingMemory>, lane: usize },
}

pub(super) struct Entry {
    what: What,
    /// Puts that were accepted and not yet polled.
    pub uses: usize,
    pub lost: bool,
}

/// Puts into GPU memory of this machine.
pub struct Cuda {
    pub(super) capabilities: Capabilities,
    // Order of fields is order of drop: entries before lanes before devices.
    pub(super) entries: HashMap<Handle, Entry>,
    pub(super) lanes: Vec<Lane>,
    pub(super) devices: Vec<Arc<Device>>,
    pub(super) completions: Arc<Completions>,
    next: u32,
    pub(super) waiting: usize,
    pub(super) close_limit: Duration,
    pub(super) closed: bool,
}

impl Cuda {
    /// Loads the driver and opens the GPUs, each with a stream and a waiting thread.
    ///
    /// # Errors
    /// `MissingLibrary`, `MissingSymbol`, the driver's; `Unsupported` without any GPU.
    pub fn open(options: &CudaOptions) -> Result<Self> {
        Self::with(options, None)
    }

    /// As [`Cuda::open`]; `wake` is called from a thread of the back end, once for each [`Cuda::arm`] at most.
    ///
    /// # Errors
    /// As [`Cuda::open`].
    pub fn open_waking(options: &CudaOptions, wake: Wake) -> Result<Self> {
        Self::with(options, Some(wake))
    }

    fn with(options: &CudaOptions, wake: Option<Wake>) -> Result<Self> {
        let driver = Driver::open(options.library.as_deref())?;
        let ordinals = if options.devices.is_empty() {
            visible(&driver)?
        } else {
            options.devices.clone()
        };
        let devices = ordinals
            .iter()
            .map(|ordinal| Device::open(&driver, *ordinal))
            .collect::<Result<Vec<_>>>()?;
        let completions = Arc::new(Completions::new(wake)?);
        let mut back_end = Self {
            capabilities: capabilities(),
            entries: HashMap::new(),
            lanes: Vec::new(),
            devices,
            completions,
            next: 1,
            waiting: 0,
            close_limit: options.close_limit,
            closed: false,
        };
        // Pushed one by one, so that those started are stopped (by `drop`) when one fails.
        for device in &back_end.devices {
            let lane = Lane::start(device, &back_end.completions)?;
            back_end.lanes.push(lane);
        }
        Ok(back_end)
    }

    /// The GPUs that it puts into.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// Asks for one call of the wake-up when a put completes; true where completions wait already, and then none comes.
    pub fn arm(&self) -> bool {
        self.completions.arm()
    }

    /// Registers landing memory that this process made itself.
    ///
    /// # Errors
    /// `Unsupported` for a GPU that was not opened, `Closed`.
    pub fn register_landing(&mut self, memory: Arc<LandingMemory>) -> Result<Handle> {
        let lane = self
            .devices
            .iter()
            .position(|device| device.uuid() == memory.device().uuid())
            .ok_or_else(|| {
                Error::new(
                    Kind::Unsupported,
                    format!(
                        "The landing memory is on GPU {}, which was not opened.",
                        memory.device().ordinal()
                    ),
                    "Open the back end with that GPU.",
                )
            })?;
        self.insert(What::Landing { memory, lane })
    }

    /// Registered landing memory, to read it back for an audit.
    ///
    /// # Errors
    /// `UnknownHandle`; `Unsupported` for a handle of staging memory.
    pub fn landing(&self, handle: Handle) -> Result<&Arc<LandingMemory>> {
        self.target(handle).map(|(memory, _)| memory)
    }

    /// Puts into `handle`'s GPU that start from now on wait, on the GPU, for what `event` stands for now ("slot
    /// free").
    ///
    /// # Errors
    /// As [`Cuda::landing`]; the driver's.
    pub fn wait_for(&self, handle: Handle, event: &SharedEvent) -> Result<()> {
        let (_, lane) = self.target(handle)?;
        self.lane(lane)?.stream().wait_for(event)
    }

    /// `event` stands, from now on, for all puts into `handle`'s GPU that were started so far ("slot full").
    ///
    /// # Errors
    /// As [`Cuda::landing`]; the driver's.
    pub fn record(&self, handle: Handle, event: &SharedEvent) -> Result<()> {
        let (_, lane) = self.target(handle)?;
        event.record(self.lane(lane)?.stream())
    }

    fn lane(&self, lane: usize) -> Result<&Lane> {
        self.lanes.get(lane).ok_or_else(|| Error::closed(NAME))
    }

    pub(super) fn entry(&self, handle: Handle) -> Result<&Entry> {
        self.entries
            .get(&handle)
            .ok_or_else(|| Error::unknown_handle(handle.0))
    }

    fn target(&self, handle: Handle) -> Result<(&Arc<LandingMemory>, usize)> {
        match &self.entry(handle)?.what {
            What::Landing { memory, lane } => Ok((memory, *lane)),
            What::Staging(_) => Err(wrong_kind(
                handle,
                "staging memory, where landing memory was expected",
            )),
        }
    }

    fn source(&self, handle: Handle) -> Result<&Pinned> {
        match &self.entry(handle)?.what {
            What::Staging(pinned) => Ok(pinned),
            What::Landing { .. } => Err(wrong_kind(
                handle,
                "landing memory, where staging memory was expected",
            )),
        }
    }

    pub(super) fn insert(&mut self, what: What) -> Result<Handle> {
        if self.closed {
            return Err(Error::closed(NAME));
        }
        let handle = Handle(self.next);
        self.next = self.next.checked_add(1).ok_or_else(|| {
            Error::new(
                Kind::Full,
                "All 2^32 memory handles were given out.",
                "Open the back end again.",
            )
        })?;
        self.entries.insert(
            handle,
            Entry {
                what,
                uses: 0,
                lost: false,
            },
        );
        Ok(handle)
    }

    pub(super) fn start(&self, put: &Put) -> Result<()> {
        let (target, lane) = self.target(put.handle)?;
        if self.entry(put.handle)?.lost {
            return Err(Error::peer_gone("landing memory"));
        }
        let source = self.source(put.from.handle)?.segment();
        check_range("landing memory", put.offset, put.length, target.length())?;
        check_range("staging memory", put.from.offset, put.length, source.len() as u64)?;
        let job = Job {
            tag: put.tag,
            target: put.handle,
            source: put.from.handle,
        };
        if put.length == 0 {
            self.completions.finish([job], &Ok(()));
            return Ok(());
        }
        // SAFETY: both ranges were checked. Both memories stay until the job was polled: `uses` bars unregistering,
        // and `close` waits for the lane or leaves them in place.
        unsafe {
            let from = source.pointer().add(put.from.offset as usize);
            self.lane(lane)?.put(
                job,
                target.device_pointer() + put.offset,
                from,
                put.length as usize,
            )
        }
    }
}

/// Ordinals of the GPUs that this process may use: at least one.
pub(super) fn visible(driver: &Driver) -> Result<Vec<i32>> {
    let count = driver.device_count()?;
    if count < 1 {
        return Err(Error::new(
            Kind::Unsupported,
            "The CUDA driver is there, but no GPU is visible to this process.",
            "See nvidia-smi and CUDA_VISIBLE_DEVICES, or choose another --landing.",
        ));
    }
    Ok((0..count).collect())
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // Whoever wants to know how it went calls `close`.
        let _ = self.close();
    }
}

fn capabilities() -> Capabilities {
    Capabilities {
        name: NAME,
        direct: false,
        target_passive: true,
        in_place: false,
        alignment: 1,
        largest_message: isize::MAX as u64,
        path: "The host's CPU receives into pinned host memory; the GPU's copy engine moves the bytes over PCIe.".into(),
    }
}

fn wrong_kind(handle: Handle, is: &str) -> Error {
    Error::new(
        Kind::Unsupported,
        format!("Handle {} is of {is}.", handle.0),
        "The `cuda` back end puts from segments into GPU memory only.",
    )
}
