//! The control socket: what is sent arrives, and what is none of ours is refused.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "how a test fails"
)]

mod common;

use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use common::segments::{read, write};
use common::{pattern, until};
use os2g_transfer::{Control, Description, Kind, Purpose, Segment, SegmentOptions};

fn pair() -> (Control, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(common::LIMIT)).unwrap();
    (Control::new(ours), theirs)
}

fn header(purpose: u32, fds: u32, length: u64, bytes: u32) -> Vec<u8> {
    let mut header = b"OS2Gmem1".to_vec();
    header.extend(purpose.to_le_bytes());
    header.extend(fds.to_le_bytes());
    header.extend(length.to_le_bytes());
    header.extend(bytes.to_le_bytes());
    header.extend([0; 4]);
    header
}

/// Sends raw bytes with descriptors, as no correct peer would.
fn send_raw(stream: &UnixStream, bytes: &[u8], fds: &[i32]) {
    let mut room = [0u64; 32];
    let mut part = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: the message points to live buffers; the room is aligned and has space for 30 descriptors and a header.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        if !fds.is_empty() {
            message.msg_control = room.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(size_of_val(fds) as u32) as usize;
            let control = libc::CMSG_FIRSTHDR(&raw const message);
            (*control).cmsg_level = libc::SOL_SOCKET;
            (*control).cmsg_type = libc::SCM_RIGHTS;
            (*control).cmsg_len = libc::CMSG_LEN(size_of_val(fds) as u32) as usize;
            std::ptr::copy_nonoverlapping(fds.as_ptr(), libc::CMSG_DATA(control).cast::<i32>(), fds.len());
        }
        assert_eq!(
            libc::sendmsg(stream.as_raw_fd(), &raw const message, 0),
            bytes.len() as isize
        );
    }
}

#[test]
fn messages_that_are_none_are_refused_and_their_descriptors_closed() {
    let (mut wrong_magic, mut wrong_tail) = (header(1, 1, 8192, 0), header(1, 1, 8192, 0));
    wrong_magic[7] = b'2';
    wrong_tail[31] = 1;
    let table = [
        ("another magic", wrong_magic, 1, Kind::Refused),
        ("something at the end", wrong_tail, 1, Kind::Refused),
        ("purpose 0", header(0, 1, 8192, 0), 1, Kind::Refused),
        ("an unknown purpose", header(6, 1, 8192, 0), 1, Kind::Refused),
        ("no descriptor", header(1, 1, 8192, 0), 0, Kind::Refused),
        ("one too many", header(1, 1, 8192, 0), 2, Kind::Refused),
        ("two said, one sent", header(1, 2, 8192, 0), 1, Kind::Refused),
        ("two said and sent", header(1, 2, 8192, 0), 2, Kind::Refused),
        ("one where none belongs", header(5, 1, 8192, 0), 1, Kind::Refused),
        ("eight", header(1, 1, 8192, 0), 8, Kind::Refused),
        (
            "more than the kernel's room",
            header(1, 1, 8192, 0),
            20,
            Kind::Refused,
        ),
        (
            "too many bytes said",
            header(5, 0, 8192, 16_385),
            0,
            Kind::Refused,
        ),
        (
            "4 GiB of bytes said",
            header(5, 0, 8192, u32::MAX),
            0,
            Kind::Refused,
        ),
        (
            "half a header",
            header(1, 1, 8192, 0)[..20].to_vec(),
            1,
            Kind::PeerGone,
        ),
        (
            "half of its bytes",
            [header(5, 0, 8192, 100), vec![0; 50]].concat(),
            0,
            Kind::PeerGone,
        ),
        ("nothing", Vec::new(), 0, Kind::PeerGone),
    ];
    for (what, bytes, count, kind) in table {
        let (mut control, theirs) = pair();
        let (mut ours, sent) = UnixStream::pair().unwrap();
        if !bytes.is_empty() {
            send_raw(&theirs, &bytes, &vec![sent.as_raw_fd(); count]);
        }
        drop((sent, theirs));
        let error = control.receive().unwrap_err();
        assert_eq!(error.kind, kind, "{what}: {error}");
        assert!(!error.mend.is_empty());
        // The descriptor that was sent is closed everywhere once its other end reads the end of the stream.
        ours.set_read_timeout(Some(common::LIMIT)).unwrap();
        assert_eq!(ours.read(&mut [0]).unwrap(), 0, "{what}: a descriptor was kept");
    }
}

#[test]
fn descriptions_arrive_as_they_were_sent() {
    let (mut control, theirs) = pair();
    let mut other = Control::new(theirs);
    let segment = Segment::create(5000, SegmentOptions::default()).unwrap();
    write(&segment, 4990, b"end of it.");
    control.send(&Description::of_segment(&segment).unwrap()).unwrap();
    let bytes = pattern(1, 16_384);
    control
        .send(&Description {
            purpose: Purpose::Ucx,
            length: 7,
            bytes: bytes.clone(),
            fds: Vec::new(),
        })
        .unwrap();
    let received = other.receive().unwrap();
    assert_eq!(
        (received.purpose, received.length, received.fds.len()),
        (Purpose::Segment, 5000, 1)
    );
    // SAFETY: a valid descriptor.
    let flags = unsafe { libc::fcntl(received.fds[0].as_raw_fd(), libc::F_GETFD) };
    assert_eq!(
        flags & libc::FD_CLOEXEC,
        libc::FD_CLOEXEC,
        "a child would inherit the memory"
    );
    assert_eq!(read(&received.into_segment().unwrap(), 4990, 10), b"end of it.");
    let received = other.receive().unwrap();
    assert_eq!(
        (received.purpose, received.length, &received.bytes),
        (Purpose::Ucx, 7, &bytes)
    );
    assert_eq!(received.into_segment().unwrap_err().kind, Kind::Refused);

    let too_long = Description {
        purpose: Purpose::Ucx,
        length: 7,
        bytes: vec![0; 16_385],
        fds: Vec::new(),
    };
    assert_eq!(control.send(&too_long).unwrap_err().kind, Kind::Invalid);
    let no_fd = Description {
        purpose: Purpose::Segment,
        length: 7,
        bytes: Vec::new(),
        fds: Vec::new(),
    };
    assert_eq!(control.send(&no_fd).unwrap_err().kind, Kind::Invalid);

    control
        .stream()
        .set_read_timeout(Some(Duration::from_millis(1)))
        .unwrap();
    assert_eq!(control.receive().unwrap_err().kind, Kind::TimedOut);
    assert!(!control.is_peer_gone());
    drop(other);
    // A child of another test, between fork and exec, may hold the other end for a moment.
    until("the end of the stream", || control.is_peer_gone());
    assert_eq!(control.receive().unwrap_err().kind, Kind::PeerGone);
    let description = Description::of_segment(&segment).unwrap();
    assert_eq!(control.send(&description).unwrap_err().kind, Kind::PeerGone);
}
