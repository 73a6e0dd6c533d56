//! Rows of SHOW VARIABLES and SHOW STATUS. A WHERE is the caller's: it sees columns `Variable_name` and `Value`.

use meseta_parser::ast::VariableScope;
use meseta_types::Collation;

use super::registry::{Scope, Variable};
use super::session::SessionVariables;
use super::status::{StatusProvider, status_names};

/// Whether a name is LIKE a pattern, as SHOW compares: in any case, with `\` as the escape.
pub fn like(name: &str, pattern: &[u8]) -> bool {
    Collation::Utf8mb3GeneralCi.like(name.as_bytes(), pattern, Some(u32::from(b'\\')))
}

/// The rows of `SHOW [GLOBAL | SESSION] VARIABLES [LIKE pattern]`, in the order of names.
pub fn show_variables(
    session: &SessionVariables,
    scope: Option<VariableScope>,
    pattern: Option<&[u8]>,
) -> Vec<(&'static str, String)> {
    let global = matches!(scope, Some(VariableScope::Global));
    let globals = session.globals().values();
    Variable::all()
        .filter(|variable| {
            let definition = variable.definition();
            !definition.hidden
                && (!global || definition.scope != Scope::Session)
                && pattern.is_none_or(|pattern| like(definition.name, pattern))
        })
        .map(|variable| {
            let definition = variable.definition();
            let value = if global { globals.get(variable).clone() } else { session.value(variable) };
            (definition.name, definition.shown(&value))
        })
        .collect()
}

/// The rows of `SHOW [GLOBAL | SESSION] STATUS [LIKE pattern]`, in the order of names.
pub fn show_status(
    provider: &dyn StatusProvider,
    scope: Option<VariableScope>,
    pattern: Option<&[u8]>,
) -> Vec<(&'static str, String)> {
    let global = matches!(scope, Some(VariableScope::Global));
    status_names()
        .filter(|name| pattern.is_none_or(|pattern| like(name, pattern)))
        .map(|name| (name, provider.status(name, global).unwrap_or_else(|| "0".to_owned())))
        .collect()
}
