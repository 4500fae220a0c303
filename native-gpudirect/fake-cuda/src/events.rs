//! The calls on events.

use std::sync::Arc;

use crate::call::{exports, give};
use crate::code;
use crate::context::current;
use crate::event::Event;
use crate::state::state;
use crate::stream::{Work, find};

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;

fn event(number: u64) -> Result<Arc<Event>, i32> {
    state().events.get(&number).cloned().ok_or(code::INVALID_HANDLE)
}

exports! {
    /// Interprocess ones must be without timing.
    fn cuEventCreate(place: *mut u64, flags: u32) {
        current()?;
        let interprocess = flags & INTERPROCESS != 0;
        if flags & !7 != 0 || (interprocess && flags & DISABLE_TIMING == 0) {
            return Err(code::INVALID_VALUE);
        }
        let event = Arc::new(Event::create(interprocess)?);
        let mut state = state();
        let number = state.number();
        state.events.insert(number, event);
        give(place, number)
    }

    /// Work that refers to it goes on.
    fn cuEventDestroy_v2(number: u64) {
        current()?;
        state().events.remove(&number).map(drop).ok_or(code::INVALID_HANDLE)
    }

    /// Queued behind the stream's work.
    fn cuEventRecord(number: u64, stream: u64) {
        current()?;
        let (event, stream) = (event(number)?, find(stream)?);
        let record = event.record();
        stream.push(Work::Record { event, record });
        Ok(())
    }

    /// `CUDA_ERROR_NOT_READY` while work is under way; success when it was never recorded.
    fn cuEventQuery(number: u64) {
        current()?;
        let event = event(number)?;
        match event.answer(event.newest()) {
            Some(0) => Ok(()),
            Some(answer) => Err(answer),
            None => Err(code::NOT_READY),
        }
    }

    /// Waits.
    fn cuEventSynchronize(number: u64) {
        current()?;
        let event = event(number)?;
        match event.wait(event.newest()) {
            0 => Ok(()),
            answer => Err(answer),
        }
    }

    /// Later work in the stream waits for what the event stands for now.
    fn cuStreamWaitEvent(stream: u64, number: u64, flags: u32) {
        current()?;
        if flags != 0 {
            return Err(code::INVALID_VALUE);
        }
        let (event, stream) = (event(number)?, find(stream)?);
        let record = event.newest();
        stream.push(Work::Wait { event, record });
        Ok(())
    }
}
