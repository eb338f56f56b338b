//! How a server is reached: Unix sockets, local addresses, closing by reset, more files than a table holds.

use crate::theatre::{HELLO, Said, Server, begin_as, end};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{ErrorKind, Read, Write};
use std::net::IpAddr;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

/// A path for a socket of this test, without anything at it.
fn path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("webdyno-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// Loads `path` with the order that a TCP server would have, edited.
fn load(path: &PathBuf, edit: impl FnOnce(&mut Value)) -> Said {
    let said = Server::start(|_| {}).load(|o| {
        o["schema"] = 3.into();
        o["target"]["unix"] = path.to_str().unwrap().into();
        edit(o);
    });
    let _ = std::fs::remove_file(path);
    said
}

/// Answers requests without a body until the engine closes.
fn answer(mut stream: UnixStream) {
    let mut bytes = [0; 4096];
    while stream.read(&mut bytes).is_ok_and(|n| n > 0) {
        let _ = stream.write_all(HELLO.as_bytes());
    }
}

#[test]
fn a_unix_socket_answers_as_an_address_does() {
    let path = path("good");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || listener.incoming().for_each(|stream| drop(thread::spawn(|| answer(stream.unwrap())))));
    let said = load(&path, |o| (o["pace"]["connections"], o["count"]) = (4.into(), 100.into()));
    assert_eq!((100, 4), (said.count("ok"), said.count("connections_opened")));
    assert_eq!(format!("unix:{}", path.display()), said.lines[0]["address"].as_str().unwrap());
}

#[test]
fn a_unix_socket_that_nobody_listens_at_is_refused() {
    let path = path("refused");
    drop(UnixListener::bind(&path).unwrap());
    let said = load(&path, |o| o["count"] = 3.into());
    assert_eq!((3, "unreachable"), (said.errors("connect-refused"), said.text("ended")));
    assert_eq!(
        format!("connect-refused: unix:{} did not take the connection", path.display()),
        said.text("first_error")
    );
}

#[test]
fn a_unix_server_that_ends_at_once_is_truncated_and_not_refused() {
    let path = path("ends");
    let listener = UnixListener::bind(&path).unwrap();
    thread::spawn(move || listener.incoming().for_each(drop));
    let said = load(&path, |o| o["count"] = 20.into());
    assert_eq!(
        (0, 20),
        (said.errors("connect-refused"), said.errors("truncated") + said.errors("reset")),
        "{}",
        said.last()
    );
}

#[test]
fn a_path_without_a_socket_is_told_before_the_load() {
    let nothing = path("nothing");
    let file = path("file");
    std::fs::write(&file, "").unwrap();
    for (path, why) in [(nothing, "which cannot be looked at"), (file, "which is no socket")] {
        let said = load(&path, |_| {});
        assert_eq!((3, "target.unix", 1), (said.exit, said.text("key"), said.lines.len()));
        assert!(said.text("message").contains(why), "{}", said.text("message"));
    }
}

#[test]
fn a_unix_socket_with_a_full_queue_is_waited_for_and_then_a_connect_timeout() {
    let path = path("full");
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let waiting = UnixStream::connect(&path).unwrap();
    let said = load(&path, |o| (o["count"], o["connect_timeout_ns"]) = (2.into(), 50_000_000.into()));
    assert_eq!((2, 0), (said.errors("connect-timeout"), said.errors("connect-refused")), "{}", said.last());
    drop((waiting, listener));
}

#[test]
fn a_queue_that_moves_lets_every_connection_in() {
    let path = path("moves");
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    // Nobody is answered before all are there.
    let all = Arc::new(Barrier::new(30));
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, all) = (stream.unwrap(), all.clone());
            thread::spawn(move || {
                all.wait();
                answer(stream);
            });
        }
    });
    let said = load(&path, |o| (o["pace"]["connections"], o["count"]) = (30.into(), 300.into()));
    assert_eq!((300, 30), (said.count("ok"), said.count("connections_opened")), "{}", said.last());
}

#[test]
fn connections_leave_from_each_source_in_turn() {
    let from = Arc::new(Mutex::new(Vec::<IpAddr>::new()));
    let seen = from.clone();
    let server = Server::start(move |peer| {
        let mut stream = peer.into_stream();
        seen.lock().unwrap().push(stream.peer_addr().unwrap().ip());
        let mut bytes = [0; 4096];
        let _ = stream.read(&mut bytes);
        let _ = stream.write_all(HELLO.as_bytes());
    });
    let said = server.load(|o| {
        (o["schema"], o["keep_alive"], o["count"]) = (3.into(), false.into(), 6.into());
        o["sources"] = json!(["127.0.0.2", "127.0.0.3", "127.0.0.4"]);
    });
    assert_eq!(6, said.count("ok"));
    let from: Vec<String> = from.lock().unwrap()[..6].iter().map(IpAddr::to_string).collect();
    assert_eq!(["127.0.0.2", "127.0.0.3", "127.0.0.4"].repeat(2), from);
}

#[test]
fn a_source_of_ipv6_works_and_one_that_cannot_is_told_before_the_load() {
    let server = Server::start(|mut peer| peer.always(HELLO));
    let sources = |sources: Value| server.load(|o| (o["schema"], o["sources"]) = (3.into(), sources));
    let rows = [
        (json!(["127.0.0.1", "::1"]), 3, "sources[1]", "IPv6"),
        (json!(["127.0.0.1", "192.0.2.1"]), 3, "sources[1]", "192.0.2.1"),
        (json!(["localhost"]), 2, "sources[0]", "address literal"),
        (json!("127.0.0.1"), 2, "sources", "a list of addresses"),
    ];
    for (list, exit, key, word) in rows {
        let said = sources(list);
        assert_eq!((exit, key), (said.exit, said.text("key")), "{}", said.last());
        assert!(said.text("message").contains(word), "{}", said.text("message"));
    }
    assert_eq!(0, server.accepted());
    let Ok(listener) = std::net::TcpListener::bind("[::1]:0") else { return };
    let server = Server::on(listener, |mut peer| peer.always(HELLO));
    let said = server.load(|o| (o["schema"], o["sources"]) = (3.into(), json!(["::1"])));
    assert_eq!((10, true), (said.count("ok"), said.lines[0]["address"].as_str().unwrap().starts_with("[::1]:")));
}

#[test]
fn the_engine_closes_as_it_was_told_to() {
    for (linger, kinds) in
        [("fin", BTreeSet::from([None])), ("reset", BTreeSet::from([Some(ErrorKind::ConnectionReset)]))]
    {
        let ends = Arc::new(Mutex::new(Vec::new()));
        let seen = ends.clone();
        let server = Server::start(move |peer| {
            let (mut stream, mut bytes) = (peer.into_stream(), [0; 4096]);
            let _ = stream.read(&mut bytes);
            let _ = stream.write_all(HELLO.as_bytes());
            seen.lock().unwrap().push(stream.read(&mut bytes).err().map(|e| e.kind()));
        });
        let said =
            server.load(|o| (o["schema"], o["keep_alive"], o["linger"]) = (3.into(), false.into(), linger.into()));
        assert_eq!(10, said.count("ok"));
        while ends.lock().unwrap().len() < 10 {
            thread::yield_now();
        }
        assert_eq!(kinds, ends.lock().unwrap().iter().copied().collect(), "{linger}");
    }
}

#[test]
fn what_contradicts_a_unix_socket_is_refused() {
    for (key, value) in [("sources", json!(["127.0.0.1"])), ("linger", json!("reset"))] {
        let said = load(&path("contradiction"), |o| o[key] = value);
        assert_eq!((2, key), (said.exit, said.text("key")));
    }
    let said = Server::start(|_| {}).load(|o| o["target"]["unix"] = "/x".into());
    assert_eq!((2, "target.unix"), (said.exit, said.text("key")), "schema 1 does not have it");
}

#[test]
fn threads_with_tables_of_their_own_hold_more_connections_than_one_table_has_files() {
    // Nobody is answered before all are there.
    let all = Barrier::new(300);
    let server = Server::start(move |mut peer| {
        peer.request();
        all.wait();
        peer.say(HELLO);
        peer.always(HELLO);
    });
    let mut order = server.order();
    (order["threads"], order["count"]) = (4.into(), 600.into());
    order["pace"]["connections"] = 300.into();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 200; exec \"$0\"", env!("CARGO_BIN_EXE_webdyno-engine")]);
    let said = end(begin_as(shell, &order.to_string()), Vec::new());
    assert_eq!((0, 600, 300), (said.exit, said.count("ok"), said.count("connections_opened")), "{}", said.last());
}
