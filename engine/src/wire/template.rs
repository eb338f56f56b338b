//! Requests that differ each time: text with placeholders, cut into parts once and put together anew for each request.
//!
//! What a placeholder becomes depends on nothing but the seed, the thread and the number of the request: the same request is the same
//! bytes whenever it is put together, so that the rest of a short send and a second sending need no copy of the first. Nothing is
//! allocated once the buffer has grown to the longest request.

use super::encode;
use crate::order::{Order, Request};
use crate::schedule::SplitMix;

/// Keeps the draws of templates apart from those of arrivals, which may have the same seed.
const STREAM: u64 = 1 << 63;
/// What may stand between braces, as people write it.
const KNOWN: [&str; 3] = ["{{counter}}", "{{random}}", "{{random:LOW-HIGH}}"];

/// A stretch of a text that was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it stands.
    Text(Vec<u8>),
    /// The number of the request in the run.
    Counter,
    /// The draw of this index within the request, as 16 hexadecimal digits.
    Hex(u64),
    /// A draw, as an integer.
    Range {
        /// Its index within the request.
        draw: u64,
        /// The least it may be.
        low: u64,
        /// The most it may be.
        high: u64,
    },
}

/// Cuts `text` at its placeholders; draws are numbered from `draws` on, which is left after the last. What is wrong is said as the end of
/// a sentence that begins with the text's name.
pub fn cut(text: &[u8], draws: &mut u64) -> Result<Vec<Part>, String> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(begin) = memchr::memmem::find(rest, b"{{") {
        let Some(length) = memchr::memmem::find(&rest[begin..], b"}}") else {
            return Err(format!("has {{{{ without }}}} after it; the placeholders are {}", KNOWN.join(", ")));
        };
        push(&mut parts, &rest[..begin]);
        parts.push(placeholder(&rest[begin + 2..begin + length], draws)?);
        rest = &rest[begin + length + 2..];
    }
    push(&mut parts, rest);
    Ok(parts)
}

fn push(parts: &mut Vec<Part>, text: &[u8]) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(before)) => before.extend_from_slice(text),
        _ => parts.push(Part::Text(text.to_vec())),
    }
}

fn placeholder(inside: &[u8], draws: &mut u64) -> Result<Part, String> {
    let name = String::from_utf8_lossy(inside);
    let part = match name.split_once(':') {
        None if name == "counter" => return Ok(Part::Counter),
        None if name == "random" => Part::Hex(*draws),
        Some(("random", range)) => {
            let (low, high) = bounds(range).map_err(|right| format!("has {{{{{name}}}}}, which must {right}"))?;
            Part::Range { draw: *draws, low, high }
        }
        _ => return Err(unknown(&name)),
    };
    *draws += 1;
    Ok(part)
}

/// The two ends of LOW-HIGH, or what would be right.
fn bounds(range: &str) -> Result<(u64, u64), String> {
    let digits = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()));
    match range.split_once('-').map(|(low, high)| (digits(low), digits(high))) {
        Some((Some(low), Some(high))) if low <= high => Ok((low, high)),
        Some((Some(low), Some(high))) => Err(format!("have its low end first, as in {{{{random:{high}-{low}}}}}")),
        _ => Err("have two integers from 0 to 18446744073709551615, as in {{random:1-100}}".to_string()),
    }
}

fn unknown(name: &str) -> String {
    let known = ["counter", "random"];
    let shown: String = name.chars().take(40).collect();
    let near = crate::order::nearest(name.split(':').next().unwrap_or_default().trim(), &known);
    let hint = match near.and_then(|near| known.iter().position(|name| *name == near)) {
        Some(i) if !name.contains(':') || i == 0 => format!("did you mean {}?", KNOWN[i]),
        Some(_) => format!("did you mean {}?", KNOWN[2]),
        None => format!("the placeholders are {}", KNOWN.join(", ")),
    };
    format!("has {{{{{shown}}}}}, which is no placeholder; {hint}")
}

/// A request in parts.
#[derive(Clone, Debug)]
pub struct Mould {
    /// Request line and header fields without `Content-Length`.
    head: Vec<Part>,
    /// Whether `Content-Length` is among the fields.
    framed: bool,
    body: Vec<Part>,
}

impl Mould {
    /// The parts of `request` as this order wants it sent; `None`: it is the same each time. Its texts have been checked with the order.
    pub fn of(request: &Request, order: &Order) -> Option<Mould> {
        if !request.template {
            return None;
        }
        let (mut head, mut draws) = (Vec::new(), 0);
        let mut add = |parts: Vec<Part>| {
            for part in parts {
                match part {
                    Part::Text(text) => push(&mut head, &text),
                    other => head.push(other),
                }
            }
        };
        let text = |text: String| vec![Part::Text(text.into_bytes())];
        let mut cut = |text: &[u8]| cut(text, &mut draws).expect("checked with the order");
        add(text(format!("{} ", request.method)));
        add(cut(request.path.as_bytes()));
        add(text(format!(" HTTP/{}\r\n{}", encode::version(order), encode::host_line(request, order))));
        for (name, value) in &request.headers {
            add(text(format!("{name}: ")));
            add(cut(value.as_bytes()));
            add(text("\r\n".to_string()));
        }
        add(text(encode::connection_line(request, order)));
        let body = cut(request.body.as_deref().unwrap_or_default());
        let framed = encode::content_length(request).is_some();
        let differs = head.iter().chain(&body).any(|part| !matches!(part, Part::Text(_)));
        differs.then_some(Mould { head, framed, body })
    }
}

/// Puts the requests of one thread together.
#[derive(Debug)]
pub struct Press {
    draws: SplitMix,
    thread: u64,
    threads: u64,
    buffer: Vec<u8>,
}

impl Press {
    /// The press of `thread` of `threads`, with the draws of `seed`.
    pub fn new(seed: u64, thread: u64, threads: u64) -> Press {
        Press { draws: SplitMix::new(seed, STREAM | thread), thread, threads, buffer: Vec::new() }
    }

    /// The bytes of the thread's request of this number, until the next is asked for; none where there is nothing to fill in.
    #[inline(never)]
    pub fn render(&mut self, mould: &Option<Mould>, number: u64) -> &[u8] {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        if let Some(mould) = mould {
            self.append(mould, number, &mut buffer);
        }
        self.buffer = buffer;
        &self.buffer
    }

    /// Appends the bytes of the thread's request of this number to `to`.
    pub fn append(&self, mould: &Mould, number: u64, to: &mut Vec<u8>) {
        self.append_parts(&mould.head, number, to);
        if mould.framed {
            to.extend_from_slice(b"Content-Length: ");
            decimal(self.length(&mould.body, number), to);
            to.extend_from_slice(b"\r\n");
        }
        to.extend_from_slice(b"\r\n");
        self.append_parts(&mould.body, number, to);
    }

    /// Appends what `parts` become in the thread's request of this number.
    pub fn append_parts(&self, parts: &[Part], number: u64, to: &mut Vec<u8>) {
        for part in parts {
            match part {
                Part::Text(text) => to.extend_from_slice(text),
                Part::Hex(draw) => hexadecimal(self.draw(number, *draw), to),
                Part::Counter | Part::Range { .. } => decimal(self.integer(part, number), to),
            }
        }
    }

    /// How many bytes that is (RFC 9110, 8.6: they come after the field that says so).
    fn length(&self, parts: &[Part], number: u64) -> u64 {
        let length = |part: &Part| match part {
            Part::Text(text) => text.len() as u64,
            Part::Hex(_) => 16,
            Part::Counter | Part::Range { .. } => {
                u64::from(self.integer(part, number).checked_ilog10().unwrap_or_default()) + 1
            }
        };
        parts.iter().map(length).sum()
    }

    fn integer(&self, part: &Part, number: u64) -> u64 {
        match part {
            // Dealt like cards, so that the threads' numbers are 0, 1, 2 ... together and none is there twice.
            Part::Counter => number * self.threads + self.thread,
            Part::Range { draw, low, high } => {
                // The upper half of a product spreads 2^64 draws over the range as evenly as they go.
                let span = u128::from(high - low) + 1;
                low + ((u128::from(self.draw(number, *draw)) * span) >> 64) as u64
            }
            _ => 0,
        }
    }

    /// Each request has a stream of its own, which begins at a draw of the thread's.
    fn draw(&self, number: u64, draw: u64) -> u64 {
        SplitMix::new(self.draws.nth(number), STREAM).nth(draw)
    }
}

fn decimal(mut n: u64, to: &mut Vec<u8>) {
    let (mut digits, mut at) = ([0; 20], 20);
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            return to.extend_from_slice(&digits[at..]);
        }
    }
}

fn hexadecimal(n: u64, to: &mut Vec<u8>) {
    let digit = |i: u32| b"0123456789abcdef"[(n >> (60 - 4 * i)) as usize & 15];
    to.extend((0..16).map(digit));
}

#[cfg(test)]
mod tests;
