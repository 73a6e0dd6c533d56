//! The rows every engine is given, computed rather than stored.

use crate::rng::Rng;

/// A key as the engines see it: eight bytes, big-endian, so that byte order is
/// numeric order.
pub type Key = [u8; 8];

/// The distance between two loaded keys. The keys in between are what random
/// inserts add; with 15 of them to every loaded one, two inserts hardly ever
/// pick the same key and every one of them is a real insert.
const STRIDE: u64 = 16;

/// How many rows there are and how long a value is.
#[derive(Clone, Copy, Debug)]
pub struct Dataset {
    /// Rows loaded before anything is measured.
    pub rows: u64,
    /// Bytes in each value.
    pub value_bytes: usize,
}

impl Dataset {
    /// The bytes of keys and values, which "one eighth of the data" refers to.
    pub fn bytes(&self) -> u64 {
        self.rows * (size_of::<Key>() + self.value_bytes) as u64
    }

    /// The key of loaded row `row`; rows past the loaded ones are those that
    /// sequential inserts append.
    pub fn key(&self, row: u64) -> Key {
        (row * STRIDE).to_be_bytes()
    }

    /// A key of some loaded row.
    pub fn random_key(&self, rng: &mut Rng) -> Key {
        self.key(rng.below(self.rows))
    }

    /// A key between two loaded ones.
    pub fn random_gap(&self, rng: &mut Rng) -> Key {
        (rng.below(self.rows) * STRIDE + 1 + rng.below(STRIDE - 1)).to_be_bytes()
    }

    /// Writes the value that row `row` is loaded with. The bytes are random, so
    /// that no engine gains by compressing them.
    pub fn fill_value(&self, row: u64, value: &mut [u8]) {
        let mut rng = Rng::new(row);
        for chunk in value.chunks_mut(8) {
            chunk.copy_from_slice(&rng.bits().to_le_bytes()[..chunk.len()]);
        }
    }

    /// Hands every row to `put` in key order, as a bulk load wants them.
    pub fn each_row<E>(&self, mut put: impl FnMut(&Key, &[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut value = vec![0; self.value_bytes];
        for row in 0..self.rows {
            self.fill_value(row, &mut value);
            put(&self.key(row), &value)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_never_loaded_keys() {
        let dataset = Dataset { rows: 10, value_bytes: 100 };
        let mut rng = Rng::new(1);
        for _ in 0..1000 {
            let key = u64::from_be_bytes(dataset.random_gap(&mut rng));
            assert!(key < 10 * STRIDE && !key.is_multiple_of(STRIDE));
        }
    }

    #[test]
    fn rows_come_in_key_order() {
        let dataset = Dataset { rows: 300, value_bytes: 100 };
        let mut keys = Vec::new();
        dataset
            .each_row(|key, value| {
                assert_eq!(value.len(), 100);
                keys.push(*key);
                Ok::<(), ()>(())
            })
            .unwrap();
        assert_eq!(keys.len(), 300);
        assert!(keys.is_sorted());
    }
}
