//! A tiny real HTTP server that answers whatever it is told to, be it HTTP or not.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// What stands between the parts of an input that is several answers.
pub const BETWEEN: &[u8] = b"\n=====\n";

/// Which part answers a request, by its method and path.
type Route = fn(&str, &str) -> usize;

/// A running server; it lives as long as the process.
pub struct Server {
    /// `http://` and its address.
    pub url: String,
    parts: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Server {
    /// Starts one.
    pub fn start(route: Route) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let parts = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&parts);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let parts = Arc::clone(&shared);
                // A client that has gone away is none of the server's business.
                thread::spawn(move || drop(converse(&stream, route, &parts)));
            }
        });
        Self {
            url: format!("http://{address}"),
            parts,
        }
    }

    /// Answers by the parts of this input from now on; a part that begins like HTTP is sent as it is.
    pub fn answer_with(&self, input: &[u8]) {
        *self.parts.lock().unwrap_or_else(PoisonError::into_inner) = split(input);
    }
}

/// The parts of an input.
pub fn split(input: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let mut rest = input;
    while let Some(at) = rest.windows(BETWEEN.len()).position(|part| part == BETWEEN) {
        parts.push(rest[..at].to_vec());
        rest = &rest[at + BETWEEN.len()..];
    }
    parts.push(rest.to_vec());
    parts
}

fn converse(stream: &TcpStream, route: Route, parts: &Mutex<Vec<Vec<u8>>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut input = BufReader::new(stream);
    let mut output = stream;
    while let Some((method, path)) = request(&mut input)? {
        let parts = parts.lock().unwrap_or_else(PoisonError::into_inner);
        let number = route(&method, &path).min(parts.len().saturating_sub(1));
        let part = parts.get(number).cloned().unwrap_or_default();
        if part.starts_with(b"HTTP/") {
            // Whether its end shows only the end of the connection can tell.
            return output.write_all(&part);
        }
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", part.len());
        output.write_all(&[head.into_bytes(), part].concat())?;
    }
    Ok(())
}

/// Method and path of the next request, read to its end; `None`: there is none.
fn request(input: &mut BufReader<&TcpStream>) -> io::Result<Option<(String, String)>> {
    let mut first = String::new();
    if input.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut length = 0;
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(found) = line.strip_prefix("content-length:") {
            length = found.trim().parse().unwrap_or_default();
        }
    }
    io::copy(&mut input.take(length), &mut io::sink())?;
    let mut words = first.split(' ').map(str::to_owned);
    Ok(words.next().zip(words.next()))
}
