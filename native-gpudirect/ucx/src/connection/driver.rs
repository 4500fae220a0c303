//! The thread of a connection.

mod sleep;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use os2g_transfer::{Error, Kind, PutDone, Result, Segment};

use super::{Command, Put, Queue};
use crate::check::open_passive;
use crate::completions::{Completions, lock};
use crate::context::Context;
use crate::frame::{Frame, TAGS_MAX};
use crate::library::Ucp;
use crate::mapping::{Mapping, MemoryType};
use crate::offer::Offer;
use crate::record::{Record, Source, Transfer};
use crate::report::Report;
use crate::session::Session;
use crate::settings::{Limits, Settings};
use crate::socket::Socket;

/// Commands taken in one turn, and bytes: shared memory is copied while a put is posted, and completions and the
/// control socket must not wait for long.
const COMMANDS_A_TURN: usize = 64;
const BYTES_A_TURN: u64 = 4 << 20;

/// Connects, checks, answers, and serves until the end.
pub fn run(
    ucp: &Arc<Ucp>,
    settings: &Settings,
    offer: &Offer,
    mut control: Option<Socket>,
    queue: Arc<Queue>,
    completions: &Arc<Completions>,
    reply: &SyncSender<Result<Report>>,
) {
    let opened = Context::open(ucp, settings).and_then(|context| {
        let (session, report) = open_passive(&context, offer, control.as_ref(), &settings.limits)?;
        Ok((context, session, report))
    });
    match opened {
        Err(error) => {
            if let Some(control) = &mut control {
                // If the target cannot be told, it sees the end of the socket.
                let _ = control.queue(&Frame::Refused(error.to_string()));
            }
            let _ = reply.send(Err(error));
        }
        Ok((context, session, report)) => {
            let _ = reply.send(Ok(report));
            let completions = Arc::clone(completions);
            let now = Instant::now();
            Driver {
                session,
                staged: HashMap::new(),
                context,
                control,
                queue,
                completions,
                limits: settings.limits,
                announce_every: settings.announce_every,
                untold: Vec::new(),
                told: now,
                moved: now,
                closing: None,
            }
            .run();
        }
    }
}

/// The thread's state after the check. Dropped in this order: the worker, then registrations, then the context.
struct Driver {
    session: Session,
    staged: HashMap<u32, (Mapping, Arc<Segment>)>,
    context: Arc<Context>,
    control: Option<Socket>,
    queue: Arc<Queue>,
    completions: Arc<Completions>,
    limits: Limits,
    announce_every: Duration,
    /// Tags of ended puts of which the target was not told.
    untold: Vec<u64>,
    /// When it was last told.
    told: Instant,
    /// When puts last moved.
    moved: Instant,
    /// Until when puts may still complete after `Close`.
    closing: Option<Instant>,
}

impl Driver {
    fn run(mut self) {
        let cause = loop {
            let turn = match self.turn() {
                Ok(true) => Ok(()),
                Ok(false) => self.sleep(),
                Err(error) => Err(error),
            };
            if let Err(error) = turn {
                break error;
            }
        };
        self.finish(&cause);
    }

    /// One round: commands, a flush, progress, completions. Whether there may be more to do at once.
    fn turn(&mut self) -> Result<bool> {
        let taken = self.take_commands()?;
        self.session.flush();
        let (records, progressed) = self.session.progress();
        let moved = taken || progressed || !records.is_empty();
        if moved {
            self.moved = Instant::now();
        }
        self.deliver(records)?;
        self.session.check()?;
        self.watch_control()?;
        self.watch_time()?;
        Ok(moved)
    }

    fn take_commands(&mut self) -> Result<bool> {
        let mut bytes = 0;
        for count in 0..COMMANDS_A_TURN {
            let Some(command) = lock(&self.queue.state).commands.pop_front() else {
                return Ok(count > 0);
            };
            match command {
                Command::Put(put) => {
                    bytes += put.length;
                    self.put(put);
                }
                Command::Unstage(staging) => drop(self.staged.remove(&staging)),
                Command::End(cause) => return Err(cause),
                Command::Close => self.closing = Some(Instant::now() + self.limits.close),
            }
            if bytes >= BYTES_A_TURN {
                break;
            }
        }
        Ok(true)
    }

    fn put(&mut self, put: Put) {
        let Put {
            region,
            offset,
            staging,
            segment,
            from,
            length,
            record,
        } = put;
        if !self.staged.contains_key(&staging) {
            // SAFETY: the segment is mapped while its `Arc` lives, which is dropped after the mapping.
            let mapping = unsafe {
                Mapping::register(&self.context, segment.pointer(), segment.len(), MemoryType::Host)
            };
            match mapping {
                Ok(mapping) => drop(self.staged.insert(staging, (mapping, Arc::clone(&segment)))),
                Err(error) => {
                    return self.completions.extend([PutDone {
                        tag: record.tag,
                        result: Err(error),
                    }]);
                }
            }
        }
        let memh = self
            .staged
            .get(&staging)
            .map_or(std::ptr::null_mut(), |(mapping, _)| mapping.raw());
        // Both were checked against the segment's length, which fits in memory.
        let (from, length) = (from as usize, length as usize);
        // SAFETY: `from` lies inside the segment.
        let source = unsafe { segment.pointer().add(from) };
        let transfer = Transfer {
            region,
            offset,
            source,
            memh,
            length,
        };
        // SAFETY: the record holds the segment, and the registration goes only when no put uses it.
        unsafe { self.session.put(&transfer, record) };
    }

    /// Gives ended puts to the caller, and their tags to the target when it is time.
    fn deliver(&mut self, records: Vec<Record>) -> Result<()> {
        if self.control.is_some() {
            self.untold.extend(
                records
                    .iter()
                    .filter(|record| record.result.is_ok())
                    .map(|record| record.tag),
            );
        }
        // These puts did arrive, also where the target cannot be told any more.
        self.completions.extend(records.into_iter().map(done));
        if self.announce_in().is_some_and(|left| left.is_zero()) {
            self.announce()
        } else {
            Ok(())
        }
    }

    /// How long until the target is to be told of puts that ended; `None` where there are none.
    fn announce_in(&self) -> Option<Duration> {
        let left = self.announce_every.saturating_sub(self.told.elapsed());
        (!self.untold.is_empty()).then_some(left)
    }

    /// Tells the target of the puts that ended since the last time.
    fn announce(&mut self) -> Result<()> {
        if let Some(control) = &mut self.control {
            self.told = Instant::now();
            for tags in std::mem::take(&mut self.untold).chunks(TAGS_MAX) {
                control.queue(&Frame::Done(tags.to_vec()))?;
            }
        }
        Ok(())
    }

    fn watch_control(&mut self) -> Result<()> {
        let Some(control) = &mut self.control else {
            return Ok(());
        };
        if control.has_ended() {
            return Err(Error::peer_gone("control socket"));
        }
        control.send_rest()
    }

    fn watch_time(&self) -> Result<()> {
        let waiting = self.session.outstanding();
        if let Some(deadline) = self.closing {
            let queued = !lock(&self.queue.state).commands.is_empty();
            if (waiting == 0 && !queued) || Instant::now() > deadline {
                return Err(Error::closed("ucx"));
            }
        }
        if waiting > 0 && self.moved.elapsed() > self.limits.stall {
            return Err(Error::new(
                Kind::TimedOut,
                format!(
                    "{waiting} puts have not moved for {} s.",
                    self.limits.stall.as_secs_f64()
                ),
                "Look at the network between the ends, and whether the target's machine is up.",
            ));
        }
        Ok(())
    }

    /// Ends UCX's work first, so that no put touches memory, and only then says that the rest failed.
    fn finish(mut self, cause: &Error) {
        // If the target cannot be told, it sees the end of the socket.
        let _ = self.announce();
        let Self {
            session,
            staged,
            context,
            mut control,
            queue,
            completions,
            closing,
            ..
        } = self;
        let mut records = session.end();
        drop(staged);
        drop(context);
        let mut state = lock(&queue.state);
        state.ended = Some(cause.clone());
        let commands = std::mem::take(&mut state.commands);
        drop(state);
        records.extend(commands.into_iter().filter_map(|command| match command {
            Command::Put(put) => Some(put.record),
            _ => None,
        }));
        if let Some(control) = &mut control {
            let last = if closing.is_some() {
                Frame::Bye
            } else {
                Frame::Refused(cause.to_string())
            };
            // If the target cannot be told, it sees the end of the socket.
            let _ = control.queue(&last);
        }
        // The socket ends before the caller hears of it.
        drop(control);
        completions.extend(records.into_iter().map(|record| {
            let result = record.result.and(Err(cause.clone()));
            PutDone {
                tag: record.tag,
                result,
            }
        }));
    }
}

/// What the caller hears; the record's holds on memory end here.
fn done(record: Record) -> PutDone {
    let Record {
        tag,
        result,
        uses,
        source,
    } = record;
    drop(uses);
    match source {
        Source::Segment(segment) => drop(segment),
        Source::Bytes(bytes) => drop(bytes),
    }
    PutDone { tag, result }
}
