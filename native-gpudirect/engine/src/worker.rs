use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use os2g_wire::{Class, RequestWriter};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::attempt::{Attempt, Progress, failed};
use crate::deadlines::watch_deadlines;
use crate::failure::Failure;
use crate::get;
use crate::panics::{caught, caught_while};
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
    inbox: Mutex<Inbox>,
    called: Notify,
    pushed: Notify,
}

#[derive(Default)]
struct Inbox {
    jobs: VecDeque<Job>,
    closing: bool,
    /// A part of the thread's work has panicked: what it said.
    broken: Option<String>,
}

/// What an I/O thread is to do next.
enum Next {
    Take(Job),
    Wait,
    Close,
    Break(String),
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
        }
    }

    pub fn pool(&self) -> &Pool {
        &self.shared.pools[self.index]
    }

    /// Hands over work, from any thread.
    pub fn hand_over(&self, jobs: impl Iterator<Item = Job>) {
        let mut jobs = jobs.peekable();
        if jobs.peek().is_some() {
            lock(&self.inbox).jobs.extend(jobs);
            self.called.notify_one();
        }
    }

    /// Ends `run`, from any thread.
    pub fn close(&self) {
        lock(&self.inbox).closing = true;
        self.called.notify_one();
    }

    /// Does the thread's work until it is closed; what runs then is to be dropped with the runtime. An error says why it
    /// cannot go on before that.
    pub async fn run(self: Arc<Worker>) -> Result<(), String> {
        let worker = Arc::clone(&self);
        self.spawn_part(async move { worker.pool().watch().await });
        self.spawn_part(watch_deadlines(Arc::clone(&self)));
        self.spawn_part(Arc::clone(&self).make_wakes());
        loop {
            match self.next() {
                Next::Take(job) => self.take(job),
                Next::Wait => self.called.notified().await,
                Next::Close => return Ok(()),
                Next::Break(why) => return Err(why),
            }
        }
    }

    /// Jobs are taken off one by one: those behind one that goes wrong are still there.
    fn next(&self) -> Next {
        let mut inbox = lock(&self.inbox);
        if inbox.closing {
            return Next::Close;
        }
        if let Some(why) = inbox.broken.take() {
            return Next::Break(why);
        }
        inbox.jobs.pop_front().map_or(Next::Wait, Next::Take)
    }

    /// Runs what the thread cannot do without: where it panics, the thread breaks.
    pub fn spawn_part(self: &Arc<Worker>, part: impl Future<Output = ()> + Send + 'static) {
        let worker = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(why) = caught_while(pin!(part)).await {
                lock(&worker.inbox).broken = Some(why);
                worker.called.notify_one();
            }
        });
    }

    /// All that a thread still does after a panic of its own, until it is closed: each GET that comes ends at once, in a
    /// failure that says so.
    pub async fn refuse_all(&self, why: &str) {
        let what = format!("an I/O thread of the engine has panicked: {why}");
        self.shared
            .notify_user(format!("{what}; its requests fail from now on"));
        loop {
            match self.next() {
                Next::Take(job) if job.record.kind == CANCEL => {}
                Next::Take(job) => self.refuse(job.record.id, job.record.attempt, what.clone()),
                Next::Break(_) => {}
                Next::Close => return,
                Next::Wait => {
                    self.flush();
                    self.called.notified().await;
                }
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
        let wanted = match caught(|| get::Wanted::of(job, &self.shared)) {
            Ok(Ok(wanted)) => wanted,
            Ok(Err(failure)) => return self.push_failure(id, attempt, *failure, 0),
            Err(why) => {
                return self.refuse(
                    id,
                    attempt,
                    format!("a panic while the request was prepared: {why}"),
                );
            }
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
            self.flush();
        }
    }

    /// Makes the wake-up that was asked for. It is the caller's code: its panic is told, and costs that one wake-up.
    fn flush(&self) {
        if let Err(why) = caught(|| self.shared.completions.flush()) {
            self.shared
                .notify_user(format!("the wake-up has panicked: {why}"));
        }
    }
}
