//! The variables that whoever runs statements asks for, typed.
//!
//! ```text
//! Value (of any variable, as stored)  --take-->  Settings.field
//! ```
//!
//! # Invariants
//! 1. A field says what the stored value says; nobody sets one without the other (`SessionVariables::store`).

use meseta_types::{Charset, Collation, Context, Date, Warnings, Zone};

use super::sql_mode::SqlModes;
use super::value::Value;

/// `transaction_isolation`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Isolation {
    /// READ-UNCOMMITTED.
    ReadUncommitted,
    /// READ-COMMITTED.
    ReadCommitted,
    /// REPEATABLE-READ.
    #[default]
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

impl Isolation {
    /// As `transaction_isolation` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "READ-UNCOMMITTED",
            Isolation::ReadCommitted => "READ-COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE-READ",
            Isolation::Serializable => "SERIALIZABLE",
        }
    }

    /// The one of that name.
    pub fn of_name(name: &str) -> Isolation {
        match name {
            "READ-UNCOMMITTED" => Isolation::ReadUncommitted,
            "READ-COMMITTED" => Isolation::ReadCommitted,
            "SERIALIZABLE" => Isolation::Serializable,
            _ => Isolation::RepeatableRead,
        }
    }
}

impl From<meseta_parser::ast::IsolationLevel> for Isolation {
    fn from(level: meseta_parser::ast::IsolationLevel) -> Self {
        use meseta_parser::ast::IsolationLevel;
        match level {
            IsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
            IsolationLevel::ReadCommitted => Isolation::ReadCommitted,
            IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
            IsolationLevel::Serializable => Isolation::Serializable,
        }
    }
}

/// `session_track_transaction_info`: what of its transaction the client is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TransactionTracking {
    /// OFF.
    #[default]
    Off,
    /// STATE.
    State,
    /// CHARACTERISTICS: the state, and the statements that would begin another like it.
    Characteristics,
}

impl TransactionTracking {
    fn of_name(name: &str) -> TransactionTracking {
        match name {
            "STATE" => TransactionTracking::State,
            "CHARACTERISTICS" => TransactionTracking::Characteristics,
            _ => TransactionTracking::Off,
        }
    }
}

/// `completion_type`: what COMMIT and ROLLBACK do besides, unless they say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Completion {
    /// NO_CHAIN: nothing.
    #[default]
    NoChain,
    /// CHAIN: another transaction begins.
    Chain,
    /// RELEASE: the client is sent away.
    Release,
}

impl Completion {
    fn of_name(name: &str) -> Completion {
        match name {
            "CHAIN" => Completion::Chain,
            "RELEASE" => Completion::Release,
            _ => Completion::NoChain,
        }
    }
}

/// Declares the fields that are numbers, and how they are read.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $kind:tt),* $(,)?) => {
        /// A session's variables, typed. Numbers that have a unit have MySQL's: seconds, bytes, milliseconds for
        /// `max_execution_time`.
        #[derive(Clone, Debug)]
        #[allow(missing_docs)] // Each is the variable of its name.
        pub struct Settings {
            pub sql_mode: SqlModes,
            pub time_zone: Zone,
            pub character_set_client: Charset,
            pub character_set_connection: Charset,
            /// None: results are sent as they are.
            pub character_set_results: Option<Charset>,
            pub character_set_server: Charset,
            pub character_set_filesystem: Charset,
            pub collation_connection: Collation,
            pub collation_database: Collation,
            pub collation_server: Collation,
            pub default_collation_for_utf8mb4: Collation,
            pub transaction_isolation: Isolation,
            pub block_encryption_mode: std::sync::Arc<str>,
            pub session_track_transaction_info: TransactionTracking,
            pub completion_type: Completion,
            $(pub $name: settings!(@type $kind),)*
        }

        impl Settings {
            pub(super) fn empty() -> Settings {
                Settings {
                    sql_mode: SqlModes::DEFAULT,
                    time_zone: Zone::UTC,
                    character_set_client: Charset::Utf8mb4,
                    character_set_connection: Charset::Utf8mb4,
                    character_set_results: Some(Charset::Utf8mb4),
                    character_set_server: Charset::Utf8mb4,
                    character_set_filesystem: Charset::Binary,
                    collation_connection: Collation::Utf8mb4_0900AiCi,
                    collation_database: Collation::Utf8mb4_0900AiCi,
                    collation_server: Collation::Utf8mb4_0900AiCi,
                    default_collation_for_utf8mb4: Collation::Utf8mb4_0900AiCi,
                    transaction_isolation: Isolation::default(),
                    block_encryption_mode: "aes-128-ecb".into(),
                    session_track_transaction_info: TransactionTracking::default(),
                    completion_type: Completion::default(),
                    $($name: Default::default(),)*
                }
            }

            /// Takes over the value of a variable, if it has a field.
            pub(super) fn take(&mut self, name: &str, value: &Value) {
                let text = value.as_text();
                let charset = || Charset::parse(text).unwrap_or(Charset::Utf8mb4);
                let collation = || Collation::parse(text).unwrap_or(Collation::Utf8mb4_0900AiCi);
                match name {
                    "sql_mode" => self.sql_mode = SqlModes::parse(text).unwrap_or(SqlModes::DEFAULT),
                    "time_zone" => self.time_zone = Zone::parse(text).unwrap_or_default(),
                    "character_set_client" => self.character_set_client = charset(),
                    "character_set_connection" => self.character_set_connection = charset(),
                    "character_set_results" => {
                        self.character_set_results = (*value != Value::Null).then(charset);
                    }
                    "character_set_server" => self.character_set_server = charset(),
                    "character_set_filesystem" => self.character_set_filesystem = charset(),
                    "collation_connection" => self.collation_connection = collation(),
                    "collation_database" => self.collation_database = collation(),
                    "collation_server" => self.collation_server = collation(),
                    "default_collation_for_utf8mb4" => self.default_collation_for_utf8mb4 = collation(),
                    "block_encryption_mode" => self.block_encryption_mode = text.into(),
                    "transaction_isolation" => self.transaction_isolation = Isolation::of_name(text),
                    "session_track_transaction_info" => {
                        self.session_track_transaction_info = TransactionTracking::of_name(text);
                    }
                    "completion_type" => self.completion_type = Completion::of_name(text),
                    $(stringify!($name) => self.$name = settings!(@read $kind value),)*
                    _ => {}
                }
            }
        }
    };
    (@type bool) => { bool };
    (@type u64) => { u64 };
    (@type f64) => { f64 };
    (@read bool $value:ident) => { $value.is_true() };
    (@read u64 $value:ident) => { $value.as_u64() };
    (@read f64 $value:ident) => { match *$value { Value::Double(number) => number, _ => 0.0 } };
}

settings! {
    autocommit: bool,
    auto_increment_increment: u64,
    auto_increment_offset: u64,
    big_tables: bool,
    cte_max_recursion_depth: u64,
    default_week_format: u64,
    div_precision_increment: u64,
    explicit_defaults_for_timestamp: bool,
    foreign_key_checks: bool,
    group_concat_max_len: u64,
    innodb_lock_wait_timeout: u64,
    innodb_strict_mode: bool,
    interactive_timeout: u64,
    join_buffer_size: u64,
    lock_wait_timeout: u64,
    long_query_time: f64,
    max_allowed_packet: u64,
    max_error_count: u64,
    max_execution_time: u64,
    max_join_size: u64,
    max_sort_length: u64,
    net_read_timeout: u64,
    net_write_timeout: u64,
    sort_buffer_size: u64,
    sql_auto_is_null: bool,
    sql_big_selects: bool,
    sql_notes: bool,
    sql_quote_show_create: bool,
    sql_require_primary_key: bool,
    sql_safe_updates: bool,
    sql_select_limit: u64,
    sql_warnings: bool,
    session_track_schema: bool,
    session_track_state_change: bool,
    tmp_table_size: u64,
    transaction_read_only: bool,
    unique_checks: bool,
    wait_timeout: u64,
}

impl Settings {
    /// How a statement's text is to be read. `version` and the depth are the parser's defaults.
    pub fn parser_options(&self, multi_statements: bool) -> meseta_parser::Options {
        let sql_mode = self.sql_mode.for_parser();
        meseta_parser::Options { sql_mode, multi_statements, ..meseta_parser::Options::default() }
    }

    /// What a statement lends to conversions. `today` is in the session's zone.
    pub fn context(&self, today: Date) -> Context {
        Context {
            mode: self.sql_mode.for_values(),
            zone: self.time_zone.clone(),
            div_precision_increment: self.div_precision_increment.min(30) as u8,
            today,
            ignores: false,
            warnings: Warnings::new(self.max_error_count.min(65_535) as usize),
            row: 1,
        }
    }
}
