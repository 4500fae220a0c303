//! What every back end owes its caller, over UCX: bounds, handles, limits, completions at the end.

// The exception for tests in clippy.toml knows test functions only; all of this program is a test.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::os::unix::net::UnixStream;

use common::{Helper, drain, put, segment, settings, ucx_here};
use os2g_transfer::{Backend, Description, Handle, Kind, Memory, Purpose, PutDone};
use os2g_ucx::{LandingMemory, Places, Progress, Settings, Target, Ucx};

const MEMORY_BYTES: u64 = 1 << 20;

fn connect(settings: Settings) -> (Helper, Ucx, Handle, Handle) {
    let task = format!("target allocate {MEMORY_BYTES} posix,self never");
    let (helper, mut ucx, landings) = Helper::connect(&task, settings);
    let from = ucx
        .register(Memory::Segment(segment(MEMORY_BYTES as usize)))
        .unwrap();
    (helper, ucx, landings[0].handle, from)
}

#[test]
fn what_may_not_be_is_refused_before_it_starts() {
    if !ucx_here() {
        return;
    }
    let (_helper, mut ucx, to, from) = connect(settings(Some("posix,self")));
    let unknown = Handle(999);
    let table = [
        (
            "past the end of the landing memory",
            put(to, MEMORY_BYTES - 1, from, 0, 2, 0),
            Kind::OutOfBounds,
        ),
        (
            "past the end of the staging memory",
            put(to, 0, from, MEMORY_BYTES, 1, 0),
            Kind::OutOfBounds,
        ),
        (
            "an offset that overflows",
            put(to, u64::MAX, from, 0, 2, 0),
            Kind::OutOfBounds,
        ),
        (
            "a length that overflows",
            put(to, 1, from, 1, u64::MAX, 0),
            Kind::OutOfBounds,
        ),
        (
            "unknown landing memory",
            put(unknown, 0, from, 0, 1, 0),
            Kind::UnknownHandle,
        ),
        (
            "unknown staging memory",
            put(to, 0, unknown, 0, 1, 0),
            Kind::UnknownHandle,
        ),
        (
            "into staging memory",
            put(from, 0, from, 0, 1, 0),
            Kind::Unsupported,
        ),
        (
            "out of landing memory",
            put(to, 0, to, 0, 1, 0),
            Kind::Unsupported,
        ),
    ];
    for (what, put, kind) in table {
        assert_eq!(ucx.put(&put).unwrap_err().kind, kind, "{what}");
    }
    assert_eq!(ucx.waiting(), 0);
    assert_eq!(ucx.unregister(unknown).unwrap_err().kind, Kind::UnknownHandle);
    assert_eq!(ucx.lose(from).unwrap_err().kind, Kind::UnknownHandle);
    assert!(ucx.report(to).is_some() && ucx.report(from).is_none());

    ucx.put(&put(to, 5, from, 5, 0, 42)).unwrap();
    ucx.put(&put(to, MEMORY_BYTES - 1, from, MEMORY_BYTES - 1, 1, 43))
        .unwrap();
    let done = drain(&mut ucx);
    assert_eq!(
        done.iter().map(|ended| ended.tag).collect::<Vec<_>>(),
        [42, 43],
        "an empty put completes too"
    );
    assert_eq!(ucx.poll(&mut [PutDone::default()]), 0);
}

#[test]
fn descriptions_that_are_not_true_are_refused() {
    if !ucx_here() {
        return;
    }
    let target = Target::new(
        &settings(Some("posix,self")),
        vec![LandingMemory::Allocate(4096)],
        Progress::Never,
    );
    let target = target.unwrap();
    assert!(target.describe(1).is_none() && target.memory(1).is_none());
    let mut ucx = Ucx::open(settings(Some("posix,self"))).unwrap();
    type Lie = fn(&mut Description);
    let lies: [(Lie, Kind); 4] = [
        (|description| description.length += 1, Kind::Refused),
        (|description| description.bytes.truncate(20), Kind::Refused),
        (|description| description.bytes.push(0), Kind::Refused),
        (
            |description| description.purpose = Purpose::CudaIpc,
            Kind::Unsupported,
        ),
    ];
    for (row, (lie, kind)) in lies.into_iter().enumerate() {
        let mut description = target.describe(0).unwrap();
        lie(&mut description);
        assert_eq!(
            ucx.register(Memory::Remote(description)).unwrap_err().kind,
            kind,
            "row {row}"
        );
    }
    let handle = ucx.register(Memory::Remote(target.describe(0).unwrap())).unwrap();
    ucx.lose(handle).unwrap();
    let from = ucx.register(Memory::Segment(segment(4096))).unwrap();
    let error = loop {
        match ucx.put(&put(handle, 0, from, 0, 8, 1)) {
            Ok(()) => drop(drain(&mut ucx)),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind, Kind::PeerGone);
}

/// A stopped initiator thread cannot be had from outside, so the limit is reached by many large puts at once.
#[test]
fn limits_use_and_the_end() {
    if !ucx_here() {
        return;
    }
    let (helper, mut ucx, to, from) = connect(Settings {
        puts_in_flight: 64,
        ..settings(Some("posix,self"))
    });
    for tag in 0..64 {
        ucx.put(&put(to, 0, from, 0, MEMORY_BYTES, tag)).unwrap();
    }
    // None was taken, so all still count.
    assert_eq!(ucx.put(&put(to, 0, from, 0, 1, 64)).unwrap_err().kind, Kind::Full);
    assert_eq!(ucx.waiting(), 64);
    // Both answers are right: the puts may be done already, but then nothing uses the memory.
    if let Err(error) = ucx.unregister(from) {
        assert_eq!(error.kind, Kind::InUse);
    }
    ucx.close().unwrap();
    ucx.close().unwrap();
    assert_eq!(
        ucx.put(&put(to, 0, from, 0, 1, 0)).unwrap_err().kind,
        Kind::Closed
    );
    assert_eq!(
        ucx.register(Memory::Segment(segment(1))).unwrap_err().kind,
        Kind::Closed
    );
    let done = drain(&mut ucx);
    assert_eq!(done.len(), 64);
    for ended in &done {
        assert!(
            matches!(&ended.result, Ok(())),
            "an orderly end lets puts complete within the limit: {ended:?}"
        );
    }
    assert_eq!(helper.finish().0.len(), 64);
}

#[test]
fn settings_are_checked() {
    let nowhere = Settings {
        places: Places {
            library: Some("/nonexistent/libucp.so.0".into()),
            wheel: None,
        },
        ..Settings::default()
    };
    let error = Ucx::open(nowhere.clone()).err().unwrap();
    assert_eq!(error.kind, Kind::MissingLibrary);
    let error = Target::new(&nowhere, vec![LandingMemory::Allocate(1)], Progress::Never).unwrap_err();
    assert_eq!(error.kind, Kind::MissingLibrary);
    assert_eq!(
        Target::new(&nowhere, vec![], Progress::Never).unwrap_err().kind,
        Kind::Invalid
    );
    if !ucx_here() {
        return;
    }
    let bad = |name: &str, value: &str| {
        let settings = Settings {
            options: vec![(name.into(), value.into())],
            ..Settings::default()
        };
        Target::new(&settings, vec![LandingMemory::Allocate(1)], Progress::Never).unwrap_err()
    };
    let error = bad("KEEPALIVE_INTERVAL", "soon");
    assert!(
        error.kind == Kind::Invalid && error.what.contains("KEEPALIVE_INTERVAL=soon"),
        "{error:?}"
    );
    assert_eq!(bad("TLS", "a\0b").kind, Kind::Invalid);
    let error = bad("TLS", "no_such_transport");
    assert!(matches!(error.kind, Kind::Driver { .. }), "{error:?}");
}

/// Garbage instead of an offer.
#[test]
fn a_stranger_at_the_control_socket_is_refused() {
    use std::io::Write;
    if !ucx_here() {
        return;
    }
    let target = Target::new(
        &settings(Some("posix,self")),
        vec![LandingMemory::Allocate(4096)],
        Progress::Never,
    );
    let target = target.unwrap();
    for garbage in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[b'U', b'2', 1, 1, 0xff, 0xff, 0xff, 0xff],
        &[b'U', b'2', 1, 3, 0, 0, 0, 0],
    ] {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(garbage).unwrap();
        let mut ucx = Ucx::open(settings(Some("posix,self"))).unwrap();
        assert_eq!(ucx.connect(ours).unwrap_err().kind, Kind::Refused);

        let (ours, mut theirs) = UnixStream::pair().unwrap();
        theirs.write_all(garbage).unwrap();
        assert_eq!(
            target.accept(ours).unwrap().wait().unwrap_err().kind,
            Kind::Refused
        );
    }
}
