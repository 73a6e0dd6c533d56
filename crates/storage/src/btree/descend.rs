//! The way down: from the root to the node that covers a key, without writing to shared memory.

use super::Tree;
use crate::buffer::{DATA_FILE, Optimistic};
use crate::core::Stop;
use crate::error::ErrorKind;
use crate::ids::PageNo;
use crate::page::PageKind;
use crate::page::bytes::PageRef;
use crate::page::node::Node;
use crate::rank::Rank;

/// Which of two neighbours to take at a fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Side {
    /// The node that covers the key.
    At,
    /// The node that covers the keys just below it.
    Below,
}

/// A node and the parent that led to it.
pub(super) struct Path<'p> {
    /// The parent, and the entry in it; `None` for the root.
    pub parent: Option<(Optimistic<'p>, usize)>,
    pub node: Optimistic<'p>,
}

impl Tree {
    /// The leaf that covers `key`.
    #[inline]
    pub(super) fn descend(&self, key: &[u8]) -> Result<Optimistic<'_>, Stop> {
        Ok(self.descend_beside(key, Side::At)?.node)
    }

    /// The leaf on this side of `key`, with the way to it.
    #[inline]
    pub(super) fn descend_beside(&self, key: &[u8], side: Side) -> Result<Path<'_>, Stop> {
        match self.descend_to(key, 0, side)? {
            Some(path) => Ok(path),
            None => unreachable!("every tree has leaves"),
        }
    }

    /// The leaf that covers `key`, if all nodes on the way to it are in memory: nobody waits for the disk.
    pub(super) fn descend_resident(&self, key: &[u8]) -> Result<Optimistic<'_>, Stop> {
        let take = |page| Ok(self.core.pool.optimistic_resident(page, Rank::TreePage)?);
        match self.descend_by(key, 0, Side::At, take)? {
            Some(path) => Ok(path.node),
            None => unreachable!("every tree has leaves"),
        }
    }

    /// The node of `level` on the way to `key`. `None` if the tree is not that high (any more).
    #[inline]
    pub(super) fn descend_to(&self, key: &[u8], level: u8, side: Side) -> Result<Option<Path<'_>>, Stop> {
        self.descend_by(key, level, side, |page| Ok(self.core.pool.optimistic(page, Rank::TreePage)?))
    }

    /// As [`Tree::descend_to`]; `take` takes each node.
    #[inline(always)]
    fn descend_by<'p>(
        &'p self,
        key: &[u8],
        level: u8,
        side: Side,
        take: impl Fn(PageNo) -> Result<Optimistic<'p>, Stop>,
    ) -> Result<Option<Path<'p>>, Stop> {
        let pool = &*self.core.pool;
        let mut parent = None;
        let mut node = take(self.id.root())?;
        let mut expected = None;
        loop {
            let step = node.read(|page| self.look(page, expected, level, key, side))?;
            match step {
                Step::Here => return Ok(Some(Path { parent, node })),
                Step::Down { index, child, level } => {
                    if level == 0 {
                        // Nodes above the leaves are in the processor's caches as a rule.
                        pool.prefetch_node(child);
                    }
                    let next = take(child)?;
                    // The link held at the moment when the child's version was taken.
                    node.check()?;
                    parent = Some((node, index));
                    node = next;
                    expected = Some(level);
                }
                Step::TooLow => return Ok(None),
                Step::Strange => return Err(self.strange(node.page_no(), expected)),
            }
        }
    }

    #[inline(always)]
    fn look(&self, page: PageRef<'_>, expected: Option<u8>, level: u8, key: &[u8], side: Side) -> Step {
        let here = page.level();
        if page.tree() != self.id || expected.is_some_and(|e| e != here) || page.kind() != Some(PageKind::Node) {
            return Step::Strange;
        }
        if here == level {
            return Step::Here;
        }
        if here < level {
            return Step::TooLow;
        }
        let node = Node(page);
        let index = match side {
            Side::At => node.child_index(key),
            Side::Below => node.child_index_below(key),
        };
        Step::Down { index, child: node.child(index), level: here - 1 }
    }

    #[cold]
    fn strange(&self, page: PageNo, expected: Option<u8>) -> Stop {
        if page == self.id.root() {
            return ErrorKind::NoSuchTree(self.id).into();
        }
        let problem = format!("expected a node of {} at level {expected:?}, found something else", self.id);
        ErrorKind::CorruptPage { file: DATA_FILE.into(), page, problem }.into()
    }
}

enum Step {
    Here,
    Down { index: usize, child: PageNo, level: u8 },
    TooLow,
    Strange,
}

impl Tree {
    /// The last leaf.
    pub(super) fn rightmost(&self) -> Result<Path<'_>, Stop> {
        let pool = &*self.core.pool;
        let mut parent = None;
        let mut node = pool.optimistic(self.id.root(), Rank::TreePage)?;
        loop {
            let step = node.read(|page| {
                let count = Node(page).count();
                (page.level() > 0 && count > 0).then(|| (count - 1, Node(page).child(count - 1)))
            })?;
            let Some((index, child)) = step else { return Ok(Path { parent, node }) };
            let next = pool.optimistic(child, Rank::TreePage)?;
            node.check()?;
            parent = Some((node, index));
            node = next;
        }
    }
}
