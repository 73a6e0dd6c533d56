//! Random numbers: a stream for each client, and the distributions that ids are drawn from.
//!
//! ```text
//! seed, client --> splitmix64 --> xoshiro256++ --> unit() in [0,1) --> Distribution::draw(a, b)
//! ```
//!
//! Invariants:
//! 1. The same seed and client give the same stream, whatever the number of threads.
//! 2. Streams of different clients of one seed have unrelated states.
//!
//! Source: D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators" (2021).

pub mod distribution;
mod zipfian;

pub use distribution::{Distribution, Shape};

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The stream number `stream` of `seed`.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut mix = seed ^ stream.wrapping_mul(0xA076_1D64_78BD_642F);
        let mut next = || {
            mix = mix.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = mix;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        };
        Random { state: [next(), next(), next(), next()] }
    }

    /// A seed that nobody chose: from the clock and the process.
    pub fn fresh_seed() -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let stream = Random::new(since.as_nanos() as u64, u64::from(std::process::id())).bits();
        stream & 0xFFFF_FFFF
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number in [0, 1), of 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number in `0..bound`, each as likely as another (to within 2^-64 of `bound`). 0 if `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `a..=b`, each as likely as another.
    #[inline]
    pub fn between(&mut self, a: i64, b: i64) -> i64 {
        if b <= a { a } else { a + self.below((b - a) as u64 + 1) as i64 }
    }

    /// The time to the next of events that come at random, `mean` apart on average.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// Writes groups of eleven digits with `-` between them, as sysbench's columns `c` (10 groups) and `pad` (5) have
    /// them. `to` is filled from its start; its length decides how many whole groups there are.
    pub fn digit_groups(&mut self, to: &mut [u8]) {
        for group in to.chunks_mut(12) {
            // 19 digits fit in 64 bits; 11 are used, each equally likely to within 2^-27.
            let mut digits = self.below(100_000_000_000);
            let end = group.len().min(11);
            for digit in group[..end].iter_mut().rev() {
                *digit = b'0' + (digits % 10) as u8;
                digits /= 10;
            }
            if group.len() == 12 {
                group[11] = b'-';
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ() {
        let take = |seed, stream| {
            let mut random = Random::new(seed, stream);
            [random.bits(), random.bits(), random.bits()]
        };
        assert_eq!(take(1, 2), take(1, 2));
        assert_ne!(take(1, 2), take(1, 3));
        assert_ne!(take(1, 2), take(2, 2));
    }

    #[test]
    fn bounds_are_kept_and_reached() {
        let mut random = Random::new(7, 0);
        let mut seen = [false; 10];
        for _ in 0..1000 {
            seen[random.below(10) as usize] = true;
            assert!((0.0..1.0).contains(&random.unit()));
            assert!((-3..=3).contains(&random.between(-3, 3)));
        }
        assert_eq!(seen, [true; 10]);
        assert_eq!((random.below(0), random.between(5, 5), random.between(5, 1)), (0, 5, 5));
    }

    #[test]
    fn digits_come_in_groups() {
        let mut text = [0; 119];
        Random::new(1, 1).digit_groups(&mut text);
        let text = std::str::from_utf8(&text).unwrap();
        let groups: Vec<&str> = text.split('-').collect();
        assert_eq!(groups.len(), 10);
        assert!(groups.iter().all(|group| group.len() == 11 && group.bytes().all(|byte| byte.is_ascii_digit())));
    }

    #[test]
    fn gaps_have_the_mean_that_was_asked_for() {
        let mut random = Random::new(3, 3);
        let sum: f64 = (0..100_000).map(|_| random.exponential(2.0)).sum();
        assert!((1.97..2.03).contains(&(sum / 100_000.0)));
    }
}
