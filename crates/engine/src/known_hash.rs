//! Hashing of what is known to be harmless: keys that are hashes with a secret seed already, and numbers that the server
//! itself gives out. A client cannot choose them, so it cannot have them collide.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by what is known to be harmless.
pub type KnownMap<K, V> = HashMap<K, V, BuildHasherDefault<KnownHasher>>;

/// Spreads numbers; takes hashes as they are.
#[derive(Default)]
pub struct KnownHasher(u64);

impl Hasher for KnownHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        // Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): maps look at the upper bits and at the lower.
        self.0 = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}
