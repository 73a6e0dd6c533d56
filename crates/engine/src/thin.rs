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
//! the transactions that purge cannot take, each once: at the versions of the entries that it changed, from the newest
//! down. What lies between two versions that somebody sees is cut out: the upper one's record gets what the lowest of the
//! others had before. So a snapshot keeps one version of each row that has changed since, and no more.
//!
//! Above: the engine's own thread. Below: `undo`, `time`, `purge`, which takes what is left when the snapshot goes.
//!
//! # Invariants
//! 1. A version is cut out only if it was replaced by a commit at or below `InUse::below`, and no snapshot in use lies
//!    between its commit and that one: then no snapshot to come does. (`time`)
//! 2. What the upper record is to say is logged before the lower one goes. A crash in between leaves both, which is as it
//!    was.
//! 3. A reader that is on its way down may miss a record, or find one that does not speak of its entry any more: it reads
//!    the entry again. (`version`)
//! 4. Records of transactions that are not committed are not touched. One thread at a time thins.
//!
//! # What it costs
//! For each transaction about what it cost to write its records: each is read, most are removed.

use crate::core::Core;
use crate::error::Result;
use crate::ids::{CommitTime, IndexId, SlotNo, TransactionId};
use crate::index::Index;
use crate::purge::{Ended, remove_entry};
use crate::row::{Corrupt, VersionHeader};
use crate::time::{InUse, State};
use crate::undo::{EntryChange, UndoError, append_change, begin_record, read_record};

/// A version of an entry that its record tells more about.
struct Link {
    header: VersionHeader,
    /// When it was committed; `None` if it is not.
    time: Option<CommitTime>,
    /// What the record says was there before, header and all.
    before: Option<Vec<u8>>,
    /// `before` is not what the record says any more.
    changed: bool,
}

/// Thins what a committed transaction changed. Returns how many of its records are left.
pub fn thin_transaction(core: &Core, slot: SlotNo, ended: &Ended, in_use: &InUse) -> Result<u64> {
    let mut record = Vec::new();
    let mut left = 0;
    for number in 0..=ended.last {
        if !core.undo.read(slot, ended.transaction, number, &mut record)? {
            continue;
        }
        let corrupt = |problem| UndoError::Corrupt { slot, transaction: ended.transaction, number, problem };
        for change in read_record(&record).map_err(corrupt)?.1 {
            let change = change.map_err(corrupt)?;
            match core.indexes.get(change.index) {
                Some(index) if thin_entry(core, &index, change.key, in_use, (ended.transaction, number))? => {}
                // Nobody looks at what has been dropped, or at a record whose change was never made.
                _ => forget(core, slot, ended.transaction, number, change.index, change.key)?,
            }
        }
        left += u64::from(core.undo.read(slot, ended.transaction, number, &mut record)?);
    }
    Ok(left)
}

/// Thins the versions of one entry. False if none of them names this record.
fn thin_entry(
    core: &Core,
    index: &Index,
    key: &[u8],
    in_use: &InUse,
    (id, number): (TransactionId, u64),
) -> Result<bool> {
    let Chain { mut links, is_whole } = chain(core, index, key)?;
    let is_named = links.iter().any(|link| (link.header.writer, link.header.number) == (id, number));
    // If everybody sees the transaction by now, the chain may have ended before it, and purge takes it.
    let is_orphan = is_whole && !is_named && core.time.state_of(id) != State::Frozen;
    // The lowest version that somebody sees so far.
    let mut upper = 0;
    let mut cut_out = Vec::new();
    for at in 1..links.len() {
        let is_seen = match (links[at].time, links[at - 1].time) {
            (Some(from), Some(until)) => in_use.is_seen(from, until),
            _ => true,
        };
        if is_seen {
            upper = at;
        } else {
            links[upper].before = links[at].before.take();
            links[upper].changed = true;
            cut_out.push(at);
        }
    }
    for link in links.iter().filter(|link| link.changed) {
        rewrite(core, index.id(), key, link)?;
    }
    for at in cut_out {
        let VersionHeader { slot, writer, number, .. } = links[at].header;
        forget(core, slot, writer, number, index.id(), key)?;
    }
    // A tombstone below which there is nothing: nobody sees either.
    if let Some(Link { header, time: Some(time), before: None, .. }) = links.first()
        && header.deleted
        && *time <= in_use.below
    {
        remove_entry(index, key, &core.locks, |found| found == *header)?;
        forget(core, header.slot, header.writer, header.number, index.id(), key)?;
    }
    Ok(!is_orphan)
}

/// The versions of an entry that have records, from the newest down.
struct Chain {
    links: Vec<Link>,
    /// Down to the first that everybody sees, or to where there was nothing; else somebody is changing it.
    is_whole: bool,
}

fn chain(core: &Core, index: &Index, key: &[u8]) -> Result<Chain> {
    let corrupt = |problem| crate::version::VersionError::Corrupt { index: index.id(), problem };
    let mut links = Vec::new();
    let mut record = Vec::new();
    let mut value = Vec::new();
    if !index.tree.get_into(key, &mut value)? {
        return Ok(Chain { links, is_whole: true });
    }
    let (mut header, _) = VersionHeader::split_off(&value).map_err(corrupt)?;
    loop {
        let time = match core.time.state_of(header.writer) {
            State::Committed(time) => Some(time),
            State::Active => None,
            State::Frozen => return Ok(Chain { links, is_whole: true }),
            State::RolledBack(_) => return Ok(Chain { links, is_whole: false }),
        };
        if !core.undo.read(header.slot, header.writer, header.number, &mut record)? {
            return Ok(Chain { links, is_whole: false });
        }
        let Some(change) = change_of(&record, index.id(), key).map_err(corrupt)? else {
            return Ok(Chain { links, is_whole: false });
        };
        let before = change.before.map(<[u8]>::to_vec);
        let next = before.as_deref().map(VersionHeader::split_off).transpose().map_err(corrupt)?;
        let next = next.map(|(header, _)| header);
        links.push(Link { header, time, before, changed: false });
        match next {
            Some(next) => header = next,
            None => return Ok(Chain { links, is_whole: true }),
        }
    }
}

/// What a record says of an entry.
fn change_of<'r>(record: &'r [u8], index: IndexId, key: &[u8]) -> Result<Option<EntryChange<'r>>, Corrupt> {
    for change in read_record(record)?.1 {
        let change = change?;
        if change.index == index && change.key == key {
            return Ok(Some(change));
        }
    }
    Ok(None)
}

/// Has a record say what its link says.
fn rewrite(core: &Core, index: IndexId, key: &[u8], link: &Link) -> Result<()> {
    let VersionHeader { slot, writer, number, .. } = link.header;
    edit(core, slot, writer, number, |change, out| {
        let is_it = change.index == index && change.key == key;
        let before = if is_it { link.before.as_deref() } else { change.before };
        append_change(&EntryChange { before, ..*change }, out);
    })
}

/// Has a record not speak of an entry any more; it goes, if it speaks of nothing then.
fn forget(core: &Core, slot: SlotNo, id: TransactionId, number: u64, index: IndexId, key: &[u8]) -> Result<()> {
    edit(core, slot, id, number, |change, out| {
        if change.index != index || change.key != key {
            append_change(change, out);
        }
    })
}

/// Writes a record anew, if it is there: `append` is shown each change in turn.
fn edit(
    core: &Core,
    slot: SlotNo,
    id: TransactionId,
    number: u64,
    append: impl Fn(&EntryChange<'_>, &mut Vec<u8>),
) -> Result<()> {
    let edited = core.undo.edit(slot, id, number, |record, out| {
        let (fate, changes) = read_record(record)?;
        begin_record(fate, out);
        let begun = out.len();
        for old in changes {
            append(&old?, out);
        }
        Ok(out.len() > begun)
    })?;
    if edited == Some(false) {
        core.purge.one_record_less(slot, id);
    }
    Ok(())
}
