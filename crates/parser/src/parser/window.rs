//! Aggregates, window functions, windows.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// An aggregate, perhaps over a window.
    pub(super) fn aggregate(&mut self, keyword: K) -> Result<ExpressionKind<'a>> {
        let function = match keyword {
            K::COUNT => AggregateFunction::Count,
            K::SUM => AggregateFunction::Sum,
            K::AVG => AggregateFunction::Avg,
            K::MIN => AggregateFunction::Min,
            K::MAX => AggregateFunction::Max,
            K::BIT_AND => AggregateFunction::BitAnd,
            K::BIT_OR => AggregateFunction::BitOr,
            K::BIT_XOR => AggregateFunction::BitXor,
            K::STD | K::STDDEV | K::STDDEV_POP => AggregateFunction::Std,
            K::VARIANCE | K::VAR_POP => AggregateFunction::Variance,
            K::STDDEV_SAMP => AggregateFunction::StddevSamp,
            K::VAR_SAMP => AggregateFunction::VarSamp,
            K::GROUP_CONCAT => AggregateFunction::GroupConcat,
            K::JSON_ARRAYAGG => AggregateFunction::JsonArrayagg,
            K::JSON_OBJECTAGG => AggregateFunction::JsonObjectagg,
            _ => AggregateFunction::StCollect,
        };
        self.advance();
        self.open()?;
        let takes_distinct = matches!(
            function,
            AggregateFunction::Count
                | AggregateFunction::Sum
                | AggregateFunction::Avg
                | AggregateFunction::Min
                | AggregateFunction::Max
                | AggregateFunction::GroupConcat
                | AggregateFunction::StCollect
        );
        let distinct = takes_distinct && (self.accept(K::DISTINCT) || self.accept(K::DISTINCTROW));
        let takes_all = !distinct
            && !matches!(
                function,
                AggregateFunction::GroupConcat
                    | AggregateFunction::JsonArrayagg
                    | AggregateFunction::JsonObjectagg
                    | AggregateFunction::StCollect
            );
        if takes_all {
            self.accept(K::ALL);
        }
        let mut aggregate =
            Aggregate { function, distinct, arguments: &[], order_by: &[], separator: None, absent_on_null: false };
        match function {
            AggregateFunction::Count if !distinct && self.accept_kind(T::Star) => {}
            AggregateFunction::Count if distinct => aggregate.arguments = self.comma_list(Parser::expression)?,
            AggregateFunction::GroupConcat => {
                aggregate.arguments = self.comma_list(Parser::expression)?;
                aggregate.order_by = self.order_by()?;
                if self.accept(K::SEPARATOR) {
                    aggregate.separator = Some(self.string_or_digits()?);
                }
            }
            AggregateFunction::JsonObjectagg => {
                let key = self.expression()?;
                self.expect_kind(T::Comma)?;
                let value = self.expression()?;
                aggregate.arguments = self.arena.alloc_slice_copy(&[key, value]);
            }
            _ => {
                let argument = self.expression()?;
                aggregate.arguments = self.arena.alloc_slice_copy(&[argument]);
            }
        }
        if matches!(function, AggregateFunction::JsonArrayagg | AggregateFunction::JsonObjectagg)
            && self.at_any(&[K::NULL, K::ABSENT])
        {
            aggregate.absent_on_null = self.at(K::ABSENT);
            self.advance();
            self.expect_words(&[K::ON, K::NULL])?;
        }
        self.close()?;
        let aggregate = self.alloc(aggregate);
        if !self.at(K::OVER) {
            return Ok(ExpressionKind::Aggregate(aggregate));
        }
        let over = self.over()?;
        Ok(ExpressionKind::Window(self.alloc(WindowCall { function: WindowFunction::Aggregate(aggregate), over })))
    }

    /// `RANK() OVER ..` and its like: OVER must follow.
    pub(super) fn window_function(&mut self, keyword: K) -> Result<ExpressionKind<'a>> {
        let function = match keyword {
            K::ROW_NUMBER => NamedWindowFunction::RowNumber,
            K::RANK => NamedWindowFunction::Rank,
            K::DENSE_RANK => NamedWindowFunction::DenseRank,
            K::CUME_DIST => NamedWindowFunction::CumeDist,
            K::PERCENT_RANK => NamedWindowFunction::PercentRank,
            K::NTILE => NamedWindowFunction::Ntile,
            K::LEAD => NamedWindowFunction::Lead,
            K::LAG => NamedWindowFunction::Lag,
            K::FIRST_VALUE => NamedWindowFunction::FirstValue,
            K::LAST_VALUE => NamedWindowFunction::LastValue,
            _ => NamedWindowFunction::NthValue,
        };
        self.advance();
        self.open()?;
        let (least, most) = match function {
            NamedWindowFunction::Ntile | NamedWindowFunction::FirstValue | NamedWindowFunction::LastValue => (1, 1),
            NamedWindowFunction::Lead | NamedWindowFunction::Lag => (1, 3),
            NamedWindowFunction::NthValue => (2, 2),
            _ => (0, 0),
        };
        let mut arguments = self.new_list();
        while arguments.len() < most && !(arguments.len() >= least && self.at_kind(T::RightParenthesis)) {
            if !arguments.is_empty() {
                self.expect_kind(T::Comma)?;
            }
            // How far, and how many: a number, a parameter or a variable.
            let counts = function == NamedWindowFunction::Ntile
                || arguments.len() == 1 && matches!(function, NamedWindowFunction::Lead | NamedWindowFunction::Lag);
            arguments.push(match counts {
                true if self.at_kind(T::AtName) => self.simple()?,
                true => self.limit_value()?,
                false => self.expression()?,
            });
        }
        self.close()?;
        let mut from_last = false;
        if function == NamedWindowFunction::NthValue && self.accept(K::FROM) {
            from_last = self.expect_any(&[K::FIRST, K::LAST])? == K::LAST;
        }
        let mut ignore_nulls = false;
        if least > 0 && function != NamedWindowFunction::Ntile && self.at_any(&[K::RESPECT, K::IGNORE]) {
            ignore_nulls = self.at(K::IGNORE);
            self.advance();
            self.expect(K::NULLS)?;
        }
        let over = self.over()?;
        let arguments = arguments.into_bump_slice();
        let function = WindowFunction::Named { function, arguments, from_last, ignore_nulls };
        Ok(ExpressionKind::Window(self.alloc(WindowCall { function, over })))
    }

    fn over(&mut self) -> Result<Over<'a>> {
        self.expect(K::OVER)?;
        if self.at_kind(T::LeftParenthesis) {
            let specification = self.window_specification()?;
            return Ok(Over::Specification(self.alloc(specification)));
        }
        Ok(Over::Name(self.identifier()?))
    }

    pub(super) fn window_specification(&mut self) -> Result<WindowSpecification<'a>> {
        self.open()?;
        self.enter()?;
        let base = self.accept_identifier();
        let partition_by = if self.accept_words(&[K::PARTITION, K::BY])? { self.order_items()? } else { &[] };
        let order_by = self.order_by()?;
        let unit = match self.token.keyword {
            K::ROWS => Some(FrameUnit::Rows),
            K::RANGE => Some(FrameUnit::Range),
            K::GROUPS => Some(FrameUnit::Groups),
            _ => None,
        };
        let frame = match unit {
            Some(unit) => Some(self.frame(unit)?),
            None => None,
        };
        self.leave();
        self.close()?;
        Ok(WindowSpecification { base, partition_by, order_by, frame })
    }

    fn frame(&mut self, unit: FrameUnit) -> Result<Frame<'a>> {
        self.advance();
        let between = self.accept(K::BETWEEN);
        let start = self.frame_bound(between)?;
        let mut end = None;
        if between {
            self.expect(K::AND)?;
            end = Some(self.frame_bound(true)?);
        }
        let mut exclude = None;
        if self.accept(K::EXCLUDE) {
            exclude = Some(match self.expect_any(&[K::CURRENT, K::GROUP, K::TIES, K::NO])? {
                K::CURRENT => {
                    self.expect(K::ROW)?;
                    FrameExclusion::CurrentRow
                }
                K::GROUP => FrameExclusion::Group,
                K::TIES => FrameExclusion::Ties,
                _ => {
                    self.expect(K::OTHERS)?;
                    FrameExclusion::NoOthers
                }
            });
        }
        Ok(Frame { unit, start, end, exclude })
    }

    /// A number without a sign, or a parameter.
    fn frame_amount(&mut self) -> Result<Expression<'a>> {
        match self.token.kind {
            T::Integer | T::Decimal | T::Float | T::HexNumber | T::BitNumber | T::Parameter => self.simple(),
            _ => self.fail(),
        }
    }

    fn frame_bound(&mut self, following_allowed: bool) -> Result<FrameBound<'a>> {
        if self.at(K::CURRENT) {
            self.advance();
            self.expect(K::ROW)?;
            return Ok(FrameBound::CurrentRow);
        }
        let sides: &[K] = if following_allowed { &[K::PRECEDING, K::FOLLOWING] } else { &[K::PRECEDING] };
        if self.accept(K::UNBOUNDED) {
            let preceding = self.expect_any(sides)? == K::PRECEDING;
            return Ok(if preceding { FrameBound::UnboundedPreceding } else { FrameBound::UnboundedFollowing });
        }
        let interval = self.accept(K::INTERVAL);
        let amount = if interval { self.expression()? } else { self.frame_amount()? };
        let unit = if interval { Some(self.expect_interval_unit()?) } else { None };
        let preceding = self.expect_any(sides)? == K::PRECEDING;
        Ok(if preceding { FrameBound::Preceding { amount, unit } } else { FrameBound::Following { amount, unit } })
    }
}
