//! The engine as a process, against scripted servers.

mod behaviours;
mod endings;
mod failures;
mod h2;
mod h2_stage;
mod paces;
mod pipelining;
mod theatre;
