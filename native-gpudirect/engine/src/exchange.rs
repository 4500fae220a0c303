use std::io;

use os2g_wire::{
    Asked, Class, Framing, Head, RunningChecksum, Verdict, check_answer, is_document_instead_of_object,
};

use crate::attempt::{Phase, Progress};
use crate::body::{Body, Piece};
use crate::clock::monotonic_ns;
use crate::conn::Conn;
use crate::errno::errno_text;
use crate::regions::Slot;
use crate::tls::tls_error_text;

const ERROR_BODY_KEPT_BYTES: usize = 4096;
const ERROR_BODY_READ_BYTES: usize = 256 * 1024;
const MOST_HEADERS: usize = 128;
const MOST_INTERIM_ANSWERS: u32 = 16;
/// Up to here each piece of a head is looked at as it comes: what is no HTTP shows at once.
const ALWAYS_PARSED_BYTES: usize = 4096;

/// How a request on a connection ended. Where the connection can serve another one, `Conn::reusable` is set.
pub(crate) enum Answer {
    /// All bytes are in the slot; the checksum, where there is one, is still to be compared.
    Object(Option<Box<RunningChecksum>>),
    /// An answer that is no object; its head is the connection's. `whole`: it was read to its end.
    Error { body: Vec<u8>, whole: bool },
    /// An answer that is not what was asked for.
    Mismatch(Verdict),
    /// The connection failed, or what came on it is no HTTP.
    Broken(Verdict),
}

/// Sends what stands in `conn.out`, and receives the answer: the object into the slot, and nothing else. Not even the start
/// of an answer that is not judged yet: another attempt of the same request may have the object's bytes there.
///
/// `accept`: told once of the right answer, and when its first byte came, before its body is received; says what is wrong
/// with it beside the others of its sample.
pub(crate) async fn exchange(
    conn: &mut Conn,
    slot: &mut Slot,
    asked: &Asked<'_>,
    progress: &Progress,
    accept: impl FnOnce(&Head, u64) -> Option<String>,
) -> Answer {
    conn.reusable = false;
    conn.status = 0;
    if let Err(error) = conn.send().await {
        return Answer::Broken(disconnected(conn, Some(error), false));
    }
    progress.enter(Phase::Sent);
    let first_byte_ns = match read_head(conn).await {
        Ok(first_byte_ns) => first_byte_ns,
        Err(verdict) => return Answer::Broken(verdict),
    };
    progress.enter(Phase::Body);
    let head = &conn.head;
    let status = head.status();
    conn.status = status;
    let body = Body::new(Framing::of(head));
    if !matches!(status, 200 | 206) || is_document_instead_of_object(head) {
        return read_error(conn, body, progress).await;
    }
    if let Some(verdict) = check_answer(status, head, asked) {
        return Answer::Mismatch(verdict);
    }
    let is_whole = asked.offset == 0 && asked.length == asked.object_size;
    let checksum = if is_whole {
        RunningChecksum::of(head).map(Box::new)
    } else {
        None
    };
    if let Some(what) = accept(head, first_byte_ns) {
        return Answer::Mismatch(Verdict {
            class: Class::Changed,
            what,
        });
    }
    read_object(conn, body, slot, asked.length, checksum, progress).await
}

/// Reads the answer's head into the connection's, past interim answers. Returns when its first byte came.
async fn read_head(conn: &mut Conn) -> Result<u64, Verdict> {
    let mut first_byte_ns = 0;
    let mut interim = 0;
    let mut parsed_bytes = 0;
    loop {
        match conn.fill().await {
            Ok(0) => return Err(disconnected(conn, None, first_byte_ns > 0)),
            Ok(_) if first_byte_ns == 0 => first_byte_ns = monotonic_ns(),
            Ok(_) => {}
            Err(error) => return Err(disconnected(conn, Some(error), first_byte_ns > 0)),
        }
        // A head that drips in is not read from its start for each byte.
        let unread = conn.input.unread();
        let is_due = unread.len() <= ALWAYS_PARSED_BYTES
            || unread.len() >= parsed_bytes + parsed_bytes / 4
            || unread.ends_with(b"\r\n\r\n");
        if !is_due {
            continue;
        }
        parsed_bytes = unread.len();
        while let Some(length) = conn
            .head
            .read(conn.input.unread(), MOST_HEADERS)
            .map_err(|why| no_http(&why))?
        {
            conn.input.consume(length);
            match conn.head.status() {
                101 => return Err(no_http(&"status 101, which nobody asked for")),
                100..=199 if interim == MOST_INTERIM_ANSWERS => {
                    return Err(no_http(&"interim answers without end"));
                }
                100..=199 => interim += 1,
                _ => return Ok(first_byte_ns),
            }
            parsed_bytes = 0;
        }
    }
}

async fn read_object(
    conn: &mut Conn,
    mut body: Body,
    slot: &mut Slot,
    length: u64,
    mut checksum: Option<Box<RunningChecksum>>,
    progress: &Progress,
) -> Answer {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let mut got = 0;
    loop {
        let room = length - got;
        let before = got;
        match body.next(&mut conn.input) {
            Piece::Here(here) if here > room => return Answer::Mismatch(long(length)),
            Piece::Here(here) => {
                slot.copy(got, &conn.input.unread()[..here]);
                conn.input.consume(here);
                got += here;
            }
            Piece::Coming(most) if room > 0 => {
                let most = usize::try_from(most).unwrap_or(usize::MAX).min(room);
                match conn.receive(slot, got, most).await {
                    Ok(0) if body.ends_with_connection() => break,
                    Ok(0) => return Answer::Broken(cut(&ended_at(got, length))),
                    Ok(count) => got += count,
                    Err(error) => return Answer::Broken(disconnected(conn, Some(error), true)),
                }
                body.received(slot.received(before, got));
            }
            Piece::Coming(_) | Piece::More => match conn.fill().await {
                Ok(0) if body.ends_with_connection() => break,
                Ok(0) => return Answer::Broken(cut(&ended_at(got, length))),
                Ok(_) => {}
                Err(error) => return Answer::Broken(disconnected(conn, Some(error), true)),
            },
            Piece::End => break,
            Piece::Bad(why) => return Answer::Broken(no_http(&why)),
        }
        if got > before {
            progress.moved(got);
            if let Some(checksum) = &mut checksum {
                checksum.update(slot.received(before, got));
            }
        }
    }
    finish(conn, &body);
    if got < length {
        let what = format!("the body ended after {got} of {length} bytes");
        return Answer::Mismatch(Verdict {
            class: Class::Short,
            what,
        });
    }
    Answer::Object(checksum)
}

/// Reads an answer that is no object, as far as it matters.
async fn read_error(conn: &mut Conn, mut body: Body, progress: &Progress) -> Answer {
    let mut kept = Vec::new();
    let mut total = 0;
    let whole = loop {
        match body.next(&mut conn.input) {
            Piece::Here(here) => {
                let room = ERROR_BODY_KEPT_BYTES - kept.len();
                kept.extend_from_slice(&conn.input.unread()[..here.min(room)]);
                conn.input.consume(here);
                progress.moved(0);
                total += here;
                if total > ERROR_BODY_READ_BYTES {
                    break false;
                }
            }
            Piece::Coming(_) | Piece::More => match conn.fill().await {
                Ok(0) => break body.ends_with_connection(),
                Ok(_) => {}
                Err(_) => break false,
            },
            Piece::End => break true,
            Piece::Bad(_) => break false,
        }
    };
    if whole {
        finish(conn, &body);
    }
    Answer::Error { body: kept, whole }
}

/// The answer has come whole.
fn finish(conn: &mut Conn, body: &Body) {
    conn.answers += 1;
    conn.reusable = conn.head.keeps_alive() && !body.ends_with_connection() && conn.input.unread().is_empty();
}

fn long(length: usize) -> Verdict {
    Verdict {
        class: Class::Long,
        what: format!("more than the {length} bytes asked for came"),
    }
}

fn ended_at(got: usize, length: usize) -> String {
    format!("it ended after {got} of {length} bytes")
}

fn cut(how: &str) -> Verdict {
    Verdict {
        class: Class::Reset,
        what: format!("the connection was cut: {how}"),
    }
}

fn no_http(why: &dyn std::fmt::Display) -> Verdict {
    Verdict {
        class: Class::Protocol,
        what: format!("not an HTTP answer: {why}"),
    }
}

/// The connection ended, by an error or (none) in order, before the answer did.
fn disconnected(conn: &Conn, error: Option<io::Error>, answered: bool) -> Verdict {
    if let Some(what) = error.as_ref().and_then(tls_error_text) {
        return Verdict {
            class: Class::Tls,
            what: format!("TLS failed: {what}"),
        };
    }
    let how = match &error {
        Some(error) if error.kind() != io::ErrorKind::UnexpectedEof => errno_text(error),
        _ => "the other side closed it".to_owned(),
    };
    if !answered && conn.answers > 0 {
        let what = format!("a kept-alive connection was closed before it answered: {how}");
        return Verdict {
            class: Class::Stale,
            what,
        };
    }
    cut(&how)
}
