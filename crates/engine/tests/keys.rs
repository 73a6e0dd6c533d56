//! Keys and rows against the simplest thing that could be right: the values themselves.
//!
//! Random lists of columns with random values, of which many are equal or nearly so. Keys must order as the values do,
//! whatever the parts; ranges must have the keys that the condition asks for; what was encoded must come back; and bytes
//! that nobody encoded must be refused or mean something, never panic.
//!
//! The cases of each test are 512, or `PROPTEST_CASES` if that is more.

use std::cmp::Ordering;
use std::ops::Bound;

use meseta_engine::row::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// The longest key of a store with pages of 16 KiB.
const LIMIT: usize = 3072;

/// A value that lives by itself.
#[derive(Clone, Debug)]
enum Owned {
    Null,
    Signed(i64),
    Unsigned(u64),
    Float(f32),
    Double(f64),
    Bytes(Vec<u8>),
}

impl Owned {
    fn value(&self) -> Value<'_> {
        match self {
            Owned::Null => Value::Null,
            Owned::Signed(number) => Value::Signed(*number),
            Owned::Unsigned(number) => Value::Unsigned(*number),
            Owned::Float(number) => Value::Float(*number),
            Owned::Double(number) => Value::Double(*number),
            Owned::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

fn values(tuple: &[Owned]) -> Vec<Value<'_>> {
    tuple.iter().map(Owned::value).collect()
}

/// The order of two values of one column, as SQL has it.
fn order(a: &Owned, b: &Owned) -> Ordering {
    match (a, b) {
        (Owned::Null, Owned::Null) => Ordering::Equal,
        (Owned::Null, _) => Ordering::Less,
        (_, Owned::Null) => Ordering::Greater,
        (Owned::Signed(a), Owned::Signed(b)) => a.cmp(b),
        (Owned::Unsigned(a), Owned::Unsigned(b)) => a.cmp(b),
        (Owned::Float(a), Owned::Float(b)) => a.partial_cmp(b).expect("no NaN"),
        (Owned::Double(a), Owned::Double(b)) => a.partial_cmp(b).expect("no NaN"),
        (Owned::Bytes(a), Owned::Bytes(b)) => a.cmp(b),
        _ => panic!("values of one column are of one kind"),
    }
}

/// The order of two tuples, part by part.
fn tuple_order(parts: &[KeyPart], a: &[Owned], b: &[Owned]) -> Ordering {
    parts.iter().zip(a.iter().zip(b)).fold(Ordering::Equal, |before, (part, (a, b))| {
        let next = if part.is_descending() { order(b, a) } else { order(a, b) };
        before.then(next)
    })
}

fn column() -> impl Strategy<Value = Column> {
    let width = || select(&IntegerWidth::ALL[..]);
    let column_type = prop_oneof![
        width().prop_map(ColumnType::Signed),
        width().prop_map(ColumnType::Unsigned),
        Just(ColumnType::Float),
        Just(ColumnType::Double),
        (0..6_u16).prop_map(|len| ColumnType::Fixed { len }),
        (0..40_u32).prop_map(|max_len| ColumnType::Variable { max_len }),
    ];
    (column_type, any::<bool>()).prop_map(|(column_type, nullable)| Column { column_type, nullable })
}

fn part() -> impl Strategy<Value = KeyPart> {
    (any::<u16>(), column(), any::<bool>(), 0..4).prop_map(|(number, column, descending, kind)| {
        let part = KeyPart::new(number, column);
        let part = match (kind, column.column_type) {
            (0, ColumnType::Fixed { .. } | ColumnType::Variable { .. }) => part.prefix(3),
            (1, ColumnType::Variable { .. }) => part.weights(),
            _ => part,
        };
        if descending { part.descending() } else { part }
    })
}

/// Bytes among which those that could go wrong are frequent.
fn bytes(len: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => select(vec![0, 1, 2, 0xfe, 0xff]), 2 => Just(b'a'), 1 => any::<u8>()];
    vec(byte, len)
}

/// A value of a column: near an edge, as a rule.
fn value_of(column: Column) -> BoxedStrategy<Owned> {
    let value = match column.column_type {
        ColumnType::Signed(width) => {
            let (min, max) = (width.signed_min(), width.signed_max());
            let edges = vec![min, min + 1, -1, 0, 1, max - 1, max];
            prop_oneof![select(edges), min..=max].prop_map(Owned::Signed).boxed()
        }
        ColumnType::Unsigned(width) => {
            let max = width.unsigned_max();
            let edges = vec![0, 1, max / 2, max / 2 + 1, max - 1, max];
            prop_oneof![select(edges), 0..=max].prop_map(Owned::Unsigned).boxed()
        }
        ColumnType::Float => {
            let edges = vec![f32::NEG_INFINITY, f32::MIN, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::MAX, f32::INFINITY];
            prop_oneof![select(edges), any::<f32>()].prop_map(Owned::Float).boxed()
        }
        ColumnType::Double => {
            let edges =
                vec![f64::NEG_INFINITY, f64::MIN, -1.0, -5e-324, -0.0, 0.0, 5e-324, 1.0, f64::MAX, f64::INFINITY];
            prop_oneof![select(edges), any::<f64>()].prop_map(Owned::Double).boxed()
        }
        ColumnType::Fixed { len } => bytes(len.into()..=len.into()).prop_map(Owned::Bytes).boxed(),
        ColumnType::Variable { max_len } => {
            let max_len = max_len.min(40) as usize;
            prop_oneof![bytes(0..=max_len.min(3)), bytes(0..=max_len)].prop_map(Owned::Bytes).boxed()
        }
    };
    if column.nullable { prop_oneof![1 => Just(Owned::Null), 4 => value].boxed() } else { value }
}

fn tuple_of(columns: Vec<Column>) -> impl Strategy<Value = Vec<Owned>> {
    columns.into_iter().map(value_of).collect::<Vec<_>>()
}

/// Parts, and some tuples for them; each tuple begins with a stretch of the one before, so that all parts matter.
fn parts_and_tuples() -> impl Strategy<Value = (Vec<KeyPart>, Vec<Vec<Owned>>)> {
    vec(part(), 1..5).prop_flat_map(|parts| {
        let columns: Vec<_> = parts.iter().map(KeyPart::content).collect();
        let tuples = vec((tuple_of(columns), 0..5_usize), 2..6).prop_map(|tuples| {
            let mut related: Vec<Vec<Owned>> = Vec::new();
            for (mut tuple, same) in tuples {
                if let Some(before) = related.last() {
                    let same = same.min(tuple.len());
                    tuple[..same].clone_from_slice(&before[..same]);
                }
                related.push(tuple);
            }
            related
        });
        (Just(parts), tuples)
    })
}

fn encoded(parts: &[KeyPart], tuple: &[Owned]) -> Vec<u8> {
    let mut key = Vec::new();
    append_key(parts, values(tuple), LIMIT, &mut key).expect("the values suit");
    key
}

fn bound_of(kind: u8, value: &Owned) -> Bound<Value<'_>> {
    match kind {
        0 => Bound::Unbounded,
        1 => Bound::Included(value.value()),
        _ => Bound::Excluded(value.value()),
    }
}

fn is_between(value: &Owned, lower: (u8, &Owned), upper: (u8, &Owned)) -> bool {
    let above = match lower.0 {
        0 => true,
        1 => order(value, lower.1).is_ge(),
        _ => order(value, lower.1).is_gt(),
    };
    let below = match upper.0 {
        0 => true,
        1 => order(value, upper.1).is_le(),
        _ => order(value, upper.1).is_lt(),
    };
    above && below
}

/// Whatever the bytes: a value that is read is one that its column takes.
fn assert_readable(columns: &[Column], layout: &RowLayout, row: &[u8]) {
    if let Ok(row) = RowRef::new(layout, row) {
        for (column, value) in columns.iter().zip(row.values()) {
            assert!(!value.is_ok_and(|value| column.check(value).is_err()), "{column:?}: {value:?}");
        }
    }
}

fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.max(512), failure_persistence: None, ..config }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn keys_order_as_their_values_do((parts, tuples) in parts_and_tuples()) {
        for a in &tuples {
            for b in &tuples {
                let keys = (encoded(&parts, a), encoded(&parts, b));
                prop_assert_eq!(keys.0.cmp(&keys.1), tuple_order(&parts, a, b), "{:?} {:?}", keys.0, keys.1);
            }
        }
    }

    #[test]
    fn keys_come_back((parts, tuples) in parts_and_tuples(), more in bytes(0..=4)) {
        let mut buffer = Vec::new();
        for tuple in &tuples {
            let key = [&encoded(&parts, tuple)[..], &more].concat();
            prop_assert_eq!(primary_key_in(&parts, &key), Ok(&more[..]));
            let mut reader = KeyReader::new(&key, &mut buffer);
            let read: Result<Vec<_>, _> = parts.iter().map(|part| reader.read(part)).collect();
            // The two zeros are equal here, as they are in a key.
            prop_assert_eq!(read, Ok(values(tuple)));
            prop_assert_eq!(reader.rest(), &more[..]);
        }
    }

    #[test]
    fn a_beginning_of_values_bounds_the_keys_that_have_it((parts, tuples) in parts_and_tuples(), len in 0..5_usize) {
        let len = len.min(parts.len());
        for a in &tuples {
            let range = KeyRange::beginning_with(encoded(&parts, &a[..len]));
            for b in &tuples {
                let alike = tuple_order(&parts[..len], &a[..len], &b[..len]).is_eq();
                prop_assert_eq!(range.contains(&encoded(&parts, b)), alike);
            }
        }
    }

    #[test]
    fn a_range_has_exactly_the_keys_asked_for(
        (parts, tuples) in parts_and_tuples(),
        len in 0..4_usize,
        lower in 0..3_u8,
        upper in 0..3_u8,
    ) {
        let len = len.min(parts.len() - 1);
        let (low, high) = (&tuples[0], &tuples[1]);
        let front = encoded(&parts, &low[..len]);
        let bounds = (bound_of(lower, &low[len]), bound_of(upper, &high[len]));
        let range = KeyRange::between(&front, &parts[len], bounds.0, bounds.1).expect("the values suit");
        for tuple in &tuples {
            let key = encoded(&parts, tuple);
            let expected = tuple_order(&parts[..len], &low[..len], &tuple[..len]).is_eq()
                && is_between(&tuple[len], (lower, &low[len]), (upper, &high[len]));
            prop_assert_eq!(range.contains(&key), expected, "{:?} {:?}", range, key);
            prop_assert!(!(expected && range.is_empty()));
        }
    }

    #[test]
    fn a_beginning_of_a_string_bounds_the_strings_that_have_it(
        strings in vec(bytes(0..=9), 2..6),
        len in 0..4_usize,
        nullable in any::<bool>(),
        descending in any::<bool>(),
    ) {
        let column = Column { column_type: ColumnType::Variable { max_len: 9 }, nullable };
        let part = if descending { KeyPart::new(0, column).descending() } else { KeyPart::new(0, column) };
        let beginning = &strings[0][..len.min(strings[0].len())];
        let mut key = Vec::new();
        part.append_beginning(beginning, LIMIT, &mut key).expect("it suits");
        let range = KeyRange::beginning_with(key);
        for string in &strings {
            let key = encoded(&[part], &[Owned::Bytes(string.clone())]);
            prop_assert_eq!(range.contains(&key), string.starts_with(beginning));
        }
        if nullable {
            prop_assert!(!range.contains(&encoded(&[part], &[Owned::Null])));
        }
    }

    #[test]
    fn any_bytes_are_a_key_or_are_refused(parts in vec(part(), 1..5), key in bytes(0..=40)) {
        let mut buffer = Vec::new();
        let mut reader = KeyReader::new(&key, &mut buffer);
        let read: Result<Vec<_>, _> = parts.iter().map(|part| reader.read(part)).collect();
        let rest = primary_key_in(&parts, &key);
        if let Ok(values) = read {
            // What was read is what writing would have written.
            prop_assert_eq!(rest, Ok(reader.rest()));
            let mut again = Vec::new();
            append_key(&parts, values, LIMIT, &mut again).expect("what was read suits");
            again.extend_from_slice(reader.rest());
            prop_assert_eq!(again, key);
        }
    }

    #[test]
    fn rows_come_back_whatever_their_age(
        (columns, tuple, written) in vec(column(), 0..20).prop_flat_map(|columns| {
            (Just(columns.clone()), tuple_of(columns.clone()), 0..=columns.len())
        }),
    ) {
        let all = values(&tuple);
        let mut row = Vec::new();
        encode_row(&RowLayout::new(&columns[..written]), &all[..written], &mut row).expect("the values suit");
        // The defaults are what the row would have had.
        let layout = RowLayout::new(&columns).with_added(&all[written..]).expect("the values suit");
        let read = RowRef::new(&layout, &row).expect("a whole row");
        prop_assert_eq!(read.columns_written(), written);
        prop_assert_eq!(read.values().collect::<Result<Vec<_>, _>>(), Ok(all.clone()));
        // Debug tells the zeros apart: in a row, unlike in a key, the sign stays.
        let again: Vec<_> = read.values().map(|value| format!("{value:?}")).collect();
        prop_assert_eq!(again, all.iter().map(|value| format!("{:?}", Ok::<_, Corrupt>(value))).collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_are_a_row_or_are_refused(
        columns in vec(column(), 0..9),
        count in 0..12_u8,
        wide in select(vec![0, 0x80_u8]),
        body in bytes(0..=80),
        damage in any::<(prop::sample::Index, u8)>(),
        tuple in any::<prop::sample::Index>(),
    ) {
        let layout = RowLayout::new(&columns);
        let row = [&[count, wide][..], &body].concat();
        assert_readable(&columns, &layout, &row);
        // A row that was whole, but for one byte.
        let zeros = [0; 40];
        let plain: Vec<_> = columns.iter().map(|column| match column.column_type {
            ColumnType::Signed(_) => Value::Signed(-1),
            ColumnType::Unsigned(_) => Value::Unsigned(1),
            ColumnType::Float => Value::Float(1.0),
            ColumnType::Double => Value::Double(1.0),
            ColumnType::Fixed { len } => Value::Bytes(&zeros[..len.into()]),
            ColumnType::Variable { max_len } => Value::Bytes(&zeros[..tuple.index(max_len as usize + 1)]),
        }).collect();
        let mut row = Vec::new();
        encode_row(&layout, &plain, &mut row).expect("the values suit");
        let at = damage.0.index(row.len());
        row[at] = damage.1;
        assert_readable(&columns, &layout, &row);
    }

    #[test]
    fn any_bytes_are_a_header_or_are_refused(value in vec(any::<u8>(), 0..20), flags in any::<bool>()) {
        let mut value = value;
        if let Some(byte) = value.get_mut(15).filter(|_| flags) {
            *byte &= 1;
        }
        if let Ok((header, rest)) = VersionHeader::split_off(&value) {
            prop_assert_eq!([&header.to_bytes()[..], rest].concat(), value);
        }
    }
}
