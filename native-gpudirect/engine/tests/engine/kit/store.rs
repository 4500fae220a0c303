use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A request as its bytes came.
#[derive(Clone, Debug)]
pub struct Request {
    /// The target of the request line, untouched.
    pub target: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// 0 for the first request on its connection.
    pub on_connection: usize,
    /// 0 for the first request to the server.
    pub number: usize,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// First and last byte of the range.
    pub fn range(&self) -> Option<(usize, usize)> {
        let (from, to) = self.header("range")?.strip_prefix("bytes=")?.split_once('-')?;
        Some((from.parse().ok()?, to.parse().ok()?))
    }
}

/// What a handler writes to.
pub trait Connection: Write {
    /// Ends the connection in order.
    fn end(&mut self);

    /// Ends the TCP connection, whatever is spoken on it.
    fn cut(&mut self);
}

impl Connection for TcpStream {
    fn end(&mut self) {
        self.cut();
    }

    fn cut(&mut self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

type Handler = dyn Fn(&Request, &mut dyn Connection) + Send + Sync;
/// Makes of a connection what requests are read from.
type Wrap = dyn Fn(TcpStream) -> Option<Box<dyn Stream>> + Send + Sync;

pub trait Stream: Read + Connection + Send {}
impl<T: Read + Connection + Send> Stream for T {}

/// A server that answers with whatever bytes a test writes. What it writes to a closed connection is lost without a word.
pub struct Store {
    pub address: SocketAddr,
    state: Arc<State>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    requests: Mutex<Vec<Request>>,
    connections: AtomicUsize,
    open: Mutex<Vec<(usize, TcpStream)>>,
}

impl Store {
    pub fn start(handler: impl Fn(&Request, &mut dyn Connection) + Send + Sync + 'static) -> Store {
        Store::start_at("127.0.0.1:0", |tcp| Some(Box::new(tcp)), handler)
    }

    pub fn start_at(
        bind: &str,
        wrap: impl Fn(TcpStream) -> Option<Box<dyn Stream>> + Send + Sync + 'static,
        handler: impl Fn(&Request, &mut dyn Connection) + Send + Sync + 'static,
    ) -> Store {
        let listener = TcpListener::bind(bind).unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State::default());
        let its = Arc::clone(&state);
        let (handler, wrap): (Arc<Handler>, Arc<Wrap>) = (Arc::new(handler), Arc::new(wrap));
        let accepting = std::thread::spawn(move || {
            for tcp in listener.incoming() {
                let Ok(tcp) = tcp else { continue };
                let number = its.connections.fetch_add(1, Ordering::SeqCst);
                if Arc::strong_count(&its) == 1 {
                    return; // the store is closed
                }
                tcp.set_nodelay(true).unwrap();
                its.open.lock().unwrap().push((number, tcp.try_clone().unwrap()));
                let (its, handler, wrap) = (Arc::clone(&its), Arc::clone(&handler), Arc::clone(&wrap));
                std::thread::spawn(move || {
                    if let Some(mut stream) = wrap(tcp) {
                        serve(&mut *stream, &its, &*handler);
                        stream.end();
                    }
                    its.open.lock().unwrap().retain(|(other, _)| *other != number);
                });
            }
        });
        Store {
            address,
            state,
            accepting: Some(accepting),
        }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.state.requests.lock().unwrap().clone()
    }

    /// How many connections came.
    pub fn connections(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// How many are open.
    pub fn open(&self) -> usize {
        self.state.open.lock().unwrap().len()
    }

    /// Closes all open connections in order.
    pub fn hang_up(&self) {
        for (_, tcp) in &*self.state.open.lock().unwrap() {
            let _ = tcp.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.hang_up();
        self.state = Arc::default();
        let _ = TcpStream::connect(self.address); // so that it sees it
        if let Some(accepting) = self.accepting.take() {
            // Its last connections may still count; then it ends with the test.
            drop(accepting);
        }
    }
}

fn serve(stream: &mut dyn Stream, state: &State, handler: &Handler) {
    let mut pending = Vec::new();
    let mut piece = [0; 4096];
    let mut on_connection = 0;
    loop {
        while let Some(end) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&pending[..end]).into_owned();
            pending.drain(..end + 4);
            let request = {
                let mut requests = state.requests.lock().unwrap();
                let request = parse(&head, on_connection, requests.len());
                requests.push(request.clone());
                request
            };
            on_connection += 1;
            handler(&request, stream.as_connection());
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(count) => pending.extend_from_slice(&piece[..count]),
        }
    }
}

trait AsConnection {
    fn as_connection(&mut self) -> &mut dyn Connection;
}

impl AsConnection for dyn Stream + '_ {
    fn as_connection(&mut self) -> &mut dyn Connection {
        self
    }
}

fn parse(head: &str, on_connection: usize, number: usize) -> Request {
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let target = first.nth(1).unwrap_or_default();
    let headers = lines.filter_map(|line| line.split_once(':'));
    Request {
        target: target.to_owned(),
        headers: headers
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect(),
        on_connection,
        number,
    }
}

/// Bytes of an answer: status line, headers as given, body.
pub fn answer(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {status} X\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}

/// The right answer to a request for an object: 206 for its Range, else 200.
pub fn object_answer(request: &Request, body: &[u8], etag: &str) -> Vec<u8> {
    let Some((from, to)) = request.range() else {
        return answer(
            200,
            &[("ETag", etag), ("Content-Length", &body.len().to_string())],
            body,
        );
    };
    let part = &body[from..=to];
    let headers = [
        ("ETag", etag),
        ("Content-Length", &part.len().to_string()),
        ("Content-Range", &format!("bytes {from}-{to}/{}", body.len())),
    ];
    answer(206, &headers, part)
}

pub fn error_xml(code: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>no</Message><RequestId>R1</RequestId></Error>"
    )
}
