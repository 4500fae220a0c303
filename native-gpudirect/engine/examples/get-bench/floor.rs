//! The least that receiving the same bytes costs: one request after the other on each connection, epoll, and `recv` into
//! the slot, head and all. It checks nothing but the count of bytes.

use std::error::Error;
use std::io::{self, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;

use crate::Plan;
use crate::landing::{Cost, Landing, Meter};

struct Connection {
    tcp: TcpStream,
    request: Vec<u8>,
    size: usize,
    got: usize,
    /// Head and body; known when the head has come.
    total: Option<usize>,
}

pub fn run(plan: &Plan, landing: &Landing) -> Result<Cost, Box<dyn Error>> {
    // SAFETY: no memory is handed over.
    let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    let mut connections = Vec::new();
    for n in 0..plan.in_flight {
        let tcp = TcpStream::connect((plan.hostname.as_str(), plan.port))?;
        tcp.set_nodelay(true)?;
        tcp.set_nonblocking(true)?;
        let mut event = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: n as u64,
        };
        // SAFETY: both descriptors are open; the event lives for the call.
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, tcp.as_raw_fd(), &mut event) } as isize)?;
        connections.push(Connection {
            tcp,
            request: Vec::new(),
            size: 0,
            got: 0,
            total: None,
        });
    }
    pass(plan, landing, epoll, &mut connections, plan.in_flight * 4)?;
    let meter = Meter::start();
    pass(plan, landing, epoll, &mut connections, plan.requests)?;
    let cost = meter.stop(plan.requests, String::new());
    // SAFETY: ours, and not used from here on.
    unsafe { libc::close(epoll) };
    Ok(Cost {
        io_us: cost.cpu_us,
        ..cost
    })
}

fn pass(
    plan: &Plan,
    landing: &Landing,
    epoll: libc::c_int,
    connections: &mut [Connection],
    requests: usize,
) -> Result<(), Box<dyn Error>> {
    let (mut sent, mut ended) = (0, 0);
    for connection in connections.iter_mut().take(requests) {
        send(plan, connection, sent)?;
        sent += 1;
    }
    let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; connections.len()];
    while ended < requests {
        // SAFETY: `events` has room for as many.
        let ready = unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), events.len() as i32, -1) };
        for event in &events[..check(ready as isize)?] {
            let n = event.u64 as usize;
            let connection = &mut connections[n];
            let room = landing.slot_bytes - connection.got;
            // SAFETY: inside the slot of this connection.
            let to = unsafe { landing.start().add(n * landing.slot_bytes + connection.got) };
            // SAFETY: `to` is memory for `room` bytes.
            let count = check(unsafe { libc::recv(connection.tcp.as_raw_fd(), to.cast(), room, 0) })?;
            if count == 0 {
                return Err("the store closed a connection".into());
            }
            if connection.total.is_none() {
                // SAFETY: just received.
                let head = unsafe { std::slice::from_raw_parts(to, count.min(1024)) };
                let end = head
                    .windows(4)
                    .position(|four| four == b"\r\n\r\n")
                    .ok_or("no head in the first bytes")?;
                connection.total = Some(end + 4 + connection.size);
            }
            connection.got += count;
            if connection.total == Some(connection.got) {
                ended += 1;
                if sent < requests {
                    send(plan, connection, sent)?;
                    sent += 1;
                }
            }
        }
    }
    Ok(())
}

fn send(plan: &Plan, connection: &mut Connection, n: usize) -> io::Result<()> {
    let item = &plan.items[n % plan.items.len()];
    connection.request.clear();
    write!(
        connection.request,
        "GET /{} HTTP/1.1\r\nhost: {}\r\n\r\n",
        item.path, plan.host
    )?;
    (connection.size, connection.got, connection.total) = (item.size, 0, None);
    connection.tcp.write_all(&connection.request)
}

fn check(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}
