//! How bytes travel on a connection, as UCX itself says.

use os2g_transfer::{Error, Kind};

use crate::sys::{ERR_HANDLING_MODE_NONE, ERR_HANDLING_MODE_PEER};

/// What UCX calls a put that the target's process must help with.
const EMULATION: &str = "software emulation";
/// Transports whose puts, emulated or not, are received by the target's process.
const RECEIVED: [&str; 2] = ["tcp", "ud_"];
/// Transports by which a device writes the target's memory: RDMA over InfiniBand and RoCE, and CUDA's own between
/// devices. (`ud` has no one-sided put; shared memory, `cma` and `tcp` copy with a CPU of the host.)
const DIRECT: [&str; 5] = ["rc_", "dc_", "gga_", "srd", "cuda_ipc"];

/// How an endpoint treats a peer that fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorHandling {
    /// UCX finds the failure and says so. Not to be had with all transports: shared memory has it not.
    Peer,
    /// UCX reports what a transfer meets; the control socket's end tells the rest.
    None,
}

impl ErrorHandling {
    /// `ucp_err_handling_mode_t`.
    pub fn number(self) -> u32 {
        match self {
            Self::Peer => ERR_HANDLING_MODE_PEER,
            Self::None => ERR_HANDLING_MODE_NONE,
        }
    }
}

/// A protocol that UCX chose for puts of a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Protocol {
    /// Index of the region.
    pub region: usize,
    /// Bytes of the put that was asked.
    pub bytes: u64,
    /// UCX's words: `zero-copy cma/memory`, `short posix/memory`, `software emulation tcp/lo`.
    pub text: String,
}

impl Protocol {
    /// Takes the protocol out of what `ucp_request_query` tells of a put:
    /// `{flags} put from host memory length 110000 zero-copy cma/memory 10487.6 MB/s 10.00 us`.
    pub fn read(region: usize, bytes: u64, said: &str) -> Self {
        let length = format!(" length {bytes} ");
        let after = said.split_once(&length).map_or(said, |(_, after)| after);
        // The estimate at the end (`NUMBER MB/s NUMBER us`) is UCX's model, not a measurement.
        let text = match after.split_once(" MB/s") {
            Some((head, _)) => head.rsplit_once(' ').map_or(head, |(head, _)| head),
            None => after,
        };
        Self {
            region,
            bytes,
            text: text.trim().to_owned(),
        }
    }

    /// The transports in the text, and their devices.
    fn transports(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text
            .split_whitespace()
            .filter_map(|word| word.split_once('/'))
    }

    /// Whether the target's process must run for such a put.
    pub fn needs_target(&self) -> bool {
        let received = |(name, _): (&str, &str)| RECEIVED.iter().any(|known| name.starts_with(known));
        self.text.contains(EMULATION) || self.transports().any(received)
    }

    /// Whether a device, and no CPU of the target's host, writes the memory.
    pub fn is_direct(&self) -> bool {
        let mut transports = self
            .text
            .split_whitespace()
            .filter_map(|word| word.split_once('/'))
            .peekable();
        transports.peek().is_some()
            && transports.all(|(name, _)| DIRECT.iter().any(|known| name.starts_with(known)))
    }
}

/// What is known of a connection that passed its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The library's version.
    pub version: String,
    /// How a failing peer is found.
    pub error_handling: ErrorHandling,
    /// Transports of the endpoint, as `transport/device`.
    pub transports: Vec<String>,
    /// Protocols of the sizes that the check tried.
    pub protocols: Vec<Protocol>,
    /// No CPU of the target's host touches the bytes, at any of those sizes.
    pub direct: bool,
    /// Whether the target found the check's bytes in its memory; `None` where it was not asked.
    pub seen_by_target: Option<bool>,
}

impl Report {
    /// In words, how the bytes travel.
    pub fn path(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        for protocol in &self.protocols {
            if !words.contains(&protocol.text) {
                words.push(protocol.text.clone());
            }
        }
        let copier = if self.direct {
            "a device writes the target's memory"
        } else {
            "a CPU of this process copies, the target's process sleeps"
        };
        format!("UCX {}: {}; {copier}", self.version, words.join(", "))
    }
}

/// This protocol cannot be used: the target would have to run for each put.
pub fn needs_target(protocol: &Protocol) -> Error {
    Error::new(
        Kind::Unsupported,
        format!(
            "UCX would put {} bytes by `{}`, for which the target's process must run; OS2G lets it sleep.",
            protocol.bytes, protocol.text
        ),
        "Across machines, use a network card with RDMA that both ends see. On one machine, let UCX allocate the \
         landing memory, or run both ends as one user in one PID namespace, or use --landing shm.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_read_from_what_ucx_says() {
        let flags = "{cpml|proto|init} put from host memory length";
        let table = [
            (
                "1 short posix/memory 10.6 MB/s 0.09 us",
                1,
                "short posix/memory",
                false,
                false,
            ),
            (
                "110000 zero-copy cma/memory 10487.6 MB/s 10.00 us",
                110_000,
                "zero-copy cma/memory",
                false,
                false,
            ),
            (
                "1 software emulation tcp/lo 0.0 MB/s 111.12 us",
                1,
                "software emulation tcp/lo",
                true,
                false,
            ),
            (
                "8 short rc_mlx5/mlx5_0:1/path0 1.0 MB/s 1.0 us",
                8,
                "short rc_mlx5/mlx5_0:1/path0",
                false,
                true,
            ),
            (
                "8 zero-copy cuda_ipc/cuda",
                8,
                "zero-copy cuda_ipc/cuda",
                false,
                true,
            ),
            (
                "8 zero-copy rc_mlx5/mlx5_0:1 and cma/memory",
                8,
                "zero-copy rc_mlx5/mlx5_0:1 and cma/memory",
                false,
                false,
            ),
            ("8 something new", 8, "something new", false, false),
        ];
        for (said, bytes, text, needs_target, direct) in table {
            let protocol = Protocol::read(0, bytes, &format!("{flags} {said}"));
            assert_eq!(
                (
                    protocol.text.as_str(),
                    protocol.needs_target(),
                    protocol.is_direct()
                ),
                (text, needs_target, direct)
            );
        }
        assert_eq!(Protocol::read(0, 8, "unlike anything").text, "unlike anything");
    }
}
