use super::*;

/// What an answer came to, with the body joined: the same for every split of its bytes.
#[derive(Debug, PartialEq, Eq, Clone)]
struct Read {
    status: Option<u16>,
    keep_alive: bool,
    body: Vec<u8>,
    complete: bool,
    wrong: Option<&'static str>,
    left: usize,
}

fn read(parts: &[&[u8]], to_head: bool, template: &mut Template) -> Read {
    let mut parser = Parser::default();
    parser.begin(to_head);
    let mut got = Read { status: None, keep_alive: false, body: vec![], complete: false, wrong: None, left: 0 };
    for part in parts {
        let mut input = *part;
        loop {
            match parser.next(template, &mut input) {
                Ok(Some(Event::Head(head, raw))) => {
                    (got.status, got.keep_alive) = (Some(head.status), head.keep_alive);
                    assert_eq!(Ok(head), head::parse(raw));
                }
                Ok(Some(Event::Body(bytes))) => got.body.extend_from_slice(bytes),
                Ok(Some(Event::End)) => got.complete = true,
                Ok(None) => break,
                Err(Malformed(why)) => {
                    got.wrong = Some(why);
                    return got;
                }
            }
        }
        got.left += input.len();
    }
    got.complete |= parser.may_close();
    got
}

fn whole(bytes: &str) -> Read {
    read(&[bytes.as_bytes()], false, &mut Template::default())
}

/// (the case, the bytes, status and body of the complete answer)
const GOOD: &[(&str, &str, u16, &str)] = &[
    ("a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"),
    ("no body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, ""),
    ("no reason", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", 404, ""),
    ("a length said twice alike", "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nok", 200, "ok"),
    ("an empty line first", "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok"),
    ("bare LF", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", 200, "ok"),
    ("a folded harmless header", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok", 200, "ok"),
    ("a folded length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n \t\r\n 2\r\n\t\r\n\r\nok", 200, "ok"),
    ("a folded coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\n chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200, "ok"),
    (
        "empty elements in a list of codings",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nTransfer-Encoding: , gzip,, chunked ,\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        200,
        "ok",
    ),
    (
        "a folded trailer",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\tc\r\n \r\n\r\n",
        200,
        "ok",
    ),
    ("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", 200, "hello"),
    (
        "a chunk with extension",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n\r\n",
        200,
        "0123456789",
    ),
    (
        "space after a chunk size",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2  \r\nok\r\n0\r\n\r\n",
        200,
        "ok",
    ),
    (
        "trailers",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\nC: d\r\n\r\n",
        200,
        "ok",
    ),
    ("gzip within chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n", 200, "z"),
    ("ended by close", "HTTP/1.1 200 OK\r\nServer: x\r\n\r\nhello", 200, "hello"),
    ("a coding that only close ends", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nzz", 200, "zz"),
    (
        "an interim answer",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        200,
        "ok",
    ),
    ("204 with a length", "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n", 204, ""),
    ("304 with a length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 304, ""),
    ("HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok"),
];

/// (the case, the bytes)
const BAD: &[(&str, &str)] = &[
    ("not HTTP", "SSH-2.0-OpenSSH\r\n"),
    ("HTTP/2", "HTTP/2 200\r\n\r\n"),
    ("two digits of status", "HTTP/1.1 20 OK\r\n\r\n"),
    ("four digits of status", "HTTP/1.1 2000\r\n\r\n"),
    ("status below 100", "HTTP/1.1 099 X\r\n\r\n"),
    ("no colon", "HTTP/1.1 200 OK\r\nServer x\r\n\r\n"),
    ("space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello"),
    ("empty name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"),
    ("bare CR", "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n"),
    ("NUL", "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n"),
    ("folded first line", "HTTP/1.1 200 OK\r\n X: a\r\n\r\n"),
    ("folded length", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n"),
    ("negative length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"),
    ("length with a plus", "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n"),
    ("a folded coding that is none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n chunked\r\n\r\n"),
    ("a folded name", "HTTP/1.1 200 OK\r\nX\r\n : a\r\n\r\n"),
    ("a NUL in a folded line", "HTTP/1.1 200 OK\r\nX: a\r\n b\0c\r\n\r\n"),
    ("an empty place in a length", "HTTP/1.1 200 OK\r\nContent-Length: 5,\r\n\r\nhello"),
    ("a list of codings with none in it", "HTTP/1.1 200 OK\r\nTransfer-Encoding: ,\r\n\r\n"),
    ("a trailer that begins folded", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n a: b\r\n\r\n"),
    ("empty length", "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n"),
    ("length beyond 64 bits", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n"),
    ("lengths that differ", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"),
    ("a list of lengths that differ", "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\n"),
    ("length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("chunked twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n"),
    ("chunked not last", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n"),
    ("chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("switching protocols", "HTTP/1.1 101 Switching\r\n\r\n"),
    ("no chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;x\r\n"),
    ("negative chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"),
    ("chunk size with 0x", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n"),
    ("chunk size beyond 64 bits", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n"),
    ("chunk size ended by LF", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\r\n0\r\n\r\n"),
    ("chunk longer than its size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n"),
    ("a bare CR in an extension", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a\rb\r\nok\r\n"),
    ("a trailer without colon", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA\r\n\r\n"),
];

#[test]
fn every_good_framing_is_read_whole() {
    for (case, bytes, status, body) in GOOD {
        let got = whole(bytes);
        assert_eq!((None, Some(*status)), (got.wrong, got.status), "{case}");
        assert_eq!((*body, true, 0), (std::str::from_utf8(&got.body).unwrap(), got.complete, got.left), "{case}");
    }
}

#[test]
fn every_bad_framing_is_refused() {
    for (case, bytes) in BAD {
        assert!(whole(bytes).wrong.is_some(), "{case}: {:?}", whole(bytes));
    }
}

#[test]
fn any_split_into_three_gives_the_same() {
    // Miri takes a thousand times as long: it sees places for all kinds of bytes, but not all pairs of them.
    let step = if cfg!(miri) { 17 } else { 1 };
    for (case, bytes) in GOOD.iter().map(|g| (g.0, g.1)).chain(BAD.iter().copied()) {
        let expected = whole(bytes);
        let bytes = bytes.as_bytes();
        for i in (0..=bytes.len()).step_by(step) {
            for j in (i..=bytes.len()).step_by(step) {
                let parts = [&bytes[..i], &bytes[i..j], &bytes[j..]];
                assert_eq!(expected, read(&parts, false, &mut Template::default()), "{case} split at {i} and {j}");
            }
        }
    }
}

#[test]
fn byte_by_byte_gives_the_same() {
    for (case, bytes, ..) in GOOD {
        let parts: Vec<&[u8]> = bytes.as_bytes().chunks(1).collect();
        assert_eq!(whole(bytes), read(&parts, false, &mut Template::default()), "{case}");
    }
}

#[test]
fn a_template_changes_nothing() {
    for (_, first, ..) in GOOD {
        for (case, second, ..) in GOOD {
            let mut template = Template::default();
            read(&[first.as_bytes()], false, &mut template);
            assert_eq!(whole(second), read(&[second.as_bytes()], false, &mut template), "{case} after {first:?}");
        }
    }
}

#[test]
fn a_truncated_answer_is_never_complete() {
    for (case, bytes, ..) in GOOD.iter().filter(|g| !g.0.contains("close")) {
        for end in 0..bytes.len() {
            let got = whole(&bytes[..end]);
            assert!(!got.complete && got.wrong.is_none(), "{case} cut at {end}: {got:?}");
        }
    }
}

#[test]
fn an_answer_to_head_has_no_body() {
    for framing in ["Content-Length: 5", "Transfer-Encoding: chunked", "Server: x"] {
        let bytes = format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n");
        let got = read(&[bytes.as_bytes()], true, &mut Template::default());
        assert!(got.complete && got.body.is_empty() && got.wrong.is_none(), "{framing}");
    }
}

#[test]
fn what_follows_an_answer_is_left() {
    assert_eq!(4, whole("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP").left);
}

#[test]
fn connections_are_kept_as_version_and_options_say() {
    let rows = [
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "Connection: x, Close ,y\r\n", false),
        ("1.1", "Connection: keep-alive\r\nConnection: close\r\n", false),
        ("1.1", "Connection: closed\r\n", true),
        ("1.1", "Connection: ,, x,\r\n\tclose,\r\n", false),
        ("1.1", "Connection: clo\r\n se\r\n", true),
        ("1.0", "", false),
        ("1.0", "Connection: Keep-Alive\r\n", true),
        ("1.0", "Connection: keep-alive, close\r\n", false),
    ];
    for (version, header, kept) in rows {
        let got = whole(&format!("HTTP/{version} 200 OK\r\n{header}Content-Length: 0\r\n\r\n"));
        assert_eq!(kept, got.keep_alive, "{version} {header}");
    }
}

#[test]
fn content_type_is_found_without_the_white_space_around_it() {
    let block = b"HTTP/1.1 200 OK\r\nA: b\r\ncontent-TYPE: \t text/html; charset=x \r\n\r\n";
    let range = head::parse(block).unwrap().content_type.unwrap();
    assert_eq!(b"text/html; charset=x", &block[range]);
    let folded = b"HTTP/1.1 200 OK\r\nContent-Type:\r\n text/html;\r\n\tcharset=x\r\n \r\nA: b\r\n\r\n";
    let range = head::parse(folded).unwrap().content_type.unwrap();
    assert_eq!(b"text/html;\r\n\tcharset=x", &folded[range]);
}

#[test]
fn endless_things_have_a_bound() {
    let header = "X: y\r\n".repeat(1 << 14);
    let interim = "HTTP/1.1 102 P\r\n\r\n".repeat(1 << 13);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let rows = [
        format!("HTTP/1.1 200 OK\r\n{header}"),
        format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(1 << 17)),
        interim,
        format!("{chunked}1;{}", "x".repeat(1 << 13)),
        format!("{chunked}0\r\n{header}"),
    ];
    for row in rows {
        for size in if cfg!(miri) { vec![1 << 20] } else { vec![1 << 20, 1000, 1] } {
            let parts: Vec<&[u8]> = row.as_bytes().chunks(size).collect();
            assert!(read(&parts, false, &mut Template::default()).wrong.is_some(), "{:.40} in parts of {size}", row);
        }
    }
}
