//! Bytes arrive, all of them and in their places, while the target's process sleeps.

// The exception for tests in clippy.toml knows test functions only; all of this program is a test.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::net::{TcpListener, TcpStream};

use common::{Helper, Random, bytes_of, drain, put, put_when_free, settings, staging, ucx_here};
use os2g_transfer::{Backend, Memory, Put};
use os2g_ucx::{Event, Landing, LandingMemory, Progress, Settings, Target, Ucx, probe};

const MEMORY_BYTES: usize = 32 << 20;
const LARGEST: u64 = 8 << 20;

/// Puts that do not overlap, from 1 byte to 8 MiB, in random order, with gaps between; the largest is always there.
fn plan(random: &mut Random, landing: Landing, from: os2g_transfer::Handle) -> Vec<Put> {
    let mut puts = Vec::new();
    let mut offset = random.below(64);
    let mut length = LARGEST;
    while offset + length <= landing.length {
        let tag = random.next();
        puts.push(put(
            landing.handle,
            offset,
            from,
            random.below(MEMORY_BYTES as u64 - length + 1),
            length,
            tag,
        ));
        offset += length + random.below(3) * random.below(5000);
        // Small ones are many: sizes are uniform in their logarithm.
        let most = if random.below(16) == 0 { 24 } else { 13 };
        let bits = random.below(most);
        length = 1 + random.below(1 << bits).min(LARGEST - 1);
    }
    for index in (1..puts.len()).rev() {
        puts.swap(index, random.below(index as u64 + 1) as usize);
    }
    puts
}

/// Does the puts of a plan and returns what the landing memory must hold.
fn run(random: &mut Random, ucx: &mut Ucx, landing: Landing) -> (Vec<u64>, Vec<u8>) {
    let source = staging(random, MEMORY_BYTES);
    let from = ucx.register(Memory::Segment(source.clone())).unwrap();
    let puts = plan(random, landing, from);
    let mut expected = vec![0; landing.length as usize];
    let mut done = Vec::new();
    for put in &puts {
        put_when_free(ucx, put, &mut done).unwrap();
        let (to, at, length) = (put.offset as usize, put.from.offset as usize, put.length as usize);
        expected[to..to + length].copy_from_slice(&bytes_of(&source)[at..at + length]);
    }
    done.extend(drain(ucx));
    for ended in &done {
        assert_eq!(ended.result, Ok(()));
    }
    let mut tags: Vec<u64> = done.iter().map(|ended| ended.tag).collect();
    let mut asked: Vec<u64> = puts.iter().map(|put| put.tag).collect();
    tags.sort_unstable();
    asked.sort_unstable();
    assert_eq!(tags, asked, "each put completes exactly once");
    eprintln!(
        "{} puts, {:?}",
        puts.len(),
        ucx.report(landing.handle).unwrap().path()
    );
    (tags, expected)
}

#[test]
fn every_byte_arrives_while_the_target_sleeps() {
    if !ucx_here() {
        return;
    }
    let table = [
        // memory, transports, progress, the words that the protocol must have
        ("allocate", "posix,self", "never", "posix/memory"),
        ("allocate", "-", "never", ""),
        ("segment", "cma,posix,self", "never", "cma/memory"),
        ("segment", "-", "never", "cma/memory"),
        ("segment", "-", "thread", "cma/memory"),
    ];
    for (memory, transports, progress, words) in table {
        let row = format!("{memory} {transports} {progress}");
        let mut random = Random::new(&row);
        let task = format!("target {memory} {MEMORY_BYTES} {transports} {progress}");
        let transports = Some(transports).filter(|word| *word != "-");
        let (helper, mut ucx, landings) = Helper::connect(&task, settings(transports));
        let report = ucx.report(landings[0].handle).unwrap().clone();
        assert_eq!(report.seen_by_target, Some(true), "{row}");
        assert!(
            report
                .protocols
                .iter()
                .any(|protocol| protocol.text.contains(words)),
            "{row}: {report:?}"
        );
        assert!(
            !report.direct && ucx.capabilities().target_passive && !ucx.capabilities().direct,
            "{row}"
        );

        let (tags, expected) = run(&mut random, &mut ucx, landings[0]);
        ucx.close().unwrap();
        let (mut announced, memory) = helper.finish();
        announced.sort_unstable();
        assert_eq!(announced, tags, "{row}: the target hears of each put");
        assert!(
            memory == expected,
            "{row}: first difference at {:?}",
            differ(&memory, &expected)
        );
    }
}

fn differ(left: &[u8], right: &[u8]) -> Option<usize> {
    left.iter().zip(right).position(|(left, right)| left != right)
}

/// The hardest sleep: a stopped process runs nothing at all.
#[test]
fn puts_complete_while_the_target_is_stopped() {
    if !ucx_here() {
        return;
    }
    for (memory, transports) in [("allocate", "posix,self"), ("segment", "cma,posix,self")] {
        let mut random = Random::new(memory);
        let task = format!("target {memory} {MEMORY_BYTES} {transports} never");
        let (helper, mut ucx, landings) = Helper::connect(&task, settings(Some(transports)));
        helper.signal(libc::SIGSTOP);
        let (_, expected) = run(&mut random, &mut ucx, landings[0]);
        helper.signal(libc::SIGCONT);
        ucx.close().unwrap();
        assert!(helper.finish().1 == expected, "{memory}");
    }
}

/// Two regions, a control socket over TCP, and a description brought by a channel of one's own.
#[test]
fn regions_tcp_and_descriptions() {
    if !ucx_here() {
        return;
    }
    let mut random = Random::new("regions");
    let memory = || vec![LandingMemory::Allocate(MEMORY_BYTES), LandingMemory::Allocate(3)];
    let target = Target::new(&settings(Some("posix,self")), memory(), Progress::Never).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let accepted = listener.accept().unwrap().0;
    let mut ucx = Ucx::open(settings(Some("posix,self"))).unwrap();
    let (tags, expected) = std::thread::scope(|scope| {
        let announced = scope.spawn(|| {
            let mut link = target.accept(accepted).unwrap();
            let mut tags = Vec::new();
            while let Event::Done(done) = link.wait().unwrap() {
                tags.extend(done);
            }
            tags
        });
        let landings = ucx.connect(stream).unwrap();
        assert_eq!(
            landings.iter().map(|landing| landing.length).collect::<Vec<_>>(),
            [MEMORY_BYTES as u64, 3]
        );
        let (tags, expected) = run(&mut random, &mut ucx, landings[0]);
        ucx.unregister(landings[0].handle).unwrap();
        assert!(
            ucx.capabilities().target_passive,
            "the second region is still connected"
        );
        ucx.unregister(landings[1].handle).unwrap();
        assert!(!ucx.capabilities().target_passive, "no target is left");
        let mut announced = announced.join().unwrap();
        announced.sort_unstable();
        assert_eq!(announced, tags);
        (tags, expected)
    });
    assert!(!tags.is_empty());
    assert!(landed(&target) == expected);

    let handle = ucx.register(Memory::Remote(target.describe(0).unwrap())).unwrap();
    let landing = Landing {
        handle,
        length: MEMORY_BYTES as u64,
    };
    assert_eq!(ucx.report(handle).unwrap().seen_by_target, None);
    // The check has written its pattern, and nobody zeroes it here.
    let (address, _) = target.memory(0).unwrap();
    // SAFETY: the target's own memory, which nobody writes now.
    unsafe { address.write_bytes(0, MEMORY_BYTES) };
    let (_, expected) = run(&mut random, &mut ucx, landing);
    ucx.close().unwrap();
    assert!(landed(&target) == expected);
}

fn landed(target: &Target) -> &[u8] {
    let (address, length) = target.memory(0).unwrap();
    // SAFETY: the target's own memory, which nobody writes now.
    unsafe { std::slice::from_raw_parts(address, length) }
}

#[test]
fn the_probe_tries_what_it_found() {
    if !ucx_here() {
        return;
    }
    let found = probe(&Settings::default());
    assert!(found.found && found.works && found.mend.is_empty(), "{found:?}");
    assert!(found.why.contains("UCX 1."), "{found:?}");
    let missing = Settings {
        places: os2g_ucx::Places {
            library: Some("/nonexistent/libucp.so.0".into()),
            wheel: None,
        },
        ..Settings::default()
    };
    let found = probe(&missing);
    assert!(
        !found.found && !found.works && found.mend.contains("OS2G_UCX_LIBRARY"),
        "{found:?}"
    );
    // Found, but no path leaves the target asleep.
    let found = probe(&settings(Some("tcp")));
    assert!(
        found.found && !found.works && found.why.contains("tcp/"),
        "{found:?}"
    );
}
