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

/// Checks `bytes`. What fails is printed in full before it fails.
fn tell(name: &str, bytes: &[u8], check: fn(&[u8])) {
    if std::panic::catch_unwind(|| check(bytes)).is_err() {
        panic!("{name}: {:?}", String::from_utf8_lossy(bytes));
    }
}

/// Checks the corpus itself, then so many mutants of it.
fn fuzz(target: &str, mutants: u64) {
    let check = check_of(target);
    let corpus = corpus(target);
    let files: Vec<&[u8]> = corpus.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    corpus.iter().for_each(|(name, bytes)| tell(name, bytes, check));
    for seed in 0..mutants {
        let bytes = mutate::mutant(&files, mutate::words(target), &mut Draw::new(seed));
        tell(&format!("mutant {seed}"), &bytes, check);
    }
}

fn check_of(target: &str) -> fn(&[u8]) {
    checks::ALL.into_iter().find(|(name, _)| *name == target).expect("one of checks::ALL").1
}

#[test]
fn answers_mean_the_same_however_they_come() {
    fuzz("answers", 100_000);
}

#[test]
fn heads_end_where_they_end_and_say_what_they_say() {
    fuzz("heads", 20_000);
}

#[test]
fn chunks_mean_the_same_however_they_come() {
    fuzz("chunks", 20_000);
}

#[test]
fn frames_mean_the_same_however_they_come() {
    fuzz("frames", 5_000);
}

#[test]
fn header_blocks_are_encoded_again_as_they_were_decoded() {
    fuzz("hpack", 5_000);
}

#[test]
fn orders_are_taken_or_refused_by_key() {
    fuzz("order", 20_000);
}

#[test]
fn commands_are_taken_or_refused_by_key() {
    fuzz("command", 20_000);
}

#[test]
fn lines_are_heard_once_whole_and_in_their_order() {
    fuzz("lines", 2_000);
}

#[test]
fn every_reader_has_its_folder_of_bytes_and_no_folder_is_without_a_reader() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let mut folders: Vec<_> = std::fs::read_dir(folder).unwrap().map(|each| each.unwrap().file_name()).collect();
    folders.sort();
    assert_eq!(checks::ALL.map(|(name, _)| name).to_vec(), folders);
}

#[test]
fn an_answer_that_is_kept_means_the_same_split_at_every_byte() {
    let read = |parts: &[&[u8]]| checks::answers::read(parts, false, &mut Default::default());
    for (name, bytes) in corpus("answers") {
        let whole = read(&[&bytes]);
        for at in 0..bytes.len() {
            assert_eq!(whole, read(&[&bytes[..at], &bytes[at..]]), "{name} split at {at}");
        }
    }
}

/// For `tools/fuzz.py`: mutants of one target for so many seconds, without coverage to lead them but a hundred times as many. FUZZ says
/// "TARGET SEED SECONDS"; what the first mutants were, others are under another seed.
#[test]
#[ignore = "as long as one likes"]
fn long() {
    let asked = std::env::var("FUZZ").expect("FUZZ=\"TARGET SEED SECONDS\"");
    let [target, seed, seconds] = asked.split(' ').collect::<Vec<_>>()[..] else {
        panic!("three words, not {asked:?}")
    };
    let (check, corpus, words) = (check_of(target), corpus(target), mutate::words(target));
    let files: Vec<&[u8]> = corpus.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    let (begun, most) = (std::time::Instant::now(), std::time::Duration::from_secs(seconds.parse().expect("seconds")));
    let (first, mut count) = (seed.parse::<u64>().expect("a seed") << 40, 0);
    while begun.elapsed() < most {
        for seed in first + count..first + count + 4096 {
            let bytes = mutate::mutant(&files, words, &mut Draw::new(seed));
            tell(&format!("mutant {seed}"), &bytes, check);
        }
        count += 4096;
    }
    println!("{count} executions in {:.1} s", begun.elapsed().as_secs_f64());
}
