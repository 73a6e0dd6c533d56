//! One command: read, given to the session, its outcome carried out.
//!
//! A command whose statement was suspended is kept, and given to the session again when it is called back, or its time is over.
//!
//! A panic in the session ends the connection with error 1105; whatever the session held is dropped with it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use meseta_errors as errors;
use meseta_protocol::command::{Command, byte};
use meseta_protocol::error::ProtocolError;
use meseta_protocol::flags::Capabilities;
use meseta_protocol::receive::Packet;
use meseta_protocol::reply::{EofPacket, write_error};

use super::reply::Reply;
use super::transport::Transport;
use super::{Connection, Open, ParkedReply, Scratch, Served, SuspendedCommand, Waiting, show};
use crate::backend::{End, Outcome};
use crate::counters::Shown;

/// The byte that says which command it is.
fn command_byte(packet: &Packet<'_>) -> u8 {
    packet.payload.first().copied().unwrap_or(0)
}

impl Connection {
    /// A command has come: it is counted, and shown.
    pub(super) fn begin_command(&self, packet: &Packet<'_>, scratch: &Scratch) {
        let byte = command_byte(packet);
        self.interrupt.begin_command();
        self.facts.since.store(self.server.clock.now(), Ordering::Relaxed);
        self.facts.command.store(byte, Ordering::Relaxed);
        self.state.set_deadline(crate::clock::NEVER);
        scratch.counters.command_begins(byte);
    }

    /// A command that was suspended runs again.
    pub(super) fn resume_command(&self, scratch: &Scratch) {
        self.state.set_deadline(crate::clock::NEVER);
        self.note_resumed();
        scratch.counters.command_goes_on();
    }

    /// Its command waits without a thread.
    fn note_suspended(&self, shown: Shown) {
        *self.facts.suspended.lock() = Some(Box::new(shown));
        self.server.counters.suspended.fetch_add(1, Ordering::Relaxed);
    }

    /// A command that was suspended goes on, or never will.
    pub(super) fn note_resumed(&self) {
        *self.facts.suspended.lock() = None;
        self.server.counters.suspended.fetch_sub(1, Ordering::Relaxed);
    }

    /// Runs a command that has begun, or goes on.
    pub(super) fn serve(
        &self,
        open: &mut Open,
        packet: Packet<'_>,
        transport: &mut Transport,
        scratch: &mut Scratch,
        waiting: &mut Option<Waiting>,
        file_rest: &mut Vec<u8>,
    ) -> Served {
        let ran = catch_unwind(AssertUnwindSafe(|| self.run(open, packet, transport, scratch, file_rest)));
        scratch.counters.command_ends();
        let served = match ran {
            Ok((Outcome::Done, _)) => Served::Done,
            Ok((Outcome::Close, end)) => Served::End(end),
            Ok((Outcome::Parked, _)) => {
                let bytes = scratch.writer.bytes().to_vec();
                scratch.writer.sent(usize::MAX);
                *waiting = Some(Waiting::Reply(Box::new(ParkedReply { bytes, sequence: packet.answer_sequence })));
                Served::Done
            }
            Ok((Outcome::Suspended(limit), _)) => {
                self.deadline_in(limit);
                self.note_suspended(std::mem::take(&mut *scratch.counters.shown.lock()));
                let command = SuspendedCommand { payload: packet.payload.into(), sequence: packet.answer_sequence };
                *waiting = Some(Waiting::Command(Box::new(command)));
                Served::Done
            }
            Err(_) => {
                self.defect("running a command");
                scratch.writer.abandon();
                write_error(&mut scratch.writer, errors::ER_UNKNOWN_ERROR, &[]);
                // Nothing more is asked of a session that has panicked, and it may panic again as it goes.
                let session = open.session.take();
                if catch_unwind(AssertUnwindSafe(|| drop(session))).is_err() {
                    self.defect("dropping a session");
                }
                Served::End(End::Lost)
            }
        };
        if matches!(command_byte(&packet), byte::QUERY | byte::STMT_EXECUTE) {
            scratch.counters.shown.lock().connection_id = 0;
        }
        served
    }

    fn run(
        &self,
        open: &mut Open,
        packet: Packet<'_>,
        transport: &mut Transport,
        scratch: &mut Scratch,
        file_rest: &mut Vec<u8>,
    ) -> (Outcome, End) {
        let command = match Command::parse(packet.payload, open.capabilities) {
            Ok(command) => command,
            Err(error) => {
                write_error(&mut scratch.writer, error.code(), &[]);
                let goes_on = matches!(error, ProtocolError::UnknownCommand(_));
                return (if goes_on { Outcome::Done } else { Outcome::Close }, End::Lost);
            }
        };
        if let Command::ChangeUser(change) = &command {
            return match self.change_user(open, change, transport, scratch) {
                Ok(Served::End(end)) => (Outcome::Close, end),
                Ok(_) => (Outcome::Done, End::Closed),
                Err(error) => {
                    write_error(&mut scratch.writer, error.code(), &[]);
                    (Outcome::Close, End::Lost)
                }
            };
        }
        let mut reply = Reply {
            connection: self,
            transport,
            scratch,
            capabilities: open.capabilities,
            file_rest: Vec::new(),
            parked: false,
            gone: false,
        };
        let outcome = dispatch(self, open, command, &mut reply);
        std::mem::swap(file_rest, &mut reply.file_rest);
        if reply.gone {
            // Whatever is written is for nobody.
            reply.scratch.writer.sent(usize::MAX);
            return (Outcome::Close, End::Lost);
        }
        match outcome {
            Ok(Outcome::Parked) if !reply.parked => (Outcome::Done, End::Closed),
            // Whoever has it will complete it, and the next turn is to find the reply that it means.
            Ok(Outcome::Done) if reply.parked => (Outcome::Parked, End::Closed),
            Ok(outcome) => (outcome, End::Closed),
            Err(end) => (Outcome::Close, end),
        }
    }
}

/// Calls the session.
fn dispatch(
    connection: &Connection,
    open: &mut Open,
    command: Command<'_>,
    reply: &mut Reply<'_>,
) -> Result<Outcome, End> {
    let Some(session) = &mut open.session else { return Err(End::Lost) };
    Ok(match command {
        Command::Query(query) => {
            show(&reply.scratch.counters, connection.id, query.text);
            session.query(&query, reply)
        }
        Command::Execute(execute) => {
            show(&reply.scratch.counters, connection.id, b"");
            session.execute(execute, reply)
        }
        Command::Prepare(text) => session.prepare(text, reply),
        Command::Fetch { statement_id, rows } => session.fetch(statement_id, rows, reply),
        Command::SendLongData { statement_id, parameter, piece } => {
            session.send_long_data(statement_id, parameter, piece);
            Outcome::Done
        }
        Command::CloseStatement(statement_id) => {
            session.close_statement(statement_id);
            Outcome::Done
        }
        Command::ResetStatement(statement_id) => session.reset_statement(statement_id, reply),
        Command::InitDb(name) => session.init_db(name, reply),
        Command::FieldList { table, pattern } => session.field_list(table, pattern, reply),
        Command::Ping => session.ping(reply),
        Command::ResetConnection => session.reset_connection(reply),
        Command::ProcessKill(id) => session.kill(id, reply),
        Command::SetOption(option) => {
            if option > 1 {
                reply.error(errors::ER_UNKNOWN_COM_ERROR, &[]);
                return Ok(Outcome::Done);
            }
            session.set_multi_statements(option == 0);
            let status = session.status();
            if reply.capabilities.has(Capabilities::DEPRECATE_EOF) {
                reply.plain_ok(status);
            } else {
                EofPacket { status, warnings: 0 }.write(reply.writer());
            }
            Outcome::Done
        }
        Command::Statistics => {
            let line = connection.server.backend.statistics(&connection.server.counters);
            reply.writer().packet(|to| to.extend_from_slice(line.as_bytes()));
            Outcome::Done
        }
        Command::Debug => {
            let totals = connection.server.counters.totals();
            tracing::info!(?totals, "asked for figures by COM_DEBUG");
            EofPacket { status: session.status(), warnings: 0 }.write(reply.writer());
            Outcome::Done
        }
        Command::Quit => return Err(End::Quit),
        Command::ChangeUser(_) => return Err(End::Lost),
    })
}
