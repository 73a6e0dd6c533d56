//! Estimates for a planner: how many rows, how many different values.
//!
//! An index's entries are looked at in a few leaves, all in each and the first behind it: leaves are not equally full, and values often
//! end where leaves do. The share of neighbours that differ in their first parts, times the number of entries, is the number of
//! different values of these parts, or one less: InnoDB's way. Where there are few values no two neighbours may differ; but those of
//! different leaves do.
//!
//! How unlike values are in their numbers of rows shows at entries picked at random: of a value that many rows have, more are picked.
//!
//! # Invariants
//! 1. What is estimated costs as much whatever the table's size.

use meseta_storage::Portion;

use super::{Payload, Table, TableIndex};
use crate::error::Result;
use crate::row::{Corrupt, KeyPart, KeyRange, Value, VersionHeader};

/// Leaves in which an index is looked at: innodb_stats_persistent_sample_pages.
pub const SAMPLES: usize = 20;
/// Where few neighbours differ, so many times the leaves are looked at, at the most,
const ROUNDS: usize = 5;
/// and no more when so many pairs have been compared.
const MANY: u64 = 10_000;
/// So many pairs that differ tell what share does: to a seventh.
const ENOUGH: u64 = 50;

/// What an index looks like.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct IndexStatistics {
    /// Its entries, about;
    pub entries: u64,
    /// and how many of them are in a leaf, on average.
    pub per_leaf: f64,
    /// For its first part, its first two, and so on: different values, about;
    pub distinct: Vec<u64>,
    /// and how many entries have the same values there as one that is picked at random, on average.
    pub alike: Vec<f64>,
}

impl Table {
    /// About how many rows there are.
    pub fn estimate_rows(&self) -> Result<u64> {
        self.estimate_range(0, &KeyRange::ALL)
    }

    /// About how many entries of an index are in a range; of few, exactly how many. Tombstones are counted too.
    pub fn estimate_range(&self, index: usize, range: &KeyRange) -> Result<u64> {
        Ok(self.indexes[index].index.tree.estimate_range(&range.from, range.to.as_deref())?)
    }

    /// Looks at an index in `samples` leaves that `random` picks: it is given a number and returns one below.
    pub fn sample_index(
        &self,
        index: usize,
        samples: usize,
        mut random: impl FnMut(usize) -> usize,
    ) -> Result<IndexStatistics> {
        let entries = self.estimate_range(index, &KeyRange::ALL)?;
        let index = &self.indexes[index];
        let parts = index.layout.parts.len();
        let mut seen = Neighbours { pairs: 0, different: vec![0; parts] };
        let (mut places, mut looked_at) = (Vec::new(), 0);
        'looked: for _ in 0..ROUNDS {
            for _ in 0..samples {
                if let Some((from, count)) = index.index.tree.leaf_at(&mut random)? {
                    seen.look(index, &from, count)?;
                    places.push(from);
                    looked_at += count;
                    // There is nothing else.
                    if count as u64 >= entries {
                        break 'looked;
                    }
                }
            }
            if seen.pairs >= entries.min(MANY) || seen.different.iter().all(|&different| different >= ENOUGH) {
                break;
            }
        }
        let mut alike = vec![0.0; parts];
        for key in places.iter().take(samples) {
            for (at, entries) in alike.iter_mut().enumerate() {
                let same = index.layout.range_of_same(key, at + 1).map_err(|problem| index.index.damaged(problem))?;
                *entries += index.index.tree.estimate_range(&same.from, same.to.as_deref())? as f64;
            }
        }
        let per_leaf = looked_at as f64 / places.len().max(1) as f64;
        let picked = places.len().min(samples).max(1) as f64;
        alike.iter_mut().for_each(|entries| *entries /= picked);
        places.sort_unstable();
        let mut among_places = vec![1; parts];
        for pair in places.windows(2) {
            let same = same_parts(&index.layout.parts, &pair[0], &pair[1]);
            let same = same.map_err(|problem| index.index.damaged(problem))?;
            among_places[same..].iter_mut().for_each(|distinct| *distinct += 1);
        }
        let share = |different: u64| match seen.pairs {
            0 => entries.min(1),
            pairs => 1 + (entries.saturating_sub(1) as f64 * different as f64 / pairs as f64).round() as u64,
        };
        let distinct = seen.different.iter().zip(among_places);
        let distinct = distinct.map(|(&different, least)| share(different).max(least).min(entries)).collect();
        Ok(IndexStatistics { entries, per_leaf, distinct, alike })
    }

    /// Shows rows of so many leaves that `random` picks, the first ones in each, so many at the most: the values of all columns, of which
    /// those that are not asked for may be NULL. Of each row it is the newest version, whoever wrote it. Of long rows what
    /// stands in the leaf is read: those that have not all of these columns there are passed over.
    pub fn sample_rows(
        &self,
        columns: &[u16],
        leaves: usize,
        rows_a_leaf: usize,
        mut random: impl FnMut(usize) -> usize,
        mut show: impl FnMut(&[Value<'_>]),
    ) -> Result<()> {
        let rows = self.rows();
        let mut buffers = [Vec::new(), Vec::new()];
        for _ in 0..leaves {
            let Some((from, count)) = rows.index.tree.leaf_at(&mut random)? else { continue };
            entries_from(rows, &from, count.min(rows_a_leaf), |key, payload| {
                if payload.portion == Portion::Whole || rows.layout.has_in_front(columns, payload.bytes) {
                    let mut values = Vec::new();
                    rows.layout.read_columns(columns, key, payload, &mut buffers, &mut values)?;
                    show(&values);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Neighbours that have been compared.
struct Neighbours {
    pairs: u64,
    /// For the first part, the first two, ...: how many pairs differ in them.
    different: Vec<u64>,
}

impl Neighbours {
    /// Compares so many entries, from this key on, each with the one behind it.
    fn look(&mut self, index: &TableIndex, from: &[u8], count: usize) -> Result<()> {
        let mut before: Option<Vec<u8>> = None;
        entries_from(index, from, count + 1, |key, _| {
            if let Some(before) = &before {
                self.pairs += 1;
                let same = same_parts(&index.layout.parts, before, key)?;
                self.different[same..].iter_mut().for_each(|different| *different += 1);
            }
            before = Some(key.to_vec());
            Ok(())
        })
    }
}

/// Shows so many entries, from this key on, that are not deleted: the key, and what is behind the version header, as far as it stands in
/// the leaf.
fn entries_from(
    index: &TableIndex,
    from: &[u8],
    count: usize,
    mut show: impl FnMut(&[u8], Payload<'_>) -> Result<(), Corrupt>,
) -> Result<()> {
    let corrupt = |problem| index.index.damaged(problem);
    let mut cursor = index.index.tree.cursor();
    cursor.leave_out_rests();
    let mut is_on_entry = cursor.seek(from)?;
    for _ in 0..count {
        if !is_on_entry {
            break;
        }
        let (header, bytes) = VersionHeader::split_off(cursor.value()).map_err(corrupt)?;
        if !header.deleted {
            show(cursor.key(), Payload { bytes, portion: cursor.portion() }).map_err(corrupt)?;
        }
        is_on_entry = cursor.next()?;
    }
    Ok(())
}

/// In how many parts, from the first on, two keys are the same.
fn same_parts(parts: &[KeyPart], one: &[u8], other: &[u8]) -> Result<usize, Corrupt> {
    let (mut one, mut other) = (one, other);
    for (at, part) in parts.iter().enumerate() {
        let (one_rest, other_rest) = (part.skip(one)?, part.skip(other)?);
        if one[..one.len() - one_rest.len()] != other[..other.len() - other_rest.len()] {
            return Ok(at);
        }
        (one, other) = (one_rest, other_rest);
    }
    Ok(parts.len())
}
