//! What a thread drives its sockets with: chosen by the order and the machine, and made before the load begins.

use super::{Epoll, Prepared, available};
use crate::error::Fault;
use crate::order::{Backend, Order};
use std::os::fd::OwnedFd;

/// What one thread needs for its back end.
pub enum Means {
    /// An epoll set.
    Epoll(OwnedFd),
    /// A ring.
    Ring(Prepared),
}

/// The back end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// As the protocol spells it.
    pub name: &'static str,
    /// Why it is not the one that was asked for.
    pub note: Option<String>,
}

/// Which back end drives the sockets of this order.
pub fn choose(order: &Order) -> Choice {
    match order.backend {
        Backend::Auto | Backend::Epoll => Choice { name: "epoll", note: None },
        Backend::IoUring => match available() {
            Ok(()) => Choice { name: "io_uring", note: None },
            Err(why) => Choice { name: "epoll", note: Some(why) },
        },
    }
}

/// The means for threads with so many places each. A failure is told before the first connection.
pub fn means(choice: &Choice, places: impl ExactSizeIterator<Item = usize>) -> Result<Vec<Means>, Fault> {
    let threads = places.len();
    let each = |places| match choice.name {
        "io_uring" => Prepared::new(places).map(Means::Ring),
        _ => Ok(Means::Epoll(Epoll::set()?)),
    };
    places.map(each).collect::<Result<_, _>>().map_err(|error| {
        let what = if choice.name == "epoll" { "epoll set" } else { "io_uring" };
        Fault::machine("threads", format!("this machine gave no {what} for each of {threads} threads: {error}"))
    })
}
