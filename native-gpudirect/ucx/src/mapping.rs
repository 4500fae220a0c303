//! Memory registered with UCX, released when dropped.

use std::ffi::c_void;
use std::sync::Arc;

use os2g_transfer::Result;

use crate::context::Context;
use crate::status;
use crate::sys::*;

/// Where registered memory lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryType {
    /// Memory that the CPU reads.
    Host,
    /// Memory of a CUDA device.
    Cuda,
}

impl MemoryType {
    /// `ucs_memory_type_t`.
    pub fn number(self) -> u32 {
        match self {
            Self::Host => MEMORY_TYPE_HOST,
            Self::Cuda => MEMORY_TYPE_CUDA,
        }
    }
}

/// Memory registered with UCX. The memory itself belongs to somebody else, or to UCX where UCX allocated it.
#[derive(Debug)]
pub struct Mapping {
    context: Arc<Context>,
    raw: *mut ucp_mem,
    address: *mut u8,
    length: usize,
}

// SAFETY: a registration belongs to no thread; its calls hold the context's lock.
unsafe impl Send for Mapping {}
// SAFETY: as above; nothing changes after it was made.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Lets UCX allocate host memory, of a kind that suits its transports.
    ///
    /// # Errors
    /// `Driver`.
    pub fn allocate(context: &Arc<Context>, length: usize) -> Result<Self> {
        Self::map(context, std::ptr::null_mut(), length, MemoryType::Host)
    }

    /// Registers memory.
    ///
    /// # Errors
    /// `Driver`.
    ///
    /// # Safety
    /// `length` bytes at `address` are memory of that type, and stay so until the mapping is dropped.
    pub unsafe fn register(
        context: &Arc<Context>,
        address: *mut u8,
        length: usize,
        memory_type: MemoryType,
    ) -> Result<Self> {
        Self::map(context, address, length, memory_type)
    }

    fn map(context: &Arc<Context>, address: *mut u8, length: usize, memory_type: MemoryType) -> Result<Self> {
        let ucp = context.ucp();
        let place = if address.is_null() {
            MEM_MAP_PARAM_FIELD_FLAGS
        } else {
            MEM_MAP_PARAM_FIELD_ADDRESS
        };
        let params = MemMapParams {
            field_mask: place | MEM_MAP_PARAM_FIELD_LENGTH | MEM_MAP_PARAM_FIELD_MEMORY_TYPE,
            address: address.cast::<c_void>(),
            length,
            flags: if address.is_null() { MEM_MAP_ALLOCATE } else { 0 },
            prot: 0,
            memory_type: memory_type.number(),
        };
        let mut raw = std::ptr::null_mut();
        let alone = context.lock();
        // SAFETY: a valid context and parameters; the memory is the caller's promise, or UCX's own.
        let got = unsafe { (ucp.call.ucp_mem_map)(context.raw, &params, &mut raw) };
        drop(alone);
        status::check(
            ucp,
            got,
            "ucp_mem_map",
            &format!("Registering {length} bytes with UCX"),
        )?;
        let mut mapping = Self {
            context: Arc::clone(context),
            raw,
            address,
            length,
        };
        let mut attributes = MemAttr {
            field_mask: MEM_ATTR_FIELD_ADDRESS | MEM_ATTR_FIELD_LENGTH,
            address: std::ptr::null_mut(),
            length: 0,
            memory_type: 0,
        };
        // SAFETY: a valid registration and attributes with their mask.
        let got = unsafe { (ucp.call.ucp_mem_query)(raw, &mut attributes) };
        status::check(ucp, got, "ucp_mem_query", "Asking where registered memory is")?;
        if address.is_null() {
            mapping.address = attributes.address.cast();
        }
        Ok(mapping)
    }

    /// Its start in this process (of CUDA memory: the device address).
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// Its bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// For calls that are not here.
    pub fn raw(&self) -> *mut ucp_mem {
        self.raw
    }

    /// What another process needs to put into it.
    ///
    /// # Errors
    /// `Driver`.
    pub fn pack_key(&self) -> Result<Vec<u8>> {
        let ucp = self.context.ucp();
        let (mut buffer, mut length) = (std::ptr::null_mut(), 0);
        let _alone = self.context.lock();
        // SAFETY: a valid context and registration of it, places for the results.
        let got = unsafe { (ucp.call.ucp_rkey_pack)(self.context.raw, self.raw, &mut buffer, &mut length) };
        status::check(ucp, got, "ucp_rkey_pack", "Packing a remote key")?;
        // SAFETY: the call gave a buffer of that length, ours until it is released.
        let key = unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), length) }.to_vec();
        // SAFETY: as above; not used after.
        unsafe { (ucp.call.ucp_rkey_buffer_release)(buffer) };
        Ok(key)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let _alone = self.context.lock();
        // SAFETY: made by `map`, unmapped once. A failure leaves it registered, which harms nobody here.
        unsafe { (self.context.ucp().call.ucp_mem_unmap)(self.context.raw, self.raw) };
    }
}
