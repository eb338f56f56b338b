//! How often each time occurred: an HdrHistogram that is only recorded into.
//!
//! The cells are those of an HdrHistogram of three significant digits (http://hdrhistogram.org): below 2048 each value has its own,
//! above each power of two has 1024. So [`Recorder::histogram`] loses nothing, and everything that is read, merged with others or
//! written goes through the library. Why not its own recording: it is made for any shape, and costs six times the instructions, three
//! times per request.

use hdrhistogram::Histogram;

/// The longest time that is kept apart: one hour. What is longer counts as this.
const LONGEST: u64 = 3_600_000_000_000;
/// Bits of a value below which each has its own cell.
const EXACT_BITS: u32 = 11;
/// Cells for each power of two above.
const HALF: usize = 1 << (EXACT_BITS - 1);

/// Cells that are looked at together.
const BLOCK: usize = 64;

/// Counts of times from 0 to an hour, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorder {
    cells: Box<[u64]>,
    /// How many were recorded.
    total: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder { cells: vec![0; cell(LONGEST) + 1].into(), total: 0 }
    }
}

impl Recorder {
    /// One more of this time.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.cells[cell(ns.min(LONGEST))] += 1;
        self.total += 1;
    }

    /// How many were recorded.
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Adds what `other` holds. Blocks in which nothing is are not written: with many routes the memory that no cell was counted in
    /// then stays the kernel's.
    pub fn add(&mut self, other: &Recorder) {
        if !other.is_empty() {
            self.total += other.total;
            for (mine, theirs) in self.cells.chunks_mut(BLOCK).zip(other.cells.chunks(BLOCK)).filter(|(_, b)| any(b)) {
                mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
            }
        }
    }

    /// Makes it as new, keeping its memory; one that has stayed empty is not touched.
    pub fn reset(&mut self) {
        if !self.is_empty() {
            self.total = 0;
            self.cells.chunks_mut(BLOCK).filter(|block| any(block)).for_each(|block| block.fill(0));
        }
    }

    /// The same counts as a histogram that can be read and written.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut h = Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds that are constants");
        for (block, cells) in self.cells.chunks(BLOCK).enumerate() {
            if !any(cells) {
                continue;
            }
            for (i, n) in cells.iter().enumerate().filter(|(_, n)| **n > 0) {
                h.saturating_record_n(first(block * BLOCK + i), *n);
            }
        }
        h
    }
}

/// Whether a block holds anything. Most are empty, and this runs beside the load: an or over the whole block is a few vector
/// instructions.
fn any(block: &[u64]) -> bool {
    block.iter().fold(0, |any, n| any | n) != 0
}

/// The cell of a value.
#[inline]
fn cell(ns: u64) -> usize {
    // How often it must be halved to have EXACT_BITS bits; a small one is taken to have them.
    let halved = u64::BITS - EXACT_BITS - (ns | HALF as u64).leading_zeros();
    halved as usize * HALF + (ns >> halved) as usize
}

/// The smallest value of a cell.
fn first(cell: usize) -> u64 {
    let halved = (cell / HALF).saturating_sub(1);
    ((cell - halved * HALF) as u64) << halved
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values around every power of two, and between.
    fn values() -> impl Iterator<Item = u64> {
        let around = |bits: u32| {
            let power = 1_u64 << bits;
            [power - 1, power, power + 1, power + power / 3, power + power / 2]
        };
        (0..42).flat_map(around).chain([0, 2047, 2048, 2049, 4095, 4096, LONGEST - 1, LONGEST, LONGEST + 1, u64::MAX])
    }

    #[test]
    fn it_holds_what_a_histogram_holds_that_was_recorded_into() {
        let (mut recorder, mut histogram) =
            (Recorder::default(), Histogram::<u64>::new_with_bounds(1, LONGEST, 3).unwrap());
        for value in values() {
            recorder.record(value);
            histogram.saturating_record(value.min(LONGEST));
        }
        let made = recorder.histogram();
        assert_eq!(histogram, made);
        assert_eq!(
            (histogram.min(), histogram.max(), histogram.mean(), histogram.stdev()),
            (made.min(), made.max(), made.mean(), made.stdev())
        );
        assert_eq!(recorder.len(), made.len());
    }

    #[test]
    fn a_cell_begins_with_its_first_value_and_no_two_share_one() {
        for value in values().filter(|value| *value <= LONGEST) {
            let at = cell(value);
            assert!(first(at) <= value && value < first(at + 1), "{value}");
            assert_eq!((at, at + 1), (cell(first(at)), cell(first(at + 1))), "{value}");
        }
    }

    #[test]
    fn adding_and_emptying_are_exact() {
        let (mut a, mut b) = (Recorder::default(), Recorder::default());
        a.record(5);
        [5, 1 << 40].into_iter().for_each(|ns| b.record(ns));
        a.add(&b);
        assert_eq!((3, 3, 2), (a.len(), a.histogram().len(), a.histogram().count_at(5)));
        a.reset();
        assert!(a.is_empty() && a.histogram().is_empty());
    }
}
