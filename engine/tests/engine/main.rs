//! The engine as a process, against scripted servers.

mod behaviours;
mod endings;
mod failures;
mod paces;
mod reach;
mod theatre;
mod tls;
mod tunnel;
