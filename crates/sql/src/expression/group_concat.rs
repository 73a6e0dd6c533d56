//! GROUP_CONCAT: the texts of a group's rows, one behind the other.
//!
//! # Invariants
//! 1. Texts that come behind the end of a result that is cut off, in the order in which they came, are not kept: without ORDER BY no
//!    more than group_concat_max_len and a text is.

use std::cmp::Ordering;

use meseta_types::{Collation, Context, Datum};

use super::abbreviation::abbreviation;
use super::aggregate::AggregateCall;
use super::alike_rows::AlikeRows;
use super::comparer::Comparer;
use super::sort_key::{SortKey, SortKeys};
use super::value::Value;
use super::{Env, Expr};
use crate::error::{Error, Result};

/// Texts that are to be concatenated.
#[derive(Default)]
pub struct Texts {
    /// One behind the other.
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
    /// What each is ordered by: as many values as there are in ORDER BY.
    keys: Vec<Value>,
}

impl Texts {
    /// Adds the text of these arguments, to be ordered by these values; `most` bytes are wanted of the result.
    pub fn add(&mut self, call: &AggregateCall, arguments: &[Datum<'_>], keys: &[Datum<'_>], most: usize) {
        if call.order_by.is_empty() && self.bytes.len() > most {
            return;
        }
        for (value, argument) in arguments.iter().zip(&call.arguments) {
            append(*value, argument, &mut self.bytes);
        }
        self.ends.push(self.bytes.len());
        let keys = keys.iter().zip(&call.order_by);
        self.keys.extend(keys.map(|(value, key)| Value::new(key.value.sort_value(*value))));
    }

    fn get(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[number]]
    }

    /// All of them; NULL if there are none. Warns if not all have room.
    pub fn concatenated<'v>(&self, call: &AggregateCall, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        if self.ends.is_empty() {
            return Ok(Datum::Null);
        }
        let most = env.host.group_concat_max_len();
        let charset = call.collated.collation.charset();
        let mut out = Vec::new();
        for (place, number) in self.ordered(call, env)?.into_iter().enumerate() {
            if place > 0 {
                out.extend_from_slice(&call.separator);
            }
            out.extend_from_slice(self.get(number));
            if out.len() > most {
                let whole = charset.valid_len(&out[..most]);
                out.truncate(whole);
                let error = Error::new(meseta_errors::ER_CUT_VALUE_GROUP_CONCAT, &[&(place + 1)]);
                env.context.warnings.warn(super::function::warning(error));
                break;
            }
        }
        Ok(Datum::Text(env.arena.alloc_slice_copy(&out), call.collated.collation))
    }

    /// Their numbers in the order that is wanted; those that are equal there in the order in which they came.
    fn ordered(&self, call: &AggregateCall, env: &mut Env<'_, '_>) -> Result<Vec<usize>> {
        let all = 0..self.ends.len();
        if call.order_by.is_empty() {
            return Ok(all.collect());
        }
        let values = |number: usize| {
            let keys = call.order_by.len();
            self.keys[number * keys..][..keys].iter().map(Value::get)
        };
        let abbreviation = |number| Some((abbreviation(values(number), &call.order_by)?, number));
        let abbreviated: Option<Vec<(u128, usize)>> = all.clone().map(abbreviation).collect();
        let mut numbers = abbreviated.unwrap_or_else(|| all.map(|number| (0, number)).collect());
        numbers.sort_by_key(|(abbreviation, _)| *abbreviation);
        let comparer = |SortKey { value, .. }: &SortKey| match value.orders_by_number() {
            true => Comparer::open(Collation::Binary),
            false => Comparer::new(&value.data_type, &value.data_type, value.collated.collation),
        };
        let comparers: Vec<_> = call.order_by.iter().map(|key| (comparer(key), key.descending)).collect();
        let mut failed = None;
        let mut compare = |one: usize, other: usize, context: &mut Context| {
            for ((one, other), (comparer, is_descending)) in values(one).zip(values(other)).zip(&comparers) {
                let order = match (one.is_null(), other.is_null()) {
                    (false, false) => comparer.compare(one, other, context).unwrap_or_else(|error| {
                        failed.get_or_insert(error);
                        None
                    }),
                    (one, other) => Some(other.cmp(&one)),
                };
                match order {
                    None | Some(Ordering::Equal) => {}
                    Some(order) => return if *is_descending { order.reverse() } else { order },
                }
            }
            Ordering::Equal
        };
        let (mut alike_rows, mut keys) = (AlikeRows::default(), SortKeys::new(&call.order_by));
        for alike in numbers.chunk_by_mut(|(one, _), (other, _)| one == other).filter(|alike| alike.len() > 1) {
            let append_key = |(_, number), key: &mut Vec<u8>| keys.append(values(number), env.context, key);
            let prefetch = |(_, number)| meseta_prefetch::beginning(&self.keys[number * call.order_by.len()..]);
            if !alike_rows.sort(alike, usize::MAX, prefetch, append_key) {
                alike.sort_by(|(_, one), (_, other)| compare(*one, *other, env.context));
            }
        }
        failed.map_or(Ok(numbers.into_iter().map(|(_, number)| number).collect()), Err)
    }
}

fn append(value: Datum<'_>, argument: &Expr, out: &mut Vec<u8>) {
    match value {
        Datum::Double(number) => meseta_types::double::append_double_as_text(number, out),
        Datum::Float(number) => meseta_types::double::append_float_as_text(number, out),
        other => argument.data_type.append_text(other, out),
    }
}
