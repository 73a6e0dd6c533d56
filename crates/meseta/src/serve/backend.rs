//! The language behind the server's connections: one session of `sql` for each.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Instant;

use meseta_protocol::auth::server::Account;
use meseta_protocol::column::ColumnType;
use meseta_protocol::execute::{Execute, Parameter, ParameterType, Query};
use meseta_protocol::flags::{Capabilities, CursorFlags, StatusFlags};
use meseta_protocol::greeting::Attributes;
use meseta_protocol::reply::{EofPacket, OkPacket, PrepareOk, SessionChanges};
use meseta_protocol::value::{DateTime as WireDateTime, Value as WireValue};
use meseta_server::backend::{Claim, ConnectionHandle, End, Opening, Peer, Reason, Refusal};
use meseta_server::{Backend, Outcome, Reply, Session, blocking};
use meseta_sql::account::SessionAccount;
use meseta_sql::query::OutputColumn;
use meseta_sql::session::{
    Bell, Counter, Identity, Instance, Interrupts, Parameters, Session as SqlSession, unknown_statement,
};
use meseta_sql::{Error, Result};
use meseta_storage::{Lsn, StorageError, Store};
use meseta_types::{Collation, DataType, Date, DateTime, Datum, Decimal, Time};
use smallvec::SmallVec;

use super::answer::{ReplyAnswer, push_change, status_flags, write_column, write_column_with_default};
use super::connections::ServerConnections;
use super::cursor::CursorAnswer;
use super::login::{Connected, Logins};
use super::statements::{ClientStatement, Statements};

/// The language, for all connections.
pub struct SqlBackend(Arc<Shared>);

/// What connections share.
struct Shared {
    instance: Arc<Instance>,
    server: Arc<ServerConnections>,
    logins: Logins,
}

impl SqlBackend {
    /// Over an instance, and the connections that it may see and end.
    pub fn new(instance: Arc<Instance>, server: Arc<ServerConnections>) -> Self {
        Self(Arc::new(Shared { instance, server, logins: Logins::default() }))
    }
}

impl Shared {
    /// A session of a client that has proved who it is: as new, whatever was on this connection before.
    fn begin(&self, opening: &Opening<'_>) -> std::result::Result<(SqlSession, Connected), Refusal> {
        let (account, connected) = self.logins.open(&self.instance, opening)?;
        let refusal = |error: Error| Refusal { code: error.code, message: error.message };
        let session = begin_session(&self.instance, &self.server, opening, account).map_err(refusal)?;
        if self.instance.logs.general.is_on() {
            let (user, host) = (String::from_utf8_lossy(&opening.client.user), opening.peer.host());
            let database = String::from_utf8_lossy(&opening.client.database);
            let way = match (&opening.peer, &opening.tls) {
                (Peer::Unix { .. }, _) => "Socket",
                (_, Some(_)) => "SSL/TLS",
                (_, None) => "TCP/IP",
            };
            session.log_command("Connect", format!("{user}@{host} on {database} using {way}").as_bytes());
        }
        Ok((session, connected))
    }
}

fn begin_session(
    instance: &Arc<Instance>,
    server: &ServerConnections,
    opening: &Opening<'_>,
    account: SessionAccount,
) -> Result<SqlSession> {
    let client = opening.client;
    let user = String::from_utf8_lossy(&client.user);
    let connection = u64::from(opening.connection.id());
    let identity =
        Identity { connection, user: format!("{user}@{}", opening.peer.host()), account: account.account.to_string() };
    let interrupts = Box::new(ConnectionInterrupts { connection: opening.connection.clone(), looks: Cell::new(0) });
    let mut session = SqlSession::new(instance, identity, interrupts)?;
    session.set_account(account);
    // Whoever is killed waits for no lock any more. (The session is looked for: COM_CHANGE_USER makes another.)
    let of = Arc::clone(instance);
    let cancel = move || {
        if let Some(session) = of.sessions.get(connection) {
            session.cancel();
        }
    };
    opening.connection.interrupt().watch_always(Arc::new(cancel));
    let shared = session.shared();
    if let Some(tls) = &opening.tls {
        *shared.tls.lock() = Some((tls.version, tls.cipher));
        server.tls_accepts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    if let Ok(attributes) = Attributes::parse(&client.attributes) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        *shared.attributes.lock() = attributes.iter().map(|(name, value)| (text(name), text(value))).collect();
    }
    session.set_client_collation(client.collation)?;
    session.set_tracking(client.capabilities.has(Capabilities::SESSION_TRACK));
    session.set_counts_found(client.capabilities.has(Capabilities::FOUND_ROWS));
    if client.capabilities.has(Capabilities::INTERACTIVE) {
        session.set_wait_timeout(session.variables().settings().interactive_timeout);
    }
    if !client.database.is_empty() {
        session.use_database(&String::from_utf8_lossy(&client.database))?;
    }
    session.defer_commits();
    session.suspend_with(opening.connection.waker());
    Ok(session)
}

impl Backend for SqlBackend {
    fn version(&self) -> String {
        self.0.instance.version.clone()
    }

    fn account(&self, claim: &Claim<'_>) -> Option<Account> {
        self.0.logins.account(&self.0.instance.accounts, claim)
    }

    fn proved(&self, claim: &Claim<'_>, digest: [u8; 32]) {
        self.0.logins.proved(&self.0.instance.accounts, claim, digest);
    }

    fn denied(&self, claim: &Claim<'_>) -> Option<Refusal> {
        self.0.logins.denied(&self.0.instance.accounts, claim)
    }

    fn round_is_over(&self, goes_on: bool) {
        let store = self.0.instance.engine.store();
        store.reap_reads();
        if goes_on {
            store.flush_gathered_if_due();
        } else {
            store.flush_gathered();
        }
    }

    fn open(&self, opening: Opening<'_>) -> std::result::Result<Box<dyn Session>, Refusal> {
        let (session, connected) = self.0.begin(&opening)?;
        let multi_statements = opening.client.capabilities.has(Capabilities::MULTI_STATEMENTS);
        Ok(Box::new(ClientSession {
            session,
            connected,
            shared: Arc::clone(&self.0),
            connection: opening.connection,
            multi_statements,
            store: self.0.instance.engine.store().clone(),
            told_database: None,
            statements: Statements::default(),
            limits: [0; 3],
        }))
    }

    fn statistics(&self, counters: &meseta_server::counters::Counters) -> String {
        let sums = self.0.instance.sessions.sums();
        let (questions, slow) = (sums[Counter::Questions as usize], sums[Counter::SlowQueries as usize]);
        let totals = counters.totals();
        let open = self.0.instance.tables.len();
        let per_second = questions as f64 / totals.uptime_seconds.max(1) as f64;
        format!(
            "Uptime: {}  Threads: {}  Questions: {questions}  Slow queries: {slow}  Opens: {open}  Flush tables: 0  \
             Open tables: {open}  Queries per second avg: {per_second:.3}",
            totals.uptime_seconds, totals.threads_connected
        )
    }
}

/// KILL, and clients that have gone.
struct ConnectionInterrupts {
    connection: ConnectionHandle,
    /// How often a statement has looked.
    looks: Cell<u32>,
}

/// Looks after which a statement counts as one that takes long: of rows that a cursor reads one for sixteen, else one a row.
const LONG_AFTER: u32 = 64;

impl Interrupts for ConnectionInterrupts {
    fn check(&self) -> Result<()> {
        // Counted through statements: short ones are taken for long now and then.
        self.looks.set(self.looks.get().wrapping_add(1));
        if self.looks.get().is_multiple_of(LONG_AFTER) {
            blocking::takes_long();
        }
        match self.connection.interrupt().reason() {
            None => Ok(()),
            Some(Reason::Shutdown) => Err(Error::new(meseta_errors::ER_SERVER_SHUTDOWN, &[])),
            Some(_) => Err(Error::new(meseta_errors::ER_QUERY_INTERRUPTED, &[])),
        }
    }

    fn wait(&self, bell: &Arc<Bell>, deadline: Option<Instant>, state: &'static str) {
        let waker = Arc::clone(bell);
        let _watch = self.connection.interrupt().watch(Arc::new(move || waker.ring()));
        let _blocking = blocking::enter();
        self.connection.set_state(state);
        bell.wait(deadline);
        self.connection.set_state("");
    }
}

struct ClientSession {
    session: SqlSession,
    /// Counts it.
    connected: Connected,
    shared: Arc<Shared>,
    connection: ConnectionHandle,
    multi_statements: bool,
    /// To hear when a commit is durable.
    store: Store,
    /// The session's database, as the connection was told.
    told_database: Option<Arc<str>>,
    statements: Statements,
    /// `wait_timeout`, `net_read_timeout`, `net_write_timeout`, as the connection was told.
    limits: [u64; 3],
}

impl ClientSession {
    fn answered(
        &mut self,
        reply: &mut Reply<'_>,
        is_binary: bool,
        run: impl FnOnce(&mut SqlSession, &mut ReplyAnswer<'_, '_>) -> Result<()>,
    ) -> Outcome {
        let mut answer = ReplyAnswer::new(&mut *reply, is_binary);
        let done = run(&mut self.session, &mut answer);
        self.ended(done, reply)
    }

    /// Tells the connection of the session's database, if that is another than it was.
    fn tell_database(&mut self) {
        let database = self.session.database();
        if database.map(Arc::as_ptr) != self.told_database.as_ref().map(Arc::as_ptr) {
            self.connection.set_database(database.map(|name| &**name));
            self.told_database = database.cloned();
        }
    }

    /// A command has been answered: the connection hears of what has changed, and the reply waits for the log if it must.
    fn ended(&mut self, done: Result<()>, reply: &mut Reply<'_>) -> Outcome {
        if self.session.is_suspended() {
            return self.suspended(reply);
        }
        self.tell_database();
        self.apply_limits();
        let pending = self.session.take_pending();
        match pending.filter(|&end| self.store.durable_lsn() < end) {
            _ if done.is_err() || self.session.is_released() => Outcome::Close,
            None => Outcome::Done,
            Some(end) => self.wait_for_log(end, reply),
        }
    }

    /// The statement is suspended. (It may have been called back meanwhile: then it is executed again at once.)
    fn suspended(&self, reply: &mut Reply<'_>) -> Outcome {
        reply.set_state(self.session.suspended_state().unwrap_or_default());
        Outcome::Suspended(self.session.suspended_for().unwrap_or_default())
    }

    /// The reply may leave once the log is durable up to there.
    fn wait_for_log(&mut self, end: Lsn, reply: &mut Reply<'_>) -> Outcome {
        if blocking::is_alone() {
            let _kept = blocking::keep();
            // What failed has stopped the engine, and is told to whoever waits: below.
            if matches!(self.store.try_durable(end), Ok(true)) {
                return Outcome::Done;
            }
        }
        // The connection waits for the log, and no thread does. The log is told after the worker's round.
        let parked = reply.park();
        self.store.on_durable_gathered(end, |outcome| parked.complete(outcome.map_err(lost)));
        Outcome::Parked
    }

    /// Tells the connection of time-outs that have been set.
    fn apply_limits(&mut self) {
        let settings = self.session.variables().settings();
        let limits = [settings.wait_timeout, settings.net_read_timeout, settings.net_write_timeout];
        if limits != self.limits {
            let [wait, read, write] = limits.map(|seconds| seconds.min(u32::MAX.into()) as u32);
            self.connection.set_wait_timeout_seconds(wait);
            self.connection.set_net_read_timeout_seconds(read);
            self.connection.set_net_write_timeout_seconds(write);
            self.limits = limits;
        }
    }

    /// An OK with what has changed of the session's state.
    fn ok(&mut self, reply: &mut Reply<'_>) -> Outcome {
        let mut changes = SessionChanges::new();
        self.session.changes().iter().for_each(|change| push_change(&mut changes, change));
        reply.ok(&OkPacket { status: self.status(), session: changes.bytes(), ..OkPacket::default() });
        Outcome::Done
    }

    fn failed(reply: &mut Reply<'_>, error: &Error) -> Outcome {
        meseta_protocol::reply::ErrPacket::new(error.code, error.message.as_bytes()).write(reply.writer());
        Outcome::Done
    }
}

/// The log has failed: nobody knows whether the commit will be there.
fn lost(error: StorageError) -> Refusal {
    Refusal { code: meseta_errors::ER_UNKNOWN_ERROR, message: error.to_string() }
}

/// Whether bytes of this type are no text.
fn is_blob(column_type: ColumnType) -> bool {
    use ColumnType as T;
    matches!(column_type, T::TinyBlob | T::MediumBlob | T::LongBlob | T::Blob)
}

/// Decimals that show a fraction.
fn decimals_of(micros: u32) -> u8 {
    if micros == 0 { 0 } else { 6 }
}

/// The type as which a parameter is planned: of a NULL too, and the same for texts of like lengths, so that executions share
/// their plan.
fn type_of(parameter_type: ParameterType, value: &WireValue<'_>, collation: Collation) -> DataType {
    use ColumnType as T;
    match parameter_type.column_type {
        T::Null => DataType::Null,
        T::Tiny | T::Short | T::Int24 | T::Long | T::LongLong | T::Year if parameter_type.unsigned => {
            DataType::BIGINT_UNSIGNED
        }
        T::Tiny | T::Short | T::Int24 | T::Long | T::LongLong | T::Year => DataType::BIGINT,
        T::Float | T::Double => DataType::DOUBLE,
        T::OldDecimal | T::NewDecimal => DataType::decimal(65, 30),
        T::Date | T::NewDate => DataType::Date,
        T::Time | T::Time2 => DataType::Time { decimals: 6 },
        T::DateTime | T::Timestamp | T::DateTime2 | T::Timestamp2 => DataType::DateTime { decimals: 6 },
        column_type => {
            let length = match value {
                WireValue::Bytes(bytes) if bytes.len() > 255 => bytes.len().next_power_of_two() as u32,
                _ => 255,
            };
            let collation = if is_blob(column_type) { Collation::Binary } else { collation };
            DataType::Varchar { length, collation }
        }
    }
}

/// A parameter's value.
fn value_of(parameter: Parameter<'_>, collation: Collation) -> Datum<'_> {
    let column_type = parameter.parameter_type.column_type;
    match parameter.value {
        WireValue::Null => Datum::Null,
        WireValue::Int(number) => Datum::Signed(number),
        WireValue::UInt(number) => Datum::Unsigned(number),
        WireValue::Float(number) => Datum::Double(number.into()),
        WireValue::Double(number) => Datum::Double(number),
        WireValue::Bytes(bytes) if matches!(column_type, ColumnType::OldDecimal | ColumnType::NewDecimal) => {
            Datum::Decimal(Decimal::parse(bytes).value)
        }
        WireValue::Bytes(bytes) => Datum::Text(bytes, if is_blob(column_type) { Collation::Binary } else { collation }),
        WireValue::DateTime(value) => {
            let date = Date { year: value.year, month: value.month, day: value.day };
            let WireDateTime { hour, minute, second, microsecond: micros, .. } = value;
            match column_type {
                ColumnType::Date | ColumnType::NewDate => Datum::Date(date),
                _ => Datum::DateTime(DateTime { date, hour, minute, second, micros }, decimals_of(micros)),
            }
        }
        WireValue::Time(value) => {
            let seconds = i64::from(value.days) * 86_400
                + i64::from(value.hour) * 3600
                + i64::from(value.minute) * 60
                + i64::from(value.second);
            let micros = seconds * 1_000_000 + i64::from(value.microsecond);
            let (time, _) = Time::from_micros(if value.negative { -micros } else { micros });
            Datum::Time(time, decimals_of(value.microsecond))
        }
    }
}

impl Session for ClientSession {
    fn status(&self) -> StatusFlags {
        status_flags(self.session.status())
    }

    fn holds_locks(&self) -> bool {
        self.session.holds_locks()
    }

    fn prefetch(&self) {
        self.statements.prefetch();
        self.session.prefetch();
    }

    fn is_administrator(&self) -> bool {
        self.session.account().grants().may_dynamic("CONNECTION_ADMIN")
    }

    fn query(&mut self, query: &Query<'_>, reply: &mut Reply<'_>) -> Outcome {
        let (text, multi) = (query.text, self.multi_statements);
        self.answered(reply, false, |session, answer| session.execute(text, multi, answer))
    }

    fn prepare(&mut self, text: &[u8], reply: &mut Reply<'_>) -> Outcome {
        self.session.count(Counter::ComStmtPrepare);
        let (prepared, columns) = match self.session.prepare(text) {
            Ok(prepared) => prepared,
            Err(error) => return Self::failed(reply, &error),
        };
        self.session.log_prepared(&prepared, None);
        let capabilities = reply.capabilities();
        let results = self.session.status().results;
        let parameters = prepared.parameters();
        let ok = PrepareOk {
            statement_id: self.statements.add(prepared),
            columns: columns.len() as u16,
            parameters: parameters as u16,
            warnings: 0,
            with_definitions: true,
        };
        ok.write(reply.writer(), capabilities);
        let end = EofPacket { status: self.status(), warnings: 0 };
        if parameters > 0 {
            let data_type = DataType::Varchar { length: 21_845, collation: Collation::Binary };
            let parameter = OutputColumn::new("?", data_type, true);
            (0..parameters).for_each(|_| write_column(reply, &parameter, results));
            end.write_end_of_columns(reply.writer(), capabilities);
        }
        if !columns.is_empty() {
            columns.iter().for_each(|column| write_column(reply, column, results));
            end.write_end_of_columns(reply.writer(), capabilities);
        }
        Outcome::Done
    }

    fn execute(&mut self, execute: Execute<'_>, reply: &mut Reply<'_>) -> Outcome {
        let id = execute.statement_id;
        let Some(mut statement) = self.statements.take(id) else {
            return Self::failed(reply, &unknown_statement(id, "mysqld_stmt_execute"));
        };
        meseta_prefetch::value(&*statement);
        self.session.prefetch_tables();
        statement.prepared.prefetch();
        let ClientStatement { prepared, types: kept, long_data, cursor } = &mut *statement;
        let count = prepared.parameters() as usize;
        let collation = self.session.variables().settings().collation_connection;
        *cursor = None;
        if !self.session.is_suspended() {
            self.session.count(Counter::ComStmtExecute);
        }
        let with_cursor = execute.cursor.has(CursorFlags::READ_ONLY);
        let mut values: SmallVec<[Datum<'_>; 8]> = SmallVec::new();
        let mut types: SmallVec<[DataType; 8]> = SmallVec::new();
        let long = (!long_data.is_empty()).then_some(&*long_data);
        let read = execute.parameters(reply.capabilities(), count, kept, long).and_then(|parameters| {
            for parameter in parameters.take(count) {
                let parameter = parameter?;
                types.push(type_of(parameter.parameter_type, &parameter.value, collation));
                values.push(value_of(parameter, collation));
            }
            Ok(())
        });
        reply.set_info(prepared.text());
        let outcome = match read {
            Ok(()) if with_cursor => {
                let limit = self.session.variables().settings().tmp_table_size.max(256 << 20) as usize;
                let mut answer = CursorAnswer::new(ReplyAnswer::new(&mut *reply, true), limit);
                let parameters = Parameters { values: &values, types: &types };
                let done = self.session.execute_prepared(prepared, parameters, &mut answer);
                *cursor = answer.opened.take();
                self.ended(done, reply)
            }
            Ok(()) => self.answered(reply, true, |session, answer| {
                session.execute_prepared(prepared, Parameters { values: &values, types: &types }, answer)
            }),
            Err(_) => {
                reply.error(meseta_errors::ER_MALFORMED_PACKET, &[]);
                Outcome::Done
            }
        };
        drop((values, types));
        if !self.session.is_suspended() {
            long_data.clear();
        }
        self.statements.put_back(id, statement);
        outcome
    }

    fn fetch(&mut self, statement_id: u32, rows: u32, reply: &mut Reply<'_>) -> Outcome {
        self.session.count(Counter::ComStmtFetch);
        let status = self.status();
        let Some(statement) = self.statements.get_mut(statement_id) else {
            return Self::failed(reply, &unknown_statement(statement_id, "mysqld_stmt_fetch"));
        };
        let Some(mut cursor) = statement.cursor.take() else {
            reply.error(meseta_errors::ER_STMT_HAS_NO_OPEN_CURSOR, &[&statement_id]);
            return Outcome::Done;
        };
        if cursor.fetch(rows, status, reply) {
            statement.cursor = Some(cursor);
        }
        Outcome::Done
    }

    fn send_long_data(&mut self, statement_id: u32, parameter: u16, piece: &[u8]) {
        self.session.count(Counter::ComStmtSendLongData);
        let limit = self.session.variables().settings().max_allowed_packet as usize;
        // There is no answer, and so no error either.
        if let Some(state) = self.statements.get_mut(statement_id) {
            state.long_data.append(parameter, piece, limit);
        }
    }

    fn close_statement(&mut self, statement_id: u32) {
        self.session.count(Counter::ComStmtClose);
        self.session.log_command("Close stmt", b"");
        self.statements.close(statement_id);
    }

    fn reset_statement(&mut self, statement_id: u32, reply: &mut Reply<'_>) -> Outcome {
        self.session.count(Counter::ComStmtReset);
        self.session.log_command("Reset stmt", b"");
        let Some(statement) = self.statements.get_mut(statement_id) else {
            return Self::failed(reply, &unknown_statement(statement_id, "mysqld_stmt_reset"));
        };
        statement.long_data.clear();
        statement.cursor = None;
        self.ping(reply)
    }

    fn init_db(&mut self, name: &[u8], reply: &mut Reply<'_>) -> Outcome {
        self.session.count(Counter::ComChangeDb);
        self.session.log_command("Init DB", name);
        if let Err(error) = self.session.use_database(&String::from_utf8_lossy(name)) {
            return Self::failed(reply, &error);
        }
        self.tell_database();
        self.ok(reply)
    }

    fn field_list(&mut self, table: &[u8], pattern: &[u8], reply: &mut Reply<'_>) -> Outcome {
        self.session.log_command("Field List", &[table, b" ", pattern].concat());
        match self.session.field_list(&String::from_utf8_lossy(table), pattern) {
            Ok(columns) => {
                for (column, default) in &columns {
                    write_column_with_default(reply, column, default.as_deref());
                }
                let status = self.status();
                let capabilities = reply.capabilities();
                OkPacket { status, ..OkPacket::default() }.write_end_of_rows(reply.writer(), capabilities);
                Outcome::Done
            }
            Err(error) => Self::failed(reply, &error),
        }
    }

    fn set_multi_statements(&mut self, on: bool) {
        self.multi_statements = on;
    }

    fn reset_connection(&mut self, reply: &mut Reply<'_>) -> Outcome {
        self.session.log_command("Reset Connection", b"");
        self.session.reset();
        self.statements.close_all();
        self.apply_limits();
        self.ok(reply)
    }

    fn change_user(&mut self, opening: Opening<'_>) -> std::result::Result<(), Refusal> {
        // What was open is rolled back, also if the new account is refused.
        self.session.close();
        self.statements.close_all();
        (self.session, self.connected) = self.shared.begin(&opening)?;
        self.multi_statements = opening.client.capabilities.has(Capabilities::MULTI_STATEMENTS);
        self.tell_database();
        self.apply_limits();
        Ok(())
    }

    fn kill(&mut self, connection_id: u32, reply: &mut Reply<'_>) -> Outcome {
        self.session.count(Counter::ComKill);
        match self.session.kill(connection_id.into(), false) {
            Ok(()) => self.ok(reply),
            Err(error) => Self::failed(reply, &error),
        }
    }

    fn close(mut self: Box<Self>, _: End) {
        self.session.log_command("Quit", b"");
        self.session.close();
    }
}
