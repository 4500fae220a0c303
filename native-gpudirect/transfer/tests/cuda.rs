//! The `cuda` back end over the fake driver, in one process: bytes land, and in order.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "how a test fails"
)]

mod common;

use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::fake::Fake;
use common::gpu::{landing, open, options, put, read, staging};
use common::{LIMIT, Random, pattern, readable, take, until};
use os2g_transfer::cuda::{Cuda, CudaOptions, LandingMemory, SharedEvent, Sharing, Stream};
use os2g_transfer::{Backend, Kind, PutDone};

const MIB: usize = 1 << 20;

#[test]
fn bytes_land_where_they_belong() {
    for sharing in [Sharing::Auto, Sharing::Fd, Sharing::Ipc] {
        let fake = Fake::fresh();
        let mut back_end = open(&fake);
        let bytes = pattern(1, 3 * MIB);
        let from = staging(&mut back_end, &bytes);
        for device in 0..2 {
            let (to, memory) = landing(&mut back_end, device, 5 * MIB as u64 + 3, sharing);
            for (offset, at, length) in [(0, 0, 3 * MIB), (5 * MIB - 7, 11, 10), (3 * MIB, MIB, 1)] {
                back_end
                    .put(&put(to, offset as u64, from, at as u64, length as u64, 7))
                    .unwrap();
                assert_eq!(
                    take(&mut back_end, 1),
                    [PutDone {
                        tag: 7,
                        result: Ok(())
                    }]
                );
                assert_eq!(read(&memory, offset as u64, length), bytes[at..at + length]);
            }
        }
        back_end.close().unwrap();
        drop(back_end);
        assert_eq!(fake.alive(), [], "{sharing:?}");
    }
}

#[test]
fn one_call_for_many_and_only_when_asked() {
    let fake = Fake::fresh();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let count = move || {
        counted.fetch_add(1, Ordering::SeqCst);
    };
    let mut back_end = Cuda::open_waking(&options(&fake), Box::new(count)).unwrap();
    let from = staging(&mut back_end, &pattern(2, 4096));
    let (to, memory) = landing(&mut back_end, 0, 4096, Sharing::Auto);
    let puts = |count: u64, back_end: &mut Cuda| {
        for tag in 0..count {
            back_end.put(&put(to, tag, from, tag, 1, tag)).unwrap();
        }
        let wake = back_end.wake().unwrap().as_raw_fd();
        assert!(readable(wake, LIMIT), "nothing ended");
    };
    puts(3, &mut back_end);
    assert_eq!(calls.load(Ordering::SeqCst), 0, "nobody asked");
    assert!(back_end.arm(), "some wait already");
    take(&mut back_end, 3);
    assert!(!back_end.arm());
    puts(20, &mut back_end);
    take(&mut back_end, 20);
    until("the call", || calls.load(Ordering::SeqCst) > 0);
    puts(5, &mut back_end);
    take(&mut back_end, 5);
    back_end.close().unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    drop((back_end, memory));
    assert_eq!(fake.alive(), []);
}

#[test]
fn who_does_not_wait_reads_old_bytes() {
    let fake = Fake::fresh();
    let mut back_end = open(&fake);
    let from = staging(&mut back_end, &pattern(2, 4096));
    let (to, memory) = landing(&mut back_end, 0, 4096, Sharing::Auto);
    fake.set("hold", "3");
    back_end.put(&put(to, 0, from, 0, 4096, 1)).unwrap();
    // The copy is queued, not made: its source would have to stay, and its target is as it was.
    assert_eq!(read(&memory, 0, 4096), vec![0; 4096]);
    assert_eq!(back_end.poll(&mut [PutDone::default()]), 0);
    assert!(!readable(back_end.wake().unwrap().as_raw_fd(), Duration::ZERO));
    assert_eq!(back_end.waiting(), 1);
    fake.set("hold", "0");
    assert_eq!(take(&mut back_end, 1)[0].result, Ok(()));
    assert_eq!(read(&memory, 0, 4096), pattern(2, 4096));
    assert!(
        !readable(back_end.wake().unwrap().as_raw_fd(), Duration::ZERO),
        "the wake-up was not cleared"
    );
}

#[test]
fn one_event_serves_many_puts() {
    let fake = Fake::fresh();
    fake.set("delay_us", "0");
    let mut back_end = open(&fake);
    let from = staging(&mut back_end, &pattern(3, 64));
    let (to, _memory) = landing(&mut back_end, 0, 64, Sharing::Auto);
    fake.set("hold", "3");
    for tag in 0..1000 {
        back_end.put(&put(to, tag % 64, from, tag % 64, 1, tag)).unwrap();
    }
    fake.set("hold", "0");
    let tags: Vec<u64> = take(&mut back_end, 1000)
        .into_iter()
        .map(|done| done.tag)
        .collect();
    assert_eq!(
        tags,
        (0..1000).collect::<Vec<_>>(),
        "not once each, or out of order"
    );
    // The thread was held at its first event while the rest was queued, however late it came to the first.
    assert!(
        fake.called("cuEventRecord") <= 2,
        "{} events",
        fake.called("cuEventRecord")
    );
    assert_eq!(fake.called("cuEventQuery"), 0, "something spins");
}

#[test]
fn events_order_two_streams() {
    let fake = Fake::fresh();
    let mut back_end = open(&fake);
    let device = back_end.devices()[0].clone();
    let from = staging(&mut back_end, &pattern(9, 4096));
    let (to, memory) = landing(&mut back_end, 0, 4096, Sharing::Auto);
    let (full, free) = (
        SharedEvent::create(&device).unwrap(),
        SharedEvent::create(&device).unwrap(),
    );
    assert!(full.is_complete().unwrap(), "never recorded: nothing to wait for");
    let consumer = Stream::create(&device).unwrap();

    fake.set("hold", "3");
    back_end.wait_for(to, &free).unwrap();
    back_end.put(&put(to, 0, from, 0, 4096, 1)).unwrap();
    back_end.record(to, &full).unwrap();
    consumer.wait_for(&full).unwrap();
    free.record(&consumer).unwrap();
    assert!(!full.is_complete().unwrap());
    assert!(!free.is_complete().unwrap(), "the consumer's stream did not wait");
    fake.set("hold", "0");
    free.synchronize().unwrap();
    assert!(full.is_complete().unwrap());
    assert_eq!(read(&memory, 0, 4096), pattern(9, 4096));
    take(&mut back_end, 1);
    consumer.synchronize().unwrap();
    drop((consumer, full, free, back_end, memory, device));
    assert_eq!(fake.alive(), []);
}

#[test]
fn two_gpus_do_not_wait_for_each_other() {
    let fake = Fake::fresh();
    let mut back_end = open(&fake);
    let (zero, one) = (back_end.devices()[0].clone(), back_end.devices()[1].clone());
    assert_ne!(zero.uuid(), one.uuid());
    assert_eq!((zero.name(), one.name()), ("Fake GPU 0", "Fake GPU 1"));
    let from = staging(&mut back_end, &pattern(10, 4096));
    let (first, _) = landing(&mut back_end, 0, 4096, Sharing::Auto);
    let (second, memory) = landing(&mut back_end, 1, 4096, Sharing::Auto);
    fake.set("hold", "1");
    back_end.put(&put(first, 0, from, 0, 4096, 1)).unwrap();
    back_end.put(&put(second, 0, from, 0, 4096, 2)).unwrap();
    assert_eq!(take(&mut back_end, 1)[0].tag, 2, "GPU 1 waited for GPU 0");
    assert_eq!(read(&memory, 0, 4096), pattern(10, 4096));
    assert_eq!(back_end.waiting(), 1);
    fake.set("hold", "0");
    assert_eq!(take(&mut back_end, 1)[0].tag, 1);

    // A stream of GPU 0 may wait for work of GPU 1.
    fake.set("hold", "2");
    let event = SharedEvent::create(&one).unwrap();
    back_end.put(&put(second, 0, from, 0, 4096, 3)).unwrap();
    back_end.record(second, &event).unwrap();
    back_end.wait_for(first, &event).unwrap();
    back_end.put(&put(first, 0, from, 0, 4096, 4)).unwrap();
    assert_eq!(back_end.poll(&mut [PutDone::default()]), 0);
    fake.set("hold", "0");
    assert_eq!(take(&mut back_end, 2).len(), 2);

    let only_one = CudaOptions {
        devices: vec![1],
        ..options(&fake)
    };
    let mut back_end = Cuda::open(&only_one).unwrap();
    assert_eq!(back_end.devices()[0].ordinal(), 1);
    let elsewhere = Arc::new(LandingMemory::create(&zero, 10, Sharing::Auto).unwrap());
    assert_eq!(
        back_end.register_landing(elsewhere).unwrap_err().kind,
        Kind::Unsupported
    );
    let missing = CudaOptions {
        devices: vec![2],
        ..options(&fake)
    };
    let error = Cuda::open(&missing).map(|_| ()).unwrap_err();
    assert!(
        error.what.contains("CUDA_ERROR_INVALID_DEVICE") && error.mend.contains("nvidia-smi"),
        "{error}"
    );
}

#[test]
fn random_puts_end_as_a_model_says() {
    let seed = std::env::var("OS2G_TEST_SEED").map_or(20_261_130, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut random = Random::new(seed);
    let fake = Fake::fresh();
    fake.set("delay_us", "20");
    let mut back_end = open(&fake);
    let bytes = pattern(seed, MIB);
    let from = staging(&mut back_end, &bytes);
    let size = 200_000;
    let mut places: Vec<_> = (0..4)
        .map(|at| {
            let sharing = if at < 2 { Sharing::Fd } else { Sharing::Ipc };
            let (handle, memory) = landing(&mut back_end, at % 2, size as u64, sharing);
            (handle, memory, vec![0u8; size])
        })
        .collect();
    let (mut started, mut ended) = (0u64, 0u64);
    let mut seen = vec![false; 2000];
    while ended < seen.len() as u64 {
        if started < seen.len() as u64 && random.below(3) > 0 {
            let (handle, _, model) = &mut places[random.below(4) as usize];
            let length = random.below(4096) as usize;
            let (offset, at) = (
                random.below((size - length) as u64),
                random.below((MIB - length) as u64),
            );
            back_end
                .put(&put(*handle, offset, from, at, length as u64, started))
                .unwrap();
            // One GPU's puts are made in order, so the model may be changed at once.
            let (offset, at) = (offset as usize, at as usize);
            model[offset..offset + length].copy_from_slice(&bytes[at..at + length]);
            started += 1;
        } else {
            let mut done = vec![PutDone::default(); random.below(50) as usize];
            let got = back_end.poll(&mut done);
            for done in &done[..got] {
                done.result.clone().unwrap();
                assert!(
                    !std::mem::replace(&mut seen[done.tag as usize], true),
                    "{} came twice",
                    done.tag
                );
            }
            ended += got as u64;
        }
        assert_eq!(back_end.waiting() as u64, started - ended);
    }
    for (handle, memory, model) in &places {
        assert_eq!(read(memory, 0, size), *model, "{handle:?}");
    }
    drop(places);
    drop(back_end);
    assert_eq!(fake.alive(), []);
}
