//! The same way on a real driver and GPU, where there is one: `OS2G_TEST_REAL_CUDA=libcuda.so.1 cargo test -p
//! os2g-transfer --test cuda_real -- --nocapture`. Without the variable each test says that it was skipped.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "how a test fails"
)]

mod common;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use common::gpu::{put, read, segment};
use common::{Peer, hear, pattern, role, take, tell};
use os2g_transfer::cuda::{
    Cuda, CudaOptions, Device, Driver, LandingMemory, SharedEvent, Sharing, Stream, probe,
};
use os2g_transfer::{Backend, Memory};

const LENGTH: usize = 64 << 20;
const OBJECT: usize = 1 << 20;

fn library() -> Option<PathBuf> {
    let path = std::env::var_os("OS2G_TEST_REAL_CUDA").map(PathBuf::from);
    if path.is_none() {
        println!("skipped: OS2G_TEST_REAL_CUDA does not name a driver");
    }
    path
}

#[test]
fn the_probe_works() {
    let Some(path) = library() else { return };
    let probe = probe(Some(&path));
    println!("{probe:#?}");
    assert!(probe.works);
}

#[test]
fn real_trainer() {
    let Some(mut control) = role("real_trainer") else {
        return;
    };
    let driver = Driver::open(library().as_deref()).unwrap();
    let device = Device::open(&driver, 0).unwrap();
    let sharing = if std::env::var("OS2G_TEST_SHARING").as_deref() == Ok("ipc") {
        Sharing::Ipc
    } else {
        Sharing::Fd
    };
    let memory = LandingMemory::create(&device, LENGTH as u64, sharing).unwrap();
    let free = SharedEvent::create(&device).unwrap();
    control.send(&memory.describe().unwrap()).unwrap();
    control.send(&free.describe().unwrap()).unwrap();
    let full = SharedEvent::open(std::slice::from_ref(&device), &control.receive().unwrap()).unwrap();
    let stream = Stream::create(&device).unwrap();
    while let Some(salt) = hear(&control) {
        stream.wait_for(&full).unwrap();
        free.record(&stream).unwrap();
        stream.synchronize().unwrap();
        tell(
            &control,
            u8::from(read(&memory, 0, LENGTH) == pattern(u64::from(salt), LENGTH)),
        );
    }
}

#[test]
fn bytes_land_in_another_process() {
    let Some(path) = library() else { return };
    for sharing in ["fd", "ipc"] {
        let mut peer = Peer::start("real_trainer", &[("OS2G_TEST_SHARING", sharing)]);
        let options = CudaOptions {
            library: Some(path.clone()),
            devices: vec![0],
            ..CudaOptions::default()
        };
        let mut back_end = Cuda::open(&options).unwrap();
        let to = back_end
            .register(Memory::Remote(peer.control.receive().unwrap()))
            .unwrap();
        let free = SharedEvent::open(back_end.devices(), &peer.control.receive().unwrap()).unwrap();
        let full = SharedEvent::create(&back_end.devices()[0]).unwrap();
        peer.control.send(&full.describe().unwrap()).unwrap();
        for salt in 1..4u8 {
            let from = back_end
                .register(Memory::Segment(segment(&pattern(u64::from(salt), LENGTH))))
                .unwrap();
            back_end.wait_for(to, &free).unwrap();
            let start = Instant::now();
            for offset in (0..LENGTH as u64).step_by(OBJECT) {
                back_end
                    .put(&put(to, offset, from, offset, OBJECT as u64, offset))
                    .unwrap();
            }
            back_end.record(to, &full).unwrap();
            for done in take(&mut back_end, LENGTH / OBJECT) {
                done.result.unwrap();
            }
            println!(
                "{sharing}: {:.2} GB/s",
                LENGTH as f64 / 1e9 / start.elapsed().as_secs_f64()
            );
            tell(&peer.control, salt);
            assert_eq!(
                hear(&peer.control),
                Some(1),
                "{sharing}: the trainer saw other bytes"
            );
            back_end.unregister(from).unwrap();
        }
        peer.control.stream().shutdown(std::net::Shutdown::Write).unwrap();
        peer.finish();
        drop((free, full));
        back_end.close().unwrap();
    }
}

#[test]
fn errors_have_their_names() {
    let Some(path) = library() else { return };
    let driver = Driver::open(Some(&path)).unwrap();
    let error = Device::open(&driver, 9999).unwrap_err();
    assert!(error.what.contains("CUDA_ERROR_INVALID_DEVICE"), "{error}");
    let device = Device::open(&driver, 0).unwrap();
    for sharing in [Sharing::Fd, Sharing::Ipc] {
        let error = LandingMemory::create(&device, 1 << 50, sharing).unwrap_err();
        println!("{error}");
        assert!(error.what.contains("CUDA_ERROR_"), "{error}");
        let memory = Arc::new(LandingMemory::create(&device, 1 << 20, sharing).unwrap());
        assert_eq!(memory.describe().unwrap().length, 1 << 20);
    }
}
