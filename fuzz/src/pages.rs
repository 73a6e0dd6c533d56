//! Sound pages of every kind, small enough for a corpus: their nodes have the smallest capacity.

use meseta_storage::page::bytes::{PageBuffer, PageMut};
use meseta_storage::page::node::{CAPACITY_MIN, NodeBuilder};
use meseta_storage::page::{PageKind, overflow, seal, space_map};
use meseta_storage::{PageNo, TreeId};

const TREE: TreeId = TreeId(8);

/// How many pages [`sound`] knows.
pub const SOUND_COUNT: usize = 6;

/// One sound page of each kind: an empty leaf, a full one, an inner node, an overflow piece, a space map, a free page.
pub fn sound(which: usize) -> Box<PageBuffer> {
    let mut image = match which {
        0 => node(0, b"", None, &[]),
        1 => {
            let keys: Vec<Vec<u8>> = (0..40u8).map(|n| vec![b'k', b'e', b'y', n / 7, n]).collect();
            node(0, b"key", Some(b"kez"), &keys)
        }
        2 => node(1, b"b", Some(b"d"), &[b"b".to_vec(), b"ba".to_vec(), b"bcd".to_vec(), b"cafe".to_vec()]),
        3 => overflow::build(PageNo(9), TREE, Some(PageNo(10)), b"a piece of a long value"),
        4 => {
            let mut image = space_map::build(PageNo(0));
            space_map::set_entry(&mut PageMut::of(&mut image), 3, space_map::Entry { owner: 8, used: 7 });
            image
        }
        _ => {
            let mut image = PageBuffer::boxed();
            PageMut::of(&mut image).set_header(PageNo(9), TREE, PageKind::Free, 0);
            image
        }
    };
    seal(image.bytes_mut());
    image
}

/// A node with these fences and keys; each value says its key's number.
pub fn node(level: u8, lower: &[u8], upper: Option<&[u8]>, keys: &[Vec<u8>]) -> Box<PageBuffer> {
    let mut builder = NodeBuilder::new(level, CAPACITY_MIN, lower, upper);
    for (number, key) in keys.iter().enumerate() {
        builder.push(key, &(number as u32).to_le_bytes(), false);
    }
    let mut image = builder.finish();
    PageMut::of(&mut image).set_header(TREE.root(), TREE, PageKind::Node, level);
    image
}
