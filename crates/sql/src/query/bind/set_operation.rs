//! The columns in which both sides of UNION, INTERSECT and EXCEPT meet.

use meseta_parser::ast::SetOperator;
use meseta_types::{Charset, Collated, Collation, DataType, Derivation, text};

use crate::error::Result;
use crate::expression::{Expr, merge_types};
use crate::query::plan::{Origin, OutputColumn, columns as told};

/// The columns in which both sides meet: named by the left one.
pub fn columns(left: &[OutputColumn], right: &[OutputColumn], operator: SetOperator) -> Result<Vec<OutputColumn>> {
    let merged = left.iter().zip(right).map(|(left, right)| {
        let collated = held_by_both(left, right);
        let collation = match &collated {
            Some(collated) => collated.collation,
            None => common_collation(left.data_type.collation(), right.data_type.collation()),
        };
        let data_type = match merge_types(&left.data_type, &right.data_type, collation) {
            DataType::Null => DataType::Varchar { length: 0, collation: Collation::Binary },
            data_type => data_type,
        };
        // It is like a column of a table.
        let mut origin = Origin { name: own_name(left), ..Origin::nowhere() };
        let nullable = match operator {
            SetOperator::Union => left.nullable || right.nullable,
            SetOperator::Intersect => left.nullable && right.nullable,
            SetOperator::Except => left.nullable,
        };
        if data_type.is_temporal() && !nullable {
            origin.flags = told::NO_DEFAULT;
        }
        OutputColumn { name: left.name.clone(), origin: Some(origin), data_type, nullable, collated }
    });
    Ok(merged.collect())
}

/// What a column of a result is called, as a table's would be: by something.
fn own_name(column: &OutputColumn) -> Box<str> {
    match &*column.name {
        [] => Box::from("?"),
        name => String::from_utf8_lossy(name).into(),
    }
}

/// How two columns that become one hold their collation, if that is known of both, and they do not conflict.
fn held_by_both(left: &OutputColumn, right: &OutputColumn) -> Option<Collated> {
    let both = text::aggregate(left.collated?, right.collated?, "UNION").ok()?;
    (both.derivation != Derivation::None).then_some(both)
}

/// The collation of two columns that become one.
fn common_collation(left: Option<Collation>, right: Option<Collation>) -> Collation {
    match (left, right) {
        (Some(left), Some(right)) if left == right => left,
        (Some(left), Some(right)) => {
            if left == Collation::Binary || right == Collation::Binary {
                return Collation::Binary;
            }
            // Of one character set the binary order wins, of two the one that has all characters.
            let prefers_right = match left.charset() == right.charset() {
                true => right.is_binary(),
                false => right.charset() == Charset::Utf8mb4,
            };
            if prefers_right { right } else { left }
        }
        (one, other) => one.or(other).unwrap_or(Collation::Utf8mb4_0900AiCi),
    }
}

/// Columns as slots of a row.
pub fn slots(columns: &[OutputColumn]) -> Vec<Expr> {
    let slots = columns.iter().enumerate();
    slots.map(|(at, column)| Expr::slot(at as u32, column.data_type.clone(), column.nullable)).collect()
}
