//! The end of a session, which must leave nothing of UCX's under way, and never hang.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Session;
use crate::record::Record;
use crate::report::{ErrorHandling, Protocol};
use crate::requests::{Posted, classify};
use crate::sys::*;

/// The longest time that an endpoint's end takes.
const LAST_PROGRESS: Duration = Duration::from_secs(1);

impl Session {
    /// Ends the endpoint and the worker, so that no put touches memory any more, and only then gives the records
    /// back that had not completed.
    pub fn end(mut self) -> Vec<Record> {
        let batches = std::mem::take(&mut self.batches);
        drop(self);
        batches.into_iter().flat_map(|batch| batch.records).collect()
    }

    /// Closes the endpoint by force, which cancels what is under way.
    fn close_by_force(&mut self) {
        let mut param = RequestParam::empty();
        param.op_attr_mask = OP_ATTR_FIELD_FLAGS;
        param.flags = EP_CLOSE_FLAG_FORCE;
        let ucp = Arc::clone(self.worker.ucp());
        // SAFETY: a valid endpoint, closed once.
        let request = unsafe { (ucp.call.ucp_ep_close_nbx)(self.ep, &param) };
        if classify(request) != Posted::Pending {
            return;
        }
        let deadline = Instant::now() + LAST_PROGRESS;
        // SAFETY: the request is released below, once.
        while unsafe { (ucp.call.ucp_request_check_status)(request) } == IN_PROGRESS
            && Instant::now() < deadline
        {
            self.worker.progress();
        }
        // SAFETY: as above; UCX frees a request that is still under way when it ends.
        unsafe { (ucp.call.ucp_request_free)(request) };
    }

    /// Progresses until nothing is under way; false where that takes too long.
    fn run_out(&mut self) -> bool {
        let deadline = Instant::now() + LAST_PROGRESS;
        while self.worker.progress() || self.requests.open() > 0 {
            self.requests.take_done();
            if Instant::now() > deadline {
                return false;
            }
        }
        true
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let needs_target = self.protocols.iter().any(Protocol::needs_target);
        let ready = match self.mode {
            ErrorHandling::Peer => {
                self.close_by_force();
                true
            }
            // Without error handling UCX has no forced close, and an orderly one could wait for the peer. Then the
            // worker's end takes the endpoint along, which UCX bears only when no transfer waits in a transport's
            // own queue: it would abort the process. After a failure those transfers end by themselves. A put that
            // waits for the target's help waits elsewhere, and for ever.
            ErrorHandling::None => needs_target || self.run_out(),
        };
        if !ready {
            // Then it all stays for ever: nobody progresses the worker, so its transfers read nothing any more.
            return;
        }
        for key in self.keys.drain(..) {
            // SAFETY: unpacked by `open`, destroyed once, before the worker.
            unsafe { (self.worker.ucp().call.ucp_rkey_destroy)(key) };
        }
        // SAFETY: each is dropped here, once, and not used after; the worker first, since its end calls callbacks.
        unsafe {
            ManuallyDrop::drop(&mut self.worker);
            ManuallyDrop::drop(&mut self.requests);
            ManuallyDrop::drop(&mut self.failure);
        }
    }
}
