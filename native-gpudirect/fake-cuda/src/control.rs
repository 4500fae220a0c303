//! What tests use: settings, injected errors, the log, counters. No real driver has these.

use std::ffi::{CStr, c_char};

use crate::call::{Fault, journal};
use crate::code;
use crate::state::{Origin, State, state};

/// Counters of what is alive, in the order of [`os2g_fake_cuda_counters`].
pub const COUNTERS: usize = 12;

pub(crate) fn read_environment(state: &mut State) {
    for name in ["visible", "memory", "delay_us", "fd", "fail", "log"] {
        if let Ok(value) = std::env::var(format!("OS2G_FAKE_CUDA_{}", name.to_uppercase())) {
            set(state, name, &value);
        }
    }
}

fn set(state: &mut State, name: &str, value: &str) -> bool {
    let number = value.parse::<u64>();
    match (name, number) {
        ("visible", _) => match value
            .split(',')
            .filter(|part| !part.is_empty())
            .map(str::parse)
            .collect()
        {
            Ok(visible) => state.settings.visible = visible,
            Err(_) => return false,
        },
        ("memory", Ok(number)) => state.settings.memory = number,
        ("delay_us", Ok(number)) => state.settings.delay_us = number,
        ("hold", Ok(number)) => state.settings.hold = number,
        ("fd", Ok(number)) => state.settings.by_fd = number != 0,
        ("fail", _) => return value.split(',').all(fail),
        ("log", _) => match std::fs::File::options().append(true).create(true).open(value) {
            Ok(file) => journal().file = Some(file),
            Err(_) => return false,
        },
        _ => return false,
    }
    true
}

fn fail(spec: &str) -> bool {
    let mut parts = spec.split(':');
    let (Some(name), Some(nth), Some(code)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let (Ok(nth), Ok(code)) = (nth.parse(), code.parse()) else {
        return false;
    };
    journal()
        .faults
        .insert(name.to_owned(), Fault { nth, code, seen: 0 });
    true
}

fn text<'a>(pointer: *const c_char) -> Option<&'a str> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, and by this function's rules NUL-terminated and alive for the call.
    unsafe { CStr::from_ptr(pointer) }.to_str().ok()
}

/// Changes a setting: `visible`, `memory`, `delay_us`, `hold` (bits: copies to these GPUs
/// stay queued, bit 0 for GPU 0),
/// `fd`, `fail` (`NAME:NTH:CODE`), `log`. Both are
/// NUL-terminated. Answers 0, or 1 for what it does not know.
///
/// An injected error under the name `copy` is one of a queued copy, answered by those who wait for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn os2g_fake_cuda_set(name: *const c_char, value: *const c_char) -> i32 {
    match (text(name), text(value)) {
        (Some(name), Some(value)) if set(&mut state(), name, value) => 0,
        _ => code::INVALID_VALUE,
    }
}

/// Forgets injected errors and the log.
#[unsafe(no_mangle)]
pub extern "C" fn os2g_fake_cuda_calm() {
    let mut journal = journal();
    journal.faults.clear();
    journal.lines.clear();
}

/// Writes [`COUNTERS`] numbers: contexts retained, contexts pushed, allocations (`cuMemCreate`), reservations,
/// mappings, `cuMemAlloc`s, opened IPC memories, page-locked host ranges, streams, events; then violations (memory
/// released under a queued copy) and copies from pageable memory, both since the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn os2g_fake_cuda_counters(counters: *mut [u64; COUNTERS]) {
    let state = state();
    let ranges = |origin| {
        state
            .ranges
            .values()
            .filter(|range| range.origin == origin)
            .count() as u64
    };
    let mapped = |range: &&crate::state::Range| range.origin == Origin::Reserved && range.memory.is_some();
    let numbers = [
        state.contexts.values().sum(),
        state.pushed.unsigned_abs(),
        state.allocations.len() as u64,
        ranges(Origin::Reserved),
        state.ranges.values().filter(mapped).count() as u64,
        ranges(Origin::Plain),
        ranges(Origin::Opened),
        state.hosts.len() as u64,
        state.streams.len() as u64,
        state.events.len() as u64,
        state.violations,
        state.pageable,
    ];
    if !counters.is_null() {
        // SAFETY: not null, and by this function's rules valid for the array.
        unsafe { counters.write(numbers) };
    }
}

/// Copies the log (lines `NAME ANSWER`, among them `violation 0` and `pageable 0`) into `buffer`, as far as it fits, and returns the bytes of all of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn os2g_fake_cuda_log(buffer: *mut u8, bytes: usize) -> usize {
    let text = journal().lines.join("\n");
    if !buffer.is_null() {
        // SAFETY: by this function's rules `buffer` has `bytes` bytes; no more are written.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer, text.len().min(bytes)) };
    }
    text.len()
}
