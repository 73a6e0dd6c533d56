//! Columns: their types, and the packets that describe them before a result's rows.
//!
//! ```text
//! column count (a length-encoded integer)   [0 or 1: whether definitions follow, if the client can do without]
//! one definition packet a column
//! an EOF packet, unless DEPRECATE_EOF
//! ```
//!
//! Source: "Text Resultset", "Column Definition" of the MySQL source documentation.

use crate::error::{ProtocolError, Result};
use crate::flags::{Capabilities, ColumnFlags};
use crate::send::PacketWriter;
use crate::wire::{Take, put_integer, put_string};

/// Makes the enum and its reading from a byte.
macro_rules! column_types {
    ($($(#[$about:meta])* $name:ident = $byte:literal,)*) => {
        /// The type of a column or of a parameter.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum ColumnType {
            $($(#[$about])* $name = $byte,)*
        }

        impl ColumnType {
            /// The type of that byte.
            pub const fn from_byte(byte: u8) -> Option<ColumnType> {
                match byte {
                    $($byte => Some(ColumnType::$name),)*
                    _ => None,
                }
            }
        }
    };
}

column_types! {
    /// DECIMAL before 5.0; not sent any more.
    OldDecimal = 0,
    /// TINYINT.
    Tiny = 1,
    /// SMALLINT.
    Short = 2,
    /// INT.
    Long = 3,
    /// FLOAT.
    Float = 4,
    /// DOUBLE.
    Double = 5,
    /// NULL itself.
    Null = 6,
    /// TIMESTAMP.
    Timestamp = 7,
    /// BIGINT.
    LongLong = 8,
    /// MEDIUMINT.
    Int24 = 9,
    /// DATE.
    Date = 10,
    /// TIME.
    Time = 11,
    /// DATETIME.
    DateTime = 12,
    /// YEAR.
    Year = 13,
    /// DATE as it is stored; not on the wire.
    NewDate = 14,
    /// VARCHAR as it is stored; clients may send it as a parameter's type.
    VarChar = 15,
    /// BIT.
    Bit = 16,
    /// TIMESTAMP as it is stored; not on the wire.
    Timestamp2 = 17,
    /// DATETIME as it is stored; not on the wire.
    DateTime2 = 18,
    /// TIME as it is stored; not on the wire.
    Time2 = 19,
    /// For replication only.
    TypedArray = 20,
    /// VECTOR (9.0).
    Vector = 242,
    /// Not valid.
    Invalid = 243,
    /// Reserved for a BOOL.
    Bool = 244,
    /// JSON.
    Json = 245,
    /// DECIMAL.
    NewDecimal = 246,
    /// ENUM as it is stored; sent as a string with the flag.
    Enum = 247,
    /// SET as it is stored; sent as a string with the flag.
    Set = 248,
    /// TINYBLOB, TINYTEXT.
    TinyBlob = 249,
    /// MEDIUMBLOB, MEDIUMTEXT.
    MediumBlob = 250,
    /// LONGBLOB, LONGTEXT.
    LongBlob = 251,
    /// BLOB, TEXT.
    Blob = 252,
    /// VARCHAR, VARBINARY.
    VarString = 253,
    /// CHAR, BINARY, ENUM, SET.
    String = 254,
    /// Spatial types.
    Geometry = 255,
}

/// How a column is described to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDefinition<'a> {
    /// The database.
    pub schema: &'a [u8],
    /// The table, by the alias it has in the statement.
    pub table: &'a [u8],
    /// The table by its own name; empty for an expression.
    pub original_table: &'a [u8],
    /// The column, by the alias it has in the statement.
    pub name: &'a [u8],
    /// The column by its own name; empty for an expression.
    pub original_name: &'a [u8],
    /// The collation that its text is sent in; `BINARY` (63) for what is not text.
    pub collation: u16,
    /// How wide it may be: characters times the bytes that one may have, or digits and signs.
    pub length: u32,
    /// Its type.
    pub column_type: ColumnType,
    /// What it is besides.
    pub flags: ColumnFlags,
    /// Digits after the point: 0 for integers and text, 31 for floating point without a fixed number.
    pub decimals: u8,
}

impl Default for ColumnDefinition<'_> {
    /// A nameless column of binary text.
    fn default() -> Self {
        ColumnDefinition {
            schema: b"",
            table: b"",
            original_table: b"",
            name: b"",
            original_name: b"",
            collation: crate::collation::BINARY,
            length: 0,
            column_type: ColumnType::VarString,
            flags: ColumnFlags::NONE,
            decimals: 0,
        }
    }
}

impl<'a> ColumnDefinition<'a> {
    /// Appends the payload of its packet. A plan that runs often can keep it.
    pub fn encode(&self, to: &mut Vec<u8>) {
        to.reserve(
            30 + self.schema.len()
                + self.table.len()
                + self.original_table.len()
                + self.name.len()
                + self.original_name.len(),
        );
        to.extend_from_slice(b"\x03def");
        put_string(to, self.schema);
        put_string(to, self.table);
        put_string(to, self.original_table);
        put_string(to, self.name);
        put_string(to, self.original_name);
        let [collation_low, collation_high] = self.collation.to_le_bytes();
        let [length_0, length_1, length_2, length_3] = self.length.to_le_bytes();
        let [flags_low, flags_high] = self.flags.0.to_le_bytes();
        to.extend_from_slice(&[
            0x0C,
            collation_low,
            collation_high,
            length_0,
            length_1,
            length_2,
            length_3,
            self.column_type as u8,
            flags_low,
            flags_high,
            self.decimals,
            0,
            0,
        ]);
    }

    /// Appends its packet.
    #[inline]
    pub fn write(&self, writer: &mut PacketWriter) {
        writer.packet(|to| self.encode(to));
    }

    /// Appends its packet as an answer to COM_FIELD_LIST: with the column's default, as text.
    pub fn write_with_default(&self, writer: &mut PacketWriter, default: Option<&[u8]>) {
        writer.packet(|to| {
            self.encode(to);
            match default {
                Some(text) => put_string(to, text),
                None => to.push(0xFB),
            }
        });
    }

    /// Reads the payload of its packet.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(payload: &'a [u8]) -> Result<ColumnDefinition<'a>> {
        let mut take = Take::new(payload);
        take.string()?;
        let schema = take.string()?;
        let table = take.string()?;
        let original_table = take.string()?;
        let name = take.string()?;
        let original_name = take.string()?;
        let fixed = take.string()?;
        let mut take = Take::new(fixed);
        Ok(ColumnDefinition {
            schema,
            table,
            original_table,
            name,
            original_name,
            collation: take.u16()?,
            length: take.u32()?,
            column_type: ColumnType::from_byte(take.u8()?).ok_or(ProtocolError::Malformed("unknown type of column"))?,
            flags: ColumnFlags(take.u16()?),
            decimals: take.u8()?,
        })
    }
}

/// Appends the packet that a result begins with. `with_definitions` is of meaning only if the client can do without.
#[inline]
pub fn write_column_count(writer: &mut PacketWriter, capabilities: Capabilities, count: usize, with_definitions: bool) {
    writer.packet(|to| {
        put_integer(to, count as u64);
        if capabilities.has(Capabilities::OPTIONAL_RESULTSET_METADATA) {
            to.push(u8::from(with_definitions));
        }
    });
}

/// Reads the packet that a result begins with: how many columns, and whether their definitions follow.
///
/// # Errors
/// [`ProtocolError::Malformed`].
pub fn parse_column_count(payload: &[u8], capabilities: Capabilities) -> Result<(usize, bool)> {
    let mut take = Take::new(payload);
    let count = take.integer()?;
    let with_definitions =
        if capabilities.has(Capabilities::OPTIONAL_RESULTSET_METADATA) { take.u8()? != 0 } else { true };
    // MySQL's own limit is 4096 columns; a count that 16 bits cannot say is no count.
    if count > 0xFFFF || !take.is_empty() {
        return Err(ProtocolError::Malformed("number of columns"));
    }
    Ok((count as usize, with_definitions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_keep_their_bytes() {
        let known = (0..=255).filter_map(ColumnType::from_byte).collect::<Vec<_>>();
        assert_eq!(known.len(), 35);
        assert!(known.iter().all(|&t| ColumnType::from_byte(t as u8) == Some(t)));
    }

    #[test]
    fn definitions_come_back() {
        let column = ColumnDefinition {
            schema: b"shop",
            table: b"t",
            original_table: b"items",
            name: b"n",
            original_name: b"name",
            collation: 255,
            length: 480,
            column_type: ColumnType::VarString,
            flags: ColumnFlags::NOT_NULL | ColumnFlags::PART_KEY,
            decimals: 0,
        };
        let mut payload = Vec::new();
        column.encode(&mut payload);
        assert_eq!(ColumnDefinition::parse(&payload), Ok(column));
        for cut in 0..payload.len() - 2 {
            let _ = ColumnDefinition::parse(&payload[..cut]);
        }
        for capabilities in [Capabilities::NONE, Capabilities::OPTIONAL_RESULTSET_METADATA] {
            let mut writer = PacketWriter::new();
            write_column_count(&mut writer, capabilities, 300, true);
            assert_eq!(parse_column_count(&writer.bytes()[4..], capabilities), Ok((300, true)));
        }
    }
}
