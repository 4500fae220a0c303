//! The driver's types and constants, declared by hand from the CUDA driver API reference. Only what is used.

use std::ffi::c_void;

/// `CUresult`; 0 is success.
pub type CuResult = i32;
/// `CUdevice`: an ordinal.
pub type CuDevice = i32;
/// `CUcontext`.
pub type CuContext = *mut c_void;
/// `CUstream`.
pub type CuStream = *mut c_void;
/// `CUevent`.
pub type CuEvent = *mut c_void;
/// `CUdeviceptr`: an address in the GPU's own space, never followed by the CPU.
pub type CuDevicePointer = u64;
/// `CUmemGenericAllocationHandle`.
pub type CuAllocation = u64;

/// `CUipcMemHandle` and `CUipcEventHandle`: 64 bytes, passed by value.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CuIpcHandle {
    pub reserved: [u8; 64],
}

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CuMemLocation {
    pub kind: i32,
    pub id: i32,
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CuMemAllocationProp {
    pub kind: i32,
    pub requested_handle_types: i32,
    pub location: CuMemLocation,
    pub win32_handle_meta_data: *mut c_void,
    pub compression_type: u8,
    pub gpu_direct_rdma_capable: u8,
    pub usage: u16,
    pub reserved: [u8; 4],
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CuMemAccessDesc {
    pub location: CuMemLocation,
    pub flags: i32,
}

pub const CUDA_ERROR_OUT_OF_MEMORY: CuResult = 2;
pub const CUDA_ERROR_NOT_READY: CuResult = 600;

pub const CU_MEM_LOCATION_TYPE_DEVICE: i32 = 1;
pub const CU_MEM_ALLOCATION_TYPE_PINNED: i32 = 1;
pub const CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR: i32 = 1;
pub const CU_MEM_ACCESS_FLAGS_PROT_READWRITE: i32 = 3;
pub const CU_MEM_ALLOC_GRANULARITY_MINIMUM: i32 = 0;
pub const CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS: u32 = 1;
pub const CU_MEMHOSTREGISTER_PORTABLE: u32 = 1;
pub const CU_STREAM_NON_BLOCKING: u32 = 1;
pub const CU_EVENT_BLOCKING_SYNC: u32 = 1;
pub const CU_EVENT_DISABLE_TIMING: u32 = 2;
pub const CU_EVENT_INTERPROCESS: u32 = 4;

pub const CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: i32 = 41;
pub const CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: i32 = 102;
pub const CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED: i32 = 103;
pub const CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED: i32 = 110;

const _: () = {
    assert!(size_of::<CuMemAllocationProp>() == 32);
    assert!(size_of::<CuMemAccessDesc>() == 12);
    assert!(size_of::<CuIpcHandle>() == 64);
};
