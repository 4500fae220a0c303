//! The least that receiving the same bytes costs: one request after the other on each connection, epoll, and `recv` into
//! the slot, head and all. It checks nothing but the count of bytes.

use std::error::Error;
use std::io::{self, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::Plan;
use crate::client::{Client, Seen};
use crate::landing::Landing;

pub struct Floor<'a> {
    plan: &'a Plan,
    landing: Landing,
    epoll: OwnedFd,
    connections: Vec<Connection>,
    events: Vec<libc::epoll_event>,
    /// Of all calls together.
    sent: usize,
}

struct Connection {
    tcp: TcpStream,
    request: Vec<u8>,
    item: usize,
    slot: usize,
    got: usize,
    /// Bytes of the head, known when it has come.
    head: Option<usize>,
}

impl<'a> Floor<'a> {
    pub fn new(plan: &'a Plan) -> Result<Floor<'a>, Box<dyn Error>> {
        // SAFETY: no memory is handed over; the descriptor is new and nobody else's.
        let epoll =
            unsafe { OwnedFd::from_raw_fd(check(libc::epoll_create1(libc::EPOLL_CLOEXEC) as isize)? as i32) };
        let connections = (0..plan.in_flight)
            .map(|n| connect(plan, &epoll, n))
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Floor {
            plan,
            landing: plan.landing()?,
            epoll,
            events: vec![libc::epoll_event { events: 0, u64: 0 }; connections.len()],
            connections,
            sent: 0,
        })
    }

    fn send(&mut self, n: usize) -> io::Result<()> {
        let connection = &mut self.connections[n];
        connection.item = self.sent % self.plan.items.len();
        connection.slot = self.landing.take();
        (connection.got, connection.head) = (0, None);
        self.sent += 1;
        connection.request.clear();
        let path = &self.plan.items[connection.item].path;
        write!(
            connection.request,
            "GET /{path} HTTP/1.1\r\nhost: {}\r\n\r\n",
            self.plan.host
        )?;
        connection.tcp.write_all(&connection.request)
    }

    /// Whether the answer is whole.
    fn receive(&mut self, n: usize) -> Result<bool, Box<dyn Error>> {
        let connection = &mut self.connections[n];
        let room = self.landing.slot_bytes - connection.got;
        // SAFETY: inside the slot of this connection.
        let to = unsafe { self.landing.at(connection.slot).add(connection.got) };
        // SAFETY: `to` is memory for `room` bytes.
        let count = check(unsafe { libc::recv(connection.tcp.as_raw_fd(), to.cast(), room, 0) })?;
        if count == 0 {
            return Err("the store closed a connection".into());
        }
        if connection.head.is_none() {
            // SAFETY: just received, by this thread.
            let head = unsafe { self.landing.bytes(connection.slot, 0, count.min(1024)) };
            let end = head.windows(4).position(|four| four == b"\r\n\r\n");
            connection.head = Some(end.ok_or("no head in the first bytes")? + 4);
        }
        connection.got += count;
        let size = self.plan.items[connection.item].size;
        Ok(connection.head.is_some_and(|head| connection.got == head + size))
    }
}

impl Client for Floor<'_> {
    fn read(&mut self, requests: usize, seen: &mut Seen) -> Result<(), Box<dyn Error>> {
        let goal = self.sent + requests;
        let mut left = requests;
        for n in 0..self.connections.len().min(requests) {
            self.send(n)?;
        }
        while left > 0 {
            let (room, epoll) = (self.events.len() as i32, self.epoll.as_raw_fd());
            // SAFETY: `events` has room for as many.
            let ready =
                check(unsafe { libc::epoll_wait(epoll, self.events.as_mut_ptr(), room, -1) } as isize)?;
            for event in 0..ready {
                let n = self.events[event].u64 as usize;
                if !self.receive(n)? {
                    continue;
                }
                left -= 1;
                let Connection { item, slot, head, .. } = self.connections[n];
                // SAFETY: the answer is whole, and the slot is used again only after it was given back.
                let body = unsafe {
                    self.landing
                        .bytes(slot, head.unwrap_or(0), self.plan.items[item].size)
                };
                seen(item, body)?;
                self.landing.give_back(slot);
                if self.sent < goal {
                    self.send(n)?;
                }
            }
        }
        Ok(())
    }
}

fn connect(plan: &Plan, epoll: &OwnedFd, n: usize) -> io::Result<Connection> {
    let tcp = TcpStream::connect((plan.hostname.as_str(), plan.port))?;
    tcp.set_nodelay(true)?;
    tcp.set_nonblocking(true)?;
    let mut event = libc::epoll_event {
        events: libc::EPOLLIN as u32,
        u64: n as u64,
    };
    let (epoll, fd) = (epoll.as_raw_fd(), tcp.as_raw_fd());
    // SAFETY: both descriptors are open; the event lives for the call.
    check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &mut event) } as isize)?;
    Ok(Connection {
        tcp,
        request: Vec::new(),
        item: 0,
        slot: 0,
        got: 0,
        head: None,
    })
}

fn check(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}
