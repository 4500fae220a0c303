use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use os2g_transfer::cuda::{Cuda, CudaOptions, LandingMemory, Sharing, Wake};
use os2g_transfer::{
    Backend, Error, Handle, Kind, Memory, Pages, Put, PutDone, Result, Segment, SegmentOptions, Source,
};

/// A GPU that may be closed while others hold it.
pub type SharedGpu = Arc<Mutex<Option<Gpu>>>;

pub fn lock(gpu: &SharedGpu) -> MutexGuard<'_, Option<Gpu>> {
    gpu.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the GPU's transfers and gives its memory back, if nobody has. Waits for the copies under way.
pub fn close_now(gpu: &SharedGpu) -> Result<()> {
    // Taken out first, so that nobody who polls waits for the GPU.
    let taken = lock(gpu).take();
    taken.map_or(Ok(()), |mut gpu| gpu.cuda.close())
}

/// What to make on a GPU.
pub struct Plan {
    pub library: Option<PathBuf>,
    pub device: i32,
    pub consumers: usize,
    pub landing_bytes: u64,
    pub staging_bytes: usize,
}

/// A copy from staging into a consumer's landing memory; offsets and length in bytes.
pub struct Place {
    pub tag: u64,
    pub consumer: usize,
    pub from: u64,
    pub to: u64,
    pub length: u64,
}

/// Landing memory on one GPU, and the page-locked memory that it is filled from.
pub struct Gpu {
    cuda: Cuda,
    landings: Vec<(Handle, Arc<LandingMemory>)>,
    staging: Handle,
    /// Places that did not start.
    refused: VecDeque<PutDone>,
    /// Why the last place of a request failed.
    failures: HashMap<u32, Error>,
}

impl Gpu {
    pub fn open(plan: Plan, wake: Wake) -> Result<(Gpu, Arc<Segment>)> {
        let options = CudaOptions {
            library: plan.library,
            devices: vec![plan.device],
            ..CudaOptions::default()
        };
        let mut cuda = Cuda::open_waking(&options, wake)?;
        let pages = SegmentOptions {
            pages: Pages::Huge,
            populate: false,
        };
        let segment = Arc::new(Segment::create(plan.staging_bytes, pages)?);
        let staging = cuda.register(Memory::Segment(segment.clone()))?;
        let mut landings = Vec::with_capacity(plan.consumers);
        for _ in 0..plan.consumers {
            let device = cuda.devices().first().ok_or_else(|| Error::closed("cuda"))?;
            let memory = Arc::new(LandingMemory::create(device, plan.landing_bytes, Sharing::Auto)?);
            landings.push((cuda.register_landing(memory.clone())?, memory));
        }
        let gpu = Gpu {
            cuda,
            landings,
            staging,
            refused: VecDeque::new(),
            failures: HashMap::new(),
        };
        Ok((gpu, segment))
    }

    /// Starts a copy; what cannot start has completed with its error.
    pub fn place(&mut self, place: &Place) {
        self.failures.remove(&request_of(place.tag));
        if let Err(error) = self.start(place) {
            self.refused.push_back(PutDone {
                tag: place.tag,
                result: Err(error),
            });
        }
    }

    fn start(&mut self, place: &Place) -> Result<()> {
        let (handle, _) = self.landing(place.consumer)?;
        self.cuda.put(&Put {
            handle: *handle,
            offset: place.to,
            from: Source {
                handle: self.staging,
                offset: place.from,
            },
            length: place.length,
            tag: place.tag,
        })
    }

    /// Takes places that have ended, as many as fit; how many.
    pub fn poll(&mut self, done: &mut [PutDone]) -> usize {
        let refused = done.len().min(self.refused.len());
        let (first, rest) = done.split_at_mut(refused);
        for (to, from) in first.iter_mut().zip(self.refused.drain(..refused)) {
            *to = from;
        }
        let count = refused + self.cuda.poll(rest);
        for ended in done.iter().take(count) {
            if let Err(error) = &ended.result {
                self.failures.insert(request_of(ended.tag), error.clone());
            }
        }
        count
    }

    /// Asks for one wake-up; true where places that have ended wait already.
    pub fn arm(&self) -> bool {
        !self.refused.is_empty() || self.cuda.arm()
    }

    pub fn failure(&self, request: u32) -> Option<&Error> {
        self.failures.get(&request)
    }

    /// Copies landing memory back; waits for that copy.
    pub fn read(&self, consumer: usize, offset: u64, into: &mut [u8]) -> Result<()> {
        self.landing(consumer)?.1.read(offset, into)
    }

    fn landing(&self, consumer: usize) -> Result<&(Handle, Arc<LandingMemory>)> {
        self.landings.get(consumer).ok_or_else(|| {
            Error::new(
                Kind::Invalid,
                format!("There is no landing memory for consumer {consumer}."),
                "This is a defect of os2g, please report it.",
            )
        })
    }
}

/// The request that a tag is of; the attempt is in its lower half.
pub fn request_of(tag: u64) -> u32 {
    (tag >> 32) as u32
}
