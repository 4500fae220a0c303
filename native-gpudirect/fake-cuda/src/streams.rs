//! The calls on streams. There is no default stream.

use crate::call::{exports, give};
use crate::code;
use crate::context::current;
use crate::state::state;
use crate::stream::{Stream, find};

exports! {
    /// Only ones that do not wait for the default stream.
    fn cuStreamCreate(place: *mut u64, flags: u32) {
        current()?;
        if flags != 1 {
            return Err(code::NOT_SUPPORTED);
        }
        let stream = Stream::start()?;
        let mut state = state();
        let number = state.number();
        state.streams.insert(number, stream);
        give(place, number)
    }

    /// Returns at once; its work goes on.
    fn cuStreamDestroy_v2(number: u64) {
        current()?;
        let stream = state().streams.remove(&number).ok_or(code::INVALID_HANDLE)?;
        stream.end();
        Ok(())
    }

    /// Waits.
    fn cuStreamSynchronize(number: u64) {
        current()?;
        match find(number)?.wait() {
            0 => Ok(()),
            answer => Err(answer),
        }
    }
}
