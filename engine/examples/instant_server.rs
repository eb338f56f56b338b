//! An HTTP server that answers at once and always the same: what a load engine is measured against.
//!
//! `instant_server [--port N] [--body BYTES] [--close 1] [--seconds N]` listens on 127.0.0.1, prints its port, and ends by itself after
//! the seconds (60 unless told). It does not parse: it takes every end of a header block for one request. One thread, epoll,
//! edge-triggered; one `recv` and one `send` per request, so that the server costs as little as it can. `GET /answered` is
//! answered with how many requests have come before, so that load engines need not be believed about their own counts.
//! With `--close 1` every other answer says so and ends its connection.

#![forbid(unsafe_code)]

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags, sockopt};
use std::collections::HashMap;
use std::io::Write;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// What every request is answered with.
struct Answer {
    bytes: Vec<u8>,
    last: bool,
}

/// One connection: its socket, the answer bytes it could not take yet, and whether it ends when it has them.
struct Client {
    fd: OwnedFd,
    owed: Vec<u8>,
    ends: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (port, body, seconds) = (argument("--port", 0)?, argument("--body", 15)?, argument("--seconds", 60)?);
    let last = argument("--close", 0)? != 0;
    let listener = TcpListener::bind(("127.0.0.1", u16::try_from(port)?))?;
    net::listen(&listener, 4096)?;
    listener.set_nonblocking(true)?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    let answer = answer(usize::try_from(body)?, last);
    serve(&listener, &answer, Instant::now() + Duration::from_secs(seconds))?;
    Ok(())
}

fn argument(name: &str, default: u64) -> Result<u64, std::num::ParseIntError> {
    let arguments: Vec<String> = std::env::args().collect();
    let value = arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    value.map_or(Ok(default), |text| text.parse())
}

fn answer(body: usize, last: bool) -> Answer {
    let connection = if last { "close" } else { "keep-alive" };
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: instant\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: text/plain\r\n\
         Content-Length: {body}\r\nConnection: {connection}\r\n\r\n"
    );
    let mut bytes = head.into_bytes();
    bytes.extend(std::iter::repeat_n(b'x', body));
    Answer { bytes, last }
}

fn serve(listener: &TcpListener, answer: &Answer, until: Instant) -> rustix::io::Result<()> {
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&set, listener, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
    let mut clients: HashMap<u64, Client> = HashMap::new();
    let (mut events, mut buffer, mut next, mut answered) = (Vec::with_capacity(512), vec![0; 65536], 1, 0);
    let nap = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    while Instant::now() < until {
        events.clear();
        match epoll::wait(&set, spare_capacity(&mut events), Some(&nap)) {
            // Who measures may stop and continue it.
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        for event in &events {
            let event: &epoll::Event = event;
            let key = event.data.u64();
            if key == 0 {
                accept(&set, listener, &mut clients, &mut next)?;
            } else if clients.get_mut(&key).is_some_and(|client| !client.turn(answer, &mut buffer, &mut answered)) {
                clients.remove(&key);
            }
        }
    }
    Ok(())
}

fn accept(
    set: &OwnedFd,
    listener: &TcpListener,
    clients: &mut HashMap<u64, Client>,
    next: &mut u64,
) -> rustix::io::Result<()> {
    while let Ok((stream, _)) = listener.accept() {
        let fd = OwnedFd::from(stream);
        rustix::io::ioctl_fionbio(&fd, true)?;
        sockopt::set_tcp_nodelay(&fd, true)?;
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        epoll::add(set, &fd, epoll::EventData::new_u64(*next), flags)?;
        clients.insert(*next, Client { fd, owed: Vec::new(), ends: false });
        *next += 1;
    }
    Ok(())
}

impl Client {
    /// Reads what came and answers it; false: the connection is over.
    fn turn(&mut self, answer: &Answer, buffer: &mut [u8], answered: &mut u64) -> bool {
        loop {
            let n = match net::recv(&self.fd, &mut *buffer, RecvFlags::empty()) {
                Ok((0, _)) => return false,
                Ok((n, _)) => n,
                Err(Errno::AGAIN) => break,
                Err(_) => return false,
            };
            let asked = memchr::memmem::find_iter(&buffer[..n], b"\r\n\r\n").count();
            if buffer.starts_with(b"GET /answered ") {
                let text = answered.to_string();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
                self.owed.extend_from_slice(head.as_bytes());
                break;
            }
            *answered += asked as u64;
            (0..asked).for_each(|_| self.owed.extend_from_slice(&answer.bytes));
            self.ends |= answer.last && asked > 0;
            if n < buffer.len() {
                break;
            }
        }
        if self.owed.is_empty() {
            return true;
        }
        match net::send(&self.fd, &self.owed, SendFlags::NOSIGNAL) {
            Ok(sent) => {
                self.owed.drain(..sent);
                !(self.ends && self.owed.is_empty())
            }
            Err(Errno::AGAIN) => true,
            Err(_) => false,
        }
    }
}
