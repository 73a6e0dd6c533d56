//! Rows that are kept and put in order: ORDER BY.
//!
//! If only the first so many are wanted, rows behind them are dropped as soon as there are twice as many, and from then on not
//! taken: what is sorted is little, and few rows are copied ([`super::top_rows`]). If they take more memory than they may, all of them go to a file
//! ([`super::spilled_rows`]).
//!
//! Beside each row is an abbreviation of its keys: a number that is never greater than that of a row behind it. Most
//! rows differ in it, and values are compared only where they do not ([`abbreviation`](crate::expression::abbreviation)); where many do
//! not, they get keys ([`alike_rows`](crate::expression::alike_rows)).

use std::cmp::Ordering;

use bumpalo::Bump;
use meseta_types::{Collation, Datum, compare};
use smallvec::SmallVec;

use super::inside::Running;
use super::member_places::MemberPlaces;
use super::spare::recycle;
use super::spilled_rows::SpilledRows;
use super::top_rows::{TopRows, are_many};
use super::{MORE, Sink};
use crate::error::{Error, Result};
use crate::expression::abbreviation::abbreviation;
use crate::expression::alike_rows::AlikeRows;
use crate::expression::copy_into;
use crate::expression::sort_key::{SortKeys, collation_of};
use crate::query::plan::SortKey;
use crate::session::Counter;

/// Where the values are that a row is ordered by.
#[derive(Clone, Debug, Default)]
pub enum KeyPlaces {
    /// In front of the others.
    #[default]
    InFront,
    /// Among the others: the place of each.
    Among(SmallVec<[usize; 4]>),
}

impl KeyPlaces {
    /// In rows that have the values of columns in these places, if they have it.
    pub fn among(order: &[SortKey], place_of: impl Fn(u32) -> Option<usize>) -> Self {
        let place_of =
            |key: &SortKey| key.value.as_column().filter(|_| !key.value.orders_by_number()).and_then(&place_of);
        order.iter().map(place_of).collect::<Option<_>>().map_or(Self::InFront, Self::Among)
    }

    /// That of a key.
    #[inline]
    fn of(&self, key: usize) -> usize {
        match self {
            Self::InFront => key,
            Self::Among(places) => places[key],
        }
    }

    /// What a row is ordered by.
    fn values_of<'p, 'v: 'p>(
        &'p self,
        order: &[SortKey],
        row: &'p [Datum<'v>],
    ) -> impl Iterator<Item = Datum<'v>> + 'p {
        (0..order.len()).map(|key| row[self.of(key)])
    }
}

/// A row.
#[derive(Clone, Copy)]
struct Row<'a> {
    /// Of its keys; of no use if some row's have none.
    abbreviation: u128,
    values: &'a [Datum<'a>],
}

/// Rows in a file, and what makes their keys.
struct Spilled<'a> {
    keys: SortKeys<'a>,
    rows: SpilledRows,
    key: Vec<u8>,
}

impl Spilled<'_> {
    fn add<'v>(
        &mut self,
        keys: impl Iterator<Item = Datum<'v>>,
        row: &[Datum<'_>],
        running: &mut Running<'_>,
    ) -> Result<()> {
        self.key.clear();
        match self.keys.append(keys, running.context, &mut self.key) {
            true => self.rows.add(&self.key, row),
            false => Err(Error::out_of_sort_memory()),
        }
    }
}

/// Rows in an arena.
pub struct Kept<'a> {
    arena: &'a Bump,
    order: &'a [SortKey],
    key_places: KeyPlaces,
    rows: Vec<Row<'a>>,
    /// The rows, once there have been twice as many as are wanted.
    top: Option<TopRows>,
    /// Of which a row is made: as many as it has values.
    nulls: SmallVec<[Datum<'static>; 8]>,
    /// So many of the first are wanted.
    wanted: usize,
    /// Some keys are members of ENUMs or SETs, which go by their numbers.
    has_members: bool,
    /// All rows have an abbreviation.
    abbreviates: bool,
    bytes_left: usize,
    /// Where there are members of ENUMs and SETs in rows.
    members: MemberPlaces<'a>,
    /// The rows, once they have been too many for memory.
    spilled: Option<Spilled<'a>>,
}

impl<'a> Kept<'a> {
    /// No rows, in so many bytes of memory at the most; of which so many are wanted, if not all.
    pub fn new(arena: &'a Bump, order: &'a [SortKey], memory_limit: usize, wanted: Option<u64>) -> Self {
        Self {
            arena,
            order,
            key_places: KeyPlaces::InFront,
            rows: Vec::new(),
            top: None,
            nulls: SmallVec::new(),
            wanted: wanted.and_then(|wanted| usize::try_from(wanted).ok()).unwrap_or(usize::MAX),
            has_members: order.iter().any(|key| key.value.orders_by_number()),
            abbreviates: true,
            bytes_left: memory_limit,
            members: MemberPlaces::default(),
            spilled: None,
        }
    }

    /// The same, of rows that have members of ENUMs and SETs in these places.
    pub fn with_members(self, members: MemberPlaces<'a>) -> Self {
        Self { members, ..self }
    }

    /// The same, of rows that have there what they are ordered by.
    pub fn with_keys(self, key_places: KeyPlaces) -> Self {
        Self { key_places, ..self }
    }

    /// How many values are in front of those that are shown.
    fn keys_in_front(&self) -> usize {
        match self.key_places {
            KeyPlaces::InFront => self.order.len(),
            KeyPlaces::Among(_) => 0,
        }
    }

    /// Keeps a row, if it may be wanted. `keys` are the values that it is ordered by.
    pub fn add(&mut self, keys: &[Datum<'_>], row: &[Datum<'_>], running: &mut Running<'_>) -> Result<()> {
        let of_members: SmallVec<[Datum<'_>; 4]>;
        let keys = match self.has_members {
            true => {
                of_members = self.sort_values(keys);
                &*of_members
            }
            false => keys,
        };
        if let Some(spilled) = &mut self.spilled {
            return spilled.add(keys.iter().copied(), row, running);
        }
        let abbreviation = self.abbreviation(keys);
        self.abbreviates &= abbreviation.is_some();
        if self.is_behind(keys, abbreviation, running)? {
            return Ok(());
        }
        let abbreviation = abbreviation.unwrap_or(0);
        let keys = if matches!(self.key_places, KeyPlaces::InFront) { keys } else { &[][..] };
        if let Some(top) = &mut self.top {
            top.add(abbreviation, keys.iter().chain(row).copied());
            if top.is_due() {
                self.sort(running)?;
            }
            let is_large = self.top.as_ref().is_some_and(|top| top.bytes() > self.bytes_left);
            return if is_large { self.spill(running) } else { Ok(()) };
        }
        let (before, arena) = (self.arena.allocated_bytes(), self.arena);
        self.nulls.resize(keys.len() + row.len(), Datum::Null);
        // (Copied: a loop that fills is made for hundreds, and there are two as a rule.)
        let values: &mut [Datum<'a>] = arena.alloc_slice_copy(&self.nulls);
        for (place, (kept, value)) in values.iter_mut().zip(keys.iter().chain(row)).enumerate() {
            // Each goes straight to its place: to copy one would be to wait until all of it is there.
            match *value {
                Datum::Text(text, collation) => *kept = Datum::Text(arena.alloc_slice_copy(text), collation),
                member @ Datum::Member { .. } => {
                    let of = place.checked_sub(keys.len()).and_then(|place| self.members.type_at(place));
                    *kept = copy_into(member, of, arena);
                }
                other => *kept = copy_into(other, None, arena),
            }
        }
        self.rows.push(Row { abbreviation, values });
        let taken = self.arena.allocated_bytes() - before + size_of::<Row<'_>>();
        let Some(bytes_left) = self.bytes_left.checked_sub(taken) else { return self.spill(running) };
        self.bytes_left = bytes_left;
        if are_many(self.rows.len(), self.wanted) {
            self.sort(running)?;
            self.top = Some(TopRows::new(self.rows.drain(..).map(|row| (row.abbreviation, row.values))));
        }
        Ok(())
    }

    /// Whether a row that is ordered by these values is not wanted, whatever else it has: so that need not be made.
    pub fn passes_by(&self, keys: &[Datum<'_>], running: &mut Running<'_>) -> Result<bool> {
        if self.top.is_none() {
            return Ok(false);
        }
        let keys = self.sort_values(keys);
        self.is_behind(&keys, self.abbreviation(&keys), running)
    }

    /// What rows with these values are ordered by: of members of ENUMs and SETs their numbers.
    fn sort_values<'v>(&self, keys: &[Datum<'v>]) -> SmallVec<[Datum<'v>; 4]> {
        keys.iter().zip(self.order).map(|(value, key)| key.value.sort_value(*value)).collect()
    }

    #[inline]
    fn abbreviation(&self, keys: &[Datum<'_>]) -> Option<u128> {
        if self.abbreviates { abbreviation(keys.iter().copied(), self.order) } else { None }
    }

    /// Whether the rows that are wanted are there, and all come before one with these keys.
    #[inline]
    fn is_behind(&self, keys: &[Datum<'_>], abbreviation: Option<u128>, running: &mut Running<'_>) -> Result<bool> {
        let Some(top) = &self.top else { return Ok(false) };
        let (mut failed, (last_abbreviation, last)) = (None, top.last());
        let first = abbreviation.map_or(Ordering::Equal, |abbreviation| last_abbreviation.cmp(&abbreviation));
        let ordering = first.then_with(|| {
            let pairs = keys.iter().enumerate().map(|(at, key)| [last[self.key_places.of(at)].get(), *key]);
            keys_compared(self.order, pairs, running, &mut failed)
        });
        failed.map_or(Ok(ordering.is_le()), Err)
    }

    /// The rows go to a file, and those that follow. Error 1038: one has no key ([`sort_key`](crate::expression::sort_key)).
    fn spill(&mut self, running: &mut Running<'_>) -> Result<()> {
        let keys = SortKeys::new(self.order);
        let mut spilled = Spilled { keys, rows: SpilledRows::new(running), key: Vec::new() };
        let (places, in_front) = (&self.key_places, self.keys_in_front());
        let mut add = |row: &[Datum<'_>]| spilled.add(places.values_of(self.order, row), &row[in_front..], running);
        self.rows.drain(..).try_for_each(|row| add(row.values))?;
        if let Some(top) = self.top.take() {
            top.show(0, |row| add(row).map(|()| MORE))?;
        }
        self.spilled = Some(spilled);
        Ok(())
    }

    /// How many rows there are in memory.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Drops rows that are not to be kept after all; their memory stays taken.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&[Datum<'_>]) -> bool) {
        let keys = self.keys_in_front();
        self.rows.retain(|row| is_kept(&row.values[keys..]));
    }

    /// Puts them in order, and drops those that are not wanted; rows that are equal stay in the order in which they came.
    pub fn sort(&mut self, running: &mut Running<'_>) -> Result<()> {
        // (Those in a file are in order once they are read.)
        let (mut failed, order, places) = (None, self.order, &self.key_places);
        let (mut alike_rows, mut keys, memory) = (AlikeRows::default(), SortKeys::new(order), self.bytes_left);
        let mut by_all_keys = |rows: &mut [Row<'_>]| {
            let append_key = |row: Row<'_>, key: &mut Vec<u8>| {
                keys.append(places.values_of(order, row.values), running.context, key)
            };
            // (Its texts are in front of it: arenas grow downwards.)
            let prefetch = |row: Row<'_>| {
                let values = row.values.as_ptr().cast::<u8>();
                meseta_prefetch::bytes(
                    values.wrapping_sub(meseta_prefetch::LINE_LEN),
                    meseta_prefetch::LINE_LEN + size_of_val(row.values).min(meseta_prefetch::BEGINNING_LEN),
                );
            };
            if !alike_rows.sort(rows, memory, prefetch, append_key) {
                rows.sort_by(|one, other| sorted_by(order, places, one.values, other.values, running, &mut failed));
            }
        };
        if !self.abbreviates {
            by_all_keys(&mut self.rows);
        } else {
            self.rows.sort_by_key(|row| row.abbreviation);
            let alike = self.rows.chunk_by_mut(|one, other| one.abbreviation == other.abbreviation);
            alike.filter(|rows| rows.len() > 1).for_each(by_all_keys);
        }
        self.rows.truncate(self.wanted);
        if let Some(top) = &mut self.top {
            let is_abbreviated = self.abbreviates;
            top.sort(|[one_abbreviation, other_abbreviation], [one, other]| {
                let first = one_abbreviation.cmp(&other_abbreviation);
                if is_abbreviated { first } else { Ordering::Equal }.then_with(|| {
                    let pairs = (0..order.len()).map(|at| places.of(at));
                    let pairs = pairs.map(|place| [one[place].get(), other[place].get()]);
                    keys_compared(order, pairs, running, &mut failed)
                })
            });
        }
        failed.map_or(Ok(()), Err)
    }

    /// Of rows in order, drops those that are equal to the one in front of them.
    pub fn drop_equals(&mut self, running: &mut Running<'_>) -> Result<()> {
        self.spilled.iter_mut().for_each(|spilled| spilled.rows.drop_equals());
        let (mut failed, is_abbreviated) = (None, self.abbreviates);
        let (order, places) = (self.order, &self.key_places);
        self.rows.dedup_by(|one, before| {
            ordered_rows(order, places, is_abbreviated, before, one, running, &mut failed).is_eq()
        });
        failed.map_or(Ok(()), Err)
    }

    /// Shows them, without the values that they are ordered by.
    pub fn show(self, running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<()> {
        let in_memory = self.top.as_ref().map_or(self.rows.len(), TopRows::len);
        let rows = self.spilled.as_ref().map_or(in_memory, |spilled| spilled.rows.count());
        if !self.order.is_empty() {
            running.inside.facts.count(Counter::SortRows, rows as u64);
        }
        if let Some(spilled) = self.spilled {
            return spilled.rows.show(self.wanted, &self.members, running, sink);
        }
        let (mut spare, keys) = (Vec::new(), self.keys_in_front());
        let mut show = |values: &[Datum<'_>]| {
            if self.members.is_empty() {
                return sink(running, values);
            }
            let mut restored = recycle(std::mem::take(&mut spare));
            restored.extend_from_slice(values);
            self.members.restore(&mut restored);
            let flow = sink(running, &restored)?;
            spare = recycle(restored);
            Ok(flow)
        };
        if let Some(top) = self.top {
            return top.show(keys, show);
        }
        for row in &self.rows {
            if show(&row.values[keys..])?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// How two rows compare. The first error is kept; what fails counts as equal.
fn ordered_rows(
    order: &[SortKey],
    places: &KeyPlaces,
    is_abbreviated: bool,
    one: &Row<'_>,
    other: &Row<'_>,
    running: &mut Running<'_>,
    failed: &mut Option<Error>,
) -> Ordering {
    let first = if is_abbreviated { one.abbreviation.cmp(&other.abbreviation) } else { Ordering::Equal };
    first.then_with(|| sorted_by(order, places, one.values, other.values, running, failed))
}

/// How two rows compare by their values. The first error is kept; what fails counts as equal.
fn sorted_by(
    order: &[SortKey],
    places: &KeyPlaces,
    one: &[Datum<'_>],
    other: &[Datum<'_>],
    running: &mut Running<'_>,
    failed: &mut Option<Error>,
) -> Ordering {
    let pairs = places.values_of(order, one).zip(places.values_of(order, other)).map(|(one, other)| [one, other]);
    keys_compared(order, pairs, running, failed)
}

/// How two rows compare: of each key the one's value and the other's. The first error is kept; what fails counts as equal.
#[inline]
fn keys_compared<'v>(
    order: &[SortKey],
    pairs: impl Iterator<Item = [Datum<'v>; 2]>,
    running: &mut Running<'_>,
    failed: &mut Option<Error>,
) -> Ordering {
    for (key, [one, other]) in order.iter().zip(pairs) {
        let ordering = ordered(one, other, collation_of(key), running).unwrap_or_else(|error| {
            failed.get_or_insert(error);
            Ordering::Equal
        });
        let ordering = if key.descending { ordering.reverse() } else { ordering };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    Ordering::Equal
}

/// NULL comes before all values.
pub fn ordered(one: Datum<'_>, other: Datum<'_>, collation: Collation, running: &mut Running<'_>) -> Result<Ordering> {
    match (one.is_null(), other.is_null()) {
        (false, false) => Ok(compare(one, other, collation, running.context)?.unwrap_or(Ordering::Equal)),
        (one, other) => Ok(other.cmp(&one)),
    }
}
