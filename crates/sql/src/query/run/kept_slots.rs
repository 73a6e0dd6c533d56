//! Which slots of a row are kept: those of columns that are read. A row has one for each column of each table, and NULL in all others.

use meseta_types::Datum;

use crate::query::plan::SelectPlan;

/// The slots.
pub struct KeptSlots(Vec<usize>);

impl KeptSlots {
    /// Those of columns that are read.
    pub fn read(select: &SelectPlan) -> Self {
        let mut slots = Vec::new();
        for source in &select.sources {
            slots.extend(source.columns_read().into_iter().map(|column| source.first_slot + column));
        }
        Self(slots)
    }

    /// Those of which items are computed: of groups, all that there are.
    pub fn shown(select: &SelectPlan) -> Self {
        if select.group.is_none() { Self::read(select) } else { Self((0..select.width).collect()) }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The place among them of a slot.
    pub fn place_of(&self, slot: usize) -> Option<usize> {
        self.0.iter().position(|kept| *kept == slot)
    }

    /// What is kept of a row.
    pub fn values<'r, 'v>(&'r self, row: &'r [Datum<'v>]) -> impl Iterator<Item = Datum<'v>> {
        self.0.iter().map(|&slot| row[slot])
    }

    /// Makes a row of so many slots of what was kept.
    pub fn restore<'v>(&self, kept: impl Iterator<Item = Datum<'v>>, width: usize, row: &mut Vec<Datum<'v>>) {
        row.clear();
        row.resize(width, Datum::Null);
        self.0.iter().zip(kept).for_each(|(&slot, value)| row[slot] = value);
    }
}
