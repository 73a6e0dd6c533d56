//! Sessions: a client's state, and its statements one after the other.
//!
//! ```text
//!   text --shape--> a plan that is there ---------------------------> run --> Answer     (planned, plan_cache)
//!    \--parse--> statement --bind--> plan: kept for the next time --/     \__ fails: what it changed is undone
//!                   |__ transactions, SET, USE, definitions, SHOW: the session itself
//! ```
//!
//! # Invariants
//! 1. A statement that fails has changed nothing; a deadlock's victim has no transaction any more.
//! 2. Without an open transaction, and with autocommit, a statement's changes are committed before its client hears of them,
//!    and it leaves the tables that it used.
//! 3. A definition (DDL) commits what was before, as in MySQL.

mod absent;
mod account;
mod administration;
mod answer;
mod catalog;
mod connections;
mod counters;
mod create_select;
mod explain;
mod facts;
mod filter;
mod identifiers;
mod instance;
mod into;
mod load;
mod lock;
mod logs;
mod maintenance;
mod plan;
mod plan_cache;
mod planned;
mod prepared;
mod set;
mod shape;
mod show;
mod status;
mod suspension;
mod tracking;
mod transaction;
mod user_lock;
mod xa;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bumpalo::Bump;
use meseta_errors::{ER_BAD_DB_ERROR, ER_EMPTY_QUERY};
use meseta_parser::{Normaliser, ast};
use meseta_storage::Lsn;
use meseta_types::{Context, Date, Datum};

pub use account::account_settings;
pub use answer::{Answer, Done, Status};
pub use catalog::{SessionTables, TableRules};
pub use connections::{Connections, Process, ServerFigures, SessionShared};
pub use counters::{Counter, SessionCounters};
pub use facts::{Identity, Interrupts, SessionFacts, Undisturbed, clock};
pub use identifiers::{uuid, uuid_text};
pub use instance::{Instance, VERSION, WaitsBefore};
pub use lock::{GlobalReadLock, LockedTables};
pub use logs::{Log, Logs, check_path};
pub use plan::Parameters;
pub use prepared::{PreparedStatement, type_of, unknown_statement};
pub use status::ServerStatus;
pub use tracking::Tracked;
pub use user_lock::{Bell, UserLocks};
pub use xa::{XaNames, XaState, Xid};

use crate::error::{Error, Result};
use crate::expression::random::Random;
use crate::expression::{BindFacts, Host, copy_into};
use crate::name::text_of;
use crate::query::{Inside, OutputColumns, Place, Running, Sizes, Subquery};
use crate::schema::NameStyle;
use crate::schema::information::{Cell, Rows};
use crate::statement::definition::{self, DefinitionContext, Expressions, Outcome};
use crate::variable::{SessionVariables, SqlModes};
use plan::Environment;
use plan_cache::SessionPlans;

/// A client's session.
pub struct Session {
    instance: Arc<Instance>,
    engine: meseta_engine::Session,
    facts: SessionFacts,
    /// Warnings of the statement before, and what conversions need.
    context: Context,
    /// What the context was made of: the variables' version, and the minute.
    context_of: (u64, i64),
    /// Whether the SQL mode is strict, for statements that change data.
    is_strict: bool,
    savepoints: Vec<(Box<str>, meseta_engine::Savepoint)>,
    /// LOCK TABLES.
    locked: Option<LockedTables>,
    /// The XA branch that is under way.
    xa: Option<xa::XaBranch>,
    /// COMMIT RELEASE has been executed.
    is_released: bool,
    named_statements: prepared::NamedStatements,
    /// Which global variables this session has heeded last, by their version.
    globals_heeded: Option<u64>,
    /// What the client is told of the session's state.
    tracker: tracking::Tracker,
    /// The client is told how many rows were found for a change, not how many have changed: CLIENT_FOUND_ROWS.
    counts_found: bool,
    plans: SessionPlans,
    environment: Environment,
    normaliser: Normaliser,
    /// Whether the end of a commit's log may be left to whoever answers the client.
    defers_commits: bool,
    /// Whether a statement of the same text follows: then this one's commit is not deferred.
    more_follows: bool,
    pending: Option<Lsn>,
    /// Whether statements may wait without their thread: somebody calls back.
    may_suspend: bool,
    /// How it is with the statement that runs, or was suspended.
    suspension: suspension::Stage,
    /// Whether that is the first of its text.
    is_first: bool,
    /// Where the statement that runs is in its text, for logs; `None` of what may not be written.
    logged: Option<Logged>,
}

/// What is written of a statement's text.
#[derive(Clone, Copy)]
struct Logged {
    start: usize,
    end: usize,
    /// It may have a password in it.
    has_secret: bool,
    /// Rows that were read before it began.
    rows_read: u64,
}

impl Session {
    /// A session of a client.
    pub fn new(instance: &Arc<Instance>, identity: Identity, interrupts: Box<dyn Interrupts>) -> Result<Session> {
        let engine = instance.engine.session().map_err(Error::from_engine)?;
        let mut variables = SessionVariables::new(Arc::clone(&instance.globals));
        variables.state.connection_id = identity.connection;
        let context = variables.settings().context(Date::default());
        let shared = SessionShared::new(identity.connection, engine.canceller());
        instance.sessions.add(Arc::clone(&shared));
        let seed = clock() as u64 ^ identity.connection.rotate_left(32);
        let facts = SessionFacts {
            variables,
            user_variables: HashMap::new(),
            account: account::of_identity(instance, &identity),
            identity,
            database: None,
            statement_time: clock(),
            given_insert_id: None,
            row_count: -1,
            found_rows: 0,
            interrupts,
            random: Random::new(seed as u32, (seed >> 32) as u32),
            seeded: HashMap::new(),
            kept_values: Vec::new(),
            instance: Arc::clone(instance),
            shared,
            deadline: None,
        };
        let mut session = Session {
            instance: Arc::clone(instance),
            engine,
            facts,
            context,
            context_of: (u64::MAX, 0),
            is_strict: true,
            savepoints: Vec::new(),
            locked: None,
            xa: None,
            is_released: false,
            named_statements: prepared::NamedStatements::default(),
            globals_heeded: None,
            tracker: tracking::Tracker::default(),
            counts_found: false,
            plans: SessionPlans::default(),
            environment: Environment::default(),
            normaliser: Normaliser::new(),
            defers_commits: false,
            more_follows: false,
            pending: None,
            may_suspend: false,
            suspension: suspension::Stage::default(),
            is_first: true,
            logged: None,
        };
        session.apply_settings();
        session.heed_globals();
        Ok(session)
    }

    /// What the protocol says of the session.
    pub fn status(&self) -> Status {
        let settings = self.facts.variables.settings();
        Status {
            in_transaction: self.facts.variables.state.in_transaction,
            autocommit: settings.autocommit,
            more_results: false,
            no_backslash_escapes: settings.parser_options(false).sql_mode.no_backslash_escapes,
            warnings: self.context.warnings.count(),
            results: settings.character_set_results,
        }
    }

    /// Whether others may have to wait for it: its transaction has changed or locked rows, or it has locked tables.
    pub fn holds_locks(&self) -> bool {
        self.engine.holds_rows() || self.locked.is_some()
    }

    /// A statement may be about to come: what most of them begin with is brought near.
    pub fn prefetch(&self) {
        self.facts.shared.prefetch();
        self.engine.prefetch();
    }

    /// A statement is there, and [`Session::prefetch`] was called some time before: the tables that the session has used are
    /// brought near.
    pub fn prefetch_tables(&self) {
        self.engine.prefetch_tables();
    }

    /// The database of tables that are named without one. As long as it is the same it is the same allocation.
    pub fn database(&self) -> Option<&Arc<str>> {
        self.facts.database.as_ref()
    }

    /// The collation of the connection's text.
    pub fn variables(&self) -> &SessionVariables {
        &self.facts.variables
    }

    /// Uses another database: USE, COM_INIT_DB. Error 1049 if there is none of this name.
    pub fn use_database(&mut self, name: &str) -> Result<()> {
        self.check_use(name)?;
        let is_there =
            crate::schema::information::is_system_database(name) || self.engine.schema().databases.contains_key(name);
        if !is_there {
            return Err(Error::new(ER_BAD_DB_ERROR, &[&name]));
        }
        if self.facts.database.as_deref() != Some(name) {
            self.facts.database = Some(name.into());
        }
        self.tracker.chose_schema();
        Ok(())
    }

    /// Whether UPDATE tells the client how many rows it has found, and ON DUPLICATE KEY UPDATE counts rows that were as they were to be;
    /// otherwise those that have changed. ROW_COUNT() is the same number.
    pub fn set_counts_found(&mut self, on: bool) {
        self.counts_found = on;
    }

    /// Leaves commits that are to be flushed to the caller: after each call that executes, [`Session::take_pending`] says
    /// what must be durable before the client hears of it.
    pub fn defer_commits(&mut self) {
        self.defers_commits = true;
    }

    /// The end of the log that must be durable before what was answered may leave.
    pub fn take_pending(&mut self) -> Option<Lsn> {
        self.pending.take()
    }

    /// Executes the statements of a text, one after the other, up to the first that fails, or is [suspended](Session::is_suspended).
    /// An error here means that the client cannot be answered.
    pub fn execute(&mut self, text: &[u8], multi_statements: bool, answer: &mut dyn Answer) -> Result<()> {
        let mut start = 0;
        loop {
            self.is_first = start == 0;
            self.begin_or_resume();
            let done = self.by_text(text, start, multi_statements, answer);
            if self.suspends_or_ends(&done) {
                return Ok(());
            }
            self.end_count(text);
            match done {
                Ok(Some(next)) => start = next,
                Ok(None) => return Ok(()),
                Err(error) => return self.fail(&error, answer),
            }
        }
    }

    fn fail(&mut self, error: &Error, answer: &mut dyn Answer) -> Result<()> {
        self.facts.row_count = -1;
        self.note_failure(error);
        let condition = meseta_types::SqlError::new(error.code.0, error.message.clone());
        self.context.warnings.push(meseta_types::Level::Error, condition);
        self.remember_warnings();
        answer.failed(error, self.status())
    }

    fn begin_statement(&mut self) {
        crate::stack::begin();
        self.facts.statement_time = clock();
        self.facts.given_insert_id = None;
        self.facts.seeded.clear();
        self.facts.kept_values.clear();
        self.begin_count();
        self.engine.begin_statement();
    }

    fn remember_warnings(&mut self) {
        let state = &mut self.facts.variables.state;
        state.warning_count = self.context.warnings.count();
        state.statement_id += 1;
    }

    /// A context for a statement: fresh warnings.
    fn renew_context(&mut self, changes_data: bool) {
        // (A plan has been made, perhaps another one.)
        self.facts.kept_values.clear();
        let now = self.facts.statement_time();
        let made_of = (self.facts.variables.version(), now.div_euclid(60_000_000));
        if self.context_of == made_of {
            self.context.warnings.clear();
            self.context.row = 1;
        } else {
            let settings = self.facts.variables.settings();
            let today = crate::statement::today(now, &settings.time_zone);
            self.context = settings.context(today);
            (self.context_of, self.is_strict) = (made_of, self.context.mode.strict);
        }
        self.context.mode.strict = self.is_strict && changes_data;
    }

    fn bind_facts<'t>(&self, text: &'t [u8], parameters: Parameters<'t>) -> BindFacts<'t> {
        let settings = self.facts.variables.settings();
        BindFacts {
            text,
            parser_mode: settings.parser_options(false).sql_mode,
            mode: self.context.mode,
            collation: settings.collation_connection,
            div_precision_increment: self.context.div_precision_increment,
            parameters: parameters.types,
            parameters_are_ascii: parameters.are_ascii(),
            first_lifted: parameters.types.len() as u32,
            only_full_group_by: settings.sql_mode.has(SqlModes::ONLY_FULL_GROUP_BY),
            ..BindFacts::default()
        }
    }

    /// What the session's state says of tables.
    fn rules(&self) -> TableRules<'_> {
        TableRules {
            locked: self.locked.as_ref(),
            xa: self.xa_state(),
            is_read_only: self.is_read_only(),
            reads_lock: self.reads_lock(),
        }
    }

    /// Tables by their names, as they are now.
    fn tables(&mut self) -> SessionTables<'_> {
        let schema = Arc::clone(self.engine.schema());
        SessionTables {
            rules: self.rules(),
            instance: &self.instance,
            schema,
            database: self.facts.database.as_deref(),
            variables: &self.facts.variables,
            user_variables: &self.facts.user_variables,
            has_named_variables: false,
            sizes: Sizes::default(),
        }
    }

    /// What statements run on.
    fn running<'r>(&'r mut self, slots: &'r [Datum<'r>], subqueries: &'r [Subquery]) -> Running<'r> {
        let settings = self.facts.variables.settings();
        let row_memory = self.instance.row_memory.load(std::sync::atomic::Ordering::Relaxed);
        let (memory, lock_wait) =
            ((settings.tmp_table_size as usize).max(row_memory), settings.innodb_lock_wait_timeout);
        let lock_wait = Duration::from_secs(lock_wait);
        let lock_wait = match self.facts.deadline {
            Some(deadline) => lock_wait.min(deadline.saturating_duration_since(std::time::Instant::now())),
            None => lock_wait,
        };
        let is_own_transaction = self.facts.variables.is_own_transaction();
        let auto_increment = (settings.auto_increment_increment, settings.auto_increment_offset);
        let no_auto_value_on_zero = settings.sql_mode.has(SqlModes::NO_AUTO_VALUE_ON_ZERO);
        Running {
            inside: Inside {
                engine: &mut self.engine,
                facts: &mut self.facts,
                slots,
                subqueries,
                memory_limit: memory,
                lock_wait,
                may_suspend: false,
                is_own_transaction,
                auto_increment,
                no_auto_value_on_zero,
                tables: &self.instance.tables,
                statistics: &self.instance.statistics,
                working: Vec::new(),
                found: Vec::new(),
                rows_without_limit: None,
                kept: None,
                measures: None,
            },
            context: &mut self.context,
            materialized: Default::default(),
        }
    }

    /// Executes a statement that has no plan.
    fn statement(
        &mut self,
        statement: &ast::Statement<'_>,
        text: &[u8],
        parameters: Parameters<'_>,
        more: bool,
        answer: &mut dyn Answer,
    ) -> Result<()> {
        use ast::Statement as S;
        self.statement_begins(statement)?;
        if !matches!(statement, S::Show(_)) {
            self.renew_context(matches!(statement, S::Load(_)) || crate::statement::is_definition(statement));
        }
        self.authorise(statement)?;
        let done = match statement {
            statement if crate::account::is_account_statement(statement) => {
                return self.account_statement(statement, more, answer);
            }
            S::Empty => return Err(Error::new(ER_EMPTY_QUERY, &[])),
            S::Do(expressions) => {
                self.evaluate_each(expressions, text, parameters, &mut |_, _| Ok(()))?;
                self.end_statement(Ok(()))?;
                Done::default()
            }
            S::Query(ast::Query { into: Some(into), .. }) => {
                let S::Query(query) = statement else { return Err(Error::not_yet("this statement")) };
                self.select_into(query, into, text, parameters)?
            }
            S::Load(load) => self.load(load, text, parameters, answer)?,
            S::Use(name) => {
                self.use_database(&text_of(name.text.0))?;
                Done::default()
            }
            S::Set(items) => {
                self.set(items, text, parameters)?;
                Done::default()
            }
            S::SetTransaction(statement) => {
                self.set_transaction(statement)?;
                Done::default()
            }
            S::Transaction(statement) => {
                self.transaction(statement)?;
                Done::default()
            }
            S::LockTables(tables) => {
                self.lock_tables(tables)?;
                Done::default()
            }
            S::UnlockTables => {
                self.unlock_tables()?;
                Done::default()
            }
            S::Flush(flush) if matches!(flush.what, ast::FlushWhat::Tables { .. }) => {
                self.flush_tables(flush)?;
                Done::default()
            }
            S::Xa(statement) => {
                if self.execute_xa(statement, more, answer)? {
                    return Ok(());
                }
                Done::default()
            }
            S::Explain(explain) if !matches!(explain.target, ast::ExplainTarget::Table { .. }) => {
                return self.explain(explain, text, parameters, more, answer);
            }
            S::Explain(explain) => {
                let rows = self.define(statement, text);
                let Outcome::Rows(mut rows) = self.end_statement(rows)? else {
                    return Err(Error::not_yet("this EXPLAIN"));
                };
                if let ast::ExplainTarget::Table { name, .. } = explain.target {
                    let columns = ast::ShowWhat::Columns { extended: false, full: false, table: name };
                    self.keep_visible(&columns, &mut rows);
                }
                return self.show_rows(&rows, more, answer);
            }
            S::Kill(kill) => {
                self.kill_statement(kill, text, parameters)?;
                Done::default()
            }
            S::Flush(flush) => {
                self.flush(flush)?;
                Done::default()
            }
            S::Administration(ast::Administration {
                kind: ast::AdministrationKind::ResetPersist { if_exists },
                name,
                ..
            }) => {
                let name = name.map(|name| text_of(name.0));
                self.reset_persist(name.as_deref(), *if_exists)?;
                Done::default()
            }
            S::Administration(ast::Administration { kind: ast::AdministrationKind::Shutdown, .. }) => {
                self.shut_down()?;
                Done::default()
            }
            S::Maintenance(given) => return self.maintain(given, more, answer),
            S::Show(show) => {
                if self.show_own(show, text, more, answer)? {
                    return self.end_statement(Ok(()));
                }
                if show.filter.is_none()
                    && let Some(rows) = self.administrative_rows(&show.what)?
                {
                    self.end_statement(Ok(()))?;
                    return self.show_rows(&rows, more, answer);
                }
                self.renew_context(false);
                let rows = self.define(statement, text).and_then(|outcome| match outcome {
                    Outcome::Rows(mut rows) => {
                        self.keep_visible(&show.what, &mut rows);
                        self.rows_where(rows, show, text)
                    }
                    _ => Err(Error::not_yet("this SHOW")),
                });
                let rows = self.end_statement(rows)?;
                return self.show_rows(&rows, more, answer);
            }
            S::Prepare { name, source } => {
                self.prepare_named(name, source)?;
                Done { info: "Statement prepared".to_owned(), ..Done::default() }
            }
            S::Execute { name, using } => return self.execute_named(name, using, answer),
            S::Deallocate(name) => {
                self.forget_named(name)?;
                Done::default()
            }
            S::Truncate(name) if self.truncates_waits(name)? => Done::default(),
            S::CreateTable(create) if create_select::has_query(create) => {
                self.in_definition(statement, |session| session.create_from_query(create, text, parameters))?
            }
            _ if crate::statement::is_definition(statement) => {
                let defined = self.in_definition(statement, |session| session.define(statement, text))?;
                match defined {
                    Outcome::Done { rows } => {
                        let info = definition::told(statement, rows, self.context.warnings.count());
                        Done { affected: rows, info, ..Done::default() }
                    }
                    Outcome::DroppedDatabase { name, tables } => {
                        if self.facts.database.as_deref() == Some(&*name) {
                            self.facts.database = None;
                        }
                        Done { affected: tables, ..Done::default() }
                    }
                    Outcome::Rows(rows) => return self.show_rows(&rows, more, answer),
                }
            }
            statement => {
                self.absent(statement)?;
                Done::default()
            }
        };
        self.facts.row_count = 0;
        self.remember_warnings();
        self.tell_changes(answer);
        answer.done(&done, Status { more_results: more, ..self.status() })
    }

    /// Evaluates expressions that name no tables.
    fn evaluate_each(
        &mut self,
        expressions: &[ast::Expression<'_>],
        text: &[u8],
        parameters: Parameters<'_>,
        show: &mut dyn FnMut(usize, Datum<'_>) -> Result<()>,
    ) -> Result<()> {
        for (at, expression) in expressions.iter().enumerate() {
            let facts = self.bind_facts(text, parameters);
            let mut tables = self.tables();
            let (bound, subqueries) =
                crate::query::bind_alone(expression, facts, &mut tables, Place::plain("field list"))?;
            let arena = Bump::new();
            let mut running = self.running(parameters.values, &subqueries);
            let value = bound.evaluate(&[], &mut running.env(&arena, &[]))?;
            let value = copy_into(value, None, &arena);
            drop(running);
            show(at, value)?;
        }
        Ok(())
    }

    /// Executes a definition, or a SHOW that tells of definitions.
    fn define(&mut self, statement: &ast::Statement<'_>, text: &[u8]) -> Result<Outcome> {
        self.with_definitions(|context| definition::execute(statement, text, context))
    }

    /// Does something with what definitions work with.
    fn with_definitions<T>(&mut self, act: impl FnOnce(&mut DefinitionContext<'_>) -> Result<T>) -> Result<T> {
        let settings = self.facts.variables.settings().clone();
        let (database, account) = (self.facts.database.clone(), self.facts.identity.account.clone());
        let now = (self.facts.statement_time() / 1_000_000) as u64;
        let mut expressions = Expressions::new(&mut self.facts);
        let mut context = DefinitionContext {
            engine: &mut self.engine,
            tables: &self.instance.tables,
            statistics: &self.instance.statistics,
            database: database.as_deref(),
            server_collation: settings.collation_server,
            connection_collation: settings.collation_connection,
            foreign_key_checks: settings.foreign_key_checks,
            no_engine_substitution: settings.sql_mode.has(SqlModes::NO_ENGINE_SUBSTITUTION),
            real_as_float: settings.sql_mode.has(SqlModes::REAL_AS_FLOAT),
            names: NameStyle {
                quotes_all: settings.sql_quote_show_create,
                is_ansi: settings.sql_mode.has(SqlModes::ANSI_QUOTES),
            },
            account: account.rsplit_once('@').unwrap_or_default(),
            now,
            context: &mut self.context,
            expressions: Some(&mut expressions),
        };
        act(&mut context)
    }

    /// Rows that are at hand.
    fn show_rows(&mut self, rows: &Rows, more: bool, answer: &mut dyn Answer) -> Result<()> {
        let columns = OutputColumns::from(filter::output_columns(rows));
        let status = Status { more_results: more, ..self.status() };
        answer.columns(&columns, status)?;
        for row in &rows.rows {
            let values: Vec<Datum<'_>> = row.iter().map(Cell::datum).collect();
            answer.row(&columns, &values)?;
        }
        self.facts.row_count = -1;
        self.facts.found_rows = rows.rows.len() as u64;
        self.tell_changes(answer);
        answer.end(status)
    }
}
