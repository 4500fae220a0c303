//! The driver library, found by name or by an explicit path, and its functions as calls that answer with values.

use std::ffi::{CStr, c_char, c_void};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libloading::Library;

use super::abi::*;
use crate::error::{Error, Kind, Result};

/// The driver's library on Linux; the version 1 is its ABI, not its release.
pub const DEFAULT_LIBRARY: &str = "libcuda.so.1";

const INSTALL: &str = "Install the NVIDIA driver (in a container: run it with the NVIDIA container toolkit, \
                       NVIDIA_DRIVER_CAPABILITIES with `compute`), or choose another --landing.";

/// Declares functions: a struct of pointers, their loading, and one checked method each.
macro_rules! functions {
    ($($symbol:literal $name:ident($($argument:ident: $type:ty),*);)*) => {
        /// The functions that are called, under the names that the library exports (its headers map some plain
        /// names to `_v2` ones).
        pub const SYMBOLS: &[&str] = &[$($symbol),*];

        struct Functions {
            $($name: unsafe extern "C" fn($($type),*) -> CuResult,)*
        }

        impl Functions {
            fn load(library: &Library, path: &Path) -> Result<Self> {
                Ok(Self { $($name: {
                    // SAFETY: the type is the driver API's own for this name; a library that lies about its
                    // symbols cannot be guarded against.
                    let symbol = unsafe {
                        library.get::<unsafe extern "C" fn($($type),*) -> CuResult>(concat!($symbol, "\0").as_bytes())
                    };
                    *symbol.map_err(|_| missing_symbol($symbol, path))?
                },)* })
            }
        }

        impl Driver {
            $(
                /// # Safety
                /// As the driver API's reference says of this function: pointers are valid for it, handles alive.
                #[allow(dead_code, reason = "cuGetErrorName is called through its pointer, as errors are made of it")]
                pub(super) unsafe fn $name(&self, $($argument: $type),*) -> Result<()> {
                    // SAFETY: passed on to the caller.
                    let code = unsafe { (self.functions.$name)($($argument),*) };
                    self.check(code, $symbol)
                }
            )*
        }
    };
}

functions! {
    "cuInit" init(flags: u32);
    "cuDriverGetVersion" driver_get_version(version: *mut i32);
    "cuGetErrorName" get_error_name(code: CuResult, name: *mut *const c_char);
    "cuDeviceGetCount" device_get_count(count: *mut i32);
    "cuDeviceGet" device_get(device: *mut CuDevice, ordinal: i32);
    "cuDeviceGetName" device_get_name(name: *mut c_char, length: i32, device: CuDevice);
    "cuDeviceGetUuid_v2" device_get_uuid(uuid: *mut [u8; 16], device: CuDevice);
    "cuDeviceGetAttribute" device_get_attribute(value: *mut i32, attribute: i32, device: CuDevice);
    "cuDevicePrimaryCtxRetain" primary_ctx_retain(context: *mut CuContext, device: CuDevice);
    "cuDevicePrimaryCtxRelease_v2" primary_ctx_release(device: CuDevice);
    "cuCtxPushCurrent_v2" ctx_push(context: CuContext);
    "cuCtxPopCurrent_v2" ctx_pop(context: *mut CuContext);
    "cuMemGetAllocationGranularity" mem_granularity(bytes: *mut usize, prop: *const CuMemAllocationProp, option: i32);
    "cuMemCreate" mem_create(handle: *mut CuAllocation, bytes: usize, prop: *const CuMemAllocationProp, flags: u64);
    "cuMemRelease" mem_release(handle: CuAllocation);
    "cuMemAddressReserve" mem_address_reserve(
        pointer: *mut CuDevicePointer, bytes: usize, alignment: usize, wish: CuDevicePointer, flags: u64
    );
    "cuMemAddressFree" mem_address_free(pointer: CuDevicePointer, bytes: usize);
    "cuMemMap" mem_map(pointer: CuDevicePointer, bytes: usize, offset: usize, handle: CuAllocation, flags: u64);
    "cuMemUnmap" mem_unmap(pointer: CuDevicePointer, bytes: usize);
    "cuMemSetAccess" mem_set_access(
        pointer: CuDevicePointer, bytes: usize, access: *const CuMemAccessDesc, count: usize
    );
    "cuMemExportToShareableHandle" mem_export(shared: *mut c_void, handle: CuAllocation, kind: i32, flags: u64);
    "cuMemImportFromShareableHandle" mem_import(handle: *mut CuAllocation, shared: *mut c_void, kind: i32);
    "cuMemGetAllocationPropertiesFromHandle" mem_properties(prop: *mut CuMemAllocationProp, handle: CuAllocation);
    "cuMemAlloc_v2" mem_alloc(pointer: *mut CuDevicePointer, bytes: usize);
    "cuMemFree_v2" mem_free(pointer: CuDevicePointer);
    "cuMemGetAddressRange_v2" mem_address_range(
        base: *mut CuDevicePointer, bytes: *mut usize, pointer: CuDevicePointer
    );
    "cuIpcGetMemHandle" ipc_get_mem(handle: *mut CuIpcHandle, pointer: CuDevicePointer);
    "cuIpcOpenMemHandle_v2" ipc_open_mem(pointer: *mut CuDevicePointer, handle: CuIpcHandle, flags: u32);
    "cuIpcCloseMemHandle" ipc_close_mem(pointer: CuDevicePointer);
    "cuMemHostRegister_v2" mem_host_register(pointer: *mut c_void, bytes: usize, flags: u32);
    "cuMemHostUnregister" mem_host_unregister(pointer: *mut c_void);
    "cuMemcpyHtoDAsync_v2" copy_to_device(
        to: CuDevicePointer, from: *const c_void, bytes: usize, stream: CuStream
    );
    "cuMemcpyDtoH_v2" copy_to_host(to: *mut c_void, from: CuDevicePointer, bytes: usize);
    "cuStreamCreate" stream_create(stream: *mut CuStream, flags: u32);
    "cuStreamDestroy_v2" stream_destroy(stream: CuStream);
    "cuStreamSynchronize" stream_synchronize(stream: CuStream);
    "cuStreamWaitEvent" stream_wait_event(stream: CuStream, event: CuEvent, flags: u32);
    "cuEventCreate" event_create(event: *mut CuEvent, flags: u32);
    "cuEventDestroy_v2" event_destroy(event: CuEvent);
    "cuEventRecord" event_record(event: CuEvent, stream: CuStream);
    "cuEventQuery" event_query(event: CuEvent);
    "cuEventSynchronize" event_synchronize(event: CuEvent);
    "cuIpcGetEventHandle" ipc_get_event(handle: *mut CuIpcHandle, event: CuEvent);
    "cuIpcOpenEventHandle" ipc_open_event(event: *mut CuEvent, handle: CuIpcHandle);
}

/// The CUDA driver, loaded and initialised. It stays loaded until the process ends, as it has threads of its own.
pub struct Driver {
    functions: Functions,
    path: PathBuf,
}

impl Driver {
    /// Loads the driver from `path`, or by its usual name, and initialises it.
    ///
    /// # Errors
    /// `MissingLibrary`, `MissingSymbol`, or the driver's answer to `cuInit` (no device, driver too old, ...).
    pub fn open(path: Option<&Path>) -> Result<Arc<Self>> {
        let path = path.unwrap_or(Path::new(DEFAULT_LIBRARY)).to_path_buf();
        // SAFETY: loading runs the library's initialisers; this is the system's driver, or what the caller named.
        let library = unsafe { Library::new(&path) }.map_err(|error| {
            Error::new(
                Kind::MissingLibrary,
                format!("The CUDA driver did not load: {error}."),
                INSTALL,
            )
        })?;
        let functions = Functions::load(&library, &path)?;
        // Never unloaded: see the type.
        std::mem::forget(library);
        let driver = Arc::new(Self { functions, path });
        // SAFETY: takes a number that must be 0.
        unsafe { driver.init(0) }?;
        Ok(driver)
    }

    /// The path or name that it was loaded by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The newest CUDA release that the driver supports, such as `13.0`.
    ///
    /// # Errors
    /// The driver's.
    pub fn version(&self) -> Result<String> {
        let mut version = 0;
        // SAFETY: writes one int.
        unsafe { self.driver_get_version(&raw mut version) }?;
        Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
    }

    /// How many GPUs this process may use.
    ///
    /// # Errors
    /// The driver's.
    pub fn device_count(&self) -> Result<i32> {
        let mut count = 0;
        // SAFETY: writes one int.
        unsafe { self.device_get_count(&raw mut count) }?;
        Ok(count)
    }

    fn check(&self, code: CuResult, call: &'static str) -> Result<()> {
        if code == 0 {
            return Ok(());
        }
        let name = self.error_name(code);
        Err(Error::new(
            Kind::Driver {
                code,
                name: name.clone(),
                call,
            },
            format!("The CUDA driver's {call} answered {name} ({code})."),
            mend(code),
        ))
    }

    fn error_name(&self, code: CuResult) -> String {
        let mut name: *const c_char = std::ptr::null();
        // SAFETY: writes one pointer; called directly, since its own error is not worth an error.
        let answer = unsafe { (self.functions.get_error_name)(code, &raw mut name) };
        if answer != 0 || name.is_null() {
            return "an error unknown to this driver".into();
        }
        // SAFETY: the driver gives a static NUL-terminated string.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
}

fn missing_symbol(symbol: &'static str, path: &Path) -> Error {
    Error::new(
        Kind::MissingSymbol(symbol),
        format!(
            "The CUDA driver library {} has no function {symbol}.",
            path.display()
        ),
        "Install an NVIDIA driver of release 470 (CUDA 11.4) or newer.",
    )
}

/// What to do about an error code; numbers from the driver API's `CUresult`.
fn mend(code: CuResult) -> &'static str {
    match code {
        CUDA_ERROR_OUT_OF_MEMORY => "Free GPU memory (nvidia-smi shows who holds it) or lower --memory.",
        3 | 999 => {
            "See that the driver's kernel module is loaded: nvidia-smi must work; then restart the process."
        }
        34 => "This is the stub for linking: remove the CUDA toolkit's stubs folder from LD_LIBRARY_PATH.",
        35 | 803 => {
            "Make driver library and kernel module the same release; a restart of the machine does it."
        }
        46 => "Another process holds the GPU in exclusive mode: end it, or set compute mode to default.",
        100 | 101 => "No such GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES.",
        201 | 709 => "The GPU's context is gone: restart the process.",
        304 => {
            "The operating system refused: see the limits of open files and locked memory (ulimit -n, -l)."
        }
        217 | 801 => "This GPU or driver cannot do that: choose another --landing.",
        700..=799 => "The GPU faulted: see dmesg for an Xid, then restart the process.",
        _ => {
            "Look the code up in the CUDA driver API's CUresult; see dmesg and nvidia-smi for the GPU's state."
        }
    }
}
