//! Histories whose phenomena one knows: written by hand, one for each phenomenon, and good ones that show none.

use std::collections::BTreeSet;

use meseta_engine::Isolation::{self, ReadCommitted, ReadUncommitted, RepeatableRead, Serializable};

use crate::checker::Phenomenon::{self, *};
use crate::checker::{check, phenomena};
use crate::history::Kind::{Lists, Registers};
use crate::history::{History, Kind, Operation};
use crate::levels::forbidden;

#[track_caller]
fn assert_shows(kind: Kind, text: &str, expected: &[Phenomenon]) {
    let history = History::parse(kind, text);
    let expected: BTreeSet<Phenomenon> = expected.iter().copied().collect();
    assert_eq!(phenomena(&history), expected, "{text}\n{:#?}", check(&history));
}

#[test]
fn good_histories_show_nothing() {
    for text in [
        "w1(x=1) r1(x=1) c1 r2(x=1) w2(x=2) c2 r3(x=2) c3",
        // A snapshot from before, and one from after.
        "r1(x=) w2(x=1) w2(y=2) c2 r1(y=) c1 r3(x=1) r3(y=2) c3",
        // Undone, and not seen; undone in part.
        "w1(x=1) a1 r2(x=) w2(x=2) u2 w2(x=3) c2 r3(x=3) c3",
        // Deleted, not there, there again.
        "w1(x=1) c1 w2(x=) c2 l3(x=) w3(x=3) c3 r4(x=3) c4",
        // Nobody saw what became of it: as if it had not been. Somebody did.
        "w1(x=1) ?1 r2(x=) c2",
        "w1(x=1) ?1 r2(x=1) w2(x=2) c2 r3(x=2) c3",
    ] {
        assert_shows(Registers, text, &[]);
    }
    for text in [
        "w1(x=1) w1(x=2) r1(x=1,2) c1 r2(x=1,2) w2(x=3) r2(x=1,2,3) c2 r3(x=1,2) c3 r4(x=1,2,3) c4",
        // It sees what it is about to undo.
        "w1(x=1) w1(x=2) c1 w2(x=3) r2(x=1,2,3) u2 r2(x=1,2) w2(x=4) r2(x=1,2,4) c2 r3(x=1,2,4) c3",
        "w1(x=1) a1 r2(x=) w2(x=2) c2 r3(x=2) c3",
        // What was undone had replaced what was undone with it.
        "w1(x=1) w1(x=2) u1 w1(y=3) c1 r2(x=) r2(y=3) c2",
        // Of an insert that was undone no lock is left: 2 may insert before 1 commits, and 3 look in between.
        "w1(x=1) r1(x=1) u1 w2(x=2) c2 r3(x=2) r3(y=) c3 w1(y=5) c1 r4(y=5) c4",
    ] {
        assert_shows(Lists, text, &[]);
    }
}

#[test]
fn a_cycle_of_writes_is_g0() {
    // The writes of 1 lie around those of 2: no lock was held. (And neither commit can have been first: a View, too.)
    assert_shows(Registers, "w1(x=1) w2(x=2) w2(y=3) w1(y=4) c1 c2", &[G0, View]);
    assert_shows(Lists, "w1(x=1) w2(x=2) w2(y=3) w1(y=4) c1 c2 r3(x=1,2) r3(y=3,4) c3", &[G0, View]);
}

#[test]
fn what_was_undone_and_read_is_g1a() {
    assert_shows(Registers, "w1(x=1) r2(x=1) a1 c2", &[G1a]);
    assert_shows(Registers, "w1(x=1) r2(x=1) u1 c1 c2", &[G1a]);
    assert_shows(Registers, "w1(x=1) u1 r1(x=1) c1", &[G1a]);
    assert_shows(Lists, "w1(x=1) r2(x=1) a1 c2", &[G1a]);
    // Nobody wrote 7.
    assert_shows(Registers, "r1(x=7) c1", &[G1a]);
}

#[test]
fn what_was_written_over_and_read_is_g1b() {
    assert_shows(Registers, "w1(x=1) r2(x=1) w1(x=2) c1 c2", &[G1b]);
    assert_shows(Lists, "w1(x=1) r2(x=1) w1(x=2) c1 c2 r3(x=1,2) c3", &[G1b]);
}

#[test]
fn information_in_a_circle_is_g1c() {
    for kind in [Registers, Lists] {
        let text = "w1(x=1) w2(y=2) r1(y=2) r2(x=1) c1 c2";
        assert_shows(kind, text, &[G1c, View]);
        let story = &check(&History::parse(kind, text))[0].story;
        assert!(story.contains("T1 -wr-> T2: it wrote x, and T2 read that"), "{story}");
    }
}

#[test]
fn a_lost_update_has_its_name() {
    for kind in [Registers, Lists] {
        // For the locking read it is worse: what it read was locked, and changed nevertheless.
        assert_shows(
            kind,
            "r1(x=) r2(x=) w2(x=2) c2 w1(x=1) c1 r3(x=2,1) c3",
            match kind {
                Lists => &[LostUpdate, GSingle],
                Registers => &[LostUpdate, GSingle, G2Item],
            },
        );
    }
}

#[test]
fn skewed_reads_are_g_single() {
    for kind in [Registers, Lists] {
        let text = "r1(x=) w2(x=1) w2(y=2) c2 r1(y=2) c1 r3(x=1) c3";
        assert_shows(kind, text, &[GSingle, View]);
        // Of two statements at READ COMMITTED each may see another moment.
        let mut history = History::parse(kind, text);
        each_read_has_its_view(&mut history);
        assert_eq!(phenomena(&history), BTreeSet::from([GSingle]));
        // Who writes between its reads shows the same, and is as guilty.
        assert_shows(kind, "r1(x=) w1(z=9) w2(x=1) w2(y=2) c2 r1(y=2) c1 r3(x=1) c3", &[GSingle, View]);
    }
}

#[test]
fn skewed_writes_are_g2() {
    for kind in [Registers, Lists] {
        assert_shows(kind, "r1(x=) r2(y=) w1(y=1) w2(x=2) c1 c2 r3(x=2) r3(y=1) c3", &[G2Item]);
        // With locks nobody can get there.
        assert_shows(kind, "l1(x=) l2(y=) w1(y=1) w2(x=2) c1 c2 r3(x=2) r3(y=1) c3", &[G2Item, View]);
    }
}

#[test]
fn a_long_fork_is_no_view_of_any_moment() {
    for kind in [Registers, Lists] {
        let text = "w1(x=1) w2(y=2) c1 c2 r3(x=1) r3(y=) r4(x=) r4(y=2) c3 c4 r5(x=1) r5(y=2) c5";
        assert_shows(kind, text, &[G2Item, View]);
        // Those who fail afterwards have seen it all the same.
        assert_shows(kind, &text.replace("c3", "a3"), &[View]);
    }
}

#[test]
fn what_is_not_there_as_it_was_left_is_found() {
    assert_shows(Registers, "w1(x=1) r1(x=) c1", &[Internal]);
    assert_shows(Lists, "w1(x=1) w1(x=2) r1(x=2) c1 r2(x=1,2) c2", &[Internal]);
    assert_shows(Lists, "w1(x=1) c1 w2(x=2) c2 r3(x=1,2) c3 r4(x=2) c4", &[Incompatible]);

    let mut history = History::parse(Registers, "w1(x=1) c1 w2(x=2) c2");
    let Operation::Write(write) = &mut history.transactions[1].operations[0] else { unreachable!("2 writes") };
    write.replaced = Vec::new();
    assert_eq!(phenomena(&history), BTreeSet::from([Replaced]));

    for kind in [Registers, Lists] {
        let mut history = History::parse(kind, "w1(x=1) c1");
        history.last = Some(Default::default());
        assert_eq!(phenomena(&history), BTreeSet::from([Lost]));

        let mut history = History::parse(kind, "w1(x=1) c1 r2(x=) c2 r3(x=1) c3");
        assert_eq!(phenomena(&history), BTreeSet::new());
        let Operation::Read(read) = &mut history.transactions[1].operations[0] else { unreachable!("2 reads") };
        read.since = read.at;
        assert_eq!(phenomena(&history), BTreeSet::from([Stale]));
    }
}

fn each_read_has_its_view(history: &mut History) {
    for operation in history.transactions.iter_mut().flat_map(|transaction| &mut transaction.operations) {
        if let Operation::Read(read) = operation {
            read.view = read.view.map(|_| read.at as u32);
        }
    }
}

/// The scripts of `hermitage.rs`, with what each level lets its sessions see there: what it lets through is found and not
/// forbidden, and what it does not let through would have been.
#[test]
fn the_levels_forbid_what_hermitage_says() {
    let all = [ReadUncommitted, ReadCommitted, RepeatableRead];
    let begin = "w9(x=10) w9(y=20) c9 ";
    let scripts: &[(&[Isolation], &str, &[Phenomenon])] = &[
        (&all, "w1(x=11) w1(y=21) c1 w2(x=12) w2(y=22) c2", &[]),
        (&[ReadUncommitted], "w1(x=101) r2(x=101) a1 r2(x=10) c2", &[G1a]),
        (&all[1..], "w1(x=101) r2(x=10) a1 r2(x=10) c2", &[]),
        (&[ReadUncommitted], "w1(x=101) r2(x=101) w1(x=11) c1 r2(x=11) c2", &[G1b]),
        (&[ReadCommitted], "w1(x=101) r2(x=10) w1(x=11) c1 r2(x=11) c2", &[GSingle]),
        (&[RepeatableRead], "w1(x=101) r2(x=10) w1(x=11) c1 r2(x=10) c2", &[]),
        (&[ReadUncommitted], "w1(x=11) w2(y=22) r1(y=22) r2(x=11) c1 c2", &[G1c]),
        (&all[1..], "w1(x=11) w2(y=22) r1(y=20) r2(x=10) c1 c2", &[G2Item]),
        // P4
        (&all, "r1(x=10) r2(x=10) w1(x=11) c1 w2(x=12) c2", &[LostUpdate]),
        (&[Serializable], "l1(x=10) l2(x=10) w1(x=11) a2 c1", &[]),
        // G-single, through a read and through a write
        (&all[..2], "r1(x=10) r2(x=10) r2(y=20) w2(x=12) w2(y=18) c2 r1(y=18) c1", &[GSingle]),
        (&[RepeatableRead], "r1(x=10) r2(x=10) r2(y=20) w2(x=12) w2(y=18) c2 r1(y=20) c1", &[]),
        (&[RepeatableRead], "r1(x=10) w2(x=12) w2(y=18) c2 l1(y=18) r1(y=20) c1", &[GSingle]),
        // G2-item
        (&all, "r1(x=10) r1(y=20) r2(x=10) r2(y=20) w1(x=11) w2(y=21) c1 c2", &[G2Item]),
        (&[Serializable], "l1(x=10) l1(y=20) l2(x=10) l2(y=20) a2 w1(x=11) c1", &[]),
    ];
    for &(levels, script, expected) in scripts {
        for &level in levels {
            let mut history = History::parse(Registers, &format!("{begin}{script}"));
            if level < RepeatableRead {
                each_read_has_its_view(&mut history);
            }
            let (found, forbidden) = (phenomena(&history), forbidden(level, false));
            assert!(expected.iter().all(|phenomenon| found.contains(phenomenon)), "{level:?} {script}: {found:?}");
            assert!(found.iter().all(|found| !forbidden.contains(found)), "{level:?} {script}: {:#?}", check(&history));
            assert_eq!(found.is_empty(), expected.is_empty(), "{level:?} {script}: {found:?}");
            // One level up it would have been a mistake, unless that lets it through as well.
            let next_up = match (level, expected) {
                (ReadUncommitted, [G1a | G1b | G1c]) => Some(ReadCommitted),
                (RepeatableRead, [_, ..]) => Some(Serializable),
                _ => None,
            };
            if let Some(level) = next_up {
                let forbidden = crate::levels::forbidden(level, false);
                assert!(expected.iter().any(|phenomenon| forbidden.contains(phenomenon)), "{level:?} {script}");
            }
        }
    }
}
