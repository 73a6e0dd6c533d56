//! A store against the simplest thing that could be right: a `BTreeMap` for each tree.
//!
//! Random sequences of every operation there is run on both, on a store so tiny that a few hundred entries make it
//! split, merge, evict and write back all the time. Each answer must be the same, and after each sequence every page
//! must be sound and owned once; when the trees are dropped, every page must be free again. A sequence that fails is
//! shrunk to a short one.
//!
//! The sequences are 160, or `MESETA_MODEL_RUNS`; they follow from the seed 1, or `MESETA_MODEL_SEED`.

mod common;

use std::collections::BTreeSet;
use std::ops::Bound;

use common::*;
use meseta_sim::{SeededRandom, SimDisk};
use meseta_storage::{Change, Cursor, ErrorKind, Store, Tree, TreeId};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// A value, small to print: a seed and a length.
#[derive(Clone, Copy)]
struct Value(u8, u16);

impl Value {
    fn bytes(self) -> Vec<u8> {
        value_of(b"value", self.0.into(), self.1.into())
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Value({}, {})", self.0, self.1)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(Vec<u8>, Value),
    /// These one after the other, until the leaf has been asked so often.
    InsertRun(Vec<(Vec<u8>, Value)>, u8),
    Put(Vec<u8>, Value),
    Update(Vec<u8>, Value),
    Remove(Vec<u8>),
    Patch(Vec<u8>, u16, u16),
    Modify(Vec<u8>, Modification),
    Get(Vec<u8>),
    /// Removes so many entries, from the first one at or above the key.
    RemoveRun(Vec<u8>, u8),
    /// The same at once: those that end in a multiple of the second number.
    RemoveRange(Vec<u8>, u16, u8),
    /// A walk on its own, on the way forward up to a key.
    Walk(Seek, Option<Vec<u8>>, Vec<bool>),
    /// The cursor that stays: changes go on around it.
    Seek(Seek),
    Steps(Vec<bool>),
    Estimate(Vec<u8>, Option<Vec<u8>>),
    /// So many ascending entries behind the last one. With the flag, one more that does not ascend.
    BulkLoad(u16, Value, bool),
    /// The tree that the following steps are about.
    Turn(u8),
    CreateTree,
    DropTree,
    Checkpoint,
    Clean,
    /// With the flag, closed in order before; otherwise given up, with nothing lost.
    Reopen(bool),
}

#[derive(Clone, Copy, Debug)]
enum Modification {
    Keep,
    Put(Value),
    Remove,
    /// The value twice, or `x` if there is none.
    Double,
    /// So many bytes less in front, and these in their place.
    Front(u16, Value),
}

#[derive(Clone, Debug)]
enum Seek {
    At(Vec<u8>),
    Above(Vec<u8>),
    Below(Vec<u8>),
    First,
    Last,
}

// ---- what sequences are made of -------------------------------------------------------------------------------------

/// Keys that collide often, share long prefixes, differ in their last byte only, are as long or short as can be.
fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        20 => (0u32..400).prop_map(|n| n.to_be_bytes().to_vec()),
        8 => (0u8..150).prop_map(|n| [vec![b'p'; 200], vec![n]].concat()),
        4 => (0u8..60).prop_map(|n| [vec![b'p'; 224], vec![n]].concat()),
        3 => (0u8..60).prop_map(|n| [vec![n / 8], vec![b'q'; 223], vec![n % 8]].concat()),
        2 => (0usize..=225).prop_map(|len| vec![0x00; len]),
        2 => (0usize..=225).prop_map(|len| vec![0xFF; len]),
        4 => vec(prop_oneof![Just(0x00u8), Just(0xFF), Just(b'p'), any::<u8>()], 0..6),
        1 => vec(any::<u8>(), 0..=225),
        1 => Just(Vec::new()),
    ]
}

/// Mostly short; some around the length at which a value moves to pages of its own; some of several pages.
fn value() -> impl Strategy<Value = Value> {
    let len = prop_oneof![12 => 0u16..60, 5 => 60u16..320, 2 => 76u16..84, 2 => 310u16..330, 2 => 320u16..60_000];
    (any::<u8>(), len).prop_map(|(seed, len)| Value(seed, len))
}

fn seek() -> impl Strategy<Value = Seek> {
    prop_oneof![
        key().prop_map(Seek::At),
        key().prop_map(Seek::Above),
        key().prop_map(Seek::Below),
        Just(Seek::First),
        Just(Seek::Last),
    ]
}

fn modification() -> impl Strategy<Value = Modification> {
    use Modification::*;
    let front = (0u16..700, any::<u8>(), 0u16..700).prop_map(|(less, seed, len)| Front(less, Value(seed, len)));
    prop_oneof![1 => Just(Keep), 1 => value().prop_map(Put), 1 => Just(Remove), 1 => Just(Double), 4 => front]
}

/// Entries that ascend from a key, or that do not.
fn entries() -> impl Strategy<Value = Vec<(Vec<u8>, Value)>> {
    let ascending = (0u32..400, vec(value(), 0..60))
        .prop_map(|(from, values)| (from..).map(|n| n.to_be_bytes().to_vec()).zip(values).collect());
    prop_oneof![2 => ascending, 1 => vec((key(), value()), 0..20)]
}

/// Mostly one way, sometimes there and back.
fn directions() -> impl Strategy<Value = Vec<bool>> {
    prop_oneof![
        (any::<bool>(), 0usize..120).prop_map(|(way, count)| vec![way; count]),
        vec(any::<bool>(), 0..40),
        vec(prop::bool::weighted(0.9), 0..80),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => (key(), value()).prop_map(|(key, value)| Step::Put(key, value)),
        10 => (key(), value()).prop_map(|(key, value)| Step::Insert(key, value)),
        6 => (entries(), prop_oneof![3 => Just(u8::MAX), 1 => 0u8..6]).prop_map(|(run, asked)| Step::InsertRun(run, asked)),
        4 => (key(), value()).prop_map(|(key, value)| Step::Update(key, value)),
        16 => key().prop_map(Step::Remove),
        4 => (key(), any::<u8>()).prop_map(|(key, count)| Step::RemoveRun(key, count)),
        4 => (key(), 0u16..600, prop_oneof![Just(1u8), 2u8..5]).prop_map(|(key, count, of)| Step::RemoveRange(key, count, of)),
        3 => (key(), 0u16..400, 0u16..50).prop_map(|(key, at, len)| Step::Patch(key, at, len)),
        9 => (key(), modification()).prop_map(|(key, modification)| Step::Modify(key, modification)),
        6 => key().prop_map(Step::Get),
        4 => (seek(), proptest::option::of(key()), directions()).prop_map(|(seek, end, ways)| Step::Walk(seek, end, ways)),
        3 => seek().prop_map(Step::Seek),
        6 => directions().prop_map(Step::Steps),
        2 => (key(), proptest::option::of(key())).prop_map(|(from, to)| Step::Estimate(from, to)),
        3 => (0u16..200, value(), prop::bool::weighted(0.2)).prop_map(|(n, v, bad)| Step::BulkLoad(n, v, bad)),
        4 => any::<u8>().prop_map(Step::Turn),
        1 => Just(Step::CreateTree),
        1 => Just(Step::DropTree),
        1 => Just(Step::Checkpoint),
        2 => Just(Step::Clean),
        1 => any::<bool>().prop_map(Step::Reopen),
    ]
}

// ---- both at once ---------------------------------------------------------------------------------------------------

/// The store, and what should be in it.
struct Twin {
    disk: SimDisk,
    store: Option<Store>,
    trees: Vec<(TreeId, Model)>,
    turn: usize,
    walk: Option<Walk>,
}

/// Of a cursor that stays while its tree changes around it.
struct Walk {
    tree: TreeId,
    /// Keys that have been changed since the cursor was placed: of these it may tell old or new.
    touched: BTreeSet<Vec<u8>>,
}

impl Twin {
    fn new() -> Self {
        let disk = SimDisk::new(1);
        let store = open(&disk);
        let mut twin = Self { disk, store: Some(store), trees: Vec::new(), turn: 0, walk: None };
        twin.create_tree();
        twin
    }

    fn store(&self) -> &Store {
        self.store.as_ref().expect("open")
    }

    fn tree(&self) -> Tree {
        self.store().open_tree(self.trees[self.turn].0).expect("the tree is there")
    }

    fn model(&self) -> &Model {
        &self.trees[self.turn].1
    }

    fn create_tree(&mut self) {
        let id = self.store().create_tree().expect("there is space").id();
        self.trees.push((id, Model::new()));
        self.turn = self.trees.len() - 1;
    }

    /// Pages that belong to somebody.
    fn used_pages(&self) -> u64 {
        let figures = self.store().figures();
        figures.file_pages - figures.free_pages
    }

    /// What the model becomes when `key` gets this value.
    fn set(&mut self, key: &[u8], value: Option<Vec<u8>>) {
        let (id, model) = &mut self.trees[self.turn];
        if let Some(walk) = self.walk.as_mut().filter(|walk| walk.tree == *id) {
            walk.touched.insert(key.to_vec());
        }
        match value {
            Some(value) => model.insert(key.to_vec(), value),
            None => model.remove(key),
        };
    }

    fn go(&mut self, steps: &[Step]) {
        let mut steps = steps.iter().peekable();
        while let Some(step) = steps.next() {
            let Step::Seek(seek) = step else {
                self.take(step, None);
                continue;
            };
            let tree = self.tree();
            let mut cursor = tree.cursor();
            place(&mut cursor, seek, None, self.model());
            self.walk = Some(Walk { tree: tree.id(), touched: BTreeSet::new() });
            while let Some(step) = steps.next_if(|step| !self.ends_walk(step)) {
                self.take(step, Some(&mut cursor));
            }
            self.walk = None;
        }
    }

    /// Whether a cursor that stays does not outlive that step.
    fn ends_walk(&self, step: &Step) -> bool {
        match step {
            Step::Seek(_) | Step::Reopen(_) => true,
            // (The last tree is not dropped.)
            Step::DropTree if self.trees.len() > 1 => {
                self.walk.as_ref().is_some_and(|walk| walk.tree == self.trees[self.turn].0)
            }
            _ => false,
        }
    }

    fn take(&mut self, step: &Step, walker: Option<&mut Cursor<'_>>) {
        let tree = self.tree();
        match step {
            Step::Insert(key, value) => match tree.insert(key, &value.bytes()) {
                Ok(_) => {
                    assert!(!self.model().contains_key(key), "inserted twice");
                    self.set(key, Some(value.bytes()));
                }
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::KeyExists), "{error:?}");
                    assert!(self.model().contains_key(key), "the key does not exist");
                }
            },
            Step::InsertRun(run, asked) => {
                let run: Vec<_> = run.iter().map(|(key, value)| (key.clone(), value.bytes())).collect();
                let entries: Vec<_> = run.iter().map(|(key, value)| (key.as_slice(), value.as_slice())).collect();
                let mut asks = 0..*asked;
                let inserted = tree.insert_run(&entries, || asks.next().is_some()).unwrap();
                for (key, value) in &run[..inserted] {
                    assert!(!self.model().contains_key(key), "inserted twice");
                    self.set(key, Some(value.clone()));
                }
                if let Some((key, value)) = run.get(inserted) {
                    let is_long = key.len() + value.len() > tree.inline_len_max();
                    assert!(
                        is_long || self.model().contains_key(key) || asks.is_empty(),
                        "it could have been inserted"
                    );
                }
            }
            Step::Put(key, value) => {
                tree.put(key, &value.bytes()).unwrap();
                self.set(key, Some(value.bytes()));
            }
            Step::Update(key, value) => {
                let updated = tree.update(key, &value.bytes()).unwrap().is_some();
                assert_eq!(updated, self.model().contains_key(key));
                if updated {
                    self.set(key, Some(value.bytes()));
                }
            }
            Step::Remove(key) => {
                assert_eq!(tree.remove(key).unwrap().is_some(), self.model().contains_key(key));
                self.set(key, None);
            }
            Step::RemoveRun(from, count) => {
                let run: Vec<_> =
                    self.model().range(from.clone()..).take((*count).into()).map(|(k, _)| k.clone()).collect();
                for key in run {
                    assert!(tree.remove(&key).unwrap().is_some());
                    self.set(&key, None);
                }
            }
            Step::RemoveRange(from, count, of) => {
                let run: Vec<_> =
                    self.model().range(from.clone()..).take((*count).into()).map(|(k, _)| k.clone()).collect();
                let mut to = run.last().unwrap_or(from).clone();
                if !run.is_empty() && to.len() < tree.key_len_max() {
                    to.push(0);
                }
                let goes = |key: &[u8]| key.last().is_none_or(|last| last % of == 0);
                tree.remove_range(from, &to, goes).unwrap();
                run.iter().filter(|key| **key < to && goes(key)).for_each(|key| self.set(key, None));
            }
            Step::Patch(key, at, len) => self.patch(&tree, key, (*at).into(), (*len).into()),
            Step::Modify(key, modification) => self.modify(&tree, key, *modification),
            Step::Get(key) => {
                assert_eq!(tree.get(key, <[u8]>::to_vec).unwrap().as_ref(), self.model().get(key));
                assert_eq!(tree.contains(key).unwrap(), self.model().contains_key(key));
            }
            Step::Walk(seek, end, ways) => {
                let mut cursor = tree.cursor().before(end.clone());
                let mut at = place(&mut cursor, seek, end.as_ref(), self.model());
                for &forward in ways {
                    let expected = at.as_ref().and_then(|at| neighbour(self.model(), at, forward));
                    let expected = expected.filter(|key| !forward || is_before(key, end.as_ref()));
                    assert_eq!(advance(&mut cursor, forward), expected, "from {at:02x?} to {end:02x?}, {forward}");
                    assert_value(&cursor, self.model());
                    at = expected;
                }
            }
            Step::Seek(_) => unreachable!("it begins a walk"),
            Step::Steps(ways) => {
                let (Some(walk), Some(cursor)) = (&self.walk, walker) else { return };
                let (_, model) =
                    self.trees.iter().find(|(id, _)| *id == walk.tree).expect("the walk ends before its tree");
                for &forward in ways {
                    walk.step(cursor, model, forward);
                }
            }
            Step::Estimate(from, to) => {
                let estimate = tree.estimate_range(from, to.as_deref()).unwrap();
                let upper = to.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
                let empty = to.as_ref().is_some_and(|to| to <= from);
                let exact = if empty {
                    0
                } else {
                    self.model().range::<Vec<u8>, _>((Bound::Included(from), upper)).count() as u64
                };
                if empty || tree.height().unwrap() == 0 {
                    assert_eq!(estimate, exact);
                }
                // Nodes that were emptied beside others that are full mislead it. But this is more than the tree can hold.
                let limit = 320u64.saturating_pow(u32::from(tree.height().unwrap()) + 1);
                assert!(estimate < limit, "{estimate} entries estimated, of {}", self.model().len());
            }
            Step::BulkLoad(count, value, unsorted) => self.bulk_load(&tree, *count, *value, *unsorted),
            Step::Turn(n) => self.turn = usize::from(*n) % self.trees.len(),
            Step::CreateTree if self.trees.len() < 4 => self.create_tree(),
            Step::CreateTree => {}
            Step::DropTree => {
                if self.trees.len() > 1 {
                    let (id, _) = self.trees.remove(self.turn);
                    self.turn = 0;
                    self.store().drop_tree(id).unwrap();
                    let error = self.store().open_tree(id).map(drop).expect_err("the tree has been dropped");
                    assert!(matches!(error.kind(), ErrorKind::NoSuchTree(_)), "{error:?}");
                }
            }
            Step::Checkpoint => self.store().checkpoint().unwrap(),
            Step::Clean => self.store().clean().unwrap(),
            Step::Reopen(close) => {
                drop(tree);
                self.reopen(*close);
            }
        }
    }

    fn patch(&mut self, tree: &Tree, key: &[u8], at: usize, len: usize) {
        let bytes = vec![0xAB; len];
        let patched = tree.patch(key, at, &bytes);
        let Some(value) = self.model().get(key) else {
            assert_eq!(patched.unwrap(), None);
            return;
        };
        let inline = key.len() + value.len() <= 320;
        if inline && at + len <= value.len() {
            assert!(patched.unwrap().is_some());
            let mut value = value.clone();
            value[at..at + len].copy_from_slice(&bytes);
            self.set(key, Some(value));
        } else {
            let error = patched.expect_err("the stretch leaves the value");
            assert!(matches!(error.kind(), ErrorKind::ValueTooLong { .. }), "{error:?}");
        }
    }

    fn modify(&mut self, tree: &Tree, key: &[u8], modification: Modification) {
        let before = self.model().get(key).cloned();
        let after = match modification {
            Modification::Keep => before.clone(),
            Modification::Put(value) => Some(value.bytes()),
            Modification::Remove => None,
            Modification::Double => Some(before.as_ref().map_or(b"x".to_vec(), |value| value.repeat(2))),
            Modification::Front(less, front) => {
                let rest = before.as_deref().map_or(&b""[..], |value| &value[value.len().min(less.into())..]);
                Some([&front.bytes(), rest].concat())
            }
        };
        let modified = tree.modify(key, b"a note", |current| {
            assert_eq!(current, before.as_deref());
            Ok(match (&modification, &after) {
                (Modification::Keep, _) => Change::Keep,
                (_, Some(after)) => Change::Put(after.into()),
                (_, None) => Change::Remove,
            })
        });
        let kept = matches!(modification, Modification::Keep) || before.is_none() && after.is_none();
        assert_eq!(modified.unwrap().is_none(), kept);
        self.set(key, after);
    }

    fn bulk_load(&mut self, tree: &Tree, count: u16, value: Value, unsorted: bool) {
        // Behind the last key: the same with a number behind it, if that is not too long.
        let last = self.model().last_key_value().map_or(Vec::new(), |(key, _)| key.clone());
        if last.len() + 2 > tree.key_len_max() {
            return;
        }
        let mut entries: Vec<(Vec<u8>, Vec<u8>)> = (0..count)
            .map(|n| {
                // A long value now and then, and not thousands of pages of them.
                let len = if value.1 > 320 && n % 50 != 7 { value.1 % 300 } else { value.1 };
                ([&last[..], &n.to_be_bytes()].concat(), Value(value.0.wrapping_add(n as u8), len).bytes())
            })
            .collect();
        let sorted = entries.len();
        if unsorted && count > 0 {
            entries.push(entries[sorted / 2].clone());
        }
        match tree.bulk_load(entries.iter().map(|(key, value)| (key, value))) {
            Ok((loaded, _)) => assert_eq!(loaded, entries.len() as u64),
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::NotSorted { entry } if *entry == sorted as u64), "{error:?}");
                assert!(unsorted);
            }
        }
        for (key, value) in entries.drain(..sorted) {
            self.set(&key, Some(value));
        }
    }

    fn reopen(&mut self, close: bool) {
        let store = self.store.take().expect("open");
        if close {
            store.close().unwrap();
        } else {
            // Nobody asked for durability, and no power is lost: what has been written is there.
            store.commit(store.log_end(), meseta_storage::Durability::Write).unwrap();
            drop(store);
        }
        self.store = Some(open(&self.disk));
        let trees = self.store().trees();
        assert!(self.trees.iter().all(|(id, _)| trees.contains(id)));
        assert_eq!(trees.len(), self.trees.len() + 1, "and the root tree");
        if close {
            assert_eq!(self.store().recovery().records, 0, "a store that was closed has nothing to recover");
        }
        assert_eq!(self.store().recovery().was_closed, close);
    }
}

impl Walk {
    /// One step, with what must hold although the tree has changed meanwhile: order, and no untouched key missed.
    fn step(&self, cursor: &mut Cursor<'_>, model: &Model, forward: bool) {
        if !cursor.is_on_entry() {
            assert_eq!(advance(cursor, forward), None, "a cursor on no entry stays there");
            return;
        }
        let from = cursor.key().to_vec();
        let to = advance(cursor, forward);
        let mut at = from.clone();
        // The first neighbour that was there all the time must not be passed over.
        while let Some(next) = neighbour(model, &at, forward) {
            if !self.touched.contains(&next) {
                let reached = to.as_ref().is_some_and(|to| if forward { *to <= next } else { *to >= next });
                assert!(reached, "from {from:02x?} the cursor went to {to:02x?}, past {next:02x?}");
                break;
            }
            at = next;
        }
        if let Some(to) = to {
            assert!(if forward { to > from } else { to < from }, "from {from:02x?} back to {to:02x?}");
            if !self.touched.contains(&to) {
                assert_eq!(Some(cursor.value()), model.get(&to).map(Vec::as_slice), "the value of {to:02x?}");
            }
        }
    }
}

/// Places the cursor, and checks where it has come to.
fn place(cursor: &mut Cursor<'_>, seek: &Seek, end: Option<&Vec<u8>>, model: &Model) -> Option<Vec<u8>> {
    let range = |lower: Bound<&Vec<u8>>| model.range::<Vec<u8>, _>((lower, Bound::Unbounded)).next();
    let (on_entry, expected) = match seek {
        Seek::At(key) => (cursor.seek(key), range(Bound::Included(key))),
        Seek::Above(key) => (cursor.seek_above(key), range(Bound::Excluded(key))),
        Seek::Below(key) => (cursor.seek_below(key), model.range::<Vec<u8>, _>(..key).next_back()),
        Seek::First => (cursor.seek_first(), model.first_key_value()),
        Seek::Last => (cursor.seek_last(), model.last_key_value()),
    };
    let found = on_entry.unwrap().then(|| cursor.key().to_vec());
    let is_backward = matches!(seek, Seek::Below(_) | Seek::Last);
    let expected = expected.map(|(key, _)| key).filter(|key| is_backward || is_before(key, end));
    assert_eq!(found.as_ref(), expected, "{seek:02x?} before {end:02x?}");
    assert_value(cursor, model);
    found
}

fn is_before(key: &Vec<u8>, end: Option<&Vec<u8>>) -> bool {
    end.is_none_or(|end| key < end)
}

fn assert_value(cursor: &Cursor<'_>, model: &Model) {
    if cursor.is_on_entry() {
        assert_eq!(
            Some(cursor.value()),
            model.get(cursor.key()).map(Vec::as_slice),
            "the value of {:02x?}",
            cursor.key()
        );
    }
}

fn advance(cursor: &mut Cursor<'_>, forward: bool) -> Option<Vec<u8>> {
    let on_entry = if forward { cursor.next() } else { cursor.prev() }.unwrap();
    assert_eq!(on_entry, cursor.is_on_entry());
    on_entry.then(|| cursor.key().to_vec())
}

fn neighbour(model: &Model, key: &Vec<u8>, forward: bool) -> Option<Vec<u8>> {
    let found = if forward {
        model.range::<Vec<u8>, _>((Bound::Excluded(key), Bound::Unbounded)).next()
    } else {
        model.range::<Vec<u8>, _>(..key).next_back()
    };
    found.map(|(key, _)| key.clone())
}

fn run(steps: &[Step]) {
    let mut twin = Twin::new();
    // The root tree stays empty, and a tree of its own takes a page.
    let baseline = twin.used_pages() - 1;
    twin.go(steps);
    for (id, model) in &twin.trees {
        assert_same(&content(&twin.store().open_tree(*id).unwrap()), model, id);
    }
    assert_sound(twin.store());
    // Again, with everything read from disk.
    twin.reopen(true);
    for (id, model) in &twin.trees {
        assert_same(&content(&twin.store().open_tree(*id).unwrap()), model, id);
    }
    for (id, _) in std::mem::take(&mut twin.trees) {
        twin.store().drop_tree(id).unwrap();
    }
    assert_eq!(twin.used_pages(), baseline, "pages are left behind by trees that were dropped");
    assert_sound(twin.store());
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

#[test]
fn a_store_is_a_map_for_each_tree() {
    let seed = from_environment("MESETA_MODEL_SEED", 1);
    println!("MESETA_MODEL_SEED={seed}");
    let config = Config {
        cases: from_environment("MESETA_MODEL_RUNS", 160) as u32,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_time: 60_000,
        ..Config::default()
    };
    let outcome = TestRunner::new(config).run(&vec(step(), 1..500), |steps| {
        run(&steps);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("seed {seed}: {failure}");
    }
}

// ---- one idea each --------------------------------------------------------------------------------------------------

/// Filling and dropping a tree again and again does not let the file grow.
#[test]
fn dropped_trees_leave_their_space_to_others() {
    let store = open(&SimDisk::new(1));
    let mut file_pages = 0;
    for round in 0..12u64 {
        let tree = store.create_tree().unwrap();
        for n in 0..400u32 {
            let key = n.wrapping_mul(0x9E37_79B9).to_be_bytes();
            tree.insert(&key, &value_of(&key, round, if n % 20 == 0 { 30_000 } else { 250 })).unwrap();
        }
        store.drop_tree(tree.id()).unwrap();
        let figures = store.figures();
        if round == 0 {
            file_pages = figures.file_pages;
        }
        assert_eq!(figures.file_pages, file_pages, "round {round}");
    }
    assert_sound(&store);
}

/// Pages that belong to somebody.
fn used_pages(store: &Store) -> u64 {
    store.figures().file_pages - store.figures().free_pages
}

/// Filling and emptying a tree again and again, in any order, does not let the file grow either, and each time the
/// tree shrinks to its root and a leaf.
#[test]
fn removed_entries_leave_their_space_to_others() {
    let store = open(&SimDisk::new(1));
    let tree = store.root_tree();
    let empty = used_pages(&store);
    let mut file_pages = 0;
    let mut random = SeededRandom::new(5);
    let mut keys: Vec<u32> = (0..600).collect();
    for round in 0..12u64 {
        random.shuffle(&mut keys);
        for n in &keys {
            let key = n.to_be_bytes();
            tree.insert(&key, &value_of(&key, round, if n % 20 == 0 { 30_000 } else { 250 })).unwrap();
        }
        match round % 3 {
            0 => keys.sort_unstable(),
            1 => keys.sort_unstable_by(|a, b| b.cmp(a)),
            _ => random.shuffle(&mut keys),
        }
        for n in &keys {
            assert!(tree.remove(&n.to_be_bytes()).unwrap().is_some());
        }
        assert_eq!(content(&tree).len(), 0);
        // A few empty leaves may be left where neighbours had different parents.
        assert!(used_pages(&store) <= empty + 8, "round {round}: {} pages for nothing", used_pages(&store) - empty);
        let figures = store.figures();
        if round == 2 {
            file_pages = figures.file_pages;
        }
        assert!(round < 3 || figures.file_pages <= file_pages, "round {round}: {figures:?}");
    }
    assert_sound(&store);
}

/// A queue: entries come at one end and go at the other. What has gone leaves nothing behind.
#[test]
fn a_queue_does_not_grow() {
    let store = open(&SimDisk::new(1));
    let tree = store.root_tree();
    const LEN: u32 = 200;
    let mut full = 0;
    for n in 0..20 * LEN {
        tree.insert(&n.to_be_bytes(), &[n as u8; 100]).unwrap();
        if let Some(first) = n.checked_sub(LEN) {
            assert!(tree.remove(&first.to_be_bytes()).unwrap().is_some());
        } else {
            full = used_pages(&store);
        }
        assert!(
            used_pages(&store) <= 2 * full + 8 || full == 0,
            "{n}: {} pages, and {full} were enough before",
            used_pages(&store)
        );
    }
    assert_eq!(content(&tree).len(), LEN as usize);
    assert_sound(&store);
}

/// Undo: a queue that is emptied a stretch at a time. Its entries are logged when they come, and not again when the leaves
/// that they have left go away, nor when nearly nothing is left and it fills again.
#[test]
fn a_queue_logs_each_entry_once() {
    for len in [10, 300] {
        let store = open(&SimDisk::new(1));
        let tree = store.root_tree();
        const VALUE: [u8; 200] = [1; 200];
        const ENTRIES: u32 = 4000;
        let began = store.log_end();
        for n in 0..ENTRIES {
            tree.insert(&n.to_be_bytes(), &VALUE).unwrap();
            if n % 10 == 9 && n > len {
                tree.remove_range(&0u32.to_be_bytes(), &(n - len).to_be_bytes(), |_| true).unwrap();
            }
        }
        let logged = (store.log_end().0 - began.0) / u64::from(ENTRIES);
        assert!(logged < VALUE.len() as u64 * 3 / 2, "{logged} bytes an entry, with {len} there");
        assert_sound(&store);
    }
}

/// Of a value that stays as long as it is, what changes is logged.
#[test]
fn a_small_change_of_a_large_value_is_a_small_one_in_the_log() {
    let store = open(&SimDisk::new(1));
    let tree = store.root_tree();
    let mut value = vec![7; 250];
    tree.insert(b"key", &value).unwrap();
    let began = store.log_end();
    (value[3], value[240]) = (8, 9);
    tree.put(b"key", &value).unwrap();
    let logged = store.log_end().0 - began.0;
    assert!(logged < 100, "{logged} bytes");
    assert_eq!(tree.get(b"key", <[u8]>::to_vec).unwrap(), Some(value));
    let began = store.log_end();
    tree.put(b"key", &[7; 251]).unwrap();
    assert!(store.log_end().0 - began.0 > 251);
}

/// Old entries go one here, one there, and new ones come at the end, for as long as it takes: what is left of the old ones
/// is moved together.
#[test]
fn what_is_left_of_old_entries_is_moved_together() {
    let store = open(&SimDisk::new(1));
    let tree = store.root_tree();
    let empty = used_pages(&store);
    const LEN: u32 = 3000;
    let mut random = SeededRandom::new(3);
    let mut there: Vec<u32> = (0..LEN).collect();
    for n in &there {
        tree.insert(&n.to_be_bytes(), &[1; 60]).unwrap();
    }
    let dense = used_pages(&store) - empty;
    for n in LEN..8 * LEN {
        let gone = there.swap_remove(random.below(u64::from(LEN)) as usize);
        assert!(tree.remove(&gone.to_be_bytes()).unwrap().is_some());
        tree.insert(&n.to_be_bytes(), &[1; 60]).unwrap();
        there.push(n);
    }
    let sparse = used_pages(&store) - empty;
    assert!(sparse * 10 <= dense * 17, "{sparse} pages for what {dense} had room for");
    assert_eq!(content(&tree).len(), LEN as usize);
    assert_sound(&store);
}

/// Several who insert ascending keys, each in a stretch of its own, fill their pages as one does.
#[test]
fn ascending_keys_fill_their_pages_wherever_they_are() {
    const LEN: u32 = 2000;
    let pages_of = |stretches: u32| {
        let store = open(&SimDisk::new(1));
        let tree = store.root_tree();
        let empty = used_pages(&store);
        for run in (0..LEN / stretches).step_by(20) {
            for stretch in 0..stretches {
                for n in run..(run + 20).min(LEN / stretches) {
                    tree.insert(&(stretch * LEN + n).to_be_bytes(), &[1; 60]).unwrap();
                }
            }
        }
        assert_eq!(content(&tree).len(), (LEN / stretches * stretches) as usize);
        assert_sound(&store);
        used_pages(&store) - empty
    };
    let one = pages_of(1);
    for stretches in [2, 4] {
        let several = pages_of(stretches);
        assert!(several * 10 <= one * 12, "{several} pages for {stretches}, {one} for one");
    }
}

/// An entry that grows where a run of insertions has come to: it splits its leaf, and is there.
#[test]
fn an_entry_behind_a_run_grows() {
    for run in 8..40u32 {
        let store = open(&SimDisk::new(1));
        let tree = store.root_tree();
        for n in (1000..1050u32).rev() {
            tree.insert(&n.to_be_bytes(), &[1; 60]).unwrap();
        }
        tree.insert(&900u32.to_be_bytes(), b"short").unwrap();
        for n in 0..run {
            tree.insert(&n.to_be_bytes(), &[1; 10]).unwrap();
        }
        tree.put(&900u32.to_be_bytes(), &[2; 300]).unwrap();
        assert_eq!(content(&tree).len(), run as usize + 51);
        assert_sound(&store);
    }
}

/// What a planner relies on: small ranges are counted, large ones estimated well.
#[test]
fn estimates_are_exact_for_a_few_entries_and_close_for_many() {
    let store = open(&SimDisk::new(1));
    let tree = store.root_tree();
    let mut random = SeededRandom::new(8);
    let mut keys: Vec<u32> = (0..8000).collect();
    random.shuffle(&mut keys);
    for n in &keys {
        tree.insert(&n.to_be_bytes(), &[1; 16]).unwrap();
    }
    assert!(tree.height().unwrap() >= 2);
    let (mut close, mut large) = (0, 0);
    for turn in 0..2000 {
        let from = random.below(8000) as u32;
        let len = if turn % 2 == 0 { random.below(10) } else { random.below(8000) } as u32;
        let to = (from + len).min(8000);
        let exact = u64::from(to - from);
        let estimate = tree.estimate_range(&from.to_be_bytes(), Some(&to.to_be_bytes())).unwrap();
        if exact < 10 {
            assert_eq!(estimate, exact, "{from}..{to}");
        } else if exact >= 100 {
            assert!(estimate <= 4 * exact && exact <= 4 * estimate, "{from}..{to}: {estimate} estimated of {exact}");
            close += u64::from(estimate <= 2 * exact && exact <= 2 * estimate);
            large += 1;
        }
    }
    assert!(close * 10 >= large * 9, "{close} of {large} estimates are right within a factor of two");
    let all = tree.estimate_range(&[], None).unwrap();
    assert!((2000..32_000).contains(&all), "{all} estimated of 8000");
}

/// However few nodes there are right below the root, and however empty the last ones are.
#[test]
fn a_tree_that_was_filled_in_order_is_estimated_well() {
    let store = open(&SimDisk::new(1));
    let tree = store.root_tree();
    for n in 0..50_000_u32 {
        tree.insert(&n.to_be_bytes(), &[1; 16]).unwrap();
        if n > 1000 && n % 10 == 0 {
            let (all, exact) = (tree.estimate_range(&[], None).unwrap(), u64::from(n) + 1);
            assert!(all.abs_diff(exact) * 10 < exact, "{all} estimated of {exact}");
        }
    }
    assert!(tree.height().unwrap() >= 2);
}

/// The last leaf is empty, and begins behind the entries of a load.
#[test]
fn a_load_goes_in_front_of_an_empty_last_leaf() {
    let store = open(&SimDisk::new(1));
    for full in 4..60u32 {
        let tree = store.create_tree().unwrap();
        let mut model = Model::new();
        for n in 0..full {
            let key = (n * 1000).to_be_bytes().to_vec();
            tree.insert(&key, &[5; 250]).unwrap();
            model.insert(key, vec![5; 250]);
        }
        for n in (full - 3..full).rev() {
            tree.remove(&(n * 1000).to_be_bytes()).unwrap();
            model.remove(&(n * 1000).to_be_bytes()[..]);
        }
        let load: Vec<_> = (1..40u32).map(|n| (((full - 4) * 1000 + n).to_be_bytes().to_vec(), vec![6; 200])).collect();
        tree.bulk_load(load.iter().map(|(key, value)| (key, value))).unwrap();
        model.extend(load);
        assert_same(&content(&tree), &model, full);
    }
    assert_sound(&store);
}
