//! How a tree begins and ends.
//!
//! # Invariants
//! 1. A tree is created by one mini-transaction.
//! 2. A drop is decided by one record, which marks the root; then the pages are given back in steps, the root last. A
//!    crash between them leaves a marked root, and the next opening finishes the drop.

use crate::core::Core;
use crate::error::Result;
use crate::ids::TreeId;
use crate::mtr::Mtr;
use crate::page::PageKind;
use crate::page::node;
use crate::page::space_map::ExtentNo;
use crate::rank::Rank;
use crate::redo::Op;

/// Makes an empty tree.
pub(crate) fn create_tree(core: &Core) -> Result<TreeId> {
    core.admit()?;
    core.retry(|| {
        let reserved = core.space.reserve_root()?;
        let page = reserved.page_no();
        let id = TreeId(page.0);
        let permit = core.pool.take_permit()?;
        let fresh = core.pool.fresh(page, permit, Rank::TreePage);
        let mut maps = core.space.latch_maps(&core.pool, [page])?;
        let mut mtr = Mtr::begin(&core.log);
        let slot = mtr.add(fresh);
        mtr.apply_image(slot, &node::empty_root(id, core.node_capacity));
        core.space.publish(&mut mtr, &mut maps, vec![reserved]);
        mtr.commit();
        Ok(id)
    })
}

/// Drops a tree: decides it, in one small record, and finishes it.
pub(crate) fn drop_tree(core: &Core, tree: TreeId) -> Result<()> {
    core.admit()?;
    {
        let root = core.pool.exclusive(tree.root(), Rank::TreePage)?;
        let mut mtr = Mtr::begin(&core.log);
        let slot = mtr.add(root);
        mtr.apply(slot, Op::SetKind { kind: PageKind::DroppedRoot });
        mtr.commit();
    }
    finish_drop(core, tree)
}

/// Frees all pages of a tree whose root is marked as dropped; the root's own extent goes last.
pub(crate) fn finish_drop(core: &Core, tree: TreeId) -> Result<()> {
    /// Extents freed in one step.
    const STEP: usize = 256;
    let mut extents = core.space.extents_of(tree);
    let root = ExtentNo::of(tree.root());
    extents.sort_by_key(|&(extent, _)| (extent == root, extent));
    let (others, last) = extents.split_at(extents.len() - 1);
    for step in others.chunks(STEP).chain([last]) {
        let pages: Vec<_> = step
            .iter()
            .flat_map(|&(extent, used)| {
                (0..8).filter(move |bit| used & (1 << bit) != 0).map(move |bit| extent.page(bit))
            })
            .collect();
        core.admit()?;
        core.retry(|| {
            let mut maps = core.space.latch_maps(&core.pool, pages.iter().copied())?;
            let mut mtr = Mtr::begin(&core.log);
            core.space.unpublish(&mut mtr, &mut maps, &pages);
            mtr.commit();
            Ok(())
        })?;
        core.space.forget(&pages);
    }
    Ok(())
}
