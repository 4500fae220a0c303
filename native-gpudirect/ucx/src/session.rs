//! An endpoint to one target: puts, flushes that cover them, and what is read back of how they travel.

mod end;
mod post;

use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::Arc;

use os2g_transfer::{Error, Kind, Result};

use crate::context::Context;
use crate::offer::Offer;
use crate::record::{Record, Transfer};
use crate::report::{ErrorHandling, Protocol, needs_target};
use crate::requests::{Failure, Posted, Requests};
use crate::status;
use crate::sys::*;
use crate::worker::Worker;

/// Puts that one flush covers.
struct Batch {
    records: Vec<Record>,
    open: usize,
    flush: Flush,
}

#[derive(PartialEq, Eq)]
enum Flush {
    None,
    Pending,
    Done,
}

/// What a ticket is for.
#[derive(Clone, Copy)]
enum Purpose {
    Put(u64),
    Flush(u64),
}

/// An endpoint with its remote keys.
pub struct Session {
    worker: ManuallyDrop<Worker>,
    /// What callbacks use; dropped after the worker.
    requests: ManuallyDrop<Requests>,
    failure: ManuallyDrop<Box<Failure>>,
    ep: *mut ucp_ep,
    keys: Vec<*mut ucp_rkey>,
    bases: Vec<u64>,
    mode: ErrorHandling,
    purposes: Vec<Purpose>,
    batches: VecDeque<Batch>,
    /// Number of the first of `batches`.
    first: u64,
    /// Sizes (powers of two, a bit each) whose protocol was read, for each region.
    read: Vec<u64>,
    protocols: Vec<Protocol>,
    failed: Option<Error>,
}

impl Session {
    /// Makes an endpoint to the offer's worker and unpacks its keys. The worker address and the keys are parsed by
    /// UCX, which trusts them: the control socket's other end must be a process of the same job.
    ///
    /// # Errors
    /// `Driver`.
    pub fn open(context: &Arc<Context>, offer: &Offer, mode: ErrorHandling) -> Result<Self> {
        let worker = Worker::create(context)?;
        let ucp = Arc::clone(worker.ucp());
        let failure = Failure::new();
        let params = EpParams {
            field_mask: EP_PARAM_FIELD_REMOTE_ADDRESS
                | EP_PARAM_FIELD_ERR_HANDLING_MODE
                | EP_PARAM_FIELD_ERR_HANDLER,
            address: offer.worker.as_ptr().cast(),
            err_mode: mode.number(),
            err_callback: Some(Failure::handle),
            err_argument: (&raw const *failure).cast_mut().cast(),
            user_data: std::ptr::null_mut(),
            flags: 0,
            sockaddr: SockAddr {
                address: std::ptr::null(),
                length: 0,
            },
            conn_request: std::ptr::null_mut(),
            name: std::ptr::null(),
            local_sockaddr: SockAddr {
                address: std::ptr::null(),
                length: 0,
            },
        };
        let mut ep = std::ptr::null_mut();
        // SAFETY: a valid worker; the address is read during the call; `failure` outlives the worker.
        let got = unsafe { (ucp.call.ucp_ep_create)(worker.raw(), &params, &mut ep) };
        status::check(&ucp, got, "ucp_ep_create", "Reaching the target by UCX")?;
        let mut session = Self {
            requests: ManuallyDrop::new(Requests::new(&ucp)),
            worker: ManuallyDrop::new(worker),
            failure: ManuallyDrop::new(failure),
            ep,
            keys: Vec::new(),
            bases: offer.regions.iter().map(|region| region.address).collect(),
            mode,
            purposes: Vec::new(),
            batches: VecDeque::new(),
            first: 0,
            read: vec![0; offer.regions.len()],
            protocols: Vec::new(),
            failed: None,
        };
        for region in &offer.regions {
            let mut key = std::ptr::null_mut();
            // SAFETY: a valid endpoint and packed key, a place for the result.
            let got = unsafe { (ucp.call.ucp_ep_rkey_unpack)(ep, region.key.as_ptr().cast(), &mut key) };
            status::check(&ucp, got, "ucp_ep_rkey_unpack", "Reading the target's memory key")?;
            session.keys.push(key);
        }
        Ok(session)
    }

    /// The worker, to progress it and to sleep.
    pub fn worker(&self) -> &Worker {
        &self.worker
    }

    /// Error handling of the endpoint.
    pub fn mode(&self) -> ErrorHandling {
        self.mode
    }

    /// Protocols read so far.
    pub fn protocols(&self) -> &[Protocol] {
        &self.protocols
    }

    /// Puts posted whose records have not come back.
    pub fn outstanding(&self) -> usize {
        self.batches.iter().map(|batch| batch.records.len()).sum()
    }

    /// Posts a put. The first one of each size (to a power of two) is asked which protocol it takes.
    ///
    /// # Safety
    /// The source is readable, and its registration valid, until the record comes back.
    pub unsafe fn put(&mut self, transfer: &Transfer, mut record: Record) {
        if self.batches.back().is_none_or(|batch| batch.flush != Flush::None) {
            self.batches.push_back(Batch {
                records: Vec::new(),
                open: 0,
                flush: Flush::None,
            });
        }
        let batch = self.first + self.batches.len() as u64 - 1;
        let mut open = 0;
        if transfer.length > 0 {
            // SAFETY: the caller's promise.
            let (ticket, posted) = unsafe { self.post_put(transfer) };
            match posted {
                Posted::Complete => (),
                Posted::Pending => {
                    self.remember(ticket, Purpose::Put(batch));
                    open = 1;
                }
                Posted::Failed(got) => {
                    record.result = Err(status::error(self.worker.ucp(), got, "ucp_put_nbx", "A put"));
                }
            }
        }
        if let Some(batch) = self.batches.back_mut() {
            batch.records.push(record);
            batch.open += open;
        }
    }

    /// Flushes the puts that no flush covers yet, unless a flush is under way: then they wait for the next one, so
    /// that a busy endpoint has one flush for many puts.
    pub fn flush(&mut self) {
        let pending = self.batches.iter().any(|batch| batch.flush == Flush::Pending);
        let last = self.first + self.batches.len() as u64;
        let Some(batch) = self
            .batches
            .back_mut()
            .filter(|batch| batch.flush == Flush::None && !pending)
        else {
            return;
        };
        batch.flush = Flush::Pending;
        let (ticket, posted) = Self::post_flush(&mut self.requests, &self.worker, self.ep);
        match posted {
            Posted::Complete => batch.flush = Flush::Done,
            Posted::Pending => self.remember(ticket, Purpose::Flush(last - 1)),
            Posted::Failed(got) => self.fail(got, "ucp_ep_flush_nbx"),
        }
    }

    /// Moves communication on and returns the puts that are done, in the order of their batches; whether anything
    /// moved is the second value.
    pub fn progress(&mut self) -> (Vec<Record>, bool) {
        let mut moved = self.worker.progress();
        for (ticket, got) in self.requests.take_done() {
            moved = true;
            let Some(purpose) = self.purposes.get(ticket as usize).copied() else {
                continue;
            };
            let (Purpose::Put(number) | Purpose::Flush(number)) = purpose;
            if got != OK {
                self.fail(got, "ucp_put_nbx and ucp_ep_flush_nbx");
            }
            let Some(batch) = self.batches.get_mut((number - self.first) as usize) else {
                continue;
            };
            match purpose {
                Purpose::Put(_) => batch.open -= 1,
                Purpose::Flush(_) if got == OK => batch.flush = Flush::Done,
                Purpose::Flush(_) => (),
            }
        }
        let mut records = Vec::new();
        while self.failed.is_none()
            && self
                .batches
                .front()
                .is_some_and(|batch| batch.open == 0 && batch.flush == Flush::Done)
        {
            records.extend(
                self.batches
                    .pop_front()
                    .into_iter()
                    .flat_map(|batch| batch.records),
            );
            self.first += 1;
        }
        (records, moved)
    }

    /// An error that ended the endpoint: the peer's end, a failed transfer, or a protocol that needs the target.
    ///
    /// # Errors
    /// `PeerGone`, `Driver`, `Unsupported`.
    pub fn check(&mut self) -> Result<()> {
        if let Some(got) = self.failure.get() {
            self.fail(got, "endpoint");
        }
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        match self.protocols.iter().find(|protocol| protocol.needs_target()) {
            Some(protocol) => Err(needs_target(protocol)),
            None => Ok(()),
        }
    }

    fn remember(&mut self, ticket: u32, purpose: Purpose) {
        let index = ticket as usize;
        if index >= self.purposes.len() {
            self.purposes.resize(index + 1, purpose);
        }
        self.purposes[index] = purpose;
    }

    /// The first failure is the cause; later ones follow from it.
    fn fail(&mut self, got: Status, call: &'static str) {
        if self.failed.is_some() {
            return;
        }
        let ucp = self.worker.ucp();
        // An I/O error, a reset, a peer that is not connected, or any endpoint failure (-60 to -89).
        let gone =
            matches!(got, -3 | -24 | -25) || (-89..=-60).contains(&got) || self.failure.get().is_some();
        let mut error = status::error(ucp, got, call, "Putting into the target's memory");
        if gone {
            error = Error::new(
                Kind::PeerGone,
                format!("The target is gone. {}", error.what),
                error.mend,
            );
        }
        self.failed = Some(error);
    }
}
