//! The check before a target is used: bytes must arrive while its process sleeps.

use std::sync::Arc;
use std::time::Instant;

use os2g_transfer::{Error, Kind, Result};

use crate::context::Context;
use crate::frame::{Frame, refused};
use crate::offer::{Offer, Region};
use crate::record::{Record, Source, Transfer};
use crate::report::{ErrorHandling, Report};
use crate::session::Session;
use crate::settings::Limits;
use crate::socket::Socket;

/// Sizes that are tried: UCX takes other protocols for short and for long puts.
const SIZES: [u64; 4] = [8, 4 << 10, 64 << 10, 1 << 20];

/// The pattern of a seed (splitmix64 of seed and index, a byte each).
pub fn pattern(seed: u64, index: u64) -> u8 {
    let mut value = seed.wrapping_add(index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (value ^ (value >> 31)) as u8
}

/// Opens a session whose puts arrive without the target's help, or says why there is none. Error handling by UCX is
/// tried first; where UCX has it only with transports that need the target, or not at all, the control socket and
/// the transfers themselves must tell of the peer's end.
///
/// # Errors
/// `Unsupported` with UCX's choice, `TimedOut`, `PeerGone`, `Refused`, `Driver`.
pub fn open_passive(
    context: &Arc<Context>,
    offer: &Offer,
    control: Option<&Socket>,
    limits: &Limits,
) -> Result<(Session, Report)> {
    let attempt = |mode| -> Result<(Session, Report)> {
        let mut session = Session::open(context, offer, mode)?;
        let seen = check(&mut session, offer, control, limits)?;
        let protocols = session.protocols().to_vec();
        let report = Report {
            version: context.ucp().version.clone(),
            error_handling: session.mode(),
            transports: session.transports(),
            direct: !protocols.is_empty() && protocols.iter().all(crate::report::Protocol::is_direct),
            protocols,
            seen_by_target: seen,
        };
        Ok((session, report))
    };
    match attempt(ErrorHandling::Peer) {
        // Not for want of a transport: a second attempt would meet the same.
        Err(error) if matches!(error.kind, Kind::PeerGone | Kind::Refused) => Err(error),
        // What UCX has said of the first attempt is not the cause, should the second one fail too.
        Err(_) => {
            crate::log::take();
            attempt(ErrorHandling::None)
        }
        done => done,
    }
}

/// Puts patterns into each region's scratch range. With a control socket, the target is first asked to stop
/// progress, and then whether it sees the pattern.
fn check(
    session: &mut Session,
    offer: &Offer,
    control: Option<&Socket>,
    limits: &Limits,
) -> Result<Option<bool>> {
    let deadline = Instant::now() + limits.check;
    if let Some(control) = control {
        control.send(&Frame::Wake)?;
    }
    // A short put first: it brings the connection up, for which the target may run, and shows the protocol at once.
    for index in 0..offer.regions.len() {
        put(session, offer, index, SIZES[0], 0, deadline, control)?;
    }
    if let Some(control) = control {
        control.send(&Frame::Sleep)?;
        match control.receive_within(limits.check, "that its progress is stopped")? {
            Some(Frame::Slept) => (),
            Some(_) => return Err(refused("sent another message than was asked for")),
            None => return Err(Error::peer_gone("control socket")),
        }
    }
    let mut seen = None;
    for (index, region) in offer.regions.iter().enumerate() {
        let deadline = Instant::now() + limits.check;
        let seed = 0x05_2060 + index as u64;
        for size in sizes(region) {
            put(session, offer, index, size, seed, deadline, control)?;
        }
        if let Some(control) = control {
            let length = sizes(region).last().unwrap_or(0);
            seen = ask(control, index as u32, length, seed, limits)?;
        }
    }
    Ok(seen)
}

/// The sizes that fit into a region's scratch range, or the whole range where none does.
fn sizes(region: &Region) -> impl Iterator<Item = u64> {
    let limit = region.scratch_length;
    SIZES
        .into_iter()
        .filter(move |size| *size <= limit)
        .chain((limit < SIZES[0]).then_some(limit))
}

/// One put into the scratch range, waited for.
fn put(
    session: &mut Session,
    offer: &Offer,
    index: usize,
    size: u64,
    seed: u64,
    deadline: Instant,
    control: Option<&Socket>,
) -> Result<()> {
    let region = &offer.regions[index];
    let bytes: Vec<u8> = (0..size.min(region.scratch_length))
        .map(|at| pattern(seed, at))
        .collect();
    let transfer = Transfer {
        region: index,
        offset: region.scratch_offset,
        source: bytes.as_ptr(),
        memh: std::ptr::null_mut(),
        length: bytes.len(),
    };
    let record = Record {
        tag: 0,
        result: Ok(()),
        uses: Vec::new(),
        source: Source::Bytes(bytes),
    };
    // SAFETY: the record owns the bytes (moving it does not move them), and the session keeps it until the put is
    // done or the worker has ended.
    unsafe { session.put(&transfer, record) };
    session.flush();
    wait(session, transfer.length, deadline, control)
}

fn wait(session: &mut Session, size: usize, deadline: Instant, control: Option<&Socket>) -> Result<()> {
    loop {
        let (records, moved) = session.progress();
        session.check()?;
        if let Some(record) = records.into_iter().next() {
            return record.result;
        }
        if Instant::now() > deadline {
            return Err(late(session, size));
        }
        if control.is_some_and(Socket::has_ended) {
            return Err(Error::peer_gone("control socket"));
        }
        if !moved {
            std::thread::yield_now();
        }
    }
}

fn late(session: &Session, size: usize) -> Error {
    let chosen = session
        .protocols()
        .last()
        .map_or("nothing that it tells", |protocol| &protocol.text);
    Error::new(
        Kind::Unsupported,
        format!(
            "A put of {size} bytes did not arrive in time while the target's process slept; UCX chose {chosen} over \
             {}.",
            session.transports().join(", ")
        ),
        "The path that UCX chose needs the target's process to run, or the network between the ends drops packets. \
         See ucx_info -d at both ends, or use --landing shm on one machine.",
    )
}

/// Asks the target for the pattern.
fn ask(control: &Socket, region: u32, length: u64, seed: u64, limits: &Limits) -> Result<Option<bool>> {
    control.send(&Frame::Check { region, length, seed })?;
    match control.receive_within(limits.check, "whether it sees the bytes of the check")? {
        Some(Frame::Checked(Some(false))) => Err(Error::new(
            Kind::Refused,
            "UCX reported a put as done, but the target does not find its bytes in the landing memory.",
            "Run the same version of OS2G and of UCX at both ends; please report this.",
        )),
        Some(Frame::Checked(seen)) => Ok(seen),
        Some(_) => Err(refused("sent another message than was asked for")),
        None => Err(Error::peer_gone("control socket")),
    }
}
