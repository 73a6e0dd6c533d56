//! Connections, variables, status: tables of what SHOW PROCESSLIST, SHOW VARIABLES and SHOW STATUS show.

use meseta_parser::ast::VariableScope;

use super::SystemTable;
use crate::schema::information::{Cell, View};
use crate::session::{Process, ServerStatus, SessionFacts};
use crate::variable::{show_status, show_variables};

type Rows = Vec<Vec<Cell>>;

/// The connections that a session may see: its user's, or all with PROCESS.
fn processes(session: &SessionFacts) -> Vec<Process> {
    let mut all = session.instance.server().map(crate::session::Connections::processes).unwrap_or_default();
    if !session.account.grants().may_dynamic("PROCESS") {
        let own = session.identity.user.rsplit_once('@').map_or("", |(user, _)| user);
        all.retain(|process| process.user == own);
    }
    all
}

fn info(process: &Process) -> Cell {
    Cell::optional(process.info.as_ref().map(|info| String::from_utf8_lossy(info).into_owned()))
}

/// What a connection's state is, seen by itself.
fn state(process: &Process, session: &SessionFacts) -> Cell {
    Cell::text(if process.id == session.identity.connection { "executing" } else { process.state })
}

pub(super) fn processlist(table: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    let row = |process: &Process| {
        table.row(&[
            ("ID", Cell::Unsigned(process.id)),
            ("USER", Cell::text(&process.user)),
            ("HOST", Cell::text(&process.host)),
            ("DB", Cell::optional(process.database.as_ref())),
            ("COMMAND", Cell::text(process.command)),
            ("TIME", Cell::Signed(process.seconds as i64)),
            ("STATE", state(process, session)),
            ("INFO", info(process)),
            ("EXECUTION_ENGINE", Cell::text("PRIMARY")),
        ])
    };
    processes(session).iter().map(row).collect()
}

pub(super) fn threads(table: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    let row = |process: &Process| {
        table.row(&[
            ("THREAD_ID", Cell::Unsigned(process.id)),
            ("NAME", Cell::text("thread/sql/one_connection")),
            ("TYPE", Cell::text("FOREGROUND")),
            ("PROCESSLIST_ID", Cell::Unsigned(process.id)),
            ("PROCESSLIST_USER", Cell::text(&process.user)),
            ("PROCESSLIST_HOST", Cell::text(process.host.rsplit_once(':').map_or(&*process.host, |(host, _)| host))),
            ("PROCESSLIST_DB", Cell::optional(process.database.as_ref())),
            ("PROCESSLIST_COMMAND", Cell::text(process.command)),
            ("PROCESSLIST_TIME", Cell::Signed(process.seconds as i64)),
            ("PROCESSLIST_STATE", state(process, session)),
            ("PROCESSLIST_INFO", info(process)),
            ("INSTRUMENTED", Cell::text("YES")),
            ("HISTORY", Cell::text("NO")),
            ("CONNECTION_TYPE", Cell::text(process.transport)),
            ("EXECUTION_ENGINE", Cell::text("PRIMARY")),
            ("TELEMETRY_ACTIVE", Cell::text("NO")),
        ])
    };
    processes(session).iter().map(row).collect()
}

fn pairs(rows: Vec<(&'static str, String)>) -> Rows {
    rows.into_iter().map(|(name, value)| vec![Cell::text(name), Cell::text(value)]).collect()
}

pub(super) fn global_status(_: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    let all = show_status(&ServerStatus::new(session), Some(VariableScope::Global), None);
    // Of what statements were run, MySQL's tables tell in others.
    pairs(all.into_iter().filter(|(name, _)| !name.starts_with("Com_")).collect())
}

pub(super) fn session_status(_: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    let all = show_status(&ServerStatus::new(session), Some(VariableScope::Session), None);
    pairs(all.into_iter().filter(|(name, _)| !name.starts_with("Com_")).collect())
}

pub(super) fn global_variables(_: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    pairs(show_variables(&session.variables, Some(VariableScope::Global), None))
}

pub(super) fn session_variables(_: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    pairs(show_variables(&session.variables, None, None))
}

pub(super) fn persisted_variables(_: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    let persisted = session.instance.globals.persisted();
    persisted.iter().map(|(name, value)| vec![Cell::text(name), Cell::text(&value.value)]).collect()
}

pub(super) fn user_variables(table: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    let mut all: Vec<_> = session.user_variables.iter().map(|(name, value)| (&**name, value)).collect();
    all.sort_unstable_by_key(|(name, _)| *name);
    let row = |(name, value): (&str, &crate::expression::Value)| {
        let mut text = Vec::new();
        let value = value.get();
        let shown = (!value.is_null()).then(|| {
            meseta_types::DataType::varchar(1024, meseta_types::Collation::Utf8mb4_0900AiCi)
                .append_text(value, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        table.row(&[
            ("THREAD_ID", Cell::Unsigned(session.identity.connection)),
            ("VARIABLE_NAME", Cell::text(name)),
            ("VARIABLE_VALUE", Cell::optional(shown)),
        ])
    };
    all.into_iter().map(row).collect()
}

fn attributes(table: &SystemTable, session: &crate::session::SessionShared) -> Rows {
    let row = |(at, (name, value)): (usize, &(String, String))| {
        table.row(&[
            ("PROCESSLIST_ID", Cell::Unsigned(session.connection)),
            ("ATTR_NAME", Cell::text(name)),
            ("ATTR_VALUE", Cell::text(value)),
            ("ORDINAL_POSITION", Cell::Unsigned(at as u64)),
        ])
    };
    session.attributes.lock().iter().enumerate().map(row).collect()
}

pub(super) fn connect_attributes(table: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    session.instance.sessions.all().iter().flat_map(|session| attributes(table, session)).collect()
}

pub(super) fn own_connect_attributes(table: &SystemTable, session: &SessionFacts, _: &View<'_>) -> Rows {
    attributes(table, &session.shared)
}
