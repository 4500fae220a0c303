//! The records that cross between the engine and its caller: 64 bytes each, numbers only, in the machine's byte order.

/// [`Submission::kind`]: begin one GET.
pub const GET: u32 = 1;
/// [`Submission::kind`]: end an attempt early. What is named is `id` and `attempt`; the rest is not looked at.
pub const CANCEL: u32 = 2;

/// [`Completion::kind`]: the answer's head is the right one, its body follows.
pub const FIRST_BYTE: u32 = 0;
/// [`Completion::kind`]: all bytes are in the target, and checked. Ends the attempt.
pub const FETCHED: u32 = 1;
/// [`Completion::kind`]: the attempt ended without its bytes. What came is in no defined state.
pub const FAILED: u32 = 2;

/// What the engine is to do. Numbers that are no whole numbers, or out of range, end in a completion of class `internal`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Submission {
    /// [`GET`] or [`CANCEL`].
    pub kind: u32,
    /// The request, in the caller's words.
    pub id: u32,
    /// Which attempt of the request; with `id` it names what runs.
    pub attempt: u32,
    /// The region that the target is in ([`crate::RegionId`]).
    pub region: u32,
    /// Row of the object in the [`crate::ObjectTable`].
    pub row: f64,
    /// First byte to read, in the object.
    pub offset: f64,
    /// Bytes to read, at least 1.
    pub length: f64,
    /// Where the bytes go: offset in the region.
    pub target: f64,
    /// Not looked at.
    pub reserved: [f64; 2],
}

/// What happened.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Completion {
    /// [`FIRST_BYTE`], [`FETCHED`] or [`FAILED`].
    pub kind: u32,
    /// The class of a failure ([`crate::Class`]); 0 otherwise.
    pub class: u32,
    /// As submitted.
    pub id: u32,
    /// As submitted.
    pub attempt: u32,
    /// HTTP status of a failure; 0 where there is none.
    pub status: u32,
    /// Always 0.
    pub reserved: u32,
    /// When it happened: nanoseconds on CLOCK_MONOTONIC.
    pub time_ns: f64,
    /// Bytes of the body that were in the target by then.
    pub bytes: f64,
    /// How long the store asks to wait, in nanoseconds; 0: it does not say.
    pub retry_after_ns: f64,
    /// Always 0.
    pub reserved_end: [f64; 2],
}

const _: () = assert!(size_of::<Submission>() == 64 && size_of::<Completion>() == 64);
