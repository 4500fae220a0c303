//! Attempts that are ended early, and what is left of them: nothing.

use crate::kit::{Driver, ETAG, Object, Random, Store, answer, body_of, object_answer, options_for, until};
use os2g_engine::Class;

const LENGTH: usize = 100_000;

fn body() -> Vec<u8> {
    body_of(LENGTH)
}

fn objects() -> [Object; 1] {
    [Object {
        key: "k",
        size: LENGTH as u64,
        etag: Some(ETAG),
    }]
}

fn head_and_half() -> Vec<u8> {
    answer(
        200,
        &[("ETag", ETAG), ("Content-Length", "100000")],
        &body()[..LENGTH / 2],
    )
}

#[test]
fn cancels_anywhere_leak_no_socket_no_slot_and_no_descriptor() {
    const SLOTS: u32 = 16;
    const ATTEMPTS: u32 = 10_000;
    const FIRST: usize = 65_536;
    let mut random = Random::seeded();
    // Some answers come whole, some stop half-way, some never begin.
    let store = Store::start(|request, connection| match request.number % 4 {
        _ if request.range().is_some() => {
            let _ = connection.write_all(&object_answer(request, &body(), ETAG));
        }
        0 => {}
        1 => {
            let _ = connection.write_all(&head_and_half());
        }
        _ => {
            let _ = connection.write_all(&object_answer(request, &body(), ETAG));
        }
    });
    let mut options = options_for(store.address);
    options.threads = 2;
    let mut driver = Driver::start(options, &objects());
    let slot_bytes = LENGTH + 4096;
    let (mut begun, mut cancelled) = (0, 0);
    let mut free: Vec<u32> = (0..SLOTS).collect();
    let mut running: Vec<(u32, u32)> = Vec::new();
    let mut noted = 0;
    while noted < ATTEMPTS as usize {
        while begun < ATTEMPTS && random.below(3) > 0 {
            let Some(id) = free.pop() else { break };
            begun += 1;
            driver.submit_get(id, begun, 0, 0, LENGTH as u64, FIRST + id as usize * slot_bytes);
            running.push((id, begun));
        }
        for _ in 0..random.below(50) {
            std::thread::yield_now();
        }
        if !running.is_empty() {
            let (id, attempt) = running[random.below(running.len() as u64) as usize];
            driver.cancel(id, attempt);
        }
        driver.drain();
        for outcome in &driver.outcomes[noted..] {
            let at = running
                .iter()
                .position(|&known| known == (outcome.id, outcome.attempt));
            running.swap_remove(at.expect("each attempt ends once"));
            free.push(outcome.id);
            let start = FIRST + outcome.id as usize * slot_bytes;
            driver.memory.check_guard_behind(start + LENGTH, 4096);
            match outcome.what {
                "cancelled" => cancelled += 1,
                "fetched" => assert!(driver.memory.read(start, LENGTH) == body(), "{outcome:?}"),
                other => panic!("{other}: {outcome:?}"),
            }
        }
        noted = driver.outcomes.len();
    }
    println!("{cancelled} of {ATTEMPTS} cancelled");
    assert!(running.is_empty() && cancelled > 1000);
    assert!(driver.engine.sockets() <= 16);
    driver.drain();
    assert_eq!(driver.outcomes.len(), ATTEMPTS as usize, "nothing ends twice");
    assert_eq!(driver.outcome(0, 5, 1000), "fetched", "later reads work");
    let Driver { engine, memory, .. } = driver;
    engine.close();
    assert_eq!(
        std::sync::Arc::strong_count(&memory),
        1,
        "no transfer holds the memory"
    );
    until("the store to see all closed", || store.open() == 0);
}

#[test]
fn the_failure_behind_a_cancel_is_kept_and_forgotten_with_the_next_attempt() {
    let store = Store::start(|request, connection| match request.number {
        0 => {
            let _ = connection.write_all(&answer(503, &[("Content-Length", "0")], &[]));
        }
        1 => {}
        _ => {
            let _ = connection.write_all(&object_answer(request, &body(), ETAG));
        }
    });
    let mut driver = Driver::start(options_for(store.address), &objects());
    // Two attempts of one request, as a hedge: begun together, so that the failure is of this use of the id.
    let records = [
        driver.get_record(5, 1, 0, 0, 10, 0),
        driver.get_record(5, 2, 0, 0, 10, 0),
    ];
    driver.engine.submit(&records);
    let first = driver.ended(1)[0].clone();
    assert_eq!(first.what, "throttled");
    until("the request that hangs", || store.requests().len() == 2);
    driver.cancel(5, 3 - first.attempt);
    assert_eq!(driver.ended(2)[1].what, "cancelled");
    assert_eq!(driver.engine.failure(5).unwrap().class, Class::Throttled);
    driver.submit_get(5, 3, 0, 0, 10, 0);
    assert!(driver.engine.failure(5).is_none());
    assert_eq!(driver.ended(3)[2].what, "fetched");
}

#[test]
fn descriptors_are_all_given_back() {
    // Alone in a process of its own: other tests open descriptors at the same time.
    if std::env::var_os("OS2G_COUNT_DESCRIPTORS").is_none() {
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "cancels::descriptors_are_all_given_back",
                "--nocapture",
            ])
            .env("OS2G_COUNT_DESCRIPTORS", "1")
            .status();
        assert!(status.unwrap().success());
        return;
    }
    let count = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let store = Store::start(|request, connection| {
        if request.number % 2 == 0 {
            let _ = connection.write_all(&object_answer(request, &body(), ETAG));
        }
    });
    let before = count();
    for round in 0..20 {
        let mut driver = Driver::start(options_for(store.address), &objects());
        for id in 0..16 {
            driver.submit_get(id, round, 0, 0, 1000, id as usize * 1000);
        }
        driver.ended(8);
        if round % 2 == 0 {
            for id in 0..16 {
                driver.cancel(id, round);
            }
            driver.ended(16);
        }
        drop(driver);
        until("all descriptors back", || store.open() == 0 && count() == before);
    }
}
