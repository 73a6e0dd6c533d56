//! A full disk.

use meseta_sim::SimDisk;
use meseta_storage::ErrorKind;
use meseta_storage::io::Disk;

use crate::common::*;
use crate::tools::*;

/// The disk is full: what needs more of it fails, and everything else goes on. When there is space again, so do
/// writers; and a crash meanwhile costs nothing.
#[test]
fn a_full_disk_stops_nobody() {
    for crash in [false, true] {
        let disk = SimDisk::new(3);
        let store = open(&disk);
        let tree = store.create_tree().unwrap();
        let used: u64 = files(&disk).values().map(|bytes| bytes.len() as u64).sum();
        disk.set_capacity(used);
        let mut model = Model::new();
        let mut full = 0;
        for n in 0..4000u32 {
            let key = n.to_be_bytes().to_vec();
            let value = value_of(&key, 0, 300 + n as usize % 20_000);
            match tree.insert(&key, &value) {
                Ok(_) => {
                    model.insert(key, value);
                }
                Err(error) => {
                    full += 1;
                    assert!(matches!(error.kind(), ErrorKind::DiskFull { .. }), "{error:?}");
                    assert_says(&error, &[DATA, "no space left"]);
                    if full == 30 {
                        break;
                    }
                }
            }
        }
        assert_eq!(full, 30, "the disk never was full");
        assert!(!model.is_empty());
        store.health().unwrap();
        assert_same(&content(&tree), &model, "full");
        // What fits into the pages there are still works, and removing makes room.
        let (key, _) = model.pop_first().unwrap();
        commit(&store, tree.remove(&key).unwrap().unwrap());
        assert_sound(&store);

        let id = tree.id();
        let (store, tree) = if crash {
            drop((store, tree));
            disk.power_cycle(3);
            let store = open(&disk);
            (store.clone(), store.open_tree(id).unwrap())
        } else {
            (store, tree)
        };
        assert_same(&content(&tree), &model, crash);
        disk.set_capacity(u64::MAX);
        for n in 4000..4200u32 {
            let (key, value) = (n.to_be_bytes().to_vec(), value_of(b"more", 1, 1000));
            tree.insert(&key, &value).unwrap();
            model.insert(key, value);
        }
        assert_same(&content(&tree), &model, crash);
        assert_sound(&store);
    }
}

/// There is not enough space even for an empty store: the directory is left as it was.
#[test]
fn a_disk_too_small_for_a_store_stays_empty() {
    for capacity in [0, 100_000, 600_000, 1_500_000] {
        let disk = SimDisk::new(1);
        disk.set_capacity(capacity);
        let error = refused(try_open(&disk, &tiny()));
        assert!(matches!(error.kind(), ErrorKind::DiskFull { .. }), "{capacity}: {error:?}");
        assert_says(&error, &["meseta.", "no space left"]);
        assert!(files(&disk).is_empty(), "{capacity}: {:?}", disk.list());
        disk.set_capacity(u64::MAX);
        open(&disk);
    }
}
