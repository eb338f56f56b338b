//! What this machine must have for the order, seen to before the first connection: an address, processors; files are in [`crate::files`].

use crate::clock;
use crate::error::Fault;
use crate::order::{FURTHEST_START, Linger, Order, Target};
use crate::poll::{Address, Endpoint};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::num::NonZeroU64;
use std::os::unix::fs::FileTypeExt;

/// When the run begins: at the time of the order, or now where that is past or there is none. A time that is far ahead is that of another
/// machine's clock.
pub fn start(order: &Order) -> Result<u64, Fault> {
    let now = clock::now();
    let start = order.start_at_ns.unwrap_or(now).max(now);
    if start - now > FURTHEST_START {
        let seconds = (start - now) / clock::SECOND;
        let message = format!(
            "start_at_ns is {seconds} s ahead; give a time within {} s of this machine's CLOCK_MONOTONIC",
            FURTHEST_START / clock::SECOND
        );
        return Err(Fault::machine("start_at_ns", message));
    }
    Ok(start)
}

/// The address of the target. A name with addresses of both families gives the IPv4 one: servers under test listen there.
fn resolve(target: &Target) -> Result<SocketAddr, Fault> {
    let key = "target.host";
    let found = (target.host.as_str(), target.port).to_socket_addrs().map_err(|e| {
        Fault::machine(key, format!("{key} {:?} has no address: {e}; give an address or another name", target.host))
    })?;
    let mut found: Vec<SocketAddr> = found.collect();
    found.sort_by_key(SocketAddr::is_ipv6);
    let first = found.first().copied();
    first.ok_or_else(|| {
        Fault::machine(key, format!("{key} {:?} has no address; give an address or another name", target.host))
    })
}

/// Where the connections of the order go, once this machine has been seen to be able to go there.
///
/// Faults: no address, a family that this machine has not, a local address that is not its own, a path that is no socket.
pub fn endpoint(order: &Order) -> Result<Endpoint, Fault> {
    let reset = order.linger == Linger::Reset;
    if let Some(path) = &order.target.unix {
        return Ok(Endpoint { address: Address::Unix(socket_at(path)?), sources: Vec::new(), reset });
    }
    let address = resolve(&order.target)?;
    check_family(&address)?;
    let sources: Result<_, _> = order.sources.iter().enumerate().map(|(i, source)| own(i, *source, &address)).collect();
    Ok(Endpoint { address: Address::Tcp(address), sources: sources?, reset })
}

/// The Unix socket at `path`.
fn socket_at(path: &str) -> Result<SocketAddrUnix, Fault> {
    let key = "target.unix";
    let wrong =
        |why: String| Fault::machine(key, format!("{key} is {path:?}, {why}; give the path the server listens at"));
    let found = std::fs::metadata(path).map_err(|e| wrong(format!("which cannot be looked at: {e}")))?;
    if !found.file_type().is_socket() {
        return Err(wrong("which is no socket".to_string()));
    }
    SocketAddrUnix::new(path).map_err(|e| wrong(format!("which cannot be an address: {e}")))
}

/// A local address, with the port left open, that connections to `address` may leave from.
fn own(i: usize, source: IpAddr, address: &SocketAddr) -> Result<SocketAddr, Fault> {
    let key = format!("sources[{i}]");
    let family = |v4| if v4 { "IPv4" } else { "IPv6" };
    if source.is_ipv4() != address.is_ipv4() {
        let (its, other) = (family(source.is_ipv4()), family(address.is_ipv4()));
        let message = format!("{key} is {source}, which is {its}, but the target is {address}; give {other} addresses");
        return Err(Fault::machine(key, message));
    }
    let source = SocketAddr::new(source, 0);
    let to_itself = Endpoint { address: Address::Tcp(*address), sources: vec![source], reset: false };
    to_itself.socket(0).map(|_| source).map_err(|e| {
        let message = format!(
            "{key} is {} but connections cannot leave from there ({e}); `ip addr` lists what this machine has",
            source.ip()
        );
        Fault::machine(key, message)
    })
}

/// Makes sure that this machine speaks the address's family at all.
fn check_family(address: &SocketAddr) -> Result<(), Fault> {
    let (family, name) = if address.is_ipv4() { (AddressFamily::INET, "IPv4") } else { (AddressFamily::INET6, "IPv6") };
    match rustix::net::socket(family, SocketType::STREAM, None) {
        Ok(_) => Ok(()),
        Err(e) => {
            Err(Fault::machine("target.host", format!("target.host is {address} but this machine has no {name}: {e}")))
        }
    }
}

/// Keeps this thread, and those it starts, to the processors of the order.
pub fn pin(order: &Order) -> Result<(), Fault> {
    if order.cpus.is_empty() {
        return Ok(());
    }
    let allowed =
        sched_getaffinity(None).map_err(|e| Fault::machine("cpus", format!("asking for processors failed: {e}")))?;
    if let Some(i) = order.cpus.iter().position(|cpu| !allowed.is_set(*cpu)) {
        let have: Vec<String> = (0..CpuSet::MAX_CPU).filter(|c| allowed.is_set(*c)).map(|c| c.to_string()).collect();
        let key = format!("cpus[{i}]");
        let message = format!("{key} is {} but this process may run on {} only", order.cpus[i], have.join(", "));
        return Err(Fault::machine(key, message));
    }
    keep_to(&order.cpus)
}

/// Keeps worker `thread` to its own processor, and has its timers fire when they are set to.
pub fn pin_worker(order: &Order, thread: usize) -> Result<(), Fault> {
    // The kernel otherwise lets every sleep be 50 us longer, to wake up for several at once. Refused only where the call itself
    // is forbidden; the lag then says what it costs.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    match order.cpus.len() {
        0 => Ok(()),
        n => keep_to(&order.cpus[thread % n..=thread % n]),
    }
}

fn keep_to(cpus: &[usize]) -> Result<(), Fault> {
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    sched_setaffinity(None, &set)
        .map_err(|e| Fault::machine("cpus", format!("keeping to processors {cpus:?} failed: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str) -> Target {
        Target { host: host.to_string(), port: 80, unix: None }
    }

    #[test]
    fn literals_of_both_families_are_addresses() {
        assert_eq!("127.0.0.1:80", resolve(&target("127.0.0.1")).unwrap().to_string());
        assert_eq!("[::1]:80", resolve(&target("::1")).unwrap().to_string());
    }

    #[test]
    fn a_name_without_an_address_is_the_machines_fault() {
        let fault = resolve(&target("no-such-host.invalid")).unwrap_err();
        assert_eq!((3, "target.host"), (fault.blame.exit(), fault.key.as_str()));
    }
}
