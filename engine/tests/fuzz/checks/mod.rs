//! What must hold for any bytes, whoever makes them up: the fuzzer (`engine/fuzz`), or the short run of every `cargo test`.

pub mod answers;
pub mod draw;
pub mod model;
pub mod order;
