//! One check of a connection of HTTP/2 on one string of bytes of a server's: what it says of which stream, whole and split.

use super::draw::Draw;
use webdyno_engine::wire::h2::frame::{Piece, Reader};
use webdyno_engine::wire::h2::session::{Event, Session};
use webdyno_engine::wire::h2::{FRAME_LIMIT, kind, write};

const SLOTS: usize = 3;
/// Streams of one connection, after which none is begun any more.
const STREAMS: usize = 12;
const BODY: &[u8] = &[b'x'; 40];

/// What a stream has said so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Free,
    Asked,
    Answered,
}

/// A connection, its streams, and all that was said of them.
struct Play {
    session: Session,
    stages: [Stage; SLOTS],
    begun: usize,
    unsent: usize,
    said: Vec<u8>,
}

/// The same is said and sent in any split; nothing is said of a stream that is not open; frames are cut alike.
pub fn check(bytes: &[u8]) {
    let cut = Draw::of(bytes).below(bytes.len() + 1);
    let (first, second) = bytes.split_at(cut);
    assert_eq!(play(&[bytes]), play(&[first, second]), "split at {cut}");
    assert_eq!(pieces(&[bytes]), pieces(&[first, second]), "frames split at {cut}");
}

fn play(parts: &[&[u8]]) -> (Vec<u8>, Vec<u8>, Option<&'static str>) {
    let session = Session::new(SLOTS);
    let mut play = Play { session, stages: [Stage::Free; SLOTS], begun: 0, unsent: BODY.len(), said: Vec::new() };
    for part in parts {
        if let Err(why) = play.take(part) {
            assert!(!why.is_empty());
            return (play.said, std::mem::take(play.session.out()), Some(why));
        }
    }
    (play.said, std::mem::take(play.session.out()), None)
}

impl Play {
    fn take(&mut self, mut input: &[u8]) -> Result<(), &'static str> {
        loop {
            let before = input.len();
            let (tag, slot) = match self.session.next(&mut input).map_err(|breach| breach.why)? {
                None => break,
                Some(Event::Head { slot, head, text }) => {
                    assert!((200..=999).contains(&head.status) && text.ends_with(b"\r\n\r\n"));
                    assert!(head.content_type.as_ref().is_none_or(|range| range.end <= text.len()));
                    assert_eq!(Stage::Asked, self.stages[slot]);
                    self.stages[slot] = Stage::Answered;
                    self.said.extend_from_slice(text);
                    (b'h', slot)
                }
                Some(Event::Body { slot, bytes }) => {
                    assert!(!bytes.is_empty() && before - input.len() >= bytes.len(), "no part is empty or made up");
                    assert_eq!(Stage::Answered, self.stages[slot]);
                    bytes.iter().for_each(|byte| self.said.extend_from_slice(&[b'b', slot as u8, *byte]));
                    continue;
                }
                Some(Event::End { slot }) => {
                    assert_eq!(Stage::Answered, self.stages[slot]);
                    (b'e', slot)
                }
                Some(Event::Reset { slot, code }) => (b'r' ^ code as u8, slot),
                Some(Event::Broken { slot, why }) => {
                    self.said.extend_from_slice(why.as_bytes());
                    (b'x', slot)
                }
                Some(Event::Ready) => (b'R', SLOTS),
                Some(Event::Room) => (b'o', SLOTS),
                Some(Event::Leaving) => (b'l', SLOTS),
            };
            self.said.extend_from_slice(&[tag, slot as u8]);
            if slot < SLOTS && tag != b'h' {
                assert_ne!(Stage::Free, self.stages[slot], "what is not open says nothing");
                self.stages[slot] = Stage::Free;
            }
            self.ask();
        }
        assert!(input.is_empty(), "bytes were left although more were asked for");
        Ok(())
    }

    /// Begins what may begin; the stream of the first slot has a body to send.
    fn ask(&mut self) {
        for slot in 0..SLOTS {
            // A stream whose end is yet to be told has ended in the session.
            if self.stages[slot] == Stage::Free && self.begun < STREAMS && self.session.room() > 0 {
                let (mut frames, whole) = (Vec::new(), slot > 0);
                write::headers(&mut frames, &[0x82, 0x86, 0x84], whole);
                self.session.begin(slot, &frames, slot == 2, whole);
                (self.stages[slot], self.begun) = (Stage::Asked, self.begun + 1);
                self.unsent = if whole { self.unsent } else { BODY.len() };
            }
        }
        if self.stages[0] == Stage::Asked && self.unsent > 0 {
            self.unsent -= self.session.body(0, &BODY[..self.unsent]);
        }
    }
}

/// What the reader of frames alone says: frames with their content, the bodies of DATA byte by byte.
fn pieces(parts: &[&[u8]]) -> (Vec<u8>, bool) {
    let (mut reader, mut said) = (Reader::default(), Vec::new());
    for part in parts {
        let mut input = *part;
        reader.brings(kind::GOAWAY, input);
        loop {
            match reader.next(&mut input) {
                Ok(None) => break,
                Ok(Some(Piece::Whole(head, content))) => {
                    assert!(content.len() <= FRAME_LIMIT && content.len() <= head.length as usize);
                    said.extend_from_slice(&[head.kind, head.flags]);
                    said.extend_from_slice(content);
                }
                Ok(Some(Piece::Data { head, bytes, whole, first, last })) => {
                    assert!(bytes.len() <= whole && whole <= head.length as usize);
                    said.extend_from_slice(if first { b"d" } else { b"" });
                    said.extend_from_slice(bytes);
                    said.extend_from_slice(if last { b"e" } else { b"" });
                }
                Err(_) => return (said, false),
            }
        }
        assert!(input.is_empty());
    }
    (said, true)
}
