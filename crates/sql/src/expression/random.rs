//! The numbers of RAND(): a generator that yields for a seed what MySQL yields.
//!
//! Source: the sequences of RAND(0), RAND(1), ... of a server; the generator is the one that the manual of MySQL 3.23
//! described.

/// Random numbers for queries, not for secrets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Random {
    first: u64,
    second: u64,
}

const LIMIT: u64 = 0x3fff_ffff;

impl Random {
    /// Those of RAND(seed).
    pub fn from_seed(seed: u32) -> Random {
        let first = seed.wrapping_mul(0x10001).wrapping_add(55_555_555);
        let second = seed.wrapping_mul(0x1000_0001);
        Random::new(first, second)
    }

    /// Those that follow two numbers: `rand_seed1`, `rand_seed2`.
    pub fn new(first: u32, second: u32) -> Random {
        Random { first: u64::from(first) % LIMIT, second: u64::from(second) % LIMIT }
    }

    /// The next one, from 0 to below 1.
    pub fn next_double(&mut self) -> f64 {
        self.first = (self.first * 3 + self.second) % LIMIT;
        self.second = (self.first + self.second + 33) % LIMIT;
        self.first as f64 / LIMIT as f64
    }
}
