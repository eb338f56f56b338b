//! The same scripts once more, with the other back end. Where this machine has no io_uring, they run with epoll, as any such order.

#[path = "../engine/absent.rs"]
mod absent;
#[path = "../engine/behaviours.rs"]
mod behaviours;
#[path = "../engine/drain.rs"]
mod drain;
#[path = "../engine/endings.rs"]
mod endings;
#[path = "../engine/failures.rs"]
mod failures;
#[path = "../engine/h2.rs"]
mod h2;
#[path = "../engine/h2_stage.rs"]
mod h2_stage;
#[path = "../engine/h2_tls.rs"]
mod h2_tls;
#[path = "../engine/hostile_answers.rs"]
mod hostile_answers;
#[path = "../engine/hostile_sockets.rs"]
mod hostile_sockets;
#[path = "../engine/leads.rs"]
mod leads;
#[path = "../engine/paces.rs"]
mod paces;
#[path = "../engine/parts.rs"]
mod parts;
#[path = "../engine/pipelining.rs"]
mod pipelining;
#[path = "../engine/reach.rs"]
mod reach;
#[path = "../engine/repeats.rs"]
mod repeats;
#[path = "../engine/routes.rs"]
mod routes;
#[path = "../engine/stages.rs"]
mod stages;
#[path = "../engine/templates.rs"]
mod templates;
#[path = "../engine/theatre.rs"]
mod theatre;
#[path = "../engine/tls.rs"]
mod tls;
#[path = "../engine/tunnel.rs"]
mod tunnel;
#[path = "../engine/turns.rs"]
mod turns;
#[path = "../engine/watched.rs"]
mod watched;

/// The back end that is put into every order of these tests.
const BACKEND: Option<&str> = Some("io_uring");

#[test]
fn the_ring_is_what_drives_them_or_the_engine_says_why_not() {
    let server = theatre::Server::start(|mut peer| peer.always(theatre::HELLO));
    let said = server.load(|_| {});
    let started = &said.lines[0];
    if started["backend"] == "epoll" {
        let why = started["backend_note"].as_str().expect("a reason");
        return println!("skipped: these tests ran with epoll, because {why}");
    }
    assert_eq!(("io_uring", true), (started["backend"].as_str().unwrap(), started["backend_note"].is_null()));
    assert_eq!(10, said.count("ok"));
}
