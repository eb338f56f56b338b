//! A socket on its way to the server: what every back end begins with.

use super::Endpoint;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, ipproto, sockopt};
use std::os::fd::OwnedFd;

/// A socket that never blocks and has begun to connect; `true`: it is connected already, as is usual within one machine.
pub fn dial(endpoint: &Endpoint) -> Result<(OwnedFd, bool), Errno> {
    let address = &endpoint.address;
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = net::socket_with(family, SocketType::STREAM, flags, Some(ipproto::TCP))?;
    // Requests leave at once, also their last part when they are longer than a segment. SO_LINGER is left alone: a close
    // must not throw away bytes, and a reset where FIN is meant would be booked as an error by the server.
    sockopt::set_tcp_nodelay(&fd, true)?;
    match net::connect(&fd, address) {
        Ok(()) => Ok((fd, true)),
        Err(Errno::INPROGRESS) => Ok((fd, false)),
        Err(errno) => Err(errno),
    }
}

/// Why a connect that has come to its end failed.
pub fn refusal(fd: &OwnedFd) -> Errno {
    match sockopt::socket_error(fd) {
        Ok(Err(errno)) | Err(errno) => errno,
        Ok(Ok(())) => Errno::CONNREFUSED,
    }
}
