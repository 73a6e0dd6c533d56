//! XA: a session's part of a transaction that a coordinator decides.
//!
//! ```text
//!   none --START--> active --END--> idle --PREPARE--> the engine's, and the session is free
//!                     ^  START RESUME |  \__COMMIT ONE PHASE, ROLLBACK--> none
//!                     \_______________/
//!   active, idle --deadlock--> rollback only --ROLLBACK, COMMIT ONE PHASE--> none
//! ```
//!
//! # Invariants
//! 1. A name is in one branch at a time: of those under way, [`XaNames`] has it; of those prepared, the engine.
//! 2. A branch that changed nothing is prepared in name only, until it is decided or the server stops.
//!
//! # Source
//! The manual, "XA Transactions"; answers recorded from MySQL 9.7.

use std::collections::HashMap;

use meseta_engine::EngineError;
use meseta_errors::{ER_XA_RBDEADLOCK, ER_XAER_DUPID, ER_XAER_INVAL, ER_XAER_NOTA, ER_XAER_OUTSIDE, ER_XAER_RMFAIL};
use meseta_parser::ast::{Xa, XaIdentifier};
use meseta_types::{Collation, DataType, Datum};
use parking_lot::Mutex;

use super::{Answer, Session, Status};
use crate::error::{Error, Result};
use crate::name::text_of;
use crate::query::{OutputColumn, OutputColumns};

/// A branch's name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Xid {
    /// Which of the parts' formats.
    format: u32,
    global: Box<[u8]>,
    branch: Box<[u8]>,
}

impl Xid {
    fn new(id: &XaIdentifier<'_>) -> Xid {
        let format = id.format.and_then(|digits| text_of(digits.0).parse().ok()).unwrap_or(1);
        Xid { format, global: id.global.0.into(), branch: id.branch.map_or(Box::default(), |branch| branch.0.into()) }
    }

    /// As the engine keeps it: format, length of the first part, both parts.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.format.to_be_bytes().to_vec();
        bytes.push(self.global.len() as u8);
        bytes.extend_from_slice(&self.global);
        bytes.extend_from_slice(&self.branch);
        bytes
    }

    /// Reads what [`Xid::bytes`] made.
    fn read(bytes: &[u8]) -> Option<Xid> {
        let (format, rest) = bytes.split_first_chunk::<4>()?;
        let (&len, rest) = rest.split_first()?;
        let (global, branch) = rest.split_at_checked(usize::from(len))?;
        Some(Xid { format: u32::from_be_bytes(*format), global: global.into(), branch: branch.into() })
    }
}

/// Names of branches that are under way, and of those that are prepared and changed nothing.
#[derive(Default)]
pub struct XaNames(Mutex<HashMap<Xid, bool>>);

impl XaNames {
    /// Takes a name. Error 1440.
    fn take(&self, xid: &Xid, prepared: &[Vec<u8>]) -> Result<()> {
        let mut names = self.0.lock();
        if names.contains_key(xid) || prepared.contains(&xid.bytes()) {
            return Err(Error::new(ER_XAER_DUPID, &[]));
        }
        names.insert(xid.clone(), false);
        Ok(())
    }

    fn give_back(&self, xid: &Xid) {
        self.0.lock().remove(xid);
    }

    fn prepare_empty(&self, xid: &Xid) {
        self.0.lock().insert(xid.clone(), true);
    }

    /// Decides a branch that changed nothing; false if there is none of this name.
    fn decide(&self, xid: &Xid) -> bool {
        let mut names = self.0.lock();
        let is_prepared = names.get(xid) == Some(&true);
        if is_prepared {
            names.remove(xid);
        }
        is_prepared
    }

    fn prepared(&self) -> Vec<Xid> {
        self.0.lock().iter().filter(|(_, prepared)| **prepared).map(|(xid, _)| xid.clone()).collect()
    }
}

/// How far a session's branch is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XaState {
    /// Between START and END.
    Active,
    /// Behind END.
    Idle,
    /// A deadlock's victim.
    RollbackOnly,
}

impl XaState {
    /// As error 1399 has it.
    pub fn name(self) -> &'static str {
        match self {
            XaState::Active => "ACTIVE",
            XaState::Idle => "IDLE",
            XaState::RollbackOnly => "ROLLBACK ONLY",
        }
    }
}

/// The branch that a session works on.
#[derive(Clone, Debug)]
pub struct XaBranch {
    xid: Xid,
    /// How far it is.
    pub state: XaState,
}

/// Error 1399 of a state; of none without a branch.
pub fn wrong_state(state: Option<XaState>) -> Error {
    Error::new(ER_XAER_RMFAIL, &[&state.map_or("NON-EXISTING", XaState::name)])
}

impl Session {
    /// How far the session's branch is, if it works on one.
    pub(super) fn xa_state(&self) -> Option<XaState> {
        self.xa.as_ref().map(|branch| branch.state)
    }

    /// Error 1399 inside of a branch: where a statement would commit.
    pub(super) fn refuse_in_xa(&self) -> Result<()> {
        match self.xa_state() {
            None => Ok(()),
            state => Err(wrong_state(state)),
        }
    }

    /// A branch's transaction has been rolled back: it can do nothing else any more.
    pub(super) fn xa_rolled_back(&mut self) {
        if let Some(branch) = &mut self.xa {
            branch.state = XaState::RollbackOnly;
            self.facts.variables.state.in_transaction = true;
        }
    }

    /// The branch has ended.
    pub(super) fn forget_xa(&mut self) {
        if let Some(branch) = self.xa.take() {
            self.instance.xa.give_back(&branch.xid);
        }
    }

    /// The session's branch, if it has this name and is in this state. Errors: 1399, 1397.
    fn own_branch(&self, xid: &Xid, state: XaState) -> Result<()> {
        match &self.xa {
            Some(branch) if branch.state == state && branch.xid == *xid => Ok(()),
            Some(branch) if branch.state == state => Err(Error::new(ER_XAER_NOTA, &[])),
            branch => Err(wrong_state(branch.as_ref().map(|branch| branch.state))),
        }
    }

    /// Executes an XA statement; true if it has answered with rows.
    pub(super) fn execute_xa(&mut self, statement: &Xa<'_>, more: bool, answer: &mut dyn Answer) -> Result<bool> {
        match statement {
            Xa::Start { id, join, resume } => self.xa_start(Xid::new(id), *join, *resume)?,
            Xa::End { suspend: true, .. } => return Err(Error::new(ER_XAER_INVAL, &[])),
            Xa::End { id, .. } => {
                if self.xa_state() == Some(XaState::RollbackOnly) {
                    return Err(Error::new(ER_XA_RBDEADLOCK, &[]));
                }
                self.own_branch(&Xid::new(id), XaState::Active)?;
                self.set_xa_state(XaState::Idle);
            }
            Xa::Prepare(id) => self.xa_prepare(&Xid::new(id))?,
            Xa::Commit { id, one_phase } => self.xa_commit(&Xid::new(id), *one_phase)?,
            Xa::Rollback(id) => self.xa_roll_back(&Xid::new(id))?,
            Xa::Recover { convert_id } => return self.xa_recover(*convert_id, more, answer).map(|()| true),
        }
        Ok(false)
    }

    fn set_xa_state(&mut self, state: XaState) {
        if let Some(branch) = &mut self.xa {
            branch.state = state;
        }
    }

    fn xa_start(&mut self, xid: Xid, join: bool, resume: bool) -> Result<()> {
        if resume && self.xa_state() == Some(XaState::Idle) {
            self.own_branch(&xid, XaState::Idle)?;
            self.set_xa_state(XaState::Active);
            return Ok(());
        }
        if join || resume {
            return Err(Error::new(ER_XAER_INVAL, &[]));
        }
        self.refuse_in_xa()?;
        if self.facts.variables.state.in_transaction || self.locked.is_some() {
            return Err(Error::new(ER_XAER_OUTSIDE, &[]));
        }
        self.instance.xa.take(&xid, &self.instance.engine.prepared())?;
        if let Err(error) = self.open_transaction(None) {
            self.instance.xa.give_back(&xid);
            return Err(error);
        }
        self.xa = Some(XaBranch { xid, state: XaState::Active });
        Ok(())
    }

    fn xa_prepare(&mut self, xid: &Xid) -> Result<()> {
        self.own_branch(xid, XaState::Idle)?;
        // The engine has the name from here on; those who start see one or the other.
        let has_changes = self.engine.prepare(&xid.bytes()).map_err(xa_error)?;
        self.forget_xa();
        if !has_changes {
            self.instance.xa.prepare_empty(xid);
        }
        self.transaction_ended();
        Ok(())
    }

    fn xa_commit(&mut self, xid: &Xid, one_phase: bool) -> Result<()> {
        match self.xa_state() {
            Some(XaState::Idle) if one_phase => {
                self.own_branch(xid, XaState::Idle)?;
                self.forget_xa();
                self.end_transaction(true)
            }
            Some(XaState::RollbackOnly) if one_phase => {
                self.own_branch(xid, XaState::RollbackOnly)?;
                self.forget_xa();
                self.end_transaction(false)?;
                Err(Error::new(ER_XA_RBDEADLOCK, &[]))
            }
            None => self.decide_prepared(xid, true),
            state => Err(wrong_state(state)),
        }
    }

    fn xa_roll_back(&mut self, xid: &Xid) -> Result<()> {
        match self.xa_state() {
            None => self.decide_prepared(xid, false),
            Some(XaState::Active) => Err(wrong_state(Some(XaState::Active))),
            Some(state) => {
                self.own_branch(xid, state)?;
                self.forget_xa();
                self.end_transaction(false)
            }
        }
    }

    /// Decides a branch that is prepared, whoever prepared it.
    fn decide_prepared(&mut self, xid: &Xid, commits: bool) -> Result<()> {
        if self.facts.variables.state.in_transaction {
            return Err(wrong_state(None));
        }
        if self.instance.xa.decide(xid) {
            return Ok(());
        }
        let (engine, name) = (&self.instance.engine, xid.bytes());
        let decided = if commits { engine.commit_prepared(&name) } else { engine.roll_back_prepared(&name) };
        decided.map_err(xa_error)
    }

    fn xa_recover(&mut self, convert_id: bool, more: bool, answer: &mut dyn Answer) -> Result<()> {
        let prepared = self.instance.engine.prepared();
        let mut xids: Vec<Xid> = prepared.iter().filter_map(|name| Xid::read(name)).collect();
        xids.extend(self.instance.xa.prepared());
        let column = |name: &str, data_type: DataType| OutputColumn::new(name, data_type, false);
        let text = DataType::Varchar { length: 258, collation: Collation::Utf8mb4_0900AiCi };
        let columns = OutputColumns::from(vec![
            column("formatID", DataType::BIGINT),
            column("gtrid_length", DataType::BIGINT),
            column("bqual_length", DataType::BIGINT),
            column("data", text),
        ]);
        let status = Status { more_results: more, ..self.status() };
        answer.columns(&columns, status)?;
        for xid in &xids {
            let mut data = [&*xid.global, &*xid.branch].concat();
            if convert_id {
                data = data.iter().fold(b"0x".to_vec(), |mut text, byte| {
                    text.extend_from_slice(format!("{byte:02X}").as_bytes());
                    text
                });
            }
            let number = |number: usize| Datum::Signed(number as i64);
            let row = [
                number(xid.format as usize),
                number(xid.global.len()),
                number(xid.branch.len()),
                Datum::Text(&data, Collation::Utf8mb4_0900AiCi),
            ];
            answer.row(&columns, &row)?;
        }
        self.facts.row_count = -1;
        self.facts.found_rows = xids.len() as u64;
        answer.end(status)
    }
}

fn xa_error(error: EngineError) -> Error {
    match error {
        EngineError::DuplicateXid => Error::new(ER_XAER_DUPID, &[]),
        EngineError::NoSuchXid => Error::new(ER_XAER_NOTA, &[]),
        other => Error::from_engine(other),
    }
}
