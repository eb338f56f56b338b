//! An HTTP server that answers at once and always the same: what a load engine is measured against.
//!
//! `webdyno-instant [--port N] [--body BYTES] [--close 1] [--seconds N] [--threads N]` listens on 127.0.0.1, prints its port, and ends by
//! itself after the seconds (60 unless told). It does not parse: it takes every end of a header block for one request. Each thread (one
//! unless told) has an epoll set and a listener of its own (`SO_REUSEPORT`), edge-triggered; one `recv` and one `send` per request, so
//! that the server costs as little as it can. `GET /answered` is answered with how many requests have come before, so that load engines
//! need not be believed about their own counts. With `--close 1` every other answer says so and ends its connection.

#![forbid(unsafe_code)]

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use std::collections::HashMap;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
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

/// Requests that each thread has answered; a thread writes only its own.
type Counts = Arc<Vec<AtomicU64>>;

/// What may be told, each with what it is when it is not.
const FLAGS: [(&str, u64, &str); 5] = [
    ("--port", 0, "port of 127.0.0.1 to listen on; 0: any that is free"),
    ("--body", 15, "bytes of each answer's body"),
    ("--close", 0, "1: every other answer ends its connection"),
    ("--seconds", 60, "how long it lives"),
    ("--threads", 1, "threads, each with a listener of its own"),
];

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if given.iter().any(|a| a == "--help" || a == "-h") {
        println!("webdyno-instant: answer every HTTP request at once, and print the port first");
        FLAGS.iter().for_each(|(name, default, what)| println!("  {name} N  {what} [default: {default}]"));
        return ExitCode::SUCCESS;
    }
    let told = read(&given).and_then(|values| listen_and_serve(values).map_err(|e| e.to_string()));
    told.map_or_else(
        |why| {
            eprintln!("webdyno-instant: {why}");
            ExitCode::from(2)
        },
        |()| ExitCode::SUCCESS,
    )
}

/// The values of the flags, in the order of [`FLAGS`].
fn read(given: &[String]) -> Result<[u64; 5], String> {
    let mut values = FLAGS.map(|(_, default, _)| default);
    for pair in given.chunks(2) {
        let Some(at) = FLAGS.iter().position(|(name, ..)| *name == pair[0]) else {
            return Err(format!("{} is no flag; --help lists them", pair[0]));
        };
        let number = pair.get(1).and_then(|text| text.parse().ok());
        values[at] = number.ok_or_else(|| format!("{} needs a whole number", pair[0]))?;
    }
    Ok(values)
}

fn listen_and_serve([port, body, last, seconds, threads]: [u64; 5]) -> Result<(), Box<dyn std::error::Error>> {
    let (threads, last) = (usize::try_from(threads)?.max(1), last != 0);
    let first = listen(u16::try_from(port)?)?;
    let port = first.local_addr()?.port();
    let mut listeners = vec![first];
    for _ in 1..threads {
        listeners.push(listen(port)?);
    }
    println!("{port}");
    std::io::stdout().flush()?;
    let answer = Arc::new(answer(usize::try_from(body)?, last));
    let until = Instant::now() + Duration::from_secs(seconds);
    let counts: Counts = Arc::new((0..threads).map(|_| AtomicU64::new(0)).collect());
    let served: Vec<_> = listeners
        .into_iter()
        .enumerate()
        .map(|(of, listener)| {
            let (answer, counts) = (Arc::clone(&answer), Arc::clone(&counts));
            thread::spawn(move || serve(&listener, &answer, until, &counts, of))
        })
        .collect();
    for thread in served {
        thread.join().map_err(|_| "a thread panicked")??;
    }
    Ok(())
}

/// One of several listeners of a port; the kernel deals connections out among them.
fn listen(port: u16) -> std::io::Result<TcpListener> {
    let socket = net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseport(&socket, true)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    net::listen(&socket, 4096)?;
    let listener = TcpListener::from(socket);
    listener.set_nonblocking(true)?;
    Ok(listener)
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

fn serve(
    listener: &TcpListener,
    answer: &Answer,
    until: Instant,
    counts: &Counts,
    of: usize,
) -> rustix::io::Result<()> {
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&set, listener, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
    let mut clients: HashMap<u64, Client> = HashMap::new();
    let (mut events, mut buffer, mut next) = (Vec::with_capacity(512), vec![0; 65536], 1);
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
            } else if clients.get_mut(&key).is_some_and(|client| !client.turn(answer, &mut buffer, counts, of)) {
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
    fn turn(&mut self, answer: &Answer, buffer: &mut [u8], counts: &Counts, of: usize) -> bool {
        loop {
            let n = match net::recv(&self.fd, &mut *buffer, RecvFlags::empty()) {
                Ok((0, _)) => return false,
                Ok((n, _)) => n,
                Err(Errno::AGAIN) => break,
                Err(_) => return false,
            };
            let asked = memchr::memmem::find_iter(&buffer[..n], b"\r\n\r\n").count();
            if buffer.starts_with(b"GET /answered ") {
                let text = counts.iter().map(|count| count.load(Ordering::Relaxed)).sum::<u64>().to_string();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len());
                self.owed.extend_from_slice(head.as_bytes());
                break;
            }
            // Only this thread writes it, so it need not be added to under a lock.
            counts[of].store(counts[of].load(Ordering::Relaxed) + asked as u64, Ordering::Relaxed);
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
