use std::sync::Arc;
use std::time::Duration;

use os2g_wire::Class;
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::clock::monotonic_ns;
use crate::options::Limits;
use crate::sync::lock;
use crate::worker::Worker;

const SHORTEST_TICK: Duration = Duration::from_millis(5);
const LONGEST_TICK: Duration = Duration::from_millis(250);
const TICKS_PER_LIMIT: u32 = 8;

/// Ends attempts that are past a limit: one timer for all of them, set only while there are any.
pub(crate) async fn watch_deadlines(worker: Arc<Worker>) {
    let limits = worker.shared.options.limits;
    let tick = tick_of(&limits);
    loop {
        if lock(&worker.running).is_empty() {
            worker.started.notified().await;
        }
        sleep(tick).await;
        stop_overdue(&worker, &limits).await;
    }
}

/// Looks twice, the second time after the sockets were read, so that a thread that did not run for longer than a limit does
/// not take bytes that wait in the kernel for silence.
async fn stop_overdue(worker: &Worker, limits: &Limits) {
    if overdue(worker, limits).is_empty() {
        return;
    }
    // Once for the event queue to be asked, once for the tasks that it has woken.
    yield_now().await;
    yield_now().await;
    for (id, attempt, limit) in overdue(worker, limits) {
        worker.stop(id, attempt, limit);
    }
}

fn tick_of(limits: &Limits) -> Duration {
    let all = [
        limits.connect,
        limits.first_byte,
        limits.idle,
        limits.total.unwrap_or(Duration::MAX),
    ];
    let shortest = all.into_iter().min().unwrap_or(Duration::MAX);
    (shortest / TICKS_PER_LIMIT).clamp(SHORTEST_TICK, LONGEST_TICK)
}

fn overdue(worker: &Worker, limits: &Limits) -> Vec<(u32, u32, Class)> {
    let now_ns = monotonic_ns();
    let running = lock(&worker.running);
    let late = running.iter().filter_map(|(&(id, attempt), running)| {
        running
            .progress
            .overdue(now_ns, limits)
            .map(|limit| (id, attempt, limit))
    });
    late.collect()
}

#[cfg(test)]
mod tests;
