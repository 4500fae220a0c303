//! Physical memory, addresses, and mapping one at the other (`cuMem*`).

use std::ffi::c_void;
use std::os::fd::{BorrowedFd, IntoRawFd};
use std::sync::Arc;

use crate::call::{exports, give};
use crate::code;
use crate::memfd::Mapped;
use crate::state::{DeviceMemory, GRANULE, Origin, Range, state};

/// `CUmemAllocationProp`, up to its `location`; then 16 bytes that are not looked at.
#[repr(C)]
pub struct Properties {
    kind: i32,
    handle_types: i32,
    location_kind: i32,
    location_id: i32,
    rest: [u64; 2],
}

/// `CUmemAccessDesc`.
#[repr(C)]
pub struct Access {
    location_kind: i32,
    location_id: i32,
    flags: i32,
}

/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`
const BY_FD: i32 = 1;
const READ_WRITE: i32 = 3;

fn check(properties: *const Properties) -> Result<u32, i32> {
    if properties.is_null() {
        return Err(code::INVALID_VALUE);
    }
    // SAFETY: not null, and by the API's rules valid.
    let properties = unsafe { &*properties };
    let state = state();
    if properties.kind != 1 || properties.location_kind != 1 || properties.handle_types & !BY_FD != 0 {
        return Err(code::INVALID_VALUE);
    }
    if !state.settings.by_fd {
        return Err(code::NOT_SUPPORTED);
    }
    state.gpu(properties.location_id)
}

exports! {
    /// 2 MiB.
    fn cuMemGetAllocationGranularity(bytes: *mut usize, properties: *const Properties, option: i32) {
        check(properties)?;
        if !(0..=1).contains(&option) {
            return Err(code::INVALID_VALUE);
        }
        give(bytes, GRANULE)
    }

    /// Takes whole granules only.
    fn cuMemCreate(handle: *mut u64, bytes: usize, properties: *const Properties, flags: u64) {
        let gpu = check(properties)?;
        if flags != 0 || !bytes.is_multiple_of(GRANULE) {
            return Err(code::INVALID_VALUE);
        }
        let mut state = state();
        let memory = state.allocate(gpu, bytes)?;
        let number = state.number();
        state.allocations.insert(number, memory);
        give(handle, number)
    }

    /// The memory stays as long as it is mapped.
    fn cuMemRelease(handle: u64) {
        state().allocations.remove(&handle).map(drop).ok_or(code::INVALID_VALUE)
    }

    /// A new descriptor.
    fn cuMemExportToShareableHandle(shared: *mut c_void, handle: u64, kind: i32, flags: u64) {
        if kind != BY_FD || flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        let state = state();
        let memory = state.allocations.get(&handle).ok_or(code::INVALID_VALUE)?;
        let fd = memory.mapped.fd().try_clone_to_owned().map_err(|_| code::OPERATING_SYSTEM)?;
        give(shared.cast::<i32>(), fd.into_raw_fd())
    }

    /// From a descriptor of any process.
    fn cuMemImportFromShareableHandle(handle: *mut u64, shared: *mut c_void, kind: i32) {
        if kind != BY_FD {
            return Err(code::INVALID_VALUE);
        }
        let number = i32::try_from(shared as usize).map_err(|_| code::INVALID_VALUE)?;
        // SAFETY: only asks whether the number is an open descriptor.
        if unsafe { libc::fcntl(number, libc::F_GETFD) } < 0 {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: it is open, and the caller keeps it open during the call.
        let fd = unsafe { BorrowedFd::borrow_raw(number) };
        let fd = fd.try_clone_to_owned().map_err(|_| code::OPERATING_SYSTEM)?;
        let (mapped, gpu) = Mapped::open(fd, "os2g-fake-gpu-")?;
        let gpu = gpu.parse().map_err(|_| code::INVALID_HANDLE)?;
        let mut state = state();
        state.ordinal(gpu)?;
        let new = state.number();
        state.allocations.insert(new, Arc::new(DeviceMemory { mapped, gpu }));
        give(handle, new)
    }

    /// With the ordinal that the GPU has in this process.
    fn cuMemGetAllocationPropertiesFromHandle(properties: *mut Properties, handle: u64) {
        let state = state();
        let gpu = state.allocations.get(&handle).ok_or(code::INVALID_VALUE)?.gpu;
        let location_id = state.ordinal(gpu)?;
        give(properties, Properties { kind: 1, handle_types: BY_FD, location_kind: 1, location_id, rest: [0; 2] })
    }

    /// Whole granules only.
    fn cuMemAddressReserve(pointer: *mut u64, bytes: usize, alignment: usize, wish: u64, flags: u64) {
        let _ = wish;
        if bytes == 0 || !bytes.is_multiple_of(GRANULE) || flags != 0 || (alignment != 0 && !alignment.is_power_of_two()) {
            return Err(code::INVALID_VALUE);
        }
        let mut state = state();
        let address = state.addresses(bytes);
        state.ranges.insert(address, Range { origin: Origin::Reserved, bytes, memory: None, access: Vec::new() });
        give(pointer, address)
    }

    /// Refuses a range that is mapped.
    fn cuMemAddressFree(pointer: u64, bytes: usize) {
        let mut state = state();
        match state.ranges.get(&pointer) {
            Some(range) if range.origin == Origin::Reserved && range.bytes == bytes && range.memory.is_none() => {}
            _ => return Err(code::INVALID_VALUE),
        }
        state.ranges.remove(&pointer);
        Ok(())
    }

    /// One mapping for a reserved range, from its start; never more than the memory has.
    fn cuMemMap(pointer: u64, bytes: usize, offset: usize, handle: u64, flags: u64) {
        let mut state = state();
        let memory = state.allocations.get(&handle).cloned().ok_or(code::INVALID_VALUE)?;
        let range = state.ranges.get_mut(&pointer).ok_or(code::INVALID_VALUE)?;
        let fits = bytes == range.bytes && bytes == memory.mapped.bytes();
        if range.origin != Origin::Reserved || range.memory.is_some() || offset != 0 || flags != 0 || !fits {
            return Err(code::INVALID_VALUE);
        }
        range.memory = Some(memory);
        Ok(())
    }

    /// Counts a violation when copies are queued for the memory.
    fn cuMemUnmap(pointer: u64, bytes: usize) {
        let mut state = state();
        let range = state.ranges.get_mut(&pointer).ok_or(code::INVALID_VALUE)?;
        if range.origin != Origin::Reserved || range.bytes != bytes {
            return Err(code::INVALID_VALUE);
        }
        range.access.clear();
        let memory = range.memory.take().ok_or(code::INVALID_VALUE)?;
        if state.in_use(&memory) {
            state.violation();
        }
        Ok(())
    }

    /// Nothing may touch a mapping before this.
    fn cuMemSetAccess(pointer: u64, bytes: usize, access: *const Access, count: usize) {
        if access.is_null() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: not null, and by the API's rules valid for `count`.
        let access = unsafe { std::slice::from_raw_parts(access, count) };
        let mut state = state();
        let wanted = access.iter().map(|one| match (one.location_kind, one.flags) {
            (1, READ_WRITE) => state.gpu(one.location_id),
            _ => Err(code::INVALID_VALUE),
        });
        let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
        let range = state.ranges.get_mut(&pointer).ok_or(code::INVALID_VALUE)?;
        if range.memory.is_none() || range.bytes != bytes {
            return Err(code::INVALID_VALUE);
        }
        range.access = wanted;
        Ok(())
    }
}
