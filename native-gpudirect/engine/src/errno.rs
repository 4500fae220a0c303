use std::io;

/// The names that people search for. Others are told by the system's own text.
const NAMES: [(i32, &str); 13] = [
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::ECONNRESET, "ECONNRESET"),
    (libc::ECONNABORTED, "ECONNABORTED"),
    (libc::EPIPE, "EPIPE"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::EHOSTUNREACH, "EHOSTUNREACH"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
    (libc::EACCES, "EACCES"),
    (libc::EPERM, "EPERM"),
    (libc::EMFILE, "EMFILE"),
    (libc::ENFILE, "ENFILE"),
];

/// An I/O error in a few words: `ECONNRESET` where the system's number has a name that is known, else its text.
pub(crate) fn errno_text(error: &io::Error) -> String {
    let known = NAMES
        .iter()
        .find(|(number, _)| error.raw_os_error() == Some(*number));
    known.map_or_else(|| error.to_string(), |(_, name)| (*name).to_owned())
}
