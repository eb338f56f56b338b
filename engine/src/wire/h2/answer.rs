//! What the header block of an answer means (RFC 9113, 8.2 and 8.3).
//!
//! A server mostly sends the same blocks again and again. While the HPACK table stays as it is, equal bytes mean the same, so the last
//! few blocks that left the table alone are kept with their meaning, and one comparison replaces the decoding.

use super::hpack::Decoder;
use super::{Breach, Code};
use crate::wire::head::{Framing, Head};
use crate::wire::is_token;

/// Blocks that are remembered: an order often has a few kinds of request.
const KEPT: usize = 4;
/// Bytes of the fields of one block, written out.
const TEXT_LIMIT: usize = 64 * 1024;

/// The meaning of a header block.
#[derive(Debug)]
pub struct Meaning {
    /// As HTTP/1 would put it; the framing is the length that Content-Length promises, where it does.
    pub head: Head,
    /// Status and fields as lines of text, as HTTP/1 would write them.
    pub text: Vec<u8>,
    /// Why the message is malformed, where it is: an error of its stream alone.
    pub fault: Option<&'static str>,
}

#[derive(Debug)]
struct Kept {
    block: Vec<u8>,
    /// Of the table; `None`: the block changed it, and would do so again.
    generation: Option<u64>,
    meaning: Meaning,
}

/// Reads the header blocks of one connection.
#[derive(Debug, Default)]
pub struct Answers {
    decoder: Decoder,
    kept: Vec<Kept>,
    /// The last that was asked for.
    last: usize,
}

impl Answers {
    /// What `block` means. An error is one of the connection.
    #[inline]
    pub fn read(&mut self, block: &[u8]) -> Result<&Meaning, Breach> {
        let generation = Some(self.decoder.generation());
        let same = |kept: &Kept| kept.generation == generation && kept.block == block;
        if !self.kept.get(self.last).is_some_and(same) {
            match self.kept.iter().position(same) {
                Some(found) => self.last = found,
                None => self.learn(block)?,
            }
        }
        Ok(&self.kept[self.last].meaning)
    }

    /// The meaning of the block read last. There must be one.
    #[inline]
    pub fn last(&self) -> &Meaning {
        &self.kept[self.last].meaning
    }

    fn learn(&mut self, block: &[u8]) -> Result<(), Breach> {
        let before = self.decoder.generation();
        self.last = self.place(before);
        let kept = &mut self.kept[self.last];
        let mut fields = Fields { text: std::mem::take(&mut kept.meaning.text), ..Fields::default() };
        fields.text.clear();
        self.decoder.decode(block, |name, value| fields.add(name, value))?;
        kept.generation = (self.decoder.generation() == before).then_some(before);
        kept.block.clear();
        kept.block.extend_from_slice(block);
        kept.meaning = fields.meaning();
        Ok(())
    }

    /// Where the next block is kept: in place of one that can never be met again, else of the one after the last.
    fn place(&mut self, generation: u64) -> usize {
        let useless = self.kept.iter().position(|kept| kept.generation != Some(generation));
        if useless.is_none() && self.kept.len() < KEPT {
            self.kept.push(Kept { block: Vec::new(), generation: None, meaning: Fields::default().meaning() });
            return self.kept.len() - 1;
        }
        useless.unwrap_or((self.last + 1) % KEPT)
    }

    /// Reads the fields after a body, or those of a stream that nobody waits for: they must be decoded all the same, because they may
    /// change the table. Says what is wrong with the trailers, if anything is.
    pub fn pass(&mut self, block: &[u8]) -> Result<Option<&'static str>, Breach> {
        let mut fields = Fields { trailers: true, ..Fields::default() };
        self.decoder.decode(block, |name, value| fields.add(name, value))?;
        Ok(fields.fault)
    }
}

#[derive(Default)]
struct Fields {
    trailers: bool,
    text: Vec<u8>,
    status: Option<u16>,
    length: Option<u64>,
    content_type: Option<std::ops::Range<usize>>,
    fault: Option<&'static str>,
}

impl Fields {
    fn add(&mut self, name: &[u8], value: &[u8]) -> Result<(), Breach> {
        if self.text.len() + name.len() + value.len() > TEXT_LIMIT {
            return Err(Breach::new(Code::Calm, "more than 64 KiB of headers in one answer"));
        }
        if let Err(why) = self.judge(name, value) {
            self.fault.get_or_insert(why);
        }
        Ok(())
    }

    fn judge(&mut self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        if name.first() == Some(&b':') {
            return self.pseudo(name, value);
        }
        // RFC 9113, 8.2.1.
        if name.is_empty() || !name.iter().all(|b| is_token(*b) && !b.is_ascii_uppercase()) {
            return Err("a header name that is not a token in lower case");
        }
        if value.iter().any(|b| matches!(b, b'\0' | b'\r' | b'\n')) || value.trim_ascii().len() != value.len() {
            return Err("a header value with a line end or NUL, or with white space around it");
        }
        // RFC 9113, 8.3: fields that begin with a colon come before all others.
        if !self.trailers && self.status.is_none() {
            return Err("a header block that does not begin with :status");
        }
        self.text.extend_from_slice(name);
        self.text.extend_from_slice(b": ");
        let at = self.text.len();
        self.text.extend_from_slice(value);
        self.text.extend_from_slice(b"\r\n");
        match name {
            // RFC 9113, 8.2.2.
            b"connection" | b"proxy-connection" | b"keep-alive" | b"transfer-encoding" | b"upgrade" => {
                return Err("a header about the connection, which HTTP/2 does not have");
            }
            b"content-type" => self.content_type = Some(at..at + value.len()),
            b"content-length" => self.length = Some(number(value, self.length)?),
            _ => {}
        }
        Ok(())
    }

    /// RFC 9113, 8.3.2: an answer has `:status` and nothing else of the kind; 8.1: trailers have none.
    fn pseudo(&mut self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        if name != b":status" || self.status.is_some() || self.trailers || !self.text.is_empty() {
            return Err("a header with a colon that is not :status, or not where it must be");
        }
        let [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] = value else {
            return Err("a :status that is not a number of three digits");
        };
        let digit = |d: &u8| u16::from(d - b'0');
        self.status = Some(digit(a) * 100 + digit(b) * 10 + digit(c));
        self.text.extend_from_slice(b"HTTP/2 ");
        self.text.extend_from_slice(value);
        self.text.extend_from_slice(b"\r\n");
        Ok(())
    }

    fn meaning(mut self) -> Meaning {
        self.text.extend_from_slice(b"\r\n");
        let status = self.status.unwrap_or(0);
        let missing = self.status.is_none().then_some("a header block without :status");
        // RFC 9113, 8.6.
        let switched = (status == 101).then_some("101 Switching Protocols, which HTTP/2 does not have");
        let framing = self.length.map_or(Framing::Close, Framing::Length);
        let head = Head { status, http10: false, framing, keep_alive: true, content_type: self.content_type };
        Meaning { head, text: self.text, fault: self.fault.or(missing).or(switched) }
    }
}

/// RFC 9110, 8.6: digits only; said twice, it must be the same.
fn number(value: &[u8], before: Option<u64>) -> Result<u64, &'static str> {
    let add = |n: u64, d: &u8| n.checked_mul(10)?.checked_add(u64::from(d - b'0'));
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let length = value.iter().filter(|_| digits).try_fold(0, add).filter(|_| digits);
    let length = length.ok_or("a Content-Length that is not a number of 64 bits")?;
    if before.is_some_and(|before| before != length) {
        return Err("two Content-Lengths that differ");
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of literals that stay out of the table.
    fn block(fields: &[(&str, &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        for (name, value) in fields {
            out.extend_from_slice(&[0, name.len() as u8]);
            out.extend_from_slice(name.as_bytes());
            out.push(value.len() as u8);
            out.extend_from_slice(value.as_bytes());
        }
        out
    }

    #[test]
    fn a_block_says_status_length_and_type() {
        let mut answers = Answers::default();
        let fields = [(":status", "404"), ("content-type", "text/plain; a=b"), ("content-length", "12")];
        for _ in 0..3 {
            let meaning = answers.read(&block(&fields)).unwrap();
            assert_eq!((404, Framing::Length(12), None), (meaning.head.status, meaning.head.framing, meaning.fault));
            assert_eq!(b"text/plain; a=b", &meaning.text[meaning.head.content_type.clone().unwrap()]);
            let text = "HTTP/2 404\r\ncontent-type: text/plain; a=b\r\ncontent-length: 12\r\n\r\n";
            assert_eq!(text.as_bytes(), meaning.text);
        }
        assert_eq!(1, answers.kept.len());
    }

    #[test]
    fn equal_bytes_are_known_again_only_while_the_table_is_the_same() {
        let mut answers = Answers::default();
        let date = |day: u8| [&[0x88, 0x61, 1][..], &[day]].concat();
        // Each inserts its date; an indexed field then means the newest.
        let mut text = |block: &[u8]| String::from_utf8(answers.read(block).unwrap().text.clone()).unwrap();
        assert_eq!("HTTP/2 200\r\ndate: 1\r\n\r\n", text(&date(b'1')));
        assert_eq!("HTTP/2 200\r\ndate: 1\r\n\r\n", text(&[0x88, 0xbe]));
        assert_eq!("HTTP/2 200\r\ndate: 1\r\n\r\n", text(&[0x88, 0xbe]));
        assert_eq!("HTTP/2 200\r\ndate: 2\r\n\r\n", text(&date(b'2')));
        assert_eq!("HTTP/2 200\r\ndate: 2\r\n\r\n", text(&[0x88, 0xbe]));
        assert_eq!("HTTP/2 200\r\ndate: 2\r\n\r\n", text(&date(b'2')));
        // That was inserted once more, so the one before is two back.
        assert_eq!("HTTP/2 200\r\ndate: 1\r\n\r\n", text(&[0x88, 0xc0]));
    }

    #[test]
    fn messages_that_are_malformed_are_told_and_leave_the_connection_alone() {
        let rows: [(&[(&str, &str)], &str); 14] = [
            (&[("a", "b")], "begin with :status"),
            (&[], "without :status"),
            (&[(":status", "200"), (":status", "200")], "not where it must be"),
            (&[(":status", "200"), ("a", "b"), (":status", "200")], "not where it must be"),
            (&[(":path", "200")], "not where it must be"),
            (&[(":status", "20")], "three digits"),
            (&[(":status", "101")], "101 Switching"),
            (&[(":status", "200"), ("A", "b")], "lower case"),
            (&[(":status", "200"), ("a b", "c")], "lower case"),
            (&[(":status", "200"), ("a", "b\r\nc: d")], "line end"),
            (&[(":status", "200"), ("a", " b")], "white space"),
            (&[(":status", "200"), ("transfer-encoding", "chunked")], "about the connection"),
            (&[(":status", "200"), ("content-length", "1x")], "not a number"),
            (&[(":status", "200"), ("content-length", "1"), ("content-length", "2")], "differ"),
        ];
        for (fields, why) in rows {
            let mut answers = Answers::default();
            let fault = answers.read(&block(fields)).unwrap().fault.unwrap_or_default();
            assert!(fault.contains(why), "{fields:?}: {fault}");
        }
        let mut answers = Answers::default();
        assert_eq!(Ok(None), answers.pass(&block(&[("a", "b")])));
        assert!(answers.pass(&block(&[(":status", "200")])).unwrap().is_some());
    }

    #[test]
    fn a_small_block_cannot_unfold_into_much() {
        let mut answers = Answers::default();
        let entry = [&[0x88, 0x40, 1, b'a', 0x7f, 0xa1, 0x1e][..], &[b'x'; 4000]].concat();
        answers.read(&entry).unwrap();
        let bomb = [vec![0x88], vec![0xbe; 20]].concat();
        assert!(answers.read(&bomb).unwrap_err().why.contains("64 KiB"));
    }
}
