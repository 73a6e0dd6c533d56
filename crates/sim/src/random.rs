//! Random numbers that a seed repeats: xoshiro256** (Blackman and Vigna, 2018), started by splitmix64.
//!
//! Our own forty lines and not a crate's, so that a seed in an old failure report means the same for ever.

use std::ops::Range;

/// A stream of numbers determined by its seed. Not for secrets.
#[derive(Clone, Debug)]
pub struct SeededRandom {
    state: [u64; 4],
}

impl SeededRandom {
    /// Starts the stream of `seed`. Neighbouring seeds give unrelated streams.
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        Self { state: std::array::from_fn(|_| splitmix(&mut counter)) }
    }

    /// Any number.
    pub fn next_u64(&mut self) -> u64 {
        let state = &mut self.state;
        let answer = state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        answer
    }

    /// A number from 0 to `limit - 1`. Panics when `limit` is zero.
    pub fn below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "there is no number below zero");
        // The high half of the product: uniform but for one part in 2^64 / limit, which no test can see.
        (u128::from(self.next_u64()) * u128::from(limit)).wrapping_shr(64) as u64
    }

    /// A number of `range`. Panics when it is empty.
    pub fn range(&mut self, range: Range<u64>) -> u64 {
        assert!(range.start < range.end, "{range:?} is empty");
        range.start + self.below(range.end - range.start)
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// Fills `buffer` with any bytes.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        for part in buffer.chunks_mut(8) {
            part.copy_from_slice(&self.next_u64().to_le_bytes()[..part.len()]);
        }
    }

    /// `len` bytes, any.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.fill(&mut bytes);
        bytes
    }

    /// Puts `items` into any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// One of `items`. Panics when there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

fn splitmix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *counter;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published test vector of splitmix64 for seed 1234567.
    #[test]
    fn splitmix_is_splitmix() {
        let mut counter = 1_234_567;
        let numbers: Vec<u64> = (0..3).map(|_| splitmix(&mut counter)).collect();
        assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    /// The published test vector of xoshiro256** for the state 1, 2, 3, 4.
    #[test]
    fn xoshiro_is_xoshiro() {
        let mut random = SeededRandom { state: [1, 2, 3, 4] };
        let numbers: Vec<u64> = (0..4).map(|_| random.next_u64()).collect();
        assert_eq!(numbers, [11_520, 0, 1_509_978_240, 1_215_971_899_390_074_240]);
    }

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let draw = |seed| SeededRandom::new(seed).bytes(100);
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
    }

    #[test]
    fn numbers_stay_in_range_and_reach_all_of_it() {
        let mut random = SeededRandom::new(1);
        let mut seen = [false; 10];
        for _ in 0..1000 {
            seen[random.below(10) as usize] = true;
            assert!((5..8).contains(&random.range(5..8)));
            assert!(!random.chance(0) && random.chance(100));
        }
        assert_eq!(seen, [true; 10]);
        let heads = (0..10_000).filter(|_| random.chance(30)).count();
        assert!((2_700..3_300).contains(&heads), "{heads} of 10000 at 30 percent");
    }

    #[test]
    fn shuffle_keeps_the_items_and_moves_them() {
        let mut items: Vec<u32> = (0..100).collect();
        SeededRandom::new(3).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
