//! Draws from a seed, so that whatever failed fails again.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub struct Draw(u64);

impl Draw {
    /// The sequence of this seed.
    pub fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    /// The sequence that belongs to these bytes (FNV-1a, 64 bits, as its authors define it).
    pub fn of(bytes: &[u8]) -> Draw {
        let hash = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        Draw(bytes.iter().fold(0xcbf2_9ce4_8422_2325, hash))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An integer below `bound`, which is at least 1.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// One of `items`.
    pub fn pick<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }
}
