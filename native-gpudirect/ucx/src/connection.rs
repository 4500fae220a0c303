//! One target, served by a thread of its own: the thread alone calls UCX, and sleeps while nothing is to do.

mod driver;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use os2g_transfer::{Error, Kind, Result, Segment};

use crate::completions::{Completions, EventFd, lock};
use crate::library::Ucp;
use crate::offer::Offer;
use crate::record::Record;
use crate::report::Report;
use crate::settings::Settings;
use crate::socket::Socket;

/// A put for the thread.
pub struct Put {
    /// Index of the region in the offer.
    pub region: usize,
    /// Bytes from its start.
    pub offset: u64,
    /// Number of the staging memory, under which its registration is kept.
    pub staging: u32,
    /// The staging memory.
    pub segment: Arc<Segment>,
    /// Bytes from its start; checked.
    pub from: u64,
    /// Bytes; checked.
    pub length: u64,
    /// For the completion; holds the segment too.
    pub record: Record,
}

enum Command {
    Put(Put),
    /// Forget the registration of staging memory.
    Unstage(u32),
    /// End at once, with this cause.
    End(Error),
    /// End when all puts are done, within the limit.
    Close,
}

/// Commands to the thread.
struct Queue {
    state: Mutex<State>,
    wake: EventFd,
    asleep: AtomicBool,
}

#[derive(Default)]
struct State {
    commands: VecDeque<Command>,
    /// Why no command is taken any more.
    ended: Option<Error>,
}

impl Queue {
    fn push(&self, command: Command) -> Result<()> {
        let mut state = lock(&self.state);
        if let Some(error) = &state.ended {
            return Err(error.clone());
        }
        state.commands.push_back(command);
        drop(state);
        if self.asleep.load(Ordering::SeqCst) {
            self.wake.signal();
        }
        Ok(())
    }
}

/// The handle on a connection's thread.
pub struct Connection {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
    /// What the check found.
    pub report: Report,
}

impl Connection {
    /// Starts the thread, connects and checks; returns when the target may be used.
    ///
    /// # Errors
    /// Those of the check and of UCX. The target was told by the control socket.
    pub fn start(
        ucp: &Arc<Ucp>,
        settings: &Settings,
        offer: Offer,
        control: Option<Socket>,
        completions: &Arc<Completions>,
    ) -> Result<Self> {
        let queue = Arc::new(Queue {
            state: Mutex::default(),
            wake: EventFd::new()?,
            asleep: AtomicBool::new(false),
        });
        let (reply, answer): (SyncSender<Result<Report>>, Receiver<_>) = sync_channel(1);
        let (ucp, settings) = (Arc::clone(ucp), settings.clone());
        let (inner, completions) = (Arc::clone(&queue), Arc::clone(completions));
        let thread = std::thread::Builder::new()
            .name("os2g-ucx".into())
            .spawn(move || driver::run(&ucp, &settings, &offer, control, inner, &completions, &reply))
            .map_err(|error| {
                Error::from_io(
                    &error,
                    "clone",
                    "Starting a thread",
                    "Raise the limit on processes.",
                )
            })?;
        let lost = || {
            Error::new(
                Kind::Closed,
                "The UCX thread ended by itself.",
                "Please report this.",
            )
        };
        match answer.recv().unwrap_or_else(|_| Err(lost())) {
            Ok(report) => Ok(Self {
                queue,
                thread: Some(thread),
                report,
            }),
            Err(error) => {
                // It has answered, so it ends; a panic of it is no more than the error at hand.
                let _ = thread.join();
                Err(error)
            }
        }
    }

    /// Starts a put.
    ///
    /// # Errors
    /// The cause for which the connection ended.
    pub fn put(&self, put: Put) -> Result<()> {
        self.queue.push(Command::Put(put))
    }

    /// Lets the registration of staging memory go. Nothing of it is under way.
    pub fn unstage(&self, staging: u32) {
        // An ended connection has let it go already.
        let _ = self.queue.push(Command::Unstage(staging));
    }

    /// Ends at once: puts under way end with `cause`.
    pub fn end(&self, cause: Error) {
        // One that has ended keeps its first cause.
        let _ = self.queue.push(Command::End(cause));
    }

    /// Ends when all puts are done, within the limit, and waits for the thread.
    pub fn close(&mut self) {
        let _ = self.queue.push(Command::Close);
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed; nothing more can be done about it.
            let _ = thread.join();
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close();
    }
}
