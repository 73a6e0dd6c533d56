//! Lists between commas, in the arena.

use super::{Parser, Result};
use crate::ast::List;
use crate::token::TokenKind as T;
use bumpalo::collections::Vec as ArenaVec;

impl<'a> Parser<'a> {
    /// `item, item, ..`, at least one.
    pub(super) fn comma_list<V: Copy>(
        &mut self,
        mut item: impl FnMut(&mut Parser<'a>) -> Result<V>,
    ) -> Result<List<'a, V>> {
        let first = item(self)?;
        if !self.at_kind(T::Comma) {
            return Ok(self.arena.alloc_slice_copy(&[first]));
        }
        let mut items = ArenaVec::with_capacity_in(4, self.arena);
        items.push(first);
        while self.accept_kind(T::Comma) {
            items.push(item(self)?);
        }
        Ok(items.into_bump_slice())
    }

    /// `(item, item, ..)`, at least one.
    pub(super) fn parenthesised_list<V: Copy>(
        &mut self,
        item: impl FnMut(&mut Parser<'a>) -> Result<V>,
    ) -> Result<List<'a, V>> {
        self.open()?;
        let items = self.comma_list(item)?;
        self.close()?;
        Ok(items)
    }

    /// The same, or nothing at all.
    pub(super) fn optional_list<V: Copy>(
        &mut self,
        item: impl FnMut(&mut Parser<'a>) -> Result<V>,
    ) -> Result<List<'a, V>> {
        if self.at_kind(T::LeftParenthesis) { self.parenthesised_list(item) } else { Ok(&[]) }
    }

    /// Items one after the other, until `item` gives none.
    pub(super) fn run<V: Copy>(
        &mut self,
        mut item: impl FnMut(&mut Parser<'a>) -> Result<Option<V>>,
    ) -> Result<List<'a, V>> {
        let Some(first) = item(self)? else { return Ok(&[]) };
        let Some(second) = item(self)? else { return Ok(self.arena.alloc_slice_copy(&[first])) };
        let mut items = ArenaVec::with_capacity_in(4, self.arena);
        items.extend([first, second]);
        while let Some(next) = item(self)? {
            items.push(next);
        }
        Ok(items.into_bump_slice())
    }

    /// A list that a loop of the caller's fills.
    pub(super) fn new_list<V: Copy>(&self) -> ArenaVec<'a, V> {
        ArenaVec::new_in(self.arena)
    }
}
