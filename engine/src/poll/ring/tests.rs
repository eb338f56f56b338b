use super::super::{Address, Endpoint, Poll, What};
use super::{BATCH, Prepared, Ring, available};
use rustix::net::sockopt;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// A turn of the tests' loop; the ring wakes up sooner for everything that happens.
const TURN_NS: u64 = 100_000_000;
/// Turns without what is awaited, after which a test has failed.
const TURNS: u32 = 200;

/// A ring and a server's listener; `None`, and a line: this machine has no io_uring.
fn scene(places: usize) -> Option<(Ring, TcpListener, Endpoint)> {
    if let Err(why) = available() {
        println!("skipped: {why}");
        return None;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint =
        Endpoint { address: Address::Tcp(listener.local_addr().unwrap()), sources: Vec::new(), reset: false };
    Some((Ring::new(Prepared::new(places).unwrap(), places).unwrap(), listener, endpoint))
}

/// Hands everything that happens to `take`, until it says that this is all.
fn until(ring: &mut Ring, mut take: impl FnMut(&mut Ring, usize, What) -> bool) {
    for _ in 0..TURNS {
        while let Some((place, what)) = ring.next() {
            if take(ring, place, what) {
                return;
            }
        }
        ring.wait(TURN_NS).unwrap();
    }
    panic!("it did not happen");
}

fn connect(ring: &mut Ring, place: usize, endpoint: &Endpoint, listener: &TcpListener) -> TcpStream {
    ring.open(place, endpoint).unwrap();
    until(ring, |_, at, what| {
        assert_eq!((place, What::Connected), (at, what));
        true
    });
    listener.accept().unwrap().0
}

/// What comes to nobody in some turns of the loop.
fn nothing_happens(ring: &mut Ring) {
    for _ in 0..3 {
        ring.wait(1_000_000).unwrap();
        assert_eq!(None, ring.next());
    }
}

#[test]
fn a_refused_connect_fails() {
    let Some((mut ring, listener, endpoint)) = scene(1) else { return };
    drop(listener);
    let failed = ring.open(0, &endpoint).is_err_and(|e| e == rustix::io::Errno::CONNREFUSED);
    if !failed {
        until(&mut ring, |_, place, what| {
            assert_eq!((0, What::Failed(rustix::io::Errno::CONNREFUSED)), (place, what));
            true
        });
    }
}

#[test]
fn a_long_answer_arrives_whole_and_its_end_is_told() {
    let Some((mut ring, listener, endpoint)) = scene(1) else { return };
    let peer = connect(&mut ring, 0, &endpoint, &listener);
    let sent: Vec<u8> = (0..8_000_000_u32).map(|i| (i / 7) as u8).collect();
    let expected = sent.clone();
    let server = thread::spawn(move || (&peer).write_all(&sent).unwrap());
    let mut received = Vec::new();
    until(&mut ring, |ring, _, what| match what {
        What::Bytes { .. } => {
            received.extend_from_slice(ring.bytes());
            false
        }
        what => {
            assert_eq!(What::End, what);
            true
        }
    });
    server.join().unwrap();
    assert!(expected == received);
}

/// Sends `bytes` as a caller of [`Poll`] does, in pieces of `piece`, and gives back what the peer got.
fn sent_through(piece: usize, bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut ring, listener, endpoint) = scene(1)?;
    sockopt::set_socket_recv_buffer_size(&listener, 4096).unwrap();
    let mut peer = connect(&mut ring, 0, &endpoint, &listener);
    let length = bytes.len();
    let mut taken = 0;
    let mut push = |ring: &mut Ring| {
        while taken < length {
            let end = length.min(taken + piece);
            let n = ring.send(0, &bytes[taken..end]).unwrap();
            taken += n;
            if n == 0 {
                break;
            }
        }
    };
    push(&mut ring);
    let server = thread::spawn(move || {
        let mut got = vec![0; length];
        peer.read_exact(&mut got).unwrap();
        peer.write_all(b"!").unwrap();
        got
    });
    until(&mut ring, |ring, _, what| {
        if what == What::Writable {
            push(ring);
        }
        matches!(what, What::Bytes { .. })
    });
    assert_eq!(b"!", ring.bytes());
    Some(server.join().unwrap())
}

#[test]
fn a_long_send_goes_on_when_there_is_room() {
    let bytes: Vec<u8> = (0..6_000_000_u32).map(|i| (i / 3) as u8).collect();
    assert!(sent_through(bytes.len(), &bytes).is_none_or(|got| got == bytes));
}

#[test]
fn short_sends_that_find_no_room_lose_nothing_and_keep_their_order() {
    let bytes: Vec<u8> = (0..6_000_000_u32).map(|i| (i / 3) as u8).collect();
    assert!(sent_through(1000, &bytes).is_none_or(|got| got == bytes));
    // Pieces that do not fit into a batch's arena without a rest.
    assert!(sent_through(4001, &bytes).is_none_or(|got| got == bytes));
}

#[test]
fn a_place_that_is_closed_and_opened_again_hears_nothing_of_before() {
    let Some((mut ring, listener, endpoint)) = scene(2) else { return };
    for round in 0..200_u32 {
        let mut before = connect(&mut ring, 0, &endpoint, &listener);
        ring.send(0, b"lost or not, but never on the next connection").unwrap();
        before.write_all(b"late").unwrap();
        if round % 2 == 0 {
            // What the kernel has told by then is dropped too.
            ring.wait(TURN_NS).unwrap();
        }
        ring.close(0);
        ring.open(0, &endpoint).unwrap();
        let text = format!("round {round}");
        let mut peer = listener.accept().unwrap().0;
        let mut heard = Vec::new();
        until(&mut ring, |ring, place, what| {
            heard.push((place, what));
            if what == What::Connected {
                ring.send(0, text.as_bytes()).unwrap();
                peer.write_all(b"now").unwrap();
            }
            matches!(what, What::Bytes { .. })
        });
        assert_eq!(vec![(0, What::Connected), (0, What::Bytes { ending: false })], heard);
        assert_eq!(b"now", ring.bytes());
        ring.wait(0).unwrap();
        let mut got = vec![0; text.len()];
        peer.read_exact(&mut got).unwrap();
        assert_eq!(text.as_bytes(), got);
        ring.close(0);
        assert_eq!(0, peer.read(&mut [0; 8]).unwrap());
        drop(before);
    }
    nothing_happens(&mut ring);
}

#[test]
fn a_close_ends_the_stream_after_what_was_sent() {
    let Some((mut ring, listener, endpoint)) = scene(1) else { return };
    let mut peer = connect(&mut ring, 0, &endpoint, &listener);
    ring.send(0, b"good").unwrap();
    ring.send(0, b"bye").unwrap();
    ring.close(0);
    let mut got = String::new();
    peer.read_to_string(&mut got).unwrap();
    assert_eq!("goodbye", got);
    nothing_happens(&mut ring);
    assert_eq!(Err(rustix::io::Errno::NOTCONN), ring.send(0, b"gone"));
}

#[test]
fn more_answers_than_buffers_and_more_sends_than_a_batch_are_all_served() {
    let places = 300;
    // As many buffers as one place has: most receives find none.
    let Some((_, listener, endpoint)) = scene(1) else { return };
    let mut ring = Ring::new(Prepared::new(1).unwrap(), places).unwrap();
    let mut peers: Vec<TcpStream> = (0..places).map(|at| connect(&mut ring, at, &endpoint, &listener)).collect();
    assert!(places > BATCH);
    for at in 0..places {
        assert_eq!(Ok(3), ring.send(at, b"hey"));
    }
    ring.wait(0).unwrap();
    let piece = vec![b'x'; 20_000];
    for peer in &mut peers {
        peer.read_exact(&mut [0; 3]).unwrap();
        peer.write_all(&piece).unwrap();
    }
    let mut received = vec![0; places];
    until(&mut ring, |ring, place, what| {
        assert!(matches!(what, What::Bytes { .. }), "{what:?}");
        received[place] += ring.bytes().len();
        received.iter().all(|n| *n == piece.len())
    });
    nothing_happens(&mut ring);
}

#[test]
fn a_reset_is_a_failure_and_ends_there() {
    let Some((mut ring, listener, endpoint)) = scene(1) else { return };
    let peer = connect(&mut ring, 0, &endpoint, &listener);
    // The receive must be under way before the reset.
    ring.wait(1_000_000).unwrap();
    sockopt::set_socket_linger(&peer, Some(std::time::Duration::ZERO)).unwrap();
    drop(peer);
    until(&mut ring, |_, place, what| {
        assert_eq!((0, What::Failed(rustix::io::Errno::CONNRESET)), (place, what));
        true
    });
    ring.close(0);
    nothing_happens(&mut ring);
}
