//! The engines that are compared, one file each.

use std::fs;
use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;

use crate::engine::{Engine, Result, Settings};

mod fjall;
mod lmdb;
#[cfg(feature = "meseta")]
pub mod meseta;
mod redb;
mod rocks;

/// One engine of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Meseta's own storage engine.
    #[cfg(feature = "meseta")]
    Meseta,
    /// LMDB, through heed.
    Lmdb,
    /// RocksDB.
    Rocksdb,
    /// redb.
    Redb,
    /// fjall.
    Fjall,
}

impl Kind {
    /// Whether this is the engine the others are compared with.
    pub fn is_meseta(self) -> bool {
        self.label() == "Meseta"
    }

    /// The name in the table.
    pub fn label(self) -> &'static str {
        match self {
            #[cfg(feature = "meseta")]
            Kind::Meseta => "Meseta",
            Kind::Lmdb => "LMDB",
            Kind::Rocksdb => "RocksDB",
            Kind::Redb => "redb",
            Kind::Fjall => "fjall",
        }
    }

    /// The name of its directory under the benchmark's.
    pub fn directory(self) -> String {
        self.label().to_lowercase()
    }

    /// The crate that is measured, whose version the table names.
    pub fn package(self) -> &'static str {
        match self {
            #[cfg(feature = "meseta")]
            Kind::Meseta => "meseta-storage",
            Kind::Lmdb => "heed",
            Kind::Rocksdb => "rocksdb",
            Kind::Redb => "redb",
            Kind::Fjall => "fjall",
        }
    }

    /// That crate's version, from the lock file this was built with.
    pub fn version(self) -> &'static str {
        let mut lines = include_str!("../../Cargo.lock").lines();
        let name = format!("name = \"{}\"", self.package());
        lines.find(|line| *line == name);
        lines.next().and_then(|line| line.strip_prefix("version = \"")).map_or("", |line| line.trim_end_matches('"'))
    }

    /// Opens the engine in `dir`, creating it there if the directory is empty.
    pub fn open(self, dir: &Path, settings: &Settings) -> Result<Box<dyn Engine>> {
        fs::create_dir_all(dir)?;
        Ok(match self {
            #[cfg(feature = "meseta")]
            Kind::Meseta => Box::new(meseta::Meseta::open(dir, settings)?),
            Kind::Lmdb => Box::new(lmdb::Lmdb::open(dir, settings)?),
            Kind::Rocksdb => Box::new(rocks::Rocks::open(dir, settings)?),
            Kind::Redb => Box::new(redb::Redb::open(dir, settings)?),
            Kind::Fjall => Box::new(fjall::Fjall::open(dir, settings)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::dataset::Dataset;

    /// A directory that is removed again, whatever the test does.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let dir = std::env::temp_dir().join(format!("meseta-bench-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&dir);
            Scratch(dir)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    const DATA: Dataset = Dataset { rows: 1000, value_bytes: 100 };

    fn settings(larger_than_memory: bool, durable: bool) -> Settings {
        Settings { memory_bytes: 32 << 20, larger_than_memory, durable, lmdb_write_map: false, meseta_lazy: false }
    }

    /// Every engine must do the same with the same calls, or its numbers are
    /// those of some other work.
    #[test]
    fn engines_agree() {
        for kind in Kind::value_variants() {
            let scratch = Scratch::new(&kind.directory());
            let engine = kind.open(&scratch.0, &settings(false, false)).unwrap();
            engine.load(&DATA).unwrap();
            let mut value = Vec::new();
            let mut expected = vec![0; 100];
            for row in [0, 1, 999] {
                assert!(engine.get(&DATA.key(row), &mut value).unwrap());
                DATA.fill_value(row, &mut expected);
                assert_eq!(value, expected, "{kind:?}");
            }
            assert!(!engine.get(&DATA.key(1000), &mut value).unwrap());

            let sum: u64 = (500..600)
                .map(|row| {
                    DATA.fill_value(row, &mut expected);
                    crate::engine::checksum(&DATA.key(row), &expected)
                })
                .sum();
            assert_eq!(engine.scan(&DATA.key(500), 100).unwrap(), sum, "{kind:?}");

            engine.update(&DATA.key(3), &[7; 100]).unwrap();
            engine.insert(&DATA.key(1000), &[8; 100]).unwrap();
            engine.commit_durably(&DATA.key(4), &[9; 100]).unwrap();
            engine.settle().unwrap();
            drop(engine);

            let engine = kind.open(&scratch.0, &settings(true, true)).unwrap();
            for (row, byte) in [(3, 7), (1000, 8), (4, 9)] {
                assert!(engine.get(&DATA.key(row), &mut value).unwrap());
                assert_eq!(value, [byte; 100], "{kind:?}");
            }
            engine.commit_durably(&DATA.key(4), &[1; 100]).unwrap();
        }
    }

    #[test]
    fn versions_are_found() {
        for kind in Kind::value_variants() {
            assert!(kind.version().contains('.'), "{kind:?}");
        }
    }
}
