//! Attempts that are ended early, and what is left of them: nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::kit::{
    Driver, ETAG, Memory, Object, Random, Store, answer, body_of, object_answer, options_for, until,
};
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

/// Slots with guards between them. One that no attempt runs on is full of the byte of the last attempt that did: what comes
/// after that attempt's end is seen when the slot is used again, and at the end.
struct Slots {
    memory: Arc<Memory>,
    /// Not in use, the one that has been so for longest at the front; with the byte that fills it.
    free: VecDeque<(u32, u8)>,
}

impl Slots {
    const COUNT: u32 = 32;
    const GUARD: usize = 4096;

    fn new(memory: &Arc<Memory>) -> Slots {
        let mut slots = Slots {
            memory: Arc::clone(memory),
            free: VecDeque::new(),
        };
        (0..Slots::COUNT).for_each(|id| slots.give_back(id, 0));
        slots
    }

    fn start_of(id: u32) -> usize {
        Slots::GUARD + id as usize * (LENGTH + Slots::GUARD)
    }

    fn take(&mut self) -> u32 {
        let (id, byte) = self.free.pop_front().unwrap();
        self.check(id, byte);
        id
    }

    fn give_back(&mut self, id: u32, attempt: u32) {
        let byte = attempt as u8;
        self.memory.check_guards(Slots::start_of(id), LENGTH);
        self.memory.fill(Slots::start_of(id), LENGTH, byte);
        self.free.push_back((id, byte));
    }

    fn check(&self, id: u32, byte: u8) {
        let start = Slots::start_of(id);
        self.memory.check_guards(start, LENGTH);
        assert!(
            self.memory.is_all(start, LENGTH, byte),
            "slot {id} was written to after its attempt had ended"
        );
    }

    /// Checks all, where no attempt runs.
    fn check_all(&self) {
        assert_eq!(self.free.len(), Slots::COUNT as usize, "each slot came back");
        for &(id, byte) in &self.free {
            self.check(id, byte);
        }
    }
}

/// Some answers come whole, some stop half-way, some never begin.
fn moody_store() -> Store {
    let whole = body();
    let half = head_and_half();
    Store::start(move |request, connection| match request.number % 4 {
        _ if request.range().is_some() => {
            let _ = connection.write_all(&object_answer(request, &whole, ETAG));
        }
        0 => {}
        1 => {
            let _ = connection.write_all(&half);
        }
        _ => {
            let _ = connection.write_all(&object_answer(request, &whole, ETAG));
        }
    })
}

#[test]
fn cancels_anywhere_leak_no_socket_no_slot_no_descriptor_and_no_byte() {
    const RUNNING: usize = 16;
    const ATTEMPTS: u32 = 10_000;
    let mut random = Random::seeded();
    let store = moody_store();
    let mut options = options_for(store.address);
    options.threads = 2;
    let mut driver = Driver::start(options, &objects());
    let mut slots = Slots::new(&driver.memory);
    let right = body();
    let (mut begun, mut cancelled) = (0, 0);
    let mut running: Vec<(u32, u32)> = Vec::new();
    let mut noted = 0;
    while noted < ATTEMPTS as usize {
        while begun < ATTEMPTS && running.len() < RUNNING && random.below(3) > 0 {
            let id = slots.take();
            begun += 1;
            driver.submit_get(id, begun, 0, 0, LENGTH as u64, Slots::start_of(id));
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
            let start = Slots::start_of(outcome.id);
            match outcome.what {
                "cancelled" => cancelled += 1,
                "fetched" => assert!(driver.memory.read(start, LENGTH) == right, "{outcome:?}"),
                other => panic!("{other}: {outcome:?}"),
            }
            slots.give_back(outcome.id, outcome.attempt);
        }
        noted = driver.outcomes.len();
    }
    println!("{cancelled} of {ATTEMPTS} cancelled");
    assert!(running.is_empty() && cancelled > 1000);
    assert!(driver.engine.sockets() <= RUNNING);
    driver.drain();
    assert_eq!(driver.outcomes.len(), ATTEMPTS as usize, "nothing ends twice");
    slots.check_all();
    let id = slots.take();
    driver.submit_get(id, 0, 0, 5, 1000, Slots::start_of(id));
    assert_eq!(driver.ended(noted + 1)[noted].what, "fetched", "later reads work");
    slots.give_back(id, 0);
    let Driver { engine, memory, .. } = driver;
    engine.close();
    until("the store to see all closed", || store.open() == 0);
    slots.check_all();
    drop(slots);
    assert_eq!(Arc::strong_count(&memory), 1, "no transfer holds the memory");
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
