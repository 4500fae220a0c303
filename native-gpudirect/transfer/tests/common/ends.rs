//! The two ends of GPU memory between processes: a trainer's and a feeder's.

use std::sync::Arc;

use os2g_transfer::cuda::{Cuda, CudaOptions, Device, Driver, LandingMemory, SharedEvent, Sharing, Stream};
use os2g_transfer::{Backend, Control, Handle, Memory, Put, Segment, SegmentOptions, Source};

use super::fake::{Fake, library};
use super::{Peer, pattern};

pub const LENGTH: usize = 300_001;

pub fn sharing() -> Sharing {
    if std::env::var("OS2G_TEST_SHARING").as_deref() == Ok("ipc") {
        Sharing::Ipc
    } else {
        Sharing::Fd
    }
}

/// Starts a peer that loads the same fake and sees the GPUs in the other order.
pub fn start(name: &str, sharing: &str) -> Peer {
    let library = library().to_str().unwrap();
    let environment = [
        ("OS2G_FAKE_CUDA", library),
        ("OS2G_FAKE_CUDA_VISIBLE", "1,0"),
        ("OS2G_TEST_SHARING", sharing),
    ];
    Peer::start(name, &environment)
}

/// A trainer's end: landing memory, an event "free" of its own, the feeder's event "full".
pub struct Trainer {
    pub fake: Fake,
    pub devices: Vec<Arc<Device>>,
    pub memory: LandingMemory,
    pub free: SharedEvent,
    pub stream: Stream,
}

impl Trainer {
    pub fn new(control: &mut Control, sharing: Sharing) -> Self {
        let fake = Fake::fresh();
        let driver = Driver::open(Some(&fake.path)).unwrap();
        let devices: Vec<_> = (0..2)
            .map(|ordinal| Device::open(&driver, ordinal).unwrap())
            .collect();
        let memory = LandingMemory::create(&devices[0], LENGTH as u64, sharing).unwrap();
        let free = SharedEvent::create(&devices[0]).unwrap();
        control.send(&memory.describe().unwrap()).unwrap();
        control.send(&free.describe().unwrap()).unwrap();
        let stream = Stream::create(&devices[0]).unwrap();
        Self {
            fake,
            devices,
            memory,
            free,
            stream,
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; LENGTH];
        self.memory.read(0, &mut bytes).unwrap();
        bytes
    }

    pub fn end(self) {
        let Self {
            fake,
            devices,
            memory,
            free,
            stream,
        } = self;
        drop((memory, free, stream, devices));
        assert_eq!(fake.alive(), []);
    }
}

/// A feeder's end.
pub struct Feeder {
    pub fake: Fake,
    pub back_end: Cuda,
    pub segment: Arc<Segment>,
    pub from: Handle,
    pub to: Handle,
    pub free: SharedEvent,
    pub full: SharedEvent,
}

impl Feeder {
    pub fn new(control: &mut Control) -> Self {
        let fake = Fake::fresh();
        let options = CudaOptions {
            library: Some(fake.path.clone()),
            ..CudaOptions::default()
        };
        let mut back_end = Cuda::open(&options).unwrap();
        let to = back_end
            .register(Memory::Remote(control.receive().unwrap()))
            .unwrap();
        let free = SharedEvent::open(back_end.devices(), &control.receive().unwrap()).unwrap();
        let segment = Arc::new(Segment::create(LENGTH, SegmentOptions::default()).unwrap());
        let from = back_end.register(Memory::Segment(segment.clone())).unwrap();
        let full = SharedEvent::create(back_end.landing(to).unwrap().device()).unwrap();
        control.send(&full.describe().unwrap()).unwrap();
        Self {
            fake,
            back_end,
            segment,
            from,
            to,
            free,
            full,
        }
    }

    pub fn fill(&self, salt: u64) {
        let bytes = pattern(salt, LENGTH);
        // SAFETY: the segment has this length, and no copy reads it now.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.segment.pointer(), LENGTH) };
    }

    /// In three pieces, as parts of a batch arrive.
    pub fn put(&mut self) {
        let third = LENGTH as u64 / 3;
        for (tag, offset) in [2 * third, 0, third].into_iter().enumerate() {
            let length = if tag == 0 { LENGTH as u64 - offset } else { third };
            let from = Source {
                handle: self.from,
                offset,
            };
            self.back_end
                .put(&Put {
                    handle: self.to,
                    offset,
                    from,
                    length,
                    tag: tag as u64,
                })
                .unwrap();
        }
    }

    pub fn end(mut self) {
        self.back_end.close().unwrap();
        let Self {
            fake,
            back_end,
            free,
            full,
            segment,
            ..
        } = self;
        drop((back_end, free, full, segment));
        assert_eq!(fake.alive(), []);
    }
}
