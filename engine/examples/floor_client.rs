//! A client that only sends and receives: what no honest load engine can cost less than.
//!
//! `floor_client PORT CONNECTIONS SECONDS` loads 127.0.0.1 with the simplest loop there is (epoll, edge-triggered, no parsing, no
//! clock, no checks; every receive counts as one answer) and prints how many answers came. Beside it, the engine's own cost shows
//! what its honesty costs.

#![forbid(unsafe_code)]

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};
use std::net::TcpStream;
use std::time::{Duration, Instant};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:18080\r\nAccept: */*\r\n\r\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<u64> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let [port, connections, seconds] = arguments[..] else {
        return Err("usage: floor_client PORT CONNECTIONS SECONDS".into());
    };
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let mut clients = Vec::new();
    for i in 0..connections {
        let stream = TcpStream::connect(("127.0.0.1", u16::try_from(port)?))?;
        stream.set_nonblocking(true)?;
        epoll::add(&set, &stream, epoll::EventData::new_u64(i), epoll::EventFlags::IN | epoll::EventFlags::ET)?;
        net::send(&stream, REQUEST, SendFlags::NOSIGNAL)?;
        clients.push(stream);
    }
    println!("{}", load(&set, &clients, Instant::now() + Duration::from_secs(seconds))?);
    Ok(())
}

fn load(set: impl std::os::fd::AsFd, clients: &[TcpStream], until: Instant) -> rustix::io::Result<u64> {
    let (mut events, mut buffer, mut answers) = (Vec::with_capacity(512), vec![0; 65536], 0);
    let nap = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    while Instant::now() < until {
        events.clear();
        epoll::wait(&set, spare_capacity(&mut events), Some(&nap))?;
        for event in &events {
            let event: &epoll::Event = event;
            let client = &clients[event.data.u64() as usize];
            match net::recv(client, buffer.as_mut_slice(), RecvFlags::empty()) {
                Ok(_) => answers += 1,
                Err(Errno::AGAIN) => continue,
                Err(errno) => return Err(errno),
            }
            net::send(client, REQUEST, SendFlags::NOSIGNAL)?;
        }
    }
    Ok(answers)
}
