//! One check of the HPACK decoder and of what keeps the meaning of blocks, on one string of bytes: two blocks of one connection.

use webdyno_engine::wire::h2::answer::Answers;
use webdyno_engine::wire::h2::hpack::Decoder;
use webdyno_engine::wire::h2::{Code, encode, huffman};

type Field = (Vec<u8>, Vec<u8>);

/// What was decoded is decoded again when it is encoded, and a block that is known again means what it means to a reader without memory.
pub fn check(bytes: &[u8]) {
    huffman_goes_both_ways(bytes);
    let Some((first, rest)) = bytes.split_first() else { return };
    let (one, two) = rest.split_at(usize::from(*first).min(rest.len()));
    let (mut decoder, mut answers) = (Decoder::default(), Answers::default());
    for block in [one, two, two, one, two] {
        let before = decoder.generation();
        let Some(fields) = fields(&mut decoder, block) else {
            assert!(answers.read(block).is_err(), "a reader without memory refuses it");
            return;
        };
        assert!(decoder.generation() >= before);
        encoded_again(&fields);
        let Ok(meaning) = answers.read(block) else {
            let all: usize = fields.iter().map(|(name, value)| name.len() + value.len()).sum();
            assert!(all > 60 * 1024, "refused for being long, which {all} bytes are not");
            return;
        };
        if meaning.fault.is_none() {
            assert_eq!(as_text(&fields), meaning.text);
        }
    }
}

fn fields(decoder: &mut Decoder, block: &[u8]) -> Option<Vec<Field>> {
    let mut all = Vec::new();
    let keep = |name: &[u8], value: &[u8]| {
        all.push((name.to_vec(), value.to_vec()));
        Ok(())
    };
    match decoder.decode(block, keep) {
        Ok(()) => Some(all),
        Err(breach) => {
            assert!(breach.code == Code::Compression && !breach.why.is_empty());
            None
        }
    }
}

fn encoded_again(all: &[Field]) {
    let mut block = Vec::new();
    let texts =
        |(name, value): &Field| Some((String::from_utf8(name.clone()).ok()?, String::from_utf8(value.clone()).ok()?));
    let Some(texts) = all.iter().map(texts).collect::<Option<Vec<_>>>() else { return };
    texts.iter().for_each(|(name, value)| encode::field(&mut block, name, value));
    let mut decoder = Decoder::default();
    assert_eq!(Some(all), fields(&mut decoder, &block).as_deref());
    assert_eq!(0, decoder.generation(), "what we encode leaves the table alone");
}

fn as_text(fields: &[Field]) -> Vec<u8> {
    let line = |(at, (name, value)): (usize, &Field)| match at {
        0 => [b"HTTP/2 ", value.as_slice(), b"\r\n"].concat(),
        _ => [name, &b": "[..], value, b"\r\n"].concat(),
    };
    [fields.iter().enumerate().map(line).collect::<Vec<_>>().concat(), b"\r\n".to_vec()].concat()
}

fn huffman_goes_both_ways(bytes: &[u8]) {
    let (mut text, mut coded) = (Vec::new(), Vec::new());
    huffman::encode(bytes, &mut coded);
    assert_eq!(huffman::coded_length(bytes), coded.len());
    assert_eq!(Ok(()), huffman::decode(&coded, &mut text));
    assert_eq!(bytes, text);
    (text, coded) = (Vec::new(), Vec::new());
    if huffman::decode(bytes, &mut text).is_ok() {
        huffman::encode(&text, &mut coded);
        assert_eq!(bytes, coded, "a text has one code");
    }
}
