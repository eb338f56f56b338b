//! One check of the answer reader on one string of bytes: every way of handing them over gives what the model says.

use super::draw::Draw;
use super::model;
use webdyno_engine::wire::Malformed;
use webdyno_engine::wire::h1::{Event, Framing, Head, Parser, Template};

/// The most bytes a parser may hold between reads: 64 KiB of headers in a vector that grows by doubling.
const MOST_KEPT: usize = 128 * 1024;
/// A header block that many servers send; a template that holds it must mislead nobody.
const USUAL: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";

/// One answer, as far as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What its header block says.
    pub head: Head,
    /// The header block itself.
    pub raw: Vec<u8>,
    /// The decoded body, as far as it came.
    pub body: Vec<u8>,
    /// Its end was seen.
    pub complete: bool,
}

/// What follows the last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// More bytes are needed.
    More,
    /// More may come, or the server may close.
    MayClose,
    /// These bytes are refused.
    Malformed,
}

/// All that a string of bytes came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// One after another.
    pub answers: Vec<Answer>,
    /// What follows them.
    pub rest: Rest,
}

/// Checks all that must hold; whether the request was HEAD, and where the bytes are split, is drawn from them.
pub fn check(bytes: &[u8]) {
    let mut draw = Draw::of(bytes);
    let to_head = draw.below(4) == 0;
    let mut template = Template::default();
    let whole = read(&[bytes], to_head, &mut template);
    assert_eq!(model::read(bytes, to_head), whole, "the model on the left, the parser on the right");
    let parts = split(bytes, &mut draw);
    assert_eq!(whole, read(&parts, to_head, &mut Template::default()), "in {} parts", parts.len());
    assert_eq!(whole, read(&[bytes], to_head, &mut template), "with the template of its own");
    assert_eq!(whole, read(&parts, to_head, &mut template), "with its template, in {} parts", parts.len());
    let mut usual = Template::default();
    read(&[USUAL], false, &mut usual);
    assert_eq!(whole, read(&[bytes], to_head, &mut usual), "with a template of another answer");
}

/// Cuts into single bytes, or in a few places.
fn split<'b>(bytes: &'b [u8], draw: &mut Draw) -> Vec<&'b [u8]> {
    if draw.below(4) == 0 && bytes.len() < 4096 {
        return bytes.chunks(1).collect();
    }
    let mut cuts: Vec<usize> = (0..1 + draw.below(6)).map(|_| draw.below(bytes.len() + 1)).collect();
    cuts.sort_unstable();
    let (mut parts, mut at) = (Vec::new(), 0);
    for cut in cuts {
        parts.push(&bytes[at..cut]);
        at = cut;
    }
    parts.push(&bytes[at..]);
    parts
}

/// Hands `parts` to one parser and joins what it says.
pub fn read(parts: &[&[u8]], to_head: bool, template: &mut Template) -> Read {
    let (mut parser, mut answers) = (Parser::default(), Vec::<Answer>::new());
    parser.begin(to_head);
    for part in parts {
        let mut input = *part;
        loop {
            let before = input.len();
            match parser.next(template, &mut input) {
                Ok(Some(Event::Head(head, raw))) => {
                    answers.push(Answer { head, raw: raw.to_vec(), body: Vec::new(), complete: false });
                }
                Ok(Some(Event::Body(bytes))) => {
                    let answer = answers.last_mut().expect("a head before a body");
                    assert!(!bytes.is_empty() && before - input.len() >= bytes.len(), "no part is empty or made up");
                    answer.body.extend_from_slice(bytes);
                    if let Framing::Length(length) = answer.head.framing {
                        assert!(answer.body.len() as u64 <= length, "read past the announced length");
                    }
                }
                Ok(Some(Event::End)) => {
                    answers.last_mut().expect("a head before an end").complete = true;
                    let left = input.len();
                    assert_eq!(Ok(None), parser.next(template, &mut input), "nothing after the end");
                    assert_eq!((left, true), (input.len(), parser.may_close()), "what follows is left alone");
                    parser.begin(to_head);
                }
                Ok(None) => break,
                Err(Malformed(why)) => {
                    assert!(!why.is_empty());
                    return Read { answers, rest: Rest::Malformed };
                }
            }
            assert!(parser.kept() <= MOST_KEPT, "{} bytes kept", parser.kept());
        }
        assert!(input.is_empty(), "bytes were left although more were asked for");
        assert!(parser.kept() <= MOST_KEPT, "{} bytes kept", parser.kept());
    }
    Read { answers, rest: if parser.may_close() { Rest::MayClose } else { Rest::More } }
}
