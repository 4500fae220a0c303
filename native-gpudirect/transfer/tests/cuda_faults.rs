//! Every call of the driver fails once: each failure is a typed error, and nothing is left behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "how a test fails"
)]

mod common;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use common::fake::{Fake, library};
use common::take;
use os2g_transfer::cuda::{Cuda, CudaOptions, Driver, LandingMemory, SYMBOLS, SharedEvent, Sharing, Stream};
use os2g_transfer::{Backend, Error, Kind, Memory, Put, Result, Segment, SegmentOptions, Source};

/// Uses all that the back end can do in one process; the first error ends it.
fn everything(path: &Path) -> Result<()> {
    let mut back_end = Cuda::open(&CudaOptions {
        library: Some(path.to_path_buf()),
        ..CudaOptions::default()
    })?;
    let driver = back_end.devices()[0].driver().clone();
    driver.version()?;
    let segment = Arc::new(Segment::create(10_000, SegmentOptions::default())?);
    let from = Source {
        handle: back_end.register(Memory::Segment(segment))?,
        offset: 0,
    };
    for device in back_end.devices().to_vec() {
        let full = SharedEvent::create(&device)?;
        full.describe()?;
        let consumer = Stream::create(&device)?;
        let own = Arc::new(LandingMemory::create(&device, 10_000, Sharing::Fd)?);
        let plain = Arc::new(LandingMemory::create(&device, 10_000, Sharing::Ipc)?);
        plain.describe()?;
        let targets = [
            back_end.register(Memory::Remote(own.describe()?))?,
            back_end.register_landing(own)?,
            back_end.register_landing(plain)?,
        ];
        for (tag, handle) in targets.into_iter().enumerate() {
            back_end.put(&Put {
                handle,
                offset: 0,
                from,
                length: 10_000,
                tag: tag as u64,
            })?;
            back_end.record(handle, &full)?;
            consumer.wait_for(&full)?;
            for done in take(&mut back_end, 1) {
                done.result?;
            }
            full.is_complete()?;
            full.synchronize()?;
            consumer.synchronize()?;
            back_end.landing(handle)?.read(0, &mut [0; 100])?;
            back_end.unregister(handle)?;
        }
    }
    back_end.close()
}

/// Calls that only two processes can reach, or that make no error of their own.
const ELSEWHERE: [&str; 4] = [
    "cuGetErrorName",
    "cuIpcOpenMemHandle_v2",
    "cuIpcCloseMemHandle",
    "cuIpcOpenEventHandle",
];

/// Calls that release: their errors are those of earlier work, and nothing is left to be done about them.
const RELEASING: [&str; 9] = [
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxPopCurrent_v2",
    "cuMemRelease",
    "cuMemAddressFree",
    "cuMemUnmap",
    "cuMemFree_v2",
    "cuMemHostUnregister",
    "cuStreamDestroy_v2",
    "cuEventDestroy_v2",
];

#[test]
fn each_call_may_fail_at_any_time() {
    let mut fake = Fake::fresh();
    fake.set("delay_us", "0");
    everything(&fake.path).unwrap();
    assert_eq!(fake.alive(), [], "without any error");
    let log = fake.log();
    let mut rows = 0;
    for symbol in SYMBOLS.iter().filter(|symbol| !ELSEWHERE.contains(symbol)) {
        let calls = log
            .iter()
            .filter(|line| line.split(' ').next() == Some(symbol))
            .count();
        assert!(calls > 0, "{symbol} is never called");
        // Each of the first calls and the last ones; other codes in turn.
        for nth in (1..=calls).filter(|nth| *nth <= 12 || nth + 2 > calls) {
            let (code, name) = [
                (2, "CUDA_ERROR_OUT_OF_MEMORY"),
                (700, "CUDA_ERROR_ILLEGAL_ADDRESS"),
                (12_345, "an error unknown to this driver"),
            ][nth % 3];
            fake.calm();
            fake.set("fail", &format!("{symbol}:{nth}:{code}"));
            let outcome = everything(&fake.path);
            let row = format!("{symbol}, call {nth} of {calls}, {code}");
            // Sleeping threads call at times of their own, so the nth call of some may come or not: then all is well.
            let injected = fake.log().iter().any(|line| *line == format!("{symbol} {code}"));
            match outcome {
                Err(Error {
                    kind:
                        Kind::Driver {
                            code: got,
                            name: called,
                            call,
                        },
                    what,
                    mend,
                }) => {
                    assert_eq!((got, called.as_str(), call), (code, name, *symbol), "{row}");
                    assert!(what.contains(symbol) && !mend.is_empty(), "{row}");
                    assert!(!RELEASING.contains(symbol), "{row}: {what}");
                }
                Err(error) => panic!("{row}: {error}"),
                Ok(()) => {
                    let harmless = RELEASING.contains(symbol) || !injected;
                    // While a back end closes, what a device cannot enter any more is left to the process's end.
                    assert!(
                        harmless || *symbol == "cuCtxPushCurrent_v2",
                        "{row}: the error was lost"
                    );
                }
            }
            if *symbol == "cuCtxPushCurrent_v2" && !fake.alive().is_empty() {
                only_one_is_left(&fake, &row);
                fake = Fake::fresh();
                fake.set("delay_us", "0");
            }
            assert_eq!(fake.alive(), [], "{row}");
            rows += 1;
        }
    }
    println!("{rows} rows");
}

/// Only what needs a current context may be left, when making it current is what failed, and only one thing.
fn only_one_is_left(fake: &Fake, row: &str) {
    let alive = fake.alive();
    let few = ["hosts", "streams", "events", "plain", "opened"];
    assert!(
        alive
            .iter()
            .all(|(name, count)| few.contains(name) && *count == 1)
            && alive.len() == 1,
        "{row}: {alive:?}"
    );
}

#[test]
fn a_copy_that_fails_on_the_gpu_fails_its_put() {
    let fake = Fake::fresh();
    fake.set("fail", "copy:2:700");
    let mut back_end = Cuda::open(&CudaOptions {
        library: Some(fake.path.clone()),
        ..CudaOptions::default()
    })
    .unwrap();
    let memory = Arc::new(LandingMemory::create(&back_end.devices()[0], 100, Sharing::Auto).unwrap());
    let handle = back_end.register_landing(memory.clone()).unwrap();
    let segment = Arc::new(Segment::create(100, SegmentOptions::default()).unwrap());
    let from = Source {
        handle: back_end.register(Memory::Segment(segment)).unwrap(),
        offset: 0,
    };
    let mut outcomes = Vec::new();
    for tag in 0..3 {
        back_end
            .put(&Put {
                handle,
                offset: 0,
                from,
                length: 100,
                tag,
            })
            .unwrap();
        outcomes.extend(take(&mut back_end, 1));
    }
    assert_eq!(outcomes[0].result, Ok(()));
    // Such an error sticks to the context, as with the real driver.
    for done in &outcomes[1..] {
        let error = done.result.clone().unwrap_err();
        let expected = Kind::Driver {
            code: 700,
            name: "CUDA_ERROR_ILLEGAL_ADDRESS".into(),
            call: "cuEventSynchronize",
        };
        assert_eq!(error.kind, expected);
        assert!(error.mend.contains("Xid"), "{error}");
    }
    drop((back_end, memory));
    assert_eq!(fake.alive(), []);
}

#[test]
fn each_missing_symbol_is_an_error_that_names_it() {
    let whole = std::fs::read(library()).unwrap();
    let mut strings: HashMap<&[u8], Vec<usize>> = HashMap::new();
    let mut at = 0;
    for string in whole.split(|byte| *byte == 0) {
        strings.entry(string).or_default().push(at);
        at += string.len() + 1;
    }
    let folder = std::env::temp_dir().join(format!("os2g-symbols-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    for symbol in SYMBOLS {
        // Renamed in the library's string table, so that looking it up fails.
        let mut bytes = whole.clone();
        let places = &strings[symbol.as_bytes()];
        for at in places {
            bytes[at + symbol.len() - 1] ^= 1;
        }
        let path = folder.join(format!("{symbol}.so"));
        std::fs::write(&path, bytes).unwrap();
        let error = Driver::open(Some(&path)).map(|_| ()).unwrap_err();
        assert_eq!(error.kind, Kind::MissingSymbol(symbol), "{error}");
        assert!(
            error.what.contains(symbol) && error.mend.contains("470"),
            "{error}"
        );
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_is_no_driver_is_an_error() {
    let text = std::env::temp_dir().join(format!("os2g-text-{}.so", std::process::id()));
    std::fs::write(&text, "not a library").unwrap();
    let table = [
        (Path::new("/nonexistent/libcuda.so.1"), Kind::MissingLibrary),
        (text.as_path(), Kind::MissingLibrary),
        (Path::new("libc.so.6"), Kind::MissingSymbol("cuInit")),
    ];
    for (path, kind) in table {
        let error = Driver::open(Some(path)).map(|_| ()).unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(!error.mend.is_empty());
    }
    std::fs::remove_file(&text).unwrap();
}
