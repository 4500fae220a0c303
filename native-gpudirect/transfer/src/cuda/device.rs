//! A GPU: its primary context, held for as long as anything uses it.

use std::ffi::{CStr, c_char};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::Arc;

use super::abi::*;
use super::driver::Driver;
use crate::error::{Error, Kind, Result};

/// A GPU of this process. The primary context is the one that PyTorch and the CUDA runtime use too.
pub struct Device {
    driver: Arc<Driver>,
    ordinal: i32,
    device: CuDevice,
    context: CuContext,
    uuid: [u8; 16],
    name: String,
}

// SAFETY: a context may be used from any thread, by several at once; the driver locks inside.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

impl Device {
    /// Retains the primary context of GPU `ordinal`, counted among those that CUDA_VISIBLE_DEVICES leaves.
    ///
    /// # Errors
    /// The driver's (no such device, exclusive mode, out of memory); `Unsupported` without unified addressing.
    pub fn open(driver: &Arc<Driver>, ordinal: i32) -> Result<Arc<Self>> {
        let (device, name) = find(driver, ordinal)?;
        let mut uuid = [0; 16];
        // SAFETY: writes 16 bytes.
        unsafe { driver.device_get_uuid(&raw mut uuid, device) }?;
        if attribute(driver, device, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING)? == 0 {
            return Err(Error::new(
                Kind::Unsupported,
                format!("GPU {ordinal} ({name}) has no unified addressing."),
                "Use a 64-bit process with a GPU that has it.",
            ));
        }
        let mut context = null_mut();
        // SAFETY: writes one pointer; the release follows in `drop`, which can run from here on.
        unsafe { driver.primary_ctx_retain(&raw mut context, device) }?;
        Ok(Arc::new(Self {
            driver: driver.clone(),
            ordinal,
            device,
            context,
            uuid,
            name,
        }))
    }

    /// The driver that it was opened with.
    pub fn driver(&self) -> &Arc<Driver> {
        &self.driver
    }

    /// Its number in this process.
    pub fn ordinal(&self) -> i32 {
        self.ordinal
    }

    /// The number that is the same in every process, unlike the ordinal.
    pub fn uuid(&self) -> [u8; 16] {
        self.uuid
    }

    /// The product's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether memory made by `cuMemCreate` can be handed over as a file descriptor.
    pub(super) fn shares_by_fd(&self) -> Result<bool> {
        Ok(
            self.attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)? != 0
                && self.attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)? != 0,
        )
    }

    /// Whether such memory can be made readable to a network card.
    pub(super) fn rdma_capable(&self) -> Result<bool> {
        Ok(self.attribute(CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED)? != 0)
    }

    fn attribute(&self, attribute_number: i32) -> Result<i32> {
        attribute(&self.driver, self.device, attribute_number)
    }

    /// Makes the context current in this thread until the guard drops; what was current before returns then.
    pub(super) fn enter(&self) -> Result<Entered<'_>> {
        // SAFETY: the context is retained as long as `self` lives, which the guard borrows.
        unsafe { self.driver.ctx_push(self.context) }?;
        Ok(Entered {
            device: self,
            _this_thread: PhantomData,
        })
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: pairs with the retain in `open`; nothing that uses the context outlives its `Arc<Device>`. A failure
        // leaves the context to the end of the process, and nobody is left to tell.
        let _ = unsafe { self.driver.primary_ctx_release(self.device) };
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Device({}, {})", self.ordinal, self.name)
    }
}

/// The context is current in this thread.
pub(super) struct Entered<'a> {
    device: &'a Device,
    _this_thread: PhantomData<*const ()>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let mut popped = null_mut();
        // SAFETY: pairs with the push in `enter`, in the same thread, as the guard cannot be sent.
        let _ = unsafe { self.device.driver.ctx_pop(&raw mut popped) };
    }
}

/// A GPU and its product's name; opens nothing.
pub(super) fn find(driver: &Driver, ordinal: i32) -> Result<(CuDevice, String)> {
    let mut device = 0;
    let mut name: [c_char; 128] = [0; 128];
    // SAFETY: each call writes to a live variable of its type, the name with its true length.
    unsafe {
        driver.device_get(&raw mut device, ordinal)?;
        driver.device_get_name(name.as_mut_ptr(), name.len() as i32 - 1, device)?;
    }
    // SAFETY: the buffer ends in a NUL, since its last byte was never given to the driver.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    Ok((device, name.to_string_lossy().into_owned()))
}

fn attribute(driver: &Driver, device: CuDevice, attribute: i32) -> Result<i32> {
    let mut value = 0;
    // SAFETY: writes one int.
    unsafe { driver.device_get_attribute(&raw mut value, attribute, device) }?;
    Ok(value)
}
