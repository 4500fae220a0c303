//! Memory shared between processes: a sealed memfd, mapped.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

use crate::error::{Error, Kind, Result};

/// Which pages to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pages {
    /// Pages of the system's usual size.
    #[default]
    Normal,
    /// Asks the kernel for transparent huge pages (`MADV_HUGEPAGE`); it may or may not follow.
    Transparent,
    /// 2 MiB pages from the reserved pool (`MFD_HUGETLB`); transparent ones where the pool has too few.
    Huge,
}

/// How to make a [`Segment`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SegmentOptions {
    /// The pages to ask for.
    pub pages: Pages,
    /// Touch all pages at once (`MADV_POPULATE_WRITE`), so that no page fault comes later, and lack of memory is
    /// an error now.
    pub populate: bool,
}

/// A mapped, sealed memfd: its size can never change, so no process that holds it can make another fault on it.
/// Unmapped when dropped; the memory itself ends with the last process that holds it.
#[derive(Debug)]
pub struct Segment {
    pointer: NonNull<u8>,
    length: usize,
    mapped: usize,
    fd: OwnedFd,
    pages: Pages,
}

// SAFETY: the mapping belongs to the segment alone and stays until it drops; access goes through raw pointers, and
// who reads or writes which range when is for the users of the segment to agree on, as with any shared memory.
unsafe impl Send for Segment {}
// SAFETY: as above; the segment itself has no state that changes after it was made.
unsafe impl Sync for Segment {}

const HUGE_PAGE_BYTES: usize = 2 << 20;
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
const FEW_MEMORY: &str = "Lower --memory, or free memory on this machine.";

impl Segment {
    /// Makes a segment of `length` bytes, zeroed, not yet touched unless `options.populate`.
    ///
    /// # Errors
    /// `Invalid` for a length of 0; what the system says otherwise.
    pub fn create(length: usize, options: SegmentOptions) -> Result<Self> {
        if length == 0 || length > isize::MAX as usize - HUGE_PAGE_BYTES {
            return Err(Error::new(
                Kind::Invalid,
                format!("A memory segment cannot have {length} bytes."),
                "Give --memory a size above 0.",
            ));
        }
        if options.pages == Pages::Huge
            && let Ok(segment) = Self::create_with(length, options, Pages::Huge)
        {
            return Ok(segment);
        }
        let pages = if options.pages == Pages::Huge {
            Pages::Transparent
        } else {
            options.pages
        };
        Self::create_with(length, options, pages)
    }

    fn create_with(length: usize, options: SegmentOptions, pages: Pages) -> Result<Self> {
        let mut flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        if pages == Pages::Huge {
            flags |= libc::MFD_HUGETLB | libc::MFD_HUGE_2MB;
        }
        // SAFETY: the name is a NUL-terminated string; the result is checked.
        let raw = unsafe { libc::memfd_create(c"os2g".as_ptr(), flags) };
        if raw < 0 {
            return Err(Error::system("memfd_create", "Making shared memory", FEW_MEMORY));
        }
        // SAFETY: `raw` is a new descriptor that nothing else owns.
        let fd = unsafe { OwnedFd::from_raw_fd(raw) };
        let size = if pages == Pages::Huge {
            length.next_multiple_of(HUGE_PAGE_BYTES)
        } else {
            length
        };
        // SAFETY: a valid descriptor and a plain number.
        if unsafe { libc::ftruncate(fd.as_raw_fd(), size as libc::off_t) } != 0 {
            return Err(Error::system("ftruncate", "Sizing shared memory", FEW_MEMORY));
        }
        // SAFETY: a valid descriptor and a plain number.
        if unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, SEALS) } != 0 {
            return Err(Error::system(
                "fcntl(F_ADD_SEALS)",
                "Sealing shared memory",
                "Use a Linux kernel >= 3.17.",
            ));
        }
        let segment = Self::map(fd, length, size, pages)?;
        segment.advise(options)?;
        Ok(segment)
    }

    /// Maps a segment that another process made. `length` is what that process says; it is believed only after the
    /// descriptor's seals and size were checked.
    ///
    /// # Errors
    /// `Refused` for a descriptor that is not a sealed memfd, or is smaller than `length`.
    pub fn attach(fd: OwnedFd, length: u64) -> Result<Self> {
        // SAFETY: a valid descriptor; the call takes no further argument.
        let seals = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) };
        // F_SEAL_GROW is not needed for safety, but its lack shows memory that is not a segment of ours.
        if seals < 0 || seals & SEALS != SEALS {
            return Err(refused(
                "is not sealed shared memory, so its size could change under a reader",
            ));
        }
        let file = File::from(fd);
        let size = file
            .metadata()
            .map_err(|error| {
                Error::from_io(&error, "fstat", "Reading the size of shared memory", "Try again.")
            })?
            .len();
        if length == 0 || length > size {
            return Err(refused(&format!(
                "was said to have {length} bytes but has {size}"
            )));
        }
        let (Ok(length), Ok(size)) = (usize::try_from(length), usize::try_from(size)) else {
            return Err(refused("is larger than this process can map"));
        };
        Self::map(OwnedFd::from(file), length, size, Pages::Normal)
    }

    fn map(fd: OwnedFd, length: usize, size: usize, pages: Pages) -> Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice, so no memory in use is replaced; the file
        // has `size` bytes and is sealed against shrinking.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                access,
                libc::MAP_SHARED,
                fd.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(address.cast::<u8>()) {
            Some(pointer) if address != libc::MAP_FAILED => Ok(Self {
                pointer,
                length,
                mapped: size,
                fd,
                pages,
            }),
            _ => Err(Error::system("mmap", "Mapping shared memory", FEW_MEMORY)),
        }
    }

    fn advise(&self, options: SegmentOptions) -> Result<()> {
        let address = self.pointer.as_ptr().cast();
        if self.pages == Pages::Transparent {
            // SAFETY: exactly this segment's own mapping. Advice only: a refusal changes nothing, and a kernel
            // without huge pages for shared memory answers so.
            unsafe { libc::madvise(address, self.mapped, libc::MADV_HUGEPAGE) };
        }
        if options.populate {
            // SAFETY: exactly this segment's own mapping; the advice changes no content.
            if unsafe { libc::madvise(address, self.mapped, libc::MADV_POPULATE_WRITE) } != 0 {
                return Err(Error::system(
                    "madvise(MADV_POPULATE_WRITE)",
                    "Filling shared memory",
                    FEW_MEMORY,
                ));
            }
        }
        Ok(())
    }

    /// Where it is mapped in this process.
    pub fn pointer(&self) -> *mut u8 {
        self.pointer.as_ptr()
    }

    /// Usable bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Never: a segment has at least one byte.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Bytes mapped, whole pages of the kind in use.
    pub fn mapped(&self) -> usize {
        self.mapped
    }

    /// The pages in use: what was got, not what was asked for.
    pub fn pages(&self) -> Pages {
        self.pages
    }

    /// The memfd, to hand to another process.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what `map` mapped, once; nobody can hold the segment any more.
        unsafe { libc::munmap(self.pointer.as_ptr().cast(), self.mapped) };
    }
}

fn refused(why: &str) -> Error {
    Error::new(
        Kind::Refused,
        format!("The memory that the other process sent {why}; it was not mapped."),
        "Run the same version of OS2G at both ends.",
    )
}
