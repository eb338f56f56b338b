//! What must hold for any bytes, whoever makes them up: the fuzzer (`engine/fuzz`), or the short run of every `cargo test`.

pub mod answers;
pub mod chunks;
pub mod draw;
pub mod frames;
pub mod heads;
pub mod hpack;
pub mod lines;
pub mod model;
pub mod order;

/// Panics where something does not hold.
pub type Check = fn(&[u8]);

/// Each reader with its check: the names of the fuzzer's targets and of the folders of its corpus.
pub const ALL: [(&str, Check); 8] = [
    ("answers", answers::check),
    ("chunks", chunks::check),
    ("command", order::check_command),
    ("frames", frames::check),
    ("heads", heads::check),
    ("hpack", hpack::check),
    ("lines", lines::check),
    ("order", order::check),
];
