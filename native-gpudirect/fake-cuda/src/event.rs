//! Events. Their state is a page that processes can share.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::code;
use crate::memfd::Mapped;

const NAME: &str = "os2g-fake-event";
const PAGE: usize = 4096;

#[repr(C)]
struct Page {
    /// How often it was recorded.
    recorded: AtomicU64,
    /// The newest record whose work is done.
    done: AtomicU64,
    /// How that work ended.
    answer: AtomicI32,
    /// The process that recorded it last.
    recorder: AtomicU32,
}

/// An event. It stands for the work before its newest record.
pub struct Event {
    memory: Mapped,
    interprocess: bool,
}

impl Event {
    pub fn create(interprocess: bool) -> Result<Self, i32> {
        Ok(Self {
            memory: Mapped::create(NAME, PAGE)?,
            interprocess,
        })
    }

    pub fn open(fd: OwnedFd) -> Result<Self, i32> {
        let (memory, _) = Mapped::open(fd, NAME)?;
        if memory.bytes() != PAGE {
            return Err(code::INVALID_HANDLE);
        }
        Ok(Self {
            memory,
            interprocess: true,
        })
    }

    /// The number of the descriptor that another process may open.
    pub fn shared_fd(&self) -> Option<i32> {
        self.interprocess.then(|| self.memory.fd().as_raw_fd())
    }

    fn page(&self) -> &Page {
        // SAFETY: a page of zeroed, aligned memory of this size, mapped as long as `self`; all access is atomic.
        unsafe { &*self.memory.pointer().cast::<Page>() }
    }

    /// A new record, to be done by a stream.
    pub fn record(&self) -> u64 {
        self.page().recorder.store(std::process::id(), Ordering::SeqCst);
        self.page().recorded.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub fn newest(&self) -> u64 {
        self.page().recorded.load(Ordering::SeqCst)
    }

    pub fn finish(&self, record: u64, answer: i32) {
        self.page().answer.store(answer, Ordering::SeqCst);
        self.page().done.fetch_max(record, Ordering::SeqCst);
    }

    /// How the work before `record` ended, if it did. A recorder's death ends its work.
    pub fn answer(&self, record: u64) -> Option<i32> {
        if self.page().done.load(Ordering::SeqCst) >= record {
            return Some(self.page().answer.load(Ordering::SeqCst));
        }
        (!lives(self.page().recorder.load(Ordering::SeqCst))).then_some(0)
    }

    pub fn wait(&self, record: u64) -> i32 {
        loop {
            if let Some(answer) = self.answer(record) {
                return answer;
            }
            std::thread::sleep(Duration::from_micros(100));
        }
    }
}

/// Whether a process runs; one that ended and is not yet collected does not.
fn lives(pid: u32) -> bool {
    if pid == std::process::id() {
        return true;
    }
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.trim().is_empty() && !rest.trim().starts_with(['Z', 'X']))
}
