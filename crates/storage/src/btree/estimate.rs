//! How many entries lie in a range: an estimate from the two paths to its ends, for a planner that asks often.
//!
//! Within one leaf, or a few neighbouring ones, the answer is exact. Further apart, the entries between the two paths
//! are counted level by level, each subtree taken to hold as many entries as those that a few walks down look into.

use super::Tree;
use crate::error::Result;
use crate::ids::PageNo;
use crate::page::node::Node;
use crate::rank::Rank;

/// Walks down between the two paths, at most.
const WALKS: usize = 8;

/// One node on a path.
#[derive(Clone, Copy, Debug)]
struct Step {
    page: PageNo,
    /// The entry taken; in the leaf, the first entry not below the key.
    index: usize,
    count: usize,
}

impl Tree {
    /// Estimates the number of entries with `from <= key`, and `key < to` if `to` is given.
    pub fn estimate_range(&self, from: &[u8], to: Option<&[u8]>) -> Result<u64> {
        if to.is_some_and(|to| to <= from) {
            return Ok(0);
        }
        let (left, right) = (self.path_to(Some(from))?, self.path_to(to)?);
        // Root first. A concurrent change of height makes the two incomparable: then the shorter one decides.
        let levels = left.len().min(right.len());
        let fork =
            (0..levels).find(|&depth| left[depth].page != right[depth].page || left[depth].index != right[depth].index);
        let Some(fork) = fork else { return Ok(0) };
        if fork + 1 == levels {
            return Ok(right[fork].index.saturating_sub(left[fork].index) as u64);
        }
        let between = left[fork].index + 1..right[fork].index;
        let samples = self.sample(left[fork].page, between.clone(), levels - fork - 1)?;
        if fork + 2 == levels && samples.len() == between.len() {
            let sum: usize = samples.iter().map(|counts| counts[0]).sum();
            return Ok((sum + (left[fork + 1].count - left[fork + 1].index) + right[fork + 1].index) as u64);
        }
        // Average entry counts, for each level below the fork: of the nodes sampled between the two paths where they lie apart first, or
        // else of those on both paths. (The last nodes of a tree are rarely full.)
        let (mut top, mut samples) = (fork, samples);
        while samples.is_empty() && top + 2 < levels {
            top += 1;
            let (l, r, depth) = (left[top], right[top], levels - top - 1);
            samples = self.sample(l.page, l.index + 1..l.count, depth)?;
            samples.extend(self.sample(r.page, 0..r.index, depth)?);
        }
        let averages: Vec<f64> = (fork..levels - 1)
            .map(|depth| {
                let on_paths = [&left, &right].map(|path| path[depth + 1].count);
                let (sum, nodes) = match samples.len() {
                    nodes if nodes > 0 && depth >= top => {
                        (samples.iter().map(|counts| counts[depth - top]).sum(), nodes)
                    }
                    _ => (on_paths.iter().sum::<usize>(), on_paths.len()),
                };
                (sum as f64 / nodes as f64).max(1.0)
            })
            .collect();
        // Entries under one child of a node at this depth.
        let under_child = |depth: usize| averages[depth - fork..].iter().product::<f64>();
        let mut total = between.len() as f64 * under_child(fork);
        for depth in fork + 1..levels {
            let (l, r) = (left[depth], right[depth]);
            // On the left path the entry taken is counted one level down, except in the leaf, where it is the first.
            let own = usize::from(depth + 1 < levels);
            let beyond = (l.count - l.index).saturating_sub(own);
            total += (beyond + r.index) as f64 * under_child(depth);
        }
        Ok(total.round() as u64)
    }

    /// A leaf somewhere in the tree, for those who sample: its first key, and how many entries it has. At each node on the way down
    /// `choose` picks one of so many. `None` if it came to a leaf without any.
    pub fn leaf_at(&self, mut choose: impl FnMut(usize) -> usize) -> Result<Option<(Vec<u8>, usize)>> {
        self.core.retry(|| {
            let pool = &*self.core.pool;
            let mut node = pool.optimistic(self.id.root(), Rank::TreePage)?;
            loop {
                let (count, is_leaf) = node.read(|page| (Node(page).count(), page.level() == 0))?;
                if count == 0 {
                    return Ok(None);
                }
                if is_leaf {
                    let mut key = Vec::new();
                    node.read(|page| Node(page).append_key(0, &mut key))?;
                    return Ok(Some((key, count)));
                }
                let index = choose(count).min(count - 1);
                let child = node.read(|page| Node(page).child(index))?;
                let next = pool.optimistic(child, Rank::TreePage)?;
                node.check()?;
                node = next;
            }
        })
    }

    /// The path to a key, root first; to the end of the tree without one.
    fn path_to(&self, key: Option<&[u8]>) -> Result<Vec<Step>> {
        self.core.retry(|| {
            let pool = &*self.core.pool;
            let mut path = Vec::new();
            let mut node = pool.optimistic(self.id.root(), Rank::TreePage)?;
            loop {
                let (step, child) = node.read(|page| {
                    let view = Node(page);
                    let count = view.count();
                    let leaf = page.level() == 0;
                    let index = match key {
                        None if leaf => count,
                        None => count.saturating_sub(1),
                        Some(key) if leaf => view.search(key).index,
                        Some(key) => view.child_index(key),
                    };
                    (Step { page: node.page_no(), index, count }, (!leaf).then(|| view.child(index)))
                })?;
                path.push(step);
                let Some(child) = child else { return Ok(path) };
                let next = pool.optimistic(child, Rank::TreePage)?;
                node.check()?;
                node = next;
            }
        })
    }

    /// Walks down from some entries of a node, evenly spaced, each time through a node's middle; returns the entry counts
    /// met, `depth` of them a walk. Fewer walks, or none, if the tree changes meanwhile.
    fn sample(&self, from: PageNo, entries: std::ops::Range<usize>, depth: usize) -> Result<Vec<Vec<usize>>> {
        let pool = &*self.core.pool;
        let step = entries.len().div_ceil(WALKS).max(1);
        let mut samples = Vec::with_capacity(WALKS);
        for entry in entries.step_by(step) {
            let walk = self.core.retry(|| {
                let mut counts = Vec::with_capacity(depth);
                let (mut page, mut index) = (from, Some(entry));
                for _ in 0..depth {
                    let node = pool.optimistic(page, Rank::TreePage)?;
                    let child = node.read(|view| {
                        let inner = Node(view);
                        let index = index.take().unwrap_or(inner.count() / 2);
                        let usable = view.level() > 0 && view.tree() == self.id && index < inner.count();
                        usable.then(|| inner.child(index))
                    })?;
                    let Some(child) = child else { return Ok(None) };
                    let next = pool.optimistic(child, Rank::TreePage)?;
                    node.check()?;
                    counts.push(next.read(|view| Node(view).count())?);
                    page = child;
                }
                Ok(Some(counts))
            })?;
            samples.extend(walk);
        }
        Ok(samples)
    }
}
