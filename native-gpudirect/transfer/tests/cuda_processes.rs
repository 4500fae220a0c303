//! GPU memory between two processes, over the fake driver: each process has a driver of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "how a test fails"
)]

mod common;

use std::sync::Arc;

use common::ends::{Feeder, LENGTH, Trainer, sharing, start};
use common::fake::Fake;
use common::{hear, left_behind, pattern, role, shared_files, take, tell};
use os2g_transfer::cuda::{Cuda, CudaOptions, LandingMemory, SharedEvent, Sharing};
use os2g_transfer::{Backend, Kind, Memory, Put, PutDone, Segment, SegmentOptions, Source};

const LOOK: u8 = 100;

#[test]
fn trainer() {
    let Some(mut control) = role("trainer") else {
        return;
    };
    let trainer = Trainer::new(&mut control, sharing());
    let full = SharedEvent::open(&trainer.devices, &control.receive().unwrap()).unwrap();
    while let Some(word) = hear(&control) {
        if word == LOOK {
            // As a trainer that forgets to wait.
            tell(&control, u8::from(trainer.bytes() == vec![0; LENGTH]));
            continue;
        }
        trainer.stream.wait_for(&full).unwrap();
        trainer.free.record(&trainer.stream).unwrap();
        trainer.stream.synchronize().unwrap();
        tell(
            &control,
            u8::from(trainer.bytes() == pattern(u64::from(word), LENGTH)),
        );
    }
    drop(full);
    trainer.end();
}

#[test]
fn bytes_land_in_another_process() {
    for sharing in ["fd", "ipc"] {
        let mut peer = start("trainer", sharing);
        let mut feeder = Feeder::new(&mut peer.control);
        // The trainer's GPU 0 is this process's GPU 1: found by UUID, not by number.
        assert_eq!(feeder.back_end.landing(feeder.to).unwrap().device().ordinal(), 1);

        feeder.fake.set("hold", "3");
        feeder.fill(1);
        feeder.put();
        feeder.back_end.record(feeder.to, &feeder.full).unwrap();
        tell(&peer.control, LOOK);
        assert_eq!(
            hear(&peer.control),
            Some(1),
            "{sharing}: copies are not delayed, so no test would see a missing wait"
        );
        tell(&peer.control, 1);
        feeder.fake.set("hold", "0");
        assert_eq!(
            hear(&peer.control),
            Some(1),
            "{sharing}: the trainer waited and saw other bytes"
        );
        take(&mut feeder.back_end, 3);

        for round in 2..6 {
            feeder.fill(round);
            feeder.back_end.wait_for(feeder.to, &feeder.free).unwrap();
            feeder.put();
            feeder.back_end.record(feeder.to, &feeder.full).unwrap();
            tell(&peer.control, round as u8);
            assert_eq!(
                hear(&peer.control),
                Some(1),
                "{sharing}, round {round}: the trainer saw other bytes"
            );
            take(&mut feeder.back_end, 3)
                .iter()
                .for_each(|done| assert_eq!(done.result, Ok(())));
        }
        feeder.end();
        peer.control.stream().shutdown(std::net::Shutdown::Write).unwrap();
        peer.finish();
    }
}

#[test]
fn a_killed_trainer_ends_its_puts() {
    let before = shared_files();
    for sharing in ["fd", "ipc"] {
        let mut peer = start("trainer", sharing);
        let mut feeder = Feeder::new(&mut peer.control);
        feeder.fake.set("hold", "3");
        feeder.put();
        peer.kill();
        assert!(peer.control.is_peer_gone());
        assert_eq!(peer.control.receive().unwrap_err().kind, Kind::PeerGone);
        feeder.back_end.lose(feeder.to).unwrap();
        feeder.fake.set("hold", "0");
        for done in take(&mut feeder.back_end, 3) {
            assert_eq!(done.result.unwrap_err().kind, Kind::PeerGone, "{sharing}");
        }
        assert_eq!(feeder.back_end.waiting(), 0);
        feeder.back_end.unregister(feeder.to).unwrap();
        feeder.end();
        assert_eq!(left_behind(&before), Vec::<String>::new());
    }
}

#[test]
fn a_trainer_killed_behind_its_event_does_not_stop_the_feeder() {
    let mut peer = start("holder", "fd");
    let mut feeder = Feeder::new(&mut peer.control);
    assert_eq!(hear(&peer.control), Some(1));
    // "Free" stands for work of the trainer that it never ends.
    assert!(!feeder.free.is_complete().unwrap());
    feeder.back_end.wait_for(feeder.to, &feeder.free).unwrap();
    feeder.put();
    assert_eq!(feeder.back_end.poll(&mut [PutDone::default()]), 0);
    peer.kill();
    feeder.back_end.lose(feeder.to).unwrap();
    assert_eq!(take(&mut feeder.back_end, 3).len(), 3);
    feeder.end();
}

/// A trainer with work that is held for ever, and its event behind it.
#[test]
fn holder() {
    let Some(mut control) = role("holder") else { return };
    let trainer = Trainer::new(&mut control, Sharing::Fd);
    let options = CudaOptions {
        library: Some(trainer.fake.path.clone()),
        ..CudaOptions::default()
    };
    let mut own = Cuda::open(&options).unwrap();
    let memory = Arc::new(LandingMemory::create(&own.devices()[0], 100, Sharing::Fd).unwrap());
    let handle = own.register_landing(memory).unwrap();
    let segment = Arc::new(Segment::create(100, SegmentOptions::default()).unwrap());
    let from = Source {
        handle: own.register(Memory::Segment(segment)).unwrap(),
        offset: 0,
    };
    trainer.fake.set("hold", "3");
    own.put(&Put {
        handle,
        offset: 0,
        from,
        length: 100,
        tag: 0,
    })
    .unwrap();
    own.record(handle, &trainer.free).unwrap();
    control.receive().unwrap();
    tell(&control, 1);
    hear(&control);
}

#[test]
fn feeder() {
    let Some(mut control) = role("feeder") else { return };
    let mut feeder = Feeder::new(&mut control);
    feeder.fake.set("hold", "3");
    feeder.fill(1);
    feeder.put();
    feeder.back_end.record(feeder.to, &feeder.full).unwrap();
    tell(&control, 1);
    hear(&control);
}

#[test]
fn a_killed_feeder_leaves_the_trainer_whole() {
    let before = shared_files();
    for sharing in [Sharing::Fd, Sharing::Ipc] {
        let mut peer = start("feeder", "");
        let trainer = Trainer::new(&mut peer.control, sharing);
        let full = SharedEvent::open(&trainer.devices, &peer.control.receive().unwrap()).unwrap();
        assert_eq!(hear(&peer.control), Some(1));
        assert!(!full.is_complete().unwrap());
        assert!(
            common::descriptors(peer.child.id(), "os2g-fake-gpu") > 0,
            "the feeder does not hold the memory"
        );
        peer.kill();
        assert_eq!(peer.control.receive().unwrap_err().kind, Kind::PeerGone);
        assert_eq!(common::descriptors(peer.child.id(), "os2g-fake-gpu"), 0);
        assert_eq!(common::mappings(peer.child.id(), "/memfd"), 0);
        assert_eq!(trainer.bytes(), vec![0; LENGTH]);
        drop(full);
        trainer.end();
        assert_eq!(left_behind(&before), Vec::<String>::new());
    }
}

#[test]
fn each_call_between_processes_may_fail() {
    let table = [
        ("cuIpcOpenMemHandle_v2", "ipc"),
        ("cuMemGetAddressRange_v2", "ipc"),
        ("cuIpcCloseMemHandle", "ipc"),
        ("cuIpcOpenEventHandle", "ipc"),
        ("cuMemImportFromShareableHandle", "fd"),
        ("cuMemGetAllocationPropertiesFromHandle", "fd"),
        ("cuMemAddressReserve", "fd"),
        ("cuMemMap", "fd"),
        ("cuMemSetAccess", "fd"),
    ];
    for (symbol, sharing) in table {
        let mut peer = start("trainer", sharing);
        let fake = Fake::fresh();
        fake.set("fail", &format!("{symbol}:1:304"));
        let options = CudaOptions {
            library: Some(fake.path.clone()),
            ..CudaOptions::default()
        };
        let mut back_end = Cuda::open(&options).unwrap();
        let outcome = back_end
            .register(Memory::Remote(peer.control.receive().unwrap()))
            .and_then(|handle| {
                SharedEvent::open(back_end.devices(), &peer.control.receive()?).map(|_| handle)
            })
            .and_then(|handle| back_end.unregister(handle));
        match outcome {
            Err(error) => {
                assert_eq!(
                    error.kind,
                    Kind::Driver {
                        code: 304,
                        name: "CUDA_ERROR_OPERATING_SYSTEM".into(),
                        call: symbol
                    }
                );
                assert!(error.mend.contains("ulimit"));
            }
            Ok(()) => assert_eq!(symbol, "cuIpcCloseMemHandle", "the error was lost"),
        }
        assert_eq!(
            fake.log()
                .iter()
                .filter(|line| **line == format!("{symbol} 304"))
                .count(),
            1,
            "{symbol}"
        );
        drop(back_end);
        assert_eq!(fake.alive(), [], "{symbol}");
        peer.kill();
    }
}
