//! Rows, of text and binary, written and read.
//!
//! ```text
//! text row     each value a string with its length before it; FB for NULL
//! binary row   00 | a bit a column: is it NULL (from bit 2 on) | the values that are not
//! ```
//!
//! The writers append each value straight to the reply's buffer. No value is allocated, no row is built elsewhere.
//!
//! Invariants:
//! 1. A row gets as many values as there are columns. (Asserted in debug builds for binary rows, which know it.)
//! 2. A row that is dropped without `end` leaves an open packet, which the next packet replaces: it is not sent.
//!
//! Source: "Text Resultset Row", "Binary Protocol Resultset Row" of the MySQL source documentation.

use crate::column::ColumnType;
use crate::error::{ProtocolError, Result};
use crate::flags::ColumnFlags;
use crate::send::PacketWriter;
use crate::value::{DateTime, Time, Value};
use crate::wire::{Take, put_string};

/// A row of the text protocol that is being written.
#[derive(Debug)]
pub struct TextRow<'w> {
    writer: &'w mut PacketWriter,
}

impl<'w> TextRow<'w> {
    /// Opens a row.
    #[inline]
    pub fn new(writer: &'w mut PacketWriter) -> TextRow<'w> {
        writer.begin();
        TextRow { writer }
    }

    /// Appends NULL.
    #[inline]
    pub fn null(&mut self) {
        self.writer.payload().push(0xFB);
    }

    /// Appends text, or anything that is sent as its bytes.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        put_string(self.writer.payload(), bytes);
    }

    /// Appends a signed integer.
    #[inline]
    pub fn int(&mut self, value: i64) {
        let mut digits = Digits::new();
        digits.unsigned(value.unsigned_abs());
        if value < 0 {
            digits.byte(b'-');
        }
        self.short(digits.text());
    }

    /// Appends an unsigned integer.
    #[inline]
    pub fn uint(&mut self, value: u64) {
        let mut digits = Digits::new();
        digits.unsigned(value);
        self.short(digits.text());
    }

    /// Appends a date: `2026-11-21`.
    pub fn date(&mut self, value: &DateTime) {
        let mut digits = Digits::new();
        digits.date(value);
        self.short(digits.text());
    }

    /// Appends a date and time of day with `decimals` (0 to 6) digits after the second: `2026-11-21 12:00:00.5`.
    pub fn datetime(&mut self, value: &DateTime, decimals: u8) {
        let mut digits = Digits::new();
        digits.fraction(value.microsecond, decimals);
        digits.clock(u32::from(value.hour), value.minute, value.second);
        digits.byte(b' ');
        digits.date(value);
        self.short(digits.text());
    }

    /// Appends a span with `decimals` (0 to 6) digits after the second: `-838:59:59`.
    pub fn time(&mut self, value: &Time, decimals: u8) {
        let mut digits = Digits::new();
        digits.fraction(value.microsecond, decimals);
        let hours = value.days.saturating_mul(24).saturating_add(u32::from(value.hour));
        digits.clock(hours, value.minute, value.second);
        if value.negative {
            digits.byte(b'-');
        }
        self.short(digits.text());
    }

    /// Appends text of less than 251 bytes.
    #[inline]
    fn short(&mut self, text: &[u8]) {
        let to = self.writer.payload();
        to.push(text.len() as u8);
        to.extend_from_slice(text);
    }

    /// Closes the row.
    #[inline]
    pub fn end(self) {
        self.writer.end();
    }
}

/// A row of the binary protocol that is being written.
#[derive(Debug)]
pub struct BinaryRow<'w> {
    writer: &'w mut PacketWriter,
    columns: usize,
    column: usize,
}

impl<'w> BinaryRow<'w> {
    /// Opens a row of `columns` columns.
    #[inline]
    pub fn new(writer: &'w mut PacketWriter, columns: usize) -> BinaryRow<'w> {
        let to = writer.begin();
        match 1 + (columns + 2).div_ceil(8) {
            // (Of most rows; a length that is known is stored, others are a call.)
            2 => to.extend_from_slice(&[0; 2]),
            len => to.resize(to.len() + len, 0),
        }
        BinaryRow { writer, columns, column: 0 }
    }

    #[inline]
    fn next(&mut self) -> &mut Vec<u8> {
        debug_assert!(self.column < self.columns, "more values than columns");
        self.column += 1;
        self.writer.payload()
    }

    /// Appends NULL.
    #[inline]
    pub fn null(&mut self) {
        let bit = self.column + 2;
        let at = self.writer.payload_start() + 1 + bit / 8;
        if let Some(byte) = self.next().get_mut(at) {
            *byte |= 1 << (bit % 8);
        }
    }

    /// Appends text, or anything that is sent as its bytes: DECIMAL, JSON, BIT.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        put_string(self.next(), bytes);
    }

    /// Appends an integer, signed or unsigned (as its 64 bits), of the width of `column_type`: TINY, SHORT, YEAR,
    /// INT24, LONG; any other type takes eight bytes, as LONGLONG does.
    #[inline]
    pub fn int(&mut self, column_type: ColumnType, value: i64) {
        let bytes = value.to_le_bytes();
        let width = match column_type {
            ColumnType::Tiny | ColumnType::Bool => 1,
            ColumnType::Short | ColumnType::Year => 2,
            ColumnType::Long | ColumnType::Int24 => 4,
            _ => 8,
        };
        self.next().extend_from_slice(&bytes[..width]);
    }

    /// Appends a FLOAT.
    #[inline]
    pub fn float(&mut self, value: f32) {
        self.next().extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a DOUBLE.
    #[inline]
    pub fn double(&mut self, value: f64) {
        self.next().extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a DATE, DATETIME or TIMESTAMP.
    #[inline]
    pub fn datetime(&mut self, value: &DateTime) {
        value.put(self.next());
    }

    /// Appends a TIME.
    #[inline]
    pub fn time(&mut self, value: &Time) {
        value.put(self.next());
    }

    /// Closes the row.
    #[inline]
    pub fn end(self) {
        debug_assert!(self.column == self.columns, "fewer values than columns");
        self.writer.end();
    }
}

/// Digits, written from the last to the first into a few bytes of the stack.
struct Digits {
    text: [u8; 40],
    start: usize,
}

static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut value = 0;
    while value < 100 {
        pairs[value] = [b'0' + (value / 10) as u8, b'0' + (value % 10) as u8];
        value += 1;
    }
    pairs
};

impl Digits {
    #[inline]
    fn new() -> Digits {
        Digits { text: [0; 40], start: 40 }
    }

    #[inline]
    fn text(&self) -> &[u8] {
        &self.text[self.start..]
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.start -= 1;
        self.text[self.start] = byte;
    }

    /// Two digits of a value below 100. (One that is not, which no sound value has, is cut.)
    #[inline]
    fn pair(&mut self, value: usize) {
        self.start -= 2;
        self.text[self.start..self.start + 2].copy_from_slice(&PAIRS[value % 100]);
    }

    #[inline]
    fn unsigned(&mut self, mut value: u64) {
        while value >= 100 {
            self.pair((value % 100) as usize);
            value /= 100;
        }
        if value >= 10 { self.pair(value as usize) } else { self.byte(b'0' + value as u8) }
    }

    fn date(&mut self, value: &DateTime) {
        self.pair(usize::from(value.day));
        self.byte(b'-');
        self.pair(usize::from(value.month));
        self.byte(b'-');
        self.pair(usize::from(value.year % 100));
        self.pair(usize::from(value.year / 100));
    }

    fn clock(&mut self, hours: u32, minute: u8, second: u8) {
        self.pair(usize::from(second));
        self.byte(b':');
        self.pair(usize::from(minute));
        self.byte(b':');
        if hours < 100 { self.pair(hours as usize) } else { self.unsigned(u64::from(hours)) }
    }

    fn fraction(&mut self, microsecond: u32, decimals: u8) {
        let decimals = decimals.min(6);
        let mut value = microsecond / 10u32.pow(u32::from(6 - decimals));
        for _ in 0..decimals {
            self.byte(b'0' + (value % 10) as u8);
            value /= 10;
        }
        if decimals > 0 {
            self.byte(b'.');
        }
    }
}

/// What a reader of rows must know of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnKind {
    /// Its type.
    pub column_type: ColumnType,
    /// What it is besides; `UNSIGNED` decides how an integer is read.
    pub flags: ColumnFlags,
}

/// A row as it came, borrowed from the receive buffer.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    payload: &'a [u8],
    columns: &'a [ColumnKind],
    binary: bool,
}

impl<'a> Row<'a> {
    /// A row of the text protocol.
    pub fn text(payload: &'a [u8], columns: &'a [ColumnKind]) -> Row<'a> {
        Row { payload, columns, binary: false }
    }

    /// A row of the binary protocol.
    pub fn binary(payload: &'a [u8], columns: &'a [ColumnKind]) -> Row<'a> {
        Row { payload, columns, binary: true }
    }

    /// The bytes of its packet.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Its values, in order. A text row gives bytes and NULLs only.
    pub fn values(&self) -> Values<'a> {
        let mut take = Take::new(self.payload);
        let nulls = if self.binary {
            let header = take.bytes(1 + (self.columns.len() + 2).div_ceil(8));
            match header {
                Ok(header) => &header[1..],
                Err(_) => return Values { take, columns: self.columns, column: 0, nulls: None, broken: true },
            }
        } else {
            &[]
        };
        Values { take, columns: self.columns, column: 0, nulls: self.binary.then_some(nulls), broken: false }
    }
}

/// The values of a row.
#[derive(Debug, Clone)]
pub struct Values<'a> {
    take: Take<'a>,
    columns: &'a [ColumnKind],
    column: usize,
    /// The bits of a binary row.
    nulls: Option<&'a [u8]>,
    broken: bool,
}

impl<'a> Iterator for Values<'a> {
    type Item = Result<Value<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Result<Value<'a>>> {
        if self.broken {
            self.broken = false;
            self.columns = &[];
            return Some(Err(ProtocolError::Malformed("a row is too short")));
        }
        let kind = self.columns.get(self.column)?;
        let bit = self.column + 2;
        self.column += 1;
        let value = match self.nulls {
            Some(nulls) if nulls[bit / 8] & 1 << (bit % 8) != 0 => Ok(Value::Null),
            Some(_) => Value::take(&mut self.take, kind.column_type, kind.flags.has(ColumnFlags::UNSIGNED)),
            None => self.take.nullable_string().map(|bytes| bytes.map_or(Value::Null, Value::Bytes)),
        };
        if value.is_err() {
            self.columns = &[];
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(write: impl FnOnce(&mut TextRow<'_>)) -> String {
        let mut writer = PacketWriter::new();
        let mut row = TextRow::new(&mut writer);
        write(&mut row);
        row.end();
        let mut take = Take::new(&writer.bytes()[4..]);
        let text = take.string().unwrap().to_vec();
        assert!(take.is_empty());
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn numbers_are_written_as_text() {
        for value in [0, 1, 9, 10, 99, 100, 101, 12345, -1, -10, i64::MAX, i64::MIN] {
            assert_eq!(text_of(|row| row.int(value)), value.to_string());
        }
        for value in [0, 7, 10, 1_000_000, u64::MAX] {
            assert_eq!(text_of(|row| row.uint(value)), value.to_string());
        }
    }

    #[test]
    fn dates_and_times_are_written_as_text() {
        let moment = DateTime { year: 2026, month: 1, day: 2, hour: 3, minute: 4, second: 5, microsecond: 60_700 };
        assert_eq!(text_of(|row| row.date(&moment)), "2026-01-02");
        assert_eq!(text_of(|row| row.datetime(&moment, 0)), "2026-01-02 03:04:05");
        assert_eq!(text_of(|row| row.datetime(&moment, 6)), "2026-01-02 03:04:05.060700");
        assert_eq!(text_of(|row| row.datetime(&DateTime::default(), 2)), "0000-00-00 00:00:00.00");
        let span = Time { negative: true, days: 34, hour: 22, minute: 59, second: 59, microsecond: 999_999 };
        assert_eq!(text_of(|row| row.time(&span, 0)), "-838:59:59");
        assert_eq!(text_of(|row| row.time(&span, 3)), "-838:59:59.999");
        assert_eq!(text_of(|row| row.time(&Time { hour: 7, ..Time::default() }, 1)), "07:00:00.0");
        let absurd =
            Time { negative: true, days: u32::MAX, hour: 255, minute: 255, second: 255, microsecond: u32::MAX };
        text_of(|row| row.time(&absurd, 200));
        let absurd = DateTime {
            year: u16::MAX,
            month: 255,
            day: 255,
            hour: 255,
            minute: 255,
            second: 255,
            microsecond: u32::MAX,
        };
        text_of(|row| row.datetime(&absurd, 255));
    }

    #[test]
    fn binary_rows_come_back() {
        let kinds = [
            (ColumnType::Tiny, ColumnFlags::NONE),
            (ColumnType::Short, ColumnFlags::UNSIGNED),
            (ColumnType::Long, ColumnFlags::NONE),
            (ColumnType::LongLong, ColumnFlags::UNSIGNED),
            (ColumnType::Float, ColumnFlags::NONE),
            (ColumnType::Double, ColumnFlags::NONE),
            (ColumnType::VarString, ColumnFlags::NONE),
            (ColumnType::DateTime, ColumnFlags::NONE),
            (ColumnType::Time, ColumnFlags::NONE),
            (ColumnType::NewDecimal, ColumnFlags::NONE),
        ]
        .map(|(column_type, flags)| ColumnKind { column_type, flags });
        let moment = DateTime { hour: 1, ..DateTime::date(2026, 11, 21) };
        let span = Time { days: 3, ..Time::default() };
        let mut writer = PacketWriter::new();
        writer.packet(|to| to.push(0));
        let mut row = BinaryRow::new(&mut writer, kinds.len());
        row.int(ColumnType::Tiny, -5);
        row.int(ColumnType::Short, 65535);
        row.null();
        row.int(ColumnType::LongLong, -1);
        row.float(1.5);
        row.double(-2.5);
        row.bytes(b"text");
        row.datetime(&moment);
        row.time(&span);
        row.null();
        row.end();
        let payload = &writer.bytes()[5 + 4..];
        let expected = [
            Value::Int(-5),
            Value::UInt(65535),
            Value::Null,
            Value::UInt(u64::MAX),
            Value::Float(1.5),
            Value::Double(-2.5),
            Value::Bytes(b"text"),
            Value::DateTime(moment),
            Value::Time(span),
            Value::Null,
        ];
        let values: Vec<_> = Row::binary(payload, &kinds).values().map(|value| value.unwrap()).collect();
        assert_eq!(values, expected);
        for cut in 0..payload.len() {
            let values: Vec<_> = Row::binary(&payload[..cut], &kinds).values().collect();
            assert!(values.last().unwrap().is_err(), "{cut}");
        }
    }
}
