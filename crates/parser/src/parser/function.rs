//! What begins with a word: constants, columns, functions and their special grammars.

use super::{K, Parser, Result, T};
use crate::ast::*;

/// Words of the language that are called as functions are; other words of the language cannot be.
const CALLABLE: &[K] = &[
    K::ASCII,
    K::CHARSET,
    K::COALESCE,
    K::COLLATION,
    K::DATE,
    K::DAY,
    K::FORMAT,
    K::GEOMCOLLECTION,
    K::GEOMETRYCOLLECTION,
    K::HOUR,
    K::LINESTRING,
    K::LOG,
    K::MICROSECOND,
    K::MINUTE,
    K::MONTH,
    K::MULTILINESTRING,
    K::MULTIPOINT,
    K::MULTIPOLYGON,
    K::POINT,
    K::POLYGON,
    K::QUARTER,
    K::REVERSE,
    K::ROW_COUNT,
    K::SECOND,
    K::SQL_TSI_DAY,
    K::SQL_TSI_HOUR,
    K::SQL_TSI_MINUTE,
    K::SQL_TSI_MONTH,
    K::SQL_TSI_QUARTER,
    K::SQL_TSI_SECOND,
    K::SQL_TSI_WEEK,
    K::SQL_TSI_YEAR,
    K::TIME,
    K::TIMESTAMP,
    K::TRUNCATE,
    K::USER,
    K::WEEK,
    K::YEAR,
];

impl<'a> Parser<'a> {
    /// The current token as a name that stands alone.
    fn word_name(&self) -> ObjectName<'a> {
        let span = self.token.span();
        ObjectName { schema: None, name: Identifier { text: self.source(span), span } }
    }

    fn call_node(
        &self,
        name: ObjectName<'a>,
        arguments: List<'a, Expression<'a>>,
        extra: CallExtra<'a>,
    ) -> ExpressionKind<'a> {
        ExpressionKind::Call(self.alloc(Call { name, arguments, extra }))
    }

    /// An operand that begins with an unquoted word.
    pub(super) fn word_primary(&mut self, start: u32) -> Result<Expression<'a>> {
        let keyword = self.token.keyword;
        let kind = if keyword == K::None { self.name_primary()? } else { self.keyword_primary(keyword)? };
        Ok(Expression { kind, span: self.span_from(start) })
    }

    fn keyword_primary(&mut self, keyword: K) -> Result<ExpressionKind<'a>> {
        match keyword {
            K::NULL | K::TRUE | K::FALSE => {
                self.advance();
                Ok(self.literal_kind(match keyword {
                    K::NULL => Literal::Null,
                    K::TRUE => Literal::True,
                    _ => Literal::False,
                }))
            }
            K::CASE => self.case(),
            K::CAST => self.cast(),
            K::CONVERT => self.convert(),
            K::EXISTS => {
                self.advance();
                Ok(ExpressionKind::Exists(self.subquery()?))
            }
            K::ROW => {
                self.advance();
                self.open()?;
                let first = self.expression()?;
                let mut items = self.new_list();
                items.push(first);
                self.expect_kind(T::Comma)?;
                items.extend_from_slice(self.comma_list(Parser::expression)?);
                self.close()?;
                Ok(ExpressionKind::Row(items.into_bump_slice()))
            }
            K::DEFAULT | K::VALUES => {
                self.advance();
                self.open()?;
                let name = self.column_name()?;
                self.close()?;
                let name = self.alloc(name);
                Ok(if keyword == K::DEFAULT { ExpressionKind::DefaultOf(name) } else { ExpressionKind::ValuesOf(name) })
            }
            K::MATCH => self.match_against(),
            K::INTERVAL => self.interval_primary(),
            K::COUNT
            | K::SUM
            | K::AVG
            | K::MIN
            | K::MAX
            | K::BIT_AND
            | K::BIT_OR
            | K::BIT_XOR
            | K::STD
            | K::STDDEV
            | K::STDDEV_POP
            | K::STDDEV_SAMP
            | K::VARIANCE
            | K::VAR_POP
            | K::VAR_SAMP
            | K::GROUP_CONCAT
            | K::JSON_ARRAYAGG
            | K::JSON_OBJECTAGG
            | K::ST_COLLECT
                if keyword != K::AVG || self.peek().kind == T::LeftParenthesis =>
            {
                self.aggregate(keyword)
            }
            K::ROW_NUMBER
            | K::RANK
            | K::DENSE_RANK
            | K::CUME_DIST
            | K::PERCENT_RANK
            | K::NTILE
            | K::LEAD
            | K::LAG
            | K::FIRST_VALUE
            | K::LAST_VALUE
            | K::NTH_VALUE => self.window_function(keyword),
            K::CURRENT_DATE
            | K::CURRENT_TIME
            | K::CURRENT_TIMESTAMP
            | K::LOCALTIME
            | K::LOCALTIMESTAMP
            | K::UTC_DATE
            | K::UTC_TIME
            | K::UTC_TIMESTAMP
            | K::CURRENT_USER => self.bare_function(keyword),
            K::CURDATE | K::CURTIME | K::NOW | K::SYSDATE => self.bare_function(keyword),
            K::DATE_ADD | K::DATE_SUB | K::ADDDATE | K::SUBDATE => self.date_function(keyword),
            K::EXTRACT => {
                let name = self.word_name();
                self.advance();
                self.open()?;
                let unit = self.expect_interval_unit()?;
                self.expect(K::FROM)?;
                let argument = self.expression()?;
                self.close()?;
                Ok(self.call_node(name, self.arena.alloc_slice_copy(&[argument]), CallExtra::Unit(unit)))
            }
            K::POSITION => {
                let name = self.word_name();
                self.advance();
                self.open()?;
                let needle = self.bits(0)?;
                self.expect(K::IN)?;
                let text = self.expression()?;
                self.close()?;
                Ok(self.call_node(name, self.arena.alloc_slice_copy(&[needle, text]), CallExtra::None))
            }
            K::SUBSTRING | K::SUBSTR | K::MID => self.substring(),
            K::TRIM => self.trim(),
            K::SESSION_USER | K::SYSTEM_USER => {
                let name = self.word_name();
                self.advance();
                self.open()?;
                self.close()?;
                Ok(self.call_node(name, &[], CallExtra::None))
            }
            K::CHAR | K::CHARACTER => self.char_function(),
            K::DATABASE | K::SCHEMA => self.call_with(0, 0),
            K::IF => self.call_with(3, 3),
            K::INSERT => self.call_with(4, 4),
            K::REPLACE => self.call_with(3, 3),
            K::LEFT | K::RIGHT | K::REPEAT | K::MOD => self.call_with(2, 2),
            K::GROUPING => self.call_with(1, usize::MAX),
            _ => self.soft_keyword_primary(keyword),
        }
    }

    /// Words that are names unless something special follows.
    fn soft_keyword_primary(&mut self, keyword: K) -> Result<ExpressionKind<'a>> {
        if keyword.is_reserved() || keyword.is_function() {
            return self.fail();
        }
        if let Some(temporal) = self.accept_temporal() {
            return Ok(temporal);
        }
        if self.peek().kind == T::LeftParenthesis {
            return match keyword {
                K::JSON_VALUE => self.json_value(),
                K::WEIGHT_STRING => self.weight_string(),
                K::TIMESTAMPADD | K::TIMESTAMPDIFF => self.timestamp_function(),
                K::GET_FORMAT => self.get_format(),
                K::DATE
                | K::DAY
                | K::HOUR
                | K::MINUTE
                | K::MONTH
                | K::SECOND
                | K::TIME
                | K::YEAR
                | K::ASCII
                | K::CHARSET
                | K::COLLATION
                | K::MICROSECOND
                | K::QUARTER
                | K::REVERSE => self.call_with(1, 1),
                K::TIMESTAMP | K::WEEK | K::LOG => self.call_with(1, 2),
                K::FORMAT => self.call_with(2, 3),
                K::TRUNCATE => self.call_with(2, 2),
                K::ROW_COUNT | K::USER => self.call_with(0, 0),
                _ if CALLABLE.contains(&keyword) => self.name_primary(),
                _ => {
                    self.advance();
                    self.fail()
                }
            };
        }
        self.name_primary()
    }

    /// A function with so many arguments, no more and no less.
    fn call_with(&mut self, least: usize, most: usize) -> Result<ExpressionKind<'a>> {
        let name = self.word_name();
        self.advance();
        self.open()?;
        let mut arguments = self.new_list();
        while arguments.len() < most && !(arguments.len() >= least && self.at_kind(T::RightParenthesis)) {
            if !arguments.is_empty() {
                self.expect_kind(T::Comma)?;
            }
            arguments.push(self.expression()?);
        }
        self.close()?;
        Ok(self.call_node(name, arguments.into_bump_slice(), CallExtra::None))
    }

    /// At `(` behind the name of a function that has no grammar of its own.
    pub(super) fn call_behind(&mut self, name: ObjectName<'a>) -> Result<ExpressionKind<'a>> {
        self.open()?;
        if self.accept_kind(T::RightParenthesis) {
            return Ok(self.call_node(name, &[], CallExtra::None));
        }
        let mut aliases: Option<bumpalo::collections::Vec<'a, Option<Text<'a>>>> = None;
        let mut arguments = self.new_list();
        loop {
            arguments.push(self.expression()?);
            let alias = if name.schema.is_none() { self.alias()? } else { None };
            if alias.is_some() || aliases.is_some() {
                let count = arguments.len();
                let list = aliases.get_or_insert_with(|| self.new_list());
                list.resize(count - 1, None);
                list.push(alias);
            }
            if !self.accept_kind(T::Comma) {
                break;
            }
        }
        self.close()?;
        let extra = aliases.map_or(CallExtra::None, |list| CallExtra::Aliases(list.into_bump_slice()));
        Ok(self.call_node(name, arguments.into_bump_slice(), extra))
    }

    /// `CURRENT_TIMESTAMP[(n)]` and their like.
    fn bare_function(&mut self, keyword: K) -> Result<ExpressionKind<'a>> {
        let name = self.word_name();
        self.advance();
        if !self.accept_kind(T::LeftParenthesis) {
            return Ok(self.call_node(name, &[], CallExtra::NoParentheses));
        }
        let takes_precision = !matches!(keyword, K::CURRENT_DATE | K::UTC_DATE | K::CURDATE | K::CURRENT_USER);
        let mut arguments: List<'a, Expression<'a>> = &[];
        if takes_precision && self.at_kind(T::Integer) {
            let span = self.token.span();
            let digits = self.integer()?;
            let kind = self.literal_kind(Literal::Integer(digits));
            arguments = self.arena.alloc_slice_copy(&[Expression { kind, span }]);
        }
        self.close()?;
        Ok(self.call_node(name, arguments, CallExtra::None))
    }

    fn case(&mut self) -> Result<ExpressionKind<'a>> {
        self.advance();
        let operand = if self.at(K::WHEN) { None } else { Some(self.expression()?) };
        let mut branches = self.new_list();
        self.expect(K::WHEN)?;
        loop {
            let condition = self.expression()?;
            self.expect(K::THEN)?;
            branches.push((condition, self.expression()?));
            if !self.accept(K::WHEN) {
                break;
            }
        }
        let otherwise = if self.accept(K::ELSE) { Some(self.expression()?) } else { None };
        self.expect(K::END)?;
        Ok(ExpressionKind::Case(self.alloc(Case { operand, branches: branches.into_bump_slice(), otherwise })))
    }

    fn cast(&mut self) -> Result<ExpressionKind<'a>> {
        self.advance();
        self.open()?;
        let operand = self.expression()?;
        let mut time_zone = None;
        if self.at(K::AT) {
            self.advance();
            if self.accept(K::LOCAL) {
                time_zone = Some(Text(b"LOCAL"));
            } else {
                self.expect_words(&[K::TIME, K::ZONE])?;
                self.accept(K::INTERVAL);
                time_zone = Some(self.string()?);
            }
        }
        self.expect(K::AS)?;
        if time_zone.is_some() && !self.at(K::DATETIME) {
            return self.fail();
        }
        let target = self.cast_type()?;
        let array = self.accept(K::ARRAY);
        self.close()?;
        Ok(ExpressionKind::Cast(self.alloc(Cast { operand, target, array, time_zone })))
    }

    fn convert(&mut self) -> Result<ExpressionKind<'a>> {
        self.advance();
        self.open()?;
        let operand = self.expression()?;
        let kind = if self.accept(K::USING) {
            let character_set = self.character_set_name()?;
            ExpressionKind::ConvertUsing { operand: self.alloc(operand), character_set: self.alloc(character_set) }
        } else {
            self.expect_kind(T::Comma)?;
            let target = self.cast_type()?;
            ExpressionKind::Cast(self.alloc(Cast { operand, target, array: false, time_zone: None }))
        };
        self.close()?;
        Ok(kind)
    }

    /// INTERVAL in front of `unit + date`, or the function.
    fn interval_primary(&mut self) -> Result<ExpressionKind<'a>> {
        let Some((amount, unit)) = self.interval_or_function()? else {
            return Ok(self.seed.take().expect("the function was left as seed").0.kind);
        };
        self.expect_kind(T::Plus)?;
        let date = self.expression_operand()?;
        Ok(ExpressionKind::DateArithmetic(self.alloc(DateArithmetic { date, subtract: false, amount, unit })))
    }

    /// What follows `INTERVAL n unit +`: as much as binds tighter than `+`.
    fn expression_operand(&mut self) -> Result<Expression<'a>> {
        self.enter()?;
        let operand = self.bits(5)?;
        self.leave();
        Ok(operand)
    }

    /// `DATE_ADD(date, INTERVAL n unit)`; ADDDATE and SUBDATE take days as well.
    fn date_function(&mut self, keyword: K) -> Result<ExpressionKind<'a>> {
        let name = self.word_name();
        self.advance();
        self.open()?;
        let date = self.expression()?;
        self.expect_kind(T::Comma)?;
        let takes_days = matches!(keyword, K::ADDDATE | K::SUBDATE);
        if !self.at(K::INTERVAL) {
            if !takes_days {
                return self.fail();
            }
            let days = self.expression()?;
            self.close()?;
            return Ok(self.call_node(name, self.arena.alloc_slice_copy(&[date, days]), CallExtra::None));
        }
        let Some((amount, unit)) = self.interval_or_function()? else {
            if !takes_days {
                return self.fail();
            }
            let days = self.expression()?;
            self.close()?;
            return Ok(self.call_node(name, self.arena.alloc_slice_copy(&[date, days]), CallExtra::None));
        };
        self.close()?;
        let subtract = matches!(keyword, K::DATE_SUB | K::SUBDATE);
        Ok(ExpressionKind::DateArithmetic(self.alloc(DateArithmetic { date, subtract, amount, unit })))
    }

    fn timestamp_function(&mut self) -> Result<ExpressionKind<'a>> {
        let name = self.word_name();
        self.advance();
        self.open()?;
        let unit = match self.interval_unit() {
            Some(unit) if unit as u8 <= IntervalUnit::Year as u8 => unit,
            _ => return self.fail(),
        };
        self.advance();
        self.expect_kind(T::Comma)?;
        let first = self.expression()?;
        self.expect_kind(T::Comma)?;
        let second = self.expression()?;
        self.close()?;
        Ok(self.call_node(name, self.arena.alloc_slice_copy(&[first, second]), CallExtra::Unit(unit)))
    }

    fn get_format(&mut self) -> Result<ExpressionKind<'a>> {
        let name = self.word_name();
        self.advance();
        self.open()?;
        let format = match self.expect_any(&[K::DATE, K::TIME, K::DATETIME, K::TIMESTAMP])? {
            K::DATE => TemporalFormat::Date,
            K::TIME => TemporalFormat::Time,
            _ => TemporalFormat::Datetime,
        };
        self.expect_kind(T::Comma)?;
        let argument = self.expression()?;
        self.close()?;
        Ok(self.call_node(name, self.arena.alloc_slice_copy(&[argument]), CallExtra::FormatOf(format)))
    }

    /// `SUBSTRING(x, n, m)`, `SUBSTRING(x FROM n FOR m)`.
    fn substring(&mut self) -> Result<ExpressionKind<'a>> {
        let name = self.word_name();
        self.advance();
        self.open()?;
        let mut arguments = self.new_list();
        arguments.push(self.expression()?);
        let words = self.accept(K::FROM);
        if !words {
            self.expect_kind(T::Comma)?;
        }
        arguments.push(self.expression()?);
        if if words { self.accept(K::FOR) } else { self.accept_kind(T::Comma) } {
            arguments.push(self.expression()?);
        }
        self.close()?;
        Ok(self.call_node(name, arguments.into_bump_slice(), CallExtra::None))
    }

    fn trim(&mut self) -> Result<ExpressionKind<'a>> {
        let name = self.word_name();
        self.advance();
        self.open()?;
        let side = match self.token.keyword {
            K::LEADING => Some(TrimSide::Leading),
            K::TRAILING => Some(TrimSide::Trailing),
            K::BOTH => Some(TrimSide::Both),
            _ => None,
        };
        if side.is_some() {
            self.advance();
        }
        let extra = CallExtra::Trim(side.unwrap_or(TrimSide::Both));
        let arguments: &[Expression<'a>] = if side.is_some() && self.accept(K::FROM) {
            &[self.expression()?]
        } else {
            let first = self.expression()?;
            if self.accept(K::FROM) {
                &[self.expression()?, first]
            } else if side.is_some() {
                return self.fail();
            } else {
                &[first]
            }
        };
        let arguments = self.arena.alloc_slice_copy(arguments);
        self.close()?;
        Ok(self.call_node(name, arguments, extra))
    }

    fn char_function(&mut self) -> Result<ExpressionKind<'a>> {
        let name = self.word_name();
        self.advance();
        self.open()?;
        let arguments = self.comma_list(Parser::expression)?;
        let extra = if self.accept(K::USING) { CallExtra::Using(self.character_set_name()?) } else { CallExtra::None };
        self.close()?;
        Ok(self.call_node(name, arguments, extra))
    }

    fn weight_string(&mut self) -> Result<ExpressionKind<'a>> {
        let name = self.word_name();
        self.advance();
        self.open()?;
        let argument = self.expression()?;
        let mut extra = CallExtra::None;
        if self.accept(K::AS) {
            let binary = self.expect_any(&[K::CHAR, K::CHARACTER, K::BINARY])? == K::BINARY;
            self.open()?;
            extra = CallExtra::WeightString { binary, length: self.unsigned()? };
            self.close()?;
        } else if self.accept_kind(T::Comma) {
            // An internal form: three numbers.
            for place in 0..3 {
                if place > 0 {
                    self.expect_kind(T::Comma)?;
                }
                self.unsigned()?;
            }
        }
        self.close()?;
        Ok(self.call_node(name, self.arena.alloc_slice_copy(&[argument]), extra))
    }

    fn match_against(&mut self) -> Result<ExpressionKind<'a>> {
        self.advance();
        let columns = if self.at_kind(T::LeftParenthesis) {
            self.parenthesised_list(Parser::column_name)?
        } else {
            self.comma_list(Parser::column_name)?
        };
        self.expect(K::AGAINST)?;
        self.open()?;
        let against = self.bits(0)?;
        let mut mode = MatchMode::NaturalLanguage;
        if self.accept(K::IN) {
            if self.accept(K::BOOLEAN) {
                self.expect(K::MODE)?;
                mode = MatchMode::Boolean;
            } else {
                self.expect_words(&[K::NATURAL, K::LANGUAGE, K::MODE])?;
            }
        }
        if mode == MatchMode::NaturalLanguage && self.accept_words(&[K::WITH, K::QUERY, K::EXPANSION])? {
            mode = MatchMode::NaturalLanguageWithQueryExpansion;
        }
        self.close()?;
        Ok(ExpressionKind::Match(self.alloc(Match { columns, against, mode })))
    }

    fn json_value(&mut self) -> Result<ExpressionKind<'a>> {
        self.advance();
        self.open()?;
        let document = self.simple()?;
        self.expect_kind(T::Comma)?;
        let path = self.string()?;
        let returning = if self.accept(K::RETURNING) { Some(self.cast_type()?) } else { None };
        let (on_empty, on_error) = self.json_fallbacks()?;
        self.close()?;
        Ok(ExpressionKind::JsonValue(self.alloc(JsonValue { document, path, returning, on_empty, on_error })))
    }

    /// `.. ON EMPTY`, `.. ON ERROR`, in this order.
    pub(super) fn json_fallbacks(&mut self) -> Result<(Option<JsonFallback<'a>>, Option<JsonFallback<'a>>)> {
        let (mut on_empty, mut on_error) = (None, None);
        while on_error.is_none() {
            let fallback = match self.token.keyword {
                K::ERROR => {
                    self.advance();
                    JsonFallback::Error
                }
                K::NULL => {
                    self.advance();
                    JsonFallback::Null
                }
                K::DEFAULT => {
                    self.advance();
                    JsonFallback::Default(self.signed_literal()?)
                }
                _ => break,
            };
            self.expect(K::ON)?;
            if on_empty.is_none() && self.accept(K::EMPTY) {
                on_empty = Some(fallback);
            } else {
                self.expect(K::ERROR)?;
                on_error = Some(fallback);
            }
        }
        Ok((on_empty, on_error))
    }

    /// A literal with an optional sign.
    pub(super) fn signed_literal(&mut self) -> Result<Expression<'a>> {
        if matches!(self.token.keyword, K::NOT | K::CASE | K::SELECT | K::NULL) {
            return self.fail();
        }
        self.simple()
    }

    /// `AS x`, `x`, `'x'`, or nothing: what names a column of a result.
    pub(super) fn alias(&mut self) -> Result<Option<Text<'a>>> {
        if self.accept(K::AS) {
            return self.name_or_string().map(Some);
        }
        let is_name = self.at_identifier() || self.at_kind(T::String);
        if is_name { self.name_or_string().map(Some) } else { Ok(None) }
    }
}
