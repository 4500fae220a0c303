//! A target's progress thread, for networks whose connections need both ends to come up: asleep in `poll` but for
//! that, and stopped altogether during the check.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use os2g_transfer::{Error, Result};

use crate::completions::{EventFd, lock};
use crate::worker::Worker;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    /// Asked to stop progress.
    Parking,
    /// Progress is stopped.
    Parked,
    Ending,
}

/// The thread. Dropping it ends the thread and the worker.
#[derive(Debug)]
pub struct Keeper {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wake: EventFd,
}

impl Keeper {
    /// Starts it.
    ///
    /// # Errors
    /// `System`.
    pub fn start(worker: Worker) -> Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State::Running),
            changed: Condvar::new(),
            wake: EventFd::new()?,
        });
        let inner = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("os2g-ucx-target".into())
            .spawn(move || inner.run(&worker))
            .map_err(|error| {
                Error::from_io(
                    &error,
                    "clone",
                    "Starting a thread",
                    "Raise the limit on processes.",
                )
            })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Stops progress; returns when it is stopped.
    pub fn park(&self) {
        let mut state = lock(&self.shared.state);
        if *state == State::Running {
            *state = State::Parking;
            self.shared.wake.signal();
        }
        while *state == State::Parking {
            state = self
                .shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets progress go on.
    pub fn resume(&self) {
        let mut state = lock(&self.shared.state);
        if matches!(*state, State::Parked | State::Parking) {
            *state = State::Running;
            self.shared.changed.notify_all();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        *lock(&self.shared.state) = State::Ending;
        self.shared.changed.notify_all();
        self.shared.wake.signal();
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed; nothing more can be done about it.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn run(&self, worker: &Worker) {
        loop {
            let mut state = lock(&self.state);
            if *state == State::Parking {
                *state = State::Parked;
                self.changed.notify_all();
            }
            while *state == State::Parked {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if *state == State::Ending {
                return;
            }
            drop(state);
            if worker.progress() {
                continue;
            }
            // An error of `arm` or of the descriptor would come back for ever: then look now and then instead.
            let (fd, limit) = match (worker.arm(), worker.event_fd()) {
                (Ok(true), Ok(fd)) => (fd, -1),
                (Ok(false), _) => continue,
                _ => (-1, 10),
            };
            let entry = |fd| libc::pollfd {
                fd,
                events: libc::POLLIN,
                revents: 0,
            };
            let mut entries = [entry(fd), entry(self.wake.raw())];
            // SAFETY: two valid entries. Whatever the answer, the next round looks at everything.
            unsafe { libc::poll(entries.as_mut_ptr(), 2, limit) };
            self.wake.clear();
        }
    }
}
