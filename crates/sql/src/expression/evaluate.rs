//! Evaluation: a match over what an expression is.
//!
//! What rows mostly ask for (a column, a parameter, a comparison of them) is answered without allocating anything; what
//! makes text puts it into the arena.
//!
//! Source: the manual's "Operators" and "Working with NULL Values": conditions have three values.

use bumpalo::Bump;
use meseta_errors::{ER_OPERAND_COLUMNS, ER_SUBQUERY_NO_1_ROW};
use meseta_types::comparison::ComparisonType;
use meseta_types::double::parse_double;
use meseta_types::{CastType, Charset, Collation, Context, DataType, Date, DateTime, Datum, arithmetic, cast, json};
use smallvec::SmallVec;

use super::comparer::{Comparer, ComparisonOperator};
use super::group::append_group_key;
use super::kind::{
    BitOperator, Cast, Chain, ChainOperator, Compare, ExprKind, InSubquery, Quantified, RowCompare, Step,
};
use super::value::{Value, copy_into};
use super::{BoundSubquery, Env, Expr};
use crate::error::{Error, Result};

/// A condition's value as MySQL has it.
#[inline]
pub(super) fn truth<'v>(value: Option<bool>) -> Datum<'v> {
    match value {
        Some(value) => Datum::Signed(value.into()),
        None => Datum::Null,
    }
}

/// `let VALUE = &(an operand's value)`: where it lies, or else where it is computed to, from which it is not moved. (The place is
/// given by `let` at once: into a variable that is declared before, what a call returns is copied.)
macro_rules! operand {
    ($value:ident = $operand:expr, $row:expr, $env:expr) => {
        let place = $operand.place($row, $env.slots);
        let computed = match place {
            Some(_) => Ok(Datum::Null),
            None => $operand.evaluate($row, $env),
        };
        let $value = match (place, &computed) {
            (Some(value), _) | (None, Ok(value)) => value,
            (None, Err(error)) => return Err(error.clone()),
        };
    };
}
pub(in crate::expression) use operand;

impl Expr {
    /// Its value for a row. Errors: MySQL's, of what fails for this row.
    #[inline]
    pub fn evaluate<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        match &self.kind {
            ExprKind::Column(column) => Ok(row.get(*column as usize).copied().unwrap_or(Datum::Null)),
            ExprKind::Constant(value) => Ok(value.get()),
            ExprKind::Slot(slot) => Ok(env.slots.get(*slot as usize).copied().unwrap_or(Datum::Null)),
            ExprKind::Compare(compare) => Ok(truth(compare.holds(row, env)?)),
            _ => self.evaluate_others(row, env),
        }
    }

    /// Its value as a condition; `None` is NULL. Errors: MySQL's, of what fails for this row.
    #[inline]
    pub fn condition<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Option<bool>> {
        if let ExprKind::Compare(compare) = &self.kind {
            return compare.holds(row, env);
        }
        match self.evaluate(row, env)? {
            Datum::Signed(number) => Ok(Some(number != 0)),
            other => Ok(self.truth_of(other, env.context)),
        }
    }

    /// Whether a value of it is true.
    #[inline(never)]
    fn truth_of(&self, value: Datum<'_>, context: &mut Context) -> Option<bool> {
        match value {
            Datum::Text(..) => self.double_of(value, context).map(|number| number != 0.0),
            other => other.to_bool(context),
        }
    }

    /// A value of it as a double: nothing is warned of what is behind the number in a column of TEXT, as by [`Expr::double_operand`].
    pub(super) fn double_of(&self, value: Datum<'_>, context: &mut Context) -> Option<f64> {
        match value {
            Datum::Text(text, _) if self.is_long_text() => Some(parse_double(text).value),
            other => other.to_double(context),
        }
    }

    /// Where its value lies, if it need not be computed: it is read there, part by part. (A copy of all of it would have to wait until
    /// all parts have arrived in memory: a row's values are written right before.)
    #[inline(always)]
    pub(super) fn place<'p, 'v: 'p>(&'p self, row: &'p [Datum<'v>], slots: &'p [Datum<'v>]) -> Option<&'p Datum<'v>> {
        match &self.kind {
            ExprKind::Column(column) => row.get(*column as usize),
            ExprKind::Slot(slot) => slots.get(*slot as usize),
            ExprKind::Constant(Value::Plain(value)) => Some(value),
            _ => None,
        }
    }

    #[inline(never)]
    fn evaluate_others<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        match &self.kind {
            ExprKind::Outer { level, column } => {
                let at = env.outer.len().checked_sub(1 + *level as usize);
                let outer = at.and_then(|at| env.outer.get(at));
                Ok(outer.and_then(|row| row.get(*column as usize)).copied().unwrap_or(Datum::Null))
            }
            ExprKind::And(parts) => {
                let mut unknown = false;
                for part in parts {
                    match part.condition(row, env)? {
                        Some(false) => return Ok(Datum::Signed(0)),
                        None => unknown = true,
                        Some(true) => {}
                    }
                }
                Ok(truth((!unknown).then_some(true)))
            }
            ExprKind::Or(parts) => {
                let mut unknown = false;
                for part in parts {
                    match part.condition(row, env)? {
                        Some(true) => return Ok(Datum::Signed(1)),
                        None => unknown = true,
                        Some(false) => {}
                    }
                }
                Ok(truth((!unknown).then_some(false)))
            }
            ExprKind::Xor(parts) => {
                let mut odd = false;
                for part in parts {
                    match part.condition(row, env)? {
                        None => return Ok(Datum::Null),
                        Some(value) => odd ^= value,
                    }
                }
                Ok(truth(Some(odd)))
            }
            ExprKind::Not(operand) => Ok(truth(operand.condition(row, env)?.map(|value| !value))),
            ExprKind::IsNull { operand, negated } => {
                operand!(operand = operand, row, env);
                Ok(truth(Some(operand.is_null() != *negated)))
            }
            ExprKind::IsTruth { operand, truth: wanted, negated } => {
                Ok(truth(Some((operand.condition(row, env)? == Some(*wanted)) != *negated)))
            }
            ExprKind::Chain(chain) => chain.evaluate(row, env),
            ExprKind::Negate(operand, text) => {
                let value = operand.evaluate(row, env)?;
                Ok(arithmetic::negate(value, env.context, &|| format!("-({text})"))?)
            }
            ExprKind::BitNot(operand) => match operand.evaluate(row, env)? {
                Datum::Text(bytes, collation) if collation.charset() == Charset::Binary && is_bytes(operand) => {
                    let out = env.arena.alloc_slice_copy(bytes);
                    out.iter_mut().for_each(|byte| *byte = !*byte);
                    Ok(Datum::Text(out, collation))
                }
                value => Ok(match value.to_integer(env.context) {
                    Some((bits, _)) => Datum::Unsigned(!(bits as u64)),
                    None => Datum::Null,
                }),
            },
            ExprKind::Between(between) => {
                operand!(operand = between.operand, row, env);
                // Converted once, and warned of once.
                let number;
                let operand = match between.comparer.kind {
                    Some(ComparisonType::Double) => {
                        number = as_number(*operand, env.context);
                        &number
                    }
                    _ => operand,
                };
                operand!(low = between.low, row, env);
                operand!(high = between.high, row, env);
                let above = between.comparer.holds_at(ComparisonOperator::GreaterOrEqual, operand, low, env.context)?;
                let below = between.comparer.holds_at(ComparisonOperator::LessOrEqual, operand, high, env.context)?;
                let inside = match (above, below) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                Ok(truth(inside.map(|inside| inside != between.negated)))
            }
            ExprKind::In(list) => Ok(truth(list.holds(row, env)?)),
            ExprKind::Like(like) => Ok(truth(like.holds(row, env)?)),
            ExprKind::Once(once) => once.evaluate(row, env),
            ExprKind::RowCompare(compare) => Ok(truth(compare.holds(row, env)?)),
            ExprKind::Row(_) => Err(Error::new(ER_OPERAND_COLUMNS, &[&1])),
            ExprKind::Subquery(query) => query.value(row, env),
            ExprKind::Exists(query) => Ok(truth(Some(query.exists(row, env)?))),
            ExprKind::InSubquery(inside) => Ok(truth(inside.holds(row, env)?)),
            ExprKind::Quantified(inside) => Ok(truth(inside.holds(row, env)?)),
            ExprKind::Case(case) => {
                let value = case.evaluate(row, env)?;
                self.conform(&value, env)
            }
            ExprKind::Cast(target) => target.evaluate(row, env),
            ExprKind::NumberOf(operand) => match operand.evaluate(row, env)? {
                Datum::Text(text, _) => Ok(Datum::Double(parse_double(text).value)),
                other => Ok(other),
            },
            ExprKind::Convert(operand) => {
                operand!(value = operand, row, env);
                match operand.data_type.is_shown_apart() {
                    true => Ok(operand.shown_as(*value, self.collated.collation, env.arena)),
                    false => Ok(self.convert(value, env)),
                }
            }
            ExprKind::Call(call) => (call.function.evaluate)(super::function::Site { expr: self, call, row }, env),
            ExprKind::UserVariable(name) => {
                let arena = env.arena;
                let mut value = Datum::Null;
                env.host.user_variable(name, &mut |found| value = copy_into(found, None, arena));
                Ok(value)
            }
            ExprKind::SetUserVariable(name, operand) => {
                let value = operand.evaluate(row, env)?;
                env.host.set_user_variable(name, value)?;
                Ok(value)
            }
            ExprKind::SystemVariable(variable) => {
                let arena = env.arena;
                let mut value = Datum::Null;
                env.host.system_variable(variable, &mut |found| value = copy_into(found, None, arena))?;
                Ok(value)
            }
            ExprKind::Column(_) | ExprKind::Constant(_) | ExprKind::Slot(_) | ExprKind::Compare(_) => {
                self.evaluate(row, env)
            }
        }
    }

    /// A value of this expression as text: a column's as it is shown, with the zeros of ZEROFILL or of a year.
    #[inline]
    pub(super) fn text_of<'v>(&self, value: Datum<'v>, arena: &'v Bump) -> Option<&'v [u8]> {
        match value {
            Datum::Text(text, _) => Some(text),
            _ if !self.data_type.is_shown_apart() || value.is_null() => value.to_text(arena),
            _ => {
                let mut shown = Vec::new();
                self.data_type.append_text(value, &mut shown);
                Some(arena.alloc_slice_copy(&shown))
            }
        }
    }

    /// The same, of digits, as a text with this collation.
    fn shown_as<'v>(&self, value: Datum<'v>, collation: Collation, arena: &'v Bump) -> Datum<'v> {
        self.text_of(value, arena).map_or(Datum::Null, |text| Datum::Text(text, collation))
    }

    /// Text in the character set of this expression's collation.
    #[inline]
    fn convert<'v>(&self, value: &Datum<'v>, env: &mut Env<'v, '_>) -> Datum<'v> {
        let to = self.collated.collation;
        match *value {
            Datum::Text(text, from) if from.charset().is_same_in(to.charset(), text) => Datum::Text(text, to),
            value => self.convert_bytes(value, env),
        }
    }

    #[inline(never)]
    fn convert_bytes<'v>(&self, value: Datum<'v>, env: &mut Env<'v, '_>) -> Datum<'v> {
        let to = self.collated.collation;
        let Some(text) = value.to_text(env.arena) else { return Datum::Null };
        let from = match value {
            Datum::Text(..) | Datum::Member { .. } | Datum::Bits { .. } | Datum::Json(_) => value.collation().charset(),
            _ => return Datum::Text(text, to),
        };
        if from.is_same_in(to.charset(), text) {
            return Datum::Text(text, to);
        }
        if from == Charset::Binary && to.charset().check(text).is_err() {
            if let Err(error) = to.charset().check(text) {
                env.context.warnings.warn(error);
            }
            return Datum::Null;
        }
        let mut out = Vec::with_capacity(text.len());
        from.convert(text, to.charset(), &mut out);
        Datum::Text(env.arena.alloc_slice_copy(&out), to)
    }

    /// A value of a branch as one of the type of the whole: CASE, IF, COALESCE and the like.
    pub(crate) fn conform<'v>(&'v self, value: &Datum<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        use meseta_types::DataType as T;
        // Part by part, what rows mostly have.
        match (&self.data_type, value) {
            (T::Integer { .. }, Datum::Signed(number)) => return Ok(Datum::Signed(*number)),
            (
                T::Char { collation, .. } | T::Varchar { collation, .. } | T::Text { collation, .. },
                Datum::Text(text, _),
            ) => {
                return Ok(Datum::Text(text, *collation));
            }
            _ => {}
        }
        let value = *value;
        Ok(match (&self.data_type, value) {
            (_, Datum::Null) | (T::Null, _) => value,
            (T::Integer { .. }, Datum::Signed(_) | Datum::Unsigned(_)) => value,
            (T::Integer { .. }, Datum::Bits { bits, .. }) => Datum::Unsigned(bits),
            (T::Decimal { scale, .. }, Datum::Decimal(number)) if number.scale() < *scale => {
                Datum::Decimal(number.round(i32::from(*scale)).unwrap_or(number))
            }
            (T::Decimal { .. }, Datum::Decimal(_)) => value,
            (T::Decimal { scale, .. }, Datum::Signed(_) | Datum::Unsigned(_) | Datum::Bits { .. }) => {
                let number = value.to_decimal(env.context).unwrap_or(meseta_types::Decimal::ZERO);
                Datum::Decimal(number.round(i32::from(*scale)).unwrap_or(number))
            }
            (T::Double { .. } | T::Float { .. }, Datum::Double(_)) => value,
            (T::Double { .. }, _) => value.to_double(env.context).map_or(Datum::Null, Datum::Double),
            (T::DateTime { decimals } | T::Timestamp { decimals }, Datum::Date(date)) => {
                Datum::DateTime(date.midnight(), *decimals)
            }
            (T::DateTime { decimals } | T::Timestamp { decimals }, Datum::DateTime(value, _)) => {
                Datum::DateTime(value, *decimals)
            }
            (T::DateTime { decimals } | T::Timestamp { decimals }, Datum::Time(time, _)) => {
                let total = env.context.today.midnight().total_micros() + time.micros();
                DateTime::from_total_micros(total).map_or(Datum::Null, |value| Datum::DateTime(value, *decimals))
            }
            (T::Time { decimals }, Datum::Time(value, _)) => Datum::Time(value, *decimals),
            (T::Char { collation, .. } | T::Varchar { collation, .. } | T::Text { collation, .. }, _) => {
                value.to_text(env.arena).map_or(Datum::Null, |text| Datum::Text(text, *collation))
            }
            (T::Json, Datum::Json(_)) => value,
            _ => value,
        })
    }

    /// The values of the columns of a row, or the one value of what is no row.
    pub(super) fn row_values<'v>(
        &'v self,
        row: &'v [Datum<'v>],
        env: &mut Env<'v, '_>,
    ) -> Result<SmallVec<[Datum<'v>; 4]>> {
        match &self.kind {
            ExprKind::Row(parts) => parts.iter().map(|part| part.evaluate(row, env)).collect(),
            ExprKind::Subquery(query) if query.columns.len() > 1 => query.row(row, env),
            _ => Ok(SmallVec::from_elem(self.evaluate(row, env)?, 1)),
        }
    }
}

/// A year where a date is wanted: its first day.
pub(in crate::expression) fn of_year<'v>(operand: &Expr, value: Datum<'v>) -> Datum<'v> {
    match (&operand.data_type, value) {
        (DataType::Year, Datum::Unsigned(0)) => Datum::Date(Date::ZERO),
        (DataType::Year, Datum::Unsigned(year)) => Datum::Date(Date { year: year as u16, month: 1, day: 1 }),
        _ => value,
    }
}

/// A value as a double.
pub(super) fn as_number<'v>(value: Datum<'_>, context: &mut Context) -> Datum<'v> {
    value.to_double(context).map_or(Datum::Null, Datum::Double)
}

/// Members of an ENUM or SET and documents are doubles in arithmetic.
fn as_double<'v>(value: Datum<'v>, env: &mut Env<'v, '_>) -> Datum<'v> {
    match value {
        Datum::Member { .. } | Datum::Json(_) => as_number(value, env.context),
        other => other,
    }
}

/// Whether bit operators take an operand for bytes rather than for a number.
pub(super) fn is_bytes(operand: &Expr) -> bool {
    use super::value::Value;
    !matches!(operand.kind, ExprKind::Constant(Value::Hexadecimal(_)))
        && operand.data_type.is_string()
        && operand.collated.collation == meseta_types::Collation::Binary
}

impl Compare {
    #[inline]
    fn holds<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Option<bool>> {
        operand!(left = self.left, row, env);
        if left.is_null() && self.operator != ComparisonOperator::NullSafeEqual {
            return Ok(None);
        }
        operand!(right = self.right, row, env);
        self.comparer.holds_at(self.operator, left, right, env.context)
    }
}

impl Chain {
    fn evaluate<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        operand!(first = self.first, row, env);
        if let [step] = &*self.steps {
            operand!(right = step.right, row, env);
            return self.step(0, first, right, env);
        }
        let mut value = *first;
        for (number, step) in self.steps.iter().enumerate() {
            operand!(right = step.right, row, env);
            value = self.step(number, &value, right, env)?;
        }
        Ok(value)
    }

    /// The value of a step, from that of what is in front of it.
    #[inline(always)]
    fn step<'v>(
        &'v self,
        number: usize,
        left: &Datum<'v>,
        right: &Datum<'v>,
        env: &mut Env<'v, '_>,
    ) -> Result<Datum<'v>> {
        let Step { operator, data_type, .. } = &self.steps[number];
        if let ChainOperator::Arithmetic(operator) = *operator
            && !matches!(data_type, DataType::Double { .. })
            && let Some(value) = arithmetic::at_once(operator, left, right, env.context.div_precision_increment)
        {
            return Ok(value);
        }
        self.step_of_others(number, *left, *right, env)
    }

    #[inline(never)]
    fn step_of_others<'v>(
        &'v self,
        number: usize,
        left: Datum<'v>,
        right: Datum<'v>,
        env: &mut Env<'v, '_>,
    ) -> Result<Datum<'v>> {
        let Step { operator, data_type, .. } = &self.steps[number];
        match *operator {
            ChainOperator::Arithmetic(operator) => {
                let (left, right) = match data_type {
                    DataType::Double { .. } => (as_double(left, env), as_double(right, env)),
                    _ => (left, right),
                };
                Ok(arithmetic::evaluate(operator, left, right, env.context, &|| self.describe(number))?)
            }
            ChainOperator::Bits(operator, false) => {
                Ok(match (left.to_integer(env.context), right.to_integer(env.context)) {
                    (Some((a, _)), Some((b, _))) => Datum::Unsigned(operator.of_numbers(a as u64, b as u64)),
                    _ => Datum::Null,
                })
            }
            ChainOperator::Bits(operator, true) => operator.of_bytes(left, right, env),
        }
    }

    /// The text of the chain up to a step, as errors print it.
    fn describe(&self, last: usize) -> String {
        let mut out = self.first_text.to_string();
        for step in self.steps.iter().take(last + 1) {
            let symbol = match step.operator {
                ChainOperator::Arithmetic(operator) => operator.symbol(),
                ChainOperator::Bits(operator, _) => operator.symbol(),
            };
            out = format!("({out} {symbol} {})", step.right_text);
            if out.len() > 1000 {
                break;
            }
        }
        out
    }
}

impl BitOperator {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            BitOperator::And => "&",
            BitOperator::Or => "|",
            BitOperator::Xor => "^",
            BitOperator::ShiftLeft => "<<",
            BitOperator::ShiftRight => ">>",
        }
    }

    fn of_numbers(self, a: u64, b: u64) -> u64 {
        match self {
            BitOperator::And => a & b,
            BitOperator::Or => a | b,
            BitOperator::Xor => a ^ b,
            BitOperator::ShiftLeft => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0),
            BitOperator::ShiftRight => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(0),
        }
    }

    fn of_bytes<'v>(self, left: Datum<'v>, right: Datum<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        let Some(a) = left.to_text(env.arena) else { return Ok(Datum::Null) };
        if matches!(self, BitOperator::ShiftLeft | BitOperator::ShiftRight) {
            let Some((by, _)) = right.to_integer(env.context) else { return Ok(Datum::Null) };
            let out = env.arena.alloc_slice_fill_copy(a.len(), 0u8);
            let by = usize::try_from(by as u64).unwrap_or(usize::MAX);
            let (bytes, bits) = (by / 8, by % 8);
            for (at, made) in out.iter_mut().enumerate() {
                let byte = |at: Option<usize>| at.and_then(|at| a.get(at)).map_or(0u16, |byte| u16::from(*byte));
                *made = if self == BitOperator::ShiftLeft {
                    let from = at.checked_add(bytes);
                    (byte(from) << bits | byte(from.map(|from| from + 1)) >> (8 - bits)) as u8
                } else {
                    let from = at.checked_sub(bytes);
                    (byte(from) >> bits | byte(from.and_then(|from| from.checked_sub(1))) << (8 - bits)) as u8
                };
            }
            return Ok(Datum::Text(out, meseta_types::Collation::Binary));
        }
        let Some(b) = right.to_text(env.arena) else { return Ok(Datum::Null) };
        if a.len() != b.len() {
            return Err(Error::new(meseta_errors::ER_INVALID_BITWISE_OPERANDS_SIZE, &[&self.symbol()]));
        }
        let out = env.arena.alloc_slice_copy(a);
        for (byte, other) in out.iter_mut().zip(b) {
            *byte = self.of_numbers((*byte).into(), (*other).into()) as u8;
        }
        Ok(Datum::Text(out, meseta_types::Collation::Binary))
    }
}

impl RowCompare {
    fn holds<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Option<bool>> {
        for (number, (left, right, comparer)) in self.columns.iter().enumerate() {
            let (left, right) = (left.evaluate(row, env)?, right.evaluate(row, env)?);
            let Some(order) = comparer.compare(left, right, env.context)? else { return Ok(None) };
            if order != std::cmp::Ordering::Equal || number + 1 == self.columns.len() {
                return Ok(Some(self.operator.holds(order)));
            }
        }
        Ok(None)
    }
}

/// Whether rows are equal, column by column; `None` if that is not known.
pub(super) fn rows_equal(
    left: &[Datum<'_>],
    right: &[Datum<'_>],
    comparers: &[Comparer],
    env: &mut meseta_types::Context,
) -> Result<Option<bool>> {
    let mut unknown = false;
    for ((left, right), comparer) in left.iter().zip(right).zip(comparers) {
        match comparer.equal(*left, *right, env)? {
            Some(false) => return Ok(Some(false)),
            None => unknown = true,
            Some(true) => {}
        }
    }
    Ok((!unknown).then_some(true))
}

impl Cast {
    // By itself: what nests deep has small frames.
    #[inline(never)]
    fn evaluate<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        let value = self.operand.evaluate(row, env)?;
        let value = match self.target {
            CastType::Date | CastType::DateTime(_) | CastType::Time(_) => of_year(&self.operand, value),
            CastType::Json if super::function::is_condition(&self.operand) && !value.is_null() => {
                let truth = json::Tree::Bool(value.to_bool(env.context) == Some(true)).to_document()?;
                return Ok(Datum::Json(env.arena.alloc_slice_copy(&truth)));
            }
            CastType::Char(..) | CastType::Binary(_) if self.operand.data_type.is_shown_apart() => {
                self.operand.shown_as(value, Collation::Utf8mb4_0900AiCi, env.arena)
            }
            _ => value,
        };
        Ok(cast(value, self.target, env.context, env.arena, &|| self.text.to_string())?)
    }
}

/// The rows around a query that is run beside a row.
fn rows_around<'r, 'v>(row: &'r [Datum<'v>], outer: &[&'r [Datum<'v>]]) -> SmallVec<[&'r [Datum<'v>]; 4]> {
    outer.iter().copied().chain([row]).collect()
}

/// Whether a value may be shown otherwise than another one that is equal to it: a document, and the zero with a sign.
fn may_differ_from_its_equals(value: &Datum<'_>) -> bool {
    match value {
        Datum::Json(_) => true,
        Datum::Double(number) => *number == 0.0 && number.is_sign_negative(),
        Datum::Float(number) => *number == 0.0 && number.is_sign_negative(),
        _ => false,
    }
}

/// The row of a query inside is kept if it looks at no more columns of the row around it.
const SEES_AT_MOST: usize = 4;

impl BoundSubquery {
    /// Runs it beside a row; shows its rows until `show` has seen enough.
    pub fn run<'v>(
        &self,
        row: &'v [Datum<'v>],
        env: &mut Env<'v, '_>,
        show: &mut dyn FnMut(&[Datum<'_>], &mut meseta_types::Context) -> Result<bool>,
    ) -> Result<()> {
        let rows = rows_around(row, env.outer);
        // What `show` compares may warn, while the query has the context to warn itself.
        let mut own = env.context.apart();
        let result = env.host.subquery(self.number, &rows, env.context, &mut |row| show(row, &mut own));
        env.context.add_warnings_of(&own);
        result
    }

    /// Whether it has a row, beside this one.
    fn exists<'v>(&self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<bool> {
        let mut known = None;
        let seen = self.see(row, env, &mut |values| known = values.first().map(|value| !value.get().is_null()));
        if let Some(known) = known {
            return Ok(known);
        }
        let warnings = env.context.warnings.count();
        let exists = env.host.exists(self.number, &rows_around(row, env.outer), env.context)?;
        self.keep(seen, warnings, &[if exists { Datum::Signed(1) } else { Datum::Null }], env);
        Ok(exists)
    }

    /// The values of its one row; NULLs if there is none. Error 1242 if there are more.
    fn row<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<SmallVec<[Datum<'v>; 4]>> {
        let arena = env.arena;
        let copy = |number: usize, value: Datum<'_>| {
            copy_into(value, self.columns.get(number).map(|column| &column.data_type), arena)
        };
        let mut found: Option<SmallVec<[Datum<'v>; 4]>> = None;
        let seen = self.see(row, env, &mut |values| {
            found = Some(values.iter().enumerate().map(|(number, value)| copy(number, value.get())).collect());
        });
        if let Some(found) = found {
            return Ok(found);
        }
        let warnings = env.context.warnings.count();
        self.run(row, env, &mut |values, _| {
            if found.is_some() {
                return Err(Error::new(ER_SUBQUERY_NO_1_ROW, &[]));
            }
            found = Some(values.iter().enumerate().map(|(number, &value)| copy(number, value)).collect());
            Ok(true)
        })?;
        let found = found.unwrap_or_else(|| SmallVec::from_elem(Datum::Null, self.columns.len()));
        self.keep(seen, warnings, &found, env);
        Ok(found)
    }

    /// Shows what it had when it saw the same of the row around it, if that is kept: rows around it often have the same values there.
    /// Returns what it sees, if it may be kept.
    fn see(&self, row: &[Datum<'_>], env: &mut Env<'_, '_>, show: &mut dyn FnMut(&[Value])) -> Option<Vec<u8>> {
        let seen = self.seen(row)?;
        env.host.show_seen_row(self.number, &seen, show);
        Some(seen)
    }

    /// Keeps what it had. On entry: there were so many warnings before. (What warns does so each time.)
    fn keep(&self, seen: Option<Vec<u8>>, warnings: u64, row: &[Datum<'_>], env: &mut Env<'_, '_>) {
        if let Some(seen) = seen.filter(|_| env.context.warnings.count() == warnings) {
            env.host.keep_seen_row(self.number, &seen, row);
        }
    }

    /// What it sees of the row around it, in bytes; `None` if its rows may be others for the same bytes, or it sees much.
    fn seen(&self, row: &[Datum<'_>]) -> Option<Vec<u8>> {
        if !self.is_of_nearest_row || !self.is_repeatable || self.looks_at.len() > SEES_AT_MOST {
            return None;
        }
        let mut bytes = Vec::new();
        for &slot in &*self.looks_at {
            let value = row.get(slot as usize).filter(|value| !may_differ_from_its_equals(value))?;
            append_group_key(*value, Collation::Binary, &mut bytes);
        }
        Some(bytes)
    }

    fn value<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        Ok(self.row(row, env)?.first().copied().unwrap_or(Datum::Null))
    }
}

impl InSubquery {
    fn holds<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Option<bool>> {
        let known = self.find(row, env)?;
        Ok(if self.unknown_is_false { Some(known == Some(true)) } else { known })
    }

    /// Looks a value up by an index; `None` if that does not tell, or so much has been looked up.
    fn look_up(&self, operand: &[Datum<'_>], env: &mut Env<'_, '_>) -> Result<Option<Option<bool>>> {
        let has_null = operand.iter().any(|value| value.is_null());
        let may_be_null = self.query.columns.iter().any(|column| column.nullable);
        let mut find = |values: &[Datum<'_>]| env.host.look_up(self.query.number, self.look_ups, values, env.context);
        Ok(match (has_null, may_be_null) {
            (true, _) => self.unknown_is_false.then_some(Some(false)),
            (false, true) if self.may_find_null() => match find(operand)? {
                Some(false) => find(&[Datum::Null])?.map(|found| (!found).then_some(false)),
                found => found.map(Some),
            },
            (false, true) if !self.unknown_is_false => None,
            (false, _) => find(operand)?.map(Some),
        })
    }

    fn find<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Option<bool>> {
        let operand = self.operand.row_values(row, env)?;
        if !self.query.is_correlated {
            let mut found = env.host.probe(self, self.is_asked_often, &operand, env.context)?;
            if found.is_none() && self.can_look_up {
                found = self.look_up(&operand, env)?;
                if found.is_none() {
                    found = env.host.probe(self, true, &operand, env.context)?;
                }
            }
            if let Some(found) = found {
                return Ok(found.map(|found| found != self.negated));
            }
        }
        let (mut found, mut unknown) = (false, false);
        if self.is_one_row {
            let other = self.query.row(row, env)?;
            let equal = rows_equal(&operand, &other, &self.comparers, env.context)?;
            return Ok(equal.map(|equal| equal != self.negated));
        }
        self.query.run(row, env, &mut |values, context| {
            match rows_equal(&operand, values, &self.comparers, context)? {
                Some(true) => found = true,
                None => unknown = true,
                Some(false) => {}
            }
            Ok(!found)
        })?;
        Ok(match (found, unknown) {
            (true, _) => Some(!self.negated),
            (false, true) => None,
            (false, false) => Some(self.negated),
        })
    }
}

impl Quantified {
    fn holds<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Option<bool>> {
        let left = self.left.evaluate(row, env)?;
        if !self.query.is_correlated
            && let Some(known) = env.host.all_or_any(left, self, env.context)?
        {
            return Ok(known);
        }
        let (mut decided, mut unknown) = (false, false);
        self.query.run(row, env, &mut |values, context| {
            let right = values.first().copied().unwrap_or(Datum::Null);
            match self.comparer.holds(self.operator, left, right, context)? {
                Some(holds) if holds != self.all => decided = true,
                None => unknown = true,
                Some(_) => {}
            }
            Ok(!decided)
        })?;
        Ok(match (decided, unknown) {
            (true, _) => Some(!self.all),
            (false, true) => None,
            (false, false) => Some(self.all),
        })
    }
}
