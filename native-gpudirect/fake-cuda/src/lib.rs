//! A stand-in for the CUDA driver, for tests. It is loaded by explicit path only.
//!
//! Device memory lies in memfds, so file descriptors and IPC handles resolve in other processes and bytes can be
//! compared; its addresses are none that a CPU could follow. Streams are threads that work through their queue with
//! a delay, so that whoever forgets to wait reads old bytes. Like the real driver it can be used from any thread,
//! wants a current context, and answers with `CUresult` numbers.
//!
//! Settings, by environment at `cuInit` or by [`control::os2g_fake_cuda_set`]:
//! `OS2G_FAKE_CUDA_VISIBLE` (numbers of the GPUs seen, `0,1`), `OS2G_FAKE_CUDA_MEMORY` (bytes of each GPU),
//! `OS2G_FAKE_CUDA_DELAY_US` (of each queued copy), `OS2G_FAKE_CUDA_FD` (0: no sharing by file descriptor),
//! `OS2G_FAKE_CUDA_FAIL` (`NAME:NTH:CODE`, comma-separated), `OS2G_FAKE_CUDA_LOG` (a file to append calls to).

#![allow(non_snake_case, reason = "the driver's own names")]
#![allow(
    clippy::missing_safety_doc,
    reason = "as the driver API's reference says of each function"
)]

mod call;
mod context;
pub mod control;
mod copies;
mod devices;
mod event;
mod events;
mod ipc;
mod memfd;
mod plain;
mod state;
mod stream;
mod streams;
mod virtual_memory;

/// Numbers of `CUresult`.
#[allow(missing_docs, reason = "the driver's own names")]
pub mod code {
    pub const INVALID_VALUE: i32 = 1;
    pub const OUT_OF_MEMORY: i32 = 2;
    pub const NOT_INITIALIZED: i32 = 3;
    pub const NO_DEVICE: i32 = 100;
    pub const INVALID_DEVICE: i32 = 101;
    pub const INVALID_CONTEXT: i32 = 201;
    pub const OPERATING_SYSTEM: i32 = 304;
    pub const INVALID_HANDLE: i32 = 400;
    pub const NOT_READY: i32 = 600;
    pub const ILLEGAL_ADDRESS: i32 = 700;
    pub const HOST_MEMORY_ALREADY_REGISTERED: i32 = 712;
    pub const HOST_MEMORY_NOT_REGISTERED: i32 = 713;
    pub const NOT_SUPPORTED: i32 = 801;
}
