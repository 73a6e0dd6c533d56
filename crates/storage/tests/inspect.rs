//! Damage that keeps a store from opening: what is said of it, that nothing is made worse, and that nothing else is
//! taken for it.

mod common;

use common::*;
use meseta_sim::{Call, Effect, Fault, SeededRandom, SimDisk};
use meseta_storage::{Effect as ErrorEffect, ErrorKind, Finding, Inspection, Result, Store};

const CONTROL: &str = "meseta.control";
const DATA: &str = "meseta.data";
const DOUBLEWRITE: &str = "meseta.doublewrite";

/// The first tree's root; see `docs/on-disk-format.md`.
const ROOT: u64 = 8;

/// A store that lost its power in the middle of its work, after some checkpoints.
fn crashed(seed: u64) -> SimDisk {
    let disk = SimDisk::new(seed);
    let mut random = SeededRandom::new(seed);
    disk.power_off_after(60 + random.below(400));
    let mut work = || -> Result<()> {
        let store = try_open(&disk, &tiny())?;
        let trees = [store.root_tree(), store.create_tree()?];
        for n in 0..2_000u64 {
            let key = (n % 150).to_be_bytes();
            let tree = &trees[random.below(2) as usize];
            tree.put(&key, &value_of(&key, n, random.below(600) as usize))?;
            match random.below(60) {
                0 => store.checkpoint()?,
                1 => store.drop_tree(store.create_tree()?.id())?,
                2..10 => store.commit(store.log_end(), meseta_storage::Durability::Flush)?,
                _ => {}
            }
        }
        Ok(())
    };
    let _ = work();
    disk.power_cycle(seed);
    disk
}

/// A store closed in order, of a few hundred pages.
fn closed(seed: u64) -> SimDisk {
    let disk = SimDisk::new(seed);
    let store = open(&disk);
    for n in 0..400u64 {
        store.root_tree().put(&n.to_be_bytes(), &value_of(b"", n, 250)).unwrap();
    }
    store.close().unwrap();
    disk
}

/// Opens or inspects; also what was found, in sentences.
fn look(disk: &SimDisk) -> (Result<Result<Store, Inspection>>, Vec<Finding>) {
    let mut findings = Vec::new();
    let outcome = Store::open_or_inspect_on(
        std::sync::Arc::new(disk.clone()),
        tiny(),
        &mut |finding| findings.push(finding), //
    );
    (outcome, findings)
}

/// ... of a store that must not open, and must stay as it is.
#[track_caller]
fn inspect(disk: &SimDisk) -> (Inspection, Vec<String>) {
    let before = files(disk);
    let (outcome, findings) = look(disk);
    let Err(inspection) = outcome.expect("the files can be looked at") else { panic!("the store was opened") };
    assert!(inspection.untouched && files(disk) == before, "a damaged store was changed");
    assert_eq!(inspection.findings, findings.len() as u64);
    assert_eq!(inspection.reason.effect(), ErrorEffect::Open, "{:?}", inspection.reason);
    (inspection, findings.iter().map(ToString::to_string).collect())
}

#[track_caller]
fn assert_some_say(findings: &[String], parts: &[&str]) {
    let says = |finding: &&String| parts.iter().all(|part| finding.contains(part));
    assert!(findings.iter().any(|finding| says(&finding)), "{parts:?} is not in {findings:#?}");
}

/// Nothing that a crash leaves behind is taken for damage: torn pages, half a checkpoint, a region not begun.
#[test]
fn a_crash_is_no_damage() {
    for seed in 0..150 {
        let disk = crashed(seed);
        if disk.file_len(CONTROL).is_none() {
            continue;
        }
        let (outcome, findings) = look(&disk);
        let store = outcome.unwrap().unwrap_or_else(|inspection| panic!("seed {seed}: {inspection:?}, {findings:?}"));
        assert!(findings.is_empty(), "seed {seed}: {findings:?}");
        assert_sound(&store);
    }
}

/// One bit of a crashed store rots. It is looked at from outside if and only if it does not open; then the page is
/// named, and no other.
#[test]
fn a_store_is_inspected_exactly_if_it_does_not_open() {
    let mut outcomes = [0; 2];
    for seed in 0..400 {
        let disk = if seed % 4 == 0 { closed(seed) } else { crashed(seed / 4) };
        let Some(len) = disk.file_len(DATA).filter(|&len| len > 0 && disk.file_len(CONTROL).is_some()) else {
            continue;
        };
        let mut random = SeededRandom::new(seed);
        let pages = (len / PAGE).min(60);
        let page = if random.chance(30) { [0, ROOT][random.below(2) as usize] } else { random.below(pages) };
        disk.flip_bit(DATA, page * PAGE + random.below(PAGE), random.below(8) as u32);
        let opened = try_open(&disk.fork(seed), &tiny());
        let before = files(&disk);
        let (outcome, findings) = look(&disk);
        let context =
            format!("seed {seed}, page {page}: {:?}, {findings:?}", outcome.as_ref().map(|o| o.as_ref().err()));
        match (opened, outcome.unwrap()) {
            (Ok(_), Ok(_)) => outcomes[0] += 1,
            (Err(error), Err(inspection)) => {
                outcomes[1] += 1;
                assert!(inspection.untouched && files(&disk) == before, "{context}: a damaged store was changed");
                assert_eq!(inspection.reason.to_string(), error.to_string(), "{context}");
                assert!(matches!(error.kind(), ErrorKind::CorruptPage { .. }), "{context}");
                // A crash in the middle of a checkpoint leaves a slot of the control file torn, which is told as well.
                let is_torn_slot =
                    |finding: &Finding| matches!(finding, Finding::File(text) if text.starts_with(CONTROL));
                let damaged: Vec<_> = findings.iter().filter(|finding| !is_torn_slot(finding)).collect();
                assert_eq!(damaged.len(), 1, "{context}");
                assert!(matches!(damaged[0], Finding::Page(found) if u64::from(found.page.0) == page), "{context}");
            }
            (opened, _) => panic!("{context}: opening said {:?}", opened.err()),
        }
    }
    println!("opened, inspected: {outcomes:?}");
    assert!(outcomes.iter().all(|&count| count > 40), "{outcomes:?}");
}

/// A page that the log changes is damaged, and no copy of it is whole: the opening fails and names file and page, and
/// what was expected there.
#[test]
fn redo_names_the_damaged_page_it_meets() {
    let disk = closed(1);
    let store = open(&disk);
    let end = store.root_tree().put(&7u64.to_be_bytes(), b"changed").unwrap();
    commit(&store, end);
    drop(store);
    disk.power_cycle(1);
    // The headers of the doublewrite area's segments.
    let segment = disk.file_len(DOUBLEWRITE).unwrap() / 4;
    (0..4).for_each(|index| disk.overwrite(DOUBLEWRITE, index * segment, &[0; 16]));
    let leaf = {
        // With every page but one damaged in turn, one of them is met by redo and is not the root: the leaf.
        let pages = disk.file_len(DATA).unwrap() / PAGE;
        let meets = |&page: &u64| {
            let disk = disk.fork(page);
            disk.flip_bit(DATA, page * PAGE + 5_000, 0);
            try_open(&disk, &tiny()).is_err()
        };
        let met: Vec<u64> = (1..pages).filter(|page| *page != ROOT).filter(meets).collect();
        assert_eq!(met.len(), 1, "one leaf was changed: {met:?}");
        met[0]
    };
    disk.flip_bit(DATA, leaf * PAGE + 5_000, 0);
    let before = files(&disk);
    let error = try_open(&disk.fork(0), &tiny()).err().expect("redo needs the page");
    assert!(matches!(error.kind(), ErrorKind::CorruptPage { page, .. } if u64::from(page.0) == leaf), "{error:?}");
    assert_eq!(error.effect(), ErrorEffect::Open);
    let place = format!("{DATA}, page {leaf} (byte {})", leaf * PAGE);
    for part in [&place, "checksum: the page says", "its bytes give"] {
        assert!(error.to_string().contains(part), "{part:?} is not in {error}");
    }
    let (inspection, findings) = inspect(&disk);
    assert_eq!(inspection.reason.to_string(), error.to_string());
    assert_some_say(&findings, &[&place, "of tree 8", "checksum"]);
    assert_eq!(files(&disk), before);
}

/// Where the log is damaged, nobody knows what it would have done to pages: those that a crash left behind are still
/// not taken for damaged.
#[test]
fn a_damaged_log_is_not_blamed_on_pages() {
    let mut refused = 0;
    for seed in 0..60 {
        let disk = crashed(seed);
        if disk.file_len(CONTROL).is_none() {
            continue;
        }
        let mut random = SeededRandom::new(seed);
        for turn in 0..20 {
            let disk = disk.fork(turn);
            disk.flip_bit("meseta.log.00", random.below(200 << 10), 0);
            let opened = try_open(&disk.fork(turn), &tiny());
            let (outcome, findings) = look(&disk);
            let context =
                format!("seed {seed}, turn {turn}: {:?}, {findings:?}", outcome.as_ref().map(|o| o.as_ref().err()));
            let Err(inspection) = outcome.unwrap() else {
                assert!(opened.is_ok(), "{context}");
                continue;
            };
            refused += 1;
            assert_eq!(opened.err().map(|error| error.to_string()), Some(inspection.reason.to_string()), "{context}");
            // Besides the log, a control slot may be mentioned that was torn when the power went. And if the damage is
            // in the very last blocks, only pages tell that the log went on: then copies from that time do not count,
            // and torn pages stay torn.
            let of_pages = findings.iter().filter(|finding| matches!(finding, Finding::Page(_))).count();
            let log_goes_on = findings.iter().any(|finding| finding.to_string().contains("but the log ends at"));
            assert!(of_pages == 0 || log_goes_on, "{context}");
        }
    }
    assert!(refused > 20, "the log was refused {refused} times");
}

/// Zeroes are right where nothing was ever written, and damage where something was.
#[test]
fn a_page_that_was_zeroed_is_found() {
    for page in [0, ROOT] {
        let disk = closed(1);
        disk.overwrite(DATA, page * PAGE, &[0; PAGE as usize]);
        disk.overwrite(DATA, 17 * PAGE, &[0; PAGE as usize]);
        let (_, findings) = inspect(&disk);
        assert_some_say(&findings, &[&format!("page {page} "), "found only zeroes"]);
        // With the map gone nobody knows that the other page was in use.
        assert_eq!(findings.len(), if page == 0 { 1 } else { 2 }, "{findings:?}");
    }
}

/// Damage in a page that belongs to nobody does no harm: it is mentioned, as such, when there is other damage.
#[test]
fn damage_of_a_free_page_is_told_apart() {
    let disk = closed(1);
    let last = disk.file_len(DATA).unwrap() / PAGE - 1;
    disk.overwrite(DATA, last * PAGE + 100, b"noise");
    let (opened, findings) = look(&disk.fork(1));
    assert!(opened.unwrap().is_ok() && findings.is_empty(), "{findings:?}");
    disk.flip_bit(DATA, ROOT * PAGE + 5_000, 0);
    let (_, findings) = inspect(&disk);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert_some_say(&findings, &[&format!("page {last} "), "the page is free"]);
    assert_some_say(&findings, &["page 8 ", "of tree 8: the tree's root"]);
}

#[test]
fn a_damaged_control_slot_and_a_short_data_file_are_mentioned() {
    let disk = closed(1);
    disk.flip_bit(CONTROL, 50, 3);
    let (opened, _) = look(&disk.fork(1));
    // The other slot was written before the store was closed: it says that there is a log to redo, and there is.
    assert!(opened.unwrap().is_ok());
    disk.truncate_file(DATA, 20 * PAGE);
    let (inspection, findings) = inspect(&disk);
    assert!(matches!(inspection.reason.kind(), ErrorKind::Truncated { .. }), "{inspection:?}");
    assert_some_say(&findings, &[CONTROL, "slot 0 (byte 0)", "not whole", "slot 1 is"]);
    assert_some_say(&findings, &[DATA, "truncated"]);
    assert_eq!(inspection.pages, 20);
}

/// The device cannot read one page: that is the finding, and its neighbours are read nevertheless.
#[test]
fn an_unreadable_page_does_not_hide_its_neighbours() {
    let disk = closed(1);
    disk.flip_bit(DATA, ROOT * PAGE + 5_000, 0);
    disk.flip_bit(DATA, 9 * PAGE + 5_000, 0);
    let reads = {
        // Reads of the data file up to the reading of everything: the one batch is read after the obstacles were found.
        let disk = disk.fork(0);
        let before = disk.calls(Call::Read);
        inspect(&disk);
        disk.calls(Call::Read) - before
    };
    let mut unreadable = 0;
    for nth in 1..=reads {
        let disk = disk.fork(nth);
        disk.inject(Fault::new(Call::Read, Effect::DeviceError).on(DATA).nth(nth));
        let (outcome, findings) = look(&disk);
        let Ok(Err(inspection)) = outcome else { panic!("read {nth}: the root is damaged") };
        assert!(inspection.untouched);
        let findings: Vec<_> = findings.iter().map(ToString::to_string).collect();
        assert_some_say(&findings, &["page 8 ", "checksum"]);
        assert_some_say(&findings, &["page 9 ", "checksum"]);
        unreadable += usize::from(matches!(inspection.reason.kind(), ErrorKind::Read { .. }));
    }
    assert!(unreadable > 0);
}
