//! The lock table against InnoDB's own formulation: a list of locks with flags, compared pair by pair.
//!
//! One thread, nobody waits: what is granted and what is refused, what an insertion would have to wait for, what becomes
//! of gaps. Keys that are locked together are locked one by one in the list. The list is a transcription of `lock_rec_has_to_wait`, `lock_rec_has_expl`, `lock_update_insert` and
//! `lock_update_delete` of lock0lock.cc.
#![cfg(not(loom))]

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use meseta_engine::ids::{IndexId, TableId};
use meseta_engine::lock::{IndexLocks, Key, LockTable, Mode, OnConflict, Owner, OwnerId, Reach, Request, Wanted};
use proptest::prelude::*;

const OWNERS: usize = 4;
/// Keys are 0 to 8; the end is above.
const END: u8 = 9;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Lock {
    owner: usize,
    key: u8,
    mode: Mode,
    reach: Reach,
}

#[derive(Default)]
struct Model {
    keys: BTreeSet<u8>,
    locks: Vec<Lock>,
}

impl Model {
    fn successor(&self, key: u8) -> u8 {
        self.keys.range(key + 1..).next().copied().unwrap_or(END)
    }

    fn has_to_wait(wanted: Lock, held: Lock) -> bool {
        let compatible = wanted.mode == Mode::Shared && held.mode == Mode::Shared;
        if wanted.owner == held.owner || wanted.key != held.key || compatible {
            return false;
        }
        let insertion = wanted.reach == Reach::InsertIntention;
        let at_end = wanted.key == END;
        if (at_end || wanted.reach == Reach::Gap) && !insertion {
            return false;
        }
        if !insertion && held.reach == Reach::Gap {
            return false;
        }
        !(insertion && held.reach == Reach::Record)
    }

    fn is_covered(&self, wanted: Lock) -> bool {
        let covers = |reach| match wanted.reach {
            Reach::InsertIntention => false,
            _ if wanted.key == END => true,
            Reach::Record => matches!(reach, Reach::Record | Reach::NextKey),
            Reach::Gap => matches!(reach, Reach::Gap | Reach::NextKey),
            Reach::NextKey => reach == Reach::NextKey,
        };
        self.locks.iter().any(|held| {
            held.owner == wanted.owner && held.key == wanted.key && held.mode >= wanted.mode && covers(held.reach)
        })
    }

    fn would_wait(&self, wanted: Lock) -> bool {
        !self.is_covered(wanted) && self.locks.iter().any(|&held| Self::has_to_wait(wanted, held))
    }

    fn lock(&mut self, wanted: Lock) -> bool {
        if self.would_wait(wanted) {
            return false;
        }
        if wanted.reach != Reach::InsertIntention && !self.is_covered(wanted) {
            self.locks.push(wanted);
        }
        true
    }

    fn insert(&mut self, key: u8) {
        let successor = self.successor(key);
        let heirs = self.locks.iter().filter(|lock| lock.key == successor && lock.reach != Reach::Record);
        let heirs: Vec<_> = heirs.map(|lock| Lock { key, reach: Reach::Gap, ..*lock }).collect();
        self.locks.extend(heirs);
        self.keys.insert(key);
    }

    fn remove(&mut self, key: u8) {
        self.keys.remove(&key);
        let successor = self.successor(key);
        for lock in self.locks.iter_mut().filter(|lock| lock.key == key) {
            *lock = Lock { key: successor, reach: Reach::Gap, ..*lock };
        }
    }

    fn unlock(&mut self, owner: usize, key: u8) {
        self.locks.retain(|lock| !(lock.owner == owner && lock.key == key && lock.reach == Reach::Record));
        for lock in self.locks.iter_mut().filter(|lock| lock.owner == owner && lock.key == key) {
            lock.reach = Reach::Gap;
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Lock { owner: usize, key: u8, exclusive: bool, reach: u8 },
    Together { owner: usize, from: u8, through: u8, exclusive: bool },
    Listed { owner: usize, from: u8, through: u8, exclusive: bool },
    Insert { key: u8 },
    Remove { key: u8 },
    Unlock { owner: usize, key: u8 },
    End { owner: usize },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..OWNERS, 0..=END, any::<bool>(), 0..4u8)
            .prop_map(|(owner, key, exclusive, reach)| Step::Lock { owner, key, exclusive, reach }),
        4 => (0..OWNERS, 0..END - 1, 1..END, any::<bool>())
            .prop_map(|(owner, from, through, exclusive)| Step::Together { owner, from, through, exclusive }),
        4 => (0..OWNERS, 0..END - 1, 1..END, any::<bool>())
            .prop_map(|(owner, from, through, exclusive)| Step::Listed { owner, from, through, exclusive }),
        2 => (0..END).prop_map(|key| Step::Insert { key }),
        2 => (0..END).prop_map(|key| Step::Remove { key }),
        1 => (0..OWNERS, 0..END).prop_map(|(owner, key)| Step::Unlock { owner, key }),
        1 => (0..OWNERS).prop_map(|owner| Step::End { owner }),
    ]
}

const REACHES: [Reach; 4] = [Reach::Record, Reach::Gap, Reach::NextKey, Reach::InsertIntention];

struct Real {
    locks: LockTable,
    index: Arc<IndexLocks>,
    owners: Vec<Arc<Owner>>,
    names: Vec<[u8; 1]>,
}

impl Real {
    fn key(&self, key: u8) -> Key<'_> {
        if key == END { Key::Supremum } else { Key::Row(&self.names[usize::from(key)]) }
    }

    /// Locks keys together, up to the first that is not to be had; how many, or none where that is not to be done.
    fn lock_together(&self, owner: usize, mode: Mode, wanted: Wanted<'_>, keys: &[u8]) -> Option<usize> {
        let (locks, owner) = (&self.locks, &self.owners[owner]);
        let reach = if matches!(wanted, Wanted::Stretch(_)) { Reach::NextKey } else { Reach::Record };
        let others = locks.reach(owner, &self.index, mode, wanted)?;
        let free = |key: &u8| {
            let request = Request { index: &self.index, key: self.key(*key), mode, reach };
            !others || locks.is_free(owner, &request)
        };
        let free = keys.iter().copied().take_while(free).map(|key| self.names[usize::from(key)].as_slice());
        let free: Vec<&[u8]> = free.collect();
        Some(locks.hold(owner, &self.index, free.into_iter()))
    }

    fn request(&self, lock: Lock) -> Request<'_> {
        Request { index: &self.index, key: self.key(lock.key), mode: lock.mode, reach: lock.reach }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn as_innodb_would(steps in prop::collection::vec(step(), 1..80), shards in 1..5usize) {
        let mut model = Model::default();
        let real = Real {
            locks: LockTable::new(shards),
            index: IndexLocks::new(TableId(1), IndexId(1)),
            owners: (0..OWNERS).map(|id| Owner::new(OwnerId(id as u64), id)).collect(),
            names: (0..END).map(|key| [key]).collect(),
        };
        // What was locked together.
        let mut spans: Vec<(usize, Mode, RangeInclusive<u8>)> = Vec::new();
        let mut listed: Vec<(usize, u8)> = Vec::new();
        let mut lists: BTreeSet<usize> = BTreeSet::new();
        for step in steps {
            match step {
                Step::Together { owner, from, through, exclusive } => {
                    let mode = if exclusive { Mode::Exclusive } else { Mode::Shared };
                    let keys: Vec<u8> = model.keys.iter().copied().filter(|key| (from + 1..=through).contains(key)).collect();
                    let Some(last) = keys.last() else { continue };
                    let wanted = Wanted::Stretch([&[from], &[*last]]);
                    let Some(held) = real.lock_together(owner, mode, wanted, &keys) else { continue };
                    for (at, &key) in keys.iter().enumerate().take(held + 1) {
                        let wanted = Lock { owner, key, mode, reach: Reach::NextKey };
                        prop_assert_eq!(model.lock(wanted), at < held, "{:?} of {:?}", wanted, keys);
                    }
                    if let Some(&last) = keys[..held].last() {
                        spans.push((owner, mode, from + 1..=last));
                    }
                }
                Step::Lock { owner, key, exclusive, reach } => {
                    let reach = REACHES[usize::from(reach)];
                    // There are no rows but those that are there, and an insert intention is exclusive.
                    if key != END && !model.keys.contains(&key) || key == END && reach == Reach::Record {
                        continue;
                    }
                    let exclusive = exclusive || reach == Reach::InsertIntention;
                    let mode = if exclusive { Mode::Exclusive } else { Mode::Shared };
                    let wanted = Lock { owner, key, mode, reach };
                    let answer = real.locks.lock(&real.owners[owner], &real.request(wanted), OnConflict::Fail);
                    prop_assert_eq!(answer.is_ok(), model.lock(wanted), "{:?}", wanted);
                }
                // Some keys without gaps, each second one; or one alone.
                Step::Listed { owner, from, through, exclusive } => {
                    let mode = if exclusive { Mode::Exclusive } else { Mode::Shared };
                    let keys = model.keys.iter().copied().filter(|key| (from + 1..=through).contains(key));
                    let keys: Vec<u8> = keys.step_by(2).collect();
                    let Some(last) = keys.last() else { continue };
                    let (from, last) = ([from], [*last]);
                    let wanted = if keys.len() == 1 { Wanted::Record(&last) } else { Wanted::Records([&from, &last]) };
                    let Some(held) = real.lock_together(owner, mode, wanted, &keys) else { continue };
                    for (at, &key) in keys.iter().enumerate().take(held + 1) {
                        let wanted = Lock { owner, key, mode, reach: Reach::Record };
                        prop_assert_eq!(model.lock(wanted), at < held, "{:?} of {:?}", wanted, keys);
                    }
                    listed.extend(keys[..held].iter().map(|&key| (owner, key)));
                    if held > 0 {
                        lists.insert(owner);
                    }
                }
                Step::Insert { key } if !model.keys.contains(&key) => {
                    // Between what was locked together only its owner inserts, and has the new key as well.
                    let around: Vec<_> = spans.iter().filter(|(_, _, keys)| keys.contains(&key)).cloned().collect();
                    let by = around.first().map_or(0, |(owner, ..)| *owner);
                    let successor = model.successor(key);
                    let wish = Lock { owner: by, key: successor, mode: Mode::Exclusive, reach: Reach::InsertIntention };
                    if !around.is_empty() && (around.iter().any(|(owner, ..)| *owner != by) || model.would_wait(wish)) {
                        continue;
                    }
                    real.locks.inserted(&real.owners[by], &real.index, real.key(key), real.key(successor));
                    model.insert(key);
                    let own = around.iter().map(|&(owner, mode, _)| Lock { owner, key, mode, reach: Reach::NextKey });
                    model.locks.extend(own);
                }
                Step::Remove { key } if model.keys.contains(&key) => {
                    real.locks.removed(&real.index, real.key(key), real.key(model.successor(key)));
                    model.remove(key);
                    listed.retain(|&(_, of)| of != key);
                }
                // What was locked together is not given back one by one.
                Step::Unlock { owner, key }
                    if listed.contains(&(owner, key))
                        || spans.iter().any(|(of, _, keys)| *of == owner && keys.contains(&key)) => {}
                Step::Unlock { owner, key } => {
                    real.locks.unlock(&real.owners[owner], &real.index, real.key(key));
                    model.unlock(owner, key);
                }
                Step::End { owner } => {
                    real.locks.release_all(&real.owners[owner]);
                    model.locks.retain(|lock| lock.owner != owner);
                    spans.retain(|(of, ..)| *of != owner);
                    listed.retain(|(of, _)| *of != owner);
                    lists.retain(|of| *of != owner);
                }
                Step::Insert { .. } | Step::Remove { .. } => {}
            }
            for owner in 0..OWNERS {
                for key in model.keys.iter().copied().chain([END]) {
                    for (mode, reach) in [
                        (Mode::Shared, Reach::NextKey),
                        (Mode::Exclusive, Reach::NextKey),
                        (Mode::Exclusive, Reach::InsertIntention),
                    ] {
                        let wanted = Lock { owner, key, mode, reach };
                        let waits = real.locks.would_wait(&real.owners[owner], &real.request(wanted));
                        prop_assert_eq!(waits, model.would_wait(wanted), "{:?}", wanted);
                    }
                }
            }
            prop_assert_eq!(real.index.is_quiet(), model.locks.is_empty() && spans.is_empty() && lists.is_empty());
            real.locks.check();
        }
        real.owners.iter().for_each(|owner| real.locks.release_all(owner));
        prop_assert!(real.index.is_quiet());
    }
}
