//! The stored row: any column at once, without looking at the others.
//!
//! ```text
//!   0       2
//!  +-------+------------+-------------------+---------------------------+----------------+
//!  | head  | null bits  | fixed-width       | where each value of the   | variable       |
//!  | u16   |            | values, in order  | heap ends: u16s, or u32s  | values (heap)  |
//!  +-------+------------+-------------------+---------------------------+----------------+
//!   head: bit 15 "wide" (ends are u32s) | how many columns the row was written with
//! ```
//!
//! Numbers are little-endian. Null bits are there for nullable columns only. A fixed-width value that is NULL keeps its
//! place, and is zero; a variable one is empty.
//!
//! # Rows of several ages
//! A column that is added to a table goes behind the others, and rows are left as they are. So a table's rows are
//! written with different numbers of columns, of one and the same list. What that number decides is only where the
//! sections begin. *Within* a section a column's place depends on the columns before it, which are the same for rows
//! of every age: its null bit, its offset among the fixed values, its number among the ends. [`RowLayout`] has these
//! as sums over the columns before each; the sum behind the last column that a row has tells how long its sections
//! are. A column that a row does not have is read from the layout's own row of defaults.
//!
//! A column that has gone keeps its place, for the rows that have it, and no row written from then on has more there than
//! its type needs: NULL, zeroes, or a text of no bytes. What is there is never read.
//!
//! (The alternative, a layout for each number of columns that ever was, needs a search for each row, and memory; a
//! directory in each row that has the offset of every column needs two bytes for each integer.)
//!
//! # What it costs
//! Two bytes, a bit for each nullable column, and two bytes for each variable one. Ends are u16s while the heap is no
//! longer than that can tell, which is nearly always; longer ones have u32s, and then four bytes do not matter. That
//! fixed-width values keep their place when they are NULL is the price of computed offsets: rows of mostly NULL numbers
//! are longer than InnoDB's, which leaves NULLs out and walks over all the columns before the one it looks for.
//!
//! # Invariants
//! 1. A row is exactly as long as its head and its last end say. [`RowRef::new`] checks this; then all sections are there
//!    and fixed-width values cannot be outside.
//! 2. The ends ascend. That is checked for each value when it is read.
//! 3. The same values written with the same layout are the same bytes.
//! 4. Of a column that has gone nothing is known but how much room it takes.
//!
//! # Sources
//! MySQL 8.0's `ALGORITHM=INSTANT` for what is asked for; SQLite's and InnoDB's rows for what is avoided: both are walked.

use std::ops::Range;

use meseta_storage::Portion;

use super::error::{Corrupt, RowError};
use super::value::{Column, ColumnType, IntegerWidth, Value};

/// Columns of a row at most.
pub const COLUMN_COUNT_MAX: usize = COUNT_MASK as usize;
/// Bytes of a row at most.
pub const ROW_LEN_MAX: usize = 1 << 30;

const HEAD_LEN: usize = 2;
const WIDE: u16 = 1 << 15;
const COUNT_MASK: u16 = WIDE - 1;

/// A column and the sums over the columns before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) column: Column,
    pub(super) sums: Sums,
    /// Whether the table does not have the column any more.
    is_gone: bool,
}

/// What some columns in a row need of each section.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Sums {
    /// Null bits.
    nullable: u32,
    /// Bytes of fixed-width values.
    pub(super) fixed_len: u32,
    /// Ends of variable values.
    pub(super) variable: u32,
}

impl Sums {
    fn with(mut self, column: Column) -> Self {
        self.nullable += u32::from(column.nullable);
        match column.column_type.fixed_len() {
            Some(len) => self.fixed_len += len as u32,
            None => self.variable += 1,
        }
        self
    }

    /// Where the null bit is of a nullable column behind these: the byte, and the bit in it.
    #[inline(always)]
    pub(super) fn null_bit(self) -> (u32, u8) {
        (HEAD_LEN as u32 + self.nullable / 8, (self.nullable % 8) as u8)
    }
}

/// Where a row's sections begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sections {
    /// What the row begins with.
    pub(super) head: u16,
    /// Bytes of an end: 2 or 4.
    end_len: u32,
    pub(super) fixed_at: u32,
    pub(super) ends_at: u32,
    pub(super) heap_at: u32,
}

impl Sections {
    /// Of a row of so many columns, which need this of each section.
    fn new(columns: usize, sums: Sums, wide: bool) -> Self {
        let end_len = if wide { 4 } else { 2 };
        let fixed_at = HEAD_LEN as u32 + sums.nullable.div_ceil(8);
        let ends_at = fixed_at + sums.fixed_len;
        let heap_at = ends_at + sums.variable * end_len;
        Self { head: columns as u16 | if wide { WIDE } else { 0 }, end_len, fixed_at, ends_at, heap_at }
    }

    fn columns(&self) -> usize {
        usize::from(self.head & COUNT_MASK)
    }

    /// Where the end is told of a variable value behind these columns.
    #[inline(always)]
    pub(super) fn end_at(&self, before: Sums) -> u32 {
        self.ends_at + before.variable * self.end_len
    }
}

/// How the rows of a table are laid out: made once from its columns.
#[derive(Clone, Debug)]
pub struct RowLayout {
    pub(super) places: Box<[Place]>,
    /// Over all columns.
    sums: Sums,
    /// Of rows of all columns, but for those with a long heap.
    pub(super) usual: Sections,
    /// Every row has at least as many columns.
    columns_min: usize,
    /// A row of all columns, for those that a row does not have.
    defaults: Box<[u8]>,
}

impl RowLayout {
    /// The layout of a table to which no column has been added: every row has them all.
    pub fn new(columns: &[Column]) -> Self {
        assert!(columns.len() <= COLUMN_COUNT_MAX, "a row has at most {COLUMN_COUNT_MAX} columns");
        let mut sums = Sums::default();
        let mut places = Vec::with_capacity(columns.len());
        for &column in columns {
            places.push(Place { column, sums, is_gone: false });
            sums = sums.with(column);
        }
        let usual = Sections::new(columns.len(), sums, false);
        Self { places: places.into(), sums, usual, columns_min: columns.len(), defaults: Box::default() }
    }

    /// The same, when these columns have gone: a row is written with NULL for them, whatever they were, and they are not read.
    pub fn without(mut self, gone: impl IntoIterator<Item = usize>) -> Self {
        gone.into_iter().for_each(|column| self.places[column].is_gone = true);
        self
    }

    /// The same, when the last columns have been added: each with the value that it has in rows written before. Errors: one
    /// of them does not suit its column.
    pub fn with_added(mut self, defaults: &[Value<'_>]) -> Result<Self, RowError> {
        self.columns_min = self.columns().checked_sub(defaults.len()).expect("a default is that of a column");
        if !defaults.is_empty() {
            for (column, &value) in (self.columns_min..).zip(defaults) {
                self.check(column, value)?;
            }
            // Columns that every row has are never looked up in it.
            let values = std::iter::repeat_n(Value::Null, self.columns_min).chain(defaults.iter().copied());
            let mut row = Vec::new();
            self.append(values, &mut row)?;
            self.defaults = row.into();
        }
        Ok(self)
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.places.len()
    }

    /// Whether the values of these columns are all in this front of a row.
    pub fn has_in_front(&self, mut columns: impl Iterator<Item = u16>, front: &[u8]) -> bool {
        RowRef::front(self, front).is_ok_and(|row| columns.all(|column| row.value(usize::from(column)).is_ok()))
    }

    /// A column's definition.
    pub fn column(&self, column: usize) -> Column {
        self.places[column].column
    }

    #[inline]
    fn check(&self, column: usize, value: Value<'_>) -> Result<(), RowError> {
        let Place { column: content, is_gone, .. } = &self.places[column];
        let content = if *is_gone { content.or_null() } else { *content };
        content.check(value).map_err(|error| RowError::Value { column, error })
    }

    /// Where the sections begin of a row that begins with this, and is not as usual.
    #[cold]
    fn sections(&self, head: u16) -> Result<Sections, Corrupt> {
        let (columns, wide) = (usize::from(head & COUNT_MASK), head & WIDE != 0);
        if columns < self.columns_min {
            return Err(Corrupt::ColumnCount);
        }
        let sums = if columns == self.places.len() {
            self.sums
        } else {
            // An older row: the sums before the first column that it does not have.
            self.places.get(columns).ok_or(Corrupt::ColumnCount)?.sums
        };
        Ok(Sections::new(columns, sums, wide))
    }

    /// Appends a row of all columns, whose values have been checked.
    fn append<'v>(&self, values: impl Iterator<Item = Value<'v>> + Clone, out: &mut Vec<u8>) -> Result<(), RowError> {
        let variable = |(place, value): (&Place, Value<'v>)| match place.column.column_type {
            ColumnType::Variable { .. } => value.bytes().map_or(0, <[u8]>::len),
            _ => 0,
        };
        let heap_len = self.places.iter().zip(values.clone()).map(variable).fold(0, usize::saturating_add);
        let wide = heap_len > usize::from(u16::MAX);
        let end_width = if wide { IntegerWidth::Four } else { IntegerWidth::Two };
        let sections = Sections::new(self.places.len(), self.sums, wide);
        let [fixed_at, ends_at, heap_at] =
            [sections.fixed_at, sections.ends_at, sections.heap_at].map(|at| at as usize);
        let len = heap_len.saturating_add(heap_at);
        if len > ROW_LEN_MAX {
            return Err(RowError::TooLong { len, limit: ROW_LEN_MAX });
        }

        let start = out.len();
        out.reserve(len);
        out.resize(start + heap_at, 0);
        out[start..start + HEAD_LEN].copy_from_slice(&sections.head.to_le_bytes());
        for (place, value) in self.places.iter().zip(values) {
            let row = &mut out[start..];
            if value == Value::Null && place.column.nullable {
                let (byte, bit) = place.sums.null_bit();
                row[byte as usize] |= 1 << bit;
            }
            let fixed = &mut row[fixed_at + place.sums.fixed_len as usize..];
            match (place.column.column_type, value) {
                (ColumnType::Variable { .. }, _) => {
                    out.extend_from_slice(value.bytes().unwrap_or(&[]));
                    let end = out.len() - start - heap_at;
                    let at = start + ends_at + place.sums.variable as usize * end_width.bytes();
                    end_width.write(end as u64, &mut out[at..]);
                }
                (_, Value::Null) => {}
                (ColumnType::Signed(width), Value::Signed(number)) => width.write(number as u64, fixed),
                (ColumnType::Unsigned(width), Value::Unsigned(number)) => width.write(number, fixed),
                (ColumnType::Float, Value::Float(number)) => fixed[..4].copy_from_slice(&number.to_le_bytes()),
                (ColumnType::Double, Value::Double(number)) => fixed[..8].copy_from_slice(&number.to_le_bytes()),
                (ColumnType::Fixed { .. }, Value::Bytes(bytes)) => fixed[..bytes.len()].copy_from_slice(bytes),
                _ => unreachable!("the values have been checked"),
            }
        }
        Ok(())
    }
}

/// Appends a row: a value for each column of the layout. If one does not suit, nothing is appended.
pub fn encode_row(layout: &RowLayout, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<(), RowError> {
    assert_eq!(values.len(), layout.columns(), "a row has a value for each column");
    for (column, &value) in values.iter().enumerate() {
        layout.check(column, value)?;
    }
    layout.append(values.iter().copied(), out)
}

/// A stored row.
#[derive(Clone, Copy, Debug)]
pub struct RowRef<'a> {
    layout: &'a RowLayout,
    bytes: &'a [u8],
    sections: Sections,
}

impl<'a> RowRef<'a> {
    /// Looks at the row's head, and whether its sections are all there.
    #[inline(always)]
    pub fn new(layout: &'a RowLayout, row: &'a [u8]) -> Result<Self, Corrupt> {
        let (row, heap_len, told_len) = Self::look(layout, row)?;
        if heap_len == told_len {
            return Ok(row);
        }
        Err(if heap_len < told_len { Corrupt::Truncated } else { Corrupt::Trailing })
    }

    /// As [`RowRef::new`] of a whole row; as [`RowRef::front`] of a front.
    #[inline(always)]
    pub fn read(layout: &'a RowLayout, row: &'a [u8], portion: Portion) -> Result<Self, Corrupt> {
        if portion == Portion::Whole { Self::new(layout, row) } else { Self::front(layout, row) }
    }

    /// Of what may be the front of a row only: values that are not in it are errors then.
    #[cold]
    pub fn front(layout: &'a RowLayout, front: &'a [u8]) -> Result<Self, Corrupt> {
        let (row, heap_len, told_len) = Self::look(layout, front)?;
        if heap_len <= told_len { Ok(row) } else { Err(Corrupt::Trailing) }
    }

    /// A row, the length of its heap, and which it is told to have.
    #[inline(always)]
    fn look(layout: &'a RowLayout, row: &'a [u8]) -> Result<(Self, usize, usize), Corrupt> {
        let head = u16::from_le_bytes(*row.first_chunk().ok_or(Corrupt::Truncated)?);
        let sections = if head == layout.usual.head { layout.usual } else { layout.sections(head)? };
        let Some(heap_len) = row.len().checked_sub(sections.heap_at as usize) else { return Err(Corrupt::Truncated) };
        let row = Self { layout, bytes: row, sections };
        // (The last end is the one in front of the heap.)
        let told_len = if sections.heap_at == sections.ends_at { 0 } else { row.end_before(sections.heap_at) };
        Ok((row, heap_len, told_len))
    }

    /// How many columns the row was written with; the others have their default.
    pub fn columns_written(&self) -> usize {
        self.sections.columns()
    }

    /// A column's value.
    #[inline(always)]
    pub fn value(&self, column: usize) -> Result<Value<'a>, Corrupt> {
        if column < self.sections.columns() { self.written(column) } else { self.default(column) }
    }

    /// All values in turn, those that the row was not written with as well.
    pub fn values(self) -> impl ExactSizeIterator<Item = Result<Value<'a>, Corrupt>> {
        (0..self.layout.columns()).map(move |column| self.value(column))
    }

    #[cold]
    fn default(&self, column: usize) -> Result<Value<'a>, Corrupt> {
        assert!(column < self.layout.columns(), "column {column} is one of the table's");
        RowRef::new(self.layout, &self.layout.defaults)?.written(column)
    }

    /// Indexes without a check of their own are inside their section since the column is one of the row's.
    #[inline(always)]
    fn written(&self, column: usize) -> Result<Value<'a>, Corrupt> {
        let Place { column, sums, .. } = &self.layout.places[column];
        let (byte, bit) = sums.null_bit();
        if column.nullable && self.bytes[byte as usize] >> bit & 1 == 1 {
            return Ok(Value::Null);
        }
        let ColumnType::Variable { max_len } = column.column_type else {
            return column.column_type.read(&self.bytes[(self.sections.fixed_at + sums.fixed_len) as usize..]);
        };
        let end_at = self.sections.end_at(*sums);
        let begin = if sums.variable == 0 { 0 } else { self.end_before(end_at) };
        let heap = &self.bytes[self.sections.heap_at as usize..];
        Ok(Value::Bytes(in_heap(heap, begin..self.end_before(end_at + self.sections.end_len), max_len)?))
    }

    /// The end of a value that is told in front of this place.
    #[inline(always)]
    fn end_before(&self, at: u32) -> usize {
        let end = &self.bytes[(at - self.sections.end_len) as usize..];
        if self.sections.end_len == 2 {
            IntegerWidth::Two.read(end) as usize
        } else {
            IntegerWidth::Four.read(end) as usize
        }
    }
}

/// A value of a heap, of so many bytes at the most: as its ends say, which are not believed.
#[inline(always)]
pub(super) fn in_heap(heap: &[u8], ends: Range<usize>, max_len: u32) -> Result<&[u8], Corrupt> {
    let bytes = heap.get(ends).ok_or(Corrupt::Ends)?;
    if bytes.len() > max_len as usize { Err(Corrupt::TooLong) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::ValueError;

    fn columns() -> [Column; 6] {
        [
            Column::new(ColumnType::Signed(IntegerWidth::Three)),
            Column::new(ColumnType::Variable { max_len: 100_000 }).or_null(),
            Column::new(ColumnType::Double).or_null(),
            Column::new(ColumnType::Variable { max_len: 10 }),
            Column::new(ColumnType::Fixed { len: 2 }).or_null(),
            Column::new(ColumnType::Unsigned(IntegerWidth::Eight)),
        ]
    }

    fn encoded(layout: &RowLayout, values: &[Value<'_>]) -> Vec<u8> {
        let mut row = Vec::new();
        encode_row(layout, values, &mut row).expect("the values suit");
        row
    }

    fn assert_values(layout: &RowLayout, row: &[u8], values: &[Value<'_>]) {
        let row = RowRef::new(layout, row).expect("a whole row");
        assert_eq!(row.values().collect::<Result<Vec<_>, _>>().as_deref(), Ok(values));
    }

    #[test]
    fn a_row_is_what_the_picture_says() {
        let layout = RowLayout::new(&columns());
        let values = [
            Value::Signed(-2),
            Value::Bytes(b"ab"),
            Value::Null,
            Value::Bytes(b"c"),
            Value::Bytes(b"fx"),
            Value::Unsigned(0x0102),
        ];
        let row = encoded(&layout, &values);
        let mut expected = vec![6, 0, 0b010, 0xfe, 0xff, 0xff];
        expected.extend([0; 8]);
        expected.extend(*b"fx");
        expected.extend([2, 1, 0, 0, 0, 0, 0, 0]);
        expected.extend([2, 0, 3, 0]);
        expected.extend(*b"abc");
        assert_eq!(row, expected);
        assert_values(&layout, &row, &values);
    }

    #[test]
    fn a_long_heap_has_wide_ends() {
        let layout = RowLayout::new(&columns());
        for (len, wide) in [(0, 0), (65_534, 0), (65_535, 0x80), (100_000, 0x80)] {
            let long = vec![7; len];
            let values = [
                Value::Signed(1),
                Value::Bytes(&long),
                Value::Double(-0.0),
                Value::Bytes(b"c"),
                Value::Null,
                Value::Unsigned(u64::MAX),
            ];
            let row = encoded(&layout, &values);
            assert_eq!(row[1], wide, "{len}");
            assert_values(&layout, &row, &values);
        }
    }

    #[test]
    fn a_column_that_has_gone_is_in_older_rows_and_takes_its_room_in_newer_ones() {
        let columns = columns();
        let defaults = [Value::Null, Value::Null, Value::Unsigned(9)];
        let now = RowLayout::new(&columns).without([0, 1, 3]).with_added(&defaults).expect("the defaults suit");
        let mut all = [
            Value::Signed(8),
            Value::Bytes(b"text"),
            Value::Double(0.5),
            Value::Bytes(b"late"),
            Value::Null,
            Value::Unsigned(9),
        ];
        let told = |row: &[u8]| {
            let row = RowRef::new(&now, row).expect("whole");
            [2, 4, 5].map(|column| format!("{:?}", row.value(column).expect("it is there")))
        };
        let wanted = ["Double(0.5)", "Null", "Unsigned(9)"];
        for written in 3..=6 {
            assert_eq!(told(&encoded(&RowLayout::new(&columns[..written]), &all[..written])), wanted, "{written}");
        }
        for gone in [0, 1, 3] {
            all[gone] = Value::Null;
        }
        assert_eq!(told(&encoded(&now, &all)), wanted);
    }

    #[test]
    fn older_rows_have_defaults() {
        let columns = columns();
        let now = RowLayout::new(&columns).with_added(&[Value::Bytes(b"late"), Value::Null, Value::Unsigned(9)]);
        let now = now.expect("the defaults suit");
        let all = [
            Value::Signed(8),
            Value::Bytes(b"text"),
            Value::Double(0.5),
            Value::Bytes(b"late"),
            Value::Null,
            Value::Unsigned(9),
        ];
        for written in 3..=6 {
            let row = encoded(&RowLayout::new(&columns[..written]), &all[..written]);
            assert_values(&now, &row, &all);
            assert_eq!(RowRef::new(&now, &row).expect("whole").columns_written(), written);
        }
        // No row was ever written with two columns, and none by a table that has not been yet.
        let row = encoded(&RowLayout::new(&columns[..2]), &all[..2]);
        assert_eq!(RowRef::new(&now, &row).err(), Some(Corrupt::ColumnCount));
        let row = encoded(&now, &all);
        assert_eq!(RowRef::new(&RowLayout::new(&columns[..5]), &row).err(), Some(Corrupt::ColumnCount));
    }

    #[test]
    fn a_value_that_does_not_suit_leaves_nothing() {
        let layout = RowLayout::new(&columns()[..2]);
        let mut out = vec![9];
        let error = encode_row(&layout, &[Value::Null, Value::Null], &mut out);
        assert_eq!(error, Err(RowError::Value { column: 0, error: ValueError::Null }));
        assert_eq!(out, [9]);
        let error = RowLayout::new(&columns()).with_added(&[Value::Unsigned(1), Value::Null]).err();
        assert!(matches!(error, Some(RowError::Value { column: 4, .. })));
    }

    #[test]
    fn a_row_too_long_is_refused() {
        let column = Column::new(ColumnType::Variable { max_len: u32::MAX });
        let layout = RowLayout::new(&[column; 3]);
        // The same half gibibyte three times; the memory is never touched.
        let half = vec![0; 1 << 29];
        let error = encode_row(&layout, &[Value::Bytes(&half); 3], &mut Vec::new());
        assert_eq!(error, Err(RowError::TooLong { len: 3 * (1 << 29) + 2 + 12, limit: ROW_LEN_MAX }));
    }

    #[test]
    fn a_table_without_columns_has_rows() {
        let layout = RowLayout::new(&[]);
        assert_eq!(encoded(&layout, &[]), [0, 0]);
        assert_values(&layout, &[0, 0], &[]);
    }

    #[test]
    fn damage_is_named() {
        let variable = Column::new(ColumnType::Variable { max_len: 3 });
        let layout = RowLayout::new(&[variable, variable, Column::new(ColumnType::Float)]);
        let good = encoded(&layout, &[Value::Bytes(b"ab"), Value::Bytes(b"cd"), Value::Float(1.0)]);
        for len in 0..good.len() {
            assert_eq!(RowRef::new(&layout, &good[..len]).err(), Some(Corrupt::Truncated), "{len} bytes");
        }
        assert_eq!(RowRef::new(&layout, &[&good[..], b"x"].concat()).err(), Some(Corrupt::Trailing));
        // The first value's end.
        let with_end = |end| {
            let mut row = good.clone();
            row[6] = end;
            row
        };
        let value = |row: &[u8], column| RowRef::new(&layout, row).expect("whole").value(column).map(drop);
        assert_eq!(value(&with_end(5), 0), Err(Corrupt::Ends));
        assert_eq!(value(&with_end(5), 1), Err(Corrupt::Ends));
        assert_eq!(value(&with_end(4), 0), Err(Corrupt::TooLong));
        assert_eq!(value(&with_end(0), 1), Err(Corrupt::TooLong));
        let mut row = good.clone();
        row[2..6].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(value(&row, 2), Err(Corrupt::Float));
    }
}
