//! Parts of an expression that are the same whatever the row, the session and the time are: computed once.
//!
//! # Invariants
//! 1. What warns or fails is left as it is, so that it warns and fails where and when it is evaluated.

use bumpalo::Bump;
use meseta_types::{Context, Datum, SqlMode};

use super::kind::ExprKind;
use super::value::Value;
use super::{Env, Expr, NoHost};

impl Expr {
    /// Whether it can be computed without a row, slots, session or clock, given that its operands can.
    fn is_pure(&self) -> bool {
        match &self.kind {
            ExprKind::Constant(_)
            | ExprKind::Slot(_)
            | ExprKind::Column(_)
            | ExprKind::Outer { .. }
            | ExprKind::Subquery(_)
            | ExprKind::Exists(_)
            | ExprKind::InSubquery(_)
            | ExprKind::Quantified(_)
            | ExprKind::Row(_)
            | ExprKind::UserVariable(_)
            | ExprKind::SetUserVariable(..)
            | ExprKind::SystemVariable(_) => false,
            ExprKind::Call(call) => call.function.is_pure(),
            _ => true,
        }
    }

    /// Becomes a constant, if it is one: its operands were folded before.
    pub(super) fn fold(mut self, mode: SqlMode) -> Expr {
        if !self.is_pure() {
            return self;
        }
        let mut constant = true;
        self.operands(&mut |operand| constant = constant && matches!(operand.kind, ExprKind::Constant(_)));
        if !constant {
            return self;
        }
        let arena = Bump::new();
        let mut context = Context::new(mode);
        let value = {
            let mut env = Env { arena: &arena, context: &mut context, slots: &[], outer: &[], host: &mut NoHost };
            match self.evaluate(&[], &mut env) {
                Ok(value) if !uses_today(&self, value) => Value::new(value),
                _ => return self,
            }
        };
        if context.warnings.count() > 0 {
            return self;
        }
        self.kind = ExprKind::Constant(value);
        self
    }
}

/// Whether the day on which it is computed may matter: a time that becomes a date.
fn uses_today(expr: &Expr, value: Datum<'_>) -> bool {
    let mut times = false;
    expr.operands(&mut |operand| times |= matches!(operand.as_constant(), Some(Datum::Time(..))));
    times && !matches!(value, Datum::Time(..))
}
