//! Two processes: the test, and a helper that is the same program started again as one test of it.

#![allow(dead_code)] // each test program uses a part

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use os2g_transfer::{Backend, Handle, Kind, Memory, Put, PutDone, Segment, SegmentOptions, Source};
use os2g_ucx::{Event, Landing, LandingMemory, Progress, Settings, Target, Ucx};

/// Whether there is a UCX to test with; says so where there is none, and fails where `OS2G_REQUIRE_UCX=1`.
pub fn ucx_here() -> bool {
    match Ucx::open(Settings::default()) {
        Ok(_) => true,
        Err(error) => {
            assert!(
                std::env::var_os("OS2G_REQUIRE_UCX").is_none_or(|value| value != "1"),
                "{error}"
            );
            eprintln!("SKIPPED, no UCX here: {error}");
            false
        }
    }
}

pub fn settings(transports: Option<&str>) -> Settings {
    Settings {
        transports: transports.map(str::to_owned),
        ..Settings::default()
    }
}

/// A small seeded generator (splitmix64); prints its seed, or takes `OS2G_TEST_SEED`.
pub struct Random(u64);

impl Random {
    pub fn new(what: &str) -> Self {
        let given = std::env::var("OS2G_TEST_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok());
        let clock = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        let seed = given.unwrap_or(clock.as_nanos() as u64);
        eprintln!("{what}: OS2G_TEST_SEED={seed}");
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

pub fn segment(length: usize) -> Arc<Segment> {
    Arc::new(Segment::create(length, SegmentOptions::default()).unwrap())
}

pub fn bytes_of(segment: &Segment) -> &[u8] {
    // SAFETY: the segment's own mapping; staging memory is written before its first use only.
    unsafe { std::slice::from_raw_parts(segment.pointer(), segment.len()) }
}

/// Staging memory with random bytes.
pub fn staging(random: &mut Random, length: usize) -> Arc<Segment> {
    let segment = segment(length);
    let bytes: Vec<u8> = (0..length / 8)
        .flat_map(|_| random.next().to_le_bytes())
        .collect();
    // SAFETY: at most the segment's length, into a mapping that nobody else has yet.
    unsafe {
        segment
            .pointer()
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len())
    };
    segment
}

/// Waits by the wake descriptor and takes completions until none is outstanding.
pub fn drain(ucx: &mut Ucx) -> Vec<PutDone> {
    let mut all = Vec::new();
    while ucx.waiting() > 0 {
        all.extend(take(ucx));
    }
    all
}

/// Waits by the wake descriptor for completions and takes them.
pub fn take(ucx: &mut Ucx) -> Vec<PutDone> {
    use std::os::fd::AsRawFd;
    let mut entry = libc::pollfd {
        fd: ucx.wake().unwrap().as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one valid entry. The limit is for a test that would hang.
    let count = unsafe { libc::poll(&mut entry, 1, 60_000) };
    assert_eq!(count, 1, "no completion for a minute, {} waiting", ucx.waiting());
    let mut done = vec![PutDone::default(); 100];
    let count = ucx.poll(&mut done);
    done.truncate(count);
    done
}

pub fn put(to: Handle, offset: u64, from: Handle, at: u64, length: u64, tag: u64) -> Put {
    Put {
        handle: to,
        offset,
        from: Source {
            handle: from,
            offset: at,
        },
        length,
        tag,
    }
}

/// Starts a put, taking completions while the back end is full.
pub fn put_when_free(ucx: &mut Ucx, put: &Put, done: &mut Vec<PutDone>) -> os2g_transfer::Result<()> {
    loop {
        match ucx.put(put) {
            Err(error) if error.kind == Kind::Full => done.extend(take(ucx)),
            other => return other,
        }
    }
}

/// What the helper is told by its environment: `ROLE MEMORY LENGTH TRANSPORTS PROGRESS`.
const TASK: &str = "OS2G_UCX_TEST_TASK";
const SOCKETS: &str = "OS2G_UCX_TEST_SOCKETS";

/// The helper process; killed when dropped.
pub struct Helper {
    pub child: Child,
    /// To its [`Target`] or [`Ucx`].
    pub control: Option<UnixStream>,
    /// To the helper itself.
    pub side: UnixStream,
}

impl Helper {
    pub fn start(task: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("os2g-ucx-{}-{count}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "common::helper_process",
                "--nocapture",
                "--test-threads=1",
            ])
            .stdout(Stdio::null())
            .env(TASK, task)
            .env(SOCKETS, &path)
            .spawn()
            .unwrap();
        let control = listener.accept().unwrap().0;
        let side = listener.accept().unwrap().0;
        std::fs::remove_file(path).unwrap();
        Self {
            child,
            control: Some(control),
            side,
        }
    }

    /// A target and a connected back end.
    pub fn connect(task: &str, settings: Settings) -> (Self, Ucx, Vec<Landing>) {
        let mut helper = Self::start(task);
        let mut ucx = Ucx::open(settings).unwrap();
        let landings = ucx.connect(helper.control.take().unwrap()).unwrap();
        (helper, ucx, landings)
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: our own child, not waited for yet.
        assert_eq!(unsafe { libc::kill(self.child.id() as i32, signal) }, 0);
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// What the target tells at its end: the tags that were announced, and its memory.
    pub fn finish(mut self) -> (Vec<u64>, Vec<u8>) {
        let read = |mut side: &UnixStream, length: usize| {
            let mut bytes = vec![0; length];
            side.read_exact(&mut bytes).unwrap();
            bytes
        };
        let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        let count = number(&read(&self.side, 8)) as usize;
        let tags = read(&self.side, 8 * count).chunks_exact(8).map(number).collect();
        let length = number(&read(&self.side, 8)) as usize;
        let memory = read(&self.side, length);
        assert!(self.child.wait().unwrap().success());
        (tags, memory)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The helper's program. As a test of the test program itself it has nothing to do.
#[test]
fn helper_process() {
    let Ok(task) = std::env::var(TASK) else { return };
    let path = PathBuf::from(std::env::var_os(SOCKETS).unwrap());
    let control = UnixStream::connect(&path).unwrap();
    let side = UnixStream::connect(&path).unwrap();
    let words: Vec<&str> = task.split(' ').collect();
    let [role, memory, length, transports, progress] = words[..] else {
        panic!("{task}")
    };
    let length = length.parse().unwrap();
    let settings = settings(Some(transports).filter(|word| *word != "-"));
    match role {
        "target" => target(memory, length, progress, &settings, control, side),
        "initiator" => initiator(length, settings, control),
        _ => panic!("{task}"),
    }
}

fn target(
    memory: &str,
    length: usize,
    progress: &str,
    settings: &Settings,
    control: UnixStream,
    mut side: UnixStream,
) {
    let memory = match memory {
        "allocate" => LandingMemory::Allocate(length),
        _ => LandingMemory::Segment(segment(length)),
    };
    let progress = if progress == "thread" {
        Progress::Thread
    } else {
        Progress::Never
    };
    let target = Target::new(settings, vec![memory], progress).unwrap();
    let mut link = target.accept(control).unwrap();
    let mut tags = Vec::new();
    loop {
        match link.wait() {
            Ok(Event::Done(done)) => tags.extend(done),
            Ok(Event::Bye) => break,
            Err(error) => {
                writeln!(side, "{:?}: {error}", error.kind).unwrap();
                return;
            }
        }
    }
    let (address, length) = target.memory(0).unwrap();
    // SAFETY: the target's own landing memory, of which the initiator has said goodbye.
    let memory = unsafe { std::slice::from_raw_parts(address, length) };
    side.write_all(&(tags.len() as u64).to_le_bytes()).unwrap();
    side.write_all(&tags.iter().flat_map(|tag| tag.to_le_bytes()).collect::<Vec<_>>())
        .unwrap();
    side.write_all(&(length as u64).to_le_bytes()).unwrap();
    side.write_all(memory).unwrap();
}

/// Puts without end, until it is killed.
fn initiator(length: usize, settings: Settings, control: UnixStream) {
    let mut ucx = Ucx::open(settings).unwrap();
    let landing = ucx.connect(control).unwrap()[0];
    let from = ucx.register(Memory::Segment(segment(length))).unwrap();
    let mut done = Vec::new();
    for tag in 0.. {
        let length = landing.length.min(length as u64);
        put_when_free(&mut ucx, &put(landing.handle, 0, from, 0, length, tag), &mut done).unwrap();
        done.clear();
    }
}
