use std::collections::VecDeque;
use std::sync::Mutex;

use crate::records::Completion;
use crate::sync::lock;

/// Called when completions wait; from an I/O thread.
pub(crate) type Wake = Box<dyn Fn() + Send + Sync>;

/// Completions on their way to the caller, and the one wake-up that it asked for.
pub(crate) struct Completions {
    state: Mutex<State>,
    wake: Wake,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Completion>,
    armed: bool,
    closed: bool,
}

impl Completions {
    pub fn new(wake: Wake) -> Completions {
        Completions {
            state: Mutex::default(),
            wake,
        }
    }

    /// True where a wake-up is asked for: then [`Completions::flush`] is to be called soon, after what else there is to push.
    pub fn push(&self, completion: Completion) -> bool {
        let mut state = lock(&self.state);
        if state.closed {
            return false;
        }
        state.waiting.push_back(completion);
        state.armed
    }

    /// Makes the wake-up that was asked for, if completions wait.
    pub fn flush(&self) {
        let mut state = lock(&self.state);
        if !state.armed || state.waiting.is_empty() {
            return;
        }
        state.armed = false;
        drop(state);
        (self.wake)();
    }

    /// Asks for one wake-up; true where completions wait already, and then none comes.
    pub fn arm(&self) -> bool {
        let mut state = lock(&self.state);
        state.armed = state.waiting.is_empty() && !state.closed;
        !state.waiting.is_empty()
    }

    /// Moves completions out, oldest first; how many.
    pub fn poll(&self, out: &mut [Completion]) -> usize {
        let mut state = lock(&self.state);
        let count = out.len().min(state.waiting.len());
        for (to, from) in out.iter_mut().zip(state.waiting.drain(..count)) {
            *to = from;
        }
        count
    }

    /// No completion and no wake-up from here on.
    pub fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        state.armed = false;
        state.waiting.clear();
    }
}
