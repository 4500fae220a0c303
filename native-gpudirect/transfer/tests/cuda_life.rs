//! The `cuda` back end over the fake driver: probing, use of memory, losing a peer, closing.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "how a test fails"
)]

mod common;

use std::path::Path;
use std::time::Duration;

use common::fake::Fake;
use common::gpu::{landing, open, options, put, read, segment, staging};
use common::{pattern, take, until};
use os2g_transfer::cuda::{Cuda, CudaOptions, Device, Driver, LandingMemory, Sharing, probe};
use os2g_transfer::{Backend, Kind, Memory, Purpose, PutDone};

#[test]
fn the_probe_tries_each_gpu() {
    let fake = Fake::fresh();
    let probe = probe(Some(&fake.path));
    assert!(probe.found && probe.works, "{probe:?}");
    assert_eq!(probe.version.as_deref(), Some("12.4"));
    assert_eq!(probe.details.len(), 2);
    assert!(probe.details[1].contains("GPU 1: Fake GPU 1"), "{probe:?}");
    assert_eq!(fake.alive(), []);
}

#[test]
fn the_probe_says_what_is_missing() {
    let none = probe(Some(Path::new("/nonexistent/libcuda.so.1")));
    assert!(
        !none.found && !none.works && none.why.contains("/nonexistent/libcuda.so.1"),
        "{none:?}"
    );
    assert!(none.mend.contains("NVIDIA driver"));

    let fake = Fake::fresh();
    fake.set("visible", "");
    let without = probe(Some(&fake.path));
    assert!(
        without.found && !without.works && without.why.contains("CUDA_ERROR_NO_DEVICE"),
        "{without:?}"
    );
    assert!(without.mend.contains("CUDA_VISIBLE_DEVICES"));
}

#[test]
fn it_says_what_it_is() {
    let fake = Fake::fresh();
    let back_end = open(&fake);
    let capabilities = back_end.capabilities();
    assert!(!capabilities.direct && capabilities.target_passive && !capabilities.in_place);
    assert!(capabilities.path.contains("host's CPU"));
}

#[test]
fn memory_in_use_stays() {
    let fake = Fake::fresh();
    let mut back_end = open(&fake);
    let from = staging(&mut back_end, &pattern(5, 4096));
    let (to, memory) = landing(&mut back_end, 1, 4096, Sharing::Auto);
    fake.set("hold", "3");
    back_end.put(&put(to, 0, from, 0, 4096, 1)).unwrap();
    for handle in [to, from] {
        assert_eq!(back_end.unregister(handle).unwrap_err().kind, Kind::InUse);
    }
    fake.set("hold", "0");
    take(&mut back_end, 1);
    drop(memory);
    for handle in [to, from] {
        back_end.unregister(handle).unwrap();
        assert_eq!(back_end.unregister(handle).unwrap_err().kind, Kind::UnknownHandle);
    }
    let left: Vec<_> = fake.alive().into_iter().map(|(name, _)| name).collect();
    // Each waiting thread is inside at most one call, so a pushed context may show.
    assert!(
        left.iter()
            .all(|name| ["contexts", "pushed", "streams", "events"].contains(name)),
        "{left:?}"
    );
}

#[test]
fn a_lost_peer_ends_its_puts() {
    let fake = Fake::fresh();
    let mut back_end = open(&fake);
    let from = staging(&mut back_end, &pattern(6, 4096));
    let (lost, _) = landing(&mut back_end, 0, 4096, Sharing::Auto);
    let (kept, _) = landing(&mut back_end, 0, 4096, Sharing::Auto);
    fake.set("hold", "3");
    back_end.put(&put(lost, 0, from, 0, 10, 1)).unwrap();
    back_end.put(&put(kept, 0, from, 0, 10, 2)).unwrap();
    back_end.lose(lost).unwrap();
    assert_eq!(
        back_end.put(&put(lost, 0, from, 0, 10, 3)).unwrap_err().kind,
        Kind::PeerGone
    );
    fake.set("hold", "0");
    let done = take(&mut back_end, 2);
    assert_eq!(done[0].result.as_ref().unwrap_err().kind, Kind::PeerGone);
    assert_eq!(
        done[1],
        PutDone {
            tag: 2,
            result: Ok(())
        }
    );
    back_end.unregister(lost).unwrap();
    assert_eq!(back_end.lose(lost).unwrap_err().kind, Kind::UnknownHandle);
}

#[test]
fn closing_waits_for_copies_and_keeps_completions() {
    let fake = Fake::fresh();
    let mut back_end = open(&fake);
    let from = staging(&mut back_end, &pattern(7, 4096));
    let (to, memory) = landing(&mut back_end, 0, 4096, Sharing::Auto);
    for tag in 0..3 {
        back_end.put(&put(to, 0, from, 0, 4096, tag)).unwrap();
    }
    back_end.close().unwrap();
    back_end.close().unwrap();
    assert_eq!(
        read(&memory, 0, 4096),
        pattern(7, 4096),
        "closed before the copies were made"
    );
    assert_eq!(take(&mut back_end, 3).len(), 3);
    assert_eq!(
        back_end.put(&put(to, 0, from, 0, 1, 9)).unwrap_err().kind,
        Kind::Closed
    );
    assert_eq!(
        back_end
            .register(Memory::Segment(segment(&[1])))
            .unwrap_err()
            .kind,
        Kind::Closed
    );
    assert_eq!(
        back_end.register_landing(memory.clone()).unwrap_err().kind,
        Kind::Unsupported
    );
    drop((back_end, memory));
    assert_eq!(fake.alive(), []);
}

#[test]
fn closing_has_a_limit() {
    let fake = Fake::fresh();
    let limited = CudaOptions {
        close_limit: Duration::from_millis(20),
        ..options(&fake)
    };
    let mut back_end = Cuda::open(&limited).unwrap();
    let from = staging(&mut back_end, &pattern(8, 4096));
    let (to, memory) = landing(&mut back_end, 0, 4096, Sharing::Auto);
    fake.set("hold", "3");
    for tag in 0..2 {
        back_end.put(&put(to, 0, from, 0, 4096, tag)).unwrap();
    }
    assert_eq!(back_end.close().unwrap_err().kind, Kind::TimedOut);
    let done = take(&mut back_end, 2);
    assert!(
        done.iter()
            .all(|done| done.result.as_ref().unwrap_err().kind == Kind::TimedOut),
        "{done:?}"
    );
    drop((back_end, memory));
    // What the GPU still works with was left in place: the held copies are made from memory that is there.
    let alive = fake.alive();
    for name in ["hosts", "mappings", "streams"] {
        assert!(
            alive
                .iter()
                .any(|(counter, number)| *counter == name && *number > 0),
            "{name} was released"
        );
    }
    fake.set("hold", "0");
    assert!(!fake.alive().iter().any(|(name, _)| *name == "violations"));
}

#[test]
fn a_back_end_may_move_to_another_thread() {
    let fake = Fake::fresh();
    let mut back_end = open(&fake);
    let from = staging(&mut back_end, &pattern(11, 100));
    let (to, memory) = landing(&mut back_end, 0, 100, Sharing::Auto);
    let boxed: Box<dyn Backend> = Box::new(back_end);
    let thread = std::thread::spawn(move || {
        let mut boxed = boxed;
        boxed.put(&put(to, 0, from, 0, 100, 1)).unwrap();
        take(boxed.as_mut(), 1);
    });
    thread.join().unwrap();
    assert_eq!(read(&memory, 0, 100), pattern(11, 100));
    drop(memory);
    until("all released", || fake.alive().is_empty());
}

#[test]
fn sharing_falls_back_to_ipc_and_says_so() {
    let fake = Fake::fresh();
    fake.set("fd", "0");
    let driver = Driver::open(Some(&fake.path)).unwrap();
    let device = Device::open(&driver, 0).unwrap();
    let memory = LandingMemory::create(&device, 100, Sharing::Auto).unwrap();
    assert_eq!(memory.sharing(), "cuMemAlloc, by IPC handle");
    assert_eq!(memory.describe().unwrap().purpose, Purpose::CudaIpc);
    assert_eq!(
        LandingMemory::create(&device, 100, Sharing::Fd).unwrap_err().kind,
        Kind::Unsupported
    );
    assert_eq!(
        LandingMemory::create(&device, 0, Sharing::Auto).unwrap_err().kind,
        Kind::Invalid
    );
    drop((memory, device));
    assert_eq!(fake.alive(), []);
}
