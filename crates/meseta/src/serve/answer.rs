//! What statements answer, as packets: rows of text for COM_QUERY, of binary values for prepared statements.

use meseta_protocol::column::{ColumnDefinition, ColumnType, write_column_count};
use meseta_protocol::flags::{Capabilities, ColumnFlags, StatusFlags};
use meseta_protocol::reply::{EofPacket, ErrPacket, OkPacket, SessionChange, SessionChanges};
use meseta_protocol::row::{BinaryRow, TextRow};
use meseta_protocol::send::PacketWriter;
use meseta_protocol::value::{DateTime as WireDateTime, Time as WireTime};
use meseta_server::Reply;
use meseta_server::connection::reply::LocalFile;
use meseta_sql::query::{OutputColumn, OutputColumns};
use meseta_sql::session::{Answer, Done, Status, Tracked};
use meseta_sql::statement::manipulation::PieceSource;
use meseta_sql::{Error, Result};
use meseta_types::{Charset, Collation, Datum};

/// The protocol's flags of a session's state.
pub fn status_flags(status: Status) -> StatusFlags {
    let mut flags = StatusFlags(0);
    flags = flags.set(StatusFlags::IN_TRANSACTION, status.in_transaction);
    flags = flags.set(StatusFlags::AUTOCOMMIT, status.autocommit);
    flags = flags.set(StatusFlags::MORE_RESULTS, status.more_results);
    flags.set(StatusFlags::NO_BACKSLASH_ESCAPES, status.no_backslash_escapes)
}

/// Writes a column's definition.
pub fn write_column(reply: &mut Reply<'_>, column: &OutputColumn, results: Option<Charset>) {
    with_definition(column, results, |definition| definition.write(reply.writer()));
}

/// The packets of columns' definitions, with sequence numbers yet to be given.
fn encode_columns(columns: &[OutputColumn], results: Option<Charset>) -> Vec<u8> {
    let mut writer = PacketWriter::new();
    for column in columns {
        with_definition(column, results, |definition| definition.write(&mut writer));
    }
    writer.take()
}

/// Writes a column's definition as COM_FIELD_LIST answers: with its default.
pub fn write_column_with_default(reply: &mut Reply<'_>, column: &OutputColumn, default: Option<&str>) {
    let results = Some(Charset::Utf8mb4);
    with_definition(column, results, |definition| {
        definition.write_with_default(reply.writer(), default.map(str::as_bytes));
    });
}

fn with_definition(column: &OutputColumn, results: Option<Charset>, write: impl FnOnce(&ColumnDefinition<'_>)) {
    let own = column.data_type.collation().unwrap_or(Collation::Binary);
    let client = results.filter(|set| *set != Charset::Binary).map_or(own, Charset::default_collation);
    let (schema, table, original_table, original_name) = match &column.origin {
        Some(origin) => (&*origin.database, &*origin.alias, &*origin.table, &*origin.name),
        None => ("", "", "", ""),
    };
    let definition = ColumnDefinition {
        schema: schema.as_bytes(),
        table: table.as_bytes(),
        original_table: original_table.as_bytes(),
        name: &column.name,
        original_name: original_name.as_bytes(),
        collation: column.collation_number(client),
        length: column.length(client.charset()),
        column_type: wire_type(column),
        flags: ColumnFlags(column.flags()),
        decimals: column.decimals(),
    };
    write(&definition);
}

fn wire_type(column: &OutputColumn) -> ColumnType {
    ColumnType::from_byte(column.data_type.type_code() as u8).unwrap_or(ColumnType::VarString)
}

/// Answers into a reply.
pub struct ReplyAnswer<'a, 'r> {
    /// Where to.
    pub reply: &'a mut Reply<'r>,
    /// Rows as the binary protocol has them.
    pub is_binary: bool,
    /// Texts of values that have none of their own.
    pub text: Vec<u8>,
    /// What has changed of the session's state.
    pub changes: SessionChanges,
    /// The character set that texts are sent in; `None` for each one's own.
    pub results: Option<Charset>,
}

/// The character set that a text is to be converted to, if it is to be.
fn conversion(from: Charset, results: Option<Charset>) -> Option<Charset> {
    let to = results?;
    let is_same = from == to
        || from == Charset::Binary
        || to == Charset::Binary
        || from == Charset::Ascii
        || (from == Charset::Utf8mb3 && to == Charset::Utf8mb4);
    (!is_same).then_some(to)
}

/// A text as it is sent: as it is, or converted into a buffer.
#[inline]
fn sent_text<'t>(text: &'t [u8], from: Charset, results: Option<Charset>, buffer: &'t mut Vec<u8>) -> &'t [u8] {
    let Some(to) = conversion(from, results) else { return text };
    buffer.clear();
    from.convert(text, to, buffer);
    buffer
}

/// Puts the text of a value that is none into a buffer: members of ENUM and SET are in their own character set.
fn append_converted(column: &OutputColumn, value: Datum<'_>, results: Option<Charset>, out: &mut Vec<u8>) {
    out.clear();
    column.data_type.append_text(value, out);
    if matches!(value, Datum::Member { .. })
        && let Some(collation) = column.data_type.collation()
        && let Some(to) = conversion(collation.charset(), results)
    {
        let own = std::mem::take(out);
        collation.charset().convert(&own, to, out);
    }
}

/// A change of a session's state, as the protocol has it.
pub fn push_change(changes: &mut SessionChanges, change: &Tracked) {
    changes.push(match change {
        Tracked::Variable(name, value) => {
            SessionChange::SystemVariable { name: name.as_bytes(), value: value.as_bytes() }
        }
        Tracked::Schema(name) => SessionChange::Schema(name.as_bytes()),
        Tracked::State => SessionChange::State(true),
        Tracked::Transaction(state) => SessionChange::TransactionState(state.as_bytes()),
        Tracked::Characteristics(text) => SessionChange::TransactionCharacteristics(text.as_bytes()),
    });
}

/// Writes how many columns follow.
pub fn write_columns_count(reply: &mut Reply<'_>, count: usize) {
    let capabilities = reply.capabilities();
    write_column_count(reply.writer(), capabilities, count, true);
}

fn gone() -> Error {
    Error { code: meseta_errors::ER_NET_ERROR_ON_WRITE, message: "the client has gone".to_owned() }
}

/// A file that the client sends.
struct ClientFile<'a>(LocalFile<'a>);

impl PieceSource for ClientFile<'_> {
    fn next_piece(&mut self) -> Result<Option<&[u8]>> {
        self.0.next_piece().map_err(|_| gone())
    }
}

impl<'a, 'r> ReplyAnswer<'a, 'r> {
    /// Into this reply; rows as texts, or as the binary protocol has them.
    pub fn new(reply: &'a mut Reply<'r>, is_binary: bool) -> Self {
        Self { reply, is_binary, text: Vec::new(), changes: SessionChanges::new(), results: None }
    }
}

impl Answer for ReplyAnswer<'_, '_> {
    fn columns(&mut self, columns: &OutputColumns, status: Status) -> Result<()> {
        let capabilities = self.reply.capabilities();
        write_column_count(self.reply.writer(), capabilities, columns.len(), true);
        self.results = status.results;
        self.reply.writer().packets(&columns.told(status.results, encode_columns));
        EofPacket { status: status_flags(status), warnings: 0 }.write_end_of_columns(self.reply.writer(), capabilities);
        Ok(())
    }

    fn row(&mut self, columns: &[OutputColumn], row: &[Datum<'_>]) -> Result<()> {
        if self.is_binary {
            write_binary_row(self.reply.writer(), &mut self.text, self.results, columns, row);
        } else {
            self.text_row(columns, row);
        }
        self.reply.flush_if_full().map_err(|_| gone())
    }

    fn end(&mut self, status: Status) -> Result<()> {
        let capabilities = self.reply.capabilities();
        let warnings = status.warnings.min(u16::MAX.into()) as u16;
        let changes = std::mem::take(&mut self.changes);
        let ok = OkPacket { status: status_flags(status), warnings, session: changes.bytes(), ..OkPacket::default() };
        ok.write_end_of_rows(self.reply.writer(), capabilities);
        Ok(())
    }

    fn done(&mut self, done: &Done, status: Status) -> Result<()> {
        let changes = std::mem::take(&mut self.changes);
        self.reply.ok(&OkPacket {
            affected_rows: done.affected,
            last_insert_id: done.insert_id,
            status: status_flags(status),
            warnings: status.warnings.min(u16::MAX.into()) as u16,
            info: done.info.as_bytes(),
            session: changes.bytes(),
        });
        Ok(())
    }

    fn local_file(&mut self, name: &[u8]) -> Result<Box<dyn PieceSource + '_>> {
        if !self.reply.capabilities().has(Capabilities::LOCAL_FILES) {
            return Err(Error::new(meseta_errors::ER_CLIENT_LOCAL_FILES_DISABLED, &[]));
        }
        let file = self.reply.request_file(name).map_err(|_| gone())?;
        Ok(Box::new(ClientFile(file)))
    }

    fn changed(&mut self, change: &Tracked) {
        push_change(&mut self.changes, change);
    }

    fn failed(&mut self, error: &Error, _: Status) -> Result<()> {
        let writer = self.reply.writer();
        writer.abandon();
        ErrPacket::new(error.code, error.message.as_bytes()).write(writer);
        Ok(())
    }
}

impl ReplyAnswer<'_, '_> {
    fn text_row(&mut self, columns: &[OutputColumn], row: &[Datum<'_>]) {
        let mut out = TextRow::new(self.reply.writer());
        for (column, value) in columns.iter().zip(row) {
            match value {
                Datum::Null => out.null(),
                &Datum::Text(text, collation) => {
                    out.bytes(sent_text(text, collation.charset(), self.results, &mut self.text))
                }
                &Datum::Signed(number) => out.int(number),
                &value => {
                    append_converted(column, value, self.results, &mut self.text);
                    out.bytes(&self.text);
                }
            }
        }
        out.end();
    }
}

/// Writes a row of the binary protocol. `text` is for texts of values that have none of their own.
pub fn write_binary_row(
    writer: &mut PacketWriter,
    text: &mut Vec<u8>,
    results: Option<Charset>,
    columns: &[OutputColumn],
    row: &[Datum<'_>],
) {
    let mut out = BinaryRow::new(writer, columns.len());
    for (column, value) in columns.iter().zip(row) {
        // (By reference: a copy of the value would be put together of the parts that its kinds have, and then be waited for.)
        match value {
            Datum::Null => out.null(),
            &Datum::Text(value, collation) => out.bytes(sent_text(value, collation.charset(), results, text)),
            value => write_binary_value(&mut out, text, results, column, value),
        }
    }
    out.end();
}

/// Writes a value that is neither NULL nor a text.
fn write_binary_value(
    out: &mut BinaryRow<'_>,
    text: &mut Vec<u8>,
    results: Option<Charset>,
    column: &OutputColumn,
    value: &Datum<'_>,
) {
    use ColumnType as C;
    let column_type = wire_type(column);
    let is_integer = matches!(column_type, C::Tiny | C::Short | C::Int24 | C::Long | C::LongLong | C::Year);
    match (column_type, value) {
        (_, &Datum::Signed(number)) if is_integer => out.int(column_type, number),
        (_, &Datum::Unsigned(number)) if is_integer => out.int(column_type, number as i64),
        (C::Float, &Datum::Float(number)) => out.float(number),
        (C::Double, &Datum::Double(number)) => out.double(number),
        (C::Double, &Datum::Float(number)) => out.double(number.into()),
        (C::Date, &Datum::Date(date)) => out.datetime(&wire_datetime(date.midnight())),
        (C::DateTime | C::Timestamp, &Datum::DateTime(value, _)) => {
            out.datetime(&wire_datetime(value));
        }
        (C::Time, &Datum::Time(time, _)) => out.time(&wire_time(time)),
        (_, &value) => {
            append_converted(column, value, results, text);
            out.bytes(text);
        }
    }
}

fn wire_datetime(value: meseta_types::DateTime) -> WireDateTime {
    WireDateTime {
        year: value.date.year,
        month: value.date.month,
        day: value.date.day,
        hour: value.hour,
        minute: value.minute,
        second: value.second,
        microsecond: value.micros,
    }
}

fn wire_time(time: meseta_types::Time) -> WireTime {
    WireTime {
        negative: time.is_negative(),
        days: time.hours() / 24,
        hour: (time.hours() % 24) as u8,
        minute: time.minute() as u8,
        second: time.second() as u8,
        microsecond: time.fraction(),
    }
}
