//! A stream: a thread that works through a queue, in order, and not at once.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::call::fault;
use crate::code;
use crate::event::Event;
use crate::state::{DeviceMemory, state};

/// A copy from host memory, made when the stream comes to it.
#[derive(Clone)]
pub struct Copy {
    pub memory: Arc<DeviceMemory>,
    pub offset: usize,
    pub from: usize,
    pub bytes: usize,
}

#[derive(Clone)]
pub enum Work {
    Copy(Copy),
    Record { event: Arc<Event>, record: u64 },
    Wait { event: Arc<Event>, record: u64 },
}

#[derive(Default)]
struct Queue {
    /// The first is the one that is being done.
    work: VecDeque<Work>,
    /// The first error of a copy; sticks, as in the real driver.
    answer: i32,
    end: bool,
}

pub struct Stream {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Stream {
    pub fn start() -> Result<Arc<Self>, i32> {
        let stream = Arc::new(Self {
            queue: Mutex::default(),
            changed: Condvar::new(),
        });
        let theirs = stream.clone();
        std::thread::Builder::new()
            .name("fake-cuda-stream".into())
            .spawn(move || theirs.run())
            .map_err(|_| code::OPERATING_SYSTEM)?;
        Ok(stream)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn push(&self, work: Work) {
        self.queue().work.push_back(work);
        self.changed.notify_all();
    }

    /// Ends the thread once its work is done.
    pub fn end(&self) {
        self.queue().end = true;
        self.changed.notify_all();
    }

    pub fn wait(&self) -> i32 {
        let mut queue = self.queue();
        while !queue.work.is_empty() {
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue.answer
    }

    pub fn any_copy(&self, mut test: impl FnMut(&Copy) -> bool) -> bool {
        self.queue()
            .work
            .iter()
            .any(|work| matches!(work, Work::Copy(copy) if test(copy)))
    }

    fn run(&self) {
        loop {
            let mut queue = self.queue();
            while queue.work.is_empty() && !queue.end {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let Some(work) = queue.work.front().cloned() else {
                return;
            };
            let answer = queue.answer;
            drop(queue);
            let outcome = work.run(answer);
            let mut queue = self.queue();
            if queue.answer == 0 {
                queue.answer = outcome;
            }
            queue.work.pop_front();
            drop(queue);
            self.changed.notify_all();
        }
    }
}

impl Work {
    fn run(self, answer: i32) -> i32 {
        match self {
            Self::Copy(copy) => {
                let delay = state().settings.delay_us;
                std::thread::sleep(Duration::from_micros(delay));
                while state().settings.hold >> copy.memory.gpu & 1 == 1 {
                    std::thread::sleep(Duration::from_micros(100));
                }
                if let Some(code) = fault("copy") {
                    return code;
                }
                if answer == 0 {
                    copy.run();
                }
                0
            }
            Self::Record { event, record } => {
                event.finish(record, answer);
                0
            }
            Self::Wait { event, record } => {
                event.wait(record);
                0
            }
        }
    }
}

impl Copy {
    pub fn run(&self) {
        // SAFETY: the range of device memory was checked when the copy was queued, and `memory` keeps it mapped; the
        // host range is the caller's word, as for the real driver.
        unsafe {
            let to = self.memory.mapped.pointer().add(self.offset);
            std::ptr::copy_nonoverlapping(self.from as *const u8, to, self.bytes);
        }
    }
}

/// The stream behind a handle.
pub fn find(number: u64) -> Result<Arc<Stream>, i32> {
    state().streams.get(&number).cloned().ok_or(code::INVALID_HANDLE)
}
