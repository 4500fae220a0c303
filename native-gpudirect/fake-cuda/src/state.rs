//! All that the driver knows, in one place under one lock.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::call::note;
use crate::code;
use crate::event::Event;
use crate::memfd::Mapped;
use crate::stream::Stream;

/// Granularity of virtual memory, and the gap between ranges.
pub const GRANULE: usize = 2 << 20;
/// No CPU follows such an address: it is not canonical on x86-64, and out of range on arm64.
const FIRST_ADDRESS: u64 = 0x0d00_0000_0000_0000;

/// Physical memory of a GPU.
pub struct DeviceMemory {
    pub mapped: Mapped,
    /// The GPU's number in the machine, not its ordinal.
    pub gpu: u32,
}

/// Where the memory at a range of addresses comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// `cuMemAddressReserve`
    Reserved,
    /// `cuMemAlloc`
    Plain,
    /// `cuIpcOpenMemHandle`
    Opened,
}

pub struct Range {
    pub origin: Origin,
    pub bytes: usize,
    pub memory: Option<Arc<DeviceMemory>>,
    /// GPUs that may touch it.
    pub access: Vec<u32>,
}

pub struct Settings {
    pub visible: Vec<u32>,
    pub memory: u64,
    pub delay_us: u64,
    pub by_fd: bool,
    /// Copies to these GPUs wait in their queues, one bit each.
    pub hold: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            visible: vec![0, 1],
            memory: 1 << 30,
            delay_us: 2_000,
            by_fd: true,
            hold: 0,
        }
    }
}

#[derive(Default)]
pub struct State {
    pub initialised: bool,
    pub settings: Settings,
    /// How often each GPU's primary context is retained.
    pub contexts: HashMap<u32, u64>,
    pub allocations: HashMap<u64, Arc<DeviceMemory>>,
    pub ranges: BTreeMap<u64, Range>,
    /// Page-locked host memory: address, bytes.
    pub hosts: BTreeMap<usize, usize>,
    pub streams: HashMap<u64, Arc<Stream>>,
    pub events: HashMap<u64, Arc<Event>>,
    /// Things done that the real driver punishes some day: memory released under a copy.
    pub violations: u64,
    /// Copies from memory that was not page-locked.
    pub pageable: u64,
    /// Contexts pushed and not popped, all threads together.
    pub pushed: i64,
    next: u64,
    used_addresses: u64,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

pub fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Something was done that the real driver punishes some day.
    pub fn violation(&mut self) {
        self.violations += 1;
        note("violation");
    }

    /// A number never used before, as a handle.
    pub fn number(&mut self) -> u64 {
        self.next += 1;
        0x1000 + self.next * 16
    }

    /// New addresses, with a gap after them.
    pub fn addresses(&mut self, bytes: usize) -> u64 {
        let address = FIRST_ADDRESS + self.used_addresses;
        self.used_addresses += (bytes.next_multiple_of(GRANULE) + GRANULE) as u64;
        address
    }

    /// The GPU behind an ordinal of this process.
    pub fn gpu(&self, ordinal: i32) -> Result<u32, i32> {
        usize::try_from(ordinal)
            .ok()
            .and_then(|ordinal| self.settings.visible.get(ordinal).copied())
            .ok_or(code::INVALID_DEVICE)
    }

    pub fn ordinal(&self, gpu: u32) -> Result<i32, i32> {
        self.settings
            .visible
            .iter()
            .position(|seen| *seen == gpu)
            .map(|at| at as i32)
            .ok_or(code::INVALID_DEVICE)
    }

    /// New physical memory, within what the GPU has.
    pub fn allocate(&self, gpu: u32, bytes: usize) -> Result<Arc<DeviceMemory>, i32> {
        let mut seen: Vec<*const DeviceMemory> = Vec::new();
        let mut used = 0u64;
        let mapped = self.ranges.values().filter_map(|range| range.memory.as_ref());
        for memory in self.allocations.values().chain(mapped) {
            if memory.gpu == gpu && !seen.contains(&Arc::as_ptr(memory)) {
                seen.push(Arc::as_ptr(memory));
                used += memory.mapped.bytes() as u64;
            }
        }
        if bytes == 0 {
            return Err(code::INVALID_VALUE);
        }
        if used.saturating_add(bytes as u64) > self.settings.memory {
            return Err(code::OUT_OF_MEMORY);
        }
        Ok(Arc::new(DeviceMemory {
            mapped: Mapped::create(&format!("os2g-fake-gpu-{gpu}"), bytes)?,
            gpu,
        }))
    }

    /// The range that holds `address`, and its start.
    pub fn range(&self, address: u64) -> Result<(u64, &Range), i32> {
        let (base, range) = self
            .ranges
            .range(..=address)
            .next_back()
            .ok_or(code::INVALID_VALUE)?;
        if address - base >= range.bytes as u64 {
            return Err(code::INVALID_VALUE);
        }
        Ok((*base, range))
    }

    /// Memory at `bytes` addresses that `gpu` may touch, and where in it they start.
    pub fn resolve(&self, address: u64, bytes: usize, gpu: u32) -> Result<(Arc<DeviceMemory>, usize), i32> {
        let (base, range) = self.range(address)?;
        let memory = range.memory.clone().ok_or(code::INVALID_VALUE)?;
        let offset = (address - base) as usize;
        if offset
            .checked_add(bytes)
            .is_none_or(|end| end > memory.mapped.bytes())
            || !range.access.contains(&gpu)
        {
            return Err(code::INVALID_VALUE);
        }
        Ok((memory, offset))
    }

    /// Whether any queued copy touches this memory of a GPU.
    pub fn in_use(&self, memory: &Arc<DeviceMemory>) -> bool {
        self.streams
            .values()
            .any(|stream| stream.any_copy(|copy| Arc::ptr_eq(&copy.memory, memory)))
    }
}
