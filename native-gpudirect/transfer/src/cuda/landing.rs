//! Landing memory on a GPU: made by one process, used by two.
//!
//! Made by `cuMemCreate` and handed over as a file descriptor where driver and GPU can; by `cuMemAlloc` and an IPC
//! handle otherwise. The bytes of a description: the GPU's UUID (16), then the bytes of the whole allocation (u64,
//! little-endian) or the IPC handle (64) and the offset in its allocation (u64).

use std::os::fd::AsFd;
use std::sync::Arc;

use super::abi::{CuDevicePointer, CuIpcHandle};
use super::device::Device;
use super::plain_memory::{Opened, Plain};
use super::refused;
use super::virtual_memory::{Allocation, Mapping, Reservation};
use crate::backend::check_range;
use crate::control::{Description, Purpose};
use crate::error::{Error, Kind, Result};

/// How landing memory is made and handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// By file descriptor where the GPU can, else by IPC handle.
    #[default]
    Auto,
    /// By file descriptor; an error where the GPU cannot.
    Fd,
    /// By IPC handle.
    Ipc,
}

enum Held {
    Mapped(Mapping),
    Plain(Plain),
    Opened { _opened: Opened },
}

/// GPU memory that bytes land in.
pub struct LandingMemory {
    held: Held,
    device: Arc<Device>,
    pointer: CuDevicePointer,
    length: u64,
}

impl LandingMemory {
    /// Makes landing memory of `length` bytes. Its content is undefined.
    ///
    /// # Errors
    /// `Invalid` for a length of 0, `Unsupported` (only for [`Sharing::Fd`]), or the driver's.
    pub fn create(device: &Arc<Device>, length: u64, sharing: Sharing) -> Result<Self> {
        let bytes = usize::try_from(length)
            .ok()
            .filter(|bytes| *bytes > 0)
            .ok_or_else(|| {
                Error::new(
                    Kind::Invalid,
                    format!("Landing memory on a GPU cannot have {length} bytes."),
                    "Give --memory a size above 0.",
                )
            })?;
        let by_fd = sharing != Sharing::Ipc && device.shares_by_fd()?;
        if sharing == Sharing::Fd && !by_fd {
            return Err(Error::new(
                Kind::Unsupported,
                format!(
                    "GPU {} ({}) cannot share memory as a file descriptor.",
                    device.ordinal(),
                    device.name()
                ),
                "Let the landing memory be shared by IPC handle.",
            ));
        }
        let (held, pointer) = if by_fd {
            let (allocation, bytes) = Allocation::create(device, bytes)?;
            let mapping = Mapping::new(allocation, Reservation::new(device, bytes)?)?;
            let pointer = mapping.pointer();
            (Held::Mapped(mapping), pointer)
        } else {
            let plain = Plain::new(device, bytes)?;
            let pointer = plain.pointer;
            (Held::Plain(plain), pointer)
        };
        Ok(Self {
            held,
            device: device.clone(),
            pointer,
            length,
        })
    }

    /// Opens landing memory of another process on one of `devices`.
    ///
    /// # Errors
    /// `Refused` for a description that is not true, `Unsupported` for a GPU that is not among `devices`, or the
    /// driver's.
    pub fn open(devices: &[Arc<Device>], description: Description) -> Result<Self> {
        let mut rest = description.bytes.as_slice();
        let device = find(devices, take(&mut rest)?)?;
        match description.purpose {
            Purpose::CudaFd => {
                let bytes = u64::from_le_bytes(take(&mut rest)?);
                let (Some(fd), Ok(bytes)) = (description.fds.first(), usize::try_from(bytes)) else {
                    return Err(refused("came without its file descriptor"));
                };
                check_length(description.length, bytes as u64)?;
                let allocation = Allocation::import(&device, fd.as_fd())?;
                // The driver refuses to map more than the allocation has.
                let mapping = Mapping::new(allocation, Reservation::new(&device, bytes)?)?;
                let pointer = mapping.pointer();
                Ok(Self {
                    held: Held::Mapped(mapping),
                    device,
                    pointer,
                    length: description.length,
                })
            }
            Purpose::CudaIpc => {
                let handle = CuIpcHandle {
                    reserved: take(&mut rest)?,
                };
                let offset = u64::from_le_bytes(take(&mut rest)?);
                let opened = Opened::new(&device, handle)?;
                check_length(description.length, opened.bytes()?.saturating_sub(offset))?;
                let pointer = opened.base + offset;
                Ok(Self {
                    held: Held::Opened { _opened: opened },
                    device,
                    pointer,
                    length: description.length,
                })
            }
            _ => Err(Error::new(
                Kind::Unsupported,
                format!(
                    "The `cuda` back end cannot put into memory of the kind {:?}.",
                    description.purpose
                ),
                "Choose the same --landing at both ends.",
            )),
        }
    }

    /// Describes it to another process.
    ///
    /// # Errors
    /// The driver's; `Unsupported` for memory that is another process's itself and came by IPC handle.
    pub fn describe(&self) -> Result<Description> {
        let mut bytes = self.device.uuid().to_vec();
        let (purpose, fds) = match &self.held {
            Held::Mapped(mapping) => {
                bytes.extend_from_slice(&(mapping.bytes() as u64).to_le_bytes());
                (Purpose::CudaFd, vec![mapping.allocation.export()?])
            }
            Held::Plain(plain) => {
                let (handle, offset) = plain.share()?;
                bytes.extend_from_slice(&handle.reserved);
                bytes.extend_from_slice(&offset.to_le_bytes());
                (Purpose::CudaIpc, Vec::new())
            }
            Held::Opened { .. } => {
                return Err(Error::new(
                    Kind::Unsupported,
                    "Memory opened by its IPC handle cannot be handed on.",
                    "Let the process that made it describe it.",
                ));
            }
        };
        Ok(Description {
            purpose,
            length: self.length,
            bytes,
            fds,
        })
    }

    /// Copies back to host memory, for audits. Waits for the copy, not for puts: those are done when polled.
    ///
    /// # Errors
    /// `OutOfBounds`, or the driver's.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        check_range("landing memory", offset, into.len() as u64, self.length)?;
        if into.is_empty() {
            return Ok(());
        }
        let _entered = self.device.enter()?;
        // SAFETY: the range lies inside this memory; `into` is writable for its length.
        unsafe {
            self.device
                .driver()
                .copy_to_host(into.as_mut_ptr().cast(), self.pointer + offset, into.len())
        }
    }

    /// Its address in the GPU's own space, for DLPack or a CUDA call; never to be followed by the CPU.
    pub fn device_pointer(&self) -> u64 {
        self.pointer
    }

    /// Usable bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The GPU that it lies on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// How it is handed over, in words.
    pub fn sharing(&self) -> &'static str {
        match self.held {
            Held::Mapped(_) => "cuMemCreate, by file descriptor",
            Held::Plain(_) | Held::Opened { .. } => "cuMemAlloc, by IPC handle",
        }
    }
}

impl std::fmt::Debug for LandingMemory {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "LandingMemory({} bytes, {:?}, {})",
            self.length,
            self.device,
            self.sharing()
        )
    }
}

pub(super) fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    let (first, tail) = rest
        .split_first_chunk::<N>()
        .ok_or_else(|| refused("has a description that is too short"))?;
    *rest = tail;
    Ok(*first)
}

pub(super) fn find(devices: &[Arc<Device>], uuid: [u8; 16]) -> Result<Arc<Device>> {
    devices.iter().find(|device| device.uuid() == uuid).cloned().ok_or_else(|| {
        let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        Error::new(
            Kind::Unsupported,
            format!("The other process's memory is on the GPU with UUID {hex}, which this process did not open."),
            "Give both processes that GPU (CUDA_VISIBLE_DEVICES, container devices).",
        )
    })
}

fn check_length(claimed: u64, there: u64) -> Result<()> {
    if claimed == 0 || claimed > there {
        return Err(refused(&format!(
            "was said to have {claimed} bytes but has {there}"
        )));
    }
    Ok(())
}
