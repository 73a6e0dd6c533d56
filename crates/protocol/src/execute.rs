//! COM_STMT_EXECUTE and the parameters in it; the same parameters, as attributes, in COM_QUERY.
//!
//! ```text
//! 17 statement4 cursor1 iterations4
//!    [count]                      of parameters and attributes: with query attributes, if the statement has parameters or
//!                                 the client says that it is here (PARAMETER_COUNT_AVAILABLE)
//!    bitmap of NULLs              (count + 7) / 8 bytes
//!    new types? 1
//!    types: type1 unsigned1 [name]    if so; kept by the server for the executions that follow
//!    values                       of those that are neither NULL nor were sent as long data
//! ```
//!
//! The packet is read in two steps, since the second needs what the first names: [`Execute::parse`] gives the
//! statement's number, [`Execute::parameters`] the values, with the types kept from an earlier execution and the long
//! data. Nothing is allocated but, once, the kept types.
//!
//! Source: "COM_STMT_EXECUTE", "COM_STMT_SEND_LONG_DATA", "COM_QUERY" of the MySQL source documentation.

use smallvec::SmallVec;

use crate::column::ColumnType;
use crate::error::{ProtocolError, Result};
use crate::flags::{Capabilities, CursorFlags};
use crate::value::Value;
use crate::wire::{Take, put_integer, put_string};

/// The type that a client gave to a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParameterType {
    /// Its type.
    pub column_type: ColumnType,
    /// Whether it is unsigned.
    pub unsigned: bool,
}

/// The types of a statement's parameters, kept between its executions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParameterTypes {
    /// As many as most statements have are here, where the session looks anyway.
    types: SmallVec<[ParameterType; 8]>,
}

/// Parameters that came in pieces, by COM_STMT_SEND_LONG_DATA, for the next execution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LongData {
    pieces: Vec<(u16, Vec<u8>)>,
}

impl LongData {
    /// Appends a piece to a parameter. Returns whether the parameter stays within `max_allowed_packet`; a piece that
    /// would exceed it is not appended, and the statement's execution is to fail.
    pub fn append(&mut self, parameter: u16, piece: &[u8], max_allowed_packet: usize) -> bool {
        let at = match self.pieces.iter().position(|(number, _)| *number == parameter) {
            Some(at) => at,
            None => {
                self.pieces.push((parameter, Vec::new()));
                self.pieces.len() - 1
            }
        };
        let bytes = &mut self.pieces[at].1;
        let fits = bytes.len().saturating_add(piece.len()) <= max_allowed_packet;
        if fits {
            bytes.extend_from_slice(piece);
        }
        fits
    }

    /// What came for that parameter, if anything did: an empty piece counts.
    #[inline]
    pub fn get(&self, parameter: usize) -> Option<&[u8]> {
        self.pieces.iter().find(|(number, _)| usize::from(*number) == parameter).map(|(_, bytes)| &bytes[..])
    }

    /// Whether nothing came.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Forgets it all: after an execution, and at COM_STMT_RESET.
    pub fn clear(&mut self) {
        self.pieces.clear();
    }
}

/// A COM_STMT_EXECUTE whose parameters have not been looked at.
#[derive(Debug, Clone, Copy)]
pub struct Execute<'a> {
    /// The statement's number.
    pub statement_id: u32,
    /// How it wants its rows.
    pub cursor: CursorFlags,
    rest: Take<'a>,
}

/// A parameter or a query attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameter<'a> {
    /// Its name: empty for a `?`, not for a query attribute.
    pub name: &'a [u8],
    /// The type that the client sent it as.
    pub parameter_type: ParameterType,
    /// Its value.
    pub value: Value<'a>,
}

/// The parameters of an execution, in order; those beyond the statement's own are query attributes.
#[derive(Debug, Clone)]
pub struct Parameters<'a> {
    count: usize,
    next: usize,
    nulls: &'a [u8],
    /// Types with names, from this packet; or none, and then `kept` holds.
    sent: Option<Take<'a>>,
    kept: &'a [ParameterType],
    long: Option<&'a LongData>,
    named: bool,
    values: Take<'a>,
}

impl<'a> Execute<'a> {
    /// Reads what follows the command byte.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    #[inline]
    pub fn parse(after_command: &'a [u8]) -> Result<Execute<'a>> {
        let mut rest = Take::new(after_command);
        let statement_id = rest.u32()?;
        let cursor = CursorFlags(rest.u8()?);
        // The number of iterations is 1 always, and MySQL does not look.
        rest.u32()?;
        Ok(Execute { statement_id, cursor, rest })
    }

    /// The values. `count` is the number of the statement's `?`; `types` is what its earlier executions left, and is
    /// brought up to date; `long` is what came in pieces.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`]: too short, an unknown type, or types missing at a first execution. Values are
    /// looked at as they are iterated over.
    #[inline]
    pub fn parameters(
        self,
        capabilities: Capabilities,
        count: usize,
        types: &'a mut ParameterTypes,
        long: Option<&'a LongData>,
    ) -> Result<Parameters<'a>> {
        let mut rest = self.rest;
        let mut total = count;
        let attributes = capabilities.has(Capabilities::QUERY_ATTRIBUTES);
        if attributes && (count > 0 || self.cursor.has(CursorFlags::PARAMETER_COUNT_AVAILABLE)) {
            total = usize::try_from(rest.integer()?).map_err(|_| ProtocolError::Malformed("number of parameters"))?;
            if total < count {
                return Err(ProtocolError::Malformed("too few parameters"));
            }
        }
        Parameters::parse(&mut rest, total, count, attributes, Some(types), long)
    }
}

impl<'a> Parameters<'a> {
    /// No parameters.
    pub fn none() -> Parameters<'a> {
        let empty = Take::new(&[]);
        Parameters { count: 0, next: 0, nulls: &[], sent: None, kept: &[], long: None, named: false, values: empty }
    }

    /// Reads bitmap and types, and leaves `rest` where the values end if that is known without `types`.
    #[inline]
    fn parse(
        rest: &mut Take<'a>,
        total: usize,
        keep: usize,
        named: bool,
        types: Option<&'a mut ParameterTypes>,
        long: Option<&'a LongData>,
    ) -> Result<Parameters<'a>> {
        if total == 0 {
            return Ok(Parameters::none());
        }
        let nulls = rest.bytes(total.div_ceil(8))?;
        let sent = if rest.u8()? != 0 {
            let before = *rest;
            if let Some(types) = types {
                types.types.clear();
                for number in 0..total {
                    let parameter_type = take_type(rest, named)?.0;
                    if number < keep {
                        types.types.push(parameter_type);
                    }
                }
            } else {
                for _ in 0..total {
                    take_type(rest, named)?;
                }
            }
            return Ok(Parameters {
                count: total,
                next: 0,
                nulls,
                sent: Some(before),
                kept: &[],
                long,
                named,
                values: *rest,
            });
        } else {
            None
        };
        let kept = match types {
            Some(types) if types.types.len() >= total => &types.types[..total],
            _ => return Err(ProtocolError::Malformed("types of parameters were never sent")),
        };
        Ok(Parameters { count: total, next: 0, nulls, sent, kept, long, named, values: *rest })
    }

    /// How many there are, attributes among them.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// What follows the values, once all have been iterated over: the statement's text in COM_QUERY.
    pub fn rest(&self) -> &'a [u8] {
        self.values.rest()
    }

    #[inline]
    fn take_next(&mut self) -> Result<Parameter<'a>> {
        let number = self.next;
        let (parameter_type, name) = match &mut self.sent {
            Some(types) => take_type(types, self.named)?,
            None => (self.kept[number], &b""[..]),
        };
        let value = if let Some(bytes) = self.long.and_then(|long| long.get(number)) {
            Value::Bytes(bytes)
        } else if self.nulls[number / 8] & 1 << (number % 8) != 0 {
            Value::Null
        } else {
            Value::take(&mut self.values, parameter_type.column_type, parameter_type.unsigned)?
        };
        Ok(Parameter { name, parameter_type, value })
    }
}

#[inline]
fn take_type<'a>(take: &mut Take<'a>, named: bool) -> Result<(ParameterType, &'a [u8])> {
    let [byte, flags] = take.array()?;
    let column_type = ColumnType::from_byte(byte).ok_or(ProtocolError::Malformed("unknown type of parameter"))?;
    let name = if named { take.string()? } else { b"" };
    Ok((ParameterType { column_type, unsigned: flags & 0x80 != 0 }, name))
}

impl<'a> Iterator for Parameters<'a> {
    type Item = Result<Parameter<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Result<Parameter<'a>>> {
        if self.next == self.count {
            return None;
        }
        let parameter = self.take_next();
        self.next = if parameter.is_err() { self.count } else { self.next + 1 };
        Some(parameter)
    }
}

/// A COM_QUERY: its text and its attributes.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// The statement (or statements), in the connection's character set.
    pub text: &'a [u8],
    /// Its attributes: names and values.
    pub attributes: Parameters<'a>,
}

impl<'a> Query<'a> {
    /// Reads what follows the command byte.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    #[inline]
    pub fn parse(after_command: &'a [u8], capabilities: Capabilities) -> Result<Query<'a>> {
        if !capabilities.has(Capabilities::QUERY_ATTRIBUTES) {
            return Ok(Query { text: after_command, attributes: Parameters::none() });
        }
        let mut rest = Take::new(after_command);
        let count = usize::try_from(rest.integer()?).map_err(|_| ProtocolError::Malformed("number of attributes"))?;
        let sets = rest.integer()?;
        if sets != 1 {
            return Err(ProtocolError::Malformed("number of sets of attributes"));
        }
        if count == 0 {
            return Ok(Query { text: rest.to_end(), attributes: Parameters::none() });
        }
        let attributes = Parameters::parse(&mut rest, count, 0, true, None, None)?;
        let mut end = attributes.clone();
        for attribute in end.by_ref() {
            attribute?;
        }
        Ok(Query { text: end.rest(), attributes })
    }
}

/// Appends a bitmap, types and values: what follows the count of parameters.
fn put_parameters(to: &mut Vec<u8>, parameters: &[(&[u8], Value<'_>)], named: bool, with_types: bool) {
    let at = to.len();
    to.resize(at + parameters.len().div_ceil(8), 0);
    for (number, (_, value)) in parameters.iter().enumerate() {
        if matches!(value, Value::Null) {
            to[at + number / 8] |= 1 << (number % 8);
        }
    }
    to.push(u8::from(with_types));
    if with_types {
        for (name, value) in parameters {
            let (column_type, unsigned) = value.parameter_type();
            to.extend_from_slice(&[column_type as u8, if unsigned { 0x80 } else { 0 }]);
            if named {
                put_string(to, name);
            }
        }
    }
    for (_, value) in parameters {
        value.put(to);
    }
}

/// Appends a COM_STMT_EXECUTE. `parameters` are the statement's own (with empty names), then query attributes, which
/// need the capability. `with_types` may be false if the last execution had parameters of the same types.
pub fn put_execute(
    to: &mut Vec<u8>,
    capabilities: Capabilities,
    statement_id: u32,
    cursor: CursorFlags,
    parameters: &[(&[u8], Value<'_>)],
    with_types: bool,
) {
    let named = capabilities.has(Capabilities::QUERY_ATTRIBUTES);
    let cursor = cursor.set(CursorFlags::PARAMETER_COUNT_AVAILABLE, named);
    to.push(0x17);
    to.extend_from_slice(&statement_id.to_le_bytes());
    to.extend_from_slice(&[cursor.0, 1, 0, 0, 0]);
    if named {
        put_integer(to, parameters.len() as u64);
    }
    if !parameters.is_empty() {
        put_parameters(to, parameters, named, with_types);
    }
}

/// Appends a COM_QUERY. Attributes need the capability; without it they are left out.
pub fn put_query(to: &mut Vec<u8>, capabilities: Capabilities, text: &[u8], attributes: &[(&[u8], Value<'_>)]) {
    to.push(0x03);
    if capabilities.has(Capabilities::QUERY_ATTRIBUTES) {
        put_integer(to, attributes.len() as u64);
        to.push(1);
        if !attributes.is_empty() {
            put_parameters(to, attributes, true, true);
        }
    }
    to.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{DateTime, Time};

    fn some() -> Vec<(&'static [u8], Value<'static>)> {
        vec![
            (b"", Value::Int(-7)),
            (b"", Value::Null),
            (b"", Value::UInt(u64::MAX)),
            (b"", Value::Double(1.25)),
            (b"", Value::Float(-0.5)),
            (b"", Value::Bytes(b"text")),
            (b"", Value::DateTime(DateTime::date(2026, 11, 21))),
            (b"", Value::Time(Time { hour: 3, ..Time::default() })),
            (b"", Value::Null),
        ]
    }

    #[test]
    fn parameters_come_back_and_types_are_kept() {
        for capabilities in [Capabilities::NONE, Capabilities::QUERY_ATTRIBUTES] {
            let parameters = some();
            let mut types = ParameterTypes::default();
            for with_types in [true, false, false] {
                let mut payload = Vec::new();
                put_execute(&mut payload, capabilities, 5, CursorFlags::READ_ONLY, &parameters, with_types);
                let execute = Execute::parse(&payload[1..]).unwrap();
                assert_eq!(execute.statement_id, 5);
                assert!(execute.cursor.has(CursorFlags::READ_ONLY));
                let got = execute.parameters(capabilities, parameters.len(), &mut types, None).unwrap();
                let got: Vec<_> = got.map(|parameter| parameter.unwrap().value).collect();
                assert_eq!(got, parameters.iter().map(|(_, value)| *value).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn types_must_have_been_sent_once() {
        let mut payload = Vec::new();
        put_execute(&mut payload, Capabilities::NONE, 5, CursorFlags::NONE, &some(), false);
        let mut types = ParameterTypes::default();
        let parameters = Execute::parse(&payload[1..]).unwrap().parameters(Capabilities::NONE, 9, &mut types, None);
        assert!(parameters.is_err());
    }

    #[test]
    fn attributes_follow_the_parameters_and_are_not_kept() {
        let both = Capabilities::QUERY_ATTRIBUTES;
        let parameters: Vec<(&[u8], Value<'_>)> = vec![(b"", Value::Int(1)), (b"trace", Value::Bytes(b"abc"))];
        let mut payload = Vec::new();
        put_execute(&mut payload, both, 5, CursorFlags::NONE, &parameters, true);
        let mut types = ParameterTypes::default();
        let got: Vec<_> = Execute::parse(&payload[1..])
            .unwrap()
            .parameters(both, 1, &mut types, None)
            .unwrap()
            .map(|parameter| parameter.unwrap())
            .collect();
        assert_eq!((got[1].name, got[1].value), (&b"trace"[..], Value::Bytes(b"abc")));
        assert_eq!(types.types.len(), 1);

        let mut payload = Vec::new();
        put_query(&mut payload, both, b"SELECT 1", &[(b"a", Value::Int(2)), (b"b", Value::Null)]);
        let query = Query::parse(&payload[1..], both).unwrap();
        assert_eq!(query.text, b"SELECT 1");
        let got: Vec<_> = query.attributes.map(|attribute| attribute.unwrap()).collect();
        assert_eq!((got[0].name, got[0].value, got[1].value), (&b"a"[..], Value::Int(2), Value::Null));
    }

    #[test]
    fn the_count_is_there_where_a_statement_has_parameters() {
        // As Connector/Python sends it, and MySQL 9.7 reads it: no flag says so.
        let payload = b"\x01\0\0\0\0\x01\0\0\0\x01\x00\x01\x01\x80\x00\x07";
        let mut types = ParameterTypes::default();
        let execute = Execute::parse(payload).unwrap();
        let got: Vec<_> = execute
            .parameters(Capabilities::QUERY_ATTRIBUTES, 1, &mut types, None)
            .unwrap()
            .map(|parameter| parameter.unwrap().value)
            .collect();
        assert_eq!(got, [Value::UInt(7)]);
        // Without parameters it is not.
        let execute = Execute::parse(b"\x01\0\0\0\0\x01\0\0\0").unwrap();
        assert!(execute.parameters(Capabilities::QUERY_ATTRIBUTES, 0, &mut types, None).unwrap().is_empty());
    }

    #[test]
    fn long_data_takes_the_place_of_a_value() {
        let mut long = LongData::default();
        assert!(long.append(1, b"abc", 5) && long.append(1, b"de", 5));
        assert!(!long.append(1, b"f", 5));
        // As a client library sends it: the type is a BLOB's, the bit is not set, and there is no value.
        let payload = b"\x05\0\0\0\0\x01\0\0\0\x00\x01\x08\0\xFC\0\x07\0\0\0\0\0\0\0";
        let mut types = ParameterTypes::default();
        let execute = Execute::parse(payload).unwrap();
        let got: Vec<_> = execute
            .parameters(Capabilities::NONE, 2, &mut types, Some(&long))
            .unwrap()
            .map(|parameter| parameter.unwrap().value)
            .collect();
        assert_eq!(got, [Value::Int(7), Value::Bytes(b"abcde")]);
    }

    #[test]
    fn a_packet_that_lies_is_refused() {
        let huge = b"\x05\0\0\0\x08\x01\0\0\0\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0";
        let mut types = ParameterTypes::default();
        let execute = Execute::parse(huge).unwrap();
        assert!(execute.parameters(Capabilities::QUERY_ATTRIBUTES, 1, &mut types, None).is_err());
        let huge = b"\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\0\0";
        assert!(Query::parse(huge, Capabilities::QUERY_ATTRIBUTES).is_err());
    }
}
