//! A UCX worker, released when dropped.

use std::os::fd::RawFd;
use std::sync::Arc;

use os2g_transfer::Result;

use crate::context::Context;
use crate::library::Ucp;
use crate::status;
use crate::sys::*;

/// A UCX worker. To be used by one thread at a time.
#[derive(Debug)]
pub struct Worker {
    context: Arc<Context>,
    raw: *mut ucp_worker,
}

// SAFETY: created with THREAD_MODE_SERIALIZED, so the thread may change.
unsafe impl Send for Worker {}

impl Worker {
    /// Makes a worker.
    ///
    /// # Errors
    /// `Driver`.
    pub fn create(context: &Arc<Context>) -> Result<Self> {
        let params = WorkerParams {
            field_mask: WORKER_PARAM_FIELD_THREAD_MODE,
            thread_mode: THREAD_MODE_SERIALIZED,
            cpu_mask: [0; 16],
            events: 0,
            user_data: std::ptr::null_mut(),
            event_fd: -1,
            flags: 0,
            name: std::ptr::null(),
            am_alignment: 0,
            client_id: 0,
        };
        let mut raw = std::ptr::null_mut();
        let ucp = context.ucp();
        let _alone = context.lock();
        // SAFETY: a valid context and parameters, a place for the result.
        let got = unsafe { (ucp.call.ucp_worker_create)(context.raw, &params, &mut raw) };
        status::check(ucp, got, "ucp_worker_create", "Making a UCX worker")?;
        Ok(Self {
            context: Arc::clone(context),
            raw,
        })
    }

    /// The library.
    pub fn ucp(&self) -> &Arc<Ucp> {
        self.context.ucp()
    }

    /// For calls that are not here.
    pub fn raw(&self) -> *mut ucp_worker {
        self.raw
    }

    /// What others need to reach it.
    ///
    /// # Errors
    /// `Driver`.
    pub fn address(&self) -> Result<Vec<u8>> {
        let ucp = self.ucp();
        let mut attributes = WorkerAttr {
            field_mask: WORKER_ATTR_FIELD_ADDRESS,
            thread_mode: 0,
            address_flags: 0,
            address: std::ptr::null_mut(),
            address_length: 0,
            max_am_header: 0,
            name: [0; 32],
            max_debug_string: 0,
        };
        // SAFETY: a valid worker and attributes with their mask.
        let got = unsafe { (ucp.call.ucp_worker_query)(self.raw, &mut attributes) };
        status::check(ucp, got, "ucp_worker_query", "Asking for a worker's address")?;
        // SAFETY: the call gave an address of that length, ours until it is released.
        let bytes =
            unsafe { std::slice::from_raw_parts(attributes.address.cast::<u8>(), attributes.address_length) }
                .to_vec();
        // SAFETY: as above; not used after.
        unsafe { (ucp.call.ucp_worker_release_address)(self.raw, attributes.address) };
        Ok(bytes)
    }

    /// Moves communication on; whether anything moved. Callbacks run inside.
    pub fn progress(&self) -> bool {
        // SAFETY: a valid worker, used by one thread at a time (it is not `Sync`).
        unsafe { (self.ucp().call.ucp_worker_progress)(self.raw) != 0 }
    }

    /// The descriptor that wakes a sleeper after [`Worker::arm`].
    ///
    /// # Errors
    /// `Driver`.
    pub fn event_fd(&self) -> Result<RawFd> {
        let mut fd = -1;
        // SAFETY: a valid worker and a place for the result.
        let got = unsafe { (self.ucp().call.ucp_worker_get_efd)(self.raw, &mut fd) };
        status::check(
            self.ucp(),
            got,
            "ucp_worker_get_efd",
            "Asking for a worker's wake-up descriptor",
        )?;
        Ok(fd)
    }

    /// Prepares to sleep. False: there is something to progress first.
    ///
    /// # Errors
    /// `Driver`.
    pub fn arm(&self) -> Result<bool> {
        // SAFETY: a valid worker.
        let got = unsafe { (self.ucp().call.ucp_worker_arm)(self.raw) };
        if got == ERR_BUSY {
            return Ok(false);
        }
        status::check(self.ucp(), got, "ucp_worker_arm", "Preparing to sleep")?;
        Ok(true)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _alone = self.context.lock();
        // SAFETY: made by `create`. Requests still open are cancelled, which calls their callbacks: whoever posts
        // them drops the worker before what the callbacks use.
        unsafe { (self.context.ucp().call.ucp_worker_destroy)(self.raw) };
    }
}
