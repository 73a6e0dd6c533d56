//! Cursors: the rows of a prepared statement that was executed with CURSOR_TYPE_READ_ONLY are kept, and sent in pieces by
//! COM_STMT_FETCH.
//!
//! ```text
//! execute: columns, and an end that says CURSOR_EXISTS        rows --> kept, as packets of the binary protocol
//! fetch n: n rows, and an end that says CURSOR_EXISTS;        past the last: LAST_ROW_SENT, and the cursor is closed
//! ```
//! A statement without rows is answered as without a cursor.
//!
//! # Invariants
//! 1. A statement that fails leaves no cursor, and its client sees no columns before the error.

use meseta_protocol::flags::StatusFlags;
use meseta_protocol::reply::{ErrPacket, OkPacket};
use meseta_protocol::send::PacketWriter;
use meseta_server::Reply;
use meseta_sql::query::{OutputColumn, OutputColumns};
use meseta_sql::session::{Answer, Done, Status, Tracked};
use meseta_sql::{Error, Result};
use meseta_types::Datum;

use super::answer::{ReplyAnswer, status_flags, write_binary_row, write_column, write_columns_count};

/// A packet's header.
const HEADER: usize = 4;
/// A packet of this length goes on in the next.
const FULL: usize = 0xFF_FFFF;

/// Rows that wait to be fetched.
pub struct Cursor {
    packets: Vec<u8>,
    at: usize,
    warnings: u64,
}

impl Cursor {
    /// Sends up to `count` rows, and an end. Whether there are more; then the cursor stays.
    pub fn fetch(&mut self, count: u32, status: StatusFlags, reply: &mut Reply<'_>) -> bool {
        let mut sent = 0;
        while sent < count && self.at < self.packets.len() {
            let packets = &self.packets;
            let mut at = self.at;
            reply.writer().packet(|to| {
                while let Some(header) = packets.get(at..at + HEADER) {
                    let length = usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
                    at += HEADER;
                    to.extend_from_slice(packets.get(at..at + length).unwrap_or_default());
                    at += length;
                    if length < FULL {
                        break;
                    }
                }
            });
            self.at = at;
            sent += 1;
            if reply.flush_if_full().is_err() {
                return false;
            }
        }
        let more = sent == count;
        let flag = if more { StatusFlags::CURSOR_EXISTS } else { StatusFlags::LAST_ROW_SENT };
        let ok = OkPacket {
            status: status.set(flag, true),
            warnings: self.warnings.min(u16::MAX.into()) as u16,
            ..OkPacket::default()
        };
        let capabilities = reply.capabilities();
        ok.write_end_of_rows(reply.writer(), capabilities);
        more
    }
}

/// Answers an execution with a cursor.
pub struct CursorAnswer<'a, 'r> {
    /// For what has no rows.
    pub plain: ReplyAnswer<'a, 'r>,
    /// The cursor that was opened, in the end.
    pub opened: Option<Cursor>,
    columns: Vec<OutputColumn>,
    rows: PacketWriter,
    text: Vec<u8>,
    limit: usize,
}

impl<'a, 'r> CursorAnswer<'a, 'r> {
    /// Of rows that take up to so many bytes.
    pub fn new(plain: ReplyAnswer<'a, 'r>, limit: usize) -> Self {
        Self { plain, opened: None, columns: Vec::new(), rows: PacketWriter::new(), text: Vec::new(), limit }
    }
}

impl Answer for CursorAnswer<'_, '_> {
    fn columns(&mut self, columns: &OutputColumns, status: Status) -> Result<()> {
        self.plain.results = status.results;
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, columns: &[OutputColumn], row: &[Datum<'_>]) -> Result<()> {
        if self.rows.bytes().len() > self.limit {
            return Err(Error::new(meseta_errors::ER_RECORD_FILE_FULL, &[&"cursor"]));
        }
        write_binary_row(&mut self.rows, &mut self.text, self.plain.results, columns, row);
        Ok(())
    }

    fn end(&mut self, status: Status) -> Result<()> {
        let flags = status_flags(status).set(StatusFlags::CURSOR_EXISTS, true);
        let reply = &mut *self.plain.reply;
        write_columns_count(reply, self.columns.len());
        self.columns.iter().for_each(|column| write_column(reply, column, status.results));
        let capabilities = reply.capabilities();
        OkPacket { status: flags, ..OkPacket::default() }.write_end_of_rows(reply.writer(), capabilities);
        self.opened = Some(Cursor { packets: self.rows.bytes().to_vec(), at: 0, warnings: status.warnings });
        Ok(())
    }

    fn done(&mut self, done: &Done, status: Status) -> Result<()> {
        self.plain.done(done, status)
    }

    fn changed(&mut self, change: &Tracked) {
        self.plain.changed(change);
    }

    fn failed(&mut self, error: &Error, _: Status) -> Result<()> {
        let writer = self.plain.reply.writer();
        writer.abandon();
        ErrPacket::new(error.code, error.message.as_bytes()).write(writer);
        Ok(())
    }
}
