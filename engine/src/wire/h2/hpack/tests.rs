//! The examples of RFC 7541, Appendix C, and what must be refused.

use super::*;

/// Bytes of a dump as the RFC prints it.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn fields(decoder: &mut Decoder, block: &[u8]) -> Result<Vec<String>, Breach> {
    let mut all = Vec::new();
    decoder.decode(block, |name, value| {
        all.push(format!("{}: {}", String::from_utf8_lossy(name), String::from_utf8_lossy(value)));
        Ok(())
    })?;
    Ok(all)
}

/// What a fresh decoder makes of one block.
fn alone(block: &[u8]) -> Result<Vec<String>, Breach> {
    fields(&mut Decoder::default(), block)
}

#[test]
fn integers_of_c1() {
    for (bytes, prefix, number) in [("0a", 5, 10), ("1f9a0a", 5, 1337), ("2a", 8, 42)] {
        assert_eq!(Ok(number), integer(&mut hex(bytes).as_slice(), prefix));
    }
    for wrong in ["1f", "1f80", "1fffffffff7f"] {
        assert!(integer(&mut hex(wrong).as_slice(), 5).is_err(), "{wrong}");
    }
}

#[test]
fn field_representations_of_c2() {
    let rows = [
        ("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", "custom-key: custom-header", 55),
        ("040c 2f73 616d 706c 652f 7061 7468", ":path: /sample/path", 0),
        ("1008 7061 7373 776f 7264 0673 6563 7265 74", "password: secret", 0),
        ("82", ":method: GET", 0),
    ];
    for (block, field, size) in rows {
        let mut decoder = Decoder::default();
        assert_eq!(Ok(vec![field.to_string()]), fields(&mut decoder, &hex(block)));
        assert_eq!((size, size > 0), (decoder.table.size(), decoder.generation() > 0));
    }
}

/// Blocks of one connection, what each says, and the size of the table after it.
fn play(limit: usize, blocks: &[(&str, &str, usize)]) {
    let mut decoder = Decoder::default();
    decoder.table.resize(limit);
    for (block, expected, size) in blocks {
        let expected: Vec<String> = expected.split('|').map(str::to_string).collect();
        assert_eq!((Ok(expected), *size), (fields(&mut decoder, &hex(block)), decoder.table.size()));
    }
}

const FIRST: &str = ":method: GET|:scheme: http|:path: /|:authority: www.example.com";
const SECOND: &str = ":method: GET|:scheme: http|:path: /|:authority: www.example.com|cache-control: no-cache";
const THIRD: &str =
    ":method: GET|:scheme: https|:path: /index.html|:authority: www.example.com|custom-key: custom-value";

#[test]
fn requests_without_huffman_of_c3() {
    play(
        4096,
        &[
            ("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", FIRST, 57),
            ("8286 84be 5808 6e6f 2d63 6163 6865", SECOND, 110),
            ("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", THIRD, 164),
        ],
    );
}

#[test]
fn requests_with_huffman_of_c4() {
    play(
        4096,
        &[
            ("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", FIRST, 57),
            ("8286 84be 5886 a8eb 1064 9cbf", SECOND, 110),
            ("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", THIRD, 164),
        ],
    );
}

const ANSWERS: [&str; 3] = [
    ":status: 302|cache-control: private|date: Mon, 21 Oct 2013 20:13:21 GMT|location: https://www.example.com",
    ":status: 307|cache-control: private|date: Mon, 21 Oct 2013 20:13:21 GMT|location: https://www.example.com",
    ":status: 200|cache-control: private|date: Mon, 21 Oct 2013 20:13:22 GMT|location: https://www.example.com|\
     content-encoding: gzip|set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
];

#[test]
fn answers_without_huffman_of_c5() {
    play(
        256,
        &[
            (
                "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120
                 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d",
                ANSWERS[0],
                222,
            ),
            ("4803 3330 37c1 c0bf", ANSWERS[1], 222),
            (
                "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738
                 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33
                 3630 303b 2076 6572 7369 6f6e 3d31",
                ANSWERS[2],
                215,
            ),
        ],
    );
}

#[test]
fn answers_with_huffman_of_c6() {
    play(
        256,
        &[
            (
                "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718
                 63c7 8f0b 97c8 e9ae 82ae 43d3",
                ANSWERS[0],
                222,
            ),
            ("4883 640e ffc1 c0bf", ANSWERS[1], 222),
            (
                "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7
                 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
                ANSWERS[2],
                215,
            ),
        ],
    );
}

#[test]
fn what_has_no_meaning_is_a_compression_error() {
    let rows = [
        ("80", "does not exist"),
        ("be", "does not exist"),
        ("ff00", "does not exist"),
        ("7f00 0161", "does not exist"),
        ("40", "ends within"),
        ("4005 6162", "ends within"),
        ("400161", "ends within"),
        ("41ff ffff ffff ffff ff0f", "beyond all bounds"),
        ("3fe2 1f", "table's size"),
        ("8220", "table's size"),
        ("4001 6181 00", "Huffman"),
    ];
    for (block, why) in rows {
        let breach = alone(&hex(block)).unwrap_err();
        assert!(breach.code == Code::Compression && breach.why.contains(why), "{block}: {breach:?}");
    }
}

#[test]
fn sizes_may_change_at_the_begin_of_a_block_and_a_name_outlives_its_entry() {
    let mut decoder = Decoder::default();
    fields(&mut decoder, &hex("400161 0162")).unwrap();
    // Room for one entry only: the new one takes its name from the one it drives out.
    assert_eq!(Ok(vec!["a: c".to_string()]), fields(&mut decoder, &hex("3f04 7e 0163")));
    assert_eq!(Ok(vec!["a: c".to_string()]), fields(&mut decoder, &hex("be")));
    assert!(fields(&mut decoder, &hex("bf")).is_err());
    let before = decoder.generation();
    assert_eq!(Ok(Vec::new()), fields(&mut decoder, &hex("20 3f e11f")));
    assert!(decoder.generation() > before);
}
