//! An HTTP server that answers at once and always the same: what a load engine is measured against.
//!
//! `instant_server [--port N] [--body BYTES] [--seconds N]` listens on 127.0.0.1, prints its port, and ends by itself after
//! the seconds (60 unless told). It does not parse: it takes every end of a header block for one request. One thread, epoll,
//! edge-triggered; one `recv` and one `send` per request, so that the server costs as little as it can. `GET /answered` is
//! answered with how many requests have come before, so that load engines need not be believed about their own counts.

#![forbid(unsafe_code)]

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::net::{self, RecvFlags, SendFlags, sockopt};
use std::collections::HashMap;
use std::io::Write;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// One connection: its socket, and the answer bytes it could not take yet.
struct Client {
    fd: OwnedFd,
    owed: Vec<u8>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (port, body, seconds) = (argument("--port", 0)?, argument("--body", 15)?, argument("--seconds", 60)?);
    let listener = TcpListener::bind(("127.0.0.1", u16::try_from(port)?))?;
    net::listen(&listener, 4096)?;
    listener.set_nonblocking(true)?;
    println!("{}", listener.local_addr()?.port());
    std::io::stdout().flush()?;
    let answer = answer(usize::try_from(body)?);
    serve(&listener, &answer, Instant::now() + Duration::from_secs(seconds))?;
    Ok(())
}

fn argument(name: &str, default: u64) -> Result<u64, std::num::ParseIntError> {
    let arguments: Vec<String> = std::env::args().collect();
    let value = arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    value.map_or(Ok(default), |text| text.parse())
}

fn answer(body: usize) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: instant\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Type: text/plain\r\n\
         Content-Length: {body}\r\nConnection: keep-alive\r\n\r\n"
    );
    let mut answer = head.into_bytes();
    answer.extend(std::iter::repeat_n(b'x', body));
    answer
}

fn serve(listener: &TcpListener, answer: &[u8], until: Instant) -> rustix::io::Result<()> {
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&set, listener, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
    let mut clients: HashMap<u64, Client> = HashMap::new();
    let (mut events, mut buffer, mut next, mut answered) = (Vec::with_capacity(512), vec![0; 65536], 1, 0);
    let nap = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    while Instant::now() < until {
        events.clear();
        match epoll::wait(&set, spare_capacity(&mut events), Some(&nap)) {
            // A server that is stopped and continued, as when a freeze is played, is told so by an interrupt.
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
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
        clients.insert(*next, Client { fd, owed: Vec::new() });
        *next += 1;
    }
    Ok(())
}

impl Client {
    /// Reads what came and answers it; false: the connection is over.
    fn turn(&mut self, answer: &[u8], buffer: &mut [u8], answered: &mut u64) -> bool {
        loop {
            let n = match net::recv(&self.fd, &mut *buffer, RecvFlags::empty()) {
                Ok((0, _)) => return false,
                Ok((n, _)) => n,
                Err(rustix::io::Errno::AGAIN) => break,
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
            (0..asked).for_each(|_| self.owed.extend_from_slice(answer));
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
                true
            }
            Err(rustix::io::Errno::AGAIN) => true,
            Err(_) => false,
        }
    }
}
