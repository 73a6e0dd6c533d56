//! Page operations, each through its bytes in the log, against an ordered map: the node always checks, holds what the
//! map holds, and is split when it is full.
//!
//! Input: capacity, fences, then operations until the bytes end.
#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use meseta_fuzz::Input;
use meseta_storage::page::bytes::{PageBuffer, PageMut, PageRef};
use meseta_storage::page::node::{self, CAPACITY_MIN, Node, NodeBuilder, inline_len_max, key_len_max, split_point};
use meseta_storage::page::overflow::REFERENCE_LEN;
use meseta_storage::page::{PAGE_SIZE, PageKind};
use meseta_storage::redo::Op;
use meseta_storage::{PageNo, TreeId};

const PAGE: PageNo = PageNo(8);
const TREE: TreeId = TreeId(8);
/// What the entry takes for which a leaf is split.
const NEEDED: usize = 40;

/// A leaf, and what it should hold: value and overflow flag by key.
struct Leaf {
    image: Box<PageBuffer>,
    model: BTreeMap<Vec<u8>, (Vec<u8>, bool)>,
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let capacity = [CAPACITY_MIN, 4096, PAGE_SIZE][input.below(3)];
    let mut fences = [input.short(20), input.short(20)];
    fences.sort_unstable();
    let [lower, upper] = fences;
    let upper = (input.u8() & 1 != 0 && lower < upper).then_some(upper);
    let mut image = NodeBuilder::new(0, capacity, lower, upper).finish();
    PageMut::of(&mut image).set_header(PAGE, TREE, PageKind::Node, 0);
    let mut leaf = Leaf { image, model: BTreeMap::new() };
    while !input.is_empty() {
        leaf.step(&mut input);
        node::check(PageRef::of(&leaf.image)).expect("a sound node");
    }
    leaf.compare();
});

impl Leaf {
    fn node(&self) -> Node<'_> {
        Node(PageRef::of(&self.image))
    }

    fn step(&mut self, input: &mut Input<'_>) {
        match input.u8() % 8 {
            0..4 => self.put(input),
            4 => self.remove(input),
            5 => self.remove_range(input),
            6 => self.patch(input),
            _ => {
                let key = self.key(input);
                if self.node().count() >= 2 {
                    self.split(&key, input.u8() & 1 != 0);
                }
            }
        }
    }

    /// A key inside the fences: the prefix with something behind it, or one that is there.
    fn key(&self, input: &mut Input<'_>) -> Vec<u8> {
        let node = self.node();
        let lower = node.lower_fence();
        let choice = input.u8();
        if choice & 1 != 0 && node.count() > 0 {
            return node.key(input.below(node.count()));
        }
        let len_max = if choice & 2 != 0 { key_len_max(node.capacity()) } else { 16 };
        let mut key = lower[..node.prefix_len()].to_vec();
        key.extend_from_slice(input.short(len_max - key.len().min(len_max)));
        if choice & 4 != 0 {
            key.resize(len_max.max(key.len()), choice);
        }
        if node.covers(&key) { key } else { lower }
    }

    fn put(&mut self, input: &mut Input<'_>) {
        let key = self.key(input);
        let choice = input.u8();
        let overflow = choice & 1 != 0 || key.len() >= inline_len_max(self.node().capacity());
        let value = if overflow {
            vec![choice; REFERENCE_LEN]
        } else {
            let rest = inline_len_max(self.node().capacity()) - key.len();
            let mut value = input.short(rest.min(60)).to_vec();
            if choice & 2 != 0 {
                value.resize(rest - rest.min(usize::from(choice)), choice);
            }
            value
        };
        for _ in 0..8 {
            let position = self.node().search(&key);
            assert_eq!(position.exact, self.model.contains_key(&key));
            let index = position.index as u16;
            let suffix = &key[self.node().prefix_len()..];
            let op = if position.exact {
                Op::Replace { index, overflow, value: &value }
            } else {
                Op::Insert { index, overflow, suffix, value: &value }
            };
            let fits = if position.exact {
                value.len() <= self.node().free_len() + self.node().value_at(position.index).len
            } else {
                self.node().entry_len(key.len(), value.len()) <= self.node().free_len()
            };
            let applied = self.apply(op);
            assert_eq!(applied.is_ok(), fits, "{applied:?}");
            if fits {
                self.model.insert(key, (value, overflow));
                return;
            }
            let other_side = self.node().count() < 2;
            assert!(!other_side, "one entry fills a node");
            self.split_towards(&key);
        }
        panic!("eight splits made no room for {} and {} bytes", key.len(), value.len());
    }

    fn remove(&mut self, input: &mut Input<'_>) {
        let key = self.key(input);
        let position = self.node().search(&key);
        assert_eq!(position.exact, self.model.remove(&key).is_some());
        if position.exact {
            self.apply(Op::Remove { index: position.index as u16 }).expect("an entry that is there can go");
        }
    }

    fn remove_range(&mut self, input: &mut Input<'_>) {
        let (one, other) = (self.key(input), self.key(input));
        let (from, to) = if one < other { (one, other) } else { (other, one) };
        let (start, end) = (self.node().search(&from).index, self.node().search(&to).index);
        if start < end {
            let op = Op::RemoveRange { index: start as u16, count: (end - start) as u16 };
            self.apply(op).expect("entries that are there can go");
            self.model.retain(|key, _| *key < from || *key >= to);
        }
    }

    fn patch(&mut self, input: &mut Input<'_>) {
        let key = self.key(input);
        let Some((value, _)) = self.model.get_mut(&key) else { return };
        let offset = input.below(value.len() + 1);
        let bytes = input.short(value.len() - offset);
        value[offset..offset + bytes.len()].copy_from_slice(bytes);
        let index = self.node().search(&key).index as u16;
        self.apply(Op::Patch { index, offset: offset as u16, bytes }).expect("a patch inside the value");
    }

    fn split_towards(&mut self, key: &[u8]) {
        let separator = split_point(self.node(), key, NEEDED).separator;
        self.split(key, key >= separator.as_slice());
    }

    /// As `btree::structure` splits: goes on with one side, after a look at the other.
    fn split(&mut self, key: &[u8], go_right: bool) {
        // Where keys arrive at the end, the cut may lie beyond all entries, for a key that is not there yet.
        let point = split_point(self.node(), key, NEEDED);
        let node = self.node();
        let upper = node.upper_fence();
        let mut right = NodeBuilder::new(0, node.capacity(), &point.separator, upper.as_deref());
        right.append_from(node, point.keep..node.count());
        let mut right = right.finish();
        PageMut::of(&mut right).set_header(PAGE, TREE, PageKind::Node, 0);
        self.apply(Op::Truncate { keep: point.keep as u16, upper: &point.separator }).expect("a split at its point");
        let right_model = self.model.split_off(&point.separator);
        let mut right = Leaf { image: right, model: right_model };
        if go_right {
            std::mem::swap(self, &mut right);
        }
        node::check(PageRef::of(&right.image)).expect("a sound node after a split");
        right.compare();
    }

    /// Carries out what comes back from the log; a refusal leaves the page as it is.
    fn apply(&mut self, op: Op<'_>) -> Result<(), String> {
        let mut record = Vec::new();
        op.encode(PAGE, &mut record);
        let (page, decoded, rest) = Op::decode(&record).expect("what was encoded can be decoded");
        assert_eq!((page, decoded, rest), (PAGE, op, &[][..]));
        let before = self.image.bytes().to_vec();
        let outcome = decoded.apply(page, &mut PageMut::of(&mut self.image));
        assert!(outcome.is_ok() || before == self.image.bytes(), "a refused operation changed its page");
        outcome
    }

    fn compare(&self) {
        let node = self.node();
        assert_eq!(node.count(), self.model.len());
        for (index, (key, (value, overflow))) in self.model.iter().enumerate() {
            let mut found = Vec::new();
            node.append_value(index, &mut found);
            assert_eq!((&node.key(index), &found, node.value_at(index).overflow), (key, value, *overflow));
        }
    }
}
