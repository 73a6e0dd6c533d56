//! An undo record: the entries that one change of one row touched, and what was there before.
//!
//! ```text
//!   fate u8 | change | change | ...                          little-endian
//!
//!   change:  kind u8 | index u32 | key length u16 | key | header before, 16 | delta length u32 | delta
//!                                                       \_____________ with bit 2 only _____________/
//!   kind:    bit 1: a tombstone is there now      bit 2: an entry was there before
//!            bit 0 stood for one whose value followed in full, and is refused
//! ```
//!
//! The fate counts in a transaction's record 0 only, where it is patched; elsewhere it is 0.
//!
//! # Invariants
//! 1. Decoding never panics, whatever the bytes.

use super::delta::Delta;
use crate::ids::IndexId;
use crate::row::{Corrupt, VERSION_HEADER_LEN, VersionHeader};

/// What became of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Undecided: a crash rolls it back.
    Active = 0,
    /// Promised to an XA coordinator: only it decides.
    Prepared = 1,
    /// Committed.
    Committed = 2,
}

impl Fate {
    fn from_byte(byte: u8) -> Result<Self, Corrupt> {
        match byte {
            0 => Ok(Fate::Active),
            1 => Ok(Fate::Prepared),
            2 => Ok(Fate::Committed),
            _ => Err(Corrupt::Flags),
        }
    }
}

/// An entry that was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EntryChange<'a> {
    /// The index that it is an entry of.
    pub index: IndexId,
    /// Its key.
    pub key: &'a [u8],
    /// The entry before; `None` if there was none.
    pub before: Option<Before<'a>>,
    /// Whether the change left a tombstone.
    pub deletes: bool,
}

/// What an entry was before it was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Before<'a> {
    /// Its header.
    pub header: VersionHeader,
    /// Makes what followed the header from what follows it now.
    pub payload: Delta<'a>,
}

const DELETES: u8 = 2;
const HAD_ENTRY: u8 = 4;

/// Begins a record.
pub fn begin_record(fate: Fate, out: &mut Vec<u8>) {
    out.clear();
    out.push(fate as u8);
}

/// Appends a change to a record.
pub fn append_change(change: &EntryChange<'_>, out: &mut Vec<u8>) {
    let had_entry = if change.before.is_some() { HAD_ENTRY } else { 0 };
    let deletes = if change.deletes { DELETES } else { 0 };
    out.push(had_entry | deletes);
    out.extend_from_slice(&change.index.0.to_le_bytes());
    let key_len = u16::try_from(change.key.len()).expect("the tree refuses keys this long");
    out.extend_from_slice(&key_len.to_le_bytes());
    out.extend_from_slice(change.key);
    if let Some(before) = change.before {
        let delta = before.payload.as_bytes();
        let len = u32::try_from(delta.len()).expect("the tree refuses values this long");
        out.extend_from_slice(&before.header.to_bytes());
        out.extend_from_slice(&len.to_le_bytes());
        out.extend_from_slice(delta);
    }
}

/// A record's fate and its changes.
pub fn read_record(record: &[u8]) -> Result<(Fate, Changes<'_>), Corrupt> {
    let (&fate, rest) = record.split_first().ok_or(Corrupt::Truncated)?;
    Ok((Fate::from_byte(fate)?, Changes { rest }))
}

/// The changes of a record, in the order in which they were made. After an error there are no more.
#[derive(Clone, Copy, Debug)]
pub struct Changes<'a> {
    rest: &'a [u8],
}

impl<'a> Changes<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8], Corrupt> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(Corrupt::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], Corrupt> {
        Ok(self.take(N)?.try_into().expect("as many as were asked for"))
    }

    fn read(&mut self) -> Result<EntryChange<'a>, Corrupt> {
        let [kind] = self.take_array()?;
        let index = IndexId(u32::from_le_bytes(self.take_array()?));
        let key_len = u16::from_le_bytes(self.take_array()?);
        let key = self.take(usize::from(key_len))?;
        if kind & !(HAD_ENTRY | DELETES) != 0 {
            return Err(Corrupt::Flags);
        }
        let before = match kind & HAD_ENTRY {
            0 => None,
            _ => {
                let header = VersionHeader::from_bytes(&self.take_array::<VERSION_HEADER_LEN>()?)?;
                let len = u32::from_le_bytes(self.take_array()?);
                Some(Before { header, payload: Delta::of(self.take(len as usize)?) })
            }
        };
        Ok(EntryChange { index, key, before, deletes: kind & DELETES != 0 })
    }
}

impl<'a> Iterator for Changes<'a> {
    type Item = Result<EntryChange<'a>, Corrupt>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let change = self.read();
        if change.is_err() {
            self.rest = &[];
        }
        Some(change)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::{SlotNo, TransactionId};

    #[derive(Clone, Debug)]
    struct Owned {
        index: u32,
        key: Vec<u8>,
        deletes: bool,
        writer: Option<u64>,
        delta: Vec<u8>,
    }

    impl Owned {
        fn as_change(&self) -> EntryChange<'_> {
            let before = self.writer.map(|writer| Before {
                header: VersionHeader {
                    writer: TransactionId(writer),
                    deleted: writer % 2 == 0,
                    slot: SlotNo(3),
                    number: 4,
                },
                payload: Delta::of(&self.delta),
            });
            EntryChange { index: IndexId(self.index), key: &self.key, before, deletes: self.deletes }
        }
    }

    fn owned() -> impl Strategy<Value = Owned> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..40);
        (any::<u32>(), bytes(), any::<bool>(), any::<Option<u64>>(), bytes())
            .prop_map(|(index, key, deletes, writer, delta)| Owned { index, key, deletes, writer, delta })
    }

    fn encoded(fate: Fate, changes: &[Owned]) -> Vec<u8> {
        let mut record = vec![0xFF; 3];
        begin_record(fate, &mut record);
        for change in changes {
            append_change(&change.as_change(), &mut record);
        }
        record
    }

    proptest! {
        #[test]
        fn a_record_comes_back(
            changes in proptest::collection::vec(owned(), 0..5),
            fate in prop_oneof![Just(Fate::Active), Just(Fate::Prepared), Just(Fate::Committed)],
        ) {
            let record = encoded(fate, &changes);
            let (read, found) = read_record(&record).unwrap();
            prop_assert_eq!(read, fate);
            let found: Vec<_> = found.map(Result::unwrap).collect();
            prop_assert_eq!(found, changes.iter().map(Owned::as_change).collect::<Vec<_>>());
        }

        #[test]
        fn a_record_cut_short_says_so(
            changes in proptest::collection::vec(owned(), 1..4), cut in any::<prop::sample::Index>(),
        ) {
            let record = encoded(Fate::Active, &changes);
            let ends: Vec<_> = (1..=changes.len()).map(|n| encoded(Fate::Active, &changes[..n]).len()).collect();
            let cut = cut.index(record.len());
            match read_record(&record[..cut]) {
                Err(problem) => prop_assert_eq!((cut, problem), (0, Corrupt::Truncated)),
                Ok((_, found)) => {
                    let whole = cut == 1 || ends.contains(&cut);
                    prop_assert_eq!(found.clone().any(|change| change == Err(Corrupt::Truncated)), !whole);
                }
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Ok((_, changes)) = read_record(&bytes) {
                prop_assert!(changes.count() <= bytes.len());
            }
        }
    }

    #[test]
    fn a_fate_or_a_kind_that_means_nothing_is_refused() {
        assert_eq!(read_record(&[3]).map(|_| ()), Err(Corrupt::Flags));
        for kind in [1, 8] {
            let record = [0, kind, 0, 0, 0, 0, 0, 0];
            assert_eq!(read_record(&record).unwrap().1.next(), Some(Err(Corrupt::Flags)));
        }
    }
}
