//! A row's values as bytes: of rows that are kept, in memory or in a file.
//!
//! ```text
//!   | kind | what there is to the value | kind | ...          numbers and times: as many bytes as the kind has
//!                                                             texts: collation, length, bytes
//! ```

use meseta_types::{Collation, Date, DateTime, Datum, Decimal, Time};

use super::member_places::MemberPlaces;

/// The kind of a member of an ENUM or SET: its number, and the value that its text is.
const MEMBER: u8 = 12;

/// Appends a row's values.
pub fn append_row(row: &[Datum<'_>], out: &mut Vec<u8>) {
    row.iter().for_each(|value| append(*value, out));
}

/// The values of a row, as it was appended. Members of ENUMs and SETs are some again in these places, and texts in others.
pub fn values<'v>(row: &'v [u8], members: &'v MemberPlaces<'v>) -> impl Iterator<Item = Datum<'v>> {
    let (mut rest, mut place) = (row, 0..);
    std::iter::from_fn(move || {
        let place = place.next()?;
        if rest.is_empty() {
            return None;
        }
        if let [MEMBER, behind @ ..] = rest {
            let (number, behind) = behind.split_first_chunk()?;
            if let Some(member) = members.member(place, u64::from_le_bytes(*number)) {
                let (_, behind) = first_of(behind)?;
                rest = behind;
                return Some(member);
            }
            rest = behind;
        }
        let (value, behind) =
            first_of(rest).expect("a row is read as it was written: it is in memory, or has a checksum");
        rest = behind;
        Some(value)
    })
}

/// Appends a value: a byte for its kind, and what there is to it.
fn append(value: Datum<'_>, out: &mut Vec<u8>) {
    let mut put = |kind: u8, parts: &[&[u8]]| {
        out.push(kind);
        parts.iter().for_each(|part| out.extend_from_slice(part));
    };
    let day = |date: Date| {
        let [year, more] = date.year.to_le_bytes();
        [year, more, date.month, date.day]
    };
    match value {
        Datum::Null => put(0, &[]),
        Datum::Signed(number) => put(1, &[&number.to_le_bytes()]),
        Datum::Unsigned(number) => put(2, &[&number.to_le_bytes()]),
        Datum::Float(number) => put(3, &[&number.to_le_bytes()]),
        Datum::Double(number) => put(4, &[&number.to_le_bytes()]),
        Datum::Decimal(number) => {
            let mut text = Vec::new();
            number.append_text(&mut text);
            put(5, &[&[text.len() as u8], &text]);
        }
        Datum::Text(text, collation) => {
            put(6, &[&collation.id().to_le_bytes(), &(text.len() as u32).to_le_bytes(), text]);
        }
        Datum::Date(date) => put(7, &[&day(date)]),
        Datum::Time(time, decimals) => put(8, &[&time.micros().to_le_bytes(), &[decimals]]),
        Datum::DateTime(time, decimals) => {
            let clock = [time.hour, time.minute, time.second];
            put(9, &[&day(time.date), &clock, &time.micros.to_le_bytes(), &[decimals]]);
        }
        Datum::Bits { bits, width } => put(10, &[&bits.to_le_bytes(), &[width]]),
        Datum::Json(document) => put(11, &[&(document.len() as u32).to_le_bytes(), document]),
        Datum::Member { number, members, .. } => {
            put(MEMBER, &[&number.to_le_bytes()]);
            let mut text = Vec::new();
            value.append_text(&mut text);
            append(Datum::Text(&text, members.collation()), out);
        }
    }
}

/// The first value, and what is behind it; `None` if there is none.
fn first_of(bytes: &[u8]) -> Option<(Datum<'_>, &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    let day = |[year, more, month, day]: [u8; 4]| Date { year: u16::from_le_bytes([year, more]), month, day };
    let long = |rest: &'_ [u8]| {
        let (len, _) = rest.split_first_chunk()?;
        Some(4 + u32::from_le_bytes(*len) as usize)
    };
    Some(match kind {
        0 => (Datum::Null, rest),
        1 => rest.split_first_chunk().map(|(number, rest)| (Datum::Signed(i64::from_le_bytes(*number)), rest))?,
        2 => rest.split_first_chunk().map(|(number, rest)| (Datum::Unsigned(u64::from_le_bytes(*number)), rest))?,
        3 => rest.split_first_chunk().map(|(number, rest)| (Datum::Float(f32::from_le_bytes(*number)), rest))?,
        4 => rest.split_first_chunk().map(|(number, rest)| (Datum::Double(f64::from_le_bytes(*number)), rest))?,
        5 => {
            let (&len, rest) = rest.split_first()?;
            let (text, rest) = rest.split_at_checked(len.into())?;
            (Datum::Decimal(Decimal::parse(text).value), rest)
        }
        6 => {
            let (id, rest) = rest.split_first_chunk()?;
            let (text, rest) = rest.split_at_checked(long(rest)?)?;
            (Datum::Text(&text[4..], Collation::from_id(u16::from_le_bytes(*id))?), rest)
        }
        7 => rest.split_first_chunk().map(|(date, rest)| (Datum::Date(day(*date)), rest))?,
        8 => {
            let (micros, rest) = rest.split_first_chunk()?;
            let (&decimals, rest) = rest.split_first()?;
            (Datum::Time(Time::from_micros(i64::from_le_bytes(*micros)).0, decimals), rest)
        }
        9 => {
            let (date, rest) = rest.split_first_chunk()?;
            let (&[hour, minute, second], rest) = rest.split_first_chunk()?;
            let (micros, rest) = rest.split_first_chunk()?;
            let (&decimals, rest) = rest.split_first()?;
            let time = DateTime { date: day(*date), hour, minute, second, micros: u32::from_le_bytes(*micros) };
            (Datum::DateTime(time, decimals), rest)
        }
        10 => {
            let (bits, rest) = rest.split_first_chunk()?;
            let (&width, rest) = rest.split_first()?;
            (Datum::Bits { bits: u64::from_le_bytes(*bits), width }, rest)
        }
        11 => {
            let (document, rest) = rest.split_at_checked(long(rest)?)?;
            (Datum::Json(&document[4..]), rest)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were_written() {
        let date = Date { year: 2024, month: 2, day: 29 };
        let time = DateTime { date, hour: 23, minute: 59, second: 58, micros: 123_456 };
        let row = [
            Datum::Null,
            Datum::Signed(-7),
            Datum::Unsigned(u64::MAX),
            Datum::Float(1.5),
            Datum::Double(-2.25),
            Datum::Decimal(Decimal::parse_exact("-12345678901234567890.5000").unwrap()),
            Datum::Text("größer".as_bytes(), Collation::Utf8mb4_0900AiCi),
            Datum::Text(b"", Collation::Binary),
            Datum::Date(date),
            Datum::Time(Time::from_micros(-3_600_000_001).0, 6),
            Datum::DateTime(time, 3),
            Datum::Bits { bits: 5, width: 3 },
            Datum::Json(b"\x05\x01\x00"),
        ];
        let mut bytes = Vec::new();
        append_row(&row, &mut bytes);
        let members = MemberPlaces::default();
        let read: Vec<_> = values(&bytes, &members).collect();
        assert_eq!(format!("{read:?}"), format!("{row:?}"));
    }
}
