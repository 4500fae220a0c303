//! Receiving in place against receiving and copying: GB/s, both in one run.
//!
//! `cargo run --release -p os2g-transfer --example shm_bench [OBJECT_BYTES [SLOTS [SECONDS]]]`
//!
//! One thread sends objects through a Unix stream socket pair; the other reads each of them, once straight into a
//! slot of the landing segment, once into a buffer that a put then copies into the slot. Rounds alternate, and the
//! best and the median of each way are printed, with the CPU time of the receiving thread; also the bare put
//! (memcpy), and receiving into private memory for comparison. Each round's last slots are compared with what was sent.

use std::error::Error;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use os2g_transfer::{Backend, Handle, Memory, Pages, Put, PutDone, Segment, SegmentOptions, Shm, Source};

struct Bench {
    shm: Shm,
    landing: Handle,
    staging: Handle,
    object: usize,
    slots: usize,
    round: Duration,
}

/// One round: bytes, seconds on the clock, seconds of CPU of this thread.
struct Round {
    rate: f64,
    cpu_per_gb: f64,
}

fn cpu_seconds() -> f64 {
    // SAFETY: all zeroes is a valid timespec, and the call writes one.
    unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    }
}

/// # Safety
/// `at + length` is at most the segment's length, and nothing else uses that range while the slice is alive.
unsafe fn slice<'a>(segment: &Arc<Segment>, at: usize, length: usize) -> &'a mut [u8] {
    // SAFETY: passed on to the caller.
    unsafe { std::slice::from_raw_parts_mut(segment.pointer().add(at), length) }
}

impl Bench {
    fn put(&mut self, slot: usize) -> Result<(), Box<dyn Error>> {
        let offset = (slot * self.object) as u64;
        let from = Source {
            handle: self.staging,
            offset: 0,
        };
        self.shm.put(&Put {
            handle: self.landing,
            offset,
            from,
            length: self.object as u64,
            tag: 0,
        })?;
        let mut done = [PutDone::default()];
        assert_eq!(self.shm.poll(&mut done), 1);
        Ok(done[0].result.clone()?)
    }

    /// `step` handles one object for a slot.
    fn timed(
        &mut self,
        mut step: impl FnMut(&mut Self, usize) -> Result<(), Box<dyn Error>>,
    ) -> Result<Round, Box<dyn Error>> {
        let (start, cpu) = (Instant::now(), cpu_seconds());
        let mut objects = 0;
        while start.elapsed() < self.round {
            step(self, objects % self.slots)?;
            objects += 1;
        }
        let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
        let gigabytes = (objects * self.object) as f64 / 1e9;
        Ok(Round {
            rate: gigabytes / seconds,
            cpu_per_gb: cpu / gigabytes,
        })
    }

    fn way(&mut self, name: &str, socket: &mut UnixStream) -> Result<Round, Box<dyn Error>> {
        let landing = self.shm.segment(self.landing)?.clone();
        let staging = self.shm.segment(self.staging)?.clone();
        let object = self.object;
        let private = &mut vec![0; object];
        self.timed(|bench, slot| {
            match name {
                // SAFETY: slot < slots, and the landing segment has that many; only this thread uses it.
                "in place" => socket.read_exact(unsafe { slice(&landing, slot * object, object) })?,
                "received, then put" => {
                    // SAFETY: the staging segment has one object; only this thread uses it.
                    socket.read_exact(unsafe { slice(&staging, 0, object) })?;
                    bench.put(slot)?;
                }
                "private memory, no landing" => socket.read_exact(private)?,
                _ => bench.put(slot)?,
            }
            Ok(())
        })
    }
}

const WAYS: [&str; 4] = [
    "in place",
    "received, then put",
    "private memory, no landing",
    "put alone (memcpy)",
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse::<usize>());
    let (object, slots, seconds) = (number(110_000)?, number(256)?, number(20)?);
    let options = SegmentOptions {
        pages: Pages::Normal,
        populate: true,
    };
    let mut shm = Shm::new();
    let landing = shm.register(Memory::Segment(Arc::new(Segment::create(
        object * slots,
        options,
    )?)))?;
    let staging = shm.register(Memory::Segment(Arc::new(Segment::create(object, options)?)))?;
    let bytes: Vec<u8> = (0..object)
        .map(|index| (index * 31 + index / 257) as u8)
        .collect();
    let rounds = 5;
    let round = Duration::from_secs(seconds as u64) / (rounds * WAYS.len() as u32);
    let mut bench = Bench {
        shm,
        landing,
        staging,
        object,
        slots,
        round,
    };
    let (mut receiver, mut sender) = UnixStream::pair()?;
    let sent = bytes.clone();
    // Ends when the receiver closes the socket.
    let thread = std::thread::spawn(move || while sender.write_all(&sent).is_ok() {});
    let mut results: Vec<Vec<Round>> = WAYS.iter().map(|_| Vec::new()).collect();
    for _ in 0..rounds {
        for (way, name) in WAYS.iter().enumerate() {
            let result = bench.way(name, &mut receiver)?;
            results[way].push(result);
            let segment = bench.shm.segment(landing)?;
            // SAFETY: the first slot, which nothing writes between two rounds.
            let right = way > 1 || unsafe { slice(segment, 0, object) } == bytes;
            assert!(right, "{name}: other bytes than were sent");
        }
    }
    drop(receiver);
    thread.join().map_err(|_| "the sender failed")?;
    println!(
        "{object} bytes an object, {slots} slots, {rounds} rounds of {round:?} each, pages {:?}",
        options.pages
    );
    println!(
        "{:<28} {:>10} {:>12} {:>18}",
        "", "best GB/s", "median GB/s", "CPU s/GB (median)"
    );
    for (name, mut rounds) in WAYS.iter().zip(results) {
        rounds.sort_by(|one, other| other.rate.total_cmp(&one.rate));
        let middle = &rounds[rounds.len() / 2];
        println!(
            "{name:<28} {:>10.2} {:>12.2} {:>18.3}",
            rounds[0].rate, middle.rate, middle.cpu_per_gb
        );
    }
    Ok(())
}
