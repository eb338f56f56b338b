//! A short fuzz run, the same each time and everywhere: the committed corpus, and what a seed makes of it.
//!
//! `make fuzz` runs the same checks without end, led by coverage.

mod checks;
mod mutate;
mod properties;

use checks::draw::Draw;
use std::path::Path;

/// (name, bytes) of the committed corpus of this target.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let read = |path: &Path| (path.display().to_string(), std::fs::read(path).unwrap());
    let mut files: Vec<_> = files.map(|file| read(&file.unwrap().path())).collect();
    files.sort();
    assert!(files.len() > 10, "{} has {} files", folder.display(), files.len());
    files
}

/// Checks the corpus itself, then so many mutants of it. What fails is printed in full before it fails.
fn fuzz(target: &str, mutants: u64, check: fn(&[u8])) {
    let corpus = corpus(target);
    let files: Vec<&[u8]> = corpus.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    let tell = |name: &str, bytes: &[u8]| {
        if std::panic::catch_unwind(|| check(bytes)).is_err() {
            panic!("{name}: {:?}", String::from_utf8_lossy(bytes));
        }
    };
    corpus.iter().for_each(|(name, bytes)| tell(name, bytes));
    for seed in 0..mutants {
        tell(&format!("mutant {seed}"), &mutate::mutant(&files, &mut Draw::new(seed)));
    }
}

#[test]
fn answers_mean_the_same_however_they_come() {
    fuzz("answers", 100_000, checks::answers::check);
}

#[test]
fn orders_are_taken_or_refused_by_key() {
    fuzz("order", 20_000, checks::order::check);
}
