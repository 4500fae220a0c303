//! UCX's log, kept out of standard output: warnings and errors are remembered for the text of our own errors, what
//! else the user asked for by `UCX_LOG_LEVEL` goes to standard error.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// `ucs_log_func_t`. The last argument is a `va_list`: on x86-64 an array, which C passes as a pointer, on AArch64
/// a structure above 16 bytes, which its calling convention passes as a pointer too.
pub type Handler = unsafe extern "C" fn(
    file: *const c_char,
    line: c_uint,
    function: *const c_char,
    level: c_int,
    component: *const c_void,
    format: *const c_char,
    arguments: *mut c_void,
) -> c_int;
/// `ucs_log_push_handler`.
pub type Push = unsafe extern "C" fn(handler: Handler);

/// `UCS_LOG_FUNC_RC_STOP`: no other handler sees the message.
const STOP: c_int = 0;
const LEVEL_FATAL: c_int = 0;
const LEVEL_WARN: c_int = 2;
/// Messages remembered.
const KEPT: usize = 16;

static INSTALLED: AtomicBool = AtomicBool::new(false);
static LAST: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

unsafe extern "C" {
    /// Of the C library; see [`Handler`] for the type of the last argument.
    fn vsnprintf(buffer: *mut c_char, size: usize, format: *const c_char, arguments: *mut c_void) -> c_int;
}

/// Takes the log over, once in a process.
pub fn install(push: Push) {
    let known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    if known && !INSTALLED.swap(true, Ordering::SeqCst) {
        // SAFETY: `handle` has the type that UCX calls, and lives as long as the process.
        unsafe { push(handle) };
    }
}

unsafe extern "C" fn handle(
    _file: *const c_char,
    _line: c_uint,
    _function: *const c_char,
    level: c_int,
    _component: *const c_void,
    format: *const c_char,
    arguments: *mut c_void,
) -> c_int {
    let mut buffer = [0u8; 512];
    // SAFETY: UCX gives a format and its arguments; the buffer's size is told, and the result NUL-terminated.
    unsafe { vsnprintf(buffer.as_mut_ptr().cast(), buffer.len(), format, arguments) };
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(buffer.len());
    let line = String::from_utf8_lossy(&buffer[..end]).trim().to_owned();
    if level > LEVEL_WARN || level == LEVEL_FATAL {
        eprintln!("ucx: {line}");
    }
    if level <= LEVEL_WARN
        && let Ok(mut last) = LAST.lock()
    {
        if last.len() == KEPT {
            last.pop_front();
        }
        last.push_back(line);
    }
    STOP
}

/// Takes the warnings and errors that UCX reported since the last call, oldest first. They are of the process, not of
/// a connection: where several fail at once, a text may stand with its neighbour.
pub fn take() -> Vec<String> {
    LAST.lock()
        .map(|mut last| last.drain(..).collect())
        .unwrap_or_default()
}
