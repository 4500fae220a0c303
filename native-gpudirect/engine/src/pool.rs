use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::conn::Conn;
use crate::sync::lock;

/// Shorter than stores keep idle connections (S3: about 20 s), long enough for a step of training.
const IDLE_KEPT: Duration = Duration::from_secs(15);

/// The idle connections of one I/O thread. The one used last is used again first, so that those too many go idle and are
/// closed. An idle connection that becomes readable is dead: the store closed it, or talks unasked.
pub(crate) struct Pool {
    /// How long a connection may be idle.
    kept: Duration,
    state: Mutex<State>,
    /// Connections to close for the sake of another thread's.
    to_evict: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// The one used last at the back.
    idle: VecDeque<(Instant, Box<Conn>)>,
    /// Of the task that runs `watch`.
    watcher: Option<Waker>,
    /// The watcher wakes by itself when the oldest has been idle for long enough.
    timed: bool,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::keeping(IDLE_KEPT)
    }
}

impl Pool {
    fn keeping(kept: Duration) -> Pool {
        Pool {
            kept,
            state: Mutex::default(),
            to_evict: AtomicUsize::new(0),
        }
    }

    /// A connection that is open as far as can be told.
    pub fn take(&self) -> Option<Box<Conn>> {
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            let (_, mut conn) = lock(&self.state).idle.pop_back()?;
            if conn.poll_unfit(&mut cx).is_pending() {
                return Some(conn);
            }
        }
    }

    /// Keeps a connection on which an answer has come whole, unless it is unfit for another one.
    pub fn put(&self, mut conn: Box<Conn>) {
        let mut state = lock(&self.state);
        let Some(watcher) = state.watcher.clone() else {
            return;
        };
        if conn.poll_unfit(&mut Context::from_waker(&watcher)).is_ready() {
            return;
        }
        state.idle.push_back((Instant::now(), conn));
        if !state.timed || self.to_evict.load(Ordering::Relaxed) > 0 {
            watcher.wake();
        }
    }

    /// Closes the connection that has been idle longest; if none is idle, the next that becomes so. From any thread.
    pub fn evict(&self) {
        self.to_evict.fetch_add(1, Ordering::Relaxed);
        if let Some(watcher) = &lock(&self.state).watcher {
            watcher.wake_by_ref();
        }
    }

    /// Closes all.
    pub fn close(&self) {
        *lock(&self.state) = State::default();
    }

    /// Runs for as long as the pool is used: closes what is dead or has been idle for too long.
    pub async fn watch(&self) {
        let mut timer = pin!(sleep_until(Instant::now()));
        poll_fn(|cx| {
            loop {
                let Some(oldest) = self.sweep(Instant::now(), cx) else {
                    return Poll::Pending;
                };
                timer.as_mut().reset(oldest + self.kept);
                if timer.as_mut().poll(cx).is_pending() {
                    return Poll::<()>::Pending;
                }
            }
        })
        .await;
    }

    /// Since when the oldest of those that stay is idle.
    fn sweep(&self, now: Instant, cx: &mut Context<'_>) -> Option<Instant> {
        let mut state = lock(&self.state);
        state.watcher = Some(cx.waker().clone());
        let mut to_evict = self.to_evict.swap(0, Ordering::Relaxed);
        state.idle.retain_mut(|(since, conn)| {
            let evicted = to_evict > 0;
            to_evict -= usize::from(evicted);
            !evicted && now.duration_since(*since) < self.kept && conn.poll_unfit(cx).is_pending()
        });
        self.to_evict.fetch_add(to_evict, Ordering::Relaxed);
        let oldest = state.idle.front().map(|(since, _)| *since);
        state.timed = oldest.is_some();
        oldest
    }
}

#[cfg(test)]
mod tests;
