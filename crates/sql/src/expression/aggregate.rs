//! Aggregates: what comes of the rows of a group.
//!
//! ```text
//!   ast::Aggregate --bind_aggregate--> AggregateCall --Accumulator::new--> add(row)* --finish--> Datum
//! ```
//!
//! The executor evaluates nothing itself: [`AggregateCall::add_row`] evaluates the arguments and adds them.
//!
//! # Invariants
//! 1. An accumulator owns what it keeps: rows may go once they were added.
//!
//! Source: the manual's "Aggregate Function Descriptions"; types by experiment.

use std::cmp::Ordering;

use bumpalo::Bump;
use meseta_parser::ast;
use meseta_types::json::{self, Tree};
use meseta_types::{Charset, Collated, Collation, DataType, Datum, Decimal, Derivation, Short, SqlError};
use smallvec::SmallVec;

use super::bind::{BindFacts, Binder, unify};
use super::comparer::Comparer;
use super::evaluate::is_bytes;
use super::group::append_row_key;
use super::group_concat::Texts;
use super::key_numbers::KeyNumbers;
use super::sort_key::SortKey;
use super::typing::{self, collated_of, exact_digits};
use super::value::{Value, copy_into};
use super::{Env, Expr, Scope};
use crate::error::{Error, Result};

/// What is computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum AggregateFunction {
    /// COUNT(*).
    CountRows,
    Count,
    Sum,
    Avg,
    Min,
    Max,
    BitAnd,
    BitOr,
    BitXor,
    StdPop,
    StdSamp,
    VarPop,
    VarSamp,
    GroupConcat,
    JsonArray,
    JsonObject,
}

/// An aggregate, bound.
#[derive(Clone, Debug)]
pub struct AggregateCall {
    /// What is computed.
    pub function: AggregateFunction,
    /// Of what.
    pub arguments: Vec<Expr>,
    /// Whether equal rows count once.
    pub distinct: bool,
    /// GROUP_CONCAT's order.
    pub order_by: Vec<SortKey>,
    /// GROUP_CONCAT's separator, in the character set of its result.
    pub separator: Box<[u8]>,
    /// What it yields.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text.
    pub collated: Collated,
    /// How values compare, for MIN and MAX.
    pub comparer: Comparer,
}

impl AggregateCall {
    /// All that is computed of each row.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.arguments.iter().chain(self.order_by.iter().map(|key| &key.value))
    }

    /// The same, to change it.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.arguments.iter_mut().chain(self.order_by.iter_mut().map(|key| &mut key.value))
    }

    /// Whether it makes one value of all of a group's: then rows come sorted by group.
    pub fn makes_list(&self) -> bool {
        use AggregateFunction as F;
        matches!(self.function, F::GroupConcat | F::JsonArray | F::JsonObject)
    }
}

/// Binds an aggregate; its arguments stand in the scope of the rows. Errors: those of binding its arguments.
pub fn bind_aggregate(
    aggregate: &ast::Aggregate<'_>,
    scope: &mut dyn Scope,
    facts: &BindFacts<'_>,
) -> Result<AggregateCall> {
    let mut binder = Binder::new(scope, facts);
    let mut arguments =
        aggregate.arguments.iter().map(|argument| binder.scalar(argument)).collect::<Result<Vec<_>>>()?;
    let mut order_by = Vec::new();
    for item in aggregate.order_by {
        // A number is a position among the arguments.
        let position = item.expression.as_integer();
        let value =
            match position.and_then(|at| usize::try_from(at).ok()).and_then(|at| arguments.get(at.wrapping_sub(1))) {
                Some(argument) => argument.clone(),
                None => binder.scalar(&item.expression)?,
            };
        order_by.push(SortKey { value, descending: item.descending });
    }
    use ast::AggregateFunction as F;
    let function = match aggregate.function {
        F::Count if arguments.is_empty() => AggregateFunction::CountRows,
        F::Count => AggregateFunction::Count,
        F::Sum => AggregateFunction::Sum,
        F::Avg => AggregateFunction::Avg,
        F::Min => AggregateFunction::Min,
        F::Max => AggregateFunction::Max,
        F::BitAnd => AggregateFunction::BitAnd,
        F::BitOr => AggregateFunction::BitOr,
        F::BitXor => AggregateFunction::BitXor,
        F::Std => AggregateFunction::StdPop,
        F::Variance => AggregateFunction::VarPop,
        F::StddevSamp => AggregateFunction::StdSamp,
        F::VarSamp => AggregateFunction::VarSamp,
        F::GroupConcat => AggregateFunction::GroupConcat,
        F::JsonArrayagg => AggregateFunction::JsonArray,
        F::JsonObjectagg => AggregateFunction::JsonObject,
        F::StCollect => return Err(Error::not_yet("ST_COLLECT")),
    };
    if aggregate.absent_on_null {
        return Err(Error::not_yet("ABSENT ON NULL"));
    }
    let connection = facts.collation;
    let first = arguments.first();
    let first_type = first.map_or(DataType::Null, |first| first.data_type.clone());
    let mut collated = typing::numeric_collated(connection);
    let data_type = match function {
        AggregateFunction::CountRows | AggregateFunction::Count => typing::integer(21),
        AggregateFunction::Sum => match exact_digits(&first_type) {
            Some((whole, scale, _)) => typing::decimal(whole + 22, scale, false),
            None => typing::double_like(&first_type, 0),
        },
        AggregateFunction::Avg => match exact_digits(&first_type) {
            Some((whole, scale, _)) => {
                typing::decimal(whole, (scale + u32::from(facts.div_precision_increment)).min(30), false)
            }
            None => typing::double_like(&first_type, facts.div_precision_increment.into()),
        },
        AggregateFunction::StdPop
        | AggregateFunction::StdSamp
        | AggregateFunction::VarPop
        | AggregateFunction::VarSamp => DataType::DOUBLE,
        AggregateFunction::Min | AggregateFunction::Max => {
            if let Some(first) = first {
                collated = first.collated;
            }
            match &first_type {
                DataType::Enum(_) | DataType::Set(_) => {
                    typing::string_type(typing::characters(&first_type), collated.collation)
                }
                other => typing::unfilled(other),
            }
        }
        AggregateFunction::BitAnd | AggregateFunction::BitOr | AggregateFunction::BitXor => match first {
            Some(first) if is_bytes(first) => first_type.clone(),
            _ => typing::unsigned(21),
        },
        AggregateFunction::GroupConcat => {
            let mut some: Vec<&mut Expr> = arguments.iter_mut().collect();
            collated = unify(&mut some, "group_concat", facts)?;
            typing::string_type(1024 / u64::from(collated.collation.charset().max_len()) * 4, collated.collation)
        }
        AggregateFunction::JsonArray | AggregateFunction::JsonObject => {
            collated = collated_of(&DataType::Json, Derivation::Implicit, connection);
            DataType::Json
        }
    };
    let is_of_doubles = matches!(data_type, DataType::Double { .. })
        && !matches!(function, AggregateFunction::Min | AggregateFunction::Max);
    if is_of_doubles && !aggregate.distinct {
        arguments = arguments.into_iter().map(Expr::double_operand).collect();
    }
    let nullable = !matches!(
        function,
        AggregateFunction::CountRows
            | AggregateFunction::Count
            | AggregateFunction::BitAnd
            | AggregateFunction::BitOr
            | AggregateFunction::BitXor
    );
    let mut separator = aggregate.separator.map_or(&b","[..], |separator| separator.0).to_vec();
    if function == AggregateFunction::GroupConcat && collated.collation.charset() != connection.charset() {
        let mut converted = Vec::new();
        connection.charset().convert(&separator, collated.collation.charset(), &mut converted);
        separator = converted;
    }
    let comparer = Comparer::new(&first_type, &first_type, collated.collation);
    Ok(AggregateCall {
        function,
        arguments,
        distinct: aggregate.distinct,
        order_by,
        separator: separator.into(),
        data_type,
        nullable,
        collated,
        comparer,
    })
}

impl AggregateCall {
    /// An accumulator for one group.
    pub fn accumulator(&self) -> Accumulator {
        Accumulator::new(self)
    }

    /// Adds a row to the sum of a column of whole numbers, with nothing in between; `None` if it is no such sum, or the row has
    /// something else there. Errors: as [`AggregateCall::add_row`].
    #[inline]
    pub fn add_whole(&self, accumulator: &mut Accumulator, row: &[Datum<'_>]) -> Option<Result<()>> {
        if let (State::Exact(sum, count), [argument], None) =
            (&mut accumulator.state, &self.arguments[..], &accumulator.seen)
            && let Some(Datum::Signed(number)) = argument.slot_value(row)
        {
            *count += 1;
            return Some(sum.add_short(Short::whole(number)));
        }
        None
    }

    /// Evaluates the arguments for a row of the group, and adds them.
    pub fn add_row<'v>(
        &'v self,
        accumulator: &mut Accumulator,
        row: &'v [Datum<'v>],
        env: &mut Env<'v, '_>,
    ) -> Result<()> {
        match (&mut accumulator.state, &self.arguments[..], &accumulator.seen) {
            (State::Count(count), [], None) => {
                *count += 1;
                return Ok(());
            }
            (_, [argument], _) if self.order_by.is_empty() => {
                if let Some(value) = argument.place(row, env.slots) {
                    return accumulator.add(self, std::slice::from_ref(value), env);
                }
            }
            _ => {}
        }
        let mut values: SmallVec<[Datum<'v>; 4]> = SmallVec::new();
        for argument in self.expressions() {
            match argument.slot_value(row) {
                Some(value) => values.push(value),
                None => values.push(argument.evaluate(row, env)?),
            }
        }
        accumulator.add(self, &values, env)
    }
}

/// The state of an aggregate over the rows of a group so far.
pub struct Accumulator {
    state: State,
    /// The rows that were there, of DISTINCT.
    seen: Option<Box<Seen>>,
}

/// Rows of arguments that were there.
#[derive(Default)]
struct Seen {
    keys: KeyNumbers,
    /// That of the last.
    key: Vec<u8>,
}

impl Seen {
    fn is_new(&mut self, row: &[Datum<'_>], call: &AggregateCall) -> bool {
        let collations: SmallVec<[Collation; 4]> =
            call.arguments.iter().map(|argument| argument.collated.collation).collect();
        self.key.clear();
        append_row_key(row, &collations, &mut self.key);
        self.keys.of(&self.key).1
    }
}

enum State {
    Count(i64),
    /// Sum and number of values.
    Exact(ExactSum, u64),
    Double(f64, u64),
    Best(Option<Value>),
    Bits(u64),
    /// Bytes of BIT_AND and the like; none before the first value.
    Bytes(Option<Box<[u8]>>),
    /// Number, mean, sum of squares of distances from it.
    Variance(u64, f64, f64),
    Concat(Texts),
    /// An array or an object.
    Document(Tree<'static>),
}

/// A sum of exact numbers.
#[derive(Clone, Copy)]
struct ExactSum {
    sum: Decimal,
    /// Numbers of few digits that are not in `sum` yet, and have their point in the same place: they are added up many times faster.
    short: Short,
}

impl ExactSum {
    const ZERO: Self = Self { sum: Decimal::ZERO, short: Short::ZERO };

    fn add(&mut self, number: Decimal) -> Result<()> {
        self.sum = self.sum.add(&number).map_err(|_| SqlError::value_out_of_range("DECIMAL", "sum"))?;
        Ok(())
    }

    #[inline]
    fn add_short(&mut self, number: Short) -> Result<()> {
        match self.short.unscaled.checked_add(number.unscaled) {
            Some(unscaled) if self.short.scale == number.scale => self.short.unscaled = unscaled,
            _ => return self.begin_with(number),
        }
        Ok(())
    }

    /// Another number of few digits than those before: they go to the sum. (By itself, so that adding has its place in loops.)
    #[inline(never)]
    fn begin_with(&mut self, number: Short) -> Result<()> {
        self.add(self.short.into())?;
        self.short = number;
        Ok(())
    }

    fn total(mut self) -> Result<Decimal> {
        self.add(self.short.into())?;
        Ok(self.sum)
    }
}

impl Accumulator {
    /// Of no rows.
    pub fn new(call: &AggregateCall) -> Accumulator {
        use AggregateFunction as F;
        let state = match call.function {
            F::CountRows | F::Count => State::Count(0),
            F::Sum | F::Avg if matches!(call.data_type, DataType::Double { .. }) => State::Double(0.0, 0),
            F::Sum | F::Avg => State::Exact(ExactSum::ZERO, 0),
            F::Min | F::Max => State::Best(None),
            F::BitAnd | F::BitOr | F::BitXor if call.data_type.is_string() => State::Bytes(None),
            F::BitAnd => State::Bits(u64::MAX),
            F::BitOr | F::BitXor => State::Bits(0),
            F::StdPop | F::StdSamp | F::VarPop | F::VarSamp => State::Variance(0, 0.0, 0.0),
            F::GroupConcat => State::Concat(Texts::default()),
            F::JsonArray => State::Document(Tree::Array(Vec::new())),
            F::JsonObject => State::Document(Tree::Object(Vec::new())),
        };
        Accumulator { state, seen: call.distinct.then(Box::default) }
    }

    /// Adds the values of a row: those of the arguments, then those of ORDER BY.
    pub fn add(&mut self, call: &AggregateCall, values: &[Datum<'_>], env: &mut Env<'_, '_>) -> Result<()> {
        use AggregateFunction as F;
        let arguments = values.get(..call.arguments.len()).unwrap_or(values);
        let skips_null = !matches!(call.function, F::CountRows | F::JsonArray | F::JsonObject);
        if skips_null && arguments.iter().any(|value| value.is_null()) {
            return Ok(());
        }
        if let Some(seen) = &mut self.seen
            && !seen.is_new(arguments, call)
        {
            return Ok(());
        }
        let first = arguments.first().unwrap_or(&Datum::Null);
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Exact(sum, count) => {
                match first.short() {
                    Some(number) => sum.add_short(number)?,
                    None => match first.to_decimal(env.context) {
                        Some(number) => sum.add(number)?,
                        None => return Ok(()),
                    },
                }
                *count += 1;
            }
            State::Double(sum, count) => {
                *sum += first.to_double(env.context).unwrap_or(0.0);
                *count += 1;
                if !sum.is_finite() {
                    return Err(SqlError::value_out_of_range("DOUBLE", "sum").into());
                }
            }
            State::Best(best) => {
                let wanted = if call.function == F::Min { Ordering::Less } else { Ordering::Greater };
                let better = match best {
                    None => true,
                    Some(best) => call.comparer.compare_at(first, &best.get(), env.context)? == Some(wanted),
                };
                if better {
                    *best = Some(Value::new(*first));
                }
            }
            State::Bits(bits) => {
                let Some((number, _)) = first.to_integer(env.context) else { return Ok(()) };
                match call.function {
                    F::BitAnd => *bits &= number as u64,
                    F::BitOr => *bits |= number as u64,
                    _ => *bits ^= number as u64,
                }
            }
            State::Bytes(bytes) => {
                let mut given = Vec::new();
                first.append_text(&mut given);
                match bytes {
                    None => {
                        *bytes = Some(given.into());
                    }
                    Some(bytes) if bytes.len() != given.len() => {
                        let name = match call.function {
                            F::BitAnd => "bit_and",
                            F::BitOr => "bit_or",
                            _ => "bit_xor",
                        };
                        return Err(Error::new(meseta_errors::ER_INVALID_BITWISE_AGGREGATE_OPERANDS_SIZE, &[&name]));
                    }
                    Some(bytes) => bytes.iter_mut().zip(given).for_each(|(byte, other)| match call.function {
                        F::BitAnd => *byte &= other,
                        F::BitOr => *byte |= other,
                        _ => *byte ^= other,
                    }),
                }
            }
            State::Variance(count, mean, squares) => {
                let Some(value) = first.to_double(env.context) else { return Ok(()) };
                *count += 1;
                let before = value - *mean;
                *mean += before / *count as f64;
                *squares += before * (value - *mean);
            }
            State::Concat(texts) => {
                let keys = values.get(call.arguments.len()..).unwrap_or_default();
                texts.add(call, arguments, keys, env.host.group_concat_max_len());
            }
            State::Document(Tree::Array(elements)) => {
                let tree = tree_of(*first, call.arguments.first());
                elements.push(tree.into_owned());
            }
            State::Document(Tree::Object(members)) => {
                if first.is_null() {
                    return Err(SqlError::new(3158, "JSON documents may not contain NULL member names.").into());
                }
                let value = arguments.get(1).copied().unwrap_or(Datum::Null);
                let mut key = Vec::new();
                first.append_text(&mut key);
                let mut name = Vec::new();
                match *first {
                    Datum::Text(..) => {
                        let charset = first.collation().charset();
                        if charset == Charset::Binary {
                            return Err(SqlError::new(
                                3144,
                                "Cannot create a JSON value from a string with CHARACTER SET 'binary'.",
                            )
                            .into());
                        }
                        charset.convert(&key, Charset::Utf8mb4, &mut name);
                    }
                    _ => name = key,
                };
                members.push((name.into(), tree_of(value, call.arguments.get(1)).into_owned()));
            }
            State::Document(_) => debug_assert!(false, "it begins as an array or an object"),
        }
        Ok(())
    }

    /// The result.
    pub fn finish<'v>(&self, call: &AggregateCall, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        use AggregateFunction as F;
        let arena: &'v Bump = env.arena;
        Ok(match &self.state {
            State::Count(count) => Datum::Signed(*count),
            State::Exact(_, 0) | State::Double(_, 0) => Datum::Null,
            State::Exact(sum, count) => {
                let sum = sum.total()?;
                let scale = match call.data_type {
                    DataType::Decimal { scale, .. } => scale,
                    _ => 0,
                };
                if call.function == F::Avg {
                    let quotient = sum
                        .div(&Decimal::from(*count), scale.saturating_sub(sum.scale()))
                        .map_err(|_| SqlError::value_out_of_range("DECIMAL", "avg"))?;
                    match quotient {
                        Some(quotient) => Datum::Decimal(quotient.round(scale.into()).unwrap_or(quotient)),
                        None => Datum::Null,
                    }
                } else {
                    Datum::Decimal(sum.round(scale.into()).unwrap_or(sum))
                }
            }
            State::Double(sum, count) => {
                Datum::Double(if call.function == F::Avg { sum / *count as f64 } else { *sum })
            }
            State::Best(None) => Datum::Null,
            State::Best(Some(best)) => match best.get() {
                value @ Datum::Member { .. } => copy_into(value, None, arena),
                value => copy_into(value, None, arena),
            },
            State::Bits(bits) => Datum::Unsigned(*bits),
            State::Bytes(Some(bytes)) => Datum::Text(arena.alloc_slice_copy(bytes), Collation::Binary),
            State::Bytes(None) => {
                let length = call.data_type.max_characters().unwrap_or(0).min(511) as usize;
                let fill = if call.function == F::BitAnd { 0xff } else { 0 };
                Datum::Text(arena.alloc_slice_fill_copy(length, fill), Collation::Binary)
            }
            State::Variance(count, _, squares) => {
                let divisor = match call.function {
                    F::StdPop | F::VarPop => *count,
                    _ => count.saturating_sub(1),
                };
                if divisor == 0 {
                    return Ok(Datum::Null);
                }
                let variance = (squares / divisor as f64).max(0.0);
                let root = matches!(call.function, F::StdPop | F::StdSamp);
                Datum::Double(if root { variance.sqrt() } else { variance })
            }
            State::Concat(texts) => texts.concatenated(call, env)?,
            State::Document(Tree::Array(elements)) if elements.is_empty() => Datum::Null,
            State::Document(Tree::Object(members)) if members.is_empty() => Datum::Null,
            State::Document(tree) => Datum::Json(arena.alloc_slice_copy(&tree.to_document()?)),
        })
    }
}

/// A value as a part of a document: conditions are true and false.
pub(super) fn tree_of<'v>(value: Datum<'v>, expr: Option<&Expr>) -> Tree<'v> {
    if let (Datum::Signed(number), Some(expr)) = (value, expr)
        && super::function::is_condition(expr)
    {
        return Tree::Bool(number != 0);
    }
    json::from_datum(value)
}
