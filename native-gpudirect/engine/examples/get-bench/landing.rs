//! Memory to receive into, and what was spent.

use std::cell::UnsafeCell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One slot for each request in flight.
pub struct Landing {
    pub memory: Arc<Memory>,
    pub slot_bytes: usize,
}

pub struct Memory(pub Box<[UnsafeCell<u8>]>);

// SAFETY: each slot is used by one request at a time.
unsafe impl Sync for Memory {}
// SAFETY: plain bytes.
unsafe impl Send for Memory {}

impl Landing {
    pub fn new(slots: usize, bytes: usize) -> Landing {
        // Room for the head of an answer too, which the plain loop receives with its body.
        let slot_bytes = (bytes + 4096).next_multiple_of(4096);
        let memory = (0..slots * slot_bytes).map(|_| UnsafeCell::new(1)).collect();
        Landing {
            memory: Arc::new(Memory(memory)),
            slot_bytes,
        }
    }

    pub fn start(&self) -> *mut u8 {
        UnsafeCell::raw_get(self.memory.0.as_ptr())
    }
}

pub struct Cost {
    pub cpu_us: f64,
    /// Of `cpu_us`, what was spent in the kernel.
    pub system_us: f64,
    /// Without the thread that submits and drains.
    pub io_us: f64,
    pub requests_per_s: f64,
    pub note: String,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost {
            cpu_us,
            system_us,
            io_us,
            requests_per_s,
            note,
        } = self;
        write!(
            f,
            "{cpu_us:6.1} CPU us/request ({system_us:.1} in the kernel, {io_us:.1} on I/O threads), {requests_per_s:6.0} requests/s{note}"
        )
    }
}

pub struct Meter {
    start: Instant,
    all: (Duration, Duration),
    own: (Duration, Duration),
}

impl Meter {
    pub fn start() -> Meter {
        Meter {
            start: Instant::now(),
            all: cpu(libc::RUSAGE_SELF),
            own: cpu(libc::RUSAGE_THREAD),
        }
    }

    pub fn stop(self, requests: usize, note: String) -> Cost {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / requests as f64;
        let since = |now: (Duration, Duration), then: (Duration, Duration)| (now.0 - then.0, now.1 - then.1);
        let (user, system) = since(cpu(libc::RUSAGE_SELF), self.all);
        let (own_user, own_system) = since(cpu(libc::RUSAGE_THREAD), self.own);
        let requests_per_s = requests as f64 / self.start.elapsed().as_secs_f64();
        let all = user + system;
        let io = all.saturating_sub(own_user + own_system);
        Cost {
            cpu_us: each(all),
            system_us: each(system),
            io_us: each(io),
            requests_per_s,
            note,
        }
    }
}

/// In user space and in the kernel.
fn cpu(who: libc::c_int) -> (Duration, Duration) {
    // SAFETY: a struct of numbers; all zero is a value of it.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is there to be written to.
    unsafe { libc::getrusage(who, &mut usage) };
    let of = |time: libc::timeval| {
        Duration::new(
            time.tv_sec.unsigned_abs(),
            time.tv_usec.unsigned_abs() as u32 * 1000,
        )
    };
    (of(usage.ru_utime), of(usage.ru_stime))
}
