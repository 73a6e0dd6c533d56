//! The functions that there are: a name, how many arguments, how it is bound, how it is evaluated.
//!
//! ```text
//!   "concat" --find--> Function { bind: types of arguments -> type of result, evaluate: Site -> Datum }
//! ```
//!
//! A function evaluates its own arguments (through its `Site`), so that IF does not compute what it does not need.
//! `MISSING` names those of MySQL that are not there yet: their error is 1235, that of names that MySQL does not know
//! either is 1305.
//!
//! Source: the manual's "Functions and Operators"; types, NULLs, warnings and limits by experiment (tests/expression).

mod cipher;
mod control;
mod encryption;
mod information;
mod json;
mod miscellaneous;
mod nullability;
mod numeric;
mod regexp;
mod string;
mod temporal;

use std::collections::HashMap;
use std::sync::LazyLock;

use meseta_types::{Collation, DataType, Datum};

pub use nullability::NULL_OF_NULL;
pub(in crate::expression) use temporal::{NUMBER_AS_POINT, TEXT_AS_POINT};

use super::bind::call::{Arguments, Typed};
use super::kind::{Call, Extra};
use super::{Env, Expr};
use crate::error::Result;

/// How firm a function's value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Firmness {
    /// Its arguments decide it.
    Pure,
    /// Its arguments, the session and the beginning of the statement decide it.
    Statement,
    /// It may be another one for each row, or has an effect.
    Volatile,
}

type Bind = fn(&mut Arguments<'_, '_>) -> Result<Typed>;
type Evaluate = for<'v, 'h> fn(Site<'v>, &mut Env<'v, 'h>) -> Result<Datum<'v>>;

/// A function.
pub struct Function {
    /// Its name, in lower case.
    pub name: &'static str,
    /// The fewest arguments.
    pub least: u8,
    /// The most arguments; 255 for any number.
    pub most: u8,
    /// What decides its value.
    pub firmness: Firmness,
    pub(super) describes: bool,
    /// Whether it takes each argument for a point in time: one that is the same for all rows is read once.
    pub(super) takes_points: bool,
    pub(super) bind: Bind,
    pub(super) evaluate: Evaluate,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Function {
    /// Whether it is written by nobody: what is written is its argument.
    pub fn is_unwritten(&self) -> bool {
        self.name.is_empty()
    }

    /// Whether its arguments alone decide its value.
    pub fn is_pure(&self) -> bool {
        self.firmness == Firmness::Pure
    }

    /// Whether its value is the same for all rows of a statement, if its arguments are.
    pub fn is_stable(&self) -> bool {
        self.firmness != Firmness::Volatile
    }

    const fn of_points(self) -> Function {
        Function { takes_points: true, ..self }
    }
}

const fn pure(name: &'static str, least: u8, most: u8, bind: Bind, evaluate: Evaluate) -> Function {
    Function { name, least, most, firmness: Firmness::Pure, describes: false, takes_points: false, bind, evaluate }
}

/// One whose errors print its call.
const fn described(name: &'static str, least: u8, most: u8, bind: Bind, evaluate: Evaluate) -> Function {
    Function { describes: true, ..pure(name, least, most, bind, evaluate) }
}

const fn statement(name: &'static str, least: u8, most: u8, bind: Bind, evaluate: Evaluate) -> Function {
    Function { firmness: Firmness::Statement, ..pure(name, least, most, bind, evaluate) }
}

const fn volatile(name: &'static str, least: u8, most: u8, bind: Bind, evaluate: Evaluate) -> Function {
    Function { firmness: Firmness::Volatile, ..pure(name, least, most, bind, evaluate) }
}

static FAMILIES: &[&[Function]] = &[
    cipher::FUNCTIONS,
    control::FUNCTIONS,
    encryption::FUNCTIONS,
    information::FUNCTIONS,
    json::FUNCTIONS,
    miscellaneous::FUNCTIONS,
    numeric::FUNCTIONS,
    regexp::FUNCTIONS,
    string::FUNCTIONS,
    temporal::FUNCTIONS,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static Function>> =
    LazyLock::new(|| all().map(|function| (function.name, function)).collect());

/// All functions.
pub fn all() -> impl Iterator<Item = &'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The function with this name, in lower case.
pub fn find(name: &str) -> Option<&'static Function> {
    BY_NAME.get(name).copied()
}

/// Whether MySQL has a function with this name, in lower case, that is not there yet.
pub fn is_missing(name: &str) -> bool {
    MISSING.binary_search(&name).is_ok() || name.starts_with("st_") || name.starts_with("mbr")
}

/// Functions of MySQL 9.7 that are not there yet, in order; those of geometry (`st_`, `mbr`) aside.
pub static MISSING: &[&str] = &[
    "can_access_column",
    "can_access_database",
    "can_access_event",
    "can_access_routine",
    "can_access_table",
    "can_access_trigger",
    "can_access_user",
    "can_access_view",
    "distance",
    "etag",
    "extractvalue",
    "geomcollection",
    "geometrycollection",
    "gtid_subset",
    "gtid_subtract",
    "json_schema_valid",
    "json_schema_validation_report",
    "linestring",
    "load_file",
    "master_pos_wait",
    "multilinestring",
    "multipoint",
    "multipolygon",
    "name_const",
    "point",
    "polygon",
    "ps_current_thread_id",
    "ps_thread_id",
    "roles_graphml",
    "source_pos_wait",
    "statement_digest",
    "statement_digest_text",
    "string_to_vector",
    "to_vector",
    "updatexml",
    "validate_password_strength",
    "vector_dim",
    "vector_to_string",
    "wait_for_executed_gtid_set",
];

/// Where a function is evaluated: its call, and the row.
#[derive(Clone, Copy)]
pub(super) struct Site<'v> {
    pub expr: &'v Expr,
    pub call: &'v Call,
    pub row: &'v [Datum<'v>],
}

impl<'v> Site<'v> {
    pub fn count(self) -> usize {
        self.call.arguments.len()
    }

    pub fn argument(self, number: usize) -> Option<&'v Expr> {
        self.call.arguments.get(number)
    }

    /// The value of an argument; NULL if it was left out.
    #[inline]
    pub fn value(self, number: usize, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        match self.call.arguments.get(number) {
            Some(argument) => argument.evaluate(self.row, env),
            None => Ok(Datum::Null),
        }
    }

    /// Where the value of an argument lies, if it need not be computed.
    #[inline]
    pub(super) fn place<'p>(&'p self, number: usize, env: &'p Env<'v, '_>) -> Option<&'p Datum<'v>> {
        self.call.arguments.get(number)?.place(self.row, env.slots)
    }

    /// As text, in the character set that its binder chose.
    pub fn text(self, number: usize, env: &mut Env<'v, '_>) -> Result<Option<&'v [u8]>> {
        let value = self.value(number, env)?;
        Ok(self.text_of(number, value, env))
    }

    /// The same, of a value of it that is there.
    pub fn text_of(self, number: usize, value: Datum<'v>, env: &Env<'v, '_>) -> Option<&'v [u8]> {
        self.argument(number)?.text_of(value, env.arena)
    }

    /// As an integer and whether it is unsigned.
    pub fn integer(self, number: usize, env: &mut Env<'v, '_>) -> Result<Option<(i64, bool)>> {
        Ok(self.value(number, env)?.to_integer(env.context))
    }

    /// As an integer, beyond the signed range the largest.
    pub fn signed(self, number: usize, env: &mut Env<'v, '_>) -> Result<Option<i64>> {
        Ok(self.integer(number, env)?.map(
            |(bits, unsigned)| {
                if unsigned { i64::try_from(bits as u64).unwrap_or(i64::MAX) } else { bits }
            },
        ))
    }

    /// As a double.
    pub fn double(self, number: usize, env: &mut Env<'v, '_>) -> Result<Option<f64>> {
        let value = self.value(number, env)?;
        Ok(self.argument(number).and_then(|argument| argument.double_of(value, env.context)))
    }

    /// The collation of an argument.
    pub fn collation_of(self, number: usize) -> Collation {
        self.argument(number).map_or(Collation::Binary, |argument| argument.collated.collation)
    }

    /// The collation of the result.
    pub fn collation(self) -> Collation {
        self.expr.collated.collation
    }

    /// The result's type.
    pub fn data_type(self) -> &'v DataType {
        &self.expr.data_type
    }

    /// The text that goes into errors.
    pub fn described(self) -> String {
        match &self.call.extra {
            Extra::Text(text) => text.to_string(),
            _ => format!("{}()", self.call.function.name),
        }
    }

    /// The collation in which texts are compared, if the binder chose one.
    pub fn comparison_collation(self) -> Collation {
        match &self.call.extra {
            Extra::Comparer(comparer) => comparer.collation,
            _ => self.collation_of(0),
        }
    }

    /// A text as result.
    pub fn made(self, text: &[u8], env: &mut Env<'v, '_>) -> Datum<'v> {
        Datum::Text(env.arena.alloc_slice_copy(text), self.collation())
    }

    /// Whether a text of so many bytes is longer than a session may make; warns then.
    pub fn too_long(self, bytes: usize, env: &mut Env<'v, '_>) -> bool {
        let most = env.host.max_allowed_packet();
        if bytes > most {
            let error =
                crate::Error::new(meseta_errors::ER_WARN_ALLOWED_PACKET_OVERFLOWED, &[&self.call.function.name, &most]);
            env.context.warnings.warn(warning(error));
            return true;
        }
        false
    }
}

/// An error as a warning.
pub(super) fn warning(error: crate::Error) -> meseta_types::SqlError {
    meseta_types::SqlError::new(error.code.0, error.message)
}

/// Binds to BIGINT(width): NULL if an argument is.
fn bind_integer<const WIDTH: u8>(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    Ok(arguments.typed(super::typing::integer(WIDTH)))
}

/// The same, but perhaps NULL though no argument is.
fn bind_maybe_integer<const WIDTH: u8>(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    Ok(arguments.typed(super::typing::integer(WIDTH)).nullable())
}

/// Binds to DOUBLE.
fn bind_double(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.numbers();
    Ok(arguments.typed(DataType::DOUBLE))
}

fn bind_maybe_double(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.numbers();
    Ok(arguments.typed(DataType::DOUBLE).nullable())
}

/// Whether an expression is a condition, which JSON takes for true or false rather than for a number.
pub(in crate::expression) fn is_condition(expr: &Expr) -> bool {
    use super::ExprKind as K;
    match &expr.kind {
        K::Compare(_)
        | K::RowCompare(_)
        | K::And(_)
        | K::Or(_)
        | K::Xor(_)
        | K::Not(_)
        | K::IsNull { .. }
        | K::IsTruth { .. }
        | K::Between(_)
        | K::In(_)
        | K::Like(_)
        | K::Exists(_)
        | K::InSubquery(_)
        | K::Quantified(_) => true,
        K::Constant(_) => expr.data_type == super::typing::BOOLEAN,
        _ => false,
    }
}
