//! A writer whose every change is known, to be cut off anywhere.

use meseta_sim::{SeededRandom, SimDisk};
use meseta_storage::{Durability, Lsn, Result, Store, StoreOptions, Tree, TreeId};

use crate::common::*;

/// One writer's life with one tree: a seeded sequence of changes, commits and checkpoints, and after each change the
/// content that the tree must have. Since the log has one order, what is found after a crash must be the content
/// after *some* number of changes, at least as many as were acknowledged.
pub struct Story {
    open: Option<Store>,
    pub tree: TreeId,
    random: SeededRandom,
    /// The content now.
    pub model: Model,
    /// What each change did: a key, and its value from then on.
    changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    pub base: Model,
    /// Changes that a commit has promised to keep.
    pub acknowledged: usize,
    /// Where each change ended in the log, as far as it was made.
    pub ends: Vec<Lsn>,
}

impl Story {
    #[track_caller]
    pub fn begin(disk: &SimDisk, seed: u64) -> Story {
        Self::try_begin(disk, seed).unwrap_or_else(|error| panic!("seed {seed}: {error}"))
    }

    pub fn try_begin(disk: &SimDisk, seed: u64) -> Result<Story> {
        Self::try_begin_with(disk, seed, &tiny())
    }

    pub fn try_begin_with(disk: &SimDisk, seed: u64, options: &StoreOptions) -> Result<Story> {
        let store = try_open(disk, options)?;
        let tree = store.root_tree();
        let base = try_content(&tree)?;
        Ok(Story {
            tree: tree.id(),
            open: Some(store),
            random: SeededRandom::new(seed),
            model: base.clone(),
            base,
            changes: Vec::new(),
            acknowledged: 0,
            ends: Vec::new(),
        })
    }

    pub fn store(&self) -> &Store {
        self.open.as_ref().expect("the store has not been given up")
    }

    pub fn tree(&self) -> Tree {
        self.store().open_tree(self.tree).expect("the story's tree")
    }

    /// Goes on for so many steps, or up to the first error.
    pub fn go_on(&mut self, steps: usize) -> Result<()> {
        for _ in 0..steps {
            match self.random.below(100) {
                0..60 => self.change(false)?,
                60..75 => self.change(true)?,
                75..97 => self.commit()?,
                _ => self.store().checkpoint()?,
            }
        }
        Ok(())
    }

    pub fn change(&mut self, remove: bool) -> Result<()> {
        let key = self.random.below(120).to_be_bytes().to_vec();
        let len = if self.random.chance(10) { self.random.below(40_000) } else { self.random.below(280) };
        let value = (!remove).then(|| self.random.bytes(len as usize));
        // Noted down first: a change that ends in an error may have been made.
        self.changes.push((key.clone(), value.clone()));
        match &value {
            Some(value) => self.tree().put(&key, value).map(drop)?,
            None => self.tree().remove(&key).map(drop)?,
        }
        self.ends.push(self.store().log_end());
        apply(&mut self.model, &key, value);
        Ok(())
    }

    #[track_caller]
    pub fn put_one(&mut self) {
        self.change(false).unwrap();
    }

    pub fn commit(&mut self) -> Result<()> {
        let done = self.ops_done();
        self.store().commit(self.store().log_end(), Durability::Flush)?;
        self.acknowledged = done;
        Ok(())
    }

    pub fn ops_done(&self) -> usize {
        self.changes.len()
    }

    /// Gives the store up without closing it.
    pub fn stop(&mut self) {
        self.open = None;
    }

    /// How many changes are in what was found. Fails if that is no moment of the story, or one before `at_least`.
    #[track_caller]
    pub fn ops_in(&self, found: &Model, at_least: usize, when: impl std::fmt::Debug) -> usize {
        let mut model = self.base.clone();
        let mut last_match = None;
        for done in 0..=self.changes.len() {
            if done > 0 {
                let (key, value) = &self.changes[done - 1];
                apply(&mut model, key, value.clone());
            }
            if model == *found {
                last_match = Some(done);
            }
            if done == at_least.max(self.changes.len()) && last_match.is_none() {
                assert_same(found, &model, format!("{when:?}: no moment of the story; the last one would be"));
            }
        }
        let done = last_match.expect("assert_same has told the difference");
        assert!(done >= at_least, "{when:?}: {done} changes are there, but {at_least} were acknowledged");
        done
    }

    /// Everything acknowledged is in the store, and the store is sound.
    #[track_caller]
    pub fn compare(&self, store: &Store, when: impl std::fmt::Debug) {
        self.ops_in(&content(&store.open_tree(self.tree).unwrap()), self.acknowledged, when);
        assert_sound(store);
    }

    /// Gives the store up, loses the power, and opens it again.
    #[track_caller]
    pub fn crash_and_compare(&mut self, disk: &SimDisk, when: impl std::fmt::Debug) {
        self.stop();
        disk.clear_faults();
        disk.power_cycle(self.random.next_u64());
        match try_open(disk, &tiny()) {
            Ok(store) => self.compare(&store, when),
            Err(error) => panic!("{when:?}: the store cannot be opened: {error}"),
        }
    }
}

pub fn apply(model: &mut Model, key: &[u8], value: Option<Vec<u8>>) {
    match value {
        Some(value) => model.insert(key.to_vec(), value),
        None => model.remove(key),
    };
}
