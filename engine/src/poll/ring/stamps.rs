//! When the sends of one batch left.
//!
//! They leave one after another in one call into the kernel, so between the time before the call and the time after it, and each takes
//! about as long as the others. But the processor may be taken from us during the call, and whatever of that were shared out over the
//! sends would be missing in the times of their answers. So a send is never taken to last longer than sends usually do: where
//! in doubt it left earlier, and its answer took longer.

/// How much one batch changes what is usual: one part of so many.
const MEMORY: u64 = 16;

/// What sends usually take.
#[derive(Debug, Default)]
pub struct Stamps {
    /// Nanoseconds for one; 0: not known yet.
    usual: u64,
}

impl Stamps {
    /// How long one send of a batch of `sends` took, in nanoseconds, where the batch took `ns`. It is at most `ns / sends`.
    pub fn each(&mut self, ns: u64, sends: usize) -> u64 {
        let each = ns / (sends as u64).max(1);
        if self.usual == 0 {
            self.usual = each;
        }
        let told = each.min(self.usual);
        // A batch that was held up counts as one that took twice as long as usual.
        let counted = each.min(2 * self.usual + MEMORY);
        self.usual = self.usual - self.usual / MEMORY + counted / MEMORY;
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_that_was_held_up_is_taken_to_have_left_at_the_usual_pace() {
        let mut stamps = Stamps::default();
        assert_eq!(1600, stamps.each(32 * 1600, 32));
        assert_eq!(1600, stamps.each(4_000_000, 32), "a pause of 4 ms is not the sends'");
        assert_eq!(800, stamps.each(64 * 800, 64), "never more than it was");
        assert!(stamps.usual < 1800, "{}", stamps.usual);
    }

    #[test]
    fn what_is_usual_follows_what_is() {
        let mut stamps = Stamps::default();
        stamps.each(0, 9);
        (0..200).for_each(|_| assert!(stamps.each(10 * 3200, 10) <= 3200));
        assert!((2900..=3200).contains(&stamps.usual), "{}", stamps.usual);
    }
}
