//! The engine as a process, against scripted servers.

mod behaviours;
mod drain;
mod endings;
mod failures;
mod hostile_answers;
mod hostile_sockets;
mod paces;
mod pipelining;
mod reach;
mod routes;
mod stages;
mod templates;
mod theatre;
mod tls;
mod tunnel;
mod watched;
