//! LIKE's patterns.
//!
//! Source: the manual's "String Comparison Functions and Operators".

use meseta_types::Datum;

use super::kind::Like;
use super::{Env, Expr};
use crate::error::Result;

impl Like {
    /// Whether it holds; `None` is NULL.
    pub(super) fn holds<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Option<bool>> {
        let text = self.operand.evaluate(row, env)?;
        let pattern = self.pattern.evaluate(row, env)?;
        let (text, pattern) = (self.operand.text_of(text, env.arena), self.pattern.text_of(pattern, env.arena));
        let (Some(text), Some(pattern)) = (text, pattern) else {
            return Ok(None);
        };
        Ok(Some(self.collation.like(text, pattern, self.escape) != self.negated))
    }

    /// The bytes with which all sort keys begin of texts that can match, or of so many characters at their beginning, if the
    /// pattern's value is this one.
    pub fn key_prefix(&self, pattern: &[u8], characters: Option<u32>) -> Vec<u8> {
        let mut out = Vec::new();
        self.collation.append_like_range(
            pattern,
            self.escape,
            characters.map(|characters| characters as usize),
            &mut out,
        );
        out
    }

    /// Whether an index can find what matches: the pattern does not begin with a wildcard, or is not known yet.
    pub fn has_beginning(&self) -> bool {
        match self.pattern.as_constant() {
            Some(Datum::Text(pattern, _)) => !matches!(pattern.first(), None | Some(b'%' | b'_')),
            _ => true,
        }
    }
}

impl Expr {
    /// `column LIKE pattern`, if that is what it is: the column, and the comparison.
    pub fn as_like(&self) -> Option<(u32, &Like)> {
        match &self.kind {
            super::ExprKind::Like(like) if !like.negated => match like.operand.kind {
                super::ExprKind::Column(column) => Some((column, like)),
                _ => None,
            },
            _ => None,
        }
    }
}
