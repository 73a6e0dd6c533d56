//! Columns: a type, what it is if nothing is given, and what MySQL prints of it.

use std::sync::Arc;

use meseta_engine::row::{Column as EngineColumn, ColumnType, IntegerWidth, Value};
use meseta_engine::table::{CollationId, ColumnDefinition, OwnedValue};
use meseta_types::{
    Charset, Collation, DataType, Datum, IntegerSize, Members, Number, Storage, Stored, TextSize, Zone,
};

use super::attributes::{Damaged, Field, Writer, fields};

/// The value of a column for which none is given.
#[derive(Clone, PartialEq, Debug)]
pub enum ColumnDefault {
    /// None: a value has to be given.
    None,
    /// NULL.
    Null,
    /// A value, as it is stored.
    Literal(OwnedValue),
    /// CURRENT_TIMESTAMP, with as many decimals as the column.
    Now,
    /// An expression: its text, as SHOW CREATE TABLE prints it. It is bound where rows are made.
    Expression(String),
}

/// A column whose value is computed from others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generated {
    /// The expression's text, as SHOW CREATE TABLE prints it.
    pub expression: String,
    /// STORED rather than VIRTUAL. (The engine stores both.)
    pub stored: bool,
}

/// A column.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Its value if none is given.
    pub default: ColumnDefault,
    /// ON UPDATE CURRENT_TIMESTAMP.
    pub on_update_now: bool,
    /// Whether it counts by itself.
    pub auto_increment: bool,
    /// How it is computed, if it is.
    pub generated: Option<Generated>,
    /// COMMENT.
    pub comment: String,
    /// INVISIBLE.
    pub invisible: bool,
    /// Whether its character set or collation was named: SHOW CREATE TABLE names it then.
    pub explicit_collation: bool,
    /// `FIXED` or `DYNAMIC`, if COLUMN_FORMAT was given. It means nothing.
    pub column_format: String,
    /// `DISK` or `MEMORY`, if STORAGE was given. It means nothing.
    pub storage_medium: String,
    /// If it was added to a table that had rows: what it has in them.
    pub added_with: Option<OwnedValue>,
}

mod tag {
    pub const KIND: u8 = 1;
    pub const PARAMETERS: u8 = 2;
    pub const MEMBER: u8 = 3;
    pub const COLLATION: u8 = 4;
    pub const DEFAULT_KIND: u8 = 5;
    pub const DEFAULT_NUMBER: u8 = 6;
    pub const DEFAULT_BYTES: u8 = 7;
    pub const ON_UPDATE: u8 = 8;
    pub const GENERATED: u8 = 9;
    pub const STORED: u8 = 10;
    pub const COMMENT: u8 = 11;
    pub const INVISIBLE: u8 = 12;
    pub const EXPLICIT_COLLATION: u8 = 13;
    pub const COLUMN_FORMAT: u8 = 14;
    pub const STORAGE_MEDIUM: u8 = 15;
}

impl Column {
    /// A column without anything special: NULL if nothing is given.
    pub fn new(name: &str, data_type: DataType) -> Self {
        Self {
            name: name.to_owned(),
            data_type,
            nullable: true,
            default: ColumnDefault::Null,
            on_update_now: false,
            auto_increment: false,
            generated: None,
            comment: String::new(),
            invisible: false,
            explicit_collation: false,
            column_format: String::new(),
            storage_medium: String::new(),
            added_with: None,
        }
    }

    /// How the engine keeps it.
    pub fn definition(&self) -> ColumnDefinition {
        let mut definition = ColumnDefinition::new(&self.name, engine_column(&self.data_type, self.nullable));
        definition.collation = engine_collation(&self.data_type);
        definition.added_with = self.added_with.clone();
        let mut out = Writer::default();
        write_type(&self.data_type, &mut out);
        match &self.default {
            ColumnDefault::None => {}
            ColumnDefault::Null => {
                out.number(tag::DEFAULT_KIND, 1);
            }
            ColumnDefault::Now => {
                out.number(tag::DEFAULT_KIND, 2);
            }
            ColumnDefault::Expression(text) => {
                out.number(tag::DEFAULT_KIND, 3).bytes(tag::DEFAULT_BYTES, text.as_bytes());
            }
            ColumnDefault::Literal(value) => write_value(value, &mut out),
        }
        out.some_number(tag::ON_UPDATE, self.on_update_now.into());
        if let Some(generated) = &self.generated {
            out.bytes(tag::GENERATED, generated.expression.as_bytes());
            out.some_number(tag::STORED, generated.stored.into());
        }
        out.some_bytes(tag::COMMENT, self.comment.as_bytes())
            .some_number(tag::INVISIBLE, self.invisible.into())
            .some_number(tag::EXPLICIT_COLLATION, self.explicit_collation.into())
            .some_bytes(tag::COLUMN_FORMAT, self.column_format.as_bytes())
            .some_bytes(tag::STORAGE_MEDIUM, self.storage_medium.as_bytes());
        definition.attributes = out.finish();
        definition
    }

    /// From the engine's definition. One without attributes is a table of the engine's own.
    pub fn read(definition: &ColumnDefinition) -> Result<Self, Damaged> {
        let mut column = Column::new(&definition.name, DataType::Null);
        column.nullable = definition.content.nullable;
        column.added_with = definition.added_with.clone();
        column.default = ColumnDefault::None;
        if definition.attributes.is_empty() {
            column.data_type = plain_type(definition.content.column_type);
            return Ok(column);
        }
        let mut read = ReadType::default();
        let (mut default, mut number, mut bytes) = (0, 0, Vec::new());
        let mut stored = false;
        for field in fields(&definition.attributes)? {
            match field.tag {
                tag::KIND | tag::PARAMETERS | tag::MEMBER | tag::COLLATION => read.field(field)?,
                tag::DEFAULT_KIND => default = field.number()?,
                tag::DEFAULT_NUMBER => number = field.number()?,
                tag::DEFAULT_BYTES => bytes = field.bytes.to_vec(),
                tag::ON_UPDATE => column.on_update_now = field.number()? != 0,
                tag::GENERATED => column.generated = Some(Generated { expression: field.text()?, stored: false }),
                tag::STORED => stored = field.number()? != 0,
                tag::COMMENT => column.comment = field.text()?,
                tag::INVISIBLE => column.invisible = field.number()? != 0,
                tag::EXPLICIT_COLLATION => column.explicit_collation = field.number()? != 0,
                tag::COLUMN_FORMAT => column.column_format = field.text()?,
                tag::STORAGE_MEDIUM => column.storage_medium = field.text()?,
                _ => {}
            }
        }
        if let Some(generated) = &mut column.generated {
            generated.stored = stored;
        }
        column.data_type = read.finish()?;
        column.default = read_default(default, number, bytes)?;
        if engine_column(&column.data_type, column.nullable) != definition.content {
            return Err(Damaged("a column's type is not that of its values"));
        }
        if let ColumnDefault::Literal(value) = &column.default
            && definition.content.check(value.as_value()).is_err()
        {
            return Err(Damaged("a column's default is of another type"));
        }
        Ok(column)
    }

    /// The value that is stored if none is given, where it is a constant.
    pub fn constant_default(&self) -> Option<Value<'_>> {
        match &self.default {
            ColumnDefault::Null => Some(Value::Null),
            ColumnDefault::Literal(value) => Some(value.as_value()),
            _ => None,
        }
    }
}

fn write_value(value: &OwnedValue, out: &mut Writer) {
    match value {
        OwnedValue::Null => out.number(tag::DEFAULT_KIND, 1),
        OwnedValue::Signed(number) => {
            out.number(tag::DEFAULT_KIND, 4).number(tag::DEFAULT_NUMBER, (number << 1 ^ number >> 63) as u64)
        }
        OwnedValue::Unsigned(number) => out.number(tag::DEFAULT_KIND, 5).number(tag::DEFAULT_NUMBER, *number),
        OwnedValue::Float(number) => {
            out.number(tag::DEFAULT_KIND, 6).number(tag::DEFAULT_NUMBER, number.to_bits().into())
        }
        OwnedValue::Double(number) => out.number(tag::DEFAULT_KIND, 7).number(tag::DEFAULT_NUMBER, number.to_bits()),
        OwnedValue::Bytes(bytes) => out.number(tag::DEFAULT_KIND, 8).bytes(tag::DEFAULT_BYTES, bytes),
    };
}

fn read_default(kind: u64, number: u64, bytes: Vec<u8>) -> Result<ColumnDefault, Damaged> {
    let literal = match kind {
        0 => return Ok(ColumnDefault::None),
        1 => return Ok(ColumnDefault::Null),
        2 => return Ok(ColumnDefault::Now),
        3 => {
            let text = String::from_utf8(bytes).map_err(|_| Damaged("an expression is not UTF-8"))?;
            return Ok(ColumnDefault::Expression(text));
        }
        4 => OwnedValue::Signed((number >> 1) as i64 ^ -((number & 1) as i64)),
        5 => OwnedValue::Unsigned(number),
        6 => OwnedValue::Float(f32::from_bits(number as u32)),
        7 => OwnedValue::Double(f64::from_bits(number)),
        8 => OwnedValue::Bytes(bytes),
        _ => return Err(Damaged("no such kind of default")),
    };
    Ok(ColumnDefault::Literal(literal))
}

// ---- types ----------------------------------------------------------------------------------------------------------

fn write_type(data_type: &DataType, out: &mut Writer) {
    let number = |number: &Number| u64::from(number.unsigned) | u64::from(number.zerofill) << 1;
    let digits = |digits: &Option<(u8, u8)>| digits.map_or([0, 0, 0], |(m, d)| [1, m.into(), d.into()]);
    let (kind, parameters): (u64, Vec<u64>) = match data_type {
        DataType::Null => (0, vec![]),
        DataType::Integer { size, number: n, display_width } => {
            (1, vec![size.bytes().into(), number(n), display_width.map_or(0, |width| u64::from(width) + 1)])
        }
        DataType::Decimal { precision, scale, number: n } => (2, vec![(*precision).into(), (*scale).into(), number(n)]),
        DataType::Float { digits: d, number: n } => (3, [&[number(n)][..], &digits(d)].concat()),
        DataType::Double { digits: d, number: n } => (4, [&[number(n)][..], &digits(d)].concat()),
        DataType::Bit { width } => (5, vec![(*width).into()]),
        DataType::Year => (6, vec![]),
        DataType::Date => (7, vec![]),
        DataType::Time { decimals } => (8, vec![(*decimals).into()]),
        DataType::DateTime { decimals } => (9, vec![(*decimals).into()]),
        DataType::Timestamp { decimals } => (10, vec![(*decimals).into()]),
        DataType::Char { length, .. } => (11, vec![(*length).into()]),
        DataType::Varchar { length, .. } => (12, vec![(*length).into()]),
        DataType::Text { size, .. } => (13, vec![*size as u64]),
        DataType::Enum(_) => (14, vec![]),
        DataType::Set(_) => (15, vec![]),
        DataType::Json => (16, vec![]),
    };
    out.number(tag::KIND, kind);
    if !parameters.is_empty() {
        out.numbers(tag::PARAMETERS, parameters);
    }
    if let Some(collation) = data_type.collation() {
        out.number(tag::COLLATION, collation.id().into());
    }
    if let DataType::Enum(members) | DataType::Set(members) = data_type {
        for name in members.names() {
            out.bytes(tag::MEMBER, name);
        }
    }
}

#[derive(Default)]
struct ReadType<'a> {
    kind: u64,
    parameters: Vec<u64>,
    members: Vec<&'a [u8]>,
    collation: Option<Collation>,
}

impl<'a> ReadType<'a> {
    fn field(&mut self, field: Field<'a>) -> Result<(), Damaged> {
        match field.tag {
            tag::KIND => self.kind = field.number()?,
            tag::PARAMETERS => self.parameters = field.numbers()?,
            tag::MEMBER => self.members.push(field.bytes),
            _ => self.collation = Some(Collation::from_id(field.small()?).ok_or(Damaged("no such collation"))?),
        }
        Ok(())
    }

    fn parameter(&self, at: usize, most: u64) -> Result<u64, Damaged> {
        let number = *self.parameters.get(at).ok_or(Damaged("a type lacks a parameter"))?;
        if number <= most { Ok(number) } else { Err(Damaged("a type's parameter is out of range")) }
    }

    fn number(&self, at: usize) -> Result<Number, Damaged> {
        let bits = self.parameter(at, 3)?;
        Ok(Number { unsigned: bits & 1 != 0, zerofill: bits & 2 != 0 })
    }

    fn digits(&self) -> Result<Option<(u8, u8)>, Damaged> {
        let (m, d) = (self.parameter(2, 255)? as u8, self.parameter(3, 30)? as u8);
        Ok((self.parameter(1, 1)? == 1).then_some((m, d)))
    }

    fn finish(self) -> Result<DataType, Damaged> {
        let collation = || self.collation.ok_or(Damaged("a text type has no collation"));
        let decimals = || Ok::<u8, Damaged>(self.parameter(0, 6)? as u8);
        let members = |most: usize| {
            let len = self.members.len();
            if len == 0 || len > most {
                return Err(Damaged("so many members there cannot be"));
            }
            Ok(Arc::new(Members::new(self.members.iter().copied(), collation()?)))
        };
        Ok(match self.kind {
            1 => DataType::Integer {
                size: match self.parameter(0, 8)? {
                    1 => IntegerSize::Tiny,
                    2 => IntegerSize::Small,
                    3 => IntegerSize::Medium,
                    4 => IntegerSize::Int,
                    8 => IntegerSize::Big,
                    _ => return Err(Damaged("no such size of integers")),
                },
                number: self.number(1)?,
                display_width: self.parameter(2, 256)?.checked_sub(1).map(|width| width as u8),
            },
            2 => {
                let (precision, scale) = (self.parameter(0, 65)? as u8, self.parameter(1, 30)? as u8);
                if precision == 0 || scale > precision {
                    return Err(Damaged("no such decimal"));
                }
                DataType::Decimal { precision, scale, number: self.number(2)? }
            }
            3 => DataType::Float { digits: self.digits()?, number: self.number(0)? },
            4 => DataType::Double { digits: self.digits()?, number: self.number(0)? },
            5 => match self.parameter(0, 64)? as u8 {
                0 => return Err(Damaged("no bits")),
                width => DataType::Bit { width },
            },
            6 => DataType::Year,
            7 => DataType::Date,
            8 => DataType::Time { decimals: decimals()? },
            9 => DataType::DateTime { decimals: decimals()? },
            10 => DataType::Timestamp { decimals: decimals()? },
            11 => DataType::Char { length: self.parameter(0, 255)? as u32, collation: collation()? },
            12 => DataType::Varchar { length: self.parameter(0, 65_535)? as u32, collation: collation()? },
            13 => DataType::Text {
                size: [TextSize::Tiny, TextSize::Normal, TextSize::Medium, TextSize::Long]
                    [self.parameter(0, 3)? as usize],
                collation: collation()?,
            },
            14 => DataType::Enum(members(65_535)?),
            15 => DataType::Set(members(64)?),
            16 => DataType::Json,
            _ => return Err(Damaged("no such type")),
        })
    }
}

/// What the engine keeps of a type.
pub fn engine_column(data_type: &DataType, nullable: bool) -> EngineColumn {
    let width = |bytes: u8| IntegerWidth::from_bytes(bytes.into()).unwrap_or(IntegerWidth::Eight);
    let column_type = match data_type.storage() {
        Storage::Signed(bytes) => ColumnType::Signed(width(bytes)),
        Storage::Unsigned(bytes) => ColumnType::Unsigned(width(bytes)),
        Storage::Float => ColumnType::Float,
        Storage::Double => ColumnType::Double,
        Storage::Fixed(len) => ColumnType::Fixed { len },
        Storage::Variable(max_len) => ColumnType::Variable { max_len },
    };
    EngineColumn { column_type, nullable }
}

/// How the engine compares values of a type: none for bytes, and for what is no text to it.
fn engine_collation(data_type: &DataType) -> Option<CollationId> {
    match data_type {
        DataType::Char { collation, .. } | DataType::Varchar { collation, .. } | DataType::Text { collation, .. } => {
            (collation.charset() != Charset::Binary).then_some(CollationId(collation.id()))
        }
        _ => None,
    }
}

/// The type of a column that nobody described: of the engine's own tables.
fn plain_type(column_type: ColumnType) -> DataType {
    let size = |width: IntegerWidth| match width {
        IntegerWidth::One => IntegerSize::Tiny,
        IntegerWidth::Two => IntegerSize::Small,
        IntegerWidth::Three => IntegerSize::Medium,
        IntegerWidth::Four => IntegerSize::Int,
        IntegerWidth::Eight => IntegerSize::Big,
    };
    match column_type {
        ColumnType::Signed(width) => DataType::integer(size(width), false),
        ColumnType::Unsigned(width) => DataType::integer(size(width), true),
        ColumnType::Float => DataType::Float { digits: None, number: Number::default() },
        ColumnType::Double => DataType::DOUBLE,
        ColumnType::Fixed { len } => DataType::Char { length: len.into(), collation: Collation::Binary },
        ColumnType::Variable { max_len } => {
            DataType::Text { size: TextSize::for_bytes(max_len.into()), collation: Collation::Binary }
        }
    }
}

/// A value of the engine's as one to compute with.
pub fn stored_to_datum<'a>(data_type: &'a DataType, value: Value<'a>, zone: &Zone) -> Datum<'a> {
    let stored = match value {
        Value::Null => Stored::Null,
        Value::Signed(number) => Stored::Signed(number),
        Value::Unsigned(number) => Stored::Unsigned(number),
        Value::Float(number) => Stored::Float(number),
        Value::Double(number) => Stored::Double(number),
        Value::Bytes(bytes) => Stored::Bytes(bytes),
    };
    data_type.load(stored, zone)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn columns() -> Vec<Column> {
        let text = Collation::Utf8mb4_0900AiCi;
        let members = || Arc::new(Members::new([b"a".as_slice(), b"it's"], text));
        let zerofill = Number { unsigned: true, zerofill: true };
        let types = [
            DataType::Integer { size: IntegerSize::Medium, number: zerofill, display_width: Some(7) },
            DataType::decimal(65, 30),
            DataType::Float { digits: Some((7, 3)), number: Number::default() },
            DataType::DOUBLE,
            DataType::Bit { width: 64 },
            DataType::Year,
            DataType::Date,
            DataType::Time { decimals: 6 },
            DataType::DateTime { decimals: 0 },
            DataType::Timestamp { decimals: 3 },
            DataType::Char { length: 255, collation: Collation::Binary },
            DataType::varchar(16383, text),
            DataType::Text { size: TextSize::Long, collation: Collation::Latin1Bin },
            DataType::Enum(members()),
            DataType::Set(members()),
            DataType::Json,
        ];
        let mut columns: Vec<Column> = types.into_iter().map(|of| Column::new("c", of)).collect();
        columns[0].default = ColumnDefault::Literal(OwnedValue::Unsigned(5));
        columns[3].default = ColumnDefault::Literal(OwnedValue::Double(-1.5));
        columns[8].default = ColumnDefault::Now;
        columns[8].on_update_now = true;
        columns[11].default = ColumnDefault::Literal(OwnedValue::Bytes(b"x".to_vec()));
        columns[11].comment = "it's".into();
        columns[12].default = ColumnDefault::Expression("uuid()".into());
        columns[12].nullable = false;
        columns[4].generated = Some(Generated { expression: "(`a` + 1)".into(), stored: true });
        columns
    }

    #[test]
    fn a_column_is_read_as_it_was_written() {
        for column in columns() {
            assert_eq!(Column::read(&column.definition()), Ok(column.clone()), "{column:?}");
        }
    }

    proptest! {
        #[test]
        fn damaged_attributes_are_an_error_or_a_column(which in 0usize..16, at: usize, byte: u8, cut: bool) {
            let mut definition = columns()[which].definition();
            let len = definition.attributes.len();
            if cut {
                definition.attributes.truncate(at % len);
            } else {
                definition.attributes[at % len] = byte;
            }
            if let Ok(column) = Column::read(&definition) {
                prop_assert_eq!(Column::read(&column.definition()), Ok(column));
            }
        }
    }
}
