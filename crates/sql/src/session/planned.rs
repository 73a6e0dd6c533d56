//! Statements that have a plan: SELECT, INSERT, REPLACE, UPDATE, DELETE.
//!
//! ```text
//!   text --normaliser--> shape, literals --plans--> plan            values of the literals: the plan's slots
//!                              \__ none --parse, bind--> plan: kept for the next time
//!   plan, slots --run--> rows | what was changed --> Answer
//! ```
//!
//! # When things fail
//! A plan that turns out to be for tables that have changed is made anew, unless rows have been shown. What a statement
//! changed before it failed is undone; a deadlock's victim is rolled back whole. One that is suspended has not failed: it has
//! done nothing, and begins anew.

use std::cell::Cell;
use std::sync::Arc;

use meseta_errors::ER_TABLE_DEF_CHANGED;
use meseta_parser::{Arena, Lifted, Normaliser, Options, ast};
use meseta_types::integer::append_unsigned;
use meseta_types::{Collation, Datum};

use super::logs::has_secret;
use super::plan::{Parameters, PlanBody, StatementPlan, is_planned};
use super::plan_cache::{CachedPlan, PlanKey, PlanMoment};
use super::suspension::{CHANGING, READING};
use super::{Answer, Done, Session, SessionTables, Status};
use crate::account::Requirements;
use crate::error::{Error, Result};
use crate::expression::{BindFacts, WholeTexts, literal_value};
use crate::query::{MORE, QueryPlan, Sizes, Subquery, are_known, fit, run_query, samples_now, sizes_now};
use crate::statement::manipulation::Changes;

/// Longer texts are read without a look for their shape.
const SHAPE_LIMIT: usize = 16 << 10;

/// So often a statement is planned again whose tables change between planning and running.
const ATTEMPTS: u32 = 5;

/// So often ranges are looked at for a plan: with some of them known it may ask for others.
const LOOKS: u32 = 3;

/// What came of running a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ran {
    /// It has been answered.
    Answered,
    /// Its tables are not what they were, or it is for other values: nothing has been answered.
    Stale,
}

/// A statement's text and what its plan is made of and kept by.
#[derive(Clone, Copy)]
struct Source<'s> {
    text: &'s [u8],
    key: Option<PlanKey>,
    lifted: &'s [Lifted],
    parameters: Parameters<'s>,
}

/// Whether nothing but blanks is behind a statement's end.
fn is_last(text: &[u8], end: usize) -> bool {
    text[end..].iter().all(|byte| *byte == b';' || byte.is_ascii_whitespace()) && text.len() <= end + 64
}

/// The values of literals that were lifted out of a text.
fn literal_values<'v>(
    lifted: &[Lifted],
    text: &'v [u8],
    arena: &'v Arena,
    options: Options,
    collation: Collation,
) -> Result<Vec<Datum<'v>>> {
    let value = |lifted: &Lifted| -> Result<Datum<'v>> {
        Ok(literal_value(&lifted.literal(text, arena, options), collation)?.unwrap_or(Datum::Null))
    };
    lifted.iter().map(value).collect()
}

/// Numbers with what they are: what a change says beside how many rows it was. (`format!` would be a fortieth of an UPDATE.)
fn info(facts: [(&str, u64); 3]) -> String {
    let mut text = Vec::with_capacity(64);
    for (name, number) in facts {
        text.extend_from_slice(name.as_bytes());
        append_unsigned(number, 1, &mut text);
    }
    String::from_utf8(text).expect("names and digits are ASCII")
}

impl Session {
    /// A hash of what plans depend on besides statement and schema.
    pub(super) fn plan_environment(&mut self) -> u64 {
        let kind = self.rules().kind();
        // The hash is of the variables; the odd factor (of Knuth's) spreads the kinds over all bits.
        let variables = self.environment.hash(&self.facts.variables, self.facts.database.as_ref());
        variables ^ kind.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// Executes the statement at `start` of a text. Returns where the next one begins.
    pub(super) fn by_text(
        &mut self,
        text: &[u8],
        start: usize,
        multi_statements: bool,
        answer: &mut dyn Answer,
    ) -> Result<Option<usize>> {
        // Lent for the statement: its shape is borrowed from it.
        let mut normaliser = std::mem::take(&mut self.normaliser);
        let done = self.by_shape(&mut normaliser, text, start, multi_statements, answer);
        self.normaliser = normaliser;
        done
    }

    fn by_shape(
        &mut self,
        normaliser: &mut Normaliser,
        text: &[u8],
        start: usize,
        multi_statements: bool,
        answer: &mut dyn Answer,
    ) -> Result<Option<usize>> {
        let settings = self.facts.variables.settings();
        let collation = settings.collation_connection;
        let options = Options { parameters: false, ..settings.parser_options(multi_statements) };
        let mut source = Source { text, key: None, lifted: &[], parameters: Parameters::default() };
        // A plan knows nothing of what the session's state forbids, or has it do.
        if text.len() - start <= SHAPE_LIMIT && self.rules().allow_kept_plans() {
            let shape = normaliser.shape(text, start, options);
            if shape.end.is_some_and(|end| is_last(text, end)) {
                let environment = self.plan_environment();
                source.key = Some(PlanKey(shape.hash(self.instance.plans.seed() ^ environment)));
                source.lifted = shape.literals;
            }
        }
        let arena = Arena::new();
        let values = literal_values(source.lifted, text, &arena, options, collation);
        self.more_follows = false;
        if let (Some(key), Ok(values)) = (source.key, &values)
            && let Some(cached) = self.plans.take(key, &self.instance.plans, self.plan_moment())
        {
            self.log_statement(text, start, text.len(), false);
            let ran = self.run_cached(&cached, values, answer);
            self.plans.put_back(key, cached);
            if ran? == Ran::Answered {
                return Ok(None);
            }
        }
        let parsed = match meseta_parser::parse(&arena, text, start, options) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.renew_context(false);
                return Err(error.into());
            }
        };
        self.more_follows = parsed.next.is_some();
        let end = parsed.next.unwrap_or(text.len());
        self.log_statement(text, start, end, has_secret(&parsed.statement, &text[start..end]));
        if is_planned(&parsed.statement) {
            let mut made = None;
            let done = self.planned(&parsed.statement, source, &values?, &mut made, answer);
            if let (Some(key), Some(plan)) = (source.key, made) {
                self.plans.put_back(key, plan);
            }
            done?;
        } else {
            self.statement(&parsed.statement, text, Parameters::default(), self.more_follows, answer)?;
        }
        Ok(parsed.next)
    }

    /// At which moment plans are made or used now.
    fn plan_moment(&self) -> PlanMoment {
        PlanMoment { schema_version: self.engine.schema_version(), time: self.facts.statement_time }
    }

    /// Runs a plan that was made before.
    fn run_cached(&mut self, cached: &CachedPlan, slots: &[Datum<'_>], answer: &mut dyn Answer) -> Result<Ran> {
        self.renew_context(cached.plan.changes_data());
        self.check_requirements(&cached.plan.requirements)?;
        if !cached.plan.sizes.is_empty() {
            let now = sizes_now(&cached.plan.sizes, &mut self.running(slots, &cached.plan.subqueries));
            if !fit(&cached.plan.sizes, &now) {
                return Ok(Ran::Stale);
            }
        }
        self.run_plan(&cached.plan, slots, true, answer)
    }

    /// Plans a statement for the values at hand, and those that are like them.
    pub(super) fn plan<'a>(
        &mut self,
        statement: &'a ast::Statement<'a>,
        facts: BindFacts<'a>,
        requirements: Requirements,
        slots: &[Datum<'_>],
    ) -> Result<StatementPlan> {
        let mut plan = StatementPlan::new(statement, facts, &mut self.tables(), requirements)?;
        let mut samples = Vec::new();
        for _ in 0..LOOKS {
            if are_known(&plan.sizes) && plan.unsampled.is_empty() {
                break;
            }
            let running = &mut self.running(slots, &plan.subqueries);
            let now = sizes_now(&plan.sizes, running);
            samples.extend(samples_now(&plan.unsampled, running));
            let mut tables = SessionTables { sizes: Sizes::new(now, samples.clone()), ..self.tables() };
            plan = StatementPlan::new(statement, facts, &mut tables, plan.requirements)?;
        }
        Ok(plan)
    }

    /// Executes a statement that was prepared, with these parameters; `key` is what its plan is found by, and `kept` the one
    /// that it had.
    pub(super) fn prepared(
        &mut self,
        text: &[u8],
        key: Option<PlanKey>,
        kept: &mut Option<Arc<CachedPlan>>,
        parameters: Parameters<'_>,
        answer: &mut dyn Answer,
    ) -> Result<()> {
        if let Some(key) = key
            && let Some(cached) = self.instance.plans.fresh(kept.take(), key, self.plan_moment())
            && cached.is_for(parameters)
        {
            let ran = self.run_cached(&cached, parameters.values, answer);
            *kept = Some(cached);
            if ran? == Ran::Answered {
                return Ok(());
            }
        }
        let arena = Arena::new();
        let parsed = meseta_parser::parse(&arena, text, 0, self.facts.variables.settings().parser_options(false))?;
        if is_planned(&parsed.statement) {
            let source = Source { text, key, lifted: &[], parameters };
            self.planned(&parsed.statement, source, parameters.values, kept, answer)
        } else {
            self.statement(&parsed.statement, text, parameters, self.more_follows, answer)
        }
    }

    /// Plans a statement, and runs it. What may be kept of that is for all, and left in `kept`.
    fn planned(
        &mut self,
        statement: &ast::Statement<'_>,
        source: Source<'_>,
        slots: &[Datum<'_>],
        kept: &mut Option<Arc<CachedPlan>>,
        answer: &mut dyn Answer,
    ) -> Result<()> {
        for attempt in 1.. {
            self.renew_context(!matches!(statement, ast::Statement::Query(_)));
            let requirements = self.authorise(statement)?;
            let made = self.plan_moment();
            let asked = Cell::new(0);
            let whole_texts = WholeTexts { bits: source.parameters.whole_texts(), asked: Some(&asked) };
            let facts = self.bind_facts(source.text, source.parameters);
            let facts = BindFacts { lifted: source.lifted, whole_texts, ..facts };
            let mut plan = self.plan(statement, facts, requirements, slots)?;
            (plan.whole_texts, plan.asks_whole_texts) = (whole_texts.bits, asked.get());
            let ran = self.run_plan(&plan, slots, attempt < ATTEMPTS, answer);
            let is_stale = matches!(ran, Ok(Ran::Stale));
            if let Some(key) = source.key
                && !is_stale
                && !plan.is_personal
            {
                *kept = Some(self.instance.plans.add(key, CachedPlan::new(plan, made)));
            }
            ran?;
            if !is_stale {
                break;
            }
        }
        Ok(())
    }

    fn run_plan(
        &mut self,
        plan: &StatementPlan,
        slots: &[Datum<'_>],
        may_retry: bool,
        answer: &mut dyn Answer,
    ) -> Result<Ran> {
        self.plan_begins(plan)?;
        for deprecated in &plan.deprecated {
            self.context.warnings.warn(deprecated.warning());
        }
        let ran = match &plan.body {
            PlanBody::Query(query) => self.select(query, plan, slots, may_retry, answer),
            body => self.change(body, &plan.subqueries, slots, may_retry, answer),
        };
        self.plan_ends(ran)
    }

    fn select(
        &mut self,
        query: &QueryPlan,
        plan: &StatementPlan,
        slots: &[Datum<'_>],
        may_retry: bool,
        answer: &mut dyn Answer,
    ) -> Result<Ran> {
        let status = Status { more_results: self.more_follows, ..self.status() };
        let (mut is_begun, mut shown) = (false, 0);
        let may_suspend = plan.begins_with_a_row && self.may_suspend();
        let mut running = self.running(slots, &plan.subqueries);
        running.inside.may_suspend = may_suspend;
        let done = run_query(query, &[], &mut running, &mut |_, row| {
            if !is_begun {
                is_begun = true;
                answer.columns(&query.columns, status)?;
            }
            shown += 1;
            answer.row(&query.columns, row)?;
            Ok(MORE)
        });
        let without_limit = running.inside.rows_without_limit;
        drop(running);
        if matches!(&done, Err(error) if error.is_suspended()) {
            return self.suspend(READING);
        }
        if let Err(error) = &done
            && error.code == ER_TABLE_DEF_CHANGED
            && may_retry
            && !is_begun
            && !self.facts.variables.state.in_transaction
        {
            self.engine.commit().map_err(Error::from_engine)?;
            return Ok(Ran::Stale);
        }
        self.end_statement(done)?;
        if !is_begun {
            answer.columns(&query.columns, status)?;
        }
        self.facts.found_rows = without_limit.unwrap_or(shown);
        self.facts.row_count = -1;
        self.remember_warnings();
        self.tell_changes(answer);
        answer.end(Status { more_results: self.more_follows, ..self.status() })?;
        Ok(Ran::Answered)
    }

    fn change(
        &mut self,
        body: &PlanBody,
        subqueries: &[Subquery],
        slots: &[Datum<'_>],
        may_retry: bool,
        answer: &mut dyn Answer,
    ) -> Result<Ran> {
        let savepoint = self.engine.savepoint();
        let may_suspend = self.may_suspend();
        let mut running = self.running(slots, subqueries);
        running.inside.may_suspend = may_suspend && matches!(body, PlanBody::Update(_) | PlanBody::Delete(_));
        let changes = match body {
            PlanBody::Insert(plan) => plan.run(&mut running),
            PlanBody::Update(plan) => plan.run(&mut running),
            PlanBody::Delete(plan) => plan.run(&mut running),
            PlanBody::Several(plan) => plan.run(&mut running),
            PlanBody::Query(_) => Ok(Changes::default()),
        };
        drop(running);
        if matches!(&changes, Err(error) if error.is_suspended()) {
            return self.suspend(CHANGING);
        }
        if let Err(error) = &changes
            && !error.ends_transaction()
        {
            self.engine.roll_back_to(savepoint).map_err(Error::from_engine)?;
            if error.code == ER_TABLE_DEF_CHANGED && may_retry {
                return Ok(Ran::Stale);
            }
        }
        let changes = self.end_statement(changes)?;
        let done = self.told(body, changes);
        self.facts.row_count = done.affected as i64;
        self.remember_warnings();
        self.tell_changes(answer);
        answer.done(&done, Status { more_results: self.more_follows, ..self.status() })?;
        Ok(Ran::Answered)
    }

    /// What the client is told of changes.
    fn told(&mut self, body: &PlanBody, changes: Changes) -> Done {
        let warnings = self.context.warnings.count();
        if changes.insert_id != 0 {
            self.facts.variables.state.last_insert_id = changes.insert_id;
        }
        self.count_changes(body, &changes);
        let insert_id = match (changes.insert_id, self.facts.given_insert_id) {
            (0, Some(given)) => given,
            // (Of the last row, whether it has come to be or not, if any has.)
            (0, None) if changes.affected == 0 => 0,
            (0, None) => changes.last_number,
            (generated, _) => generated,
        };
        let unchanged = if self.counts_found { changes.unchanged } else { 0 };
        let info = match body {
            PlanBody::Insert(_) if changes.tells_records => {
                let (records, duplicates) = (changes.found - changes.passed_over, changes.duplicates + unchanged);
                info([("Records: ", records), ("  Duplicates: ", duplicates), ("  Warnings: ", warnings)])
            }
            PlanBody::Update(_) | PlanBody::Several(_) if !body.deletes() => {
                let Changes { found, affected, .. } = changes;
                info([("Rows matched: ", found), ("  Changed: ", affected), ("  Warnings: ", warnings)])
            }
            _ => String::new(),
        };
        let insert_id = match body {
            PlanBody::Insert(_) => insert_id,
            _ => self.facts.given_insert_id.unwrap_or(0),
        };
        let affected = match body {
            PlanBody::Insert(_) => changes.affected + unchanged,
            PlanBody::Update(_) | PlanBody::Several(_) if self.counts_found && !body.deletes() => changes.found,
            _ => changes.affected,
        };
        Done { affected, insert_id, info }
    }
}
