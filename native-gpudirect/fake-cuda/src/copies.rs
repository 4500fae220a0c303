//! Copies between host and device.

use std::ffi::c_void;

use crate::call::{exports, note};
use crate::code;
use crate::context::current;
use crate::state::state;
use crate::stream::{Copy, Work, find};

exports! {
    /// Queued when the host memory is page-locked. From other memory it waits for the stream and copies at once, as
    /// the real driver may, and counts.
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: u64) {
        let gpu = current()?;
        let stream = find(stream)?;
        let from = from as usize;
        let mut state = state();
        let (memory, offset) = state.resolve(to, bytes, gpu)?;
        let copy = Copy { memory, offset, from, bytes };
        let host = state.hosts.range(..=from).next_back();
        if host.is_some_and(|(start, length)| from + bytes <= start + length) {
            stream.push(Work::Copy(copy));
            return Ok(());
        }
        state.pageable += 1;
        note("pageable");
        drop(state);
        match stream.wait() {
            0 => copy.run(),
            answer => return Err(answer),
        }
        Ok(())
    }

    /// At once: it does not wait for streams that do not wait for the default stream.
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) {
        let gpu = current()?;
        if to.is_null() {
            return Err(code::INVALID_VALUE);
        }
        let (memory, offset) = state().resolve(from, bytes, gpu)?;
        // SAFETY: the range of device memory was checked; the host range is the caller's word.
        unsafe { std::ptr::copy_nonoverlapping(memory.mapped.pointer().add(offset), to.cast::<u8>(), bytes) };
        Ok(())
    }
}
