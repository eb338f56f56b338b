//! What this machine must have for the order, seen to before the first connection: an address, files, processors.

use crate::error::Fault;
use crate::order::{Order, PaceOrder, Target};
use rustix::net::{AddressFamily, SocketType};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity, set_current_timer_slack};
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroU64;

/// Files a thread needs beside its connections, and the process beside its threads.
const FILES: (u64, u64) = (4, 32);

/// The address of the target. A name with addresses of both families gives the IPv4 one: servers under test listen there.
pub fn resolve(target: &Target) -> Result<SocketAddr, Fault> {
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

/// Makes sure that this machine speaks the address's family at all.
pub fn check_family(address: &SocketAddr) -> Result<(), Fault> {
    let (family, name) = if address.is_ipv4() { (AddressFamily::INET, "IPv4") } else { (AddressFamily::INET6, "IPv6") };
    match rustix::net::socket(family, SocketType::STREAM, None) {
        Ok(_) => Ok(()),
        Err(e) => {
            Err(Fault::machine("target.host", format!("target.host is {address} but this machine has no {name}: {e}")))
        }
    }
}

/// Makes sure that this process may hold the connections of the order, raising its own limit where it may.
pub fn reserve_files(order: &Order) -> Result<(), Fault> {
    let needed = order.pace.most_connections() as u64 + order.threads as u64 * FILES.0 + FILES.1;
    let key = match order.pace {
        PaceOrder::Closed { .. } => "pace.connections",
        PaceOrder::ClosedStages(_) => "pace.stages",
        PaceOrder::Open { .. } => "pace.max_connections",
    };
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|now| now >= needed) {
        return Ok(());
    }
    match limit.maximum {
        Some(most) if most < needed => Err(Fault::machine(
            key,
            format!(
                "{} connections need {needed} open files but this process may have {most}; raise it with: \
                 sudo prlimit --pid $$ --nofile={needed}",
                order.pace.most_connections()
            ),
        )),
        maximum => setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum })
            .map_err(|e| Fault::machine(key, format!("raising the limit of open files to {needed} failed: {e}"))),
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
        Target { host: host.to_string(), port: 80 }
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
