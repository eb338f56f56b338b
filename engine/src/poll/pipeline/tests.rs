use super::*;
use crate::poll::Address;

/// A back end that says what it is told to, and writes down what it is asked.
#[derive(Default)]
struct Fake {
    says: VecDeque<(usize, What, Vec<u8>)>,
    bytes: Vec<u8>,
    sent: Vec<(usize, String)>,
    closed: Vec<usize>,
    /// The most one send takes.
    room: Option<usize>,
    broken: Option<Errno>,
}

impl Poll for Fake {
    fn open(&mut self, _: usize, _: &Endpoint) -> Result<(), Errno> {
        Ok(())
    }

    fn send(&mut self, place: usize, bytes: &[u8]) -> Result<usize, Errno> {
        if let Some(errno) = self.broken {
            return Err(errno);
        }
        let n = bytes.len().min(self.room.unwrap_or(usize::MAX));
        self.sent.push((place, String::from_utf8(bytes[..n].to_vec()).unwrap()));
        Ok(n)
    }

    fn close(&mut self, place: usize) {
        self.closed.push(place);
    }

    fn wait(&mut self, _: u64) -> Result<(), Errno> {
        Ok(())
    }

    fn backlog(&self) -> usize {
        0
    }

    fn next(&mut self) -> Option<(usize, What)> {
        let (place, what, bytes) = self.says.pop_front()?;
        self.bytes = bytes;
        Some((place, what))
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Hands over a request, which is always taken whole.
fn ask(layer: &mut Pipeline<Fake>, place: usize, text: &str) {
    assert_eq!(Ok(text.len()), layer.send(place, text.as_bytes()));
}

/// Two connections of three lanes; those of the second have asked in the order 4, 3, 5.
fn asked() -> Pipeline<Fake> {
    let mut layer = Pipeline::new(Fake::default(), 2, 3);
    [(4, "a"), (3, "b"), (5, "c")].into_iter().for_each(|(place, text)| ask(&mut layer, place, text));
    layer.wait(0).unwrap();
    layer
}

fn say(layer: &mut Pipeline<Fake>, what: What, bytes: &str) {
    layer.inner.says.push_back((1, what, bytes.into()));
}

const BYTES: What = What::Bytes { ending: false };

#[test]
fn what_is_asked_in_one_turn_leaves_in_one_send() {
    let mut layer = asked();
    assert_eq!(vec![(1, "abc".to_string())], layer.inner.sent);
    layer.wait(0).unwrap();
    assert_eq!(1, layer.inner.sent.len(), "nothing is sent twice");
}

#[test]
fn bytes_are_the_oldest_lanes_and_the_rest_of_them_the_next_ones() {
    let mut layer = asked();
    say(&mut layer, What::Bytes { ending: true }, "AABBC");
    assert_eq!(Some((4, What::Bytes { ending: true })), layer.next());
    assert_eq!((b"AABBC".as_slice(), false), (layer.bytes(), layer.together()));
    assert!(layer.answered(4, 3));
    layer.send(4, b"d").unwrap();
    assert_eq!(Some((3, What::Bytes { ending: true })), layer.next());
    assert_eq!((b"BBC".as_slice(), true), (layer.bytes(), layer.together()));
    assert_eq!(1, layer.inner.sent.len(), "not before all that came has been told");
    assert!(layer.answered(3, 1));
    assert_eq!(Some((5, What::Bytes { ending: true })), layer.next());
    assert_eq!(b"C", layer.bytes());
    assert!(!layer.answered(5, 0));
    assert_eq!(None, layer.next());
    assert_eq!((1, "d".to_string()), layer.inner.sent[1]);
}

#[test]
fn more_than_was_asked_for_is_nobodys_even_when_a_request_is_about_to_leave() {
    let mut layer = asked();
    say(&mut layer, BYTES, "ABCX");
    for (place, rest) in [(4, 3), (3, 2)] {
        assert_eq!(Some((place, BYTES)), layer.next());
        layer.answered(place, rest);
        layer.send(place, b"d").unwrap();
    }
    assert_eq!(Some((5, BYTES)), layer.next());
    assert!(!layer.answered(5, 1));
    layer.close(5);
    // They had not left.
    let behind = |place| Some((place, What::Behind(Cause::Unheard)));
    assert_eq!([behind(4), behind(3), None], [layer.next(), layer.next(), layer.next()]);
    assert_eq!((vec![1], 1), (layer.inner.closed, layer.inner.sent.len()));
}

#[test]
fn those_behind_learn_why_the_connection_ended_in_the_order_they_asked() {
    let end = (What::End, Cause::Ended);
    let failed = (What::Failed(Errno::CONNRESET), Cause::Failed(Errno::CONNRESET));
    for (what, cause) in [end, failed] {
        let mut layer = asked();
        say(&mut layer, what, "");
        assert_eq!(Some((4, what)), layer.next());
        layer.close(4);
        let behind = |place| Some((place, What::Behind(cause)));
        assert_eq!([behind(3), behind(5), None], [layer.next(), layer.next(), layer.next()]);
    }
}

#[test]
fn nothing_is_known_against_those_behind_a_complete_answer_or_a_lost_patience() {
    for answered in [true, false] {
        let mut layer = asked();
        say(&mut layer, What::End, "");
        if answered {
            assert_eq!(Some((4, What::End)), layer.next());
            layer.answered(4, 0);
        }
        layer.close(4);
        assert_eq!(Some((3, What::Behind(Cause::Closed))), layer.next());
    }
}

#[test]
fn what_is_left_of_a_closed_connection_is_not_told() {
    let mut layer = asked();
    say(&mut layer, BYTES, "AB");
    layer.next();
    assert!(layer.answered(4, 1));
    layer.close(4);
    let behind = |place| Some((place, What::Behind(Cause::Closed)));
    assert_eq!([behind(3), behind(5), None], [layer.next(), layer.next(), layer.next()]);
}

#[test]
fn a_server_that_said_close_has_worked_on_nothing_behind() {
    let mut layer = asked();
    say(&mut layer, BYTES, "A");
    layer.next();
    layer.answered(4, 0);
    layer.forsworn(4);
    layer.close(4);
    let behind = |place, cause| Some((place, What::Behind(cause)));
    assert_eq!(
        [behind(3, Cause::Unheard), behind(5, Cause::Unheard), None],
        [layer.next(), layer.next(), layer.next()]
    );
    // That was said of one connection, and not of the next.
    [(3, "b"), (5, "c")].into_iter().for_each(|(place, text)| ask(&mut layer, place, text));
    layer.wait(0).unwrap();
    layer.close(4);
    assert_eq!([behind(3, Cause::Closed), behind(5, Cause::Unheard)], [layer.next(), layer.next()]);
}

#[test]
fn after_such_an_end_one_request_goes_alone_until_it_is_answered() {
    let mut layer = asked();
    layer.close(4);
    while layer.next().is_some() {}
    [(3, "b"), (5, "c")].into_iter().for_each(|(place, text)| ask(&mut layer, place, text));
    layer.wait(0).unwrap();
    assert_eq!((1, "b".to_string()), layer.inner.sent[1]);
    say(&mut layer, BYTES, "B");
    assert_eq!(Some((3, BYTES)), layer.next());
    layer.answered(3, 0);
    assert_eq!(None, layer.next());
    assert_eq!((1, "c".to_string()), layer.inner.sent[2]);
}

#[test]
fn a_short_send_goes_on_when_there_is_room() {
    let mut layer = Pipeline::new(Fake { room: Some(2), ..Fake::default() }, 2, 3);
    layer.send(3, b"abc").unwrap();
    layer.wait(0).unwrap();
    layer.send(4, b"d").unwrap();
    layer.wait(0).unwrap();
    assert_eq!(1, layer.inner.sent.len(), "there is no room");
    (0..2).for_each(|_| say(&mut layer, What::Writable, ""));
    assert_eq!(None, layer.next());
    let all: String = layer.inner.sent.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!("abcd", all);
}

#[test]
fn a_send_that_fails_is_told_to_the_oldest() {
    let mut layer = Pipeline::new(Fake { broken: Some(Errno::PIPE), ..Fake::default() }, 2, 3);
    [5, 3].into_iter().for_each(|place| ask(&mut layer, place, "a"));
    assert_eq!(Some((5, What::Failed(Errno::PIPE))), layer.next());
    layer.close(5);
    // Nothing of it had left.
    assert_eq!(Some((3, What::Behind(Cause::Unheard))), layer.next());
}

#[test]
fn a_connect_is_told_to_the_place_that_began_it() {
    let endpoint =
        Endpoint { address: Address::Tcp("127.0.0.1:80".parse().unwrap()), sources: Vec::new(), reset: false };
    for what in [What::Connected, What::Failed(Errno::CONNREFUSED)] {
        let mut layer = Pipeline::new(Fake::default(), 2, 3);
        layer.open(5, &endpoint).unwrap();
        say(&mut layer, what, "");
        assert_eq!(Some((5, what)), layer.next());
    }
}
