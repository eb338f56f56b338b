//! Which back end drives the sockets.

use super::fields::Fields;
use crate::error::Fault;

/// What the order says of back ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The engine's choice, which is epoll.
    #[default]
    Auto,
    /// One call into the kernel for each receive and send.
    Epoll,
    /// One call for many of them, where this machine has it.
    IoUring,
}

/// The key `backend`.
pub(super) fn backend(order: &Fields<'_>) -> Result<Backend, Fault> {
    let Some(field) = order.optional("backend") else { return Ok(Backend::Auto) };
    match field.text() {
        Ok("auto") => Ok(Backend::Auto),
        Ok("epoll") => Ok(Backend::Epoll),
        Ok("io_uring") => Ok(Backend::IoUring),
        _ => Err(field.wrong("\"auto\", \"epoll\" or \"io_uring\"")),
    }
}
