//! How many entries lie in a range: an estimate from the two paths to its ends, for a planner that asks often.
//!
//! Within one leaf, or a few neighbouring ones, the answer is exact. Further apart, the entries between the two paths
//! are counted level by level, each subtree taken to hold as many entries as the nodes seen do on average.

use super::Tree;
use crate::error::Result;
use crate::ids::PageNo;
use crate::page::node::Node;
use crate::rank::Rank;

/// Up to this many leaves between the ends are read; beyond, so many of them are sampled.
const LEAVES_READ: usize = 8;

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
        let left = self.path_to(Some(from))?;
        let right = self.path_to(to)?;
        // Root first. A concurrent change of height makes the two incomparable: then the shorter one decides.
        let levels = left.len().min(right.len());
        let fork =
            (0..levels).find(|&depth| left[depth].page != right[depth].page || left[depth].index != right[depth].index);
        let Some(fork) = fork else { return Ok(0) };
        if fork + 1 == levels {
            return Ok(right[fork].index.saturating_sub(left[fork].index) as u64);
        }
        // Average entry counts of the nodes on both paths, for each level below the fork.
        let mut averages: Vec<f64> = left[fork + 1..levels]
            .iter()
            .zip(&right[fork + 1..levels])
            .map(|(l, r)| ((l.count + r.count) as f64 / 2.0).max(1.0))
            .collect();
        let between = left[fork].index + 1..right[fork].index;
        if fork + 2 == levels
            && let Some(counts) = self.leaf_counts(left[fork].page, between.clone())?
        {
            let sum: usize = counts.iter().sum();
            if counts.len() == between.len() {
                let edges = (left[fork + 1].count - left[fork + 1].index) + right[fork + 1].index;
                return Ok((sum + edges) as u64);
            }
            averages[0] = (sum as f64 / counts.len().max(1) as f64).max(1.0);
        }
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

    /// Entries in (a sample of) the leaves under a parent; `None` if the parent is no parent of leaves any more.
    fn leaf_counts(&self, parent: PageNo, entries: std::ops::Range<usize>) -> Result<Option<Vec<usize>>> {
        self.core.retry(|| {
            let pool = &*self.core.pool;
            let node = pool.optimistic(parent, Rank::TreePage)?;
            let step = entries.len().div_ceil(LEAVES_READ).max(1);
            let leaves = node.read(|page| {
                (page.level() == 1 && page.tree() == self.id && entries.end <= Node(page).count())
                    .then(|| entries.clone().step_by(step).map(|i| Node(page).child(i)).collect::<Vec<_>>())
            })?;
            let Some(leaves) = leaves else { return Ok(None) };
            let mut counts = Vec::with_capacity(leaves.len());
            for leaf in leaves {
                let leaf = pool.optimistic(leaf, Rank::TreePage)?;
                counts.push(leaf.read(|page| Node(page).count())?);
            }
            node.check()?;
            Ok(Some(counts))
        })
    }
}
