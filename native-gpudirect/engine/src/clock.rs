/// Nanoseconds on CLOCK_MONOTONIC: the clock that the times of completions are on.
pub(crate) fn monotonic_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a timespec to write to. The call cannot fail: every Linux has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    let ns = now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs();
    #[cfg(test)]
    let ns = ns + skipped::ns();
    ns
}

/// Time that passes without being waited for, on the thread that skips it.
#[cfg(test)]
pub(crate) mod skipped {
    use std::cell::Cell;
    use std::time::Duration;

    thread_local! {
        static NS: Cell<u64> = const { Cell::new(0) };
    }

    pub fn ns() -> u64 {
        NS.get()
    }

    pub fn skip(time: Duration) {
        NS.set(NS.get() + time.as_nanos() as u64);
    }
}
