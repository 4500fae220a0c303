//! IPC handles: the process and the number of the descriptor there. So they resolve in other processes for as long
//! as the maker lives.

use std::os::fd::AsRawFd;
use std::sync::Arc;

use crate::call::{exports, give};
use crate::code;
use crate::context::current;
use crate::event::Event;
use crate::memfd::{Mapped, of_process};
use crate::state::{DeviceMemory, Origin, Range, state};

/// `CUipcMemHandle`, `CUipcEventHandle`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Handle {
    bytes: [u8; 64],
}

const MEMORY: [u8; 8] = *b"fakemem\0";
const EVENT: [u8; 8] = *b"fakeevt\0";

fn make(kind: [u8; 8], fd: i32) -> Handle {
    let mut bytes = [0; 64];
    bytes[..8].copy_from_slice(&kind);
    bytes[8..12].copy_from_slice(&std::process::id().to_le_bytes());
    bytes[12..16].copy_from_slice(&fd.to_le_bytes());
    Handle { bytes }
}

fn read(kind: [u8; 8], handle: &Handle) -> Result<(u32, i32), i32> {
    let word = |at: usize| {
        let bytes = &handle.bytes;
        [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]
    };
    if handle.bytes[..8] != kind {
        return Err(code::INVALID_HANDLE);
    }
    let pid = u32::from_le_bytes(word(8));
    if pid == std::process::id() {
        // So does the real driver.
        return Err(code::INVALID_CONTEXT);
    }
    Ok((pid, i32::from_le_bytes(word(12))))
}

exports! {
    /// Of the whole allocation, wherever in it the pointer lies; not for memory of `cuMemCreate`.
    fn cuIpcGetMemHandle(handle: *mut Handle, pointer: u64) {
        current()?;
        let state = state();
        let (_, range) = state.range(pointer)?;
        match (&range.memory, range.origin) {
            (Some(memory), Origin::Plain) => give(handle, make(MEMORY, memory.mapped.fd().as_raw_fd())),
            _ => Err(code::INVALID_VALUE),
        }
    }

    /// Not in the process that made it.
    fn cuIpcOpenMemHandle_v2(pointer: *mut u64, handle: Handle, flags: u32) {
        let user = current()?;
        if flags != 1 {
            return Err(code::INVALID_VALUE);
        }
        let (pid, fd) = read(MEMORY, &handle)?;
        let (mapped, gpu) = Mapped::open(of_process(pid, fd)?, "os2g-fake-gpu-")?;
        let gpu = gpu.parse().map_err(|_| code::INVALID_HANDLE)?;
        let bytes = mapped.bytes();
        let mut state = state();
        let address = state.addresses(bytes);
        let memory = Some(Arc::new(DeviceMemory { mapped, gpu }));
        state.ranges.insert(address, Range { origin: Origin::Opened, bytes, memory, access: vec![user] });
        give(pointer, address)
    }

    /// Counts a violation when copies are queued for the memory.
    fn cuIpcCloseMemHandle(pointer: u64) {
        current()?;
        let mut state = state();
        if state.ranges.get(&pointer).is_none_or(|range| range.origin != Origin::Opened) {
            return Err(code::INVALID_VALUE);
        }
        if let Some(Range { memory: Some(memory), .. }) = state.ranges.remove(&pointer)
            && state.in_use(&memory)
        {
            state.violation();
        }
        Ok(())
    }

    /// Of an event made with `CU_EVENT_INTERPROCESS`.
    fn cuIpcGetEventHandle(handle: *mut Handle, event: u64) {
        current()?;
        let state = state();
        let event = state.events.get(&event).ok_or(code::INVALID_HANDLE)?;
        give(handle, make(EVENT, event.shared_fd().ok_or(code::INVALID_VALUE)?))
    }

    /// Not in the process that made it.
    fn cuIpcOpenEventHandle(event: *mut u64, handle: Handle) {
        current()?;
        let (pid, fd) = read(EVENT, &handle)?;
        let opened = Event::open(of_process(pid, fd)?)?;
        let mut state = state();
        let number = state.number();
        state.events.insert(number, Arc::new(opened));
        give(event, number)
    }
}
