//! Where connections go, where they leave from, and how they are closed: what every back end needs to make a socket.

use nix::sys::socket::{setsockopt, sockopt::IpBindAddressNoPort};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, ipproto, sockopt};
use std::fmt;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Where the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address and port of TCP.
    Tcp(SocketAddr),
    /// A Unix stream socket.
    Unix(SocketAddrUnix),
}

/// Where connections go, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Where the server is.
    pub address: Address,
    /// Local addresses that connections leave from, with port 0, all of the family of `address`; empty: the kernel's choice.
    pub sources: Vec<SocketAddr>,
    /// Connections are closed with a reset, which keeps no local port.
    pub reset: bool,
}

impl Endpoint {
    /// A socket ready to connect. `turn` counts the sockets of the caller: it deals the local addresses.
    ///
    /// Errors are those of the system calls; none of them is the server's doing.
    pub fn socket(&self, turn: usize) -> Result<OwnedFd, Errno> {
        let (family, protocol) = match &self.address {
            Address::Tcp(address) if address.is_ipv4() => (AddressFamily::INET, Some(ipproto::TCP)),
            Address::Tcp(_) => (AddressFamily::INET6, Some(ipproto::TCP)),
            Address::Unix(_) => (AddressFamily::UNIX, None),
        };
        let fd = net::socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, protocol)?;
        if protocol.is_none() {
            return Ok(fd);
        }
        if self.reset {
            // Only when it was ordered: a close must not throw away bytes, and a server would book the reset as an error.
            sockopt::set_socket_linger(&fd, Some(Duration::ZERO))?;
        }
        if let Some(source) = self.sources.get(turn % self.sources.len().max(1)) {
            bind_late(&fd, source)?;
        }
        Ok(fd)
    }

    /// Begins to connect; `true`: it is connected already, as is usual within one machine.
    ///
    /// [`Errno::AGAIN`]: a Unix socket whose queue is full. Nothing is under way then, and nothing will be told.
    pub fn connect(&self, fd: &OwnedFd) -> Result<bool, Errno> {
        let begun = match &self.address {
            Address::Tcp(address) => net::connect(fd, address),
            Address::Unix(path) => net::connect(fd, path),
        };
        match begun {
            Ok(()) => Ok(true),
            Err(Errno::INPROGRESS) => Ok(false),
            Err(errno) => Err(errno),
        }
    }
}

/// From now on what is sent leaves at once, whatever is under way. Without this a part of a segment waits while another one has not
/// been acknowledged (RFC 1122, 4.2.3.4). A Unix socket, which never waits, refuses it.
pub fn undelay(fd: &OwnedFd) {
    let _ = sockopt::set_tcp_nodelay(fd, true);
}

/// Why a connect that has come to its end failed; `None`: it did not. The server of a Unix socket took the connection and has closed it
/// again, which is told next.
pub fn refusal(fd: &OwnedFd) -> Option<Errno> {
    match sockopt::socket_error(fd) {
        Ok(Err(errno)) | Err(errno) => Some(errno),
        Ok(Ok(())) => None,
    }
}

/// Takes a local address and leaves the port to `connect` (ip(7), `IP_BIND_ADDRESS_NO_PORT`): it then needs to be unused only with this
/// server, and not with every other, and one that waits for its time to pass may be taken again.
fn bind_late(fd: &OwnedFd, source: &SocketAddr) -> Result<(), Errno> {
    setsockopt(fd, IpBindAddressNoPort, &true).map_err(|e| Errno::from_raw_os_error(e as i32))?;
    net::bind(fd, source)
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Address::Tcp(address) => address.fmt(f),
            Address::Unix(path) => {
                write!(f, "unix:{}", String::from_utf8_lossy(path.path_bytes().unwrap_or_default()))
            }
        }
    }
}
