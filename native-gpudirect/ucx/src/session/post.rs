//! What a session posts and asks: the calls into UCX.

use std::ffi::{CStr, c_void};

use super::Session;
use crate::library::text;
use crate::record::Transfer;
use crate::report::Protocol;
use crate::requests::{Posted, Requests};
use crate::sys::*;
use crate::worker::Worker;

impl Session {
    /// # Safety
    /// As [`Session::put`].
    pub(super) unsafe fn post_put(&mut self, transfer: &Transfer) -> (u32, Posted) {
        let Self {
            requests,
            worker,
            ep,
            keys,
            bases,
            protocols,
            read,
            ..
        } = self;
        let ucp = worker.ucp();
        let size = 1 << transfer.length.ilog2();
        let first = read[transfer.region] & size == 0;
        read[transfer.region] |= size;
        let mut param = RequestParam::empty();
        param.op_attr_mask = OP_ATTR_FIELD_CALLBACK | OP_ATTR_FIELD_USER_DATA;
        param.op_attr_mask |= if first { OP_ATTR_FLAG_NO_IMM_CMPL } else { 0 };
        if !transfer.memh.is_null() {
            param.op_attr_mask |= OP_ATTR_FIELD_MEMH;
            param.memh = transfer.memh;
        }
        let post = |callback, argument| {
            param.callback = Some(callback);
            param.user_data = argument;
            let address = bases[transfer.region] + transfer.offset;
            // SAFETY: a valid endpoint, and a key of it for memory that holds `address`; the source is the caller's
            // promise; the parameters are read during the call.
            unsafe {
                let (source, key) = (transfer.source.cast(), keys[transfer.region]);
                (ucp.call.ucp_put_nbx)(*ep, source, transfer.length, address, key, &param)
            }
        };
        let mut look = |request: *mut c_void| {
            let mut buffer = [0u8; 512];
            let mut attributes = RequestAttr {
                field_mask: REQUEST_ATTR_FIELD_INFO_STRING | REQUEST_ATTR_FIELD_INFO_STRING_SIZE,
                debug_string: buffer.as_mut_ptr().cast(),
                debug_string_size: buffer.len(),
                status: 0,
                memory_type: 0,
            };
            // SAFETY: a request that is not released yet; a buffer of the size that is told.
            let got = unsafe { (ucp.call.ucp_request_query)(request, &mut attributes) };
            let text = CStr::from_bytes_until_nul(&buffer)
                .map(CStr::to_string_lossy)
                .unwrap_or_default();
            if got == OK && !text.is_empty() {
                protocols.push(Protocol::read(transfer.region, transfer.length as u64, &text));
            }
        };
        requests.post(post, if first { Some(&mut look) } else { None })
    }

    pub(super) fn post_flush(requests: &mut Requests, worker: &Worker, ep: *mut ucp_ep) -> (u32, Posted) {
        let mut param = RequestParam::empty();
        param.op_attr_mask = OP_ATTR_FIELD_CALLBACK | OP_ATTR_FIELD_USER_DATA;
        let post = |callback, argument| {
            param.callback = Some(callback);
            param.user_data = argument;
            // SAFETY: a valid endpoint; the parameters are read during the call.
            unsafe { (worker.ucp().call.ucp_ep_flush_nbx)(ep, &param) }
        };
        requests.post(post, None)
    }

    /// The transports of the endpoint, as `transport/device`.
    pub fn transports(&self) -> Vec<String> {
        let mut entries = [TransportEntry {
            transport: std::ptr::null(),
            device: std::ptr::null(),
        }; 32];
        // SAFETY: a structure of numbers, pointers and bytes, for which zeros are valid.
        let mut attributes: EpAttr = unsafe { std::mem::zeroed() };
        attributes.field_mask = EP_ATTR_FIELD_TRANSPORTS;
        attributes.transports = entries.as_mut_ptr();
        attributes.transports_count = entries.len() as u32;
        attributes.transports_entry_size = size_of::<TransportEntry>();
        // SAFETY: a valid endpoint, and room for as many entries as is told.
        let got = unsafe { (self.worker.ucp().call.ucp_ep_query)(self.ep, &mut attributes) };
        let count = if got == OK {
            (attributes.transports_count as usize).min(entries.len())
        } else {
            0
        };
        // SAFETY: the call gave strings that live as long as the endpoint.
        let name =
            |entry: &TransportEntry| unsafe { format!("{}/{}", text(entry.transport), text(entry.device)) };
        entries[..count].iter().map(name).collect()
    }
}
