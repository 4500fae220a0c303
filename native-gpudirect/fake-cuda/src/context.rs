//! Primary contexts, and the stack of current ones that each thread has.

use std::cell::RefCell;
use std::ffi::c_void;

use crate::call::{exports, give};
use crate::code;
use crate::state::state;

const CONTEXT: usize = 0xc0_0000;

thread_local! {
    static STACK: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// The GPU of this thread's current context.
pub fn current() -> Result<u32, i32> {
    STACK
        .with_borrow(|stack| stack.last().copied())
        .ok_or(code::INVALID_CONTEXT)
}

exports! {
    /// Counts.
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: i32) {
        let mut state = state();
        let gpu = state.gpu(device)?;
        give(context, (CONTEXT + gpu as usize) as *mut c_void)?;
        *state.contexts.entry(gpu).or_default() += 1;
        Ok(())
    }

    /// Counts down.
    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        let mut state = state();
        let gpu = state.gpu(device)?;
        match state.contexts.get_mut(&gpu) {
            Some(count) if *count > 0 => *count -= 1,
            _ => return Err(code::INVALID_CONTEXT),
        }
        Ok(())
    }

    /// Refuses a context that nobody retains.
    fn cuCtxPushCurrent_v2(context: *mut c_void) {
        let mut state = state();
        let gpu = (context as usize).wrapping_sub(CONTEXT) as u32;
        if state.contexts.get(&gpu).is_none_or(|count| *count == 0) {
            return Err(code::INVALID_CONTEXT);
        }
        state.pushed += 1;
        STACK.with_borrow_mut(|stack| stack.push(gpu));
        Ok(())
    }

    /// Refuses an empty stack.
    fn cuCtxPopCurrent_v2(context: *mut *mut c_void) {
        let gpu = STACK.with_borrow_mut(Vec::pop).ok_or(code::INVALID_CONTEXT)?;
        state().pushed -= 1;
        give(context, (CONTEXT + gpu as usize) as *mut c_void)
    }
}
