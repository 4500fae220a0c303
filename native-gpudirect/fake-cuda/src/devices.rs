//! The driver itself, and its GPUs.

use std::ffi::{CStr, c_char};

use crate::call::{exports, give};
use crate::code;
use crate::control::read_environment;
use crate::state::state;

/// CUDA 12.4.
const VERSION: i32 = 12_040;

exports! {
    /// Reads the environment, once.
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        let mut state = state();
        if !state.initialised {
            read_environment(&mut state);
        }
        if state.settings.visible.is_empty() {
            return Err(code::NO_DEVICE);
        }
        state.initialised = true;
        Ok(())
    }

    /// 12.4.
    fn cuDriverGetVersion(version: *mut i32) { give(version, VERSION) }

    /// The GPUs in `OS2G_FAKE_CUDA_VISIBLE`.
    fn cuDeviceGetCount(count: *mut i32) { give(count, state().settings.visible.len() as i32) }

    /// The device's number is its ordinal, as in the real driver.
    fn cuDeviceGet(device: *mut i32, ordinal: i32) {
        state().gpu(ordinal)?;
        give(device, ordinal)
    }

    /// `Fake GPU n`.
    fn cuDeviceGetName(name: *mut c_char, length: i32, device: i32) {
        let text = format!("Fake GPU {}\0", state().gpu(device)?);
        if name.is_null() || (length as usize) < text.len() {
            return Err(code::INVALID_VALUE);
        }
        // SAFETY: the caller's buffer has `length` bytes, which is enough.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) };
        Ok(())
    }

    /// The same in each process, whatever it sees.
    fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: i32) {
        let mut bytes = *b"os2g-fake-gpu-00";
        bytes[15] += state().gpu(device)? as u8;
        give(uuid, bytes)
    }

    /// Those that are asked for; any other is 0.
    fn cuDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32) {
        let state = state();
        state.gpu(device)?;
        let answer = match attribute {
            41 | 110 => 1,
            102 | 103 => i32::from(state.settings.by_fd),
            _ => 0,
        };
        give(value, answer)
    }
}

/// The name of an error. As in the real driver it needs no `cuInit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(answer: i32, name: *mut *const c_char) -> i32 {
    let text: &CStr = match answer {
        0 => c"CUDA_SUCCESS",
        code::INVALID_VALUE => c"CUDA_ERROR_INVALID_VALUE",
        code::OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
        code::NOT_INITIALIZED => c"CUDA_ERROR_NOT_INITIALIZED",
        code::NO_DEVICE => c"CUDA_ERROR_NO_DEVICE",
        code::INVALID_DEVICE => c"CUDA_ERROR_INVALID_DEVICE",
        code::INVALID_CONTEXT => c"CUDA_ERROR_INVALID_CONTEXT",
        code::OPERATING_SYSTEM => c"CUDA_ERROR_OPERATING_SYSTEM",
        code::INVALID_HANDLE => c"CUDA_ERROR_INVALID_HANDLE",
        code::NOT_READY => c"CUDA_ERROR_NOT_READY",
        code::ILLEGAL_ADDRESS => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        code::HOST_MEMORY_ALREADY_REGISTERED => c"CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
        code::HOST_MEMORY_NOT_REGISTERED => c"CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
        code::NOT_SUPPORTED => c"CUDA_ERROR_NOT_SUPPORTED",
        _ => return code::INVALID_VALUE,
    };
    give(name, text.as_ptr()).err().unwrap_or(0)
}
