//! Writing and reading the binary form.
//!
//! A decimal is an opaque value of type 246: precision, scale, and MySQL's packed digits (nine in four bytes). A date,
//! a time, a date and time are opaque values of types 10, 11, 12: MySQL's packed integer of eight bytes, little-endian.

use std::borrow::Cow;

use super::MAX_DEPTH;
use crate::decimal::Decimal;
use crate::temporal::{Date, DateTime, SECOND, Time};

/// A document as a tree: how documents are made. Texts and keys are those that it is made of, where they need not be changed.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum Tree<'a> {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Double(f64),
    Decimal(Decimal),
    /// In utf8mb4.
    Text(Cow<'a, [u8]>),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    /// Bytes of another type of MySQL, with the type's number.
    Opaque(u8, Cow<'a, [u8]>),
    Array(Vec<Tree<'a>>),
    /// Members, in any order; of two with the same key the last one counts.
    Object(Vec<(Cow<'a, [u8]>, Tree<'a>)>),
}

impl Tree<'_> {
    /// The same, with texts of its own.
    pub fn into_owned(self) -> Tree<'static> {
        let owned = |text: Cow<'_, [u8]>| Cow::Owned(text.into_owned());
        match self {
            Tree::Null => Tree::Null,
            Tree::Bool(truth) => Tree::Bool(truth),
            Tree::Signed(number) => Tree::Signed(number),
            Tree::Unsigned(number) => Tree::Unsigned(number),
            Tree::Double(number) => Tree::Double(number),
            Tree::Decimal(number) => Tree::Decimal(number),
            Tree::Text(text) => Tree::Text(owned(text)),
            Tree::Date(date) => Tree::Date(date),
            Tree::Time(time) => Tree::Time(time),
            Tree::DateTime(value) => Tree::DateTime(value),
            Tree::Opaque(kind, bytes) => Tree::Opaque(kind, owned(bytes)),
            Tree::Array(elements) => Tree::Array(elements.into_iter().map(Tree::into_owned).collect()),
            Tree::Object(members) => {
                Tree::Object(members.into_iter().map(|(key, value)| (owned(key), value.into_owned())).collect())
            }
        }
    }
}

/// A part of a document.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum Element<'a> {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Double(f64),
    Decimal(Decimal),
    Text(&'a [u8]),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    Opaque(u8, &'a [u8]),
    Array(Container<'a>),
    Object(Container<'a>),
}

/// What JSON_TYPE says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum Kind {
    Null,
    Boolean,
    Integer,
    UnsignedInteger,
    Double,
    Decimal,
    String,
    Date,
    Time,
    DateTime,
    Blob,
    Bit,
    Opaque,
    Array,
    Object,
}

impl Kind {
    /// As JSON_TYPE prints it.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Null => "NULL",
            Kind::Boolean => "BOOLEAN",
            Kind::Integer => "INTEGER",
            Kind::UnsignedInteger => "UNSIGNED INTEGER",
            Kind::Double => "DOUBLE",
            Kind::Decimal => "DECIMAL",
            Kind::String => "STRING",
            Kind::Date => "DATE",
            Kind::Time => "TIME",
            Kind::DateTime => "DATETIME",
            Kind::Blob => "BLOB",
            Kind::Bit => "BIT",
            Kind::Opaque => "OPAQUE",
            Kind::Array => "ARRAY",
            Kind::Object => "OBJECT",
        }
    }
}

/// An array or an object, as it lies in a document.
#[derive(Clone, Copy, Debug)]
pub struct Container<'a> {
    bytes: &'a [u8],
    large: bool,
    object: bool,
}

const SMALL_OBJECT: u8 = 0;
const LARGE_OBJECT: u8 = 1;
const SMALL_ARRAY: u8 = 2;
const LARGE_ARRAY: u8 = 3;
const LITERAL: u8 = 4;
const INT16: u8 = 5;
const UINT16: u8 = 6;
const INT32: u8 = 7;
const UINT32: u8 = 8;
const INT64: u8 = 9;
const UINT64: u8 = 10;
const DOUBLE: u8 = 11;
const STRING: u8 = 12;
const OPAQUE: u8 = 15;

/// Appends a document; false if it is nested too deep.
pub(super) fn append(tree: &Tree<'_>, out: &mut Vec<u8>) -> bool {
    out.push(0);
    match append_value(tree, out, 1) {
        Some(kind) => {
            out[0] = kind;
            true
        }
        None => false,
    }
}

fn append_length(mut len: usize, out: &mut Vec<u8>) {
    while len >= 0x80 {
        out.push(len as u8 | 0x80);
        len >>= 7;
    }
    out.push(len as u8);
}

/// Members of an object, or elements without keys.
type Members<'t> = Vec<(&'t [u8], &'t Tree<'t>)>;

/// Appends a value and returns its type; `None` if it is nested too deep.
fn append_value(tree: &Tree<'_>, out: &mut Vec<u8>, depth: usize) -> Option<u8> {
    let opaque = |kind: u8, bytes: &[u8], out: &mut Vec<u8>| {
        out.push(kind);
        append_length(bytes.len(), out);
        out.extend_from_slice(bytes);
        OPAQUE
    };
    Some(match tree {
        Tree::Null => literal(0, out),
        Tree::Bool(truth) => literal(if *truth { 1 } else { 2 }, out),
        Tree::Signed(number) => {
            if let Ok(short) = i16::try_from(*number) {
                out.extend_from_slice(&short.to_le_bytes());
                INT16
            } else if let Ok(medium) = i32::try_from(*number) {
                out.extend_from_slice(&medium.to_le_bytes());
                INT32
            } else {
                out.extend_from_slice(&number.to_le_bytes());
                INT64
            }
        }
        Tree::Unsigned(number) => {
            if let Ok(short) = u16::try_from(*number) {
                out.extend_from_slice(&short.to_le_bytes());
                UINT16
            } else if let Ok(medium) = u32::try_from(*number) {
                out.extend_from_slice(&medium.to_le_bytes());
                UINT32
            } else {
                out.extend_from_slice(&number.to_le_bytes());
                UINT64
            }
        }
        Tree::Double(number) => {
            out.extend_from_slice(&number.to_le_bytes());
            DOUBLE
        }
        Tree::Text(text) => {
            append_length(text.len(), out);
            out.extend_from_slice(text);
            STRING
        }
        Tree::Decimal(number) => {
            let digits = number.whole_digits().max(1) as u8 + number.scale();
            let mut bytes = vec![digits, number.scale()];
            number.append_mysql_packed(&mut bytes);
            opaque(246, &bytes, out)
        }
        Tree::Date(date) => opaque(10, &(pack_datetime(date.midnight()).to_le_bytes()), out),
        Tree::DateTime(value) => opaque(12, &pack_datetime(*value).to_le_bytes(), out),
        Tree::Time(time) => opaque(11, &pack_time(*time).to_le_bytes(), out),
        Tree::Opaque(kind, bytes) => opaque(*kind, bytes, out),
        Tree::Array(elements) => {
            let elements: Members<'_> = elements.iter().map(|element| (&[][..], element)).collect();
            return append_container(&elements, false, out, depth);
        }
        Tree::Object(members) => {
            let mut sorted: Members<'_> = members.iter().map(|(key, value)| (&key[..], value)).collect();
            // Stable, so that of equal keys the last one given is the last one here.
            sorted.sort_by(|(a, _), (b, _)| key_order(a, b));
            sorted.reverse();
            sorted.dedup_by(|(a, _), (b, _)| a == b);
            sorted.reverse();
            return append_container(&sorted, true, out, depth);
        }
    })
}

pub(super) fn key_order(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

fn literal(which: u8, out: &mut Vec<u8>) -> u8 {
    out.push(which);
    LITERAL
}

/// The two or four bytes of a value that lies in its entry.
fn inlined(tree: &Tree<'_>, large: bool) -> Option<(u8, u32)> {
    Some(match tree {
        Tree::Null => (LITERAL, 0),
        Tree::Bool(true) => (LITERAL, 1),
        Tree::Bool(false) => (LITERAL, 2),
        Tree::Signed(number) => match (i16::try_from(*number), i32::try_from(*number)) {
            (Ok(number), _) => (INT16, u32::from(number as u16)),
            (_, Ok(number)) if large => (INT32, number as u32),
            _ => return None,
        },
        Tree::Unsigned(number) => match (u16::try_from(*number), u32::try_from(*number)) {
            (Ok(number), _) => (UINT16, number.into()),
            (_, Ok(number)) if large => (UINT32, number),
            _ => return None,
        },
        _ => return None,
    })
}

fn append_container(members: &[(&[u8], &Tree<'_>)], object: bool, out: &mut Vec<u8>, depth: usize) -> Option<u8> {
    if depth > MAX_DEPTH {
        return None;
    }
    let start = out.len();
    for large in [false, true] {
        out.truncate(start);
        let width = if large { 4 } else { 2 };
        if append_members(members, object, large, width, out, depth)? {
            return Some(match (object, large) {
                (true, false) => SMALL_OBJECT,
                (true, true) => LARGE_OBJECT,
                (false, false) => SMALL_ARRAY,
                (false, true) => LARGE_ARRAY,
            });
        }
    }
    None
}

/// False if it is too long for the small form.
fn append_members(
    members: &[(&[u8], &Tree<'_>)],
    object: bool,
    large: bool,
    width: usize,
    out: &mut Vec<u8>,
    depth: usize,
) -> Option<bool> {
    let start = out.len();
    let limit = if large { u32::MAX as usize } else { usize::from(u16::MAX) };
    let put = |out: &mut Vec<u8>, at: usize, number: usize| {
        out[at..at + width].copy_from_slice(&(number as u32).to_le_bytes()[..width]);
    };
    let key_entry = if object { width + 2 } else { 0 };
    let value_entry = 1 + width;
    let keys_at = start + 2 * width;
    let values_at = keys_at + members.len() * key_entry;
    out.resize(values_at + members.len() * value_entry, 0);
    if members.len() > limit {
        return Some(false);
    }
    put(out, start, members.len());
    if object {
        for (number, (key, _)) in members.iter().enumerate() {
            let entry = keys_at + number * key_entry;
            let offset = out.len() - start;
            let Ok(len) = u16::try_from(key.len()) else { return None };
            if offset > limit {
                return Some(false);
            }
            put(out, entry, offset);
            out[entry + width..entry + width + 2].copy_from_slice(&len.to_le_bytes());
            out.extend_from_slice(key);
        }
    }
    for (number, (_, value)) in members.iter().enumerate() {
        let entry = values_at + number * value_entry;
        if let Some((kind, bits)) = inlined(value, large) {
            out[entry] = kind;
            put(out, entry + 1, bits as usize);
            continue;
        }
        let offset = out.len() - start;
        if offset > limit {
            return Some(false);
        }
        let kind = append_value(value, out, depth + 1)?;
        out[entry] = kind;
        put(out, entry + 1, offset);
    }
    let size = out.len() - start;
    if size > limit {
        return Some(false);
    }
    put(out, start + width, size);
    Some(true)
}

fn pack_datetime(value: DateTime) -> i64 {
    let days = (i64::from(value.date.year) * 13 + i64::from(value.date.month)) << 5 | i64::from(value.date.day);
    let clock = i64::from(value.hour) << 12 | i64::from(value.minute) << 6 | i64::from(value.second);
    (days << 17 | clock) << 24 | i64::from(value.micros)
}

fn unpack_datetime(packed: i64) -> Option<DateTime> {
    let micros = (packed & 0xff_ffff) as u32;
    let whole = packed >> 24;
    let (days, clock) = (whole >> 17, whole & 0x1_ffff);
    let months = u32::try_from(days >> 5).ok()?;
    let date = Date::new(u16::try_from(months / 13).ok()?, (months % 13) as u8, (days & 31) as u8)?;
    let value = DateTime {
        date,
        hour: (clock >> 12) as u8,
        minute: (clock >> 6 & 63) as u8,
        second: (clock & 63) as u8,
        micros,
    };
    (value.hour < 24 && value.minute < 60 && value.second < 60 && micros < 1_000_000).then_some(value)
}

fn pack_time(time: Time) -> i64 {
    let clock = i64::from(time.hours()) << 12 | i64::from(time.minute()) << 6 | i64::from(time.second());
    let packed = clock << 24 | i64::from(time.fraction());
    if time.is_negative() { -packed } else { packed }
}

fn unpack_time(packed: i64) -> Time {
    let magnitude = packed.unsigned_abs().min(1 << 47) as i64;
    let clock = magnitude >> 24;
    let seconds = (clock >> 12) * 3600 + (clock >> 6 & 63) * 60 + (clock & 63);
    let micros = seconds * SECOND + (magnitude & 0xff_ffff);
    Time::from_micros(if packed < 0 { -micros } else { micros }).0
}

fn read_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut len = 0usize;
    for (at, byte) in bytes.iter().enumerate().take(5) {
        len |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((len, &bytes[at + 1..]));
        }
    }
    None
}

fn counted(bytes: &[u8]) -> Option<&[u8]> {
    let (len, rest) = read_length(bytes)?;
    rest.get(..len)
}

impl<'a> Element<'a> {
    /// The whole of a document.
    pub fn root(document: &'a [u8]) -> Element<'a> {
        match document.split_first() {
            Some((kind, bytes)) => Element::read(*kind, bytes).unwrap_or(Element::Null),
            None => Element::Null,
        }
    }

    fn read(kind: u8, bytes: &'a [u8]) -> Option<Element<'a>> {
        let container = |large, object| Container { bytes, large, object };
        Some(match kind {
            SMALL_OBJECT => Element::Object(container(false, true)),
            LARGE_OBJECT => Element::Object(container(true, true)),
            SMALL_ARRAY => Element::Array(container(false, false)),
            LARGE_ARRAY => Element::Array(container(true, false)),
            LITERAL => match bytes.first()? {
                1 => Element::Bool(true),
                2 => Element::Bool(false),
                _ => Element::Null,
            },
            INT16 => Element::Signed(i16::from_le_bytes(*bytes.first_chunk()?).into()),
            UINT16 => Element::Unsigned(u16::from_le_bytes(*bytes.first_chunk()?).into()),
            INT32 => Element::Signed(i32::from_le_bytes(*bytes.first_chunk()?).into()),
            UINT32 => Element::Unsigned(u32::from_le_bytes(*bytes.first_chunk()?).into()),
            INT64 => Element::Signed(i64::from_le_bytes(*bytes.first_chunk()?)),
            UINT64 => Element::Unsigned(u64::from_le_bytes(*bytes.first_chunk()?)),
            DOUBLE => {
                let number = f64::from_le_bytes(*bytes.first_chunk()?);
                Element::Double(if number.is_finite() { number } else { 0.0 })
            }
            STRING => Element::Text(counted(bytes)?),
            OPAQUE => {
                let (kind, rest) = bytes.split_first()?;
                let content = counted(rest)?;
                let packed = || content.first_chunk().map(|bytes| i64::from_le_bytes(*bytes));
                match kind {
                    246 => Element::Decimal(Decimal::read_mysql_packed(content)?),
                    10 => Element::Date(unpack_datetime(packed()?)?.date),
                    11 => Element::Time(unpack_time(packed()?)),
                    7 | 12 => Element::DateTime(unpack_datetime(packed()?)?),
                    other => Element::Opaque(*other, content),
                }
            }
            _ => return None,
        })
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        match self {
            Element::Null => Kind::Null,
            Element::Bool(_) => Kind::Boolean,
            Element::Signed(_) => Kind::Integer,
            Element::Unsigned(_) => Kind::UnsignedInteger,
            Element::Double(_) => Kind::Double,
            Element::Decimal(_) => Kind::Decimal,
            Element::Text(_) => Kind::String,
            Element::Date(_) => Kind::Date,
            Element::Time(_) => Kind::Time,
            Element::DateTime(_) => Kind::DateTime,
            Element::Opaque(249..=254 | 15, _) => Kind::Blob,
            Element::Opaque(16, _) => Kind::Bit,
            Element::Opaque(..) => Kind::Opaque,
            Element::Array(_) => Kind::Array,
            Element::Object(_) => Kind::Object,
        }
    }

    /// Elements of an array, members of an object; 1 for everything else.
    pub fn len(&self) -> usize {
        match self {
            Element::Array(container) | Element::Object(container) => container.len(),
            _ => 1,
        }
    }

    /// Whether it is an array or an object with nothing in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How deep it is nested; 1 for what is not, and for an empty array or object.
    pub fn depth(&self) -> usize {
        self.depth_at(0)
    }

    fn depth_at(&self, above: usize) -> usize {
        match self {
            Element::Array(container) | Element::Object(container) if above < MAX_DEPTH => {
                1 + container.values().map(|value| value.depth_at(above + 1)).max().unwrap_or(0)
            }
            _ => 1,
        }
    }

    /// A copy as a tree.
    pub fn to_tree(&self) -> Tree<'a> {
        self.tree_at(0)
    }

    fn tree_at(&self, above: usize) -> Tree<'a> {
        match *self {
            Element::Null => Tree::Null,
            Element::Bool(truth) => Tree::Bool(truth),
            Element::Signed(number) => Tree::Signed(number),
            Element::Unsigned(number) => Tree::Unsigned(number),
            Element::Double(number) => Tree::Double(number),
            Element::Decimal(number) => Tree::Decimal(number),
            Element::Text(text) => Tree::Text(text.into()),
            Element::Date(date) => Tree::Date(date),
            Element::Time(time) => Tree::Time(time),
            Element::DateTime(value) => Tree::DateTime(value),
            Element::Opaque(kind, bytes) => Tree::Opaque(kind, bytes.into()),
            _ if above >= MAX_DEPTH => Tree::Null,
            Element::Array(container) => {
                Tree::Array(container.values().map(|value| value.tree_at(above + 1)).collect())
            }
            Element::Object(container) => {
                Tree::Object(container.members().map(|(key, value)| (key.into(), value.tree_at(above + 1))).collect())
            }
        }
    }
}

impl<'a> Container<'a> {
    fn number(&self, at: usize, width: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..at.checked_add(width)?)?;
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    fn width(&self) -> usize {
        if self.large { 4 } else { 2 }
    }

    /// How many elements. Never more than there is room for.
    pub fn len(&self) -> usize {
        let width = self.width();
        let entry = 1 + width + if self.object { width + 2 } else { 0 };
        self.number(0, width).unwrap_or(0).min(self.bytes.len() / entry)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value with this number.
    pub fn value(&self, number: usize) -> Option<Element<'a>> {
        let width = self.width();
        let len = self.len();
        if number >= len {
            return None;
        }
        let keys = if self.object { len * (width + 2) } else { 0 };
        let entry = 2 * width + keys + number * (1 + width);
        let kind = *self.bytes.get(entry)?;
        let inlined = match kind {
            LITERAL | INT16 | UINT16 => true,
            INT32 | UINT32 => self.large,
            _ => false,
        };
        if inlined {
            return Element::read(kind, self.bytes.get(entry + 1..)?);
        }
        let offset = self.number(entry + 1, width)?;
        // What is inside begins behind the entries: a document cannot hold itself.
        if offset < entry {
            return None;
        }
        Element::read(kind, self.bytes.get(offset..)?)
    }

    /// The key with this number.
    pub fn key(&self, number: usize) -> Option<&'a [u8]> {
        let width = self.width();
        if !self.object || number >= self.len() {
            return None;
        }
        let entry = 2 * width + number * (width + 2);
        let (offset, len) = (self.number(entry, width)?, self.number(entry + width, 2)?);
        self.bytes.get(offset..offset + len)
    }

    /// The value of a key.
    pub fn get(&self, key: &[u8]) -> Option<Element<'a>> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match key_order(self.key(middle)?, key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.value(middle),
            }
        }
        None
    }

    /// All values, in order.
    pub fn values(self) -> impl Iterator<Item = Element<'a>> {
        (0..self.len()).map(move |number| self.value(number).unwrap_or(Element::Null))
    }

    /// All members of an object, in order.
    pub fn members(self) -> impl Iterator<Item = (&'a [u8], Element<'a>)> {
        let member = move |number| (self.key(number).unwrap_or_default(), self.value(number).unwrap_or(Element::Null));
        (0..self.len()).map(member)
    }
}
