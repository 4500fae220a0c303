//! What was spent.

use std::fmt;
use std::time::{Duration, Instant};

/// For one request.
pub struct Cost {
    pub cpu_us: f64,
    /// Of `cpu_us`, what was spent in the kernel.
    pub system_us: f64,
    /// Without the thread that submits and drains.
    pub io_us: f64,
    pub requests_per_s: f64,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost {
            cpu_us,
            system_us,
            io_us,
            requests_per_s,
        } = self;
        write!(
            f,
            "{cpu_us:6.1} CPU us/request ({system_us:.1} in the kernel, {io_us:.1} on I/O threads), {requests_per_s:6.0} requests/s"
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

    pub fn stop(self, requests: usize) -> Cost {
        let each = |time: Duration| time.as_secs_f64() * 1e6 / requests as f64;
        let since = |now: (Duration, Duration), then: (Duration, Duration)| (now.0 - then.0, now.1 - then.1);
        let (user, system) = since(cpu(libc::RUSAGE_SELF), self.all);
        let (own_user, own_system) = since(cpu(libc::RUSAGE_THREAD), self.own);
        let all = user + system;
        Cost {
            cpu_us: each(all),
            system_us: each(system),
            io_us: each(all.saturating_sub(own_user + own_system)),
            requests_per_s: requests as f64 / self.start.elapsed().as_secs_f64(),
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
