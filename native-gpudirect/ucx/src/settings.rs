//! What a user of this crate can set.

use std::time::Duration;

use crate::library::Places;

/// Bounds of waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For the check that puts arrive while the target sleeps, and for each answer of the target during it.
    pub check: Duration,
    /// The longest time without any progress of the puts under way; then the connection ends with `TimedOut`.
    pub stall: Duration,
    /// For puts under way when the back end is closed, and for a peer that does not read what it is told.
    pub close: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            check: Duration::from_secs(3),
            stall: Duration::from_secs(30),
            close: Duration::from_secs(1),
        }
    }
}

/// Settings of both ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where libucp is.
    pub places: Places,
    /// UCX's `TLS` (transports that it may use), such as `rc,cuda` or `posix,self`. `None` leaves it to UCX, which
    /// also reads `UCX_TLS`.
    pub transports: Option<String>,
    /// Further UCX settings by name, without `UCX_`. They go to `ucp_config_modify`; no environment is changed.
    pub options: Vec<(String, String)>,
    /// Bounds of waits.
    pub limits: Limits,
    /// The target is told of puts that are done at once, but at most this often, so that it sleeps on.
    pub announce_every: Duration,
    /// Puts that may be under way at once; one more is answered by `Full`.
    pub puts_in_flight: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            places: Places::default(),
            transports: None,
            options: Vec::new(),
            limits: Limits::default(),
            announce_every: Duration::from_millis(4),
            puts_in_flight: 4096,
        }
    }
}
