//! A second reader of answers, to compare the first with: it has all bytes at once, keeps no state, and is in no hurry.
//!
//! Written from RFC 9112 and the closing rules of the protocol. What it shares with the parser is their types alone.

use super::answers::{Answer, Read, Rest};
use webdyno_engine::wire::h1::{Framing, Head};

const HEADERS_LIMIT: usize = 64 * 1024;
const CHUNK_LINE_LIMIT: usize = 4 * 1024;

/// Why reading stops.
enum Stop {
    More,
    Bad,
}

/// What `bytes` come to.
pub fn read(bytes: &[u8], to_head: bool) -> Read {
    let (mut answers, mut at) = (Vec::new(), bytes);
    loop {
        match answer(&mut at, to_head, &mut answers) {
            Ok(true) => {}
            Ok(false) => return Read { answers, rest: Rest::MayClose },
            Err(Stop::More) => return Read { answers, rest: Rest::More },
            Err(Stop::Bad) => return Read { answers, rest: Rest::Malformed },
        }
    }
}

/// Reads one answer; `false`: it lasts until the server closes.
fn answer(at: &mut &[u8], to_head: bool, answers: &mut Vec<Answer>) -> Result<bool, Stop> {
    let mut spent = 0;
    let (head, raw) = loop {
        let empty = at.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        *at = &at[empty..];
        let (head, raw) = block(at, HEADERS_LIMIT - spent)?;
        (*at, spent) = (&at[raw.len()..], spent + raw.len());
        match head.status {
            101 => return Err(Stop::Bad),
            200.. => break (head, raw),
            _ => {}
        }
    };
    answers.push(Answer { head: head.clone(), raw: raw.to_vec(), body: Vec::new(), complete: false });
    let answer = answers.last_mut().expect("the one just added");
    match head.framing {
        _ if to_head || [204, 304].contains(&head.status) => {}
        Framing::Close => {
            answer.body = std::mem::take(at).to_vec();
            return Ok(false);
        }
        Framing::Length(length) => {
            let there = at.len().min(usize::try_from(length).unwrap_or(usize::MAX));
            (answer.body, *at) = (at[..there].to_vec(), &at[there..]);
            if (there as u64) < length {
                return Err(Stop::More);
            }
        }
        Framing::Chunked => chunks(at, &mut answer.body, HEADERS_LIMIT - spent)?,
    }
    answer.complete = true;
    Ok(true)
}

/// The header block at the start of `bytes`, and what it says.
fn block(bytes: &[u8], room: usize) -> Result<(Head, &[u8]), Stop> {
    let start = b"HTTP/1.";
    if bytes.iter().zip(start).any(|(a, b)| a != b) {
        return Err(Stop::Bad);
    }
    let (mut length, mut lines) = (0, Vec::new());
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let Some(text) = line.strip_suffix(b"\n") else { break };
        length += line.len();
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.is_empty() {
            let head = if length > room { None } else { head(bytes, &lines) };
            return head.map(|head| (head, &bytes[..length])).ok_or(Stop::Bad);
        }
        lines.push((length - line.len(), text));
    }
    Err(if bytes.len() > room { Stop::Bad } else { Stop::More })
}

/// RFC 9112, 5.2: a line that begins with a blank goes on with the one before it, and is one with it by a space. With where each begins
/// and ends. `None`: there is none before it.
fn unfolded(lines: &[(usize, &[u8])]) -> Option<Vec<(usize, usize, Vec<u8>)>> {
    let mut whole: Vec<(usize, usize, Vec<u8>)> = Vec::new();
    for (at, line) in lines {
        let end = at + line.len();
        if !is_blank(&line[0]) {
            whole.push((*at, end, line.to_vec()));
            continue;
        }
        let before = whole.last_mut()?;
        (before.1, before.2) = (end, [&before.2, &b" "[..], line].concat());
    }
    Some(whole)
}

/// Lines come with where they begin in `bytes`.
fn head(bytes: &[u8], lines: &[(usize, &[u8])]) -> Option<Head> {
    if lines.iter().any(|(_, line)| line.contains(&b'\r') || line.contains(&0)) {
        return None;
    }
    let (minor, status) = status(lines[0].1)?;
    let (mut connection, mut lengths, mut codings) = (Vec::new(), Vec::new(), Vec::new());
    let (mut content_type, mut coded) = (None, false);
    let whole = unfolded(&lines[1..])?;
    for (at, end, line) in &whole {
        let (name, value) = field(line)?;
        match name.as_str() {
            "connection" => connection.extend(list(value)),
            "content-length" => lengths.extend(list(value)),
            "transfer-encoding" => {
                coded = true;
                codings.extend(list(value).filter(|coding| !coding.is_empty()));
            }
            "content-type" => {
                let shown = |b: &u8| !is_blank(b) && !matches!(b, b'\r' | b'\n');
                let from = (at + name.len() + 1..*end).find(|i| shown(&bytes[*i])).unwrap_or(*end);
                let to = (from..*end).rfind(|i| shown(&bytes[*i])).map_or(from, |last| last + 1);
                content_type = Some(from..to);
            }
            _ => {}
        }
    }
    if coded && codings.is_empty() {
        return None;
    }
    let framing = framing(minor, &lengths, &codings)?;
    let says = |option: &str| connection.iter().any(|o| o.eq_ignore_ascii_case(option.as_bytes()));
    let keep_alive = !says("close") && (minor != b'0' || says("keep-alive"));
    Some(Head { status, http10: minor == b'0', framing, keep_alive, content_type })
}

fn status(line: &[u8]) -> Option<(u8, u16)> {
    let digits = std::str::from_utf8(line.get(9..12)?).ok()?;
    let right = line[7].is_ascii_digit() && line[8] == b' ' && digits.bytes().all(|b| b.is_ascii_digit());
    let status = digits.parse().ok().filter(|n| right && (100..=999).contains(n))?;
    (line.len() == 12 || line[12] == b' ').then_some((line[7], status))
}

fn field(line: &[u8]) -> Option<(String, &[u8])> {
    let colon = line.iter().position(|b| *b == b':')?;
    let name = std::str::from_utf8(&line[..colon]).ok()?;
    is_token(name.as_bytes()).then(|| (name.to_ascii_lowercase(), &line[colon + 1..]))
}

/// RFC 9112, 6.3, by the headers alone.
fn framing(minor: u8, lengths: &[&[u8]], codings: &[&[u8]]) -> Option<Framing> {
    if let [rest @ .., last] = codings {
        let name = |coding: &[u8]| coding.split(|b| *b == b';').next().map(|n| trim(n).to_ascii_lowercase());
        let tokens = codings.iter().all(|c| name(c).is_some_and(|n| is_token(&n)));
        let earlier = rest.iter().any(|c| name(c).as_deref() == Some(b"chunked"));
        if !tokens || earlier || !lengths.is_empty() || minor == b'0' {
            return None;
        }
        let chunked = name(last).as_deref() == Some(b"chunked");
        // RFC 9112, 7.1: chunked has no parameters; where it has one it should be treated as an error.
        return if chunked && last.len() > 7 {
            None
        } else {
            Some(if chunked { Framing::Chunked } else { Framing::Close })
        };
    }
    let Some(first) = lengths.first() else { return Some(Framing::Close) };
    let numbers: Option<Vec<u64>> = lengths.iter().map(|n| number(n, 10)).collect();
    let length = number(first, 10)?;
    numbers?.iter().all(|n| *n == length).then_some(Framing::Length(length))
}

/// RFC 9112, 7.1.
fn chunks(at: &mut &[u8], body: &mut Vec<u8>, mut room: usize) -> Result<(), Stop> {
    loop {
        let line = line(at, CHUNK_LINE_LIMIT)?;
        let digits = line.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        let size = number(&line[..digits], 16).ok_or(Stop::Bad)?;
        let after = trim(&line[digits..]);
        if !(after.is_empty() || after[0] == b';') || line.contains(&b'\r') {
            return Err(Stop::Bad);
        }
        if size == 0 {
            break;
        }
        let there = at.len().min(usize::try_from(size).unwrap_or(usize::MAX));
        body.extend_from_slice(&at[..there]);
        *at = &at[there..];
        if (there as u64) < size {
            return Err(Stop::More);
        }
        if !self::line(at, 2)?.is_empty() {
            return Err(Stop::Bad);
        }
    }
    let mut any = false;
    loop {
        let trailer = line(at, room)?;
        if trailer.is_empty() {
            return Ok(());
        }
        room -= trailer.len() + 2;
        let folded = std::mem::replace(&mut any, true) && is_blank(&trailer[0]);
        if !folded && field(trailer).is_none() || trailer.contains(&b'\r') || trailer.contains(&0) {
            return Err(Stop::Bad);
        }
    }
}

/// Takes a line that ends with CRLF, which is within the limit.
fn line<'b>(at: &mut &'b [u8], limit: usize) -> Result<&'b [u8], Stop> {
    let end = at.iter().position(|b| *b == b'\n').map(|n| n + 1);
    if end.unwrap_or(at.len()) > limit {
        return Err(Stop::Bad);
    }
    let (line, rest) = at.split_at(end.ok_or(Stop::More)?);
    *at = rest;
    line.strip_suffix(b"\r\n").ok_or(Stop::Bad)
}

fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|b| *b == b',').map(trim)
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let text = std::str::from_utf8(digits).ok().filter(|t| t.chars().all(|c| c.is_digit(radix)))?;
    u64::from_str_radix(text, radix).ok()
}

/// RFC 9110, 5.6.3: only spaces and tabs are white space.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

fn is_blank(b: &u8) -> bool {
    matches!(b, b' ' | b'\t')
}

/// RFC 9110, 5.6.2.
fn is_token(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|b| b.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(*b as char))
}
