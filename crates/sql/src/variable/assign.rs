//! SET: what is to be set is checked as a whole, then set as a whole.
//!
//! ```text
//! (scope, name, Input) --check_set--> Assignment --apply--> Assigned: what the session must act on
//! SET NAMES, SET TRANSACTION --check_names, check_transaction--> Assignments
//! ```
//!
//! # Invariants
//! 1. `check_*` changes nothing. `apply` cannot fail: what is to be remembered is so before (`Globals::persist`).

use meseta_errors::{
    ER_CANT_CHANGE_TX_CHARACTERISTICS, ER_COLLATION_CHARSET_MISMATCH, ER_GLOBAL_VARIABLE,
    ER_INCORRECT_GLOBAL_LOCAL_VAR, ER_LOCAL_VARIABLE, ER_NO_DEFAULT, ER_PERSIST_ONLY_ACCESS_DENIED_ERROR,
    ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_UNKNOWN_SYSTEM_VARIABLE, ER_VARIABLE_IS_READONLY, ER_WARN_DEPRECATED_SYNTAX,
};
use meseta_parser::ast::{SetTransaction, VariableScope};
use meseta_types::{Charset, Collation, SqlError, Warnings};

use super::check::check;
use super::globals::Globals;
use super::persisted::can_be_kept;
use super::registry::{Definition, Guard, Scope, Variable};
use super::session::SessionVariables;
use super::settings::Isolation;
use super::value::{Input, Value};
use crate::error::{Error, Result};

/// What a SET needs besides the variables.
pub struct SetContext<'a> {
    /// Whether the account has a privilege: `SUPER`, `FILE`, or a dynamic one by its name.
    pub may: &'a dyn Fn(&str) -> bool,
    /// Where warnings go.
    pub warnings: &'a mut Warnings,
}

/// Where an assignment goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    Session,
    /// The next transaction only.
    Next,
    Global,
    /// Global, and remembered.
    Persist,
    /// Remembered for the next start.
    PersistOnly,
}

/// A value that was checked, and not set yet.
#[derive(Clone, PartialEq, Debug)]
pub struct Assignment {
    variable: Variable,
    target: Target,
    value: Value,
}

/// What was set.
#[derive(Clone, PartialEq, Debug)]
pub struct Assigned {
    /// Which variable.
    pub variable: Variable,
    /// Whether it was the session's value: then a session that tracks it tells its client.
    pub session: bool,
    /// What it was, of the session.
    pub before: Value,
    /// What it is.
    pub now: Value,
}

/// Checks `SET [scope] name = input`. `at_signs`: it was written `@@name`, which for a transaction's kind without a scope
/// means the next transaction. Errors: 1193, 1227 to 1232, 1238, 1621, and those of single variables.
pub fn check_set(
    session: &SessionVariables,
    scope: Option<VariableScope>,
    at_signs: bool,
    name: &str,
    input: Input<'_>,
    context: &mut SetContext<'_>,
) -> Result<Assignment> {
    let variable = Variable::find(name).ok_or_else(|| Error::new(ER_UNKNOWN_SYSTEM_VARIABLE, &[&name]))?;
    let definition = variable.definition();
    let of_transaction = matches!(definition.name, "transaction_isolation" | "transaction_read_only");
    let target = match scope {
        None if of_transaction && at_signs => Target::Next,
        None | Some(VariableScope::Session) => Target::Session,
        Some(VariableScope::Global) => Target::Global,
        Some(VariableScope::Persist) => Target::Persist,
        Some(VariableScope::PersistOnly) => Target::PersistOnly,
    };
    let of_session = matches!(target, Target::Session | Target::Next);
    warn_old(definition, context.warnings);
    if !definition.writable && target != Target::PersistOnly {
        return Err(Error::new(ER_INCORRECT_GLOBAL_LOCAL_VAR, &[&definition.name, &"read only"]));
    }
    if !definition.writable && !can_be_kept(definition.name) {
        return Err(Error::new(ER_INCORRECT_GLOBAL_LOCAL_VAR, &[&definition.name, &"non persistent read only"]));
    }
    if of_session && definition.scope == Scope::Global {
        return Err(Error::new(ER_GLOBAL_VARIABLE, &[&definition.name]));
    }
    if !of_session && !Globals::has(variable) {
        return Err(Error::new(ER_LOCAL_VARIABLE, &[&definition.name]));
    }
    check_guard(definition, target, context)?;
    if target == Target::Next && session.state.in_transaction {
        return Err(Error::new(ER_CANT_CHANGE_TX_CHARACTERISTICS, &[]));
    }
    let globals = session.globals();
    let current = if of_session { session.value(variable) } else { globals.get(variable) };
    let value = match input {
        Input::Default if definition.no_default => {
            return Err(Error::new(ER_NO_DEFAULT, &[&definition.name]));
        }
        // The session's default is the server's value.
        Input::Default if of_session && definition.scope == Scope::Both => globals.get(variable),
        Input::Default => globals.default_of(variable),
        input => check(definition, input, &current, context.warnings)?,
    };
    if of_session && definition.session_read_only {
        return Err(Error::new(ER_VARIABLE_IS_READONLY, &[&"SESSION", &definition.name, &"GLOBAL"]));
    }
    warn_of_value(definition, input, &value, context.warnings);
    Ok(Assignment { variable, target, value })
}

/// 1287 for a deprecated name.
pub(super) fn warn_old(definition: &Definition, warnings: &mut Warnings) {
    let Some(new) = definition.old else { return };
    let mut text = format!("'@@{}' is deprecated and will be removed in a future release.", definition.name);
    if let Some(new) = new {
        text.push_str(&format!(" Please use {new} instead."));
    }
    warnings.warn(SqlError::new(ER_WARN_DEPRECATED_SYNTAX.0, text));
}

/// Warnings of what is deprecated in being set at all.
fn warn_of_value(definition: &Definition, input: Input<'_>, value: &Value, warnings: &mut Warnings) {
    let name = definition.name;
    let (number, text) = match name {
        "character_set_database" | "collation_database" | "default_collation_for_utf8mb4" => {
            (1681, format!("Updating '{name}' is deprecated. It will be made read-only in a future release."))
        }
        "explicit_defaults_for_timestamp" if !value.is_true() => {
            (1287, format!("'{name}' is deprecated and will be removed in a future release."))
        }
        _ if matches!(input, Input::Text(text) if text.eq_ignore_ascii_case(b"utf8")) && name.starts_with("char") => (
            3719,
            "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a \
                    future release. Please consider using UTF8MB4 in order to be unambiguous."
                .to_owned(),
        ),
        _ => return,
    };
    warnings.warn(SqlError::new(number, text));
}

/// 1227 or 3630, if the account may not.
fn check_guard(definition: &Definition, target: Target, context: &SetContext<'_>) -> Result<()> {
    const GLOBAL: &[&str] = &["SUPER", "SYSTEM_VARIABLES_ADMIN"];
    let needed: &[&str] = match target {
        Target::Session | Target::Next => match definition.guard {
            Guard::Open => return Ok(()),
            Guard::Super => &["SUPER", "SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"],
            Guard::Admin => &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"],
            Guard::Applier => &["SUPER", "SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN", "REPLICATION_APPLIER"],
            Guard::File => &["FILE"],
        },
        Target::Global | Target::Persist => GLOBAL,
        Target::PersistOnly => &["SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN"],
    };
    // SUPER stands for all of them, if the message names it or not.
    let may = |privilege: &&str| (context.may)(privilege);
    let is_enough = if target == Target::PersistOnly { needed.iter().all(may) } else { needed.iter().any(may) };
    if is_enough || (context.may)("SUPER") {
        return Ok(());
    }
    if target == Target::PersistOnly {
        let both = "SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN";
        return Err(Error::new(ER_PERSIST_ONLY_ACCESS_DENIED_ERROR, &[&both]));
    }
    let text = match needed {
        [one] => (*one).to_owned(),
        [front @ .., last] => format!("{} or {last}", front.join(", ")),
        [] => String::new(),
    };
    Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&text]))
}

/// Checks `SET NAMES charset COLLATE collation` and, with `names` false, `SET CHARACTER SET charset`. None is DEFAULT.
/// Errors: 1115, 1273, 1253.
pub fn check_names(
    session: &SessionVariables,
    names: bool,
    character_set: Option<&str>,
    collation: Option<&str>,
) -> Result<Vec<Assignment>> {
    let set = |name: &str, value: &str| {
        let variable = Variable::find(name)?;
        Some(Assignment { variable, target: Target::Session, value: Value::text(value) })
    };
    let globals = session.globals().values();
    let defaults = globals.settings();
    let client = character_set.map_or(Ok(defaults.character_set_client), Charset::parse)?;
    let connection = match (names, character_set) {
        (false, _) => session.settings().collation_database,
        (true, None) => defaults.collation_connection,
        (true, Some(_)) => match collation.map(Collation::parse).transpose()? {
            None if client == Charset::Utf8mb4 => session.settings().default_collation_for_utf8mb4,
            None => client.default_collation(),
            Some(collation) if collation.charset() != client => {
                return Err(Error::new(ER_COLLATION_CHARSET_MISMATCH, &[&collation.name(), &client.name()]));
            }
            Some(collation) => collation,
        },
    };
    let results = match character_set {
        Some(_) => Some(client),
        None => defaults.character_set_results,
    };
    let all = [
        set("character_set_client", client.name()),
        set("character_set_results", results.unwrap_or(client).name()),
        set("collation_connection", connection.name()),
    ];
    Ok(all.into_iter().flatten().collect())
}

/// Checks `SET [scope] TRANSACTION ..`. Errors: 1568 in a transaction, 1227.
pub fn check_transaction(
    session: &SessionVariables,
    statement: &SetTransaction,
    context: &mut SetContext<'_>,
) -> Result<Vec<Assignment>> {
    let mut all = Vec::new();
    let at_signs = statement.scope.is_none();
    let isolation = statement.isolation.map(|level| Isolation::from(level).name());
    if let Some(name) = isolation {
        let input = Input::Text(name.as_bytes());
        all.push(check_set(session, statement.scope, at_signs, "transaction_isolation", input, context)?);
    }
    if let Some(read_only) = statement.read_only {
        let input = Input::Signed(read_only.into());
        all.push(check_set(session, statement.scope, at_signs, "transaction_read_only", input, context)?);
    }
    Ok(all)
}

impl Assignment {
    /// Which variable it sets.
    pub fn variable(&self) -> Variable {
        self.variable
    }

    /// The value that it sets.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Whether it sets the server's value, now or at the next start.
    pub fn is_global(&self) -> bool {
        !matches!(self.target, Target::Session | Target::Next)
    }

    /// What is to be remembered for the next start, if it is.
    pub(super) fn for_next_start(&self) -> Option<(Variable, String)> {
        let is_kept = matches!(self.target, Target::Persist | Target::PersistOnly);
        is_kept.then(|| (self.variable, self.variable.definition().shown(&self.value)))
    }

    /// Whether it sets, to another value, what is decided when the server starts.
    pub fn needs_restart(&self, globals: &Globals) -> bool {
        const AT_START: &[&str] = &["innodb_buffer_pool_size", "innodb_redo_log_capacity", "innodb_deadlock_detect"];
        matches!(self.target, Target::Global | Target::Persist)
            && AT_START.contains(&self.variable.definition().name)
            && globals.get(self.variable) != self.value
    }

    /// Sets it.
    pub fn apply(self, session: &mut SessionVariables) -> Assigned {
        let Assignment { variable, target, value } = self;
        let definition = variable.definition();
        let of_session = target == Target::Session;
        let globals = std::sync::Arc::clone(session.globals());
        let before = if of_session { session.value(variable) } else { globals.get(variable) };
        match target {
            Target::Session => session.store(variable, value.clone()),
            Target::Next => match definition.name {
                "transaction_isolation" => {
                    session.state.next_isolation = Some(Isolation::of_name(value.as_text()));
                }
                _ => session.state.next_read_only = Some(value.is_true()),
            },
            Target::Global | Target::Persist => globals.store(variable, value.clone()),
            Target::PersistOnly => {}
        }
        Assigned { variable, session: of_session, before, now: value }
    }
}
