//! Statements that the server runs itself before anybody can reach it: what the environment and `--init-file` ask for.
//!
//! They run in a session that may everything, whatever became of root's account.

use std::sync::Arc;

use meseta_sql::account::{AccountId, SessionAccount};
use meseta_sql::query::{OutputColumn, OutputColumns};
use meseta_sql::session::{Answer, Done, Identity, Instance, Session, Status, Undisturbed};
use meseta_sql::{Error, Result};
use meseta_types::Datum;

/// Such a session.
pub struct Trusted(Session);

impl Trusted {
    /// Begins one.
    ///
    /// # Errors
    /// The engine has no session to give.
    pub fn begin(instance: &Arc<Instance>) -> Result<Self> {
        let root = AccountId::new("root", "localhost");
        let identity = Identity { connection: 0, user: root.to_string(), account: root.to_string() };
        let mut session = Session::new(instance, identity, Box::new(Undisturbed))?;
        session.set_account(SessionAccount::trusted(&root, "localhost"));
        Ok(Self(session))
    }

    /// Runs a statement; its rows are for nobody.
    ///
    /// # Errors
    /// What a client would be told.
    pub fn run(&mut self, statement: &[u8]) -> Result<()> {
        let mut outcome = Outcome(None);
        self.0.execute(statement, false, &mut outcome)?;
        outcome.0.map_or(Ok(()), Err)
    }

    /// The transaction that was left open is rolled back, as that of a client that goes.
    pub fn end(mut self) {
        self.0.close();
    }
}

/// Whether a statement failed.
struct Outcome(Option<Error>);

impl Answer for Outcome {
    fn columns(&mut self, _: &OutputColumns, _: Status) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &[OutputColumn], _: &[Datum<'_>]) -> Result<()> {
        Ok(())
    }

    fn end(&mut self, _: Status) -> Result<()> {
        Ok(())
    }

    fn done(&mut self, _: &Done, _: Status) -> Result<()> {
        Ok(())
    }

    fn failed(&mut self, error: &Error, _: Status) -> Result<()> {
        self.0 = Some(error.clone());
        Ok(())
    }
}
