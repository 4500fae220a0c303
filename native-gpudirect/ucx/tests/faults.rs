//! Paths that need the target are refused, and the end of either process is an error at the other, not a hang.

// The exception for tests in clippy.toml knows test functions only; all of this program is a test.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use common::{Helper, drain, put, put_when_free, segment, settings, take, ucx_here};
use os2g_transfer::{Backend, Kind, Memory};
use os2g_ucx::{LandingMemory, Limits, Progress, Settings, Target, Ucx};

const MEMORY_BYTES: usize = 16 << 20;

#[test]
fn what_needs_the_target_is_refused_with_the_reason() {
    if !ucx_here() {
        return;
    }
    let table = [
        ("allocate", "tcp", "never", "tcp/"),
        ("segment", "tcp", "never", "tcp/"),
        // The target's thread would help, but it must not be needed.
        ("allocate", "tcp", "thread", "tcp/"),
        // Shared memory reaches only what UCX allocated.
        (
            "segment",
            "posix,self",
            "never",
            "software emulation posix/memory",
        ),
    ];
    for (memory, transports, progress, reason) in table {
        let row = format!("{memory} {transports} {progress}");
        let mut helper = Helper::start(&format!("target {memory} {MEMORY_BYTES} {transports} {progress}"));
        let mut ucx = Ucx::open(settings(Some(transports))).unwrap();
        let error = ucx.connect(helper.control.take().unwrap()).unwrap_err();
        assert_eq!(error.kind, Kind::Unsupported, "{row}: {error}");
        assert!(error.what.contains(reason), "{row}: {error}");
        assert!(!ucx.capabilities().target_passive, "{row}");
        let mut told = String::new();
        helper.side.read_to_string(&mut told).unwrap();
        assert!(
            told.starts_with("Unsupported") && told.contains(reason),
            "{row}: the target is told: {told}"
        );
    }
}

/// No path at all: a transport that the other end does not have.
#[test]
fn no_common_transport_is_an_error() {
    if !ucx_here() {
        return;
    }
    let mut helper = Helper::start(&format!("target allocate {MEMORY_BYTES} tcp never"));
    let mut ucx = Ucx::open(settings(Some("posix,self"))).unwrap();
    let error = ucx.connect(helper.control.take().unwrap()).unwrap_err();
    assert!(
        matches!(&error.kind, Kind::Driver { name, .. } if name == "UCS_ERR_UNREACHABLE"),
        "{error:?}"
    );
    assert!(error.what.contains("UCX says"), "{error}");
}

/// A path that needs the target and that UCX does not own up to is found by the bound of the check. Here the target
/// is stopped before it can answer at all.
#[test]
fn a_target_that_does_not_answer_is_given_up() {
    if !ucx_here() {
        return;
    }
    let limits = Limits {
        check: Duration::from_millis(200),
        ..Limits::default()
    };
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let mut ucx = Ucx::open(Settings {
        limits,
        ..settings(None)
    })
    .unwrap();
    let error = ucx.connect(ours).unwrap_err();
    assert_eq!(error.kind, Kind::TimedOut, "{error}");
}

/// UCX's shared memory by name, in /dev/shm.
fn segments() -> BTreeSet<String> {
    let names = std::fs::read_dir("/dev/shm")
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| name.contains("ucx"))
        .collect()
}

fn nothing_left(before: &BTreeSet<String>) {
    let deadline = Instant::now() + Duration::from_secs(10);
    // Another test's process may be between making a segment and unlinking it.
    while !segments().is_subset(before) {
        assert!(
            Instant::now() < deadline,
            "left in /dev/shm: {:?}",
            segments().difference(before)
        );
    }
}

#[test]
fn the_end_of_the_target_fails_its_puts() {
    if !ucx_here() {
        return;
    }
    for (memory, transports) in [
        ("allocate", "posix,self"),
        ("segment", "cma,posix,self"),
        ("allocate", "-"),
    ] {
        let before = segments();
        let given = Some(transports).filter(|word| *word != "-");
        let task = format!("target {memory} {MEMORY_BYTES} {transports} never");
        let (mut helper, mut ucx, landings) = Helper::connect(&task, settings(given));
        // A second target on the same back end goes on.
        let (other, others) = second(&mut ucx, &task);
        let to = landings[0].handle;
        let from = ucx.register(Memory::Segment(segment(MEMORY_BYTES))).unwrap();
        let (mut done, mut posted) = (Vec::new(), 0u64);
        let refused = loop {
            match put_when_free(&mut ucx, &put(to, 0, from, 0, 1 << 20, posted), &mut done) {
                Ok(()) => posted += 1,
                Err(error) => break error,
            }
            if posted == 100 {
                helper.kill();
            }
        };
        assert_eq!(refused.kind, Kind::PeerGone, "{memory} {transports}: {refused}");
        done.extend(drain(&mut ucx));
        assert_eq!(done.len() as u64, posted, "each put completes exactly once");
        // How many had arrived already is a matter of timing.
        for error in done.iter().filter_map(|ended| ended.result.as_ref().err()) {
            assert_eq!(error.kind, Kind::PeerGone, "{memory} {transports}: {error}");
        }

        ucx.put(&put(others, 5, from, 0, 1000, u64::MAX)).unwrap();
        assert_eq!(drain(&mut ucx)[0].result, Ok(()), "the other target is unharmed");
        ucx.unregister(to).unwrap();
        ucx.unregister(from).unwrap();
        ucx.close().unwrap();
        assert_eq!(other.finish().0, [u64::MAX]);
        nothing_left(&before);
    }
}

fn second(ucx: &mut Ucx, task: &str) -> (Helper, os2g_transfer::Handle) {
    let mut helper = Helper::start(task);
    let landings = ucx.connect(helper.control.take().unwrap()).unwrap();
    (helper, landings[0].handle)
}

/// While nothing is under way, too: the thread sleeps, and the end of the control socket wakes it.
#[test]
fn the_end_of_an_idle_target_is_noticed() {
    if !ucx_here() {
        return;
    }
    let task = format!("target segment {MEMORY_BYTES} cma,posix,self never");
    let (mut helper, mut ucx, landings) = Helper::connect(&task, settings(Some("cma,posix,self")));
    let from = ucx.register(Memory::Segment(segment(4096))).unwrap();
    helper.kill();
    let deadline = Instant::now() + Duration::from_secs(20);
    let error = loop {
        assert!(Instant::now() < deadline, "not noticed");
        if let Err(error) = ucx.put(&put(landings[0].handle, 0, from, 0, 4096, 1)) {
            break error;
        }
        take(&mut ucx);
    };
    assert_eq!(error.kind, Kind::PeerGone);
}

#[test]
fn the_end_of_the_initiator_is_noticed_by_the_target() {
    if !ucx_here() {
        return;
    }
    for transports in ["posix,self", "cma,posix,self"] {
        let before = segments();
        let target = Target::new(
            &settings(Some(transports)),
            vec![LandingMemory::Allocate(MEMORY_BYTES)],
            Progress::Never,
        );
        let target = target.unwrap();
        let mut helper = Helper::start(&format!("initiator - 1048576 {transports} never"));
        let mut link = target.accept(helper.control.take().unwrap()).unwrap();
        // In mid-transfer: it has begun and never ends by itself.
        link.wait().unwrap();
        helper.kill();
        let error = loop {
            if let Err(error) = link.wait() {
                break error;
            }
        };
        assert_eq!(error.kind, Kind::PeerGone, "{error}");
        drop(target);
        nothing_left(&before);
    }
}

/// A target that does not read what it is told does not hold the puts up for ever.
#[test]
fn a_target_that_does_not_read_is_given_up() {
    if !ucx_here() {
        return;
    }
    let task = "target allocate 4096 posix,self never";
    let (helper, mut ucx, landings) = Helper::connect(task, settings(Some("posix,self")));
    helper.signal(libc::SIGSTOP);
    let from = ucx.register(Memory::Segment(segment(4096))).unwrap();
    let mut done = Vec::new();
    let error = loop {
        match put_when_free(&mut ucx, &put(landings[0].handle, 0, from, 0, 8, 7), &mut done) {
            Ok(()) => done.clear(),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind, Kind::TimedOut, "{error}");
}
