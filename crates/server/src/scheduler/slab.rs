//! Places for the tasks of a worker, named by numbers that are never given twice.
//!
//! ```text
//! token = generation (32 bits) . place (32 bits)
//! ```
//!
//! An epoll set may tell of a descriptor that was closed a moment ago. Its token finds nothing, even if another task
//! has got the place.

/// Values by token.
#[derive(Debug)]
pub struct Slab<T> {
    places: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Puts a value into a place; returns its token. The first generation is 1: no token is 0.
    pub fn insert(&mut self, value: T) -> u64 {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push((0, None));
            (self.places.len() - 1) as u32
        });
        let entry = &mut self.places[place as usize];
        entry.0 = entry.0.wrapping_add(1).max(1);
        entry.1 = Some(value);
        u64::from(entry.0) << 32 | u64::from(place)
    }

    /// The value of a token, if it is still there.
    pub fn get(&self, token: u64) -> Option<&T> {
        let (generation, value) = self.places.get((token & 0xFFFF_FFFF) as usize)?;
        if u64::from(*generation) == token >> 32 { value.as_ref() } else { None }
    }

    /// Takes it out.
    pub fn remove(&mut self, token: u64) -> Option<T> {
        self.get(token)?;
        let place = (token & 0xFFFF_FFFF) as u32;
        self.free.push(place);
        self.places[place as usize].1.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_names_one_value_only() {
        let mut slab = Slab::default();
        let first = slab.insert("first");
        assert_eq!(slab.get(first), Some(&"first"));
        assert_eq!((slab.remove(first), slab.remove(first)), (Some("first"), None));
        let second = slab.insert("second");
        assert_ne!(first, second);
        assert_eq!((slab.get(first), slab.get(second)), (None, Some(&"second")));
        assert_eq!(slab.get(u64::MAX), None);
        assert_eq!(slab.get(0), None);
    }
}
