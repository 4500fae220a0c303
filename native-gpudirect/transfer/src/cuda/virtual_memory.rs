//! Physical memory and addresses (`cuMemCreate` and its kin), one owner each, so that whatever fails half-way is
//! given back.

use std::ffi::c_void;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::Arc;

use super::abi::*;
use super::device::Device;
use crate::error::{Error, Kind, Result};

/// Physical memory, by `cuMemCreate` or imported.
pub(super) struct Allocation {
    device: Arc<Device>,
    handle: CuAllocation,
}

fn properties(device: &Device) -> Result<CuMemAllocationProp> {
    Ok(CuMemAllocationProp {
        kind: CU_MEM_ALLOCATION_TYPE_PINNED,
        requested_handle_types: CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        location: CuMemLocation {
            kind: CU_MEM_LOCATION_TYPE_DEVICE,
            id: device.ordinal(),
        },
        win32_handle_meta_data: null_mut(),
        compression_type: 0,
        gpu_direct_rdma_capable: u8::from(device.rdma_capable()?),
        usage: 0,
        reserved: [0; 4],
    })
}

impl Allocation {
    /// At least `length` bytes; returns how many, a multiple of the granularity.
    pub fn create(device: &Arc<Device>, length: usize) -> Result<(Self, usize)> {
        let driver = device.driver();
        let properties = properties(device)?;
        let mut granularity = 0;
        // SAFETY: reads the properties, writes one number.
        unsafe {
            driver.mem_granularity(
                &raw mut granularity,
                &raw const properties,
                CU_MEM_ALLOC_GRANULARITY_MINIMUM,
            )
        }?;
        let Some(bytes) = length.checked_next_multiple_of(granularity.max(1)) else {
            return Err(Error::new(
                Kind::Invalid,
                format!("{length} bytes of GPU memory are too many."),
                "Ask for less.",
            ));
        };
        let mut handle = 0;
        // SAFETY: reads the properties, writes one handle.
        unsafe { driver.mem_create(&raw mut handle, bytes, &raw const properties, 0) }?;
        Ok((
            Self {
                device: device.clone(),
                handle,
            },
            bytes,
        ))
    }

    /// From a descriptor of another process. The driver takes a reference of its own, so `fd` may be closed.
    pub fn import(device: &Arc<Device>, fd: BorrowedFd<'_>) -> Result<Self> {
        let mut handle = 0;
        let shared = fd.as_raw_fd() as usize as *mut c_void;
        // SAFETY: for this type of handle the driver takes the descriptor's number in the pointer; writes one handle.
        unsafe {
            device
                .driver()
                .mem_import(&raw mut handle, shared, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        }?;
        let allocation = Self {
            device: device.clone(),
            handle,
        };
        let mut properties = properties(device)?;
        // SAFETY: writes one struct; the handle is alive.
        unsafe { device.driver().mem_properties(&raw mut properties, handle) }?;
        if properties.location.kind != CU_MEM_LOCATION_TYPE_DEVICE
            || properties.location.id != device.ordinal()
        {
            return Err(super::refused("lies on another GPU than it says"));
        }
        Ok(allocation)
    }

    pub fn export(&self) -> Result<OwnedFd> {
        let mut fd: i32 = -1;
        // SAFETY: for this type of handle the driver writes one int.
        unsafe {
            self.device.driver().mem_export(
                (&raw mut fd).cast(),
                self.handle,
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                0,
            )
        }?;
        // SAFETY: the driver made the descriptor for us.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        // SAFETY: a valid descriptor. A child process must not keep GPU memory alive.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        Ok(fd)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: our own reference, given back once.
        let _ = unsafe { self.device.driver().mem_release(self.handle) };
    }
}

/// A range of GPU addresses.
pub(super) struct Reservation {
    device: Arc<Device>,
    pointer: CuDevicePointer,
    bytes: usize,
}

impl Reservation {
    pub fn new(device: &Arc<Device>, bytes: usize) -> Result<Self> {
        let mut pointer = 0;
        // SAFETY: writes one address.
        unsafe {
            device
                .driver()
                .mem_address_reserve(&raw mut pointer, bytes, 0, 0, 0)
        }?;
        Ok(Self {
            device: device.clone(),
            pointer,
            bytes,
        })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: our own range, without a mapping by now: `Mapping` owns its reservation and drops first.
        let _ = unsafe { self.device.driver().mem_address_free(self.pointer, self.bytes) };
    }
}

/// Physical memory at addresses, readable and writable by its GPU.
pub(super) struct Mapping {
    reservation: Reservation,
    pub allocation: Allocation,
}

impl Mapping {
    pub fn new(allocation: Allocation, reservation: Reservation) -> Result<Self> {
        let driver = reservation.device.driver().clone();
        let (pointer, bytes) = (reservation.pointer, reservation.bytes);
        // SAFETY: a reserved range without a mapping, and a live handle.
        unsafe { driver.mem_map(pointer, bytes, 0, allocation.handle, 0) }?;
        let mapping = Self {
            reservation,
            allocation,
        };
        let access = CuMemAccessDesc {
            location: CuMemLocation {
                kind: CU_MEM_LOCATION_TYPE_DEVICE,
                id: mapping.reservation.device.ordinal(),
            },
            flags: CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: the mapping just made; reads one struct.
        unsafe { driver.mem_set_access(pointer, bytes, &raw const access, 1) }?;
        Ok(mapping)
    }

    pub fn pointer(&self) -> CuDevicePointer {
        self.reservation.pointer
    }

    pub fn bytes(&self) -> usize {
        self.reservation.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: our own mapping; who owns it waited for the work that uses it.
        let _ = unsafe {
            self.reservation
                .device
                .driver()
                .mem_unmap(self.reservation.pointer, self.reservation.bytes)
        };
    }
}
