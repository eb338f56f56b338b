//! Connections as scripts: the server's bytes, and what must come of them in any split.

use super::*;
use crate::wire::h2::{FRAME_LIMIT, flag, kind};

/// A frame of the server's.
fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write::head(&mut out, content.len(), kind, flags, stream);
    [&out, content].concat()
}

fn set(identifier: u16, value: u32) -> Vec<u8> {
    frame(kind::SETTINGS, 0, 0, &[&identifier.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

fn settings() -> Vec<u8> {
    frame(kind::SETTINGS, 0, 0, &[])
}

/// `:status: 200` with `fields` that do not touch the table.
fn head(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = vec![0x88];
    for (name, value) in fields {
        block.extend([&[0, name.len() as u8], name.as_bytes(), &[value.len() as u8], value.as_bytes()].concat());
    }
    frame(kind::HEADERS, flags | flag::END_HEADERS, stream, &block)
}

fn data(stream: u32, flags: u8, bytes: &[u8]) -> Vec<u8> {
    frame(kind::DATA, flags, stream, bytes)
}

const END: u8 = flag::END_STREAM;

/// The frames of a GET.
fn get() -> Vec<u8> {
    let mut out = Vec::new();
    write::headers(&mut out, &[0x82, 0x86, 0x84], true);
    out
}

/// A connection with `streams` GETs under way, and nothing left to send.
fn asking(streams: usize) -> Session {
    let mut session = Session::new(streams.max(1));
    assert_eq!(Ok(Some(Event::Ready)), session.next(&mut settings().as_slice()));
    (0..streams).for_each(|slot| session.begin(slot, &get(), false, true));
    session.out().clear();
    session
}

/// What happened, in words, body bytes of a stream joined; and how it ended, if it did.
fn play(session: &mut Session, parts: &[&[u8]]) -> (Vec<String>, Option<Breach>) {
    let mut all: Vec<String> = Vec::new();
    for part in parts {
        let mut input = *part;
        loop {
            let said = match session.next(&mut input) {
                Ok(None) => break,
                Err(breach) => return (all, Some(breach)),
                Ok(Some(Event::Head { slot, head, .. })) => format!("{slot} head {}", head.status),
                Ok(Some(Event::Body { slot, bytes })) => {
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    match all.last_mut().filter(|last| last.starts_with(&format!("{slot} body"))) {
                        Some(last) => {
                            last.push_str(&text);
                            continue;
                        }
                        None => format!("{slot} body {text}"),
                    }
                }
                Ok(Some(Event::End { slot })) => format!("{slot} end"),
                Ok(Some(Event::Reset { slot, code })) => format!("{slot} reset {code}"),
                Ok(Some(Event::Broken { slot, why })) => format!("{slot} broken: {why}"),
                Ok(Some(other)) => format!("{other:?}"),
            };
            all.push(said);
        }
        assert!(input.is_empty());
    }
    (all, None)
}

fn said(session: &mut Session, bytes: &[u8]) -> Vec<String> {
    let (all, breach) = play(session, &[bytes]);
    assert_eq!(None, breach);
    all
}

#[test]
fn interleaved_answers_are_told_apart_in_any_split() {
    let bytes = [
        head(3, 0, &[("content-length", "5")]),
        head(1, 0, &[]),
        data(1, 0, b"first "),
        data(3, END, b"other"),
        frame(kind::PING, 0, 0, b"12345678"),
        frame(kind::HEADERS, flag::END_HEADERS, 5, &[0x08, 3, b'1', b'0', b'3']),
        data(1, flag::PADDED, b"\x02part\0\0"),
        frame(kind::HEADERS, END, 5, &[0x88]),
        frame(kind::CONTINUATION, 0, 5, &[0, 1, b'a']),
        frame(kind::CONTINUATION, flag::END_HEADERS, 5, &[1, b'b']),
        frame(0x77, 0xff, 1, b"unknown"),
        frame(kind::PRIORITY, 0, 9, &[0; 5]),
        frame(kind::HEADERS, flag::END_HEADERS | END, 1, &[0, 1, b'a', 1, b'b']),
    ]
    .concat();
    let expected = [
        "1 head 200",
        "0 head 200",
        "0 body first ",
        "1 body other",
        "1 end",
        "0 body part",
        "2 head 200",
        "2 end",
        "0 end",
    ];
    for at in 0..bytes.len() {
        let mut session = asking(3);
        let (all, breach) = play(&mut session, &[&bytes[..at], &bytes[at..]]);
        assert_eq!((expected.map(str::to_string).to_vec(), None), (all, breach), "split at {at}");
        assert_eq!((0, &frame(kind::PING, flag::ACK, 0, b"12345678")), (session.open(), &*session.out()));
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(expected.as_slice(), play(&mut asking(3), &single).0);
}

#[test]
fn the_first_words_are_preface_settings_and_a_large_window() {
    let mut session = Session::new(1);
    let ours = [0, 2, 0, 0, 0, 0, 0, 4, 0x40, 0, 0, 0];
    let window = frame(kind::WINDOW_UPDATE, 0, 0, &(OURS as u32 - 65_535).to_be_bytes());
    let expected = [write::PREFACE, &frame(kind::SETTINGS, 0, 0, &ours), &window].concat();
    assert_eq!(&expected, session.out());
    assert!(session.room() == 0, "not before the server's settings");
    session.out().clear();
    assert_eq!(vec!["Ready"], said(&mut session, &settings()));
    assert_eq!((true, &frame(kind::SETTINGS, flag::ACK, 0, &[])), (session.room() > 0, &*session.out()));
}

#[test]
fn no_more_streams_than_the_server_allows() {
    let mut session = Session::new(5);
    said(&mut session, &set(setting::MAX_CONCURRENT_STREAMS, 2));
    (0..2).for_each(|slot| session.begin(slot, &get(), false, true));
    assert!(session.room() == 0);
    assert_eq!(vec!["Room"], said(&mut session, &set(setting::MAX_CONCURRENT_STREAMS, 3)));
    assert_eq!(1, session.room());
    said(&mut session, &set(setting::MAX_CONCURRENT_STREAMS, 1));
    said(&mut session, &head(1, END, &[]));
    assert!(session.room() == 0);
    said(&mut session, &head(3, END, &[]));
    assert_eq!(1, session.room());
}

#[test]
fn bodies_keep_to_both_windows_and_to_the_longest_frame() {
    let mut session = Session::new(2);
    said(&mut session, &set(setting::INITIAL_WINDOW_SIZE, 20_000));
    let (body, mut frames) = (vec![b'x'; 100_000], Vec::new());
    write::headers(&mut frames, &[0x83], false);
    session.begin(0, &frames, false, false);
    session.out().clear();
    assert_eq!(20_000, session.body(0, &body));
    let expected = [data(1, 0, &body[..FRAME_LIMIT]), data(1, 0, &body[..20_000 - FRAME_LIMIT])].concat();
    assert_eq!(&expected, session.out());
    assert_eq!(0, session.body(0, &body[20_000..]));
    // Below nothing, and up again: 20000 spent of 10000, then of 50000.
    said(&mut session, &set(setting::INITIAL_WINDOW_SIZE, 10_000));
    assert_eq!(0, session.body(0, &body[20_000..]));
    said(&mut session, &set(setting::INITIAL_WINDOW_SIZE, 50_000));
    assert_eq!(30_000, session.body(0, &body[20_000..]));
    // Now the connection's 65535 are the limit.
    said(&mut session, &frame(kind::WINDOW_UPDATE, 0, 1, &100_000_u32.to_be_bytes()));
    assert_eq!(15_535, session.body(0, &body[50_000..]));
    said(&mut session, &frame(kind::WINDOW_UPDATE, 0, 0, &100_000_u32.to_be_bytes()));
    session.out().clear();
    assert_eq!(34_465, session.body(0, &body[65_535..]));
    assert!(session.out().ends_with(&data(1, END, &body[..34_465 - 2 * FRAME_LIMIT])));
    assert_eq!(vec!["0 head 200", "0 end"], said(&mut session, &head(1, END, &[])));
}

#[test]
fn an_answer_before_the_end_of_its_request_is_complete_and_the_rest_is_not_sent() {
    let mut session = Session::new(1);
    said(&mut session, &settings());
    let mut frames = Vec::new();
    write::headers(&mut frames, &[0x83], false);
    session.begin(0, &frames, false, false);
    session.out().clear();
    let early = [head(1, END, &[]), frame(kind::RST_STREAM, 0, 1, &[0; 4])].concat();
    assert_eq!(vec!["0 head 200", "0 end"], said(&mut session, &early));
    assert_eq!(&frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8]), session.out());
}

#[test]
fn what_comes_on_a_stream_that_was_given_up_is_read_over_but_its_headers_count() {
    let mut session = asking(2);
    session.cancel(0);
    assert_eq!((1, &frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 8])), (session.open(), &*session.out()));
    // An entry for the table, which the other answer then uses.
    let late = frame(kind::HEADERS, flag::END_HEADERS, 1, &[0x88, 0x40, 1, b'a', 1, b'b']);
    let bytes = [late, data(1, END, b"late"), frame(kind::HEADERS, flag::END_HEADERS | END, 3, &[0x88, 0xbe])];
    assert_eq!(vec!["1 head 200", "1 end"], said(&mut session, &bytes.concat()));
}

#[test]
fn a_server_that_leaves_says_which_requests_it_did_not_work_on() {
    let mut session = asking(4);
    let away = frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0]);
    let all = said(&mut session, &[away, head(1, END, &[]), head(3, END, &[])].concat());
    let expected = ["Leaving", "2 reset 7", "3 reset 7", "0 head 200", "0 end", "1 head 200", "1 end"];
    assert_eq!(expected.as_slice(), all);
    assert_eq!((true, 0, 0), (session.is_worn(), session.room(), session.open()));
}

#[test]
fn a_stream_that_the_server_resets_says_whether_it_was_worked_on() {
    let mut session = asking(2);
    let bytes = [frame(kind::RST_STREAM, 0, 1, &[0, 0, 0, 7]), frame(kind::RST_STREAM, 0, 3, &[0, 0, 0, 2])].concat();
    assert_eq!(vec!["0 reset 7", "1 reset 2"], said(&mut session, &bytes));
    assert_eq!(0, session.open());
}

#[test]
fn a_smaller_table_of_the_server_is_acknowledged_once() {
    let mut session = Session::new(2);
    said(&mut session, &set(setting::HEADER_TABLE_SIZE, 100));
    session.out().clear();
    (0..2).for_each(|slot| session.begin(slot, &get(), false, true));
    let flags = flag::END_HEADERS | END;
    let first = frame(kind::HEADERS, flags, 1, &[0x20, 0x82, 0x86, 0x84]);
    assert_eq!(&[first, frame(kind::HEADERS, flags, 3, &[0x82, 0x86, 0x84])].concat(), session.out());
}

#[test]
fn an_answer_to_head_has_no_body_whatever_it_promises() {
    let mut session = Session::new(1);
    said(&mut session, &settings());
    session.begin(0, &get(), true, true);
    assert_eq!(vec!["0 head 200", "0 end"], said(&mut session, &head(1, END, &[("content-length", "9")])));
}

#[test]
fn malformed_answers_end_their_stream_alone() {
    let pseudo = head(1, 0, &[(":path", "/")]);
    let rows = [
        (pseudo, "not where it must be"),
        ([head(1, 0, &[("content-length", "5")]), data(1, END, b"four")].concat(), "shorter than"),
        ([head(1, 0, &[("content-length", "3")]), data(1, END, b"four")].concat(), "longer than"),
        (head(1, END, &[("content-length", "3")]), "shorter than"),
        (data(1, END, b"x"), "before its header block"),
        ([head(1, 0, &[]), head(1, 0, &[])].concat(), "with a colon"),
        ([head(1, 0, &[]), frame(kind::HEADERS, flag::END_HEADERS, 1, &[])].concat(), "does not end its stream"),
        (frame(kind::HEADERS, flag::END_HEADERS | END, 1, &[0x08, 3, b'1', b'0', b'3']), "interim"),
        ([frame(kind::HEADERS, flag::END_HEADERS, 1, &[0x89]), data(1, END, b"x")].concat(), "longer than"),
        (frame(kind::WINDOW_UPDATE, 0, 1, &[0; 4]), "by nothing"),
        (frame(kind::WINDOW_UPDATE, 0, 1, &[0x7f, 0xff, 0xff, 0xff]), "beyond 2^31"),
        (frame(kind::PRIORITY, 0, 1, &[0; 4]), "PRIORITY"),
    ];
    for (bytes, why) in rows {
        let mut session = asking(2);
        let all = said(&mut session, &[bytes, head(3, END, &[])].concat());
        let [.., broken, head, end] = all.as_slice() else { panic!("{why}: {all:?}") };
        assert!(broken.starts_with("0 broken: ") && broken.contains(why), "{why}: {broken}");
        assert_eq!(("1 head 200", "1 end"), (head.as_str(), end.as_str()));
        assert_eq!(vec![kind::RST_STREAM], session.out().chunks(13).map(|frame| frame[3]).collect::<Vec<_>>());
    }
}

#[test]
fn hostile_connections_are_ended_and_say_why() {
    let begun = |flags| frame(kind::HEADERS, flags, 1, &[0x88]);
    let endless = |content: &[u8]| [begun(0), frame(kind::CONTINUATION, 0, 1, content).repeat(10_000)].concat();
    let rows: Vec<(Vec<u8>, Code, &str)> = vec![
        (endless(&[b'x'; 100]), Code::Calm, "64 KiB"),
        (endless(&[]), Code::Calm, "64 KiB"),
        ([head(1, 0, &[]), endless(&[0; 60])[..].to_vec()].concat(), Code::Calm, "64 KiB"),
        (frame(kind::HEADERS, flag::END_HEADERS, 1, &[8, 3, b'1', b'0', b'3']).repeat(20_000), Code::Calm, "64 KiB"),
        (frame(kind::PING, 0, 0, &[0; 8]).repeat(OUT_LIMIT / 10), Code::Calm, "takes answers"),
        ([begun(0), data(1, 0, b"")].concat(), Code::Protocol, "within a header block"),
        ([begun(0), frame(kind::CONTINUATION, 0, 3, &[])].concat(), Code::Protocol, "continues nothing"),
        (frame(kind::CONTINUATION, 0, 1, &[]), Code::Protocol, "continues nothing"),
        (frame(kind::HEADERS, 4, 0, &[0x88]), Code::Protocol, "names none"),
        (data(0, 0, b"x"), Code::Protocol, "never opened"),
        (data(2, 0, b"x"), Code::Protocol, "never opened"),
        (data(99, 0, b"x"), Code::Protocol, "never opened"),
        (head(99, 0, &[]), Code::Protocol, "never opened"),
        (frame(kind::RST_STREAM, 0, 99, &[0; 4]), Code::Protocol, "never opened"),
        (frame(kind::RST_STREAM, 0, 1, &[0; 3]), Code::FrameSize, "4 bytes"),
        (frame(kind::SETTINGS, 0, 1, &[]), Code::Protocol, "names a stream"),
        (frame(kind::SETTINGS, 0, 0, &[0; 5]), Code::FrameSize, "impossible length"),
        (frame(kind::SETTINGS, flag::ACK, 0, &[0; 6]), Code::FrameSize, "impossible length"),
        (set(setting::ENABLE_PUSH, 1), Code::Protocol, "ENABLE_PUSH"),
        (set(setting::INITIAL_WINDOW_SIZE, 1 << 31), Code::FlowControl, "INITIAL_WINDOW_SIZE"),
        (set(setting::MAX_FRAME_SIZE, 100), Code::Protocol, "MAX_FRAME_SIZE"),
        (frame(kind::PING, 0, 0, &[0; 7]), Code::FrameSize, "8 bytes"),
        (frame(kind::GOAWAY, 0, 0, &[0; 7]), Code::FrameSize, "8 bytes"),
        (frame(kind::WINDOW_UPDATE, 0, 0, &[0; 4]), Code::Protocol, "by nothing"),
        (frame(kind::WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]), Code::FlowControl, "beyond 2^31"),
        (frame(kind::PUSH_PROMISE, 4, 1, &[0, 0, 0, 2, 0x88]), Code::Protocol, "PUSH_PROMISE"),
        (frame(kind::HEADERS, 0x24, 1, &[0; 4]), Code::FrameSize, "too short"),
        (frame(kind::HEADERS, 4, 1, &[0xff]), Code::Compression, "ends within"),
        ([head(1, END, &[]), head(1, END, &[])].concat(), Code::StreamClosed, "has ended"),
        ([head(1, END, &[]), data(1, END, b"x")].concat(), Code::StreamClosed, "has ended"),
    ];
    for (bytes, code, why) in rows {
        let breach = play(&mut asking(2), &[&bytes]).1.unwrap_or_else(|| panic!("no breach: {why}"));
        assert!(breach.code == code && breach.why.contains(why), "{why}: {breach:?}");
    }
}

#[test]
fn more_bytes_than_the_window_are_a_breach() {
    let mut session = asking(1);
    session.rules.streams.at(0).inbound.0 = 3;
    let (all, breach) = play(&mut session, &[&[head(1, 0, &[]), data(1, 0, b"four")].concat()]);
    assert_eq!((vec!["0 head 200".to_string()], Some(Code::FlowControl)), (all, breach.map(|b| b.code)));
}

#[test]
fn whatever_is_broken_any_split_gives_the_same() {
    let sound = [
        head(1, 0, &[("content-length", "5")]),
        data(1, flag::PADDED, b"\x01hel\0"),
        frame(kind::HEADERS, 0, 3, &[0x88, 0x40, 1, b'a']),
        frame(kind::CONTINUATION, flag::END_HEADERS, 3, &[1, b'b']),
        data(1, END, b"lo"),
        set(setting::INITIAL_WINDOW_SIZE, 70_000),
        frame(kind::WINDOW_UPDATE, 0, 3, &[0, 0, 0, 9]),
        frame(kind::HEADERS, flag::END_HEADERS | END, 3, &[0, 1, b'x', 1, b'y']),
        frame(kind::RST_STREAM, 0, 5, &[0, 0, 0, 7]),
        frame(kind::GOAWAY, 0, 0, &[0, 0, 0, 5, 0, 0, 0, 0]),
        frame(kind::HEADERS, flag::END_HEADERS | END, 7, &[0x88, 0xbe]),
    ]
    .concat();
    assert_eq!(None, play(&mut asking(4), &[&sound]).1);
    let mut draw = 7_u64;
    let mut below = |limit: usize| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) as usize % limit
    };
    let (mut broken, rounds) = (0, if cfg!(miri) { 200 } else { 20_000 });
    for _ in 0..rounds {
        let mut bytes = sound.clone();
        for _ in 0..=below(3) {
            let at = below(bytes.len());
            bytes[at] = [below(256), 0, 0xff, usize::from(bytes[at]) ^ 1 << below(8)][below(4)] as u8;
        }
        let whole = play(&mut asking(4), &[&bytes]);
        let (first, second) = (below(bytes.len()), below(bytes.len()));
        let cut =
            [&bytes[..first.min(second)], &bytes[first.min(second)..first.max(second)], &bytes[first.max(second)..]];
        assert_eq!(whole, play(&mut asking(4), &cut), "{bytes:?}");
        broken += usize::from(whole.1.is_some());
    }
    assert!((rounds / 10..rounds / 10 * 9).contains(&broken), "{broken}");
}
