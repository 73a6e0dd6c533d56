//! What a client is told of its session's state beside an answer: session-state tracking (CLIENT_SESSION_TRACK).
//!
//! ```text
//! SET, USE, PREPARE ..  --note-->  Tracker  --tell, before the last packet of an answer-->  Answer::changed
//! ```
//!
//! # Invariants
//! 1. A client that did not ask is told nothing, and costs nothing.
//! 2. What a statement that failed changed is told with the next answer.
//!
//! Source: the manual's "Server Tracking of Client Session State"; packets of 9.7.

use std::collections::BTreeSet;

use meseta_parser::ast::{QueryBody, Statement, Transaction};

use super::plan::StatementPlan;
use super::{Answer, Session};
use crate::variable::{Isolation, ReadScope, SessionState, TransactionTracking, Variable};

/// Something that has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tracked {
    /// A system variable, and its value as SHOW VARIABLES prints it.
    Variable(&'static str, String),
    /// The default database.
    Schema(String),
    /// Something of the session's state.
    State,
    /// The transaction's state: eight letters.
    Transaction(String),
    /// The statements that would begin the transaction anew.
    Characteristics(String),
}

/// What is to be told.
#[derive(Default)]
pub struct Tracker {
    is_on: bool,
    variables: BTreeSet<&'static str>,
    schema: bool,
    state: bool,
    /// What the open transaction has done.
    access: Access,
    /// What was said of the open transaction: its isolation, read only.
    begun: (Option<Isolation>, Option<bool>),
    told_transaction: Option<String>,
    told_characteristics: Option<String>,
}

#[derive(Clone, Copy, Default)]
struct Access {
    explicit: bool,
    snapshot: bool,
    reads: bool,
    writes: bool,
    rows: bool,
}

/// Variables that another one decides.
const FOLLOWERS: &[(&str, &str)] = &[
    ("collation_connection", "character_set_connection"),
    ("character_set_connection", "collation_connection"),
    ("collation_database", "character_set_database"),
    ("character_set_database", "collation_database"),
    ("collation_server", "character_set_server"),
    ("character_set_server", "collation_server"),
];

/// Whether a statement reads rows of tables, and whether it has rows to show.
pub(super) fn access_of(statement: &Statement<'_>) -> (bool, bool) {
    let Statement::Query(query) = statement else { return (false, false) };
    let reads = match query.body {
        QueryBody::Select(select) => !select.from.is_empty(),
        QueryBody::Values(_) => false,
        _ => true,
    };
    (reads, query.into.is_none())
}

impl Tracker {
    /// A session's variable was set.
    pub(super) fn assigned(&mut self, variable: Variable) {
        if !self.is_on {
            return;
        }
        let name = variable.definition().name;
        self.state = true;
        self.variables.insert(name);
        self.variables.extend(FOLLOWERS.iter().filter(|(of, _)| *of == name).map(|(_, follower)| *follower));
    }

    /// The default database was chosen.
    pub(super) fn chose_schema(&mut self) {
        self.schema |= self.is_on;
        self.state |= self.is_on;
    }

    /// Something else of the session's state changed.
    pub(super) fn changed_state(&mut self) {
        self.state |= self.is_on;
    }

    /// A statement that has a plan is about to run.
    pub(super) fn plan_begins(&mut self, plan: &StatementPlan) {
        if self.is_on {
            let (reads, rows) = plan.access;
            self.access.reads |= reads;
            self.access.rows |= rows;
            self.access.writes |= plan.changes_data();
        }
    }

    /// Another statement is about to run.
    pub(super) fn begins(&mut self, statement: &Statement<'_>, state: &SessionState) {
        if !self.is_on {
            return;
        }
        use Statement as S;
        match statement {
            S::Load(_) => self.access.writes = true,
            S::Show(_) | S::Explain(_) => self.access.rows = true,
            S::Transaction(Transaction::Start { consistent_snapshot: snapshot, read_only }) => {
                // What SET TRANSACTION said is for this one, unless another is open, which that was for.
                let (isolation, only) = match state.in_transaction {
                    true => (None, None),
                    false => (state.next_isolation, state.next_read_only),
                };
                self.begun = (isolation, read_only.or(only));
                self.access = Access { explicit: true, snapshot: *snapshot, reads: *snapshot, ..Access::default() };
                self.told_characteristics = None;
            }
            S::Transaction(Transaction::Commit { .. } | Transaction::Rollback { .. }) => {
                self.access = Access { explicit: true, ..Access::default() };
                self.told_characteristics = None;
            }
            S::Prepare { .. } | S::Deallocate(_) => self.state = true,
            S::CreateTable(table) if table.temporary => self.state = true,
            S::DropTables(drop) if drop.temporary => self.state = true,
            _ => {}
        }
    }
}

impl Session {
    /// Whether the client is told of its session's state.
    pub fn set_tracking(&mut self, on: bool) {
        self.tracker.is_on = on;
    }

    /// Tells the client what has changed. Before the packet that ends an answer.
    pub(super) fn tell_changes(&mut self, answer: &mut dyn Answer) {
        if self.tracker.is_on {
            self.changes().into_iter().for_each(|change| answer.changed(&change));
        }
    }

    /// What has changed since it was asked last; for whoever answers without [`Answer`].
    pub fn changes(&mut self) -> Vec<Tracked> {
        let mut all = Vec::new();
        if !self.tracker.is_on {
            return all;
        }
        let text = |name: &str| {
            let found = self.facts.variables.get(ReadScope::Either, name, &mut meseta_types::Warnings::new(0));
            found.map(|(variable, value)| variable.definition().shown(&value)).unwrap_or_default()
        };
        let variables = std::mem::take(&mut self.tracker.variables);
        if !variables.is_empty() {
            let wanted = text("session_track_system_variables").to_ascii_lowercase();
            let is_wanted = |name: &str| wanted == "*" || wanted.split(',').any(|wanted| wanted.trim() == name);
            let told = variables.into_iter().filter(|name| is_wanted(name));
            all.extend(told.map(|name| Tracked::Variable(name, text(name))));
        }
        let settings = self.facts.variables.settings();
        if std::mem::take(&mut self.tracker.schema) && settings.session_track_schema {
            all.push(Tracked::Schema(self.facts.database_name().unwrap_or_default()));
        }
        if std::mem::take(&mut self.tracker.state) && settings.session_track_state_change {
            all.push(Tracked::State);
        }
        let of_transactions = settings.session_track_transaction_info;
        if !self.facts.variables.state.in_transaction {
            self.tracker.access = Access::default();
        }
        if of_transactions == TransactionTracking::Off {
            (self.tracker.told_transaction, self.tracker.told_characteristics) = (None, None);
            return all;
        }
        let state = self.transaction_state();
        let told = self.tracker.told_transaction.replace(state.clone());
        if told.as_deref().unwrap_or("________") != state {
            all.push(Tracked::Transaction(state));
        }
        if of_transactions == TransactionTracking::Characteristics {
            let text = self.characteristics();
            if self.tracker.told_characteristics.replace(text.clone()).as_ref() != Some(&text) {
                all.push(Tracked::Characteristics(text));
            }
        }
        all
    }

    fn transaction_state(&self) -> String {
        let access = self.tracker.access;
        if !self.facts.variables.state.in_transaction {
            return "________".to_owned();
        }
        let letter = |is: bool, letter: char| if is { letter } else { '_' };
        let kind = if access.explicit { 'T' } else { 'I' };
        let (reads, writes, rows) = (letter(access.reads, 'R'), letter(access.writes, 'W'), letter(access.rows, 'S'));
        format!("{kind}_{reads}_{writes}_{rows}_")
    }

    fn characteristics(&self) -> String {
        let state = &self.facts.variables.state;
        let (isolation, read_only) = match state.in_transaction {
            true if self.tracker.access.explicit => self.tracker.begun,
            true => (None, None),
            false => (state.next_isolation, state.next_read_only),
        };
        let mut parts = Vec::new();
        if let Some(isolation) = isolation {
            let name = match isolation {
                Isolation::ReadUncommitted => "READ UNCOMMITTED",
                Isolation::ReadCommitted => "READ COMMITTED",
                Isolation::RepeatableRead => "REPEATABLE READ",
                Isolation::Serializable => "SERIALIZABLE",
            };
            parts.push(format!("SET TRANSACTION ISOLATION LEVEL {name};"));
        }
        let access = read_only.map(|only| if only { "READ ONLY" } else { "READ WRITE" });
        if state.in_transaction && self.tracker.access.explicit {
            let snapshot = self.tracker.access.snapshot.then_some("WITH CONSISTENT SNAPSHOT");
            let options: Vec<&str> = snapshot.into_iter().chain(access).collect();
            let blank = if options.is_empty() { "" } else { " " };
            parts.push(format!("START TRANSACTION{blank}{};", options.join(", ")));
        } else if let Some(access) = access {
            parts.push(format!("SET TRANSACTION {access};"));
        }
        parts.join(" ")
    }
}
