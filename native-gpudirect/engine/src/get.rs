use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use os2g_wire::{
    AnsweredRequest, Asked, Class, Get, Head, Hider, RunningChecksum, Verdict, classify_answer, quoted_etag,
    why_unaskable,
};

use crate::attempt::Attempt;
use crate::conn::Conn;
use crate::exchange::{Answer, exchange};
use crate::failure::Failure;
use crate::options::Verify;
use crate::panics::caught_while;
use crate::records::Submission;
use crate::regions::Slot;
use crate::shared::{Shared, Signing};
use crate::sync::lock;
use crate::worker::{Job, Worker};

/// A GET that can be sent.
pub(crate) struct Wanted {
    row: u64,
    offset: u64,
    length: u64,
    object_size: u64,
    /// The ETag that the answer must carry, where the table does not know it but other parts of the sample had one.
    pinned: Option<String>,
    slot: Slot,
    signing: Option<Arc<Signing>>,
}

impl Wanted {
    /// What a submission asks for; a failure says why it cannot be sent.
    pub fn of(job: Job, shared: &Shared) -> Result<Wanted, Box<Failure>> {
        let Submission {
            region,
            row,
            offset,
            length,
            target,
            ..
        } = job.record;
        let internal = |what: String| Box::new(Failure::new(Class::Internal, what));
        let at = whole(row).filter(|row| *row < shared.table.rows());
        let at =
            at.ok_or_else(|| internal(format!("row {row} of a table of {} rows", shared.table.rows())))?;
        let object_size = shared.table.object_size(at);
        let is_part = !(offset == 0.0 && length == object_size as f64);
        let is_known = known_etag(shared, at).is_some();
        let wanted = os2g_wire::Wanted {
            key: shared.table.key(at),
            offset,
            length,
            object_size: object_size as f64,
            target_bytes: length,
            proven: is_known,
        };
        if let Some((class, what)) = why_unaskable(&wanted) {
            return Err(Box::new(Failure::new(class, what)));
        }
        let impossible = || {
            internal(format!(
                "a range that cannot be: offset {offset}, length {length}"
            ))
        };
        let (offset, length) = whole(offset).zip(whole(length)).ok_or_else(impossible)?;
        let region_memory = shared
            .regions
            .get(region)
            .ok_or_else(|| internal(format!("no region {region}")))?;
        let place = whole(target).and_then(|target| usize::try_from(target).ok());
        let slot = place.zip(usize::try_from(length).ok());
        let slot = slot.and_then(|(target, length)| Slot::new(region_memory, target, length));
        let slot =
            slot.ok_or_else(|| internal(format!("{length} bytes at {target} are not in region {region}")))?;
        let pinned = if is_part && !is_known {
            lock(&shared.pinned).get(at).map(str::to_owned)
        } else {
            None
        };
        Ok(Wanted {
            row: at,
            offset,
            length,
            object_size,
            pinned,
            slot,
            signing: job.signing,
        })
    }
}

/// A number of a record, where it is a whole one that a double holds exactly.
fn whole(number: f64) -> Option<u64> {
    (number >= 0.0 && number.fract() == 0.0 && number < 9_007_199_254_740_992.0).then_some(number as u64)
}

/// The ETag that the manifest has and that answers are to be held against.
fn known_etag(shared: &Shared, row: u64) -> Option<&[u8]> {
    if shared.options.verify == Verify::Size {
        None
    } else {
        shared.table.etag(row)
    }
}

/// Runs one attempt to its end. `attempt` stands first so that it is dropped last: nothing is written after its completion.
pub(crate) async fn run(attempt: Attempt, worker: Arc<Worker>, mut wanted: Wanted) {
    let mut if_match = worker.shared.takes_if_match();
    loop {
        let ended = {
            let once = pin!(run_once(&attempt, &worker, &mut wanted, if_match));
            caught_while(once).await
        };
        match ended {
            Ok(Ok(None)) => return attempt.succeed(),
            Ok(Ok(Some(failure))) => return attempt.fail(*failure),
            Ok(Err(AskWithoutIfMatch)) => if_match = false,
            Err(why) => {
                let what = format!("a panic while the request ran: {why}");
                return attempt.fail(Failure::new(Class::Internal, what));
            }
        }
        attempt.progress.restart();
    }
}

/// A 412 does not say which version is there now, and its user must know. So the same is asked once more without the
/// condition: the answer's ETag is compared before a byte of it is used.
struct AskWithoutIfMatch;

async fn run_once(
    attempt: &Attempt,
    worker: &Worker,
    wanted: &mut Wanted,
    if_match: bool,
) -> Result<Option<Box<Failure>>, AskWithoutIfMatch> {
    let shared = &worker.shared;
    let Wanted {
        row,
        offset,
        length,
        object_size,
        ref pinned,
        ref mut slot,
        ref signing,
    } = *wanted;
    let etag = known_etag(shared, row).map(String::from_utf8_lossy);
    let etag: Option<Cow<'_, str>> = etag.or(pinned.as_deref().map(Cow::Borrowed));
    let asked = Asked {
        offset,
        length,
        object_size,
        etag: etag.as_deref(),
    };
    let request = Request {
        asked: &asked,
        if_match: if_match && etag.is_some(),
        signing: signing.as_deref(),
    };

    let mut conn = match worker.pool().take() {
        Some(conn) => conn,
        None => match Box::pin(shared.dialer.dial(|| evict(shared))).await {
            Ok(conn) => conn,
            Err(verdict) => return Ok(Some(Box::new(verdict.into()))),
        },
    };
    if let Err(verdict) = request.write(worker, shared.table.key(row), &mut conn) {
        worker.pool().put(conn);
        return Ok(Some(Box::new(verdict.into())));
    }
    let accept = |head: &Head, first_byte_ns: u64| {
        let wrong = request.check_parts(shared, row, head);
        if wrong.is_none() {
            attempt.first_byte(first_byte_ns);
        }
        wrong
    };
    let answer = exchange(&mut conn, slot, &asked, &attempt.progress, accept).await;
    let failure = match answer {
        Answer::Object(checksum) => {
            compare(shared, checksum).map(|verdict| request.mismatch(shared, &conn, verdict))
        }
        Answer::Error { whole, .. } if whole && request.if_match && conn.head.status() == 412 => {
            keep(worker, conn);
            return Err(AskWithoutIfMatch);
        }
        Answer::Error { body, .. } => Some(request.refused(shared, &conn, &body)),
        Answer::Mismatch(verdict) => Some(request.mismatch(shared, &conn, verdict)),
        Answer::Broken(verdict) => Some(Failure {
            status: conn.status,
            ..verdict.into()
        }),
    };
    keep(worker, conn);
    Ok(failure.map(Box::new))
}

fn keep(worker: &Worker, conn: Box<Conn>) {
    if conn.reusable {
        worker.pool().put(conn);
    }
}

fn evict(shared: &Shared) {
    shared.pools.iter().for_each(crate::pool::Pool::evict);
}

/// What was sent, for the judgement of what comes back.
struct Request<'a> {
    asked: &'a Asked<'a>,
    if_match: bool,
    signing: Option<&'a Signing>,
}

impl Request<'_> {
    fn write(&self, worker: &Worker, key: &[u8], conn: &mut Conn) -> Result<(), Verdict> {
        let Asked {
            offset,
            length,
            object_size,
            etag,
            ..
        } = *self.asked;
        let if_match = etag.filter(|_| self.if_match).map(str::as_bytes);
        let get = Get {
            key,
            offset,
            length,
            object_size,
            if_match,
        };
        let credentials = self.signing.map(|signing| &signing.credentials);
        let now_ms = (worker.shared.options.wall_ms)();
        conn.out.clear();
        lock(&worker.writer).write(&mut conn.out, &get, credentials, now_ms as u64)
    }

    /// What is wrong with an answer beside the others of its sample, where only they tell the version.
    fn check_parts(&self, shared: &Shared, row: u64, head: &Head) -> Option<String> {
        let is_part = self.asked.length < self.asked.object_size;
        if self.asked.etag.is_none() && is_part {
            lock(&shared.pinned).pin(row, head.etag())
        } else {
            None
        }
    }

    /// Of what must not be in a failure.
    fn hider(&self, shared: &Shared) -> Hider {
        Hider::of(self.signing.map(|signing| &signing.credentials))
            .and_of_proxy(shared.dialer.proxy_authorization())
    }

    fn mismatch(&self, shared: &Shared, conn: &Conn, verdict: Verdict) -> Failure {
        let hider = self.hider(shared);
        let mut failure = Failure::new(verdict.class, hider.hide(&verdict.what));
        failure.status = conn.head.status();
        failure.request_id = conn.head.request_id().map(|id| hider.hide(id));
        self.finish(shared, failure, conn)
    }

    fn refused(&self, shared: &Shared, conn: &Conn, body: &[u8]) -> Failure {
        let at_ms = (shared.options.wall_ms)();
        let status = conn.head.status();
        let answered = AnsweredRequest {
            if_match: self.if_match,
            signing_region: &shared.options.signing_region,
            credentials: self.signing.map(|signing| &signing.credentials),
            proxy_authorization: shared.dialer.proxy_authorization(),
            now_ms: at_ms as u64,
        };
        let answer = classify_answer(status, &conn.head, body, &answered);
        if answer.if_match_refused {
            shared.do_without_if_match(status);
        }
        let failure = Failure {
            what: None,
            status,
            s3_code: answer.s3_code,
            message: answer.message,
            request_id: answer.request_id,
            region: answer.region,
            body_start: Some(answer.body_start),
            date: answer.date,
            if_match_refused: answer.if_match_refused,
            at_ms,
            retry_after_ns: answer.retry_after_ns,
            ..Failure::new(answer.class, "")
        };
        self.finish(shared, failure, conn)
    }

    fn finish(&self, shared: &Shared, mut failure: Failure, conn: &Conn) -> Failure {
        failure.anonymous = self.signing.is_none();
        failure.credentials = self.signing.map_or(0, |signing| signing.number);
        if failure.class == Class::Changed {
            let hider = self.hider(shared);
            failure.expected_etag = self.asked.etag.map(quoted_etag);
            failure.actual_etag = conn.head.etag().map(|etag| hider.hide(etag));
        }
        failure
    }
}

/// Holds the body against the store's checksum, where there is one.
fn compare(shared: &Shared, checksum: Option<Box<RunningChecksum>>) -> Option<Verdict> {
    let Some(checksum) = checksum else {
        shared.unchecked.fetch_add(1, Ordering::Relaxed);
        return None;
    };
    shared.checked.fetch_add(1, Ordering::Relaxed);
    let digest = checksum.digest();
    if digest == checksum.expected() {
        return None;
    }
    let name = checksum.algorithm().name();
    let what = format!(
        "the {name} checksum is {digest}, the store says {}",
        checksum.expected()
    );
    Some(Verdict {
        class: Class::Checksum,
        what,
    })
}
