//! For tests only: a simulated disk that loses power, and seeded randomness.
//!
//! Everything here is determined by seeds, so that the seed in a failure report repeats the failure. A test prints
//! its seed first.
//!
//! - [`SimDisk`] stands in for a real directory: it forgets, tears and reorders what was not synced, loses power at
//!   a chosen operation, and answers with injected errors.
//! - [`Fault`] says which call of which kind goes wrong, and how.
//! - [`SeededRandom`] is the only source of chance.
//!
//! Unit tests inside `meseta-storage` itself cannot use the disk: built for its own unit tests, that crate is not
//! the one whose traits the disk implements. Its integration tests can.

mod disk;
mod fault;
mod image;
mod random;
#[cfg(test)]
mod tests;

pub use disk::{SimDisk, TEMPORARY_FILE};
pub use fault::{Call, Effect, Fault};
pub use random::SeededRandom;
