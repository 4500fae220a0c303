//! The `cuda` back end over a fake driver, with memory registered.

use std::sync::Arc;

use os2g_transfer::cuda::{Cuda, CudaOptions, LandingMemory, Sharing};
use os2g_transfer::{Backend, Handle, Memory, Put, Segment, SegmentOptions, Source};

use super::fake::Fake;

pub fn open(fake: &Fake) -> Cuda {
    Cuda::open(&options(fake)).unwrap()
}

pub fn options(fake: &Fake) -> CudaOptions {
    CudaOptions {
        library: Some(fake.path.clone()),
        ..CudaOptions::default()
    }
}

pub fn segment(bytes: &[u8]) -> Arc<Segment> {
    let segment = Segment::create(bytes.len(), SegmentOptions::default()).unwrap();
    // SAFETY: a new segment of this length, known to nobody else.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), segment.pointer(), bytes.len()) };
    Arc::new(segment)
}

pub fn landing(
    back_end: &mut Cuda,
    device: usize,
    length: u64,
    sharing: Sharing,
) -> (Handle, Arc<LandingMemory>) {
    let memory = Arc::new(LandingMemory::create(&back_end.devices()[device], length, sharing).unwrap());
    (back_end.register_landing(memory.clone()).unwrap(), memory)
}

pub fn staging(back_end: &mut Cuda, bytes: &[u8]) -> Handle {
    back_end.register(Memory::Segment(segment(bytes))).unwrap()
}

pub fn read(memory: &LandingMemory, offset: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    memory.read(offset, &mut bytes).unwrap();
    bytes
}

pub fn put(handle: Handle, offset: u64, from: Handle, at: u64, length: u64, tag: u64) -> Put {
    Put {
        handle,
        offset,
        from: Source {
            handle: from,
            offset: at,
        },
        length,
        tag,
    }
}
