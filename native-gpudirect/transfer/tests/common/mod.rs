//! What the tests share: a peer process, waits with a bound, and the fake driver.

#![allow(dead_code, reason = "each test uses a part of it")]

pub mod ends;
pub mod fake;
pub mod gpu;
pub mod segments;

use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use os2g_transfer::{Backend, Control, PutDone};

/// A bound for whatever must happen; reached only when something hangs.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Another process: this test binary again, running the test `role` with its end of a socket as standard input.
pub struct Peer {
    pub child: Child,
    pub control: Control,
}

impl Peer {
    pub fn start(role: &str, environment: &[(&str, &str)]) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(LIMIT)).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", role, "--nocapture", "--test-threads=1"])
            .env("OS2G_TEST_ROLE", role)
            .envs(environment.iter().copied())
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            child,
            control: Control::new(ours),
        }
    }

    /// SIGKILL, then waits for the process to be gone.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for it to end well.
    pub fn finish(mut self) {
        drop(self.control);
        assert!(self.child.wait().unwrap().success(), "the peer failed");
    }
}

/// In a peer: its socket. In an ordinary run of the tests: none, and the role has nothing to do.
pub fn role(name: &str) -> Option<Control> {
    if std::env::var("OS2G_TEST_ROLE").as_deref() != Ok(name) {
        return None;
    }
    // SAFETY: standard input is the socket that `Peer::start` gave; nothing else in this process uses it.
    let stream = unsafe { <UnixStream as std::os::fd::FromRawFd>::from_raw_fd(0) };
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    Some(Control::new(stream))
}

pub fn tell(control: &Control, word: u8) {
    std::io::Write::write_all(&mut control.stream(), &[word]).unwrap();
}

/// The next byte from the other side, or none at the end of the stream.
pub fn hear(control: &Control) -> Option<u8> {
    let mut word = [0];
    match std::io::Read::read(&mut control.stream(), &mut word) {
        Ok(0) => None,
        Ok(_) => Some(word[0]),
        Err(error) if error.raw_os_error() == Some(libc::ECONNRESET) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Waits until a condition holds.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LIMIT, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Takes `count` completions, asleep on the wake descriptor in between.
pub fn take(back_end: &mut dyn Backend, count: usize) -> Vec<PutDone> {
    let mut all = Vec::new();
    while all.len() < count {
        let mut done = vec![PutDone::default(); 3];
        let got = back_end.poll(&mut done);
        all.extend(done.drain(..got));
        if got == 0 {
            let wake = back_end
                .wake()
                .expect("puts wait, so there is something to wait on")
                .as_raw_fd();
            assert!(readable(wake, LIMIT), "no completion came");
        }
    }
    all
}

pub fn readable(fd: i32, limit: Duration) -> bool {
    let mut poll = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one pollfd, alive for the call.
    unsafe { libc::poll(&raw mut poll, 1, limit.as_millis() as i32) > 0 }
}

/// Bytes that tell their place, other ones for each `salt`.
pub fn pattern(salt: u64, length: usize) -> Vec<u8> {
    let mut random = Random::new(salt);
    (0..length).map(|_| random.below(256) as u8).collect()
}

/// splitmix64
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// Descriptors of a process that point at something whose name holds `part`.
pub fn descriptors(pid: u32, part: &str) -> usize {
    let Ok(folder) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return 0;
    };
    folder
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|link| link.to_string_lossy().contains(part))
        .count()
}

/// Mappings of a process whose name holds `part`.
pub fn mappings(pid: u32, part: &str) -> usize {
    std::fs::read_to_string(format!("/proc/{pid}/maps"))
        .unwrap_or_default()
        .lines()
        .filter(|line| line.contains(part))
        .count()
}

/// Files in /dev/shm that bear our name. A test makes none, ever, as memfds have no name there; another program on the
/// machine may well have some.
pub fn shared_files() -> Vec<String> {
    let folder = std::fs::read_dir("/dev/shm").unwrap();
    let names = folder.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.contains("os2g")).collect();
    names.sort();
    names
}

/// What came to be in /dev/shm since `before` was taken, and is still there.
pub fn left_behind(before: &[String]) -> Vec<String> {
    let mut names = shared_files();
    names.retain(|name| !before.contains(name));
    names
}
