//! The engine as a process, against scripted servers.

mod behaviours;
mod endings;
mod failures;
mod hostile_answers;
mod hostile_sockets;
mod paces;
mod theatre;
mod watched;
