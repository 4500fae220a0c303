//! The fake driver: built once, loaded as a fresh copy by each test, so that each has a driver of its own.

use std::ffi::CString;
use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use libloading::Library;

/// `OS2G_FAKE_CUDA`, or built by the Cargo that runs these tests.
pub fn library() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| std::env::var_os("OS2G_FAKE_CUDA").map_or_else(build, PathBuf::from))
}

fn build() -> PathBuf {
    // TARGET/PROFILE/deps/this-test
    let executable = std::env::current_exe().unwrap();
    let target = executable.ancestors().nth(3).unwrap();
    let cargo = std::env::var_os("CARGO").expect("run by cargo, or with OS2G_FAKE_CUDA set");
    let output = Command::new(cargo)
        .args([
            "build",
            "-p",
            "os2g-fake-cuda",
            "--message-format=json-render-diagnostics",
            "--target-dir",
        ])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let path = text
        .split('"')
        .find(|part| part.ends_with("/libcuda.so"))
        .expect("cargo names the library");
    PathBuf::from(path)
}

/// Names of the fake's counters, in their order.
const COUNTERS: [&str; 12] = [
    "contexts",
    "pushed",
    "allocations",
    "reservations",
    "mappings",
    "plain",
    "opened",
    "hosts",
    "streams",
    "events",
    "violations",
    "pageable",
];

/// A driver of this test's own.
pub struct Fake {
    pub path: PathBuf,
    library: Library,
}

impl Fake {
    pub fn fresh() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let copy = std::env::temp_dir().join(format!("os2g-fake-{}-{number}.so", std::process::id()));
        std::fs::copy(library(), &copy).unwrap();
        // Loaded by its descriptor, so that no file is left when this process is killed. The descriptor stays open:
        // the loader knows libraries by their path, so the same path must not come to mean another copy.
        let file = std::fs::File::open(&copy).unwrap();
        std::fs::remove_file(&copy).unwrap();
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.into_raw_fd()));
        // SAFETY: the library just built; its initialisers do nothing.
        let library = unsafe { Library::new(&path) }.unwrap();
        Self { path, library }
    }

    pub fn set(&self, name: &str, value: &str) {
        let (name, value) = (CString::new(name).unwrap(), CString::new(value).unwrap());
        // SAFETY: the function's own type; both texts are alive.
        let answer = unsafe {
            let set = self
                .library
                .get::<unsafe extern "C" fn(*const i8, *const i8) -> i32>(b"os2g_fake_cuda_set\0");
            set.unwrap()(name.as_ptr().cast(), value.as_ptr().cast())
        };
        assert_eq!(answer, 0, "the fake knows no {name:?} = {value:?}");
    }

    pub fn calm(&self) {
        // SAFETY: the function's own type.
        unsafe {
            self.library
                .get::<unsafe extern "C" fn()>(b"os2g_fake_cuda_calm\0")
                .unwrap()()
        };
    }

    /// What is alive, by name; only what is not 0.
    pub fn alive(&self) -> Vec<(&'static str, u64)> {
        let mut numbers = [0u64; 12];
        // SAFETY: the function's own type; writes the array.
        unsafe {
            self.library
                .get::<unsafe extern "C" fn(*mut [u64; 12])>(b"os2g_fake_cuda_counters\0")
                .unwrap()(&raw mut numbers);
        }
        COUNTERS
            .into_iter()
            .zip(numbers)
            .filter(|(_, number)| *number != 0)
            .collect()
    }

    /// Calls so far, `NAME ANSWER` a line.
    pub fn log(&self) -> Vec<String> {
        // SAFETY: the function's own type; writes no more than the buffer's length.
        let text = unsafe {
            let log = self
                .library
                .get::<unsafe extern "C" fn(*mut u8, usize) -> usize>(b"os2g_fake_cuda_log\0")
                .unwrap();
            let mut buffer = vec![0; log(std::ptr::null_mut(), 0) + 4096];
            let length = log(buffer.as_mut_ptr(), buffer.len()).min(buffer.len());
            buffer.truncate(length);
            String::from_utf8(buffer).unwrap()
        };
        text.lines().map(str::to_owned).collect()
    }

    pub fn called(&self, name: &str) -> usize {
        self.log()
            .iter()
            .filter(|line| line.split(' ').next() == Some(name))
            .count()
    }
}
