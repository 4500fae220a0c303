//! UCX puts into the memory of a sleeping process, beside a plain memcpy of the same bytes, in one run.
//!
//! `OS2G_UCX_LIBRARY=.../libucp.so.0 cargo run --release -p os2g-ucx --example put-bench [-- rounds]`
//!
//! Each row runs the same puts `rounds` times over: as many slots of `bytes` as fit in 64 MiB, source and destination
//! alike. The target is a child process that sleeps in `recv`; its CPU share is its CPU time over the puts' wall
//! time, from the first put to the last completion, completions announced all the while. memcpy copies the same
//! bytes within one process between memory of the same kind. Every byte is compared at the end.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use os2g_transfer::{Backend, Kind, Memory, Put, PutDone, Segment, SegmentOptions, Source};
use os2g_ucx::{Event, LandingMemory, Progress, Settings, Target, Ucx};

const MEMORY_BYTES: usize = 64 << 20;
const CHILD: &str = "OS2G_PUT_BENCH_CHILD";

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    if let Ok(task) = std::env::var(CHILD) {
        return target(&task);
    }
    let rounds: usize = std::env::args().nth(1).map_or(Ok(40), |rounds| rounds.parse())?;
    println!(
        "UCX puts, 64 MiB of memory, {rounds} rounds, {} cores",
        std::thread::available_parallelism()?
    );
    println!(
        "bytes    | landing memory, transports | GB/s  | us/put | initiator CPU us/put | target CPU | of memcpy | path"
    );
    for bytes in [110_000, 1 << 20] {
        let memcpy = memcpy(bytes, rounds)?;
        println!(
            "{bytes:>8} | memcpy, one process         | {:5.2} | {:6.1} |",
            gigabytes(bytes, memcpy),
            micros(memcpy)
        );
        for (memory, transports) in [
            ("allocate", "posix,self"),
            ("segment", "cma,posix,self"),
            ("allocate", "-"),
        ] {
            row(bytes, rounds, memory, transports, memcpy)?;
        }
    }
    Ok(())
}

/// Source and destination slots, touched.
fn segment() -> Result<Arc<Segment>> {
    Ok(Arc::new(Segment::create(
        MEMORY_BYTES,
        SegmentOptions {
            populate: true,
            ..SegmentOptions::default()
        },
    )?))
}

fn bytes_of(segment: &Segment) -> &[u8] {
    // SAFETY: the segment's own mapping; read only while nobody writes it.
    unsafe { std::slice::from_raw_parts(segment.pointer(), segment.len()) }
}

fn fill(segment: &Segment) {
    let mut value = 0x05_2060_u64;
    for index in 0..segment.len() / 8 {
        value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // SAFETY: inside the segment, which is aligned to pages and not used by others yet.
        unsafe { segment.pointer().cast::<u64>().add(index).write(value >> 8) };
    }
}

/// Time of one copy.
fn memcpy(bytes: usize, rounds: usize) -> Result<Duration> {
    let (from, to) = (segment()?, segment()?);
    fill(&from);
    let count = MEMORY_BYTES / bytes;
    let begin = Instant::now();
    for _ in 0..rounds {
        for slot in 0..count {
            let at = slot * bytes;
            // SAFETY: slots inside both segments, which are apart.
            unsafe {
                to.pointer()
                    .add(at)
                    .copy_from_nonoverlapping(from.pointer().add(at), bytes)
            };
        }
        std::hint::black_box(to.pointer());
    }
    let took = begin.elapsed() / u32::try_from(rounds * count)?;
    let end = count * bytes;
    if bytes_of(&to)[..end] != bytes_of(&from)[..end] {
        return Err("memcpy copied wrong bytes".into());
    }
    Ok(took)
}

fn row(bytes: usize, rounds: usize, memory: &str, transports: &str, memcpy: Duration) -> Result<()> {
    let (mut child, control, mut side) = start(memory, transports)?;
    let transports_set = Some(transports.to_owned()).filter(|word| word != "-");
    let mut ucx = Ucx::open(Settings {
        transports: transports_set,
        ..Settings::default()
    })?;
    let to = ucx.connect(control)?[0].handle;
    let source = segment()?;
    fill(&source);
    let from = ucx.register(Memory::Segment(Arc::clone(&source)))?;
    let count = MEMORY_BYTES / bytes;
    let put = |slot: usize| Put {
        handle: to,
        offset: (slot * bytes) as u64,
        from: Source {
            handle: from,
            offset: (slot * bytes) as u64,
        },
        length: bytes as u64,
        tag: slot as u64,
    };
    // Once over all pages first: page faults are not the puts'.
    run(&mut ucx, (0..count).map(put))?;
    side.write_all(b"b")?;
    side.read_exact(&mut [0])?;
    let (begin, cpu) = (Instant::now(), cpu_time()?);
    run(&mut ucx, (0..rounds).flat_map(|_| (0..count).map(put)))?;
    let (took, cpu) = (begin.elapsed(), cpu_time()? - cpu);
    side.write_all(b"e")?;
    let mut micros_of_target = [0; 8];
    side.read_exact(&mut micros_of_target)?;
    let share = u64::from_le_bytes(micros_of_target) as f64 / took.as_micros() as f64;

    let path = ucx.report(to).map(|report| report.path()).unwrap_or_default();
    ucx.close()?;
    let mut landed = vec![0; MEMORY_BYTES];
    side.read_exact(&mut landed)?;
    child.wait()?;
    let end = count * bytes;
    if landed[..end] != bytes_of(&source)[..end] {
        return Err(format!("wrong bytes arrived over {path}").into());
    }
    let puts = u32::try_from(rounds * count)?;
    let (each, cpu) = (took / puts, cpu / puts);
    let words = format!("{memory}, {transports}");
    println!(
        "{bytes:>8} | {words:<27} | {:5.2} | {:6.1} | {:20.1} | {:9.3}% | {:8.2}x | {path}",
        gigabytes(bytes, each),
        micros(each),
        micros(cpu),
        share * 100.0,
        each.as_secs_f64() / memcpy.as_secs_f64(),
    );
    Ok(())
}

/// Does the puts and waits for all; sleeps on the wake descriptor in between.
fn run(ucx: &mut Ucx, puts: impl Iterator<Item = Put>) -> Result<()> {
    let mut done = vec![PutDone::default(); 256];
    let mut take = |ucx: &mut Ucx| -> Result<()> {
        wait(ucx);
        let count = ucx.poll(&mut done);
        done[..count].iter().try_for_each(|ended| ended.result.clone())?;
        Ok(())
    };
    for put in puts {
        // At most 64 in flight, as a feeder would have.
        while ucx.waiting() >= 64 {
            take(ucx)?;
        }
        match ucx.put(&put) {
            Err(error) if error.kind == Kind::Full => take(ucx)?,
            other => other?,
        }
    }
    while ucx.waiting() > 0 {
        take(ucx)?;
    }
    Ok(())
}

fn wait(ucx: &Ucx) {
    use std::os::fd::AsRawFd;
    let Some(wake) = ucx.wake() else { return };
    let mut entry = libc::pollfd {
        fd: wake.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one valid entry. Whatever the answer, the caller polls.
    unsafe { libc::poll(&mut entry, 1, 1000) };
}

/// Of all threads of this process.
fn cpu_time() -> Result<Duration> {
    // SAFETY: a structure of numbers, for which zeros are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: a valid place for the result.
    if unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    let of = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    Ok(of(usage.ru_utime) + of(usage.ru_stime))
}

fn start(memory: &str, transports: &str) -> Result<(Child, UnixStream, UnixStream)> {
    let path = std::env::temp_dir().join(format!("os2g-put-bench-{}", std::process::id()));
    let listener = UnixListener::bind(&path)?;
    let task = format!("{memory} {transports} {}", path.display());
    let child = Command::new(std::env::current_exe()?).env(CHILD, task).spawn()?;
    let control = listener.accept()?.0;
    let side = listener.accept()?.0;
    std::fs::remove_file(path)?;
    Ok((child, control, side))
}

/// The child: one thread sleeps in `recv` on the control socket, the other in `read` on the side channel.
fn target(task: &str) -> Result<()> {
    let words: Vec<&str> = task.splitn(3, ' ').collect();
    let [memory, transports, path] = words[..] else {
        return Err("a bad task".into());
    };
    let control = UnixStream::connect(path)?;
    let mut side = UnixStream::connect(path)?;
    let transports = Some(transports.to_owned()).filter(|word| word != "-");
    let landing = if memory == "allocate" {
        LandingMemory::Allocate(MEMORY_BYTES)
    } else {
        LandingMemory::Segment(segment()?)
    };
    let target = Target::new(
        &Settings {
            transports,
            ..Settings::default()
        },
        vec![landing],
        Progress::Never,
    )?;
    let mut link = target.accept(control)?;
    std::thread::scope(|scope| -> Result<()> {
        let told = scope.spawn(move || while !matches!(link.wait(), Ok(Event::Bye) | Err(_)) {});
        side.read_exact(&mut [0])?;
        let begin = cpu_time()?;
        side.write_all(b"b")?;
        side.read_exact(&mut [0])?;
        let micros = (cpu_time()? - begin).as_micros() as u64;
        side.write_all(&micros.to_le_bytes())?;
        told.join().map_err(|_| "the target's thread panicked")?;
        Ok(())
    })?;
    let (address, length) = target.memory(0).ok_or("no memory")?;
    // SAFETY: the target's own memory, of which the initiator has said goodbye.
    side.write_all(unsafe { std::slice::from_raw_parts(address, length) })?;
    Ok(())
}

fn gigabytes(bytes: usize, each: Duration) -> f64 {
    bytes as f64 / each.as_secs_f64() / 1e9
}

fn micros(each: Duration) -> f64 {
    each.as_secs_f64() * 1e6
}
