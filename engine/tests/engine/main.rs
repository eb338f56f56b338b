//! The engine as a process, against scripted servers.

mod behaviours;
mod drain;
mod endings;
mod failures;
mod paces;
mod reach;
mod routes;
mod stages;
mod templates;
mod theatre;
mod tls;
mod tunnel;
