//! Statements about the server and its sessions: KILL, FLUSH, SHOW PROCESSLIST, SHOW ENGINE; and what is done around every
//! statement: counting, its time limit, the slow log; and a session made new (COM_RESET_CONNECTION).

use std::time::{Duration, Instant};

use meseta_errors::{
    ER_KILL_DENIED_ERROR, ER_LOCK_WAIT_TIMEOUT, ER_NO_BINARY_LOGGING, ER_NO_SUCH_THREAD, ER_QUERY_INTERRUPTED,
    ER_QUERY_TIMEOUT, ER_UNKNOWN_STORAGE_ENGINE,
};
use meseta_parser::ast::{self, EngineTopic, Flush, FlushWhat, Kill, ShowWhat, Statement};
use meseta_types::{Collation, DataType, Datum, IntegerSize};

use super::connections::{Process, SessionShared};
use super::counters::{Counter, counter_of};
use super::plan::{Parameters, PlanBody, StatementPlan};
use super::prepared::PreparedStatement;
use super::{Logged, Session, clock, logs};
use crate::account::Use;
use crate::error::{Error, Result};
use crate::name::text_of;
use crate::query::OutputColumn;
use crate::schema::information::{Cell, Rows, VirtualColumn};
use crate::schema::performance;
use crate::statement::manipulation::Changes;
use crate::variable::Variable;

/// As much of a statement's text as SHOW PROCESSLIST without FULL shows, in characters.
const SHORT_INFO: usize = 100;

impl Session {
    /// A statement begins: it is counted, and nobody has killed it yet.
    pub(super) fn begin_count(&mut self) {
        self.logged = None;
        let facts = &mut self.facts;
        let interrupts = &facts.interrupts;
        facts.shared.begin_statement(|| interrupts.check().is_err());
        facts.shared.counters.add(Counter::Questions, 1);
        self.heed_globals();
        let facts = &mut self.facts;
        if !facts.variables.state.in_transaction && self.engine.transaction().is_none() {
            facts.shared.counters.set_transaction_since(facts.statement_time);
        }
    }

    /// Counts a command that is no statement's text.
    pub fn count(&self, counter: Counter) {
        self.facts.shared.counters.add(counter, 1);
        let asks = !matches!(counter, Counter::ComStmtPrepare | Counter::ComStmtClose | Counter::ComStmtReset);
        if asks && counter != Counter::ComStmtExecute {
            self.facts.shared.counters.add(Counter::Questions, 1);
        }
    }

    /// Counts a statement of an account that may run so many in an hour. Error 1226 if it is one too many.
    fn count_use(&self, changes: bool) -> Result<()> {
        let account = &self.facts.account;
        let Some(usage) = &account.usage else { return Ok(()) };
        let now = (self.facts.statement_time / 1_000_000).max(0) as u64;
        usage.count(Use::Query, &account.account.user, now)?;
        if changes { usage.count(Use::Update, &account.account.user, now) } else { Ok(()) }
    }

    /// A statement without a plan is about to run. Error 1226.
    pub(super) fn statement_begins(&mut self, statement: &Statement<'_>) -> Result<()> {
        let changes = matches!(statement, Statement::Load(_))
            || crate::statement::is_definition(statement)
            || (crate::account::is_account_statement(statement) && crate::account::commits_implicitly(statement));
        self.count_use(changes)?;
        if let Some(counter) = counter_of(statement) {
            self.facts.shared.counters.add(counter, 1);
        }
        self.tracker.begins(statement, &self.facts.variables.state);
        Ok(())
    }

    /// A plan is about to run: it is counted, and max_execution_time begins. Error 1226.
    pub(super) fn plan_begins(&mut self, plan: &StatementPlan) -> Result<()> {
        if self.is_resumed() {
            return Ok(());
        }
        self.count_use(plan.changes_data())?;
        if let Some(counter) = plan.counter {
            self.facts.shared.counters.add(counter, 1);
        }
        for (counter, amount) in &plan.counts {
            self.facts.shared.counters.add(*counter, *amount);
        }
        self.tracker.plan_begins(plan);
        let settings = self.facts.variables.settings();
        if settings.max_execution_time > 0 && !plan.changes_data() {
            let limit = Duration::from_millis(settings.max_execution_time);
            self.facts.shared.counters.add(Counter::MaxExecutionTimeSet, 1);
            self.facts.deadline = Instant::now().checked_add(limit);
            self.engine.set_lock_wait(limit.min(Duration::from_secs(settings.innodb_lock_wait_timeout)));
        }
        Ok(())
    }

    /// A plan has run. That of a statement that is suspended has not: its time goes on.
    pub(super) fn plan_ends<T>(&mut self, done: Result<T>) -> Result<T> {
        if self.is_suspended() {
            return done;
        }
        let Some(deadline) = self.facts.deadline.take() else { return done };
        self.engine.set_lock_wait(Duration::from_secs(self.facts.variables.settings().innodb_lock_wait_timeout));
        match done {
            Err(error) if error.code == ER_LOCK_WAIT_TIMEOUT && Instant::now() >= deadline => {
                Err(Error::new(ER_QUERY_TIMEOUT, &[]))
            }
            done => done,
        }
    }

    /// A statement has failed: a deadlock is told to whoever runs the server, if innodb_print_all_deadlocks says so.
    pub(super) fn note_failure(&self, error: &Error) {
        let is_told =
            || Variable::find("innodb_print_all_deadlocks").is_some_and(|v| self.instance.globals.get(v).is_true());
        if error.code == meseta_errors::ER_LOCK_DEADLOCK
            && is_told()
            && let Some(server) = self.instance.server()
            && let Some(deadlock) = self.instance.engine.last_deadlock()
        {
            server.log(&format!("deadlock: connection {}\n{deadlock}", self.facts.identity.connection));
        }
    }

    /// Counts rows that were changed.
    pub(super) fn count_changes(&mut self, plan: &PlanBody, changes: &Changes) {
        let counters = &self.facts.shared.counters;
        let (handler, rows) = match plan {
            PlanBody::Insert(_) => (Counter::HandlerWrite, Counter::InnodbRowsInserted),
            PlanBody::Update(_) => (Counter::HandlerUpdate, Counter::InnodbRowsUpdated),
            PlanBody::Delete(_) => (Counter::HandlerDelete, Counter::InnodbRowsDeleted),
            PlanBody::Several(several) if several.deletes() => (Counter::HandlerDelete, Counter::InnodbRowsDeleted),
            PlanBody::Several(_) => (Counter::HandlerUpdate, Counter::InnodbRowsUpdated),
            PlanBody::Query(_) => return,
        };
        counters.add(handler, changes.affected);
        counters.add(rows, changes.affected);
    }

    /// TRUNCATE of a table of performance_schema that counts; false if it is another table.
    pub(super) fn truncates_waits(&mut self, name: &ast::ObjectName<'_>) -> Result<bool> {
        let schema = name.schema.map(|schema| text_of(schema.text.0)).or_else(|| self.facts.database_name());
        if !schema.is_some_and(|schema| schema.eq_ignore_ascii_case("performance_schema")) {
            return Ok(false);
        }
        let table = text_of(name.name.text.0).to_ascii_lowercase();
        match table.as_str() {
            "events_waits_summary_global_by_event_name" => self.instance.reset_waits(),
            table if table.contains("summary") && performance::table(table).is_some() => {}
            table if performance::table(table).is_some() => {
                let (user, host) = self.facts.identity.account.rsplit_once('@').unwrap_or_default();
                return Err(Error::new(meseta_errors::ER_TABLEACCESS_DENIED_ERROR, &[&"DROP", &user, &host, &table]));
            }
            _ => return Err(Error::new(meseta_errors::ER_NO_SUCH_TABLE, &[&"performance_schema", &table])),
        }
        self.end_transaction(true)?;
        Ok(true)
    }

    /// The statement that is about to run is known: it goes into the general log, if that is on.
    #[inline]
    pub(super) fn log_statement(&mut self, text: &[u8], start: usize, end: usize, has_secret: bool) {
        if self.is_resumed() {
            return;
        }
        let rows_read = self.facts.shared.counters.get(Counter::InnodbRowsRead);
        self.logged = Some(Logged { start, end, has_secret, rows_read });
        if self.instance.logs.general.is_on() {
            self.log_text(text);
        }
    }

    /// Writes the statement's text into the general log.
    #[cold]
    fn log_text(&self, text: &[u8]) {
        if let Some(text) = self.logged_text(text) {
            self.log_command("Query", &text);
        }
    }

    /// What may be written of the statement's text.
    fn logged_text(&self, text: &[u8]) -> Option<Vec<u8>> {
        let logged = self.logged?;
        let text = text.get(logged.start..logged.end)?.trim_ascii();
        let text = text.strip_suffix(b";").unwrap_or(text);
        Some(if logged.has_secret { logs::without_secrets(text) } else { text.to_vec() })
    }

    /// Writes a command into the general log, if that is on.
    pub fn log_command(&self, command: &str, argument: &[u8]) {
        let log = &self.instance.logs.general;
        if log.is_on() {
            let entry = logs::general_entry(clock(), self.facts.identity.connection, command, argument);
            self.instance.tell(log.write(&entry));
        }
    }

    /// Writes a prepared statement that was prepared, or (with values) is executed, into the general log, if that is on.
    pub fn log_prepared(&self, statement: &PreparedStatement, values: Option<&[Datum<'_>]>) {
        if !self.instance.logs.general.is_on() {
            return;
        }
        let text = match values {
            Some(values) => logs::with_values(statement.text(), values),
            None => statement.text().to_vec(),
        };
        let text = if statement.has_secret() { logs::without_secrets(&text) } else { text };
        self.log_command(if values.is_some() { "Execute" } else { "Prepare" }, &text);
    }

    /// A statement has ended: was it slow?
    pub(super) fn end_count(&mut self, text: &[u8]) {
        let ended = clock();
        let micros = ended.saturating_sub(self.facts.statement_time);
        let settings = self.facts.variables.settings();
        if (micros as f64) < settings.long_query_time * 1e6 {
            return;
        }
        self.facts.shared.counters.add(Counter::SlowQueries, 1);
        if self.instance.logs.slow.is_on() {
            self.log_slow(text, ended);
        }
    }

    #[cold]
    fn log_slow(&self, text: &[u8], ended: i64) {
        let (Some(shown), Some(logged)) = (self.logged_text(text), self.logged) else { return };
        let rows_examined = self.facts.shared.counters.get(Counter::InnodbRowsRead).saturating_sub(logged.rows_read);
        let least = Variable::find("min_examined_row_limit");
        if least.is_some_and(|least| rows_examined < self.facts.variables.value(least).as_u64()) {
            return;
        }
        let entry = logs::slow_entry(&logs::Slow {
            began: self.facts.statement_time,
            ended,
            connection: self.facts.identity.connection,
            user: &self.facts.identity.user,
            account: &self.facts.identity.account,
            database: self.facts.database.as_deref(),
            // A statement without rows has a ROW_COUNT().
            rows_sent: if self.facts.row_count < 0 { self.facts.found_rows } else { 0 },
            rows_examined,
            text: &shown,
        });
        self.instance.tell(self.instance.logs.slow.write(&entry));
    }

    /// What others see of the session.
    pub fn shared(&self) -> &SessionShared {
        &self.facts.shared
    }

    /// `wait_timeout` of an interactive client begins as another number.
    pub fn set_wait_timeout(&mut self, seconds: u64) {
        self.facts.variables.set_number("wait_timeout", seconds);
    }

    /// The columns of a table whose names are like a pattern (empty: all), with their defaults: COM_FIELD_LIST.
    pub fn field_list(&mut self, table: &str, pattern: &[u8]) -> Result<Vec<(OutputColumn, Option<String>)>> {
        let text = format!("SELECT * FROM {}", crate::schema::quoted_name(table));
        let (_, columns) = self.prepare(text.as_bytes())?;
        let database = self.facts.database_name().unwrap_or_default();
        let found = self.engine.schema().table_named(&database, table).ok().cloned();
        let known = found.and_then(|found| self.instance.tables.get(&found).ok());
        let zone = self.facts.variables.settings().time_zone.clone();
        let default = |name: &[u8]| {
            let known = known.as_ref()?;
            let column = known.columns.iter().find(|column| column.name.as_bytes() == name)?;
            crate::schema::default_text(column, &zone)
        };
        let is_wanted = |column: &OutputColumn| {
            let name = String::from_utf8_lossy(&column.name);
            pattern.is_empty() || crate::variable::like(&name, pattern)
        };
        Ok(columns
            .into_iter()
            .filter(is_wanted)
            .map(|column| {
                let default = default(&column.name);
                (column, default)
            })
            .collect())
    }

    // ---- a session like new -----------------------------------------------------------------------------------------

    /// COM_RESET_CONNECTION: rolls back, and forgets variables, prepared statements, user locks and temporary state. The
    /// default database and the account stay.
    pub fn reset(&mut self) {
        self.close();
        self.savepoints.clear();
        self.instance.user_locks.release_all(self.facts.identity.connection);
        let facts = &mut self.facts;
        facts.variables.reset();
        facts.user_variables.clear();
        facts.seeded.clear();
        facts.kept_values.clear();
        facts.variables.state.last_insert_id = 0;
        (facts.given_insert_id, facts.row_count, facts.found_rows) = (None, -1, 0);
        self.renew_context(false);
        self.apply_settings();
        self.tracker.changed_state();
    }

    // ---- KILL -------------------------------------------------------------------------------------------------------

    /// Whether this session has a privilege over the connections of others.
    fn rules_over_others(&self, privilege: &str) -> bool {
        self.facts.account.grants().may_dynamic(privilege)
    }

    /// KILL [CONNECTION | QUERY] expression.
    pub(super) fn kill_statement(&mut self, kill: &Kill<'_>, text: &[u8], parameters: Parameters<'_>) -> Result<()> {
        let mut id = 0;
        self.evaluate_each(&[kill.id], text, parameters, &mut |_, value| {
            id = number_of(value);
            Ok(())
        })?;
        self.kill(id, kill.query)
    }

    /// Ends a connection, or its statement. Errors: 1094, 1095; 1317 if it was this one.
    pub fn kill(&mut self, id: u64, only_statement: bool) -> Result<()> {
        let Some(server) = self.instance.server() else { return Err(Error::not_yet("KILL without a server")) };
        let unknown = || Error::new(ER_NO_SUCH_THREAD, &[&id]);
        if !self.rules_over_others("CONNECTION_ADMIN") {
            let own = self.facts.identity.user.rsplit_once('@').map_or("", |(user, _)| user).to_owned();
            let processes = server.processes();
            let other = processes.iter().find(|process| process.id == id).ok_or_else(unknown)?;
            if other.user != own {
                return Err(Error::new(ER_KILL_DENIED_ERROR, &[&id]));
            }
        }
        if !server.kill(id, only_statement) {
            return Err(unknown());
        }
        if id == self.facts.identity.connection {
            return Err(Error::new(ER_QUERY_INTERRUPTED, &[]));
        }
        Ok(())
    }

    /// SHUTDOWN: the server stops as at SIGTERM.
    pub(super) fn shut_down(&mut self) -> Result<()> {
        let Some(server) = self.instance.server() else { return Err(Error::not_yet("SHUTDOWN without a server")) };
        server.shut_down();
        Ok(())
    }

    // ---- FLUSH ------------------------------------------------------------------------------------------------------

    /// FLUSH. What there is nothing to flush of is done at once.
    pub(super) fn flush(&mut self, flush: &Flush<'_>) -> Result<()> {
        let FlushWhat::Options(options) = flush.what else {
            return match flush.what {
                FlushWhat::Tables { mode: ast::FlushTablesMode::Close, .. } => self.end_transaction(true),
                _ => Err(Error::not_yet("FLUSH TABLES WITH READ LOCK")),
            };
        };
        self.end_transaction(true)?;
        for option in options {
            match text_of(option.0).as_str() {
                "STATUS" => {
                    self.instance.sessions.flush();
                    self.instance.flush_status();
                }
                "GENERAL LOGS" | "SLOW LOGS" => self.instance.reopen_logs(),
                "LOGS" | "ERROR LOGS" | "ENGINE LOGS" => {
                    self.instance.reopen_logs();
                    self.instance.engine.store().write_log(true).map_err(|error| Error::damaged(&error))?;
                }
                "PRIVILEGES" => self.instance.accounts.flush_privileges(),
                "USER_RESOURCES" => self.instance.accounts.forget_usage(),
                "BINARY LOGS" | "RELAY LOGS" | "OPTIMIZER_COSTS" | "HOSTS" => {}
                other => return Err(Error::not_yet(&format!("FLUSH {other}"))),
            }
        }
        Ok(())
    }

    // ---- SHOW -------------------------------------------------------------------------------------------------------

    /// The rows of a SHOW that tells of the server; none if it is another one.
    pub(super) fn administrative_rows(&mut self, what: &ShowWhat<'_>) -> Result<Option<Rows>> {
        Ok(Some(match what {
            ShowWhat::ProcessList { full } => self.process_list(*full),
            ShowWhat::Engine { name, topic } => self.engine_rows(name.map(|name| text_of(name.0)), *topic)?,
            ShowWhat::BinaryLogs => return Err(Error::new(ER_NO_BINARY_LOGGING, &[])),
            ShowWhat::BinaryLogStatus => empty(BINARY_LOG_STATUS),
            ShowWhat::BinlogEvents { .. } | ShowWhat::RelaylogEvents { .. } => empty(LOG_EVENTS),
            ShowWhat::Replicas => empty(REPLICAS),
            ShowWhat::ReplicaStatus { .. } => empty(REPLICA_STATUS),
            ShowWhat::Profiles => empty(&["Query_ID#", "Duration", "Query"]),
            ShowWhat::Profile { .. } => empty(&["Status", "Duration"]),
            ShowWhat::LibraryStatus => empty(LIBRARY_STATUS),
            ShowWhat::Privileges => privileges(),
            ShowWhat::Engines => engines(),
            _ => return Ok(None),
        }))
    }

    /// The connections that this session may see.
    pub fn processes(&self) -> Vec<Process> {
        let all = self.instance.server().map(super::Connections::processes).unwrap_or_default();
        let own = self.facts.identity.user.rsplit_once('@').map_or("", |(user, _)| user);
        let sees_all = self.rules_over_others("PROCESS");
        all.into_iter().filter(|process| sees_all || process.user == own).collect()
    }

    fn process_list(&mut self, full: bool) -> Rows {
        let text = |name: &'static str, length: u32| VirtualColumn::text(name, length);
        let columns = vec![
            VirtualColumn::big("Id"),
            text("User", 32),
            text("Host", 261),
            text("db", 64).or_null(),
            text("Command", 16),
            VirtualColumn { name: "Time", data_type: DataType::integer(IntegerSize::Int, false), nullable: true },
            text("State", 30).or_null(),
            match full {
                true => VirtualColumn::long_text("Info").or_null(),
                false => text("Info", SHORT_INFO as u32).or_null(),
            },
        ];
        let rows = self.processes().into_iter().map(|process| {
            let info = process.info.map(|info| {
                let text = String::from_utf8_lossy(&info).into_owned();
                if full { text } else { text.chars().take(SHORT_INFO).collect() }
            });
            let is_self = process.id == self.facts.identity.connection;
            vec![
                Cell::Unsigned(process.id),
                Cell::text(process.user),
                Cell::text(process.host),
                Cell::optional(process.database),
                Cell::text(process.command),
                Cell::Signed(process.seconds as i64),
                Cell::text(if is_self { "init" } else { process.state }),
                Cell::optional(info),
            ]
        });
        Rows::new(columns, rows.collect())
    }

    fn engine_rows(&mut self, name: Option<String>, topic: EngineTopic) -> Result<Rows> {
        let columns =
            vec![VirtualColumn::text("Type", 10), VirtualColumn::text("Name", 512), VirtualColumn::long_text("Status")];
        let is_ours = match name.as_deref() {
            None => true,
            Some(name) if name.eq_ignore_ascii_case("innodb") => true,
            Some(name) if OTHER_ENGINES.iter().any(|(other, ..)| other.eq_ignore_ascii_case(name)) => false,
            Some(name) => return Err(Error::new(ER_UNKNOWN_STORAGE_ENGINE, &[&name])),
        };
        let row = |name: &str, status: String| vec![Cell::text("InnoDB"), Cell::text(name), Cell::text(status)];
        let rows = match topic {
            EngineTopic::Status if is_ours => vec![row("", performance::engine_status(&self.facts))],
            EngineTopic::Mutex if is_ours => {
                performance::mutexes(&self.facts).into_iter().map(|(name, waits)| row(&name, waits)).collect()
            }
            _ => Vec::new(),
        };
        Ok(Rows::new(columns, rows))
    }
}

/// What KILL takes a value for: rounded, and as 32 bits of it.
pub(super) fn number_of(value: Datum<'_>) -> u64 {
    let number = match value {
        Datum::Null => 0,
        Datum::Signed(number) => number,
        Datum::Unsigned(number) => number as i64,
        Datum::Float(number) => number.round() as i64,
        Datum::Double(number) => number.round() as i64,
        Datum::Text(text, _) => std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0),
        value => {
            let mut text = Vec::new();
            DataType::varchar(64, Collation::Utf8mb4_0900AiCi).append_text(value, &mut text);
            std::str::from_utf8(&text).ok().and_then(|text| text.parse::<f64>().ok()).map_or(0, |n| n.round() as i64)
        }
    };
    u64::from(number as u32)
}

/// Columns without rows: `#` behind a name is for a number.
fn empty(names: &[&'static str]) -> Rows {
    let column = |name: &&'static str| match name.strip_suffix('#') {
        Some(number) => VirtualColumn::big(number).or_null(),
        None => VirtualColumn::text(name, 64).or_null(),
    };
    Rows::new(names.iter().map(column).collect(), Vec::new())
}

const BINARY_LOG_STATUS: &[&str] = &["File", "Position#", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set"];
const LOG_EVENTS: &[&str] = &["Log_name", "Pos#", "Event_type", "Server_id#", "End_log_pos#", "Info"];
const REPLICAS: &[&str] = &["Server_Id#", "Host", "Port#", "Source_Id#", "Replica_UUID"];
const LIBRARY_STATUS: &[&str] = &["Db", "Name", "Language", "Creator", "Modified", "Created", "Comment"];
const REPLICA_STATUS: &[&str] = &[
    "Replica_IO_State",
    "Source_Host",
    "Source_User",
    "Source_Port#",
    "Connect_Retry#",
    "Source_Log_File",
    "Read_Source_Log_Pos#",
    "Relay_Log_File",
    "Relay_Log_Pos#",
    "Relay_Source_Log_File",
    "Replica_IO_Running",
    "Replica_SQL_Running",
    "Replicate_Do_DB",
    "Replicate_Ignore_DB",
    "Replicate_Do_Table",
    "Replicate_Ignore_Table",
    "Replicate_Wild_Do_Table",
    "Replicate_Wild_Ignore_Table",
    "Last_Errno#",
    "Last_Error",
    "Skip_Counter#",
    "Exec_Source_Log_Pos#",
    "Relay_Log_Space#",
    "Until_Condition",
    "Until_Log_File",
    "Until_Log_Pos#",
    "Source_SSL_Allowed",
    "Source_SSL_CA_File",
    "Source_SSL_CA_Path",
    "Source_SSL_Cert",
    "Source_SSL_Cipher",
    "Source_SSL_Key",
    "Seconds_Behind_Source#",
    "Source_SSL_Verify_Server_Cert",
    "Last_IO_Errno#",
    "Last_IO_Error",
    "Last_SQL_Errno#",
    "Last_SQL_Error",
    "Replicate_Ignore_Server_Ids",
    "Source_Server_Id#",
    "Source_UUID",
    "Source_Info_File",
    "SQL_Delay#",
    "SQL_Remaining_Delay#",
    "Replica_SQL_Running_State",
    "Source_Retry_Count#",
    "Source_Bind",
    "Last_IO_Error_Timestamp",
    "Last_SQL_Error_Timestamp",
    "Source_SSL_Crl",
    "Source_SSL_Crlpath",
    "Retrieved_Gtid_Set",
    "Executed_Gtid_Set",
    "Auto_Position#",
    "Replicate_Rewrite_DB",
    "Channel_Name",
    "Source_TLS_Version",
    "Source_public_key_path",
    "Get_Source_public_key#",
    "Network_Namespace",
];

/// Engines of MySQL that a table may be said to be of, and is not: the name, what it is called.
const OTHER_ENGINES: &[(&str, &str, &str)] = &[
    ("MEMORY", "NO", "Hash based, stored in memory, useful for temporary tables"),
    ("PERFORMANCE_SCHEMA", "YES", "Performance Schema"),
    ("MyISAM", "NO", "MyISAM storage engine"),
    ("FEDERATED", "NO", "Federated MySQL storage engine"),
    ("MRG_MYISAM", "NO", "Collection of identical MyISAM tables"),
    ("BLACKHOLE", "NO", "/dev/null storage engine (anything you write to it disappears)"),
    ("CSV", "NO", "CSV storage engine"),
    ("ARCHIVE", "NO", "Archive storage engine"),
];

fn engines() -> Rows {
    let columns = ["Engine", "Support", "Comment", "Transactions", "XA", "Savepoints"];
    let columns = columns.map(|name| VirtualColumn::text(name, if name == "Comment" { 80 } else { 64 }).or_null());
    let comment = "Supports transactions, row-level locking, and foreign keys";
    let mut rows = vec![["InnoDB", "DEFAULT", comment, "YES", "YES", "YES"].map(Cell::text).to_vec()];
    rows.extend(OTHER_ENGINES.iter().map(|(name, support, comment)| {
        let can = || if *support == "NO" { Cell::Null } else { Cell::text("NO") };
        vec![Cell::text(*name), Cell::text(*support), Cell::text(*comment), can(), can(), can()]
    }));
    Rows::new(columns.to_vec(), rows)
}

fn privileges() -> Rows {
    let columns = ["Privilege", "Context", "Comment"].map(|name| VirtualColumn::text(name, 80));
    let rows = include_str!("../../data/privileges.tsv").lines().filter(|line| !line.starts_with('#'));
    let rows = rows.map(|line| line.split('\t').map(Cell::text).collect()).collect();
    Rows::new(columns.to_vec(), rows)
}
