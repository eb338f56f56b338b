//! The Huffman code of HPACK (RFC 7541, 5.2 and Appendix B).
//!
//! The code is canonical: of two symbols the one with the shorter code comes first, of two with codes of the same length the smaller.
//! So the lengths say it all, and both the codes and the table for reading are computed from them when this is compiled.

/// Length of each symbol's code in bits; the last is EOS.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];
const EOS: u16 = 256;
const LONGEST: usize = 30;

/// All codes of one length.
#[derive(Clone, Copy)]
struct Group {
    /// The first of them, at the top of 32 bits.
    first: u32,
    /// One past the last, likewise; 64 bits because past the longest lies 2^32.
    limit: u64,
    /// Where their symbols begin in `Code::symbols`.
    at: u16,
}

struct Code {
    codes: [u32; 257],
    /// By length of code, then by value.
    symbols: [u16; 257],
    groups: [Group; LONGEST + 1],
}

static CODE: Code = code();

const fn code() -> Code {
    let mut made =
        Code { codes: [0; 257], symbols: [0; 257], groups: [Group { first: 0, limit: 0, at: 0 }; LONGEST + 1] };
    let (mut length, mut next, mut at) = (1, 0_u32, 0_usize);
    while length <= LONGEST {
        next <<= 1;
        let (first, begin) = (next, at);
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                made.codes[symbol] = next;
                made.symbols[at] = symbol as u16;
                (next, at) = (next + 1, at + 1);
            }
            symbol += 1;
        }
        let up = 32 - length;
        made.groups[length] = Group { first: first << up, limit: (next as u64) << up, at: begin as u16 };
        length += 1;
    }
    made
}

/// What [`decode`] refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadCode;

/// Appends the text that `coded` stands for to `out`.
///
/// RFC 7541, 5.2: EOS within the text, padding of 8 bits or more, and padding of anything but ones are errors.
pub fn decode(coded: &[u8], out: &mut Vec<u8>) -> Result<(), BadCode> {
    let (mut bits, mut have) = (0_u64, 0_u32);
    let mut rest = coded.iter();
    loop {
        while have <= 56 {
            let Some(byte) = rest.next() else { break };
            bits |= u64::from(*byte) << (56 - have);
            have += 8;
        }
        if have == 0 {
            return Ok(());
        }
        let window = (bits >> 32) as u32;
        let (symbol, length) = match symbol_at(window) {
            Some(found) if u32::from(found.1) <= have => found,
            _ => return padding(bits, have),
        };
        if symbol == EOS {
            return Err(BadCode);
        }
        out.push(symbol as u8);
        bits <<= length;
        have -= u32::from(length);
    }
}

/// The symbol at the top of `window`, and the length of its code.
#[inline]
fn symbol_at(window: u32) -> Option<(u16, u8)> {
    let lengths = 5..=LONGEST;
    let length = lengths.into_iter().find(|length| u64::from(window) < CODE.groups[*length].limit)?;
    let group = &CODE.groups[length];
    let index = usize::from(group.at) + ((window - group.first) >> (32 - length)) as usize;
    Some((CODE.symbols[index], length as u8))
}

fn padding(bits: u64, have: u32) -> Result<(), BadCode> {
    let ones = u64::MAX << (64 - have);
    if have < 8 && bits & ones == ones { Ok(()) } else { Err(BadCode) }
}

/// Bytes that `text` takes when coded.
pub fn coded_length(text: &[u8]) -> usize {
    text.iter().map(|b| usize::from(LENGTHS[usize::from(*b)])).sum::<usize>().div_ceil(8)
}

/// Appends `text`, coded, to `out`.
pub fn encode(text: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut have) = (0_u64, 0_u32);
    for byte in text {
        let length = u32::from(LENGTHS[usize::from(*byte)]);
        bits = bits << length | u64::from(CODE.codes[usize::from(*byte)]);
        have += length;
        while have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    if have > 0 {
        out.push((bits << (8 - have)) as u8 | 0xff >> have);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(coded: &[u8]) -> Result<Vec<u8>, BadCode> {
        let mut out = Vec::new();
        decode(coded, &mut out).map(|()| out)
    }

    #[test]
    fn codes_are_those_of_appendix_b() {
        // One of each kind of length, and both ends.
        let rows = [('0' as usize, 0x0), ('a' as usize, 0x3), ('Z' as usize, 0xfd), ('!' as usize, 0x3f8)];
        let odd = [(0, 0x1ff8), (9, 0xffffea), (10, 0x3ffffffc), (249, 0xffffffe), (255, 0x3ffffee), (256, 0x3fffffff)];
        for (symbol, code) in rows.into_iter().chain(odd) {
            assert_eq!(code, CODE.codes[symbol], "{symbol}");
        }
    }

    #[test]
    fn examples_of_appendix_c_go_both_ways() {
        let rows: [(&str, &[u8]); 3] = [
            ("www.example.com", &[0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff]),
            ("no-cache", &[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]),
            ("302", &[0x64, 0x02]),
        ];
        for (text, coded) in rows {
            let mut out = Vec::new();
            encode(text.as_bytes(), &mut out);
            assert_eq!((coded, coded.len()), (out.as_slice(), coded_length(text.as_bytes())));
            assert_eq!(Ok(text.as_bytes().to_vec()), decoded(coded));
        }
    }

    #[test]
    fn every_byte_survives_at_every_bit_offset() {
        let all: Vec<u8> = (0..=255).collect();
        for before in 0..8 {
            let text: Vec<u8> = [vec![b'0'; before], all.clone(), all.iter().rev().copied().collect()].concat();
            let mut out = Vec::new();
            encode(&text, &mut out);
            assert_eq!(Ok(text), decoded(&out));
        }
    }

    #[test]
    fn wrong_padding_and_eos_are_refused() {
        // '0' is 00000: three bits of padding that are not ones; a whole byte of padding; EOS and two bits of padding.
        for wrong in [&[0b0000_0110][..], &[0b0000_0111, 0xff], &[0xff, 0xff, 0xff, 0xff], &[0xff]] {
            assert_eq!(Err(BadCode), decoded(wrong), "{wrong:?}");
        }
        assert_eq!(Ok(b"0".to_vec()), decoded(&[0b0000_0111]));
        assert_eq!(Ok(Vec::new()), decoded(&[]));
    }
}
