//! Files that are missing or too short.

use meseta_storage::ErrorKind;

use crate::common::*;
use crate::tools::*;

#[test]
fn a_missing_file_is_named_and_nothing_is_touched() {
    for crashed in [false, true] {
        for name in [CONTROL, DATA, DOUBLEWRITE, "meseta.log.00", "meseta.log.01"] {
            let (disk, expected) = if crashed { crashed_store() } else { closed_store() };
            let bytes = file(&disk, name);
            disk.remove_file(name);
            let before = files(&disk);
            let error = refused(try_open(&disk, &tiny()));
            assert!(matches!(error.kind(), ErrorKind::MissingFile { file, .. } if file == name), "{name}: {error:?}");
            assert_says(&error, &["simulated disk", name, "missing"]);
            assert_eq!(files(&disk), before, "{name} was missing, and others were changed");
            restore(&disk, name, &bytes);
            expected.assert_in(&open(&disk));
        }
    }
}

#[test]
fn a_truncated_file_is_named_and_nothing_is_touched() {
    for crashed in [false, true] {
        for name in [CONTROL, DOUBLEWRITE, DATA, "meseta.log.00", "meseta.log.01"] {
            for keep in [0, 1, 2, 3] {
                let (disk, expected) = if crashed { crashed_store() } else { closed_store() };
                let bytes = file(&disk, name);
                disk.truncate_file(name, bytes.len() as u64 / 4 * keep);
                let before = files(&disk);
                // The data file may end in pages that nobody owns: then nothing is missing.
                let error = match try_open(&disk, &tiny()) {
                    Err(error) => error,
                    Ok(store) if name == DATA && keep == 3 => {
                        expected.assert_in(&store);
                        continue;
                    }
                    Ok(_) => panic!("{name} with {keep} quarters of its bytes was accepted, crashed: {crashed}"),
                };
                assert!(
                    matches!(error.kind(), ErrorKind::Truncated { file, .. } if file == name),
                    "{name}, {keep} quarters, crashed: {crashed}: {error:?}"
                );
                assert_says(&error, &[name, "truncated", &(bytes.len() as u64 / 4 * keep).to_string()]);
                if name != DATA {
                    assert_eq!(files(&disk), before, "{name} was truncated, and others were changed");
                }
                restore(&disk, name, &bytes);
                expected.assert_in(&open(&disk));
            }
        }
    }
}
