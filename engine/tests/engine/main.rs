//! The engine as a process, against scripted servers.

mod behaviours;
mod endings;
mod failures;
mod paces;
mod pipelining;
mod theatre;
