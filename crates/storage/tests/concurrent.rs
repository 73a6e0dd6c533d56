//! Many threads at once, on stores so tiny that they split, merge, evict and write back all the time.
//!
//! Every entry says whose it is and how old: its bytes follow from its key and a version, and a key's versions only
//! grow. Each key has one writer, who notes down what it is about to do and what it has done. So whoever reads can
//! tell what it may have seen: nothing older than what was done before, nothing newer than what was begun after, and
//! no mixture.
//!
//! Threads interleave as they like; everything else follows from seeds, which are in every message.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};

use common::*;
use meseta_sim::{SeededRandom, SimDisk};
use meseta_storage::{Background, Change, Durability, ErrorKind, Lsn, Result, Store, StoreOptions, Tree, TreeId};

/// As `tiny`, with the store's own threads.
fn busy(memory_pages: usize) -> StoreOptions {
    StoreOptions { memory_bytes: memory_pages << 14, background: Background::Threads, recovery_threads: 4, ..tiny() }
}

// ---- entries that tell what they are --------------------------------------------------------------------------------

fn mix(seed: u64) -> u64 {
    let mixed = (seed ^ seed >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ mixed >> 29
}

fn key(n: usize) -> [u8; 4] {
    (n as u32).to_be_bytes()
}

fn number(key: &[u8]) -> usize {
    u32::from_be_bytes(key.try_into().unwrap_or_else(|_| panic!("a key that nobody wrote: {key:02x?}"))) as usize
}

/// A value of a length that follows from key and version, too: mostly short, sometimes of a page or two of its own.
fn value(n: usize, version: u64) -> Vec<u8> {
    let seed = mix(mix(n as u64) ^ version);
    let words = match seed % 64 {
        0 => 50 + seed / 64 % 3000,
        1..8 => seed / 64 % 36,
        _ => seed / 64 % 8,
    };
    let body = (0..words).flat_map(|word| mix(seed ^ word).to_le_bytes());
    version.to_le_bytes().into_iter().chain(body).collect()
}

/// The version of a value. Fails unless the value is whole.
#[track_caller]
fn version(n: usize, found: &[u8]) -> u64 {
    let version = u64::from_le_bytes(found[..8].try_into().unwrap());
    assert!(found == value(n, version), "key {n}: torn or foreign: {} bytes, version {version}", found.len());
    version
}

// ---- what readers may see -------------------------------------------------------------------------------------------

/// What a key's writer has said about it: a version, and whether that version is an entry or a removal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Said {
    version: u64,
    present: bool,
}

impl Said {
    fn from_word(word: u64) -> Self {
        Self { version: word >> 1, present: word & 1 == 1 }
    }

    fn word(self) -> u64 {
        self.version << 1 | u64::from(self.present)
    }
}

/// For each key, what its writer has begun, and what it has done.
struct Board {
    begun: Vec<AtomicU64>,
    done: Vec<AtomicU64>,
}

impl Board {
    fn new(keys: usize) -> Self {
        let all_absent = || (0..keys).map(|_| AtomicU64::new(0)).collect();
        Self { begun: all_absent(), done: all_absent() }
    }

    fn keys(&self) -> usize {
        self.done.len()
    }

    /// Every fifth key is never removed once it is there.
    fn is_permanent(n: usize) -> bool {
        n.is_multiple_of(5)
    }

    fn begun(&self, n: usize) -> Said {
        Said::from_word(self.begun[n].load(Ordering::SeqCst))
    }

    fn done(&self, n: usize) -> Said {
        Said::from_word(self.done[n].load(Ordering::SeqCst))
    }

    fn begin(&self, n: usize, present: bool) -> Said {
        let said = Said { version: self.done(n).version + 1, present };
        self.begun[n].store(said.word(), Ordering::SeqCst);
        said
    }

    fn finish(&self, n: usize, said: Said) {
        self.done[n].store(said.word(), Ordering::SeqCst);
    }

    /// Whether a reader who began when `before` was done may find this now.
    #[track_caller]
    fn judge(&self, n: usize, before: Said, found: Option<u64>) {
        let after = self.begun(n);
        match found {
            Some(version) => {
                assert!(version >= before.version, "key {n}: version {version} after {before:?} was done");
                assert!(version <= after.version, "key {n}: version {version}, but only {after:?} was begun");
                assert!(before.present || version > before.version, "key {n}: version {version} is a removal");
            }
            None => {
                assert!(!before.present || after != before, "key {n} was not found, but is there since {before:?}");
                assert!(!before.present || !Self::is_permanent(n), "key {n} was not found, but is never removed");
            }
        }
    }
}

/// Counts down when dropped, also by a panic: whoever waits for the count would wait for ever otherwise.
struct Leaving<'a>(&'a AtomicUsize);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// How many threads do what.
#[derive(Clone, Copy)]
struct Crowd {
    seed: u64,
    keys: usize,
    writers: usize,
    /// Changes of each writer.
    changes: usize,
    scanners: usize,
    readers: usize,
}

impl Crowd {
    /// Everybody works on one tree; scanners and readers as long as there is a writer, and a little at least.
    fn work(self, store: &Store, tree: &Tree, board: &Board) {
        let writing = AtomicUsize::new(self.writers);
        let start = Barrier::new(self.writers + self.scanners + self.readers);
        std::thread::scope(|scope| {
            let (writing, start) = (&writing, &start);
            for writer in 0..self.writers {
                scope.spawn(move || {
                    let _leaving = Leaving(writing);
                    start.wait();
                    self.write(writer, store, tree, board);
                });
            }
            for scanner in 0..self.scanners {
                scope.spawn(move || {
                    start.wait();
                    for turn in 0.. {
                        scan(tree, board, (scanner + turn) % 2 == 0);
                        if turn >= 3 && writing.load(Ordering::SeqCst) == 0 {
                            break;
                        }
                    }
                });
            }
            for reader in 0..self.readers {
                let mut random = SeededRandom::new(self.seed + 1000 + reader as u64);
                scope.spawn(move || {
                    start.wait();
                    for turn in 0.. {
                        let n = random.below(self.keys as u64) as usize;
                        let before = board.done(n);
                        let found = tree.get(&key(n), |found| version(n, found)).unwrap();
                        board.judge(n, before, found);
                        if turn >= 200 && writing.load(Ordering::SeqCst) == 0 {
                            break;
                        }
                    }
                });
            }
        });
    }

    /// One writer's life. Its keys lie between those of all others. It knows what each operation must answer.
    fn write(self, writer: usize, store: &Store, tree: &Tree, board: &Board) {
        let mut random = SeededRandom::new(self.seed + writer as u64);
        for _ in 0..self.changes {
            let n = random.below((self.keys / self.writers) as u64) as usize * self.writers + writer;
            let before = board.done(n);
            let remove = before.present && !Board::is_permanent(n) && random.chance(50);
            let said = board.begin(n, !remove);
            let (key, new) = (key(n), value(n, said.version));
            let end = match (remove, random.below(4)) {
                (true, 0) => tree.modify(&key, b"removed", |old| {
                    assert_eq!(old.map(|old| version(n, old)), Some(before.version));
                    Ok(Change::Remove)
                }),
                (true, _) => tree.remove(&key),
                (false, 0) => tree.put(&key, &new).map(Some),
                (false, 1) => tree.modify(&key, b"changed", |old| {
                    assert_eq!(old.map(|old| version(n, old)), before.present.then_some(before.version));
                    Ok(Change::Put(new.as_slice().into()))
                }),
                (false, _) if before.present => {
                    let error = tree.insert(&key, &new).expect_err("the key exists");
                    assert!(matches!(error.kind(), ErrorKind::KeyExists), "{error:?}");
                    tree.update(&key, &new)
                }
                (false, _) => {
                    assert_eq!(tree.update(&key, &new).unwrap(), None, "key {n} is not there to be updated");
                    tree.insert(&key, &new).map(Some)
                }
            };
            let end =
                end.unwrap().unwrap_or_else(|| panic!("seed {}: the change of key {n} changed nothing", self.seed));
            board.finish(n, said);
            let own = tree.get(&key, |found| version(n, found)).unwrap();
            assert_eq!(own, said.present.then_some(said.version), "key {n}: what its only writer has just written");
            match random.below(100) {
                0 => {
                    store.commit(end, Durability::Flush).unwrap();
                    assert!(store.durable_lsn() >= end, "{end} was acknowledged, durable is {}", store.durable_lsn());
                }
                1..4 => store.commit(end, Durability::Write).unwrap(),
                4..8 => store.commit(end, Durability::Lazy).unwrap(),
                _ => {}
            }
        }
    }
}

/// Walks the whole tree one way. Each key is seen once, in order; who was there all the time is seen.
fn scan(tree: &Tree, board: &Board, forward: bool) {
    let before: Vec<Said> = (0..board.keys()).map(|n| board.done(n)).collect();
    let mut seen = vec![false; board.keys()];
    let mut cursor = tree.cursor();
    let mut on_entry = if forward { cursor.seek_first() } else { cursor.seek_last() }.unwrap();
    let mut last = None;
    while on_entry {
        let n = number(cursor.key());
        let in_order = last.is_none_or(|last| if forward { last < n } else { last > n });
        assert!(in_order, "from {last:?} to {n}, forward: {forward}");
        last = Some(n);
        seen[n] = true;
        board.judge(n, before[n], Some(version(n, cursor.value())));
        on_entry = if forward { cursor.next() } else { cursor.prev() }.unwrap();
    }
    for n in (0..board.keys()).filter(|&n| !seen[n]) {
        board.judge(n, before[n], None);
    }
}

/// Nobody is writing: the tree holds what was done last, all of it and nothing else.
#[track_caller]
fn assert_final(tree: &Tree, board: &Board, when: &str) {
    let expected = (0..board.keys()).filter(|&n| board.done(n).present);
    let expected: Model = expected.map(|n| (key(n).to_vec(), value(n, board.done(n).version))).collect();
    assert_same(&content(tree), &expected, when);
}

/// A crowd in a directory; then the check; then the same again after the store was given up, and after it was closed.
fn crowd_in_a_directory(crowd: Crowd, memory_pages: usize) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), busy(memory_pages)).unwrap();
    let tree = store.create_tree().unwrap();
    let id = tree.id();
    let board = Board::new(crowd.keys);
    for n in (0..crowd.keys).filter(|&n| Board::is_permanent(n)) {
        let said = board.begin(n, true);
        tree.insert(&key(n), &value(n, said.version)).unwrap();
        board.finish(n, said);
    }
    crowd.work(&store, &tree, &board);
    assert_final(&tree, &board, "when all had finished");
    assert_sound(&store);
    let figures = store.figures();
    assert!(figures.pool.evictions > 100 && figures.cleaner.checkpoints > 1, "an easy life: {figures:?}");
    assert!(figures.pool.resident_pages <= memory_pages, "{figures:?}");
    store.commit(store.log_end(), Durability::Flush).unwrap();
    drop((store, tree));

    let store = Store::open(directory.path(), busy(memory_pages)).unwrap();
    assert_final(&store.open_tree(id).unwrap(), &board, "recovered");
    assert_sound(&store);
    store.close().unwrap();
    let store = Store::open(directory.path(), busy(memory_pages)).unwrap();
    assert_eq!(store.recovery().records, 0);
    assert_final(&store.open_tree(id).unwrap(), &board, "closed and opened again");
}

// ---- crowds ---------------------------------------------------------------------------------------------------------

#[test]
fn readers_and_scanners_see_what_was_there() {
    let crowd = Crowd { seed: 1, keys: 1600, writers: 4, changes: 4000, scanners: 2, readers: 2 };
    crowd_in_a_directory(crowd, 48);
}

#[test]
fn sixty_four_threads_share_little_memory() {
    let crowd = Crowd { seed: 2, keys: 1600, writers: 40, changes: 150, scanners: 8, readers: 16 };
    crowd_in_a_directory(crowd, 96);
}

/// All threads want the same leaf: no increment is lost, and no counter is ever seen to go back.
#[test]
fn a_hot_leaf_loses_no_update() {
    const THREADS: u64 = 16;
    const TURNS: u64 = 1500;
    const COUNTERS: u64 = 3;
    let store = try_open(&SimDisk::new(1), &busy(32)).unwrap();
    let tree = store.root_tree();
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let start = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (tree, start) = (&tree, &start);
            scope.spawn(move || {
                start.wait();
                let mut last_seen = [0; COUNTERS as usize];
                for turn in 0..TURNS {
                    let counter = (thread + turn) % COUNTERS;
                    let mut mine = 0;
                    let changed = tree.modify(&counter.to_be_bytes(), b"", |old| {
                        mine = old.map_or(0, word) + 1;
                        Ok(Change::Put(mine.to_le_bytes().to_vec().into()))
                    });
                    assert!(changed.unwrap().is_some());
                    let now = tree.get(&counter.to_be_bytes(), word).unwrap().unwrap();
                    let last_seen = &mut last_seen[counter as usize];
                    assert!(
                        *last_seen < mine && mine <= now,
                        "counter {counter}: {last_seen}, then {mine}, then {now}"
                    );
                    *last_seen = now;
                    // An entry of its own in the same leaf, which comes and goes.
                    let own = (100 + thread).to_be_bytes();
                    if turn % 2 == 0 {
                        tree.insert(&own, &turn.to_le_bytes()).unwrap();
                    } else {
                        assert_eq!(tree.get(&own, word).unwrap(), Some(turn - 1));
                        assert!(tree.remove(&own).unwrap().is_some());
                    }
                }
            });
        }
    });
    let found = content(&tree);
    let total: u64 = found.values().map(|value| word(value)).sum();
    assert_eq!((found.len() as u64, total), (COUNTERS, THREADS * TURNS), "entries, increments");
    assert_sound(&store);
}

/// Eight threads insert at the right edge, as with keys that count up; then they remove everything again.
#[test]
fn the_right_edge_takes_all_inserts() {
    const THREADS: usize = 8;
    const ENTRIES: usize = 12_000;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), busy(64)).unwrap();
    let tree = store.create_tree().unwrap();
    let together = |what: &(dyn Fn(usize) + Sync)| {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let n = next.fetch_add(1, Ordering::Relaxed);
                        if n >= ENTRIES {
                            break;
                        }
                        what(n);
                    }
                });
            }
        });
    };
    together(&|n| {
        tree.insert(&key(n), &value(n, 7)).unwrap();
    });
    let expected: Model = (0..ENTRIES).map(|n| (key(n).to_vec(), value(n, 7))).collect();
    assert_same(&content(&tree), &expected, "inserted");
    assert!(tree.height().unwrap() >= 2);
    assert_sound(&store);
    // From the left, and from both ends to the middle.
    together(&|n| {
        let n = if n < ENTRIES / 2 { n } else { ENTRIES / 2 + ENTRIES - 1 - n };
        assert!(tree.remove(&key(n)).unwrap().is_some(), "{n} was there");
    });
    assert_same(&content(&tree), &Model::new(), "removed");
    assert_sound(&store);
    let id = tree.id();
    store.commit(store.log_end(), Durability::Flush).unwrap();
    drop((store, tree));
    let store = Store::open(directory.path(), busy(64)).unwrap();
    assert_same(&content(&store.open_tree(id).unwrap()), &Model::new(), "recovered");
    assert_sound(&store);
}

#[test]
fn whole_leaves_are_appended_beside_inserts() {
    const ENTRIES: usize = 20_000;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), busy(64)).unwrap();
    let mut in_the_way = 0;
    for round in 0..4 {
        let tree = store.create_tree().unwrap();
        let loaded = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            // Odd keys: close before and behind what is being loaded.
            scope.spawn(|| {
                let mut random = SeededRandom::new(round);
                loop {
                    let at = loaded.load(Ordering::Relaxed);
                    if at >= ENTRIES {
                        break;
                    }
                    let n = (2 * (at + random.below(400) as usize)).saturating_sub(300) | 1;
                    tree.put(&key(n), &value(n, 9)).unwrap();
                }
            });
            let mut loader = tree.loader().unwrap();
            for n in 0..ENTRIES {
                let (key, value) = (key(2 * n), value(2 * n, 7));
                let mut put = |key: &[u8], value: &[u8]| {
                    // (A long value is put anyway.)
                    in_the_way += usize::from(key.len() + value.len() <= tree.inline_len_max());
                    tree.insert(key, value).map(drop)
                };
                loader.add(&key, &value, &mut put).unwrap();
                if n + 1 == ENTRIES {
                    loader.finish(put).unwrap();
                }
                loaded.store(n + 1, Ordering::Relaxed);
            }
        });
        let all = content(&tree);
        let even = all.iter().filter(|(key, _)| number(key).is_multiple_of(2)).count();
        assert_eq!(even, ENTRIES);
        for (key, found) in &all {
            let n = number(key);
            assert_eq!(version(n, found), if n.is_multiple_of(2) { 7 } else { 9 });
        }
        assert_sound(&store);
        store.drop_tree(tree.id()).unwrap();
    }
    assert!(in_the_way > 0, "nobody was ever in the way");
}

/// Some threads create, fill and drop trees, others work on one that stays.
#[test]
fn trees_come_and_go_while_others_work() {
    const BUILDERS: u64 = 4;
    const TREES: u64 = 25;
    let disk = SimDisk::new(1);
    let store = try_open(&disk, &busy(64)).unwrap();
    let tree = store.create_tree().unwrap();
    let id = tree.id();
    let crowd = Crowd { seed: 3, keys: 600, writers: 3, changes: 1200, scanners: 1, readers: 1 };
    let board = Board::new(crowd.keys);
    let kept: Vec<(TreeId, u64)> = std::thread::scope(|scope| {
        let builders: Vec<_> = (0..BUILDERS)
            .map(|builder| {
                let store = &store;
                scope.spawn(move || {
                    let mut kept = Vec::new();
                    for turn in 0..TREES {
                        let mark = builder * TREES + turn;
                        let tree = store.create_tree().unwrap();
                        for n in 0..80 {
                            tree.insert(&key(n), &value(n, mark)).unwrap();
                        }
                        assert_same(&content(&tree), &built(mark), mark);
                        if turn % 8 == 7 {
                            kept.push((tree.id(), mark));
                        } else {
                            store.drop_tree(tree.id()).unwrap();
                        }
                    }
                    kept
                })
            })
            .collect();
        crowd.work(&store, &tree, &board);
        builders.into_iter().flat_map(|builder| builder.join().unwrap()).collect()
    });
    let assert_all = |store: &Store, when: &str| {
        let mut expected = BTreeSet::from([store.root_tree().id(), id]);
        expected.extend(kept.iter().map(|&(id, _)| id));
        assert_eq!(store.trees().into_iter().collect::<BTreeSet<_>>(), expected, "{when}");
        assert_final(&store.open_tree(id).unwrap(), &board, when);
        for &(id, mark) in &kept {
            assert_same(&content(&store.open_tree(id).unwrap()), &built(mark), (when, mark));
        }
        assert_sound(store);
    };
    assert_all(&store, "when all had finished");
    store.commit(store.log_end(), Durability::Flush).unwrap();
    drop((store, tree));
    disk.power_cycle(3);
    assert_all(&try_open(&disk, &busy(64)).unwrap(), "after a power loss");
}

fn built(mark: u64) -> Model {
    (0..80).map(|n| (key(n).to_vec(), value(n, mark))).collect()
}

// ---- durability -----------------------------------------------------------------------------------------------------

/// Each callback is called once, and not before its commit is durable; those whose time never comes hear of it.
#[test]
fn callbacks_are_called_once_and_not_too_early() {
    const THREADS: usize = 8;
    const COMMITS: usize = 400;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), busy(64)).unwrap();
    let tree = store.root_tree();
    let (sender, answers) = mpsc::channel();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, tree, sender) = (&store, &tree, sender.clone());
            scope.spawn(move || {
                for turn in 0..COMMITS {
                    let n = turn * THREADS + thread;
                    let end = tree.put(&key(n % 500), &value(n % 500, n as u64)).unwrap();
                    let (sender, asked) = (sender.clone(), store.clone());
                    store.on_durable(end, move |outcome| {
                        let durable = asked.durable_lsn();
                        // Before the answer: this must not become the last clone, which stops the thread we are on.
                        drop(asked);
                        let _ = sender.send((n, end, durable, outcome));
                    });
                    match turn % 100 {
                        99 => store.commit(end, Durability::Flush).unwrap(),
                        49 => store.commit(end, Durability::Write).unwrap(),
                        _ => {}
                    }
                }
            });
        }
    });
    // Nobody waits for what was committed last: the store syncs it by itself.
    let mut called = BTreeSet::new();
    for _ in 0..THREADS * COMMITS {
        let (n, end, durable, outcome) = answers.recv().expect("the sender is still here");
        outcome.unwrap();
        assert!(durable >= end, "{n}: durable up to {durable}, called for {end}");
        assert!(called.insert(n), "{n} was called twice");
    }
    assert!(answers.try_recv().is_err(), "more calls than callbacks");

    let (never, failures) = mpsc::channel();
    for n in 0..50 {
        let never = never.clone();
        store.on_durable(Lsn(store.log_end().0 + (1 << 40) + n), move |outcome| drop(never.send((n, outcome))));
    }
    drop((store, tree, never));
    let failed: BTreeMap<u64, Result<()>> = failures.iter().collect();
    assert_eq!(failed.len(), 50);
    for (n, outcome) in failed {
        let error = outcome.expect_err("its position does not exist");
        assert!(matches!(error.kind(), ErrorKind::Closed | ErrorKind::Stopped { .. }), "{n}: {error:?}");
    }
}

/// What one thread did, in order: a key, the version it got (`None`: removed), and where that ended in the log.
struct Diary {
    lines: Vec<(usize, Option<u64>, Lsn)>,
    /// So many lines were acknowledged as durable.
    acknowledged: usize,
}

/// The log has one order. So what is there after a crash is what had been done at one moment of it: stretches of
/// positions that agree with the diary, each with its end excluded. Fails when there is none, or only too early ones.
#[track_caller]
fn moments(diary: &Diary, found: &BTreeMap<usize, u64>, when: &str) -> Vec<(u64, u64)> {
    let mut state = BTreeMap::new();
    let mut moments = Vec::new();
    let mut from = 0;
    for done in 0..=diary.lines.len() {
        if done > 0 {
            let (n, version, end) = diary.lines[done - 1];
            match version {
                Some(version) => state.insert(n, version),
                None => state.remove(&n),
            };
            // Where a change that met an error has ended is not known: somewhere behind the one before it.
            from = if end == Lsn(u64::MAX) { from + 1 } else { end.0 };
        }
        if done >= diary.acknowledged && state == *found {
            let to = diary.lines.get(done).map_or(u64::MAX, |&(_, _, end)| end.0);
            moments.push((from, to));
        }
    }
    assert!(
        !moments.is_empty(),
        "{when}: no moment from line {} to {} gives what was found: {found:?}; in the end: {state:?}",
        diary.acknowledged,
        diary.lines.len()
    );
    moments
}

/// The power goes while threads write and commit. What was acknowledged is there, of each thread's work nothing is
/// missing in the middle, and all threads agree on the moment.
#[test]
fn power_may_go_while_threads_commit() {
    const THREADS: usize = 4;
    const KEYS: usize = 60;
    const CHANGES: usize = 400;
    let (mut cut, mut acknowledged) = (0, 0);
    for seed in 0..40u64 {
        println!("seed {seed}");
        let disk = SimDisk::new(seed);
        let store = try_open(&disk, &busy(32)).unwrap();
        let tree = store.create_tree().unwrap();
        let id = tree.id();
        store.commit(store.log_end(), Durability::Flush).unwrap();
        disk.power_off_after(SeededRandom::new(seed).below(600));
        let diaries: Vec<Diary> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let (store, tree) = (&store, &tree);
                    scope.spawn(move || {
                        let mut diary = Diary { lines: Vec::new(), acknowledged: 0 };
                        let acknowledged = Arc::new(AtomicUsize::new(0));
                        let outcome = keep_diary(store, tree, thread, seed, CHANGES, KEYS, &mut diary, &acknowledged);
                        (diary, acknowledged, outcome)
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| {
                    let (mut diary, acknowledged, outcome) = thread.join().unwrap();
                    if let Err(error) = outcome {
                        assert!(disk.is_off(), "seed {seed}: {error}");
                    }
                    diary.acknowledged = diary.acknowledged.max(acknowledged.load(Ordering::SeqCst));
                    diary
                })
                .collect()
        });
        cut += u64::from(disk.is_off());
        acknowledged += diaries.iter().map(|diary| diary.acknowledged).sum::<usize>();
        drop((store, tree));
        disk.power_cycle(seed);

        let store = match try_open(&disk, &busy(32)) {
            Ok(store) => store,
            Err(error) => panic!("seed {seed}: the store cannot be opened: {error}"),
        };
        let found = content(&store.open_tree(id).unwrap());
        let found: Vec<(usize, u64)> =
            found.iter().map(|(key, found)| (number(key), version(number(key), found))).collect();
        let moments: Vec<Vec<(u64, u64)>> = diaries
            .iter()
            .enumerate()
            .map(|(thread, diary)| {
                let own = found.iter().filter(|(n, _)| n % THREADS == thread).copied().collect();
                moments(diary, &own, &format!("seed {seed}, thread {thread}"))
            })
            .collect();
        let in_all = |at: u64| moments.iter().all(|own| own.iter().any(|&(from, to)| from <= at && at < to));
        assert!(
            moments.iter().flatten().any(|&(from, _)| in_all(from)),
            "seed {seed}: the threads do not agree on a moment: {moments:?}"
        );
        assert_sound(&store);
    }
    assert!(cut >= 20, "the power went {cut} times only");
    assert!(acknowledged > 1000, "{acknowledged} changes were acknowledged");
}

/// Changes and commits until the first error. Acknowledgements come from commits, and from callbacks.
#[allow(clippy::too_many_arguments)] // a thread's whole world
fn keep_diary(
    store: &Store,
    tree: &Tree,
    thread: usize,
    seed: u64,
    changes: usize,
    keys: usize,
    diary: &mut Diary,
    called_back: &Arc<AtomicUsize>,
) -> Result<()> {
    let mut random = SeededRandom::new(seed * 100 + thread as u64);
    let mut present = BTreeSet::new();
    for turn in 1..=changes {
        let n = random.below(keys as u64) as usize * 4 + thread;
        let remove = present.contains(&n) && random.chance(40);
        let written = (!remove).then_some(turn as u64);
        // Noted down first: a change that met an error may have been made.
        diary.lines.push((n, written, Lsn(u64::MAX)));
        let end = match written {
            Some(version) => tree.put(&key(n), &value(n, version))?,
            None => tree.remove(&key(n))?.expect("it is there"),
        };
        diary.lines.last_mut().expect("a line").2 = end;
        if remove {
            present.remove(&n)
        } else {
            present.insert(n)
        };
        let done = diary.lines.len();
        match random.below(20) {
            0..3 => {
                store.commit(end, Durability::Flush)?;
                diary.acknowledged = done;
            }
            3..6 => {
                let called_back = Arc::clone(called_back);
                store.on_durable(end, move |outcome| {
                    if outcome.is_ok() {
                        called_back.fetch_max(done, Ordering::SeqCst);
                    }
                });
            }
            6 => store.commit(end, Durability::Write)?,
            7 => store.commit(end, Durability::Lazy)?,
            8 if random.chance(10) => store.checkpoint()?,
            _ => {}
        }
    }
    Ok(())
}
