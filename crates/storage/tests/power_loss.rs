//! Power loss, thousands of times.
//!
//! A store on a simulated disk runs a random history until the power goes, at a seeded operation of the disk. What
//! was not synced is dropped, torn or reordered. Then the store is opened again, sometimes with the power going
//! once more during recovery, and must show exactly the state after some prefix of the history: one that holds
//! everything whose durability was acknowledged, and no half of anything. `check` must find nothing, and the store
//! must be able to go on, into the next power loss.
//!
//! The number of histories is 2,000, or `MESETA_POWER_RUNS`; the first seed is 1, or `MESETA_POWER_SEED`. A failure
//! names the seed that repeats it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use meseta_sim::{SeededRandom, SimDisk};
use meseta_storage::{Background, Durability, Lsn, StorageError, Store, StoreOptions, TreeId};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// One step of a history. Each is atomic: after a crash it has happened or has not.
#[derive(Clone, Debug)]
enum Step {
    Put(TreeId, Vec<u8>, Vec<u8>),
    Remove(TreeId, Vec<u8>),
    Create(TreeId),
    Drop(TreeId),
}

fn options(random: &mut SeededRandom) -> StoreOptions {
    let log_buffer_bytes = 256 << 10;
    StoreOptions {
        memory_bytes: random.range(24..80) as usize * 16 * 1024,
        log_bytes: random.range(1..4) << 20,
        log_buffer_bytes,
        max_data_bytes: 256 << 20,
        node_capacity: if random.chance(80) { 1280 } else { 16 * 1024 },
        batch_pages: random.range(1..24) as usize,
        recovery_threads: 1,
        background: Background::Inline,
        ..StoreOptions::default()
    }
}

/// A history under way: what has been done, and how much of it is known to be durable.
struct History {
    /// The state that the steps begin with.
    base: BTreeMap<TreeId, Map>,
    steps: Vec<(Step, Lsn)>,
    /// The state after all steps.
    now: BTreeMap<TreeId, Map>,
    acknowledged: Lsn,
}

impl History {
    fn begin(base: BTreeMap<TreeId, Map>) -> Self {
        Self { now: base.clone(), base, steps: Vec::new(), acknowledged: Lsn::ZERO }
    }

    fn did(&mut self, step: Step, end: Lsn) {
        apply(&mut self.now, &step);
        self.steps.push((step, end));
    }
}

fn apply(state: &mut BTreeMap<TreeId, Map>, step: &Step) {
    match step {
        Step::Put(tree, key, value) => drop(state.get_mut(tree).unwrap().insert(key.clone(), value.clone())),
        Step::Remove(tree, key) => drop(state.get_mut(tree).unwrap().remove(key)),
        Step::Create(tree) => drop(state.insert(*tree, Map::new())),
        Step::Drop(tree) => drop(state.remove(tree)),
    }
}

fn random_key(random: &mut SeededRandom) -> Vec<u8> {
    match random.below(10) {
        0 => {
            let len = random.below(200) as usize;
            random.bytes(len)
        }
        1..=3 => format!("user/{:06}/name", random.below(400)).into_bytes(),
        _ => random.below(600).to_be_bytes().to_vec(),
    }
}

fn random_value(random: &mut SeededRandom) -> Vec<u8> {
    let len = match random.below(100) {
        0..3 => random.below(70_000),
        3..8 => random.below(900),
        _ => random.below(60),
    };
    random.bytes(len as usize)
}

/// Does one thing to the store. `Err` means that the power has gone, with the step that may or may not have happened.
fn do_something(
    store: &Store,
    history: &mut History,
    random: &mut SeededRandom,
) -> Result<(), (Option<Step>, StorageError)> {
    let trees: Vec<TreeId> = history.now.keys().copied().collect();
    let tree = *random.pick(&trees);
    let open = |id| store.open_tree(id).expect("a tree of the model exists");
    match random.below(100) {
        0..5 => {
            let from = random.below(600);
            let run: Vec<_> =
                (from..).take(random.below(60) as usize).map(|n| (n.to_be_bytes(), random.bytes(30))).collect();
            let entries: Vec<_> = run.iter().map(|(key, value)| (key.as_slice(), value.as_slice())).collect();
            // It may be cut off between any two leaves: each entry is a step.
            let inserted = open(tree).insert_run(&entries, || true);
            let end = if inserted.is_ok() { store.log_end() } else { Lsn(u64::MAX) };
            let known = run.iter().position(|(key, _)| history.now[&tree].contains_key(key.as_slice()));
            let count = known.unwrap_or(run.len());
            for (key, value) in &run[..count] {
                history.did(Step::Put(tree, key.to_vec(), value.clone()), end);
            }
            assert_eq!(inserted.map_err(|error| (None, error))?, count);
        }
        5..60 => {
            let (key, value) = (random_key(random), random_value(random));
            let step = Step::Put(tree, key.clone(), value.clone());
            let end = open(tree).put(&key, &value).map_err(|error| (Some(step.clone()), error))?;
            history.did(step, end);
        }
        60..64 => {
            let from = random_key(random);
            let keys: Vec<_> = history.now[&tree].range(from.clone()..).map(|(key, _)| key.clone()).collect();
            let count = random.below(200).min(keys.len() as u64) as usize;
            let to = keys.get(count).cloned().unwrap_or_else(|| vec![255; 201]);
            // It may be cut off between any two leaves, and so between any two entries: each is a step.
            let removed = open(tree).remove_range(&from, &to, |_| true);
            let end = if removed.is_ok() { store.log_end() } else { Lsn(u64::MAX) };
            for key in keys.into_iter().take(if to == [255; 201] { usize::MAX } else { count }) {
                history.did(Step::Remove(tree, key), end);
            }
            removed.map_err(|error| (None, error))?;
        }
        64..80 => {
            let key = random_key(random);
            let step = Step::Remove(tree, key.clone());
            let end = open(tree).remove(&key).map_err(|error| (Some(step.clone()), error))?;
            assert_eq!(end.is_some(), history.now[&tree].contains_key(&key), "remove tells whether the key was there");
            if let Some(end) = end {
                history.did(step, end);
            }
        }
        80..85 => {
            let first = history.now[&tree].last_key_value().map(|(key, _)| key.clone()).unwrap_or_default();
            let entries: Vec<_> = (0..random.below(60))
                .map(|n| ([first.as_slice(), &n.to_be_bytes()].concat(), vec![n as u8; random.below(40) as usize]))
                .filter(|(key, _)| key.len() <= 200)
                .collect();
            // A load may be cut off between any two entries: each is a step.
            let loaded = open(tree).bulk_load(entries.iter().map(|(k, v)| (k, v)));
            let end = loaded.as_ref().map_or(Lsn(u64::MAX), |&(_, end)| end);
            for (key, value) in entries {
                history.did(Step::Put(tree, key, value), end);
            }
            loaded.map_err(|error| (None, error))?;
        }
        85..87 if trees.len() < 5 => {
            let created = store.create_tree().map_err(|error| (None, error))?;
            history.did(Step::Create(created.id()), store.log_end());
        }
        87..89 if trees.len() > 1 && tree != store.root_tree().id() => {
            let step = Step::Drop(tree);
            store.drop_tree(tree).map_err(|error| (Some(step.clone()), error))?;
            history.did(step, store.log_end());
        }
        89..95 => {
            let end = store.log_end();
            store.commit(end, Durability::Flush).map_err(|error| (None, error))?;
            history.acknowledged = end;
        }
        95..97 => store.clean().map_err(|error| (None, error))?,
        97 => store.checkpoint().map_err(|error| (None, error))?,
        98 => store.write_log(random.chance(50)).map_err(|error| (None, error))?,
        _ => {
            // Nobody does anything for a while: the log comes to rest.
            for _ in 0..random.range(2..5) {
                store.write_log(true).map_err(|error| (None, error))?;
            }
        }
    }
    Ok(())
}

fn read_all(store: &Store) -> BTreeMap<TreeId, Map> {
    store
        .trees()
        .into_iter()
        .map(|id| {
            let tree = store.open_tree(id).unwrap();
            let mut map = Map::new();
            let mut cursor = tree.cursor();
            let mut on = cursor.seek_first().unwrap();
            while on {
                map.insert(cursor.key().to_vec(), cursor.value().to_vec());
                on = cursor.next().unwrap();
            }
            (id, map)
        })
        .collect()
}

/// The first difference between two states, for a person to read.
fn difference(expected: &BTreeMap<TreeId, Map>, found: &BTreeMap<TreeId, Map>) -> String {
    let trees = |state: &BTreeMap<TreeId, Map>| state.iter().map(|(id, map)| (id.0, map.len())).collect::<Vec<_>>();
    for (id, map) in expected {
        let Some(other) = found.get(id) else { continue };
        for key in map.keys().chain(other.keys()) {
            let (a, b) = (map.get(key), other.get(key));
            if a != b {
                let len = |value: Option<&Vec<u8>>| value.map(Vec::len);
                return format!("{id}, key {key:02x?}: expected {:?} bytes, found {:?}", len(a), len(b));
            }
        }
    }
    format!("trees and entries: expected {:?}, found {:?}", trees(expected), trees(found))
}

/// Whether `found` is the state after some prefix of the history that holds all that was acknowledged.
fn matches_a_prefix(history: &History, unsure: Option<&Step>, found: &BTreeMap<TreeId, Map>) -> Result<(), String> {
    let mut state = history.base.clone();
    let mut steps = history.steps.iter().map(|(step, end)| (step, *end)).collect::<Vec<_>>();
    if let Some(step) = unsure {
        steps.push((step, Lsn(u64::MAX)));
    }
    // A tree whose creation was cut off after it had become durable is not in the model: it is empty.
    let same = |state: &BTreeMap<TreeId, Map>| {
        let mut extra = found.iter().filter(|(id, _)| !state.contains_key(id));
        state.iter().all(|(id, map)| found.get(id) == Some(map))
            && extra.next().is_none_or(|(_, map)| map.is_empty())
            && extra.next().is_none()
    };
    let acknowledged = steps.iter().filter(|(_, end)| *end <= history.acknowledged).count();
    for (index, (step, _)) in steps.iter().enumerate() {
        if index >= acknowledged && same(&state) {
            return Ok(());
        }
        apply(&mut state, step);
    }
    if same(&state) {
        return Ok(());
    }
    let sizes = |state: &BTreeMap<TreeId, Map>| state.iter().map(|(id, map)| (id.0, map.len())).collect::<Vec<_>>();
    Err(format!(
        "no prefix of {} steps ({acknowledged} acknowledged) gives what was found: {:?}; all steps give {:?}",
        steps.len(),
        sizes(found),
        sizes(&state),
    ))
}

fn run(seed: u64) -> Result<(), String> {
    let mut random = SeededRandom::new(seed);
    let disk = SimDisk::new(random.next_u64());
    let options = options(&mut random);
    let mut known: Option<BTreeMap<TreeId, Map>> = None;
    for round in 0..3 {
        // Sometimes early, in the middle of the creation; mostly later.
        let budget = if random.chance(10) { random.below(60) } else { random.range(60..900) };
        disk.power_off_after(budget);
        let mut history = None;
        let mut unsure = None;
        match Store::open_on(Arc::new(disk.clone()), options.clone()) {
            Err(error) if !disk.is_off() => return Err(format!("round {round}: opening: {error}")),
            Err(_) => {}
            Ok(store) => {
                let found = read_all(&store);
                if let Some(known) = &known
                    && found != *known
                {
                    return Err(format!(
                        "round {round}: the state changed by opening again: {}; {:?}",
                        difference(known, &found),
                        store.recovery()
                    ));
                }
                let mut under_way = History::begin(found);
                // The root tree was created while opening; from here on it is in the base.
                for _ in 0..random.range(20..1500) {
                    if let Err((step, error)) = do_something(&store, &mut under_way, &mut random) {
                        if !disk.is_off() {
                            return Err(format!("round {round}: {error}, but the power is on"));
                        }
                        unsure = step;
                        break;
                    }
                }
                if !disk.is_off() && random.chance(20) {
                    match store.close() {
                        Ok(()) => under_way.acknowledged = Lsn(u64::MAX - 1),
                        Err(_) if disk.is_off() => {}
                        Err(error) => return Err(format!("round {round}: closing: {error}")),
                    }
                } else {
                    drop(store);
                }
                history = Some(under_way);
            }
        }
        disk.power_cycle(random.next_u64());
        // Sometimes the power goes again while the store recovers.
        while random.chance(30) {
            disk.power_off_after(random.below(80));
            match Store::open_on(Arc::new(disk.clone()), options.clone()) {
                Ok(store) => drop(store),
                Err(_) if disk.is_off() => {}
                Err(error) => return Err(format!("round {round}: recovering: {error}")),
            }
            disk.power_cycle(random.next_u64());
        }
        disk.power_off_after(u64::MAX);
        let store = Store::open_on(Arc::new(disk.clone()), options.clone())
            .map_err(|error| format!("round {round}: opening after the power loss: {error}"))?;
        let report = store.check().map_err(|error| format!("round {round}: checking: {error}"))?;
        if let Some(problem) = report.problems.first() {
            return Err(format!("round {round}: {} problems, the first: {problem}", report.problems.len()));
        }
        let found = read_all(&store);
        match &history {
            Some(history) => {
                matches_a_prefix(history, unsure.as_ref(), &found).map_err(|what| format!("round {round}: {what}"))?;
            }
            None => {
                if let Some(known) = &known
                    && found != *known
                {
                    return Err(format!("round {round}: nothing was done, yet the state changed"));
                }
            }
        }
        // What was recovered may not be durable in pages yet, but it is in the log: from here on it stays.
        known = Some(found);
        drop(store);
    }
    Ok(())
}

fn number_from(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

#[test]
fn nothing_acknowledged_is_lost_and_nothing_is_there_by_half() {
    let first = number_from("MESETA_POWER_SEED", 1);
    let runs = number_from("MESETA_POWER_RUNS", 2_000);
    let next = AtomicU64::new(first);
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= first + runs {
                            return;
                        }
                        let outcome = std::panic::catch_unwind(|| run(seed));
                        match outcome {
                            Ok(Ok(())) => {}
                            Ok(Err(what)) => panic!("MESETA_POWER_SEED={seed} MESETA_POWER_RUNS=1 repeats it: {what}"),
                            Err(_) => panic!("MESETA_POWER_SEED={seed} MESETA_POWER_RUNS=1 repeats it: a panic"),
                        }
                    }
                })
            })
            .collect();
        for handle in handles {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}
