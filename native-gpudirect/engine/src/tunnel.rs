use std::io;

use os2g_wire::parse_head;
use tokio::net::TcpStream;

use crate::errno::errno_text;

const MOST_HEAD_BYTES: usize = 16 * 1024;
const MOST_HEADERS: usize = 100;

/// Asks a proxy for a tunnel to `store` (RFC 9110, 9.3.6). An error says what the proxy did instead.
pub(crate) async fn open_tunnel(
    tcp: &mut TcpStream,
    store: &str,
    authorization: Option<&str>,
) -> Result<(), String> {
    let mut request = format!("CONNECT {store} HTTP/1.1\r\nhost: {store}\r\nuser-agent: os2g\r\n");
    if let Some(value) = authorization {
        request.push_str(&format!("proxy-authorization: {value}\r\n"));
    }
    request.push_str("\r\n");
    write(tcp, request.as_bytes())
        .await
        .map_err(|error| errno_text(&error))?;

    let mut answer = Vec::new();
    loop {
        match parse_head(&answer, MOST_HEADERS)
            .map_err(|why| format!("not an HTTP answer to CONNECT: {why}"))?
        {
            Some((head, length)) => match head.status() {
                100 | 102..=199 => drop(answer.drain(..length)),
                200..=299 if answer.len() == length => return Ok(()),
                200..=299 => return Err("it talks into the tunnel".to_owned()),
                status => return Err(format!("it answered CONNECT with status {status}")),
            },
            None if answer.len() >= MOST_HEAD_BYTES => {
                return Err("its answer to CONNECT has no end".to_owned());
            }
            None => match read(tcp, &mut answer).await {
                Ok(0) => return Err("it closed the connection instead of answering CONNECT".to_owned()),
                Ok(_) => {}
                Err(error) => return Err(errno_text(&error)),
            },
        }
    }
}

async fn write(tcp: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        tcp.writable().await?;
        match tcp.try_write(bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn read(tcp: &TcpStream, into: &mut Vec<u8>) -> io::Result<usize> {
    let mut piece = [0; 1024];
    loop {
        tcp.readable().await?;
        match tcp.try_read(&mut piece) {
            Ok(count) => {
                into.extend_from_slice(&piece[..count]);
                return Ok(count);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}
