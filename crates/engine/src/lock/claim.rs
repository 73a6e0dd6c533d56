//! What one owner has, or wants, at one key: a mode for the row, a mode for the gap below it, or leave to insert there.
//!
//! Above: `rows` makes claims of requests, `queue` compares them. InnoDB keeps a lock for each request and compares
//! modes and flags pair by pair (`lock_rec_has_to_wait`). Its rules come apart into two questions that have nothing to
//! do with each other, and so one claim an owner and key is enough:
//!
//! ```text
//!                        held:  record S   record X   gap S or X   insert intention   favoured one
//!   wanted: record S              -         waits         -               -                -
//!           record X            waits       waits         -               -                -
//!           gap S or X            -           -           -               -              waits
//!           insert intention      -           -         waits             -                -
//!
//!   next-key = record and gap; it waits for what its record or its gap waits for, and is waited for as both.
//! ```
//!
//! *Favoured* is the insert intention of one for whom a deadlock has been broken. Gaps are had beside each other, and those who
//! insert wait for all of them: where many lock one gap and then insert into it, each but one becomes a deadlock's victim, and
//! before the last of those who are left is served others have the gap that came later. So they would go on for ever, and nothing
//! would be inserted (512 clients that delete what is not there and insert it: 10,000 deadlocks a second, and no transaction).
//! Who comes after the deadlock waits until the one it was broken for has inserted. InnoDB lets them in.
//!
//! # Invariants
//! 1. The end of an index is a gap only: no claim there has a record.
//! 2. An insert intention is a question, not a possession: nothing remains of it once it is granted. (InnoDB leaves a
//!    lock behind that nobody ever waits for.) But a favoured one remains until its owner has inserted, or ends.
//!
//! # Sources and tests
//! MySQL 8.4, storage/innobase/lock/lock0lock.cc: `lock_rec_has_to_wait`, `lock_rec_has_expl`, and include/lock0priv.ic:
//! `lock_mode_compatibility_matrix`. The tests here spell the matrix out; `tests/lock_model.rs` compares sequences of
//! operations with InnoDB's own formulation.

use super::queue::Claim;

/// What an owner may do, or keeps others from doing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    /// Others may share it, and nobody may change the row.
    Shared,
    /// Nobody else may lock or change the row.
    Exclusive,
}

/// How far a lock on a key reaches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reach {
    /// The row with this key, and not the gap below it.
    Record,
    /// The gap between this key and the one below it: nobody inserts there.
    Gap,
    /// Both.
    NextKey,
    /// Leave to insert into the gap below this key.
    InsertIntention,
}

/// A wish to insert into a gap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Insertion {
    /// Waits for those who have the gap.
    Plain,
    /// And whoever wants the gap waits for it.
    Favoured,
}

/// One owner's claim at one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RowClaim {
    /// To the row itself.
    pub record: Option<Mode>,
    /// To the gap below it.
    pub gap: Option<Mode>,
    /// To insert into the gap below it.
    pub insertion: Option<Insertion>,
}

impl RowClaim {
    /// What a request asks for.
    pub fn new(mode: Mode, reach: Reach, at_supremum: bool) -> Self {
        let record = matches!(reach, Reach::Record | Reach::NextKey) && !at_supremum;
        let gap = matches!(reach, Reach::Gap | Reach::NextKey);
        Self {
            record: record.then_some(mode),
            gap: gap.then_some(mode),
            insertion: matches!(reach, Reach::InsertIntention).then_some(Insertion::Plain),
        }
    }

    /// The gap only.
    pub fn gap(mode: Mode) -> Self {
        Self { gap: Some(mode), ..Self::default() }
    }

    /// Without leave to insert: that was made use of.
    pub fn having_inserted(self) -> Self {
        Self { insertion: None, ..self }
    }

    /// What a writer's row header stands for.
    pub fn writer() -> Self {
        Self { record: Some(Mode::Exclusive), ..Self::default() }
    }

    /// The claim in the words of a request: the stronger mode, and how far it reaches.
    pub fn as_asked(self) -> (Mode, Reach) {
        let mode = self.record.max(self.gap).unwrap_or(Mode::Exclusive);
        let reach = match (self.record, self.gap) {
            (Some(_), Some(_)) => Reach::NextKey,
            (Some(_), None) => Reach::Record,
            (None, Some(_)) => Reach::Gap,
            (None, None) => Reach::InsertIntention,
        };
        (mode, reach)
    }
}

impl Claim for RowClaim {
    fn waits_for(self, other: Self) -> bool {
        let records = match (self.record, other.record) {
            (Some(wanted), Some(held)) => wanted == Mode::Exclusive || held == Mode::Exclusive,
            _ => false,
        };
        records
            || self.insertion.is_some() && other.gap.is_some()
            || self.gap.is_some() && other.insertion == Some(Insertion::Favoured)
    }

    fn beyond(self, held: Self) -> Self {
        Self {
            record: self.record.filter(|_| self.record > held.record),
            gap: self.gap.filter(|_| self.gap > held.gap),
            insertion: self.insertion,
        }
    }

    fn joined(self, other: Self) -> Self {
        Self {
            record: self.record.max(other.record),
            gap: self.gap.max(other.gap),
            insertion: self.insertion.max(other.insertion),
        }
    }

    fn lasting(self) -> Self {
        Self { insertion: self.insertion.filter(|&insertion| insertion == Insertion::Favoured), ..self }
    }

    fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// An insertion never overtakes one who waits for the gap: it would be made behind the back of one who, once
    /// served, takes the gap for unchanged. InnoDB refuses it too, and lets it come to a deadlock. But for a favoured one those
    /// wait who came later, and they look again.
    fn may_overtake(self, held: Self) -> bool {
        self.insertion.is_none() || held.insertion.is_some()
    }

    fn favoured(self) -> Self {
        Self { insertion: self.insertion.map(|_| Insertion::Favoured), ..self }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MODES: [Mode; 2] = [Mode::Shared, Mode::Exclusive];
    const REACHES: [Reach; 4] = [Reach::Record, Reach::Gap, Reach::NextKey, Reach::InsertIntention];

    /// Rows: wanted; columns: held; both in the order S record, X record, S gap, X gap, S next-key, X next-key, insert
    /// intention. `w` for waits.
    const MATRIX: [&str; 7] = ["-w---w-", "ww--ww-", "-------", "-------", "-w---w-", "ww--ww-", "--wwww-"];

    fn in_order() -> Vec<(Mode, Reach)> {
        let mut all: Vec<_> = REACHES[..3].iter().flat_map(|&reach| MODES.map(|mode| (mode, reach))).collect();
        all.push((Mode::Exclusive, Reach::InsertIntention));
        all
    }

    #[test]
    fn the_matrix_is_innodbs() {
        for (row, &(mode, reach)) in in_order().iter().enumerate() {
            for (column, &(held_mode, held_reach)) in in_order().iter().enumerate() {
                let wanted = RowClaim::new(mode, reach, false);
                let held = RowClaim::new(held_mode, held_reach, false);
                let expected = MATRIX[row].as_bytes()[column] == b'w';
                let pair = format!("{mode:?} {reach:?} against {held_mode:?} {held_reach:?}");
                assert_eq!(wanted.waits_for(held), expected, "{pair}");
            }
        }
    }

    #[test]
    fn who_wants_the_gap_waits_for_a_favoured_insertion_and_nobody_else_does() {
        let insertion = RowClaim::new(Mode::Exclusive, Reach::InsertIntention, false);
        let favoured = insertion.favoured();
        for (mode, reach) in in_order() {
            let wanted = RowClaim::new(mode, reach, false);
            assert_eq!(wanted.waits_for(favoured), matches!(reach, Reach::Gap | Reach::NextKey), "{mode:?} {reach:?}");
            assert_eq!(favoured.waits_for(wanted), insertion.waits_for(wanted), "{mode:?} {reach:?}");
            if wanted != insertion {
                assert_eq!(wanted.favoured(), wanted);
            }
        }
        assert!(insertion.lasting().is_nothing());
        assert_eq!(favoured.lasting(), favoured);
        assert!(favoured.having_inserted().is_nothing());
        assert_eq!(insertion.beyond(favoured), insertion, "who is favoured still has to ask");
        assert!(insertion.may_overtake(favoured) && !insertion.may_overtake(RowClaim::gap(Mode::Exclusive)));
    }

    #[test]
    fn at_the_end_of_an_index_only_insertions_wait() {
        for (mode, reach) in in_order() {
            for (held_mode, held_reach) in in_order() {
                let wanted = RowClaim::new(mode, reach, true);
                let held = RowClaim::new(held_mode, held_reach, true);
                let expected = reach == Reach::InsertIntention && matches!(held_reach, Reach::Gap | Reach::NextKey);
                assert_eq!(wanted.waits_for(held), expected);
            }
        }
    }

    #[test]
    fn a_claim_covers_what_is_weaker_and_nothing_covers_an_insertion() {
        let next_key = RowClaim::new(Mode::Shared, Reach::NextKey, false);
        for (mode, reach) in in_order() {
            let wanted = RowClaim::new(mode, reach, false);
            let covered = mode == Mode::Shared && reach != Reach::InsertIntention;
            assert_eq!(wanted.beyond(next_key).is_nothing(), covered, "{mode:?} {reach:?}");
        }
        let both = RowClaim::new(Mode::Exclusive, Reach::NextKey, false).beyond(next_key);
        assert_eq!(both, RowClaim::new(Mode::Exclusive, Reach::NextKey, false));
        let record = RowClaim::new(Mode::Exclusive, Reach::Record, false);
        assert_eq!(both.beyond(record), RowClaim::gap(Mode::Exclusive), "only what is missing is asked for");
    }

    #[test]
    fn a_claim_reads_as_it_was_asked_for() {
        for (mode, reach) in in_order() {
            assert_eq!(RowClaim::new(mode, reach, false).as_asked(), (mode, reach));
        }
    }
}
