//! Thinning: versions that nobody sees go, though an old snapshot keeps what is older.
//!
//! ```text
//!   snapshots in use:       17                                         90 and later
//!   versions of an entry:   9        30       42       55       88     newest
//!                           seen     ------ nobody sees these ------
//!
//!   records:   [88: was 55]  [55: was 42]  [42: was 30]  [30: was 9]     before
//!              [88: was 9]                                               after
//! ```
//!
//! Purge takes what lies behind the horizon; one snapshot that is held keeps the horizon where it is. Then this looks at
//! the transactions that purge cannot take, the oldest of a slot first: at the versions just below those that it made. What lies between it and a version that somebody sees is cut out: its record gets what the lowest of the others had
//! before. So a snapshot keeps one version of each row that has changed since, and no more. What is kept for one that goes
//! before an older one does is found when so much is kept that all of it is looked at again.
//!
//! Above: whoever commits thins a few transactions of its slot if none there could be purged, so that writers never produce
//! faster than they thin; and the engine's own thread thins the rest. Below: `undo`, `time`, `purge`, which takes what is
//! left when the snapshot goes.
//!
//! # Invariants
//! 1. A version is cut out only if it was replaced by a commit at or below `InUse::below`, and no snapshot in use lies
//!    between its commit and that one: then no snapshot to come does. (`time`)
//! 2. What the upper record is to say is logged before the lower one goes. A crash in between leaves both, which is as it
//!    was.
//! 3. A reader that is on its way down may miss a record, or find one that does not speak of its entry any more: it reads
//!    the entry again. (`version`)
//! 4. Records of transactions that are not committed are not touched; those of one that is tell changes that were made
//!    (`change`, invariant 2).
//! 5. One thread at a time thins an entry. Two that thin entries of one transaction may count a record as left that is not:
//!    then it stays on the list, though nothing of it is there, until the snapshot goes.
//!
//! # What it costs
//! For each transaction a read of its record and of that of the version below; one of the two is written anew, the other is
//! removed. Purge, whose work this is in part, reads one and removes it.

use std::cell::Cell;

use smallvec::SmallVec;

use crate::core::Core;
use crate::error::Result;
use crate::ids::{IndexId, SlotNo, TransactionId};
use crate::purge::{Ended, remove_entry};
use crate::row::{Corrupt, VersionHeader};
use crate::time::{InUse, State};
use crate::undo::{Before, Delta, EntryChange, UndoError, append_change, begin_record, read_record};

/// Which record.
#[derive(Clone, Copy, PartialEq, Eq)]
struct RecordId {
    slot: SlotNo,
    transaction: TransactionId,
    number: u64,
}

impl RecordId {
    fn of(header: VersionHeader) -> Self {
        Self { slot: header.slot, transaction: header.writer, number: header.number }
    }

    fn corrupt(self, problem: Corrupt) -> UndoError {
        UndoError::Corrupt { slot: self.slot, transaction: self.transaction, number: self.number, problem }
    }
}

/// Thins at most so many transactions of a slot, if old snapshots keep them from being purged. Returns how many.
pub fn thin_slot(core: &Core, slot: SlotNo, most: usize) -> Result<usize> {
    let horizon = core.time.horizon();
    core.purge.thin(slot, most, horizon, |ended, in_use| thin_transaction(core, slot, ended, in_use))
}

/// Thins once more what a slot keeps, if that has become much. Returns how many.
pub fn thin_slot_again(core: &Core, slot: SlotNo) -> Result<usize> {
    core.purge.thin_again(slot, |ended, in_use| thin_transaction(core, slot, ended, in_use))
}

/// Thins what a committed transaction changed. Returns how many of its records are left; `None` if somebody else is thinning
/// one of its entries.
fn thin_transaction(core: &Core, slot: SlotNo, ended: &Ended, in_use: &InUse) -> Result<Option<u64>> {
    let mut record = Vec::new();
    let mut left = 0;
    for number in 0..=ended.last {
        if !core.undo.read(slot, ended.transaction, number, &mut record)? {
            continue;
        }
        let id = RecordId { slot, transaction: ended.transaction, number };
        let Some(stays) = thin_record(core, id, &record, ended, in_use)? else { return Ok(None) };
        left += u64::from(stays);
    }
    Ok(Some(left))
}

/// What becomes of one change in a record.
enum Outcome {
    Stays,
    /// It gets what a lower record said, if it still says what it did.
    Takes {
        before: Option<Below>,
        applied: Cell<bool>,
    },
    /// The record does not speak of the entry any more.
    Goes,
}

/// Thins the versions below the changes of one record. Returns whether the record stays; `None` if somebody else is thinning one
/// of its entries.
fn thin_record(core: &Core, id: RecordId, record: &[u8], ended: &Ended, in_use: &InUse) -> Result<Option<bool>> {
    let changes = read_record(record).map_err(|problem| id.corrupt(problem))?.1;
    let changes: SmallVec<[EntryChange<'_>; 4]> =
        changes.collect::<Result<_, _>>().map_err(|problem| id.corrupt(problem))?;
    if changes.iter().all(|change| change.before.is_none() && !change.deletes) {
        // There is nothing below what was inserted. If there is nothing at all, it told no more than the fate.
        if changes.is_empty() {
            core.undo.remove(id.slot, id.transaction, id.number)?;
        }
        return Ok(Some(!changes.is_empty()));
    }
    let entries = changes.iter().map(|change| (change.index, change.key));
    let Some(_entries) = core.purge.try_lock_entries(entries) else { return Ok(None) };
    let mut lower = Lower { core, records: Vec::new(), cuts: Vec::new() };
    let mut outcomes: SmallVec<[Outcome; 4]> = SmallVec::new();
    for (position, change) in changes.iter().enumerate() {
        outcomes.push(lower.thin_change(position, change, id, ended, in_use)?);
    }
    if outcomes.iter().all(|outcome| matches!(outcome, Outcome::Stays)) {
        return Ok(Some(true));
    }
    let stays = edit(core, id, |found, out| {
        let Some(position) = changes.iter().position(|change| (change.index, change.key) == (found.index, found.key))
        else {
            append_change(found, out);
            return;
        };
        match &outcomes[position] {
            Outcome::Goes => {}
            Outcome::Takes { before, applied } if found.before == changes[position].before => {
                applied.set(true);
                append_change(&EntryChange { before: before.as_ref().map(Below::as_before), ..*found }, out);
            }
            // Others have thinned it since the record was read.
            Outcome::Stays | Outcome::Takes { .. } => append_change(found, out),
        }
    })?;
    lower.forget(|position| match &outcomes[position] {
        Outcome::Stays => None,
        Outcome::Goes => Some((changes[position].index, changes[position].key)),
        Outcome::Takes { applied, .. } => applied.get().then_some((changes[position].index, changes[position].key)),
    })?;
    Ok(Some(stays))
}

/// An entry below a version, as that version's record is to tell it.
struct Below {
    header: VersionHeader,
    /// Makes its payload from that version's.
    delta: Vec<u8>,
}

impl Below {
    fn of(before: Before<'_>) -> Self {
        Self { header: before.header, delta: before.payload.as_bytes().to_vec() }
    }

    fn as_before(&self) -> Before<'_> {
        Before { header: self.header, payload: Delta::of(&self.delta) }
    }

    /// What lies below it, as the version above it is to tell that.
    fn below(&self, before: Before<'_>) -> std::result::Result<Self, Corrupt> {
        let mut delta = Vec::new();
        before.payload.append_behind(Delta::of(&self.delta), &mut delta)?;
        Ok(Self { header: before.header, delta })
    }
}

/// The records below one, as they are needed.
struct Lower<'e> {
    core: &'e Core,
    /// Those that have been read.
    records: Vec<(RecordId, Vec<u8>)>,
    /// Those that are not to speak of an entry any more: of that of the upper record's change with this number.
    cuts: Vec<(RecordId, usize)>,
}

impl Lower<'_> {
    /// What becomes of a change: it takes what was before the versions below it that nobody sees.
    fn thin_change(
        &mut self,
        position: usize,
        change: &EntryChange<'_>,
        id: RecordId,
        ended: &Ended,
        in_use: &InUse,
    ) -> Result<Outcome> {
        let core = self.core;
        // Nobody looks at what has been dropped.
        let Some(index) = core.indexes.get(change.index) else { return Ok(Outcome::Goes) };
        let (mut below, mut is_cut) = (change.before.map(Below::of), false);
        while let Some(lowest) = &below {
            let State::Committed(from) = core.time.state_of(lowest.header.writer) else { break };
            if in_use.is_seen(from, ended.time) {
                break;
            }
            let record = RecordId::of(lowest.header);
            let Some(next) = self.below(lowest, record, change.index, change.key)? else { break };
            (below, is_cut) = (next, true);
            self.cuts.push((record, position));
        }
        if change.deletes && below.is_none() {
            // A tombstone below which there is nothing: nobody sees either, and it goes if nothing is above it.
            let is_own = |header: VersionHeader| header.deleted && RecordId::of(header) == id;
            if remove_entry(&index, change.key, &core.locks, is_own)? {
                return Ok(Outcome::Goes);
            }
        }
        Ok(if is_cut { Outcome::Takes { before: below, applied: Cell::new(false) } } else { Outcome::Stays })
    }

    /// What was there below a version, which names this record, of an entry; `None` if the record is gone, or does not speak
    /// of it.
    fn below(&mut self, version: &Below, id: RecordId, index: IndexId, key: &[u8]) -> Result<Option<Option<Below>>> {
        if !self.records.iter().any(|(read, _)| *read == id) {
            let mut record = Vec::new();
            if !self.core.undo.read(id.slot, id.transaction, id.number, &mut record)? {
                return Ok(None);
            }
            self.records.push((id, record));
        }
        let record = self.records.iter().find(|(read, _)| *read == id).map_or(&[][..], |(_, record)| record);
        for change in read_record(record).map_err(|problem| id.corrupt(problem))?.1 {
            let change = change.map_err(|problem| id.corrupt(problem))?;
            if change.index == index && change.key == key {
                let below = change.before.map(|before| version.below(before)).transpose();
                return Ok(Some(below.map_err(|problem| id.corrupt(problem))?));
            }
        }
        Ok(None)
    }

    /// Has the records that were cut out not speak of their entries any more: `cut` says of which, by the change's number.
    fn forget<'k>(&self, cut: impl Fn(usize) -> Option<(IndexId, &'k [u8])>) -> Result<()> {
        for (id, _) in &self.records {
            let cuts = || self.cuts.iter().filter(|(of, _)| of == id).filter_map(|(_, position)| cut(*position));
            if cuts().next().is_some() {
                edit(self.core, *id, |found, out| {
                    if !cuts().any(|entry| entry == (found.index, found.key)) {
                        append_change(found, out);
                    }
                })?;
            }
        }
        Ok(())
    }
}

/// Writes a record anew, if it is there: `append` is shown each change in turn. It goes if it speaks of nothing then. Returns
/// whether it stays.
fn edit(core: &Core, id: RecordId, append: impl Fn(&EntryChange<'_>, &mut Vec<u8>)) -> Result<bool> {
    let edited = core.undo.edit(id.slot, id.transaction, id.number, |record, out| {
        let (fate, changes) = read_record(record)?;
        begin_record(fate, out);
        let begun = out.len();
        for old in changes {
            append(&old?, out);
        }
        Ok(out.len() > begun)
    })?;
    if edited == Some(false) {
        core.purge.one_record_less(id.slot, id.transaction);
    }
    Ok(edited == Some(true))
}
