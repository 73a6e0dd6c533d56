//! Any bytes as a page from disk: checking them, and walking them as a node while they may be nonsense, does no harm;
//! and what passes the checks behaves.
//!
//! Input: flags (1: seal the page first), then the page from its first byte on; the rest is zero.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meseta_fuzz::Input;
use meseta_storage::page::bytes::{PageBuffer, PageMut, PageRef};
use meseta_storage::page::node::{Node, Position};
use meseta_storage::page::{self, PAGE_SIZE, PageKind, overflow, space_map};
use meseta_storage::redo::Op;
use meseta_storage::{Lsn, PageNo};

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let seal = input.u8() & 1 != 0;
    let bytes = input.bytes(PAGE_SIZE);
    let mut image = PageBuffer::boxed();
    image.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
    if seal {
        page::seal(image.bytes_mut());
    }

    let view = PageRef::of(&image);
    let sealed = page::check_sealed(image.bytes(), view.page_no(), Lsn(u64::MAX));
    assert!(!seal || sealed.is_ok(), "{sealed:?}");
    assert!(page::check_sealed(image.bytes(), PageNo(!view.page_no().0), Lsn(u64::MAX)).is_err());

    walk_anything(view, bytes);
    let layout = page::check_layout(view);
    if page::check_structure(view).is_ok() {
        layout.expect("a sound page has a sound layout");
        if view.kind() == Some(PageKind::Node) {
            search_finds_every_key(Node(view));
        }
        an_image_makes_it_again(view);
    }
});

/// What an optimistic reader might do with bytes that are changing.
fn walk_anything(view: PageRef<'_>, bytes: &[u8]) {
    let node = Node(view);
    let mut out = Vec::new();
    let some_key = &bytes[..bytes.len().min(40)];
    let after_fields = bytes.get(48..60).unwrap_or(b"");
    for key in [b"".as_slice(), b"k", some_key, after_fields, &[0xFF; 9]] {
        let position = node.search(key);
        assert!(position.index <= node.count());
        for index in [node.child_index(key), node.child_index_below(key), position.index] {
            let _ = node.child(index);
            let _ = node.value_at(index);
            out.clear();
            node.append_key(index, &mut out);
            node.append_value(index, &mut out);
        }
        let _ = node.covers(key);
    }
    let _ = (node.lower_fence(), node.upper_fence(), node.level(), node.append_run());
    let _ = (node.free_len(), node.used_len(), node.entry_len(5, 6), node.used_len_with_prefix(1));
    let _ = (view.page_lsn(), view.tree());
    out.clear();
    overflow::append_piece(view, &mut out);
    let _ = (overflow::next(view), overflow::occupied(view));
    let _ = space_map::entry(view, u16::from_le_bytes([after_fields.first().copied().unwrap_or(0), 7]));
}

/// Invariants of a node, seen from outside.
fn search_finds_every_key(node: Node<'_>) {
    let mut previous: Option<Vec<u8>> = None;
    for index in 0..node.count() {
        let mut key = node.key(index);
        assert!(previous.as_ref().is_none_or(|previous| *previous < key));
        assert_eq!(node.search(&key), Position { index, exact: true });
        previous = Some(key.clone());
        key.push(0);
        if node.covers(&key) {
            // The shortest key above this one: it is the next entry, or would stand before it.
            let exact = index + 1 < node.count() && node.key(index + 1) == key;
            assert_eq!(node.search(&key), Position { index: index + 1, exact });
        }
    }
}

fn an_image_makes_it_again(view: PageRef<'_>) {
    let mut scratch = Vec::new();
    let op = Op::image(view, &mut scratch);
    let mut again = PageBuffer::boxed();
    again.bytes_mut().fill(0xAA);
    op.apply(view.page_no(), &mut PageMut::of(&mut again)).expect("the image of a sound page is sound");
    let again = PageRef::of(&again);
    page::check_structure(again).expect("a page made from the image of a sound page is sound");
    if view.kind() == Some(PageKind::Node) {
        let (old, new) = (Node(view), Node(again));
        assert_eq!(
            (old.count(), old.lower_fence(), old.upper_fence()),
            (new.count(), new.lower_fence(), new.upper_fence())
        );
        assert!((0..old.count()).all(|index| old.key(index) == new.key(index)));
    }
}
