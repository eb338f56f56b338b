//! The same scripts once more, with the other back end. Where this machine has no io_uring, they run with epoll, as any such order.

#[path = "../engine/behaviours.rs"]
mod behaviours;
#[path = "../engine/endings.rs"]
mod endings;
#[path = "../engine/failures.rs"]
mod failures;
#[path = "../engine/paces.rs"]
mod paces;
#[path = "../engine/theatre.rs"]
mod theatre;

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
