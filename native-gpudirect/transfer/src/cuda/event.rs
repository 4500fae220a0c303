//! Streams, and events that two processes share: "this slot is full", "this slot is free".
//!
//! An event stands for all work that was in a stream when it was recorded; waiting for an event that was never
//! recorded returns at once. So the recorder first records, then tells the waiter over the control socket. A
//! process that dies may leave its last record undone: nobody should wait on the host for an event of a process
//! whose control socket has ended.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

use super::abi::*;
use super::device::Device;
use super::landing::{find, take};
use super::refused;
use crate::control::{Description, Purpose};
use crate::error::{Error, Kind, Result};

/// A queue of work on a GPU.
pub struct Stream {
    device: Arc<Device>,
    stream: CuStream,
    owned: bool,
}

// SAFETY: a stream may be used from any thread, by several at once; the driver locks inside.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    /// A stream of its own, that does not wait for the default stream.
    ///
    /// # Errors
    /// The driver's.
    pub fn create(device: &Arc<Device>) -> Result<Self> {
        let _entered = device.enter()?;
        let mut stream = null_mut();
        // SAFETY: writes one pointer.
        unsafe {
            device
                .driver()
                .stream_create(&raw mut stream, CU_STREAM_NON_BLOCKING)
        }?;
        Ok(Self {
            device: device.clone(),
            stream,
            owned: true,
        })
    }

    /// A stream that someone else made, such as PyTorch's current one.
    ///
    /// # Safety
    /// `stream` is a stream of `device`'s primary context (null: its default stream) and outlives this object.
    pub unsafe fn foreign(device: &Arc<Device>, stream: *mut c_void) -> Self {
        Self {
            device: device.clone(),
            stream,
            owned: false,
        }
    }

    /// Work put into this stream from now on waits, on the GPU, for what `event` stands for now.
    ///
    /// # Errors
    /// The driver's.
    pub fn wait_for(&self, event: &SharedEvent) -> Result<()> {
        let _entered = self.device.enter()?;
        // SAFETY: both are alive.
        unsafe {
            self.device
                .driver()
                .stream_wait_event(self.stream, event.event, 0)
        }
    }

    /// Waits until all work in the stream is done.
    ///
    /// # Errors
    /// The driver's, also of the work itself.
    pub fn synchronize(&self) -> Result<()> {
        let _entered = self.device.enter()?;
        // SAFETY: the stream is alive.
        unsafe { self.device.driver().stream_synchronize(self.stream) }
    }

    /// Copies to the GPU when the stream comes to it.
    ///
    /// # Safety
    /// Both ranges are valid, and stay so, unchanged, until the copy has completed.
    pub(super) unsafe fn copy_to_device(
        &self,
        to: CuDevicePointer,
        from: *const u8,
        bytes: usize,
    ) -> Result<()> {
        let _entered = self.device.enter()?;
        // SAFETY: passed on to the caller.
        unsafe {
            self.device
                .driver()
                .copy_to_device(to, from.cast(), bytes, self.stream)
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.owned
            && let Ok(_entered) = self.device.enter()
        {
            // SAFETY: our own stream, destroyed once; the driver ends it when its work is done.
            let _ = unsafe { self.device.driver().stream_destroy(self.stream) };
        }
    }
}

/// An event that another process may open.
pub struct SharedEvent {
    device: Arc<Device>,
    event: CuEvent,
}

// SAFETY: an event may be used from any thread, by several at once; the driver locks inside.
unsafe impl Send for SharedEvent {}
// SAFETY: as above.
unsafe impl Sync for SharedEvent {}

impl SharedEvent {
    /// Makes an event. Waits on the host sleep, and never spin.
    ///
    /// # Errors
    /// The driver's.
    pub fn create(device: &Arc<Device>) -> Result<Self> {
        Self::with(
            device,
            CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS,
        )
    }

    /// An event of this process alone.
    pub(super) fn local(device: &Arc<Device>) -> Result<Self> {
        Self::with(device, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING)
    }

    fn with(device: &Arc<Device>, flags: u32) -> Result<Self> {
        let _entered = device.enter()?;
        let mut event = null_mut();
        // SAFETY: writes one pointer.
        unsafe { device.driver().event_create(&raw mut event, flags) }?;
        Ok(Self {
            device: device.clone(),
            event,
        })
    }

    /// Describes it to another process (bytes: the GPU's UUID, the IPC handle).
    ///
    /// # Errors
    /// The driver's.
    pub fn describe(&self) -> Result<Description> {
        let _entered = self.device.enter()?;
        let mut handle = CuIpcHandle { reserved: [0; 64] };
        // SAFETY: the event is alive; writes 64 bytes.
        unsafe { self.device.driver().ipc_get_event(&raw mut handle, self.event) }?;
        let mut bytes = self.device.uuid().to_vec();
        bytes.extend_from_slice(&handle.reserved);
        Ok(Description {
            purpose: Purpose::CudaEvent,
            length: 0,
            bytes,
            fds: Vec::new(),
        })
    }

    /// Opens an event of another process.
    ///
    /// # Errors
    /// `Refused`, `Unsupported` for a GPU that is not among `devices`, or the driver's.
    pub fn open(devices: &[Arc<Device>], description: &Description) -> Result<Self> {
        if description.purpose != Purpose::CudaEvent {
            return Err(refused("is not an event, where one was expected"));
        }
        let mut rest = description.bytes.as_slice();
        let device = find(devices, take(&mut rest)?)?;
        let handle = CuIpcHandle {
            reserved: take(&mut rest)?,
        };
        let mut event = null_mut();
        {
            let _entered = device.enter()?;
            // SAFETY: 64 bytes that the driver checks; writes one pointer.
            unsafe { device.driver().ipc_open_event(&raw mut event, handle) }?;
        }
        Ok(Self { device, event })
    }

    /// From now on it stands for all work that is in `stream` now.
    ///
    /// # Errors
    /// The driver's.
    pub fn record(&self, stream: &Stream) -> Result<()> {
        let _entered = self.device.enter()?;
        // SAFETY: both are alive.
        unsafe { self.device.driver().event_record(self.event, stream.stream) }
    }

    /// Whether what it stands for is done. Never waits.
    ///
    /// # Errors
    /// The driver's, also of the work itself.
    pub fn is_complete(&self) -> Result<bool> {
        let _entered = self.device.enter()?;
        // SAFETY: the event is alive.
        match unsafe { self.device.driver().event_query(self.event) } {
            Ok(()) => Ok(true),
            Err(Error {
                kind:
                    Kind::Driver {
                        code: CUDA_ERROR_NOT_READY,
                        ..
                    },
                ..
            }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits until what it stands for is done.
    ///
    /// # Errors
    /// The driver's, also of the work itself.
    pub fn synchronize(&self) -> Result<()> {
        let _entered = self.device.enter()?;
        // SAFETY: the event is alive.
        unsafe { self.device.driver().event_synchronize(self.event) }
    }
}

impl Drop for SharedEvent {
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: our own event, destroyed once.
            let _ = unsafe { self.device.driver().event_destroy(self.event) };
        }
    }
}
