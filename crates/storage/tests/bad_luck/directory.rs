//! The directory: in use, somebody else's, or opened with options that make no sense.

use meseta_sim::SimDisk;
use meseta_storage::io::Disk;
use meseta_storage::{ErrorKind, Store, StoreOptions};

use crate::common::*;
use crate::tools::*;

#[test]
fn a_directory_in_use_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), tiny()).unwrap();
    store.root_tree().put(b"key", b"value").unwrap();
    let error = refused(Store::open(directory.path(), tiny()));
    assert!(matches!(error.kind(), ErrorKind::InUse { .. }), "{error:?}");
    assert_says(&error, &[directory.path().to_str().unwrap(), "in use", &std::process::id().to_string()]);
    store.close().unwrap();

    let store = Store::open(directory.path(), tiny()).unwrap();
    assert_eq!(store.root_tree().get(b"key", <[u8]>::to_vec).unwrap().as_deref(), Some(&b"value"[..]));
}

#[test]
fn a_directory_with_other_things_in_it_is_refused() {
    let disk = SimDisk::new(1);
    disk.create("holiday.jpg").unwrap();
    let before = files(&disk);
    let error = refused(try_open(&disk, &tiny()));
    assert!(matches!(error.kind(), ErrorKind::NotAStore { .. }), "{error:?}");
    assert_says(&error, &["simulated disk", "not empty", CONTROL]);
    assert_eq!(files(&disk), before);
    disk.remove_file("holiday.jpg");
    open(&disk);
}

/// The lock is a file, and a file in somebody else's directory is a trace: earlier versions left it there.
#[test]
fn a_directory_that_is_refused_is_left_without_a_trace() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("holiday.jpg"), "sunset").unwrap();
    let names = || {
        let entries = std::fs::read_dir(directory.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let error = refused(Store::open(directory.path(), tiny()));
    assert!(matches!(error.kind(), ErrorKind::NotAStore { .. }), "{error:?}");
    assert_eq!(names(), ["holiday.jpg"]);
    let nonsense = StoreOptions { memory_bytes: 0, ..tiny() };
    assert!(matches!(refused(Store::open(directory.path(), nonsense)).kind(), ErrorKind::BadOption { .. }));
    assert_eq!(names(), ["holiday.jpg"]);
}

#[test]
fn options_that_make_no_sense_are_refused_by_name() {
    type Spoil = fn(&mut StoreOptions);
    let spoilt: [(&str, Spoil); 7] = [
        ("memory_bytes", |options| options.memory_bytes = 15 << 14),
        ("log_buffer_bytes", |options| options.log_buffer_bytes = 300_000),
        ("log_buffer_bytes", |options| options.log_buffer_bytes = 128 << 10),
        ("log_bytes", |options| options.log_bytes = 1 << 19),
        ("node_capacity", |options| options.node_capacity = 1279),
        ("batch_pages", |options| options.batch_pages = 0),
        ("max_data_bytes", |options| options.max_data_bytes = 1 << 19),
    ];
    for (name, spoil) in spoilt {
        let mut options = tiny();
        spoil(&mut options);
        let disk = SimDisk::new(1);
        let error = refused(try_open(&disk, &options));
        assert!(matches!(error.kind(), ErrorKind::BadOption { option, .. } if *option == name), "{error:?}");
        assert_says(&error, &[name]);
        assert!(files(&disk).is_empty(), "{name}: a store that was refused left files behind");
    }
}
