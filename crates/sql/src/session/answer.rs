//! What a statement tells its client: the seam to whoever writes packets.

use meseta_errors::ER_CLIENT_LOCAL_FILES_DISABLED;
use meseta_types::{Charset, Datum};

use super::Tracked;
use crate::error::{Error, Result};
use crate::query::{OutputColumn, OutputColumns};
use crate::statement::manipulation::PieceSource;

/// What a statement that has no rows came to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Done {
    /// Rows that were changed.
    pub affected: u64,
    /// The first number that was generated for a counting column, or what LAST_INSERT_ID(expr) was given.
    pub insert_id: u64,
    /// `Rows matched: 1  Changed: 1  Warnings: 0`.
    pub info: String,
}

/// What the protocol says beside each answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// A transaction is open.
    pub in_transaction: bool,
    /// autocommit is on.
    pub autocommit: bool,
    /// Another answer follows: of the next statement of this text.
    pub more_results: bool,
    /// NO_BACKSLASH_ESCAPES.
    pub no_backslash_escapes: bool,
    /// The statement's warnings.
    pub warnings: u64,
    /// `character_set_results`: what text is sent in; `None` for what it is in.
    pub results: Option<Charset>,
}

/// Who is answered. An error in it means that the client has gone, or must not be written to: the statement ends.
pub trait Answer {
    /// Rows of these columns follow.
    fn columns(&mut self, columns: &OutputColumns, status: Status) -> Result<()>;

    /// A row.
    fn row(&mut self, columns: &[OutputColumn], row: &[Datum<'_>]) -> Result<()>;

    /// There are no more rows.
    fn end(&mut self, status: Status) -> Result<()>;

    /// The statement is done, and has no rows.
    fn done(&mut self, done: &Done, status: Status) -> Result<()>;

    /// A file that the client sends: LOAD DATA LOCAL. Error 3948: it sends none.
    fn local_file(&mut self, _name: &[u8]) -> Result<Box<dyn PieceSource + '_>> {
        Err(Error::new(ER_CLIENT_LOCAL_FILES_DISABLED, &[]))
    }

    /// The session's state has changed: to be told with the end of this answer, which comes next.
    fn changed(&mut self, _change: &Tracked) {}

    /// The statement failed. (What was shown of its rows before is taken back by the protocol's error.)
    fn failed(&mut self, error: &Error, status: Status) -> Result<()>;
}
