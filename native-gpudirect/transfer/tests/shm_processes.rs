//! Shared memory between two processes, also when one of them is killed or lies.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "how a test fails"
)]

mod common;

use std::sync::Arc;

use common::segments::{memfd, read, write};
use common::{Peer, hear, left_behind, pattern, role, shared_files, tell};
use os2g_transfer::{Backend, Description, Kind, Memory, Purpose, Segment, SegmentOptions, Shm};

const MIB: usize = 1 << 20;

/// A trainer: makes landing memory, hands it over, and says back what it sees there.
#[test]
fn trainer() {
    let Some(mut control) = role("trainer") else {
        return;
    };
    let segment = Segment::create(
        MIB,
        SegmentOptions {
            populate: true,
            ..Default::default()
        },
    )
    .unwrap();
    control.send(&Description::of_segment(&segment).unwrap()).unwrap();
    while let Some(salt) = hear(&control) {
        let right = read(&segment, 0, MIB) == pattern(u64::from(salt), MIB);
        write(&segment, 0, &[salt ^ 0xff]);
        tell(&control, u8::from(right));
    }
}

#[test]
fn two_processes_see_the_same_bytes() {
    let mut peer = Peer::start("trainer", &[]);
    let segment = peer.control.receive().unwrap().into_segment().unwrap();
    for salt in 0..5u8 {
        write(&segment, 0, &pattern(u64::from(salt), MIB));
        tell(&peer.control, salt);
        assert_eq!(hear(&peer.control), Some(1), "the trainer saw other bytes");
        assert_eq!(read(&segment, 0, 1), [salt ^ 0xff], "the feeder saw other bytes");
    }
    peer.control.stream().shutdown(std::net::Shutdown::Write).unwrap();
    peer.finish();
}

#[test]
fn a_killed_trainer_is_noticed_and_leaves_nothing() {
    let before = shared_files();
    let mut peer = Peer::start("trainer", &[]);
    let mut shm = Shm::new();
    let handle = shm
        .register(Memory::Remote(peer.control.receive().unwrap()))
        .unwrap();
    let segment = shm.segment(handle).unwrap().clone();
    write(&segment, 0, &pattern(3, MIB));
    peer.kill();
    // No time passes between the end of the process and the end of the stream: this reads it at once.
    assert!(peer.control.is_peer_gone());
    assert_eq!(peer.control.receive().unwrap_err().kind, Kind::PeerGone);
    // What we hold stays whole: no fault on a mapping whose maker is gone.
    assert_eq!(read(&segment, 0, MIB), pattern(3, MIB));
    shm.lose(handle).unwrap();
    assert_eq!(shm.segment(handle).unwrap_err().kind, Kind::PeerGone);
    shm.unregister(handle).unwrap();
    assert_eq!(left_behind(&before), Vec::<String>::new(), "left in /dev/shm");
    assert_eq!(
        Arc::strong_count(&segment),
        1,
        "the back end still holds the memory"
    );
}

/// A feeder that is killed: it takes the memory, writes, and waits.
#[test]
fn feeder() {
    let Some(mut control) = role("feeder") else { return };
    let segment = control.receive().unwrap().into_segment().unwrap();
    write(&segment, 0, &pattern(4, MIB));
    tell(&control, 1);
    hear(&control);
}

#[test]
fn a_killed_feeder_is_noticed_and_leaves_nothing() {
    let before = shared_files();
    let mut peer = Peer::start("feeder", &[]);
    let segment = Segment::create(MIB, SegmentOptions::default()).unwrap();
    peer.control
        .send(&Description::of_segment(&segment).unwrap())
        .unwrap();
    assert_eq!(hear(&peer.control), Some(1));
    assert!(
        common::mappings(peer.child.id(), "/memfd:os2g") > 0,
        "the feeder does not hold the memory"
    );
    peer.kill();
    assert_eq!(common::mappings(peer.child.id(), "/memfd:os2g"), 0);
    assert_eq!(common::descriptors(peer.child.id(), "/memfd:os2g"), 0);
    assert_eq!(peer.control.receive().unwrap_err().kind, Kind::PeerGone);
    assert_eq!(read(&segment, 0, MIB), pattern(4, MIB));
    assert_eq!(left_behind(&before), Vec::<String>::new(), "left in /dev/shm");
}

/// A trainer that says more than it gives, or gives memory that it could take away again.
#[test]
fn liar() {
    let Some(mut control) = role("liar") else { return };
    let all = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    for (seals, length) in [(all, 1 << 30), (0, 4096), (all, 4096)] {
        let fds = vec![memfd(4096, seals)];
        control
            .send(&Description {
                purpose: Purpose::Segment,
                length,
                bytes: Vec::new(),
                fds,
            })
            .unwrap();
    }
    hear(&control);
}

#[test]
fn a_lying_trainer_cannot_make_the_feeder_fault() {
    let mut peer = Peer::start("liar", &[]);
    let mut shm = Shm::new();
    for expected in [Err(Kind::Refused), Err(Kind::Refused), Ok(())] {
        let outcome = shm.register(Memory::Remote(peer.control.receive().unwrap()));
        assert_eq!(outcome.map(|_| ()).map_err(|error| error.kind), expected);
    }
    peer.finish();
}
