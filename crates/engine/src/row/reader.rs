//! Reading the same columns of one row after the other.
//!
//! Nearly every row of a table was written with all of its columns, and is shorter than 64 KiB: then each column is at the same
//! place in all of them, or where its end is told is. A [`RowReader`] knows those places, and looks at the front of each row, at
//! what the last end says, and at nothing but its columns. What is not as usual is left to [`RowRef`].
//!
//! # Invariants
//! 1. It shows what [`RowRef`] shows, and finds the same faults, of whatever bytes.

use meseta_storage::Portion;
use smallvec::SmallVec;

use super::error::Corrupt;
use super::format::{Place, RowLayout, RowRef, Sections, in_heap};
use super::value::{ColumnType, Value};

/// Columns of the rows of one layout.
#[derive(Clone, Debug)]
pub struct RowReader<'t> {
    layout: &'t RowLayout,
    /// What rows as usual begin with, and where their heap begins.
    head: [u8; 2],
    heap_at: u32,
    /// Whether there are ends in front of it.
    has_ends: bool,
    /// Of what rows are there: whole ones, or fronts.
    portion: Portion,
    spots: SmallVec<[Spot; 4]>,
}

/// Where a column is in rows as usual.
#[derive(Clone, Copy, Debug)]
struct Spot {
    /// Its number in the layout.
    number: u16,
    /// What it is called where it is shown.
    name: u16,
    /// Where its null bit is, if it has one: the byte, and the bit in it.
    null: Option<(u32, u8)>,
    column_type: ColumnType,
    /// Where the value is; or, if it is in the heap, its end; unless it is the first there, behind the end of the one before.
    at: u32,
    is_first: bool,
}

impl<'t> RowReader<'t> {
    /// For these columns: each one's name, and its number in the layout.
    pub fn new(layout: &'t RowLayout, columns: impl Iterator<Item = (u16, u16)>) -> Self {
        let spot = |(name, number): (u16, u16)| {
            let Place { column, sums, .. } = layout.places[usize::from(number)];
            let is_first = sums.variable == 0;
            let at = match column.column_type {
                ColumnType::Variable { .. } if is_first => layout.usual.end_at(sums),
                ColumnType::Variable { .. } => layout.usual.end_at(sums) - 2,
                _ => layout.usual.fixed_at + sums.fixed_len,
            };
            let null = column.nullable.then(|| sums.null_bit());
            Spot { number, name, null, column_type: column.column_type, at, is_first }
        };
        let (head, Sections { ends_at, heap_at, .. }) = (layout.usual.head.to_le_bytes(), layout.usual);
        Self {
            layout,
            head,
            heap_at,
            has_ends: heap_at > ends_at,
            portion: Portion::Whole,
            spots: columns.map(spot).collect(),
        }
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.spots.is_empty()
    }

    /// How much there is of the rows that it is shown: of fronts, all columns must be there ([`RowLayout::has_in_front`]).
    pub fn set_portion(&mut self, portion: Portion) {
        self.portion = portion;
    }

    /// Shows a row's columns: the name, and the value.
    #[inline(always)]
    pub fn show<'r>(&self, row: &'r [u8], mut show: impl FnMut(usize, Value<'r>)) -> Result<(), Corrupt>
    where
        't: 'r,
    {
        let Some((front, heap)) = self.split(row) else { return self.show_unusual(row, &mut show) };
        for spot in &self.spots {
            let (name, at) = (usize::from(spot.name), spot.at as usize);
            if let Some((byte, bit)) = spot.null
                && front[byte as usize] >> bit & 1 == 1
            {
                show(name, Value::Null);
                continue;
            }
            // (Shown where it is found: what it is need not be asked again then.)
            match spot.column_type {
                ColumnType::Variable { max_len } => {
                    let [begin, end] = match spot.is_first {
                        true => [0, short_end(&front[at..at + 2])],
                        false => [short_end(&front[at..at + 2]), short_end(&front[at + 2..at + 4])],
                    };
                    show(name, Value::Bytes(in_heap(heap, begin..end, max_len)?));
                }
                ColumnType::Signed(width) => show(name, Value::Signed(width.read_signed(&front[at..]))),
                other => show(name, other.read(&front[at..])?),
            }
        }
        Ok(())
    }

    /// A row's heap and what is in front of it; `None` if it is not as usual, or not whole.
    #[inline(always)]
    fn split<'r>(&self, row: &'r [u8]) -> Option<(&'r [u8], &'r [u8])> {
        let (front, heap) = row.split_at_checked(self.heap_at as usize)?;
        let told_len = if self.has_ends { short_end(front.last_chunk::<2>()?) } else { 0 };
        (front.first_chunk() == Some(&self.head) && heap.len() == told_len).then_some((front, heap))
    }

    #[cold]
    #[inline(never)]
    fn show_unusual<'r>(&self, row: &'r [u8], show: &mut dyn FnMut(usize, Value<'r>)) -> Result<(), Corrupt>
    where
        't: 'r,
    {
        let row = RowRef::read(self.layout, row, self.portion)?;
        self.spots.iter().try_for_each(|spot| {
            show(usize::from(spot.name), row.value(usize::from(spot.number))?);
            Ok(())
        })
    }
}

/// The end that is told in two bytes.
#[inline(always)]
fn short_end(bytes: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))
}

#[cfg(test)]
mod tests {
    use super::super::{Column, IntegerWidth, encode_row};
    use super::*;

    fn columns() -> [Column; 7] {
        [
            Column::new(ColumnType::Signed(IntegerWidth::Three)),
            Column::new(ColumnType::Variable { max_len: 100_000 }).or_null(),
            Column::new(ColumnType::Double).or_null(),
            Column::new(ColumnType::Variable { max_len: 10 }),
            Column::new(ColumnType::Fixed { len: 2 }).or_null(),
            Column::new(ColumnType::Float),
            Column::new(ColumnType::Unsigned(IntegerWidth::Eight)),
        ]
    }

    fn values(long: &[u8]) -> [Value<'_>; 7] {
        [
            Value::Signed(-2),
            Value::Bytes(long),
            Value::Double(0.5),
            Value::Bytes(b"late"),
            Value::Null,
            Value::Float(1.5),
            Value::Unsigned(u64::MAX),
        ]
    }

    /// What is shown of some columns of a row, or what is wrong with it: by a reader, and column by column.
    fn both<'r>(
        layout: &'r RowLayout,
        numbers: &[u16],
        row: &'r [u8],
    ) -> [Result<Vec<(usize, Value<'r>)>, Corrupt>; 2] {
        let reader = RowReader::new(layout, numbers.iter().map(|&number| (number + 100, number)));
        let mut shown = Vec::new();
        let read = reader.show(row, |name, value| shown.push((name, value)));
        let one_by_one = RowRef::new(layout, row).and_then(|row| {
            numbers.iter().map(|&number| Ok((usize::from(number) + 100, row.value(usize::from(number))?))).collect()
        });
        [read.map(|()| shown), one_by_one]
    }

    const SOME: [&[u16]; 5] = [&[], &[0], &[1, 3], &[6, 5, 4, 2], &[0, 1, 2, 3, 4, 5, 6]];

    #[test]
    fn rows_of_all_ages_and_lengths_are_read_as_column_by_column() {
        let defaults = [Value::Bytes(b"default"), Value::Null, Value::Float(9.0), Value::Unsigned(9)];
        let layout = RowLayout::new(&columns()).with_added(&defaults).expect("the defaults suit");
        for len in [0, 3, 65_531, 65_532, 70_000] {
            let long = vec![7; len];
            for written in 3..=7 {
                let mut row = Vec::new();
                let older = RowLayout::new(&columns()[..written]);
                encode_row(&older, &values(&long)[..written], &mut row).expect("the values suit");
                for numbers in SOME {
                    let [read, expected] = both(&layout, numbers, &row);
                    assert_eq!(read, expected, "{len} bytes, {written} columns");
                    assert_eq!(read.expect("a whole row").len(), numbers.len());
                }
            }
        }
    }

    /// Of a row that is cut off somewhere those columns are shown, and as they are in the whole, that are in what is left.
    #[test]
    fn the_front_of_a_row_shows_the_columns_that_are_in_it() {
        let layout = RowLayout::new(&columns());
        for long in [3, 70_000] {
            let (mut row, long) = (Vec::new(), vec![7; long]);
            encode_row(&layout, &values(&long), &mut row).expect("the values suit");
            let whole = RowRef::new(&layout, &row).expect("a whole row");
            let heap_at = row.len() - long.len() - b"late".len();
            for len in (0..row.len()).filter(|len| *len < 100 || row.len() - len < 10) {
                for numbers in SOME {
                    let mut reader = RowReader::new(&layout, numbers.iter().map(|&number| (number, number)));
                    reader.set_portion(Portion::Front);
                    let ends =
                        |number: &u16| heap_at + [0, long.len(), 0, long.len() + 4, 0, 0, 0][usize::from(*number)];
                    let are_there = len >= heap_at && numbers.iter().all(|number| len >= ends(number));
                    assert_eq!(
                        layout.has_in_front(numbers.iter().copied(), &row[..len]),
                        are_there,
                        "{len} bytes, {numbers:?}"
                    );
                    let mut shown = Vec::new();
                    let read = reader.show(&row[..len], |number, value| shown.push((number, value)));
                    assert_eq!(read.is_ok(), are_there);
                    if are_there {
                        let expected = numbers.iter().map(|&n| (usize::from(n), whole.value(usize::from(n)).unwrap()));
                        assert_eq!(shown, expected.collect::<Vec<_>>());
                    }
                }
            }
        }
    }

    #[test]
    fn whatever_the_bytes_are_the_same_is_found() {
        let layout = RowLayout::new(&columns());
        let mut row = Vec::new();
        encode_row(&layout, &values(b"ab"), &mut row).expect("the values suit");
        let check = |row: &[u8]| {
            for numbers in SOME {
                let [read, expected] = both(&layout, numbers, row);
                assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{row:?}");
            }
        };
        for len in 0..row.len() {
            check(&row[..len]);
        }
        check(&[&row[..], b"x"].concat());
        for at in 0..row.len() {
            for byte in [0, 1, 5, 0x7f, 0x80, 0xc0, 0xff] {
                let mut damaged = row.clone();
                damaged[at] = byte;
                check(&damaged);
            }
        }
    }
}
