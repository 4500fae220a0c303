use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use os2g_wire::Head;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio_rustls::client::TlsStream;

use crate::input::Input;
use crate::plain::read_both;
use crate::regions::Slot;

/// What carries the bytes.
pub(crate) enum Io {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// One connection to the store, with what was received on it and is not used yet.
pub(crate) struct Conn {
    io: Io,
    pub input: Input,
    /// Of the last answer.
    pub head: Head,
    /// Of the present answer; 0 while its head has not come.
    pub status: u16,
    /// The request that is written next.
    pub out: Vec<u8>,
    /// Answers that came on it whole.
    pub answers: u32,
    /// Another request can be sent on it.
    pub reusable: bool,
    /// Counts the socket; let go after it.
    _permit: OwnedSemaphorePermit,
}

impl Conn {
    pub fn new(io: Io, permit: OwnedSemaphorePermit) -> Box<Conn> {
        Box::new(Conn {
            io,
            input: Input::new(),
            head: Head::default(),
            status: 0,
            out: Vec::new(),
            answers: 0,
            reusable: false,
            _permit: permit,
        })
    }

    /// Writes all of `out`.
    pub async fn send(&mut self) -> io::Result<()> {
        let Conn { io, out, .. } = self;
        write_all(io, out).await
    }

    /// Reads more into `input`; 0 at the end of the stream. `input` must have room.
    pub async fn fill(&mut self) -> io::Result<usize> {
        let Conn { io, input, .. } = self;
        let count = poll_fn(|cx| match io {
            Io::Plain(tcp) => read_both(tcp, cx, &mut [], input.spare()),
            Io::Tls(tls) => read_tls(tls, cx, input.spare()),
        });
        let count = count.await?;
        input.received(count);
        Ok(count)
    }

    /// Reads up to `most` (at least 1) bytes straight into the slot at `at`; how many. What had come behind them may be in
    /// `input` afterwards, which must be empty before. 0 only at the end of the stream.
    pub async fn receive(&mut self, slot: &mut Slot, at: usize, most: usize) -> io::Result<usize> {
        let Conn { io, input, .. } = self;
        let (count, wanted) = poll_fn(|cx| {
            let span = slot.span(at, most);
            let wanted = span.len();
            let read = match io {
                Io::Plain(tcp) => read_both(tcp, cx, span, input.spare()),
                Io::Tls(tls) => read_tls(tls, cx, span),
            };
            read.map_ok(|count| (count, wanted))
        })
        .await?;
        if count > wanted {
            input.received(count - wanted);
        }
        Ok(count.min(wanted))
    }

    /// Ready where a connection that is to be silent is not: the store has closed it, or talks unasked.
    pub fn poll_unfit(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut one = [MaybeUninit::uninit()];
        match &mut self.io {
            Io::Plain(tcp) => read_both(tcp, cx, &mut [], &mut one).map(|_| ()),
            Io::Tls(tls) => read_tls(tls, cx, &mut one).map(|_| ()),
        }
    }
}

fn read_tls(
    tls: &mut TlsStream<TcpStream>,
    cx: &mut Context<'_>,
    into: &mut [MaybeUninit<u8>],
) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::uninit(into);
    ready!(Pin::new(tls).poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

pub(crate) async fn write_all(io: &mut Io, bytes: &[u8]) -> io::Result<()> {
    let mut written = 0;
    poll_fn(|cx| {
        while written < bytes.len() {
            let count = match io {
                Io::Plain(tcp) => ready!(Pin::new(tcp).poll_write(cx, &bytes[written..]))?,
                Io::Tls(tls) => ready!(Pin::new(tls).poll_write(cx, &bytes[written..]))?,
            };
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            written += count;
        }
        match io {
            Io::Plain(_) => Poll::Ready(Ok(())),
            Io::Tls(tls) => Pin::new(tls).poll_flush(cx),
        }
    })
    .await
}
