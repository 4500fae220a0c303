use std::sync::{Arc, PoisonError, RwLock};

use napi::bindgen_prelude::{AsyncTask, Function, Uint8Array};
use napi::{Env, Error, Result};
use napi_derive::napi;
use os2g_engine::{Completion, Engine, Submission};

use crate::clock::monotonic_ns;
use crate::close::{CloseTask, SharedEngine, close_now};
use crate::failure::NativeFailure;
use crate::options::{NativeCredentials, NativeEngineOptions, invalid};
use crate::record::{RECORD_BYTES, number, word};
use crate::table::{Columns, NativeTable};
use crate::wake::from_any_thread;

/// See `NativeEngineHandle` of the TypeScript side.
#[napi]
pub struct NativeEngine {
    engine: SharedEngine,
    submissions: Uint8Array,
    completions: Uint8Array,
    /// Filled by `poll`; kept so that no call allocates.
    polled: Vec<Completion>,
    submitted: Vec<Submission>,
}

#[napi]
impl NativeEngine {
    /// Starts the engine. The wake-up does not keep the process alive.
    #[napi(constructor)]
    pub fn new(
        env: &Env,
        options: NativeEngineOptions,
        table: NativeTable,
        submissions: Uint8Array,
        completions: Uint8Array,
        wake: Function<'_, (), ()>,
    ) -> Result<NativeEngine> {
        let capacity = (completions.len() / RECORD_BYTES).saturating_sub(1);
        if capacity == 0 || submissions.len() < RECORD_BYTES {
            return Err(invalid("buffers for no record".into()));
        }
        let wake = from_any_thread(wake)?;
        let engine = Engine::start(options.into_engine()?, Arc::new(Columns::new(table)?), wake)
            .map_err(|error| Error::from_reason(error.to_string()))?;
        let engine: SharedEngine = Arc::new(RwLock::new(Some(engine)));
        // A worker that is terminated takes its memory with it: the threads must be gone before.
        env.add_env_cleanup_hook(Arc::downgrade(&engine), |engine| {
            if let Some(engine) = engine.upgrade() {
                close_now(&engine);
            }
        })?;
        Ok(NativeEngine {
            engine,
            submissions,
            completions,
            polled: vec![Completion::default(); capacity],
            submitted: Vec::new(),
        })
    }

    /// Takes over the first `count` records of the submissions' buffer.
    #[napi]
    pub fn submit(&mut self, count: u32) -> Result<()> {
        let count = count as usize;
        let records = self
            .submissions
            .chunks_exact(RECORD_BYTES)
            .take(count)
            .filter_map(|record| record.first_chunk());
        self.submitted.clear();
        self.submitted.extend(records.map(read_submission));
        if self.submitted.len() != count {
            return Err(invalid(format!(
                "{count} records in a buffer of {}",
                self.submitted.len()
            )));
        }
        with(&self.engine, |engine| engine.submit(&self.submitted));
        Ok(())
    }

    /// Writes up to `max` completions, and the time of now behind the last record's place; how many.
    #[napi]
    pub fn poll(&mut self, max: u32) -> u32 {
        let room = self.polled.len().min(max as usize);
        let Some(polled) = self.polled.get_mut(..room) else {
            return 0;
        };
        let count = with(&self.engine, |engine| engine.poll(polled)).unwrap_or(0);
        if count == 0 {
            return 0;
        }
        // SAFETY: the buffer belongs to the JavaScript side, which is in this call and does not touch it meanwhile.
        let buffer = unsafe { self.completions.as_mut() };
        let (records, rest) = buffer.split_at_mut(self.polled.len() * RECORD_BYTES);
        for (to, from) in records
            .chunks_exact_mut(RECORD_BYTES)
            .zip(self.polled.iter().take(count))
        {
            to.copy_from_slice(&completion_bytes(from));
        }
        if let Some(now) = rest.first_chunk_mut() {
            *now = monotonic_ns().to_ne_bytes();
        }
        count as u32
    }

    /// Asks for one wake-up; true where completions wait already.
    #[napi]
    pub fn arm(&self) -> bool {
        with(&self.engine, Engine::arm).unwrap_or(false)
    }

    /// Memory where bodies land; held until the engine is closed.
    #[napi]
    pub fn register(&self, mut memory: Uint8Array) -> Result<u32> {
        let len = memory.len();
        // SAFETY: the memory is only borrowed for its address here.
        let start = unsafe { memory.as_mut() }.as_mut_ptr();
        let region = with(&self.engine, |engine| {
            // SAFETY: `memory` holds a reference to the array, so its bytes stay until `keep` is dropped; when the environment
            // ends first, the clean-up hook has closed the engine before. The TypeScript side leaves the targets of running
            // requests alone, and the core never lets two of them overlap.
            unsafe { engine.register(start, len, Box::new(memory)) }
        });
        region
            .map(|region| region.0)
            .ok_or_else(|| Error::from_reason("the engine is closed"))
    }

    /// Why the last failed attempt of a request failed.
    #[napi]
    pub fn failure(&self, id: u32) -> Option<NativeFailure> {
        with(&self.engine, |engine| engine.failure(id))
            .flatten()
            .map(NativeFailure::from)
    }

    /// The credentials of requests that are submitted from now on; the number that failures name them by.
    #[napi]
    pub fn set_credentials(&self, credentials: Option<NativeCredentials>) -> f64 {
        let credentials = credentials.map(NativeCredentials::into_engine);
        with(&self.engine, |engine| engine.set_credentials(credentials)).unwrap_or(0) as f64
    }

    /// What the user should know since the last call.
    #[napi]
    pub fn notices(&self) -> Vec<String> {
        with(&self.engine, Engine::notices).unwrap_or_default()
    }

    /// Bodies with a checksum that was compared, and without.
    #[napi]
    pub fn checksums(&self) -> Vec<f64> {
        let (checked, unchecked) = with(&self.engine, Engine::checksums).unwrap_or((0, 0));
        vec![checked as f64, unchecked as f64]
    }

    /// Sockets that are open or being opened.
    #[napi]
    pub fn sockets(&self) -> u32 {
        with(&self.engine, Engine::sockets).unwrap_or(0) as u32
    }

    /// Ends everything; resolves when no thread and no transfer is left.
    #[napi]
    pub fn close(&self) -> AsyncTask<CloseTask> {
        AsyncTask::new(CloseTask(Arc::clone(&self.engine)))
    }
}

impl Drop for NativeEngine {
    fn drop(&mut self) {
        close_now(&self.engine);
    }
}

/// None where the engine is closed.
fn with<T>(engine: &SharedEngine, call: impl FnOnce(&Engine) -> T) -> Option<T> {
    engine
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .map(call)
}

fn read_submission(record: &[u8; RECORD_BYTES]) -> Submission {
    Submission {
        kind: word(record, 0),
        id: word(record, 1),
        attempt: word(record, 2),
        region: word(record, 3),
        row: number(record, 2),
        offset: number(record, 3),
        length: number(record, 4),
        target: number(record, 5),
        reserved: [0.0; 2],
    }
}

fn completion_bytes(completion: &Completion) -> [u8; RECORD_BYTES] {
    let mut record = [0; RECORD_BYTES];
    let words = [
        completion.kind,
        completion.class,
        completion.id,
        completion.attempt,
        completion.status,
        0,
    ];
    let numbers = [completion.time_ns, completion.bytes, completion.retry_after_ns];
    let bytes = words
        .into_iter()
        .flat_map(u32::to_ne_bytes)
        .chain(numbers.into_iter().flat_map(f64::to_ne_bytes));
    for (to, from) in record.iter_mut().zip(bytes) {
        *to = from;
    }
    record
}
