//! Whether GPU memory can be landed in here, tried out.

use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;

use super::back_end::{Cuda, CudaOptions};
use super::driver::Driver;
use super::landing::{LandingMemory, Sharing};
use crate::backend::{Backend, Memory, Probe, Put, PutDone, Source};
use crate::error::{Error, Kind, Result};
use crate::memory::{Segment, SegmentOptions};

const NAME: &str = "cuda";
const TRIED_BYTES: usize = 64 << 10;
const LIMIT_MS: i32 = 5_000;

/// Loads the driver (from `library`, or by its usual name), puts 64 KiB into each GPU, reads them back and compares.
pub fn probe(library: Option<&Path>) -> Probe {
    let driver = match Driver::open(library) {
        Ok(driver) => driver,
        Err(error) => {
            return Probe::failed(NAME, error.kind != Kind::MissingLibrary, None, &error);
        }
    };
    let version = driver.version().ok();
    match try_all(library) {
        Ok(details) => Probe {
            name: NAME,
            found: true,
            version,
            works: true,
            why: "64 KiB were put into each GPU and read back.".into(),
            mend: String::new(),
            details,
        },
        Err(error) => Probe::failed(NAME, true, version, &error),
    }
}

fn try_all(library: Option<&Path>) -> Result<Vec<String>> {
    let options = CudaOptions {
        library: library.map(Path::to_path_buf),
        ..CudaOptions::default()
    };
    let mut back_end = Cuda::open(&options)?;
    let segment = Arc::new(Segment::create(
        TRIED_BYTES,
        SegmentOptions {
            populate: true,
            ..Default::default()
        },
    )?);
    // SAFETY: the segment is new and known to nobody else yet.
    let bytes = unsafe { std::slice::from_raw_parts_mut(segment.pointer(), segment.len()) };
    bytes
        .iter_mut()
        .enumerate()
        .for_each(|(index, byte)| *byte = (index * 7 + index / 251) as u8);
    let expected = bytes.to_vec();
    let from = Source {
        handle: back_end.register(Memory::Segment(segment))?,
        offset: 0,
    };
    let mut details = Vec::new();
    for device in back_end.devices().to_vec() {
        let memory = Arc::new(LandingMemory::create(&device, TRIED_BYTES as u64, Sharing::Auto)?);
        details.push(format!(
            "GPU {}: {}, memory shared {}",
            device.ordinal(),
            device.name(),
            memory.sharing()
        ));
        let handle = back_end.register_landing(memory.clone())?;
        back_end.put(&Put {
            handle,
            offset: 0,
            from,
            length: TRIED_BYTES as u64,
            tag: 0,
        })?;
        wait(&mut back_end)?;
        let mut read = vec![0; TRIED_BYTES];
        memory.read(0, &mut read)?;
        if read != expected {
            return Err(Error::new(
                Kind::Unsupported,
                format!(
                    "GPU {} ({}) gave back other bytes than were put.",
                    device.ordinal(),
                    device.name()
                ),
                "Do not use this GPU; see dmesg for its errors.",
            ));
        }
        back_end.unregister(handle)?;
    }
    back_end.close()?;
    Ok(details)
}

fn wait(back_end: &mut Cuda) -> Result<()> {
    let mut done = [PutDone::default()];
    if let Some(wake) = back_end.wake() {
        let mut poll = libc::pollfd {
            fd: wake.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one pollfd, alive for the call.
        unsafe { libc::poll(&raw mut poll, 1, LIMIT_MS) };
    }
    match back_end.poll(&mut done) {
        1 => done[0].result.clone(),
        _ => Err(Error::new(
            Kind::TimedOut,
            format!("A put of 64 KiB to a GPU did not complete within {LIMIT_MS} ms."),
            "See nvidia-smi and dmesg for the GPU's state.",
        )),
    }
}
