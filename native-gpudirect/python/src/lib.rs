//! `os2g_native`: landing memory in a Python trainer's process.
//!
//! A segment comes over a Unix socket as a file descriptor. It is checked here (sealed, as large as it says) and then
//! mapped by Python's own `mmap`, whose buffers keep the mapping alive: no `memoryview`, NumPy array or tensor
//! over it can outlive its memory. The stable ABI of Python 3.9 has no other safe way to export a buffer.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use os2g_transfer::{Control, Description, Error, SegmentOptions};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOverflowError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    os2g_native,
    TransferError,
    PyException,
    "A transfer failed. `args` is (kind, what happened, what to do)."
);

fn raise(error: Error) -> PyErr {
    TransferError::new_err((format!("{:?}", error.kind), error.what, error.mend))
}

/// The control socket behind a descriptor of the caller's, which stays the caller's.
fn control(fd: i32, timeout_s: Option<f64>) -> PyResult<Control> {
    if fd < 0 {
        return Err(PyValueError::new_err("the socket is closed"));
    }
    // SAFETY: borrowed for the duplication only; a descriptor that is not open makes it fail.
    let owned = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()?;
    let stream = UnixStream::from(owned);
    let limit = match timeout_s {
        None => None,
        Some(seconds) => match Duration::try_from_secs_f64(seconds) {
            Ok(limit) if !limit.is_zero() => Some(limit),
            _ => {
                return Err(PyValueError::new_err(
                    "timeout_s must be a number of seconds above 0",
                ));
            }
        },
    };
    stream.set_read_timeout(limit)?;
    Ok(Control::new(stream))
}

/// Memory shared with another process.
#[pyclass(frozen)]
struct Segment {
    inner: os2g_transfer::Segment,
}

#[pymethods]
impl Segment {
    /// Bytes.
    fn __len__(&self) -> usize {
        self.inner.len()
    }

    /// The memory as a writable `memoryview` of bytes; it may outlive this object.
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // `mmap` duplicates the descriptor.
        let mapping = py
            .import("mmap")?
            .getattr("mmap")?
            .call1((self.inner.fd().as_raw_fd(), self.inner.len()))?;
        let view = py.import("builtins")?.getattr("memoryview")?;
        view.call1((mapping,))
    }

    /// Sends the segment over a connected Unix socket, given by its descriptor.
    fn send(&self, py: Python<'_>, socket_fd: i32) -> PyResult<()> {
        let mut control = control(socket_fd, None)?;
        let description = Description::of_segment(&self.inner).map_err(raise)?;
        py.detach(|| control.send(&description)).map_err(raise)
    }
}

/// Makes a segment of zeroed bytes, sealed to its length.
#[pyfunction]
#[pyo3(signature = (length, populate = false))]
fn create(py: Python<'_>, length: u64, populate: bool) -> PyResult<Segment> {
    let length =
        usize::try_from(length).map_err(|_| PyOverflowError::new_err("length does not fit in memory"))?;
    let options = SegmentOptions {
        populate,
        ..SegmentOptions::default()
    };
    let inner = py
        .detach(|| os2g_transfer::Segment::create(length, options))
        .map_err(raise)?;
    Ok(Segment { inner })
}

/// Waits for a segment on a connected, blocking Unix socket, given by its descriptor, and attaches it.
#[pyfunction]
#[pyo3(signature = (socket_fd, timeout_s = None))]
fn attach(py: Python<'_>, socket_fd: i32, timeout_s: Option<f64>) -> PyResult<Segment> {
    let mut control = control(socket_fd, timeout_s)?;
    let inner = py
        .detach(|| control.receive().and_then(Description::into_segment))
        .map_err(raise)?;
    Ok(Segment { inner })
}

/// Landing memory in a trainer's process.
#[pymodule]
fn os2g_native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("TransferError", module.py().get_type::<TransferError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<Segment>()?;
    module.add_function(wrap_pyfunction!(create, module)?)?;
    module.add_function(wrap_pyfunction!(attach, module)?)
}
