//! How one source is read, as EXPLAIN tells it.
//!
//! # Invariants
//! 1. What is said is what the executor does: a condition is shown unless the keys that are looked up imply it.

use super::text::Names;
use crate::error::Result;
use crate::expression::{ComparisonOperator, Expr, ExprKind};
use crate::query::plan::{
    Access, Join, Lookup, SelectPlan, SortKey, Source, SourceKind, Stretch, TableSource, UnionOperand,
};
use crate::query::planner::access::{covers, possible};
use crate::query::planner::estimate::{BETWEEN, OTHERS, share_of};
use crate::query::planner::sizes::{is_known, rows_of};
use crate::query::run::inside::Running;
use meseta_engine::Direction;
use meseta_engine::table::PartDefinition;
use meseta_types::DataType;

/// How rows are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// At most one, the same for all rows before.
    Const,
    /// At most one for each row before.
    EqRef,
    /// Those with some values.
    Ref,
    /// Stretches of an index.
    Range,
    /// What several indexes find: OR.
    IndexMerge,
    /// All, in an index.
    Index,
    /// All.
    All,
}

impl Kind {
    /// As the column `type` has it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Const => "const",
            Kind::EqRef => "eq_ref",
            Kind::Ref => "ref",
            Kind::Range => "range",
            Kind::IndexMerge => "index_merge",
            Kind::Index => "index",
            Kind::All => "ALL",
        }
    }
}

/// How a table is read.
pub struct Read {
    /// How rows are found.
    pub kind: Kind,
    /// The index by which; none for ALL.
    pub key: Option<String>,
    /// Indexes that could have been used.
    pub possible: Vec<String>,
    /// Bytes of the key's parts that are used; of each key.
    pub key_len: Option<String>,
    /// What the key's parts are compared with.
    pub references: Vec<String>,
    /// `k = 5`: the parts of a lookup.
    pub lookup: Vec<String>,
    /// `(10 <= id <= 20)`: the stretches of a range.
    pub ranges: Vec<String>,
    /// The used parts of the key.
    pub key_columns: Vec<String>,
    /// Rows that are read, about, each time.
    pub rows: f64,
    /// What remains to be asked of each.
    pub residual: Vec<Expr>,
    /// How many of a hundred rows remain, about.
    pub filtered: f64,
    /// The index has all that is asked for.
    pub is_covering: bool,
    /// From the end on.
    pub is_backward: bool,
    /// If of entries that are the same in the key's first parts not all are read: why.
    pub skips: Option<Skips>,
    /// If the rows are those of several indexes: what is read of each.
    pub union: Vec<Read>,
    /// The rows come in the order of their keys.
    pub is_in_key_order: bool,
}

/// What not all entries are read for that are the same in a key's first parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Skips {
    /// One of each is wanted.
    Deduplication,
    /// The ends of each are.
    Grouping,
    /// What lies between bounds of the part behind them is.
    Range,
}

/// A part's bytes in a key, as MySQL counts them.
fn part_bytes(data_type: &DataType, nullable: bool, prefix: Option<u32>) -> u32 {
    let characters = |length: u32, max: u32| prefix.unwrap_or(length).saturating_mul(max);
    let bytes = match data_type {
        DataType::Varchar { length, collation } => characters(*length, collation.charset().max_len()) + 2,
        DataType::Char { length, collation } => characters(*length, collation.charset().max_len()),
        DataType::Text { collation, .. } => characters(0, collation.charset().max_len()) + 2,
        other => other.row_bytes(),
    };
    bytes + u32::from(nullable)
}

/// How many parts of an index a stretch says something of.
fn parts_of(stretch: &Stretch) -> usize {
    stretch.equal.len() + usize::from(stretch.low.is_some() || stretch.high.is_some())
}

/// What `lookup` is compared with, for the column `ref`.
fn reference(lookup: &Lookup, names: &Names<'_>) -> String {
    let Some(value) = lookup.value() else { return "const".to_owned() };
    match value.kind {
        ExprKind::Column(_) | ExprKind::Outer { .. } => Names { is_full: true, ..*names }.text(value).replace('`', ""),
        _ if value.looks_at_columns() || value.names_outer_columns() => "func".to_owned(),
        _ => "const".to_owned(),
    }
}

/// How a table is read in a query. `running` estimates; nothing is read.
pub fn read(
    select: &SelectPlan,
    number: usize,
    source: &Source,
    table: &TableSource,
    names: &Names<'_>,
    running: &mut Running<'_>,
) -> Result<Read> {
    let hash = select.hashes.get(number).and_then(Option::as_ref);
    let conditions: &[Expr] = hash.map_or(&source.conditions, |hash| &hash.conditions);
    let is_ordered = select.is_ordered && select.join.as_ref().and_then(Join::first) == Some(number);
    read_table(source, table, conditions, is_ordered, names, running)
}

/// The same, of a table whose rows are to be changed as well.
pub fn read_table(
    source: &Source,
    table: &TableSource,
    conditions: &[Expr],
    is_ordered: bool,
    names: &Names<'_>,
    running: &mut Running<'_>,
) -> Result<Read> {
    let access = &table.access;
    if access.union.is_empty() {
        return read_by(source, table, access, kind_of(access, is_ordered), conditions, names, running);
    }
    let mut union = Vec::with_capacity(access.union.len());
    for UnionOperand { access, .. } in &access.union {
        union.push(read_by(source, table, access, Kind::Range, &[], names, running)?);
    }
    let joined = |text: &dyn Fn(&Read) -> Option<String>| union.iter().filter_map(text).collect::<Vec<_>>().join(",");
    Ok(Read {
        kind: Kind::IndexMerge,
        key: Some(joined(&|part| part.key.clone())),
        possible: possible_names(source, table, conditions),
        key_len: Some(joined(&|part| part.key_len.clone())),
        references: Vec::new(),
        lookup: Vec::new(),
        ranges: Vec::new(),
        key_columns: Vec::new(),
        rows: union.iter().map(|part| part.rows).sum(),
        residual: conditions.to_vec(),
        filtered: 100.0,
        is_covering: false,
        is_backward: false,
        skips: None,
        is_in_key_order: union.iter().all(|part| part.is_in_key_order),
        union,
    })
}

/// How an access that is no union finds rows.
fn kind_of(access: &Access, is_ordered: bool) -> Kind {
    let by_row =
        access.lookups().filter_map(Lookup::value).any(|value| value.looks_at_columns() || value.names_outer_columns());
    let is_point = access.is_one_point() && !access.equal.iter().any(|key| key.value().is_none());
    match () {
        () if access.loose.is_some() => Kind::Range,
        () if is_point && !by_row => Kind::Const,
        () if is_point => Kind::EqRef,
        () if !access.any_of.is_empty() || access.low.is_some() || access.high.is_some() => Kind::Range,
        () if !access.equal.is_empty() => Kind::Ref,
        () if access.index > 0 || is_ordered => Kind::Index,
        () => Kind::All,
    }
}

/// The names of the indexes by which these conditions could find rows.
fn possible_names(source: &Source, table: &TableSource, conditions: &[Expr]) -> Vec<String> {
    let usable: Vec<&Expr> = conditions.iter().collect();
    let definition = &table.table.engine().definition;
    possible(table, source.first_slot, &usable).into_iter().map(|at| definition.indexes[at].name.clone()).collect()
}

/// What is read by an access that is no union.
fn read_by(
    source: &Source,
    table: &TableSource,
    access: &Access,
    kind: Kind,
    conditions: &[Expr],
    names: &Names<'_>,
    running: &mut Running<'_>,
) -> Result<Read> {
    let known = &table.table;
    let engine_table = known.engine();
    let index = &engine_table.definition.indexes[access.index];
    let has_bounds = access.low.is_some() || access.high.is_some();
    let is_covering = access.index > 0 && covers(table, access.index);
    let used = match kind {
        _ if access.loose.is_some() => access.loose.map_or(0, |scan| scan.parts),
        Kind::All => 0,
        Kind::Index => index.parts.len(),
        _ => {
            access.equal.len()
                + access.skips
                + usize::from(has_bounds)
                + access.any_of.iter().map(parts_of).max().unwrap_or(0)
        }
    };
    let part_name = |at: usize| known.columns[usize::from(index.parts[at].column)].name.clone();
    let bytes_of = |part: &PartDefinition| {
        let column = &known.columns[usize::from(part.column)];
        part_bytes(&column.data_type, column.nullable, part.prefix)
    };
    let key_len: u32 = index.parts[..used].iter().map(bytes_of).sum();
    let value_text = |lookup: &Lookup| match lookup {
        Lookup::EachOf(_) => "(select ...)".to_owned(),
        lookup => lookup.value().map_or_else(|| "NULL".to_owned(), |value| names.text(value)),
    };
    let mut lookup: Vec<String> =
        (0..access.equal.len()).map(|at| format!("{} = {}", part_name(at), value_text(&access.equal[at]))).collect();
    let mut ranges = Vec::new();
    if kind == Kind::Range && !access.is_whole() {
        let whole = Stretch { equal: Vec::new(), low: access.low.clone(), high: access.high.clone() };
        let stretches = if access.any_of.is_empty() { std::slice::from_ref(&whole) } else { &access.any_of };
        for stretch in stretches {
            let mut parts = lookup.clone();
            let at = access.equal.len() + access.skips;
            for (behind, value) in stretch.equal.iter().enumerate() {
                parts.push(format!("{} = {}", part_name(at + behind), value_text(value)));
            }
            let symbol = |is_included: bool| if is_included { "<=" } else { "<" };
            let column = || part_name(at + stretch.equal.len());
            match (&stretch.low, &stretch.high) {
                (Some((beginning @ Lookup::Beginning(_), _)), _) => {
                    parts.push(format!("{} like {}", column(), value_text(beginning)));
                }
                (Some((low, at_low)), Some((high, at_high))) => {
                    let (low, high) = (value_text(low), value_text(high));
                    parts.push(format!("{low} {} {} {} {high}", symbol(*at_low), column(), symbol(*at_high)));
                }
                (Some((low, at_low)), None) => {
                    parts.push(format!("{} {} {}", value_text(low), symbol(*at_low), column()));
                }
                (None, Some((high, at_high))) => {
                    parts.push(format!("{} {} {}", column(), symbol(*at_high), value_text(high)));
                }
                (None, None) => {}
            }
            ranges.push(format!("({})", parts.join(" AND ")));
        }
        lookup.clear();
    }
    // What is looked up need not be asked.
    let implied = |condition: &Expr| {
        let slot_of = |at: usize| (source.first_slot + usize::from(index.parts[at].column)) as u32;
        let is_part = |slot: u32| {
            matches!(kind, Kind::Const | Kind::EqRef | Kind::Ref)
                && (0..access.equal.len()).any(|at| slot_of(at) == slot && index.parts[at].prefix.is_none())
        };
        condition.as_comparisons().any(|found| found.operator == ComparisonOperator::Equal && is_part(found.column))
            || condition.as_is_null().is_some_and(is_part)
    };
    let residual: Vec<Expr> = conditions.iter().filter(|condition| !implied(condition)).cloned().collect();
    let rows = estimate(table, access, kind, running)?;
    let covered = |condition: &&Expr| {
        if matches!(kind, Kind::EqRef | Kind::Ref)
            && access.looks_for(condition, &table.table.engine().definition, source.first_slot)
        {
            return true;
        }
        let mut is_key = kind == Kind::Range;
        condition.columns(&mut |slot| {
            let parts = &index.parts[..used];
            is_key &= parts.iter().any(|part| source.first_slot + usize::from(part.column) == slot as usize);
        });
        is_key
    };
    let share: f64 = residual.iter().filter(|condition| !covered(condition)).map(share_of).product();
    let filtered = if kind == Kind::Const { 100.0 } else { (100.0 * share).max((100.0 / rows.max(1.0)).min(100.0)) };
    Ok(Read {
        kind,
        key: (kind != Kind::All).then(|| index.name.clone()),
        possible: match access.loose {
            Some(_) if conditions.is_empty() => vec![index.name.clone()],
            _ => possible_names(source, table, conditions),
        },
        key_len: (kind != Kind::All).then(|| key_len.to_string()),
        references: match kind {
            Kind::Const | Kind::EqRef | Kind::Ref => access.equal.iter().map(|key| reference(key, names)).collect(),
            _ => Vec::new(),
        },
        lookup,
        ranges,
        key_columns: (0..used).map(part_name).collect(),
        rows,
        residual,
        filtered,
        is_covering,
        is_backward: access.direction == Direction::Descending && kind != Kind::Const && kind != Kind::EqRef,
        skips: match access.loose {
            Some(scan) => {
                let is_part = |column: &u16| index.parts[..scan.parts].iter().any(|part| part.column == *column);
                let is_whole = table.columns.iter().all(is_part);
                Some(if is_whole { Skips::Deduplication } else { Skips::Grouping })
            }
            None => (access.skips > 0).then_some(Skips::Range),
        },
        union: Vec::new(),
        is_in_key_order: access.index == 0 || access.equal.len() == index.parts.len(),
    })
}

/// Rows that are read each time, about.
fn estimate(table: &TableSource, access: &Access, kind: Kind, running: &mut Running<'_>) -> Result<f64> {
    let engine_table = table.table.engine();
    let all = || engine_table.estimate_rows().map_or(1.0, |rows| rows.max(1) as f64);
    let distinct = |part: usize, running: &Running<'_>| {
        let statistics = running.inside.statistics.get(engine_table);
        statistics.indexes.get(access.index)?.as_ref()?.distinct.get(part).copied()
    };
    if let Some(scan) = access.loose {
        let rows = estimate(table, &Access { loose: None, ..access.clone() }, kind, running)?;
        let groups = scan.parts.checked_sub(1).map_or(Some(1), |last| distinct(last, running));
        return Ok((rows * groups.unwrap_or(1) as f64 / all()).max(1.0));
    }
    if matches!(kind, Kind::Const | Kind::EqRef) {
        return Ok(1.0);
    }
    if access.skips > 0 {
        let share = if access.low.is_some() && access.high.is_some() { BETWEEN } else { OTHERS };
        return Ok((all() * share).max(1.0));
    }
    if matches!(kind, Kind::All | Kind::Index) {
        return Ok(all());
    }
    if is_known(access) {
        return Ok(rows_of(table, access, running)?.max(1.0));
    }
    // The values come row by row: as many as the average has.
    let rows = all() / distinct(access.equal.len().max(1) - 1, running).unwrap_or(10).max(1) as f64;
    Ok(if access.equal.is_empty() { all() / 3.0 } else { rows.max(1.0) })
}

/// The keys of an order as text.
pub fn order_text(order: &[SortKey], names: &Names<'_>) -> Vec<String> {
    let key = |key: &SortKey| format!("{}{}", names.text(&key.value), if key.descending { " DESC" } else { "" });
    order.iter().map(key).collect()
}

/// The table of a source, if it is one.
pub fn table_of(source: &Source) -> Option<&TableSource> {
    match &source.kind {
        SourceKind::Table(table) => Some(table),
        _ => None,
    }
}
