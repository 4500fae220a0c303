//! Memory by `cuMemAlloc`, memory of another process by its IPC handle, and page-locked host memory: one owner each.
//!
//! Each release needs the GPU's context current. Where that fails the context is broken, and the memory ends with
//! the process.

use std::sync::Arc;

use super::abi::*;
use super::device::Device;
use crate::error::Result;
use crate::memory::Segment;

/// Memory by `cuMemAlloc`.
pub(super) struct Plain {
    device: Arc<Device>,
    pub pointer: CuDevicePointer,
}

impl Plain {
    pub fn new(device: &Arc<Device>, bytes: usize) -> Result<Self> {
        let _entered = device.enter()?;
        let mut pointer = 0;
        // SAFETY: writes one address.
        unsafe { device.driver().mem_alloc(&raw mut pointer, bytes) }?;
        Ok(Self {
            device: device.clone(),
            pointer,
        })
    }

    /// The handle of the whole allocation that `pointer` lies in, and the pointer's place in it.
    pub fn share(&self) -> Result<(CuIpcHandle, u64)> {
        let _entered = self.device.enter()?;
        let driver = self.device.driver();
        let mut handle = CuIpcHandle { reserved: [0; 64] };
        let (mut base, mut bytes) = (0, 0);
        // SAFETY: the pointer is our own live allocation; the calls write to live variables of their types.
        unsafe {
            driver.ipc_get_mem(&raw mut handle, self.pointer)?;
            driver.mem_address_range(&raw mut base, &raw mut bytes, self.pointer)?;
        }
        Ok((handle, self.pointer - base))
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: our own allocation, freed once.
            let _ = unsafe { self.device.driver().mem_free(self.pointer) };
        }
    }
}

/// Memory of another process by its IPC handle.
pub(super) struct Opened {
    device: Arc<Device>,
    pub base: CuDevicePointer,
}

impl Opened {
    pub fn new(device: &Arc<Device>, handle: CuIpcHandle) -> Result<Self> {
        let _entered = device.enter()?;
        let mut base = 0;
        // SAFETY: the handle is 64 bytes that the driver checks; writes one address.
        unsafe {
            device
                .driver()
                .ipc_open_mem(&raw mut base, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        }?;
        Ok(Self {
            device: device.clone(),
            base,
        })
    }

    /// Bytes of the allocation, as the driver knows them.
    pub fn bytes(&self) -> Result<u64> {
        let _entered = self.device.enter()?;
        let (mut base, mut bytes) = (0, 0);
        // SAFETY: the pointer is our own opened memory; writes to live variables.
        unsafe {
            self.device
                .driver()
                .mem_address_range(&raw mut base, &raw mut bytes, self.base)
        }?;
        Ok(bytes as u64)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: opened once, closed once.
            let _ = unsafe { self.device.driver().ipc_close_mem(self.base) };
        }
    }
}

/// A segment that the GPUs may read while the CPU goes on: page-locked for all contexts.
pub(super) struct Pinned {
    device: Arc<Device>,
    segment: Arc<Segment>,
}

impl Pinned {
    pub fn new(device: &Arc<Device>, segment: Arc<Segment>) -> Result<Self> {
        let _entered = device.enter()?;
        // SAFETY: the whole mapping of a segment, which this object keeps alive until it is unregistered.
        unsafe {
            device.driver().mem_host_register(
                segment.pointer().cast(),
                segment.mapped(),
                CU_MEMHOSTREGISTER_PORTABLE,
            )
        }?;
        Ok(Self {
            device: device.clone(),
            segment,
        })
    }

    pub fn segment(&self) -> &Segment {
        &self.segment
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Ok(_entered) = self.device.enter() {
            // SAFETY: registered once by `new`, at this address.
            let _ = unsafe {
                self.device
                    .driver()
                    .mem_host_unregister(self.segment.pointer().cast())
            };
        }
    }
}
