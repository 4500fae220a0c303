use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use napi::bindgen_prelude::{AsyncTask, Either, Function, Task, Uint8Array};
use napi::{Env, Result};
use napi_derive::napi;
use os2g_transfer::cuda::survey;
use os2g_transfer::{Error, PutDone, Segment};

use crate::gpu::{Gpu, Place, Plan, SharedGpu, close_now, lock, request_of};
use crate::options::invalid;
use crate::record::{RECORD_BYTES, from_words, number, word};
use crate::transfer_failure::NativeTransferFailure;
use crate::wake::from_any_thread;

const PLACED: u32 = 0;
const PLACE_FAILED: u32 = 1;

/// See `NativeCudaOptions` of the TypeScript side.
#[napi(object)]
pub struct NativeCudaOptions {
    /// File of the driver; none: its usual name.
    pub library: Option<String>,
    /// Number of the GPU among those that are visible.
    pub device: i32,
    /// How many landing memories.
    pub consumers: u32,
    /// Bytes of each of them.
    pub landing_bytes: f64,
    /// Bytes of the page-locked memory.
    pub staging_bytes: f64,
}

impl NativeCudaOptions {
    fn plan(self) -> Result<Plan> {
        let landing_bytes = whole(self.landing_bytes);
        let staging_bytes = whole(self.staging_bytes).and_then(|bytes| usize::try_from(bytes).ok());
        let (Some(landing_bytes), Some(staging_bytes)) = (landing_bytes, staging_bytes) else {
            return Err(invalid(format!(
                "memory of {} and {} bytes",
                self.landing_bytes, self.staging_bytes
            )));
        };
        Ok(Plan {
            library: self.library.map(PathBuf::from),
            device: self.device,
            consumers: self.consumers as usize,
            landing_bytes,
            staging_bytes,
        })
    }
}

/// The driver and the GPUs that there are.
#[napi(object, object_from_js = false)]
pub struct NativeCudaSurvey {
    /// The newest CUDA release that the driver supports.
    pub version: String,
    /// Names of the GPUs.
    pub gpus: Vec<String>,
}

/// Loads the driver and asks for its GPUs; opens none.
#[napi]
pub fn survey_cuda(library: Option<String>) -> Either<NativeCudaSurvey, NativeTransferFailure> {
    match survey(library.as_deref().map(Path::new)) {
        Ok(found) => Either::A(NativeCudaSurvey {
            version: found.version,
            gpus: found.gpus,
        }),
        Err(error) => Either::B((&error).into()),
    }
}

/// See `NativeCudaHandle` of the TypeScript side.
#[napi]
pub struct CudaLanding {
    gpu: SharedGpu,
    segment: Arc<Segment>,
    submissions: Uint8Array,
    completions: Uint8Array,
    /// Filled by `poll`; kept so that no call allocates.
    polled: Vec<PutDone>,
}

/// Makes landing memory on a GPU, and page-locked memory to fill it from. The wake-up does not keep the process alive.
#[napi]
pub fn open_cuda(
    env: &Env,
    options: NativeCudaOptions,
    submissions: Uint8Array,
    completions: Uint8Array,
    wake: Function<'_, (), ()>,
) -> Result<Either<CudaLanding, NativeTransferFailure>> {
    let capacity = completions.len() / RECORD_BYTES;
    if capacity == 0 || submissions.len() < RECORD_BYTES {
        return Err(invalid("buffers for no record".into()));
    }
    let wake = from_any_thread(wake)?;
    let (gpu, segment) = match Gpu::open(options.plan()?, wake) {
        Ok(opened) => opened,
        Err(error) => return Ok(Either::B((&error).into())),
    };
    let gpu: SharedGpu = Arc::new(Mutex::new(Some(gpu)));
    // A worker that is terminated must not leave copies behind that call it.
    env.add_env_cleanup_hook(Arc::downgrade(&gpu), |gpu| {
        if let Some(gpu) = gpu.upgrade() {
            let _ = close_now(&gpu);
        }
    })?;
    Ok(Either::A(CudaLanding {
        gpu,
        segment,
        submissions,
        completions,
        polled: vec![PutDone::default(); capacity],
    }))
}

#[napi]
impl CudaLanding {
    /// The page-locked memory itself, not a copy. It stays mapped for as long as this view, or one on its buffer, is there.
    #[napi]
    pub fn staging(&self) -> Uint8Array {
        let held = Arc::clone(&self.segment);
        // SAFETY: the mapping has so many bytes and lives until `held` is dropped, which the finalizer does.
        unsafe { Uint8Array::with_external_data(held.pointer(), held.len(), move |_, _| drop(held)) }
    }

    /// Starts the copies of the first `count` records of the submissions' buffer.
    #[napi]
    pub fn submit(&self, count: u32) -> Result<()> {
        let count = count as usize;
        let (records, _) = self.submissions.as_chunks();
        let records = records
            .get(..count)
            .ok_or_else(|| invalid(format!("{count} records in a buffer of {}", records.len())))?;
        if let Some(gpu) = lock(&self.gpu).as_mut() {
            for record in records {
                gpu.place(&read_place(record)?);
            }
        }
        Ok(())
    }

    /// Writes up to `max` completions; how many.
    #[napi]
    pub fn poll(&mut self, max: u32) -> u32 {
        let room = self.polled.len().min(max as usize);
        let count = match (lock(&self.gpu).as_mut(), self.polled.get_mut(..room)) {
            (Some(gpu), Some(polled)) => gpu.poll(polled),
            _ => 0,
        };
        // SAFETY: the buffer belongs to the JavaScript side, which is in this call and does not touch it meanwhile.
        let (records, _) = unsafe { self.completions.as_mut() }.as_chunks_mut();
        for (to, done) in records.iter_mut().zip(self.polled.iter().take(count)) {
            let kind = if done.result.is_ok() { PLACED } else { PLACE_FAILED };
            *to = from_words([kind, 0, request_of(done.tag), done.tag as u32]);
        }
        count as u32
    }

    /// Asks for one wake-up; true where completions wait already.
    #[napi]
    pub fn arm(&self) -> bool {
        lock(&self.gpu).as_ref().is_some_and(Gpu::arm)
    }

    /// Why the last place of a request failed; forgotten when the request is placed again.
    #[napi]
    pub fn failure(&self, id: u32) -> Option<NativeTransferFailure> {
        lock(&self.gpu)
            .as_ref()?
            .failure(id)
            .map(NativeTransferFailure::from)
    }

    /// Copies landing memory back into `into`, and waits for it; null, or why it cannot.
    #[napi]
    pub fn read(
        &self,
        consumer: u32,
        offset: f64,
        mut into: Uint8Array,
    ) -> Result<Option<NativeTransferFailure>> {
        let offset = whole(offset).ok_or_else(|| invalid(format!("offset {offset}")))?;
        // SAFETY: the array belongs to the JavaScript side, which is in this call and does not touch it meanwhile.
        let into = unsafe { into.as_mut() };
        let read = match lock(&self.gpu).as_ref() {
            Some(gpu) => gpu.read(consumer as usize, offset, into),
            None => Err(Error::closed("cuda")),
        };
        Ok(read.err().as_ref().map(NativeTransferFailure::from))
    }

    /// Waits for copies under way and gives all memory back; resolves with null, or with what went wrong.
    #[napi]
    pub fn close(&self) -> AsyncTask<CloseTask> {
        AsyncTask::new(CloseTask(Arc::clone(&self.gpu)))
    }
}

impl Drop for CudaLanding {
    fn drop(&mut self) {
        // Whoever wants to know how it went calls `close`.
        let _ = close_now(&self.gpu);
    }
}

/// Closes a GPU on a thread of libuv's pool.
pub struct CloseTask(SharedGpu);

impl Task for CloseTask {
    type Output = Option<Error>;
    type JsValue = Option<NativeTransferFailure>;

    fn compute(&mut self) -> Result<Option<Error>> {
        Ok(close_now(&self.0).err())
    }

    fn resolve(&mut self, _env: Env, error: Option<Error>) -> Result<Option<NativeTransferFailure>> {
        Ok(error.as_ref().map(NativeTransferFailure::from))
    }
}

fn read_place(record: &[u8; RECORD_BYTES]) -> Result<Place> {
    let bytes =
        |at| whole(number(record, at)).ok_or_else(|| invalid(format!("a place at {}", number(record, at))));
    Ok(Place {
        tag: u64::from(word(record, 1)) << 32 | u64::from(word(record, 2)),
        consumer: word(record, 3) as usize,
        from: bytes(2)?,
        to: bytes(3)?,
        length: bytes(4)?,
    })
}

/// A number of bytes; none where it is not a whole one.
fn whole(number: f64) -> Option<u64> {
    const MOST: f64 = 9_007_199_254_740_991.0;
    ((0.0..=MOST).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}
