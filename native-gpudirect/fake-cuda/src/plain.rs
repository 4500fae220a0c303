//! Memory by `cuMemAlloc`, and page-locked host memory.

use std::ffi::c_void;

use crate::call::{exports, give};
use crate::code;
use crate::context::current;
use crate::state::{Origin, Range, state};

exports! {
    /// On the current context's GPU; bounds are to the byte.
    fn cuMemAlloc_v2(pointer: *mut u64, bytes: usize) {
        let gpu = current()?;
        let mut state = state();
        let memory = state.allocate(gpu, bytes)?;
        let address = state.addresses(bytes);
        let range = Range { origin: Origin::Plain, bytes, memory: Some(memory), access: vec![gpu] };
        state.ranges.insert(address, range);
        give(pointer, address)
    }

    /// The real one waits for the work that uses the memory; here that is a violation.
    fn cuMemFree_v2(pointer: u64) {
        current()?;
        let mut state = state();
        if state.ranges.get(&pointer).is_none_or(|range| range.origin != Origin::Plain) {
            return Err(code::INVALID_VALUE);
        }
        if let Some(Range { memory: Some(memory), .. }) = state.ranges.remove(&pointer)
            && state.in_use(&memory)
        {
            state.violation();
        }
        Ok(())
    }

    /// Of any allocation that holds the pointer.
    fn cuMemGetAddressRange_v2(base: *mut u64, bytes: *mut usize, pointer: u64) {
        current()?;
        let state = state();
        let (start, range) = state.range(pointer)?;
        if !base.is_null() {
            give(base, start)?;
        }
        if !bytes.is_null() {
            give(bytes, range.bytes)?;
        }
        Ok(())
    }

    /// Refuses memory that is registered, also in part.
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: u32) {
        current()?;
        let start = pointer as usize;
        let end = start.checked_add(bytes).filter(|end| *end > start).ok_or(code::INVALID_VALUE)?;
        if flags & !0xf != 0 {
            return Err(code::INVALID_VALUE);
        }
        let mut state = state();
        if state.hosts.range(..end).next_back().is_some_and(|(at, length)| at + length > start) {
            return Err(code::HOST_MEMORY_ALREADY_REGISTERED);
        }
        state.hosts.insert(start, bytes);
        Ok(())
    }

    /// Counts a violation when a queued copy reads from it.
    fn cuMemHostUnregister(pointer: *mut c_void) {
        current()?;
        let mut state = state();
        let start = pointer as usize;
        let bytes = state.hosts.remove(&start).ok_or(code::HOST_MEMORY_NOT_REGISTERED)?;
        let read = |stream: &std::sync::Arc<crate::stream::Stream>| {
            stream.any_copy(|copy| copy.from < start + bytes && copy.from + copy.bytes > start)
        };
        if state.streams.values().any(read) {
            state.violation();
        }
        Ok(())
    }
}
