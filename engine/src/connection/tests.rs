use super::*;
use crate::order::Expect;

#[test]
fn a_place_is_small_enough_for_ten_thousand_to_stay_in_the_cache() {
    assert!(size_of::<Place>() <= 160, "{}", size_of::<Place>());
}

/// What `parts` come to, one read after another; the last one's outcome.
fn answer(place: &mut Place, lore: &mut Lore, request: &Request, parts: &[&str]) -> Progress {
    place.ask(false);
    let mut first = First::default();
    let reads = parts.iter().map(|part| match place.silent().then(|| place.known(part.as_bytes(), lore)).flatten() {
        Some((right, rest)) => Progress::Complete(place.take(right, rest)),
        None => place.absorb(part.as_bytes(), 1, request, lore, &mut first),
    });
    reads.last().expect("a read")
}

#[test]
fn an_answer_is_read_by_its_bytes_alone_whatever_came_before_it() {
    let expect = Expect { body_contains: Some(b"hello".to_vec()), ..Expect::default() };
    let (name, method, path) = ("r".to_string(), "GET".to_string(), "/".to_string());
    let request = Request { name, method, path, headers: Vec::new(), body: None, template: false, weight: 1, expect };
    let right = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let answers: [&[&str]; 7] = [
        &[right],
        &["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhellO"],
        &["HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"],
        &["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", right],
        &["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello!"],
        &["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", "!"],
        &["HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nhello"],
    ];
    let (mut place, mut lore) = (Place::default(), Lore::default());
    for before in answers {
        for parts in answers {
            answer(&mut place, &mut lore, &request, before);
            let known = answer(&mut place, &mut lore, &request, parts);
            let alone = answer(&mut Place::default(), &mut Lore::default(), &request, parts);
            assert_eq!(alone, known, "{before:?} then {parts:?}");
        }
    }
}

#[test]
fn back_off_doubles_to_its_limit_and_a_connection_resets_it() {
    let mut place = Place::default();
    let waits: Vec<u64> = (0..9).map(|_| place.next_back_off() / 1_000_000).collect();
    assert_eq!(vec![1, 2, 4, 8, 16, 32, 64, 100, 100], waits);
    place.connect();
    assert_eq!(1_000_000, place.next_back_off());
}

/// A place that has asked, been answered as `lore` knows, and asked again, of which `sent` bytes went.
fn repeated(sent: Option<usize>) -> Place {
    let mut place = Place { retried: true, ..Place::default() };
    place.connect();
    place.assign(0, 3);
    place.ask(false);
    place.went(9, 4, true);
    place.sent = true;
    place.repeat(7, 50);
    sent.into_iter().for_each(|sent| place.fell_short(sent));
    place
}

#[test]
fn a_request_that_is_repeated_is_as_one_that_was_assigned_asked_and_sent() {
    let place = repeated(None);
    assert_eq!((7, 50, 50, 1), (place.number, place.due_at, place.sent_at, place.answers));
    assert_eq!(
        (State::Asking, 9, true, true, false),
        (place.state, place.taken, place.sent, place.under_way, place.retried)
    );
    assert!(place.silent() && place.may_retry(1) && place.answered);
    for (sent, under_way) in [(0, false), (4, true)] {
        let place = repeated(Some(sent));
        assert_eq!((sent, false, under_way), (place.taken, place.sent, place.under_way));
    }
}

#[test]
fn a_request_that_left_later_has_its_times_from_then_on_but_not_one_that_was_sent_twice() {
    let mut place = repeated(None);
    place.left(49, true);
    assert_eq!((50, 50), (place.sent_at, place.due_at), "that was the one before");
    place.left(60, false);
    assert_eq!((60, 50), (place.sent_at, place.due_at), "it was due when it was due");
    place.left(70, true);
    assert_eq!((70, 70), (place.sent_at, place.due_at));
    place.retried = true;
    place.left(80, true);
    assert_eq!((70, 70), (place.sent_at, place.due_at));
}

#[test]
fn a_known_answer_is_taken_with_its_status_and_what_follows_it() {
    let mut lore = Lore::default();
    let answer = Answer { status: 201, http10: false, keep_alive: true, broken: None, rest: 2, length: 3 };
    lore.whole.learn(b"HTTP/1.1 201 x\r\n\r\nabcHT", &answer);
    let mut place = Place::default();
    place.ask(false);
    assert_eq!(None, place.known(b"HTTP/1.1 201 x\r\n\r\nab", &lore), "a part of it is not it");
    let (right, rest) = place.known(b"HTTP/1.1 201 x\r\n\r\nabcHTTP/", &lore).expect("it is known");
    assert!(place.silent(), "looking at it takes nothing");
    assert_eq!(Answer { rest: 5, ..answer }, place.take(right, rest));
    assert_eq!((201, false), (place.status(), place.silent()));
}

#[test]
fn the_earlier_of_two_deadlines_counts_while_a_retry_connects() {
    let mut place = Place { state: State::Connecting, connect_at: 100, ..Place::default() };
    assert_eq!(Some(150), place.deadline(10, 50));
    place.sent_at = 95;
    assert_eq!(Some(105), place.deadline(10, 50));
    place.state = State::Asking;
    assert_eq!(Some(105), place.deadline(10, 50));
    place.state = State::Idle;
    assert_eq!(None, place.deadline(10, 50));
}
