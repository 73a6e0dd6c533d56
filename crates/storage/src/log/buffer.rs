//! The log in memory: a ring that many threads fill at once and one thread empties.
//!
//! ```text
//!      consumed          published up to here            reserved
//!         |                      |                          |
//!  -------+======================+====....====........======+---------
//!   free  |  ready to be written |  some published, some    |  free
//!         |                      |  still being copied in   |
//! ```
//!
//! A record is a header word and a body, padded to eight bytes. A thread reserves space with one `fetch_add`,
//! copies the body in, and publishes by storing the header word last. The writer follows the headers from record
//! to record; a header of zero means: not published yet. What it has taken it sets back to zero.
//!
//! # Invariants
//! 1. Between `reserved` and `consumed + len` every word is zero.
//! 2. A header is stored (release) after the body; the writer loads it (acquire) before the body.
//! 3. `consumed` moves (release) after the words behind it are zero; a thread waits until its whole reservation
//!    lies below `consumed + len` (acquire) before it stores anything.
//!
//! Words are relaxed atomics, so the copying races with nothing by the letter of the memory model. Model-checked
//! in `tests/loom.rs`.

use crossbeam_utils::CachePadded;

use crate::ids::Lsn;
use crate::sync::{AtomicU64, Ordering};

/// Bytes of a record's header.
pub const RECORD_HEADER_LEN: usize = 8;

/// The bytes that a record with this body takes.
pub fn record_len(body_len: usize) -> usize {
    RECORD_HEADER_LEN + body_len.next_multiple_of(8)
}

/// A record's header word: the body's length, and a bit that is always set so that no header is zero.
pub fn header_word(body_len: usize) -> u64 {
    1 << 63 | body_len as u64
}

/// The body's length that a header word announces; `None` for a word that is no header.
pub fn body_len(word: u64) -> Option<usize> {
    (word >> 32 == 1 << 31).then_some((word & 0xFFFF_FFFF) as usize)
}

/// The ring.
pub struct LogBuffer {
    words: Words,
    reserved: CachePadded<AtomicU64>,
    consumed: CachePadded<AtomicU64>,
    /// Everything before this has been published without a gap, as far as somebody has looked.
    frontier: CachePadded<AtomicU64>,
    /// No reservation reached beyond this: for a ring that a crash left, where old words may not be zeroes yet.
    limit: u64,
}

/// Where the ring is.
enum Words {
    Private(Box<[AtomicU64]>),
    /// In memory that outlives the process; the first words are not the ring's.
    #[cfg(not(loom))]
    Shared(super::mapped::MappedRing),
}

impl Words {
    #[inline(always)]
    fn ring(&self) -> &[AtomicU64] {
        match self {
            Words::Private(words) => words,
            #[cfg(not(loom))]
            Words::Shared(mapped) => mapped.ring(),
        }
    }
}

impl LogBuffer {
    /// A ring of `len` bytes (a power of two) whose first record will be at `start` (a multiple of eight).
    pub fn new(len: usize, start: Lsn) -> Self {
        assert!(len.is_power_of_two() && len >= 64 && start.0.is_multiple_of(8));
        Self::over(Words::Private((0..len / 8).map(|_| AtomicU64::new(0)).collect()), start)
    }

    /// An empty ring in memory that outlives the process.
    #[cfg(not(loom))]
    pub fn over_mapped(mapped: super::mapped::MappedRing, start: Lsn) -> Self {
        Self::over(Words::Shared(mapped), start)
    }

    /// The model checker's words are not bytes in a file: a private ring stands in.
    #[cfg(loom)]
    pub fn over_mapped(mapped: super::mapped::MappedRing, start: Lsn) -> Self {
        Self::new(mapped.ring().len() * 8, start)
    }

    /// As above.
    #[cfg(loom)]
    pub fn left_behind(mapped: super::mapped::MappedRing, start: Lsn) -> Self {
        Self::over_mapped(mapped, start)
    }

    /// The ring that a crash left, from `start` on: published records are to be written, nothing is to be added.
    #[cfg(not(loom))]
    pub fn left_behind(mapped: super::mapped::MappedRing, start: Lsn) -> Self {
        let limit = mapped.consumed().0 + mapped.ring().len() as u64 * 8;
        // How far the reservations really went is not known, but that they did not go further.
        let reserved = CachePadded::new(AtomicU64::new(limit));
        Self { limit, reserved, ..Self::over_mapped(mapped, start) }
    }

    fn over(words: Words, start: Lsn) -> Self {
        let at_start = || CachePadded::new(AtomicU64::new(start.0));
        Self { words, reserved: at_start(), consumed: at_start(), frontier: at_start(), limit: u64::MAX }
    }

    /// Whether what has been published survives a crash of the process.
    pub fn outlives_process(&self) -> bool {
        !matches!(self.words, Words::Private(_))
    }

    /// Bytes in the ring.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.words.ring().len() * 8
    }

    #[inline(always)]
    fn word(&self, position: u64) -> &AtomicU64 {
        let words = self.words.ring();
        &words[(position / 8) as usize & (words.len() - 1)]
    }

    /// So many words from a position on: they may go on at the ring's beginning.
    #[inline(always)]
    fn stretch(&self, position: u64, count: usize) -> [&[AtomicU64]; 2] {
        let words = self.words.ring();
        let start = (position / 8) as usize & (words.len() - 1);
        let first = count.min(words.len() - start);
        [&words[start..start + first], &words[..count - first]]
    }

    /// Whether everything before `lsn` has been published: no thread is still copying a record in before it.
    pub fn is_published(&self, lsn: Lsn) -> bool {
        loop {
            let from = self.frontier.load(Ordering::Acquire).max(self.consumed.load(Ordering::Acquire));
            if from >= lsn.0 {
                return true;
            }
            let end = self.published_end(Lsn(from), lsn.0 - from);
            // If the writer took records meanwhile, what was read may belong to the ring's next round.
            if self.consumed.load(Ordering::Acquire) > from {
                continue;
            }
            self.frontier.fetch_max(end.0, Ordering::AcqRel);
            return end >= lsn;
        }
    }

    /// The end of the last reservation.
    pub fn reserved(&self) -> Lsn {
        Lsn(self.reserved.load(Ordering::Acquire))
    }

    /// Everything before this has been taken by the writer.
    pub fn consumed(&self) -> Lsn {
        Lsn(self.consumed.load(Ordering::Acquire))
    }

    /// Reserves space for a record; returns its start and end. The order of reservations is the order of the log.
    pub fn reserve(&self, body_len: usize) -> (Lsn, Lsn) {
        let len = record_len(body_len) as u64;
        // Acquire and release: whoever sees this reservation sees what its thread did before (frame, invariant 1).
        let start = self.reserved.fetch_add(len, Ordering::AcqRel);
        (Lsn(start), Lsn(start + len))
    }

    /// Whether a reservation that ends at `end` may be filled now.
    pub fn has_room(&self, end: Lsn) -> bool {
        end.0 <= self.consumed.load(Ordering::Acquire) + self.len() as u64
    }

    /// Copies a record to its reservation and publishes it. On entry: `has_room`.
    pub fn publish(&self, start: Lsn, body: &[u8]) {
        self.fill(start.0 + RECORD_HEADER_LEN as u64, body);
        self.publish_header(start, body.len());
    }

    /// Copies a stretch of a record's body to `position` (a multiple of eight).
    pub fn fill(&self, position: u64, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<8>();
        let mut from = whole;
        for words in self.stretch(position, whole.len()) {
            let (here, behind) = from.split_at(words.len());
            for (word, bytes) in words.iter().zip(here) {
                word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
            }
            from = behind;
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.word(position + 8 * whole.len() as u64).store(u64::from_le_bytes(last), Ordering::Relaxed);
        }
    }

    /// Publishes a record whose body is in place.
    pub fn publish_header(&self, start: Lsn, body_len: usize) {
        self.word(start.0).store(header_word(body_len), Ordering::Release);
    }

    /// The end of the published records that follow `from` without a gap, at most `limit` bytes of them (but at
    /// least one record, if there is one). For the writer only.
    pub fn published_end(&self, from: Lsn, limit: u64) -> Lsn {
        // Not beyond the ring: full to the last word, it has no zero that would end the walk.
        let limit = limit.min(self.len() as u64);
        let mut end = from.0;
        while end - from.0 < limit && end < self.limit {
            let Some(len) = body_len(self.word(end).load(Ordering::Acquire)) else { break };
            end += record_len(len) as u64;
        }
        Lsn(end)
    }

    /// Copies published bytes from `from` into `out`. For the writer only.
    pub fn copy_out(&self, from: Lsn, out: &mut [u8]) {
        let (mut to, rest) = out.as_chunks_mut::<8>();
        debug_assert!(from.0.is_multiple_of(8) && rest.is_empty());
        for words in self.stretch(from.0, to.len()) {
            let (here, behind) = to.split_at_mut(words.len());
            for (bytes, word) in here.iter_mut().zip(words) {
                *bytes = word.load(Ordering::Relaxed).to_le_bytes();
            }
            to = behind;
        }
    }

    /// Gives the space up to `to` back. For the writer only.
    pub fn consume(&self, to: Lsn) {
        let from = self.consumed.load(Ordering::Relaxed);
        for words in self.stretch(from, ((to.0 - from) / 8) as usize) {
            words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        }
        #[cfg(not(loom))]
        if let Words::Shared(mapped) = &self.words {
            mapped.set_consumed(to);
        }
        self.consumed.store(to.0, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Found by the model test: the walk over a ring without a free word went round and took its records twice.
    #[test]
    fn a_full_ring_is_walked_once() {
        let buffer = LogBuffer::new(64, Lsn(480));
        for _ in 0..4 {
            let (start, end) = buffer.reserve(8);
            assert!(buffer.has_room(end));
            buffer.publish(start, &[1; 8]);
        }
        assert_eq!(buffer.published_end(Lsn(480), 1000), Lsn(544));
        assert!(buffer.is_published(Lsn(544)));
    }

    #[test]
    fn records_of_many_threads_come_out_whole_and_in_order() {
        const THREADS: u64 = 4;
        const EACH: u64 = 5_000;
        let buffer = LogBuffer::new(4096, Lsn(480));
        let mut seen = vec![0; THREADS as usize];
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let buffer = &buffer;
                scope.spawn(move || {
                    for turn in 0..EACH {
                        let body: Vec<u8> = [thread, turn].iter().flat_map(|n| n.to_le_bytes()).collect();
                        let (start, end) = buffer.reserve(body.len());
                        while !buffer.has_room(end) {
                            std::thread::yield_now();
                        }
                        buffer.publish(start, &body);
                    }
                });
            }
            let mut at = Lsn(480);
            let mut count = 0;
            while count < THREADS * EACH {
                let end = buffer.published_end(at, 1000);
                if end == at {
                    std::thread::yield_now();
                    continue;
                }
                let mut bytes = vec![0; (end.0 - at.0) as usize];
                buffer.copy_out(at, &mut bytes);
                buffer.consume(end);
                at = end;
                for record in bytes.chunks_exact(24) {
                    let word = |n: usize| u64::from_le_bytes(record[8 * n..8 * n + 8].try_into().unwrap());
                    assert_eq!(body_len(word(0)), Some(16));
                    assert_eq!(word(2), seen[word(1) as usize], "each thread's records keep their order");
                    seen[word(1) as usize] += 1;
                    count += 1;
                }
            }
        });
        assert_eq!(buffer.reserved(), buffer.consumed());
    }
}
