//! UCX's status codes as errors of the transfer crate.

use os2g_transfer::{Error, Kind, Result};

use crate::library::{Ucp, text};
use crate::sys::{OK, Status};

/// The name in the C header.
pub fn name(status: Status) -> String {
    let known = match status {
        1 => "UCS_INPROGRESS",
        0 => "UCS_OK",
        -1 => "UCS_ERR_NO_MESSAGE",
        -2 => "UCS_ERR_NO_RESOURCE",
        -3 => "UCS_ERR_IO_ERROR",
        -4 => "UCS_ERR_NO_MEMORY",
        -5 => "UCS_ERR_INVALID_PARAM",
        -6 => "UCS_ERR_UNREACHABLE",
        -7 => "UCS_ERR_INVALID_ADDR",
        -8 => "UCS_ERR_NOT_IMPLEMENTED",
        -9 => "UCS_ERR_MESSAGE_TRUNCATED",
        -10 => "UCS_ERR_NO_PROGRESS",
        -11 => "UCS_ERR_BUFFER_TOO_SMALL",
        -12 => "UCS_ERR_NO_ELEM",
        -13 => "UCS_ERR_SOME_CONNECTS_FAILED",
        -14 => "UCS_ERR_NO_DEVICE",
        -15 => "UCS_ERR_BUSY",
        -16 => "UCS_ERR_CANCELED",
        -17 => "UCS_ERR_SHMEM_SEGMENT",
        -18 => "UCS_ERR_ALREADY_EXISTS",
        -19 => "UCS_ERR_OUT_OF_RANGE",
        -20 => "UCS_ERR_TIMED_OUT",
        -21 => "UCS_ERR_EXCEEDS_LIMIT",
        -22 => "UCS_ERR_UNSUPPORTED",
        -23 => "UCS_ERR_REJECTED",
        -24 => "UCS_ERR_NOT_CONNECTED",
        -25 => "UCS_ERR_CONNECTION_RESET",
        -80 => "UCS_ERR_ENDPOINT_TIMEOUT",
        _ => return format!("status {status}"),
    };
    known.to_owned()
}

/// `Ok` for [`OK`], else the error of `call`. UCX's own last messages become part of the text.
pub fn check(ucp: &Ucp, status: Status, call: &'static str, doing: &str) -> Result<()> {
    if status == OK {
        Ok(())
    } else {
        Err(error(ucp, status, call, doing))
    }
}

/// The error that `call` answered while `doing`.
pub fn error(ucp: &Ucp, status: Status, call: &'static str, doing: &str) -> Error {
    // SAFETY: returns a constant string, or one of the calling thread's own.
    let meaning = unsafe { text((ucp.call.ucs_status_string)(status)) };
    let said = crate::log::take();
    let said = if said.is_empty() {
        String::new()
    } else {
        format!(" UCX says: {}.", said.join("; "))
    };
    Error::new(
        Kind::Driver {
            code: i32::from(status),
            name: name(status),
            call,
        },
        format!("{doing} failed: {call}: {meaning}.{said}"),
        mend(status),
    )
}

fn mend(status: Status) -> &'static str {
    match status {
        -6 => "See which transports both ends have in common (ucx_info -d), and what UCX_TLS allows.",
        -4 | -2 | -21 => "Free memory, or raise the limit on locked memory (ulimit -l).",
        -5 | -12 => "Check the UCX settings that were given, by name and value.",
        -3 | -24 | -25 | -80 => "Look at the other process's log for why it ended, and at the network.",
        _ => "Run again with UCX_LOG_LEVEL=info to see UCX's own account.",
    }
}
