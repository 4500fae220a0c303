//! The part of UCX's C interface that is used here, declared by hand at the level of its 1.13 header.
//!
//! UCX keeps its structures compatible by a field mask: a structure declared at an older level is valid for every
//! newer library, which looks only at the fields that the mask names. So nothing here depends on the headers of the
//! library that is found at run time. The one thing newer than 1.13 is the list of an endpoint's transports
//! ([`EpAttr::transports`], 1.14), which every library that [`crate::library`] accepts has.

#![allow(non_camel_case_types)] // the names are those of the C header, to be found there

use std::ffi::{c_char, c_int, c_uint, c_void};

/// `ucs_status_t`: a packed enumeration, so one byte, not an `int`.
pub type Status = i8;
/// `ucs_status_ptr_t`: null (done), a request, or a negative status as an address.
pub type StatusPtr = *mut c_void;

/// The API level that these declarations are of.
pub const API_LEVEL: (c_uint, c_uint) = (1, 13);

pub const OK: Status = 0;
pub const IN_PROGRESS: Status = 1;
pub const ERR_BUSY: Status = -15;
/// The smallest number that is a status (`UCS_ERR_LAST`).
pub const ERR_LAST: Status = -100;

/// Opaque structures behind the library's handles.
macro_rules! opaque {
    ($($name:ident),*) => { $(
        #[doc = concat!("`", stringify!($name), "` of the C header, opaque.")]
        #[repr(C)]
        pub struct $name { _opaque: [u8; 0] }
    )* };
}
opaque!(
    ucp_config,
    ucp_context,
    ucp_worker,
    ucp_ep,
    ucp_mem,
    ucp_rkey,
    ucp_address
);

pub const PARAM_FIELD_FEATURES: u64 = 1;
pub const FEATURE_RMA: u64 = 1 << 1;
pub const FEATURE_WAKEUP: u64 = 1 << 4;

/// `ucp_params_t`.
#[repr(C)]
pub struct Params {
    pub field_mask: u64,
    pub features: u64,
    pub request_size: usize,
    pub request_init: *const c_void,
    pub request_cleanup: *const c_void,
    pub tag_sender_mask: u64,
    pub mt_workers_shared: c_int,
    pub estimated_num_eps: usize,
    pub estimated_num_ppn: usize,
    pub name: *const c_char,
}

pub const WORKER_PARAM_FIELD_THREAD_MODE: u64 = 1;
/// One thread at a time, but not always the same one.
pub const THREAD_MODE_SERIALIZED: c_uint = 1;

/// `ucp_worker_params_t`.
#[repr(C)]
pub struct WorkerParams {
    pub field_mask: u64,
    pub thread_mode: c_uint,
    pub cpu_mask: [u64; 16],
    pub events: c_uint,
    pub user_data: *mut c_void,
    pub event_fd: c_int,
    pub flags: u64,
    pub name: *const c_char,
    pub am_alignment: usize,
    pub client_id: u64,
}

pub const WORKER_ATTR_FIELD_ADDRESS: u64 = 1 << 1;

/// `ucp_worker_attr_t`.
#[repr(C)]
pub struct WorkerAttr {
    pub field_mask: u64,
    pub thread_mode: c_uint,
    pub address_flags: u32,
    pub address: *mut ucp_address,
    pub address_length: usize,
    pub max_am_header: usize,
    pub name: [c_char; 32],
    pub max_debug_string: usize,
}

pub const EP_PARAM_FIELD_REMOTE_ADDRESS: u64 = 1;
pub const EP_PARAM_FIELD_ERR_HANDLING_MODE: u64 = 1 << 1;
pub const EP_PARAM_FIELD_ERR_HANDLER: u64 = 1 << 2;
pub const ERR_HANDLING_MODE_NONE: c_uint = 0;
pub const ERR_HANDLING_MODE_PEER: c_uint = 1;

/// `ucs_sock_addr_t`.
#[repr(C)]
pub struct SockAddr {
    pub address: *const c_void,
    pub length: libc::socklen_t,
}

/// `ucp_err_handler_cb_t`.
pub type ErrorCallback = unsafe extern "C" fn(argument: *mut c_void, ep: *mut ucp_ep, status: Status);

/// `ucp_ep_params_t`.
#[repr(C)]
pub struct EpParams {
    pub field_mask: u64,
    pub address: *const ucp_address,
    pub err_mode: c_uint,
    pub err_callback: Option<ErrorCallback>,
    pub err_argument: *mut c_void,
    pub user_data: *mut c_void,
    pub flags: c_uint,
    pub sockaddr: SockAddr,
    pub conn_request: *mut c_void,
    pub name: *const c_char,
    pub local_sockaddr: SockAddr,
}

pub const EP_ATTR_FIELD_TRANSPORTS: u64 = 1 << 3;

/// `ucp_transport_entry_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TransportEntry {
    pub transport: *const c_char,
    pub device: *const c_char,
}

/// `ucp_ep_attr_t`, with the list of transports that 1.14 added.
#[repr(C)]
pub struct EpAttr {
    pub field_mask: u64,
    pub name: [c_char; 32],
    pub local_sockaddr: libc::sockaddr_storage,
    pub remote_sockaddr: libc::sockaddr_storage,
    pub transports: *mut TransportEntry,
    pub transports_count: c_uint,
    pub transports_entry_size: usize,
    pub user_data: *mut c_void,
}

pub const MEM_MAP_PARAM_FIELD_ADDRESS: u64 = 1;
pub const MEM_MAP_PARAM_FIELD_LENGTH: u64 = 1 << 1;
pub const MEM_MAP_PARAM_FIELD_FLAGS: u64 = 1 << 2;
pub const MEM_MAP_PARAM_FIELD_MEMORY_TYPE: u64 = 1 << 4;
pub const MEM_MAP_ALLOCATE: c_uint = 1 << 1;
pub const MEMORY_TYPE_HOST: c_uint = 0;
pub const MEMORY_TYPE_CUDA: c_uint = 1;

/// `ucp_mem_map_params_t`.
#[repr(C)]
pub struct MemMapParams {
    pub field_mask: u64,
    pub address: *mut c_void,
    pub length: usize,
    pub flags: c_uint,
    pub prot: c_uint,
    pub memory_type: c_uint,
}

pub const MEM_ATTR_FIELD_ADDRESS: u64 = 1;
pub const MEM_ATTR_FIELD_LENGTH: u64 = 1 << 1;

/// `ucp_mem_attr_t`.
#[repr(C)]
pub struct MemAttr {
    pub field_mask: u64,
    pub address: *mut c_void,
    pub length: usize,
    pub memory_type: c_uint,
}

pub const OP_ATTR_FIELD_CALLBACK: u32 = 1 << 1;
pub const OP_ATTR_FIELD_USER_DATA: u32 = 1 << 2;
pub const OP_ATTR_FIELD_FLAGS: u32 = 1 << 4;
pub const OP_ATTR_FIELD_MEMH: u32 = 1 << 8;
/// Gives a request even where the operation is done at once, so that it can be asked how it went.
pub const OP_ATTR_FLAG_NO_IMM_CMPL: u32 = 1 << 16;
pub const EP_CLOSE_FLAG_FORCE: u32 = 1;

/// `ucp_send_nbx_callback_t`.
pub type SendCallback = unsafe extern "C" fn(request: *mut c_void, status: Status, user_data: *mut c_void);

/// `ucp_request_param_t`.
#[repr(C)]
pub struct RequestParam {
    pub op_attr_mask: u32,
    pub flags: u32,
    pub request: *mut c_void,
    pub callback: Option<SendCallback>,
    pub datatype: u64,
    pub user_data: *mut c_void,
    pub reply_buffer: *mut c_void,
    pub memory_type: c_uint,
    pub recv_info: *mut c_void,
    pub memh: *mut ucp_mem,
}

impl RequestParam {
    /// A parameter with nothing set.
    pub const fn empty() -> Self {
        Self {
            op_attr_mask: 0,
            flags: 0,
            request: std::ptr::null_mut(),
            callback: None,
            datatype: 0,
            user_data: std::ptr::null_mut(),
            reply_buffer: std::ptr::null_mut(),
            memory_type: MEMORY_TYPE_HOST,
            recv_info: std::ptr::null_mut(),
            memh: std::ptr::null_mut(),
        }
    }
}

pub const REQUEST_ATTR_FIELD_INFO_STRING: u64 = 1;
pub const REQUEST_ATTR_FIELD_INFO_STRING_SIZE: u64 = 1 << 1;

/// `ucp_request_attr_t`.
#[repr(C)]
pub struct RequestAttr {
    pub field_mask: u64,
    pub debug_string: *mut c_char,
    pub debug_string_size: usize,
    pub status: Status,
    pub memory_type: c_uint,
}

#[cfg(test)]
mod layout;
