//! The engine as a process, against scripted servers.

mod behaviours;
mod drain;
mod endings;
mod failures;
mod paces;
mod routes;
mod stages;
mod theatre;
