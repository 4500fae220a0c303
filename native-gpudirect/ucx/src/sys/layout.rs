//! The layout of the structures, against the C header's.

use super::*;
use std::mem::{offset_of, size_of};

/// The layout that a C compiler gives the structures of the 1.13.1 header on 64-bit Linux.
#[test]
#[cfg(target_pointer_width = "64")]
fn layout_is_that_of_the_c_header() {
    let table = [
        ("ucp_params_t", size_of::<Params>(), 80),
        (
            "ucp_params_t.mt_workers_shared",
            offset_of!(Params, mt_workers_shared),
            48,
        ),
        (
            "ucp_params_t.estimated_num_eps",
            offset_of!(Params, estimated_num_eps),
            56,
        ),
        ("ucp_params_t.name", offset_of!(Params, name), 72),
        ("ucp_worker_params_t", size_of::<WorkerParams>(), 200),
        (
            "ucp_worker_params_t.thread_mode",
            offset_of!(WorkerParams, thread_mode),
            8,
        ),
        (
            "ucp_worker_params_t.cpu_mask",
            offset_of!(WorkerParams, cpu_mask),
            16,
        ),
        (
            "ucp_worker_params_t.events",
            offset_of!(WorkerParams, events),
            144,
        ),
        (
            "ucp_worker_params_t.event_fd",
            offset_of!(WorkerParams, event_fd),
            160,
        ),
        (
            "ucp_worker_params_t.client_id",
            offset_of!(WorkerParams, client_id),
            192,
        ),
        ("ucp_worker_attr_t", size_of::<WorkerAttr>(), 80),
        ("ucp_worker_attr_t.address", offset_of!(WorkerAttr, address), 16),
        (
            "ucp_worker_attr_t.address_length",
            offset_of!(WorkerAttr, address_length),
            24,
        ),
        (
            "ucp_worker_attr_t.max_debug_string",
            offset_of!(WorkerAttr, max_debug_string),
            72,
        ),
        ("ucp_ep_params_t", size_of::<EpParams>(), 104),
        ("ucp_ep_params_t.err_mode", offset_of!(EpParams, err_mode), 16),
        (
            "ucp_ep_params_t.err_handler",
            offset_of!(EpParams, err_callback),
            24,
        ),
        ("ucp_ep_params_t.user_data", offset_of!(EpParams, user_data), 40),
        ("ucp_ep_params_t.flags", offset_of!(EpParams, flags), 48),
        ("ucp_ep_params_t.sockaddr", offset_of!(EpParams, sockaddr), 56),
        (
            "ucp_ep_params_t.local_sockaddr",
            offset_of!(EpParams, local_sockaddr),
            88,
        ),
        ("ucp_mem_map_params_t", size_of::<MemMapParams>(), 40),
        ("ucp_mem_map_params_t.flags", offset_of!(MemMapParams, flags), 24),
        (
            "ucp_mem_map_params_t.memory_type",
            offset_of!(MemMapParams, memory_type),
            32,
        ),
        ("ucp_mem_attr_t", size_of::<MemAttr>(), 32),
        ("ucp_mem_attr_t.mem_type", offset_of!(MemAttr, memory_type), 24),
        ("ucp_request_param_t", size_of::<RequestParam>(), 72),
        ("ucp_request_param_t.cb", offset_of!(RequestParam, callback), 16),
        (
            "ucp_request_param_t.user_data",
            offset_of!(RequestParam, user_data),
            32,
        ),
        (
            "ucp_request_param_t.memory_type",
            offset_of!(RequestParam, memory_type),
            48,
        ),
        ("ucp_request_param_t.memh", offset_of!(RequestParam, memh), 64),
        ("ucp_request_attr_t", size_of::<RequestAttr>(), 32),
        (
            "ucp_request_attr_t.debug_string_size",
            offset_of!(RequestAttr, debug_string_size),
            16,
        ),
        ("ucp_request_attr_t.status", offset_of!(RequestAttr, status), 24),
        (
            "ucp_request_attr_t.mem_type",
            offset_of!(RequestAttr, memory_type),
            28,
        ),
        (
            "ucp_ep_attr_t.transports (1.14)",
            offset_of!(EpAttr, transports),
            296,
        ),
        (
            "ucp_ep_attr_t.user_data (1.15)",
            offset_of!(EpAttr, user_data),
            320,
        ),
        ("ucs_status_t", size_of::<Status>(), 1),
    ];
    for (what, ours, header) in table {
        assert_eq!(ours, header, "{what}");
    }
}
