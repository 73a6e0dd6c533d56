//! Lulls: a worker has nothing to do. Whether it looks for a moment before it sleeps.
//!
//! ```text
//!   nothing to do                      something to do
//!        |------ looks, LOOK ------|- sleeps -|         an empty look, and a wake-up besides
//!        |------ looks ----|                            no sleep, no wake-up
//! ```
//!
//! With few clients a worker runs out of work after each turn or two, and has some again a few microseconds later. To sleep
//! takes longer than that: the processor halts, and who has something for it interrupts it, which on a virtual machine is an
//! exit of both. So the worker looks for a moment, and lets others run between two looks: a client on its own processor, above
//! all. Where lulls are longer than that, looking is in vain, and it sleeps at once.
//!
//! # Invariants
//! 1. A worker looks for `LOOK` at most in a lull, and not at all where lulls have lately been longer on average.
//!
//! Source: the idle polling of Seastar, and of Linux in a guest (Documentation/virt/guest-halt-polling.rst).

use std::time::Duration;

/// For how long a worker looks. (On the machine it was measured on: 20 µs had all that 50 and 100 had.)
pub(crate) const LOOK: Duration = Duration::from_micros(20);
/// What a lull counts at most: two long ones in a row are to say that lulls are long, but not one.
const MOST: Duration = LOOK.saturating_mul(8);
/// By how much the average moves with each lull.
const WEIGHT: u32 = 8;

/// How long one worker's lulls have lately been.
#[derive(Debug, Default)]
pub(crate) struct Lulls {
    average: Duration,
}

impl Lulls {
    /// Whether looking may be worth it.
    pub(crate) fn are_short(&self) -> bool {
        // Those that looking ends are shorter than LOOK; one that was slept through lasts as long as waking up besides.
        self.average < 2 * LOOK
    }

    /// Another one is over, and has lasted so long.
    pub(crate) fn ended_after(&mut self, lasted: Duration) {
        self.average = (self.average * (WEIGHT - 1) + lasted.min(MOST)) / WEIGHT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lulls: impl IntoIterator<Item = Duration>) -> Lulls {
        let mut all = Lulls::default();
        lulls.into_iter().for_each(|lasted| all.ended_after(lasted));
        all
    }

    #[test]
    fn long_ones_say_so_after_a_few_and_short_ones_again() {
        let (short, long) = (LOOK / 2, Duration::from_secs(1));
        assert!(after([]).are_short());
        assert!(after([short; 100]).are_short());
        let mut lulls = after([short; 100]);
        lulls.ended_after(long);
        assert!(lulls.are_short(), "one is chance");
        lulls.ended_after(long);
        assert!(!lulls.are_short());
        let mut lulls = after([long; 1000]);
        let many = (0..100).take_while(|_| {
            lulls.ended_after(short);
            !lulls.are_short()
        });
        assert!((5..50).contains(&many.count()), "the past is forgotten");
    }

    #[test]
    fn what_looking_ends_half_of_the_time_is_worth_it() {
        let slept_through = 2 * LOOK;
        assert!(after([LOOK / 2, slept_through].repeat(100)).are_short());
        assert!(!after([3 * LOOK; 100]).are_short());
    }
}
