//! The lock table against InnoDB's own formulation: a list of locks with flags, compared pair by pair.
//!
//! One thread, nobody waits: what is granted and what is refused, what an insertion would have to wait for, what becomes
//! of gaps. The list is a transcription of `lock_rec_has_to_wait`, `lock_rec_has_expl`, `lock_update_insert` and
//! `lock_update_delete` of lock0lock.cc.
#![cfg(not(loom))]

use std::collections::BTreeSet;
use std::sync::Arc;

use meseta_engine::ids::{IndexId, TableId};
use meseta_engine::lock::{IndexLocks, Key, LockTable, Mode, OnConflict, Owner, OwnerId, Reach, Request};
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
    Insert { key: u8 },
    Remove { key: u8 },
    Unlock { owner: usize, key: u8 },
    End { owner: usize },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0..OWNERS, 0..=END, any::<bool>(), 0..4u8)
            .prop_map(|(owner, key, exclusive, reach)| Step::Lock { owner, key, exclusive, reach }),
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

    fn request(&self, lock: Lock) -> Request<'_> {
        Request { index: &self.index, key: self.key(lock.key), mode: lock.mode, reach: lock.reach }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn as_innodb_would(steps in prop::collection::vec(step(), 1..80), shards in 1..5usize) {
        let mut model = Model::default();
        let real = Real {
            locks: LockTable::new(shards),
            index: IndexLocks::new(TableId(1), IndexId(1)),
            owners: (0..OWNERS).map(|id| Owner::new(OwnerId(id as u64), id)).collect(),
            names: (0..END).map(|key| [key]).collect(),
        };
        for step in steps {
            match step {
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
                Step::Insert { key } if !model.keys.contains(&key) => {
                    real.locks.inserted(&real.owners[0], &real.index, real.key(key), real.key(model.successor(key)));
                    model.insert(key);
                }
                Step::Remove { key } if model.keys.contains(&key) => {
                    real.locks.removed(&real.index, real.key(key), real.key(model.successor(key)));
                    model.remove(key);
                }
                Step::Unlock { owner, key } => {
                    real.locks.unlock(&real.owners[owner], &real.index, real.key(key));
                    model.unlock(owner, key);
                }
                Step::End { owner } => {
                    real.locks.release_all(&real.owners[owner]);
                    model.locks.retain(|lock| lock.owner != owner);
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
            prop_assert_eq!(real.index.is_quiet(), model.locks.is_empty());
        }
        real.owners.iter().for_each(|owner| real.locks.release_all(owner));
        prop_assert!(real.index.is_quiet());
    }
}
