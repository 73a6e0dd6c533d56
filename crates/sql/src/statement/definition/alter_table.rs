//! ALTER TABLE.

use meseta_parser::ast;

use super::{DefinitionContext, Outcome};
use crate::error::{Error, Result};

impl DefinitionContext<'_> {
    pub(super) fn alter_table(&mut self, _alter: &ast::AlterTable<'_>, _text: &[u8]) -> Result<Outcome> {
        Err(Error::not_yet("ALTER TABLE"))
    }
}
