//! Segments and the `shm` back end, in one process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "how a test fails"
)]

mod common;

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use common::segments::{memfd, read, write};
use common::{pattern, take};
use os2g_transfer::{
    Backend, Description, Handle, Kind, Memory, Pages, Put, PutDone, Segment, SegmentOptions, Shm, Source,
};

const MIB: usize = 1 << 20;

#[test]
fn segments_have_a_fixed_size() {
    for pages in [Pages::Normal, Pages::Transparent, Pages::Huge] {
        for populate in [false, true] {
            for length in [1, 4095, 4096, 3 * MIB + 1] {
                let segment = Segment::create(length, SegmentOptions { pages, populate }).unwrap();
                assert_eq!(segment.len(), length);
                assert!(segment.mapped() >= length);
                match segment.pages() {
                    Pages::Huge => assert_eq!((pages, segment.mapped() % (2 * MIB)), (Pages::Huge, 0)),
                    Pages::Transparent => assert_ne!(pages, Pages::Normal),
                    Pages::Normal => assert_eq!(pages, Pages::Normal),
                }
                let fd = segment.fd().as_raw_fd();
                for size in [0, 8 * MIB as i64] {
                    // SAFETY: a valid descriptor and a number.
                    assert_eq!(unsafe { libc::ftruncate(fd, size) }, -1, "a segment was resized");
                }
                write(&segment, length - 1, &[9]);
                assert_eq!(read(&segment, length - 1, 1), [9]);
            }
        }
    }
    assert_eq!(
        Segment::create(0, SegmentOptions::default()).unwrap_err().kind,
        Kind::Invalid
    );
    assert_eq!(
        Segment::create(usize::MAX, SegmentOptions::default())
            .unwrap_err()
            .kind,
        Kind::Invalid
    );
}

#[test]
fn what_is_not_sealed_or_lies_about_its_size_is_refused() {
    let all = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    let temporary = std::env::temp_dir().join(format!("os2g-test-{}", std::process::id()));
    let file = |path: &std::path::Path| {
        OwnedFd::from(
            File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(path)
                .unwrap(),
        )
    };
    let table: Vec<(&str, OwnedFd, u64, bool)> = vec![
        ("sealed, as said", memfd(8192, all), 8192, true),
        ("sealed, larger than said", memfd(8192, all), 100, true),
        ("sealed, smaller than said", memfd(8192, all), 8193, false),
        ("sealed, far smaller than said", memfd(8192, all), u64::MAX, false),
        ("sealed, empty", memfd(0, all), 1, false),
        ("nothing said", memfd(8192, all), 0, false),
        ("no seals", memfd(8192, 0), 8192, false),
        (
            "may shrink",
            memfd(8192, libc::F_SEAL_GROW | libc::F_SEAL_SEAL),
            8192,
            false,
        ),
        (
            "may grow",
            memfd(8192, libc::F_SEAL_SHRINK | libc::F_SEAL_SEAL),
            8192,
            false,
        ),
        ("a file", file(&temporary), 8192, false),
        ("a device", file("/dev/zero".as_ref()), 8192, false),
        ("a socket", UnixStream::pair().unwrap().0.into(), 8192, false),
    ];
    std::fs::remove_file(&temporary).unwrap();
    for (what, fd, length, taken) in table {
        match Segment::attach(fd, length) {
            Ok(segment) => assert!(taken && segment.len() as u64 == length, "{what} was taken"),
            Err(error) => assert!(!taken && error.kind == Kind::Refused, "{what}: {error}"),
        }
    }
}

#[test]
fn puts_copy_within_bounds_only() {
    let mut shm = Shm::new();
    assert!(!shm.capabilities().direct && shm.capabilities().in_place && shm.wake().is_none());
    let landing = Arc::new(Segment::create(1000, SegmentOptions::default()).unwrap());
    let staging = Arc::new(Segment::create(500, SegmentOptions::default()).unwrap());
    let bytes = pattern(2, 500);
    write(&staging, 0, &bytes);
    let to = shm.register(Memory::Segment(landing.clone())).unwrap();
    let from = shm
        .register(Memory::Remote(Description::of_segment(&staging).unwrap()))
        .unwrap();
    let unknown = Handle(99);
    let max = u64::MAX;
    let table = [
        ("whole", to, 0, from, 0, 500, None),
        ("at the end", to, 999, from, 499, 1, None),
        ("nothing at the end", to, 1000, from, 500, 0, None),
        (
            "one past the target",
            to,
            501,
            from,
            0,
            500,
            Some(Kind::OutOfBounds),
        ),
        (
            "one past the source",
            to,
            0,
            from,
            1,
            500,
            Some(Kind::OutOfBounds),
        ),
        (
            "nothing past the target",
            to,
            1001,
            from,
            0,
            0,
            Some(Kind::OutOfBounds),
        ),
        (
            "a sum that overflows",
            to,
            max,
            from,
            0,
            2,
            Some(Kind::OutOfBounds),
        ),
        (
            "a source that overflows",
            to,
            0,
            from,
            max,
            2,
            Some(Kind::OutOfBounds),
        ),
        ("a huge length", to, 0, from, 0, max, Some(Kind::OutOfBounds)),
        (
            "unknown target",
            unknown,
            0,
            from,
            0,
            1,
            Some(Kind::UnknownHandle),
        ),
        ("unknown source", to, 0, unknown, 0, 1, Some(Kind::UnknownHandle)),
    ];
    let mut expected = vec![0; 1000];
    for (tag, (what, handle, offset, source, at, length, error)) in table.into_iter().enumerate() {
        let put = Put {
            handle,
            offset,
            from: Source {
                handle: source,
                offset: at,
            },
            length,
            tag: tag as u64,
        };
        match (shm.put(&put), error) {
            (Ok(()), None) => {
                assert_eq!(
                    take(&mut shm, 1),
                    [PutDone {
                        tag: tag as u64,
                        result: Ok(())
                    }],
                    "{what}"
                );
                let (offset, at, length) = (offset as usize, at as usize, length as usize);
                expected[offset..offset + length].copy_from_slice(&bytes[at..at + length]);
            }
            (Err(error), Some(kind)) => assert_eq!(error.kind, kind, "{what}"),
            (outcome, _) => panic!("{what}: {outcome:?}"),
        }
        assert_eq!(read(&landing, 0, 1000), expected, "{what}");
        assert_eq!(shm.waiting(), 0);
    }
    // Inside one segment, overlapping.
    let within = Put {
        handle: to,
        offset: 10,
        from: Source {
            handle: to,
            offset: 0,
        },
        length: 400,
        tag: 1,
    };
    shm.put(&within).unwrap();
    expected.copy_within(0..400, 10);
    assert_eq!(read(&landing, 0, 1000), expected);

    let put = Put {
        handle: to,
        offset: 0,
        from: Source {
            handle: from,
            offset: 0,
        },
        length: 1,
        tag: 2,
    };
    shm.lose(to).unwrap();
    assert_eq!(shm.put(&put).unwrap_err().kind, Kind::PeerGone);
    assert_eq!(shm.segment(to).unwrap_err().kind, Kind::PeerGone);
    shm.unregister(to).unwrap();
    assert_eq!(shm.unregister(to).unwrap_err().kind, Kind::UnknownHandle);
    assert_eq!(shm.lose(to).unwrap_err().kind, Kind::UnknownHandle);
    shm.close().unwrap();
    shm.close().unwrap();
    assert_eq!(shm.put(&put).unwrap_err().kind, Kind::Closed);
    assert_eq!(
        shm.register(Memory::Segment(landing)).unwrap_err().kind,
        Kind::Closed
    );
    assert_eq!(take(&mut shm, 1)[0].tag, 1, "a completion was lost by closing");
}

#[test]
fn the_probe_tries_it() {
    let probe = Shm::probe();
    assert!(probe.found && probe.works && probe.mend.is_empty(), "{probe:?}");
    assert_eq!(probe.details.len(), 1);
}

#[test]
fn segments_can_be_shared_between_threads() {
    let segment = Arc::new(Segment::create(MIB, SegmentOptions::default()).unwrap());
    let theirs = segment.clone();
    std::thread::spawn(move || write(&theirs, 0, b"there"))
        .join()
        .unwrap();
    assert_eq!(read(&segment, 0, 5), b"there");
    let mut file = File::from(segment.fd().as_fd().try_clone_to_owned().unwrap());
    file.write_all(b"again").unwrap();
    assert_eq!(read(&segment, 0, 5), b"again");
}
