use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use os2g_wire::{Class, RequestWriter};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::attempt::{Attempt, Progress, failed};
use crate::deadlines::watch_deadlines;
use crate::failure::Failure;
use crate::get;
use crate::pool::Pool;
use crate::records::{CANCEL, Completion, GET, Submission};
use crate::shared::{Shared, Signing};
use crate::sync::lock;

/// A record on its way to an I/O thread.
pub(crate) struct Job {
    pub record: Submission,
    pub signing: Option<Arc<Signing>>,
}

pub(crate) struct Running {
    pub progress: Arc<Progress>,
    pub task: AbortHandle,
}

/// One I/O thread: what its tasks share.
pub(crate) struct Worker {
    pub shared: Arc<Shared>,
    pub index: usize,
    pub writer: Mutex<RequestWriter>,
    /// Attempts by id and attempt.
    pub running: Mutex<HashMap<(u32, u32), Running>>,
    /// An attempt runs, after none did.
    pub started: Notify,
    inbox: Mutex<Vec<Job>>,
    called: Notify,
    pushed: Notify,
    closing: AtomicBool,
}

impl Worker {
    pub fn new(shared: Arc<Shared>, index: usize, writer: RequestWriter) -> Worker {
        Worker {
            shared,
            index,
            writer: Mutex::new(writer),
            running: Mutex::default(),
            started: Notify::new(),
            inbox: Mutex::default(),
            called: Notify::new(),
            pushed: Notify::new(),
            closing: AtomicBool::new(false),
        }
    }

    pub fn pool(&self) -> &Pool {
        &self.shared.pools[self.index]
    }

    /// Hands over work, from any thread.
    pub fn hand_over(&self, jobs: impl Iterator<Item = Job>) {
        let mut jobs = jobs.peekable();
        if jobs.peek().is_some() {
            lock(&self.inbox).extend(jobs);
            self.called.notify_one();
        }
    }

    /// Ends `run`, from any thread.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.called.notify_one();
    }

    /// Does the thread's work until it is closed; what runs then is to be dropped with the runtime.
    pub async fn run(self: Arc<Worker>) {
        let worker = Arc::clone(&self);
        tokio::spawn(async move { worker.pool().watch().await });
        tokio::spawn(watch_deadlines(Arc::clone(&self)));
        tokio::spawn(Arc::clone(&self).make_wakes());
        let mut jobs = Vec::new();
        while !self.closing.load(Ordering::Acquire) {
            self.called.notified().await;
            std::mem::swap(&mut *lock(&self.inbox), &mut jobs);
            for job in jobs.drain(..) {
                self.take(job);
            }
        }
    }

    fn take(self: &Arc<Worker>, job: Job) {
        let Submission {
            kind, id, attempt, ..
        } = job.record;
        match kind {
            GET => self.begin(job),
            CANCEL => self.stop(id, attempt, Class::Cancelled),
            _ => self.refuse(id, attempt, format!("a submission of unknown kind {kind}")),
        }
    }

    fn begin(self: &Arc<Worker>, job: Job) {
        let Submission { id, attempt, .. } = job.record;
        if lock(&self.running).contains_key(&(id, attempt)) {
            return self.refuse(
                id,
                attempt,
                format!("attempt {attempt} of request {id} runs already"),
            );
        }
        let wanted = match get::Wanted::of(job, &self.shared) {
            Ok(wanted) => wanted,
            Err(failure) => return self.push_failure(id, attempt, *failure, 0),
        };
        let max = self.shared.options.max_connections;
        if self.shared.running.fetch_add(1, Ordering::AcqRel) >= max {
            self.shared.running.fetch_sub(1, Ordering::AcqRel);
            return self.refuse(id, attempt, format!("more than {max} attempts at one time"));
        }
        let guard = Attempt::new(id, attempt, Arc::clone(self));
        let progress = Arc::clone(&guard.progress);
        let task = tokio::spawn(get::run(guard, Arc::clone(self), wanted)).abort_handle();
        let mut running = lock(&self.running);
        running.insert((id, attempt), Running { progress, task });
        if running.len() == 1 {
            self.started.notify_one();
        }
    }

    fn refuse(&self, id: u32, attempt: u32, what: String) {
        self.push_failure(id, attempt, Failure::new(Class::Internal, what), 0);
    }

    /// Ends an attempt, if it runs: its connection is closed, and its completion follows.
    pub fn stop(&self, id: u32, attempt: u32, class: Class) {
        if let Some(Running { progress, task }) = lock(&self.running).get(&(id, attempt)) {
            progress.stop(class);
            task.abort();
        }
    }

    /// An attempt is about to end.
    pub fn left(&self, id: u32, attempt: u32) {
        lock(&self.running).remove(&(id, attempt));
        self.shared.running.fetch_sub(1, Ordering::AcqRel);
    }

    pub fn push_failure(&self, id: u32, attempt: u32, failure: Failure, bytes: u64) {
        let completion = failed(id, attempt, &failure, bytes);
        self.shared.keep_failure(id, failure);
        self.push(completion);
    }

    pub fn push(&self, completion: Completion) {
        if self.shared.completions.push(completion) {
            self.pushed.notify_one();
        }
    }

    /// One wake-up for what all tasks that can run now have to say: this one runs after them.
    async fn make_wakes(self: Arc<Worker>) {
        loop {
            self.pushed.notified().await;
            self.shared.completions.flush();
        }
    }
}
