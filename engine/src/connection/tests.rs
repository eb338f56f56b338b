use super::*;

#[test]
fn a_place_is_small_enough_for_ten_thousand_to_stay_in_the_cache() {
    assert!(size_of::<Place>() <= 192, "{}", size_of::<Place>());
}

/// What `parts` come to, one read after another; the last one's outcome.
fn answer(place: &mut Place, lore: &mut Lore, request: &Request, parts: &[&str]) -> Progress {
    place.ask(false);
    let mut first = First::default();
    let reads = parts.iter().map(|part| match place.silent().then(|| place.known(part.as_bytes(), lore)).flatten() {
        Some(answer) => Progress::Complete(answer),
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
