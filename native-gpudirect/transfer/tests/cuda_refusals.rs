//! The `cuda` back end over the fake driver: what is refused, by whom, and with which words.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "how a test fails"
)]

mod common;

use common::fake::Fake;
use common::gpu::{landing, open, put, segment, staging};
use common::{pattern, take};
use os2g_transfer::cuda::{Device, Driver, LandingMemory, SharedEvent, Sharing};
use os2g_transfer::{Backend, Description, Handle, Kind, Memory, PutDone};

const MIB: usize = 1 << 20;

#[test]
fn puts_are_checked_before_they_start() {
    let fake = Fake::fresh();
    let mut back_end = open(&fake);
    let from = staging(&mut back_end, &pattern(4, 500));
    let (to, memory) = landing(&mut back_end, 0, 1000, Sharing::Auto);
    let (other, max) = (Handle(99), u64::MAX);
    let table = [
        (
            "one past the target",
            put(to, 501, from, 0, 500, 0),
            Kind::OutOfBounds,
        ),
        (
            "one past the source",
            put(to, 0, from, 1, 500, 0),
            Kind::OutOfBounds,
        ),
        (
            "a sum that overflows",
            put(to, max, from, 0, 2, 0),
            Kind::OutOfBounds,
        ),
        (
            "a source that overflows",
            put(to, 0, from, max, 2, 0),
            Kind::OutOfBounds,
        ),
        (
            "unknown target",
            put(other, 0, from, 0, 1, 0),
            Kind::UnknownHandle,
        ),
        ("unknown source", put(to, 0, other, 0, 1, 0), Kind::UnknownHandle),
        (
            "staging as target",
            put(from, 0, from, 0, 1, 0),
            Kind::Unsupported,
        ),
        ("landing as source", put(to, 0, to, 0, 1, 0), Kind::Unsupported),
    ];
    for (what, put, kind) in table {
        assert_eq!(back_end.put(&put).unwrap_err().kind, kind, "{what}");
        assert_eq!(back_end.waiting(), 0);
    }
    assert_eq!(fake.called("cuMemcpyHtoDAsync_v2"), 0);
    back_end.put(&put(to, 1000, from, 500, 0, 5)).unwrap();
    assert_eq!(
        take(&mut back_end, 1),
        [PutDone {
            tag: 5,
            result: Ok(())
        }],
        "an empty put"
    );
    assert_eq!(
        memory.read(990, &mut [0; 11]).unwrap_err().kind,
        Kind::OutOfBounds
    );
    memory.read(1000, &mut []).unwrap();
}

#[test]
fn the_fake_checks_bounds_itself() {
    let fake = Fake::fresh();
    let driver = Driver::open(Some(&fake.path)).unwrap();
    let device = Device::open(&driver, 0).unwrap();
    // The mapping has whole granules, so the driver would let more be read; of an allocation to the byte it does not.
    let memory = LandingMemory::create(&device, 100, Sharing::Ipc).unwrap();
    // SAFETY: loads the same library and calls its function with its own type; it checks the range itself.
    let answer = unsafe {
        let library = libloading::Library::new(&fake.path).unwrap();
        let push = library
            .get::<unsafe extern "C" fn(usize) -> i32>(b"cuCtxPushCurrent_v2\0")
            .unwrap();
        let copy = library
            .get::<unsafe extern "C" fn(*mut u8, u64, usize) -> i32>(b"cuMemcpyDtoH_v2\0")
            .unwrap();
        assert_eq!(push(0xc0_0000), 0);
        let mut bytes = [0; 101];
        (
            copy(bytes.as_mut_ptr(), memory.device_pointer(), 100),
            copy(bytes.as_mut_ptr(), memory.device_pointer(), 101),
        )
    };
    assert_eq!(answer, (0, 1), "CUDA_ERROR_INVALID_VALUE is 1");
}

#[test]
fn descriptions_that_are_not_true_are_refused() {
    let fake = Fake::fresh();
    let mut back_end = open(&fake);
    let device = back_end.devices()[0].clone();
    let memory = LandingMemory::create(&device, 100, Sharing::Fd).unwrap();
    let plain = LandingMemory::create(&device, 100, Sharing::Ipc).unwrap();
    let event = SharedEvent::create(&device).unwrap();
    let other = segment(&[0; 4096]);
    let alter = |change: &dyn Fn(&mut Description)| {
        let mut description = memory.describe().unwrap();
        change(&mut description);
        description
    };
    let granules =
        |bytes: u64| move |d: &mut Description| d.bytes[16..24].copy_from_slice(&bytes.to_le_bytes());
    let table: Vec<(&str, Description, Option<Kind>)> = vec![
        ("true", alter(&|_| {}), None),
        (
            "longer than its mapping",
            alter(&|d| d.length = (2 << 20) + 1),
            Some(Kind::Refused),
        ),
        ("empty", alter(&|d| d.length = 0), Some(Kind::Refused)),
        (
            "a mapping larger than the memory",
            alter(&granules(4 << 20)),
            None,
        ),
        ("a mapping of no size that is", alter(&granules(100)), None),
        ("a huge mapping", alter(&granules(u64::MAX)), None),
        (
            "short bytes",
            alter(&|d| d.bytes.truncate(20)),
            Some(Kind::Refused),
        ),
        ("no bytes", alter(&|d| d.bytes.clear()), Some(Kind::Refused)),
        ("no descriptor", alter(&|d| d.fds.clear()), Some(Kind::Refused)),
        (
            "a GPU that is not there",
            alter(&|d| d.bytes[3] = 0),
            Some(Kind::Unsupported),
        ),
        (
            "another GPU than the memory's",
            alter(&|d| d.bytes[15] += 1),
            Some(Kind::Refused),
        ),
        (
            "a segment's descriptor",
            alter(&|d| d.fds = Description::of_segment(&other).unwrap().fds),
            None,
        ),
        (
            "a segment",
            Description::of_segment(&other).unwrap(),
            Some(Kind::Refused),
        ),
        ("an event", event.describe().unwrap(), Some(Kind::Unsupported)),
        ("IPC memory of this process", plain.describe().unwrap(), None),
    ];
    fake.calm();
    for (what, description, kind) in table {
        let outcome = back_end.register(Memory::Remote(description));
        match (what, outcome, kind) {
            ("true", Ok(_), _) => {}
            (_, Err(error), Some(kind)) => assert_eq!(error.kind, kind, "{what}: {error}"),
            (_, Err(error), None) => assert!(matches!(error.kind, Kind::Driver { .. }), "{what}: {error}"),
            (_, Ok(_), _) => panic!("{what} was taken"),
        }
    }
    assert_eq!(
        SharedEvent::open(std::slice::from_ref(&device), &memory.describe().unwrap())
            .err()
            .unwrap()
            .kind,
        Kind::Refused
    );
    drop((back_end, memory, plain, event, device));
    assert_eq!(fake.alive(), []);
}

#[test]
fn running_out_of_gpu_memory_is_an_error_with_a_mend() {
    let fake = Fake::fresh();
    fake.set("memory", &(8 * MIB).to_string());
    let driver = Driver::open(Some(&fake.path)).unwrap();
    let device = Device::open(&driver, 0).unwrap();
    for sharing in [Sharing::Fd, Sharing::Ipc] {
        let first = LandingMemory::create(&device, 6 * MIB as u64, sharing).unwrap();
        let error = LandingMemory::create(&device, 4 * MIB as u64, sharing).unwrap_err();
        assert!(
            error.what.contains("CUDA_ERROR_OUT_OF_MEMORY") && error.mend.contains("--memory"),
            "{error}"
        );
        drop(first);
        LandingMemory::create(&device, 8 * MIB as u64, sharing).unwrap();
    }
}
