use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use os2g_engine::*;

use super::PATIENCE;
use super::memory::Memory;

/// Where the target of `Driver::get` lies, so that there is memory before and behind it.
const AT: usize = 8192;
const MEMORY_BYTES: usize = 4 * 1024 * 1024;

#[derive(Clone)]
pub struct Object {
    pub key: &'static str,
    pub size: u64,
    pub etag: Option<&'static str>,
}

struct Table(Vec<Object>);

impl ObjectTable for Table {
    fn rows(&self) -> u64 {
        self.0.len() as u64
    }

    fn key(&self, row: u64) -> &[u8] {
        self.0[row as usize].key.as_bytes()
    }

    fn etag(&self, row: u64) -> Option<&[u8]> {
        self.0[row as usize].etag.map(str::as_bytes)
    }

    fn object_size(&self, row: u64) -> u64 {
        self.0[row as usize].size
    }
}

pub fn options_for(address: SocketAddr) -> EngineOptions {
    EngineOptions {
        tls: false,
        hostname: address.ip().to_string(),
        port: address.port(),
        host: address.to_string(),
        path_prefix: "/b".to_owned(),
        signing_region: "us-east-1".to_owned(),
        signing_service: "s3".to_owned(),
        requester_pays: false,
        verify: Verify::Etag,
        limits: Limits {
            connect: PATIENCE,
            first_byte: PATIENCE,
            idle: PATIENCE,
            total: None,
        },
        max_connections: 16,
        threads: 1,
        ca_pem: None,
        proxy: None,
        wall_ms: Arc::new(system_wall_ms),
    }
}

pub fn credentials() -> Credentials {
    Credentials {
        access_key_id: "AKIDEXAMPLE".to_owned(),
        secret_access_key: "secret-of-the-test".to_owned(),
        session_token: None,
        expires_at_ms: None,
    }
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub id: u32,
    pub attempt: u32,
    /// `fetched`, or the name of the failure's class.
    pub what: &'static str,
    pub status: u32,
    pub retry_after_ns: f64,
    pub bytes: f64,
    pub failure: Option<Failure>,
}

impl Outcome {
    pub fn sentence(&self) -> String {
        self.failure
            .as_ref()
            .and_then(|failure| failure.what.clone())
            .unwrap_or_default()
    }
}

/// Counts wake-ups. A test that panics while it looks must not take the I/O thread with it: a count has no half-made state.
#[derive(Default)]
struct Bell {
    rung: Mutex<u64>,
    rings: Condvar,
}

impl Bell {
    fn count(&self) -> MutexGuard<'_, u64> {
        self.rung.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ring(&self) {
        *self.count() += 1;
        self.rings.notify_all();
    }

    /// Waits until it has rung after the given count; false where it did not in all that patience.
    fn wait_after(&self, known: u64) -> bool {
        let waited = self
            .rings
            .wait_timeout_while(self.count(), PATIENCE, |now| *now == known);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

/// An engine with someone who drains it: ends are kept in the order they came.
pub struct Driver {
    pub engine: Engine,
    pub outcomes: Vec<Outcome>,
    pub first_bytes: usize,
    pub memory: Arc<Memory>,
    pub region: RegionId,
    bell: Arc<Bell>,
}

impl Driver {
    pub fn start(options: EngineOptions, objects: &[Object]) -> Driver {
        Driver::over(options, Arc::new(Table(objects.to_vec())))
    }

    /// With a table of the test's own.
    pub fn over(options: EngineOptions, table: Arc<dyn ObjectTable>) -> Driver {
        let bell: Arc<Bell> = Arc::default();
        let its = Arc::clone(&bell);
        let wake = move || its.ring();
        let engine = Engine::start(options, table, Box::new(wake)).unwrap();
        engine.set_credentials(Some(credentials()));
        let memory = Arc::new(Memory::new(MEMORY_BYTES));
        // SAFETY: the memory lives as long as what is handed over with it, and is read where no attempt runs only.
        let region = unsafe { engine.register(memory.start(), memory.len(), Box::new(Arc::clone(&memory))) };
        Driver {
            engine,
            outcomes: Vec::new(),
            first_bytes: 0,
            memory,
            region,
            bell,
        }
    }

    pub fn wakes(&self) -> u64 {
        *self.bell.count()
    }

    pub fn get_record(
        &self,
        id: u32,
        attempt: u32,
        row: u32,
        offset: u64,
        length: u64,
        target: usize,
    ) -> Submission {
        Submission {
            kind: GET,
            id,
            attempt,
            region: self.region.0,
            row: f64::from(row),
            offset: offset as f64,
            length: length as f64,
            target: target as f64,
            reserved: [0.0; 2],
        }
    }

    pub fn submit_get(&self, id: u32, attempt: u32, row: u32, offset: u64, length: u64, target: usize) {
        self.engine
            .submit(&[self.get_record(id, attempt, row, offset, length, target)]);
    }

    pub fn cancel(&self, id: u32, attempt: u32) {
        self.engine.submit(&[Submission {
            kind: CANCEL,
            id,
            attempt,
            ..Submission::default()
        }]);
    }

    /// Takes what waits.
    pub fn drain(&mut self) {
        let mut records = [Completion::default(); 64];
        loop {
            let count = self.engine.poll(&mut records);
            for record in &records[..count] {
                self.note(record);
            }
            if count == 0 {
                return;
            }
        }
    }

    fn note(&mut self, record: &Completion) {
        let Completion {
            kind,
            class,
            id,
            attempt,
            status,
            bytes,
            retry_after_ns,
            ..
        } = *record;
        let class = Class::ALL.into_iter().find(|known| *known as u32 == class);
        let what = match kind {
            FIRST_BYTE => {
                self.first_bytes += 1;
                return;
            }
            FETCHED => "fetched",
            _ => class.unwrap().name(),
        };
        let failure = if kind == FAILED {
            self.engine.failure(id)
        } else {
            None
        };
        self.outcomes.push(Outcome {
            id,
            attempt,
            what,
            status,
            retry_after_ns,
            bytes,
            failure,
        });
    }

    /// Waits for the next completions, or for a moment.
    pub fn wait(&mut self) {
        let rung = self.wakes();
        if !self.engine.arm() {
            assert!(
                self.bell.wait_after(rung),
                "no completion came; so far: {:?}",
                self.outcomes.last()
            );
        }
        self.drain();
    }

    /// Waits until so many attempts have ended.
    pub fn ended(&mut self, count: usize) -> &[Outcome] {
        self.drain();
        while self.outcomes.len() < count {
            self.wait();
        }
        &self.outcomes
    }

    /// One GET from begin to end, into memory that is checked before and behind; the outcome and the target.
    pub fn get(&mut self, row: u32, offset: u64, length: u64) -> (Outcome, Vec<u8>) {
        let before = self.outcomes.len();
        self.submit_get(row, 1, row, offset, length, AT);
        self.ended(before + 1);
        let length = length as usize;
        self.memory.check_guards(AT, length);
        let target = self.memory.read(AT, length);
        self.memory.reset(AT, length);
        (self.outcomes[before].clone(), target)
    }

    /// The class that a GET ends in.
    pub fn outcome(&mut self, row: u32, offset: u64, length: u64) -> &'static str {
        self.get(row, offset, length).0.what
    }
}

/// For limits that are the subject of a test.
pub const SHORT: Duration = Duration::from_millis(100);
