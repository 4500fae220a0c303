/// Now on the clock of the engine's completions: CLOCK_MONOTONIC, in nanoseconds.
pub fn monotonic_ns() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `now` is a timespec of ours that the call fills.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}
