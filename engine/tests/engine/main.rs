//! The engine as a process, against scripted servers.

mod absent;
mod behaviours;
mod drain;
mod endings;
mod failures;
mod h2;
mod h2_stage;
mod h2_tls;
mod hostile_answers;
mod hostile_sockets;
mod leads;
mod paces;
mod parts;
mod pipelining;
mod reach;
mod repeats;
mod routes;
mod stages;
mod templates;
mod theatre;
mod tls;
mod tunnel;
mod turns;
mod watched;

/// The back end that is put into every order of these tests; none: they stay as they are.
const BACKEND: Option<&str> = None;

#[test]
fn epoll_is_the_choice_of_auto() {
    let server = theatre::Server::start(|mut peer| peer.always(theatre::HELLO));
    let said = server.load(|o| (o["schema"], o["backend"]) = (3.into(), "auto".into()));
    assert_eq!(("epoll", true), (said.lines[0]["backend"].as_str().unwrap(), said.lines[0]["backend_note"].is_null()));
}
