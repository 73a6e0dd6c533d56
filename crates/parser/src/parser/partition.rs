//! PARTITION BY and definitions of partitions.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// At PARTITION.
    pub(super) fn partitioning(&mut self) -> Result<&'a Partitioning<'a>> {
        self.expect_words(&[K::PARTITION, K::BY])?;
        let scheme = match self.token.keyword {
            K::RANGE | K::LIST => {
                let range = self.at(K::RANGE);
                self.advance();
                let key = if self.accept(K::COLUMNS) {
                    PartitionKey::Columns(self.identifiers()?)
                } else {
                    let expression = self.partition_function()?;
                    PartitionKey::Expression(expression)
                };
                if range { PartitionScheme::Range(key) } else { PartitionScheme::List(key) }
            }
            _ => self.hash_or_key()?,
        };
        let count = self.partition_count(K::PARTITIONS)?;
        let subpartitioning = if self.accept_words(&[K::SUBPARTITION, K::BY])? {
            Some((self.hash_or_key()?, self.partition_count(K::SUBPARTITIONS)?))
        } else {
            None
        };
        let partitions = if self.at_kind(T::LeftParenthesis) { self.partition_definitions()? } else { &[] };
        if !partitions.is_empty() {
            self.check_partitions(scheme, count, subpartitioning, partitions)?;
        }
        Ok(self.alloc(Partitioning { scheme, count, subpartitioning, partitions }))
    }

    /// What MySQL's grammar asks of partitions all together: values that suit the scheme, and the promised numbers.
    fn check_partitions(
        &self,
        scheme: PartitionScheme<'a>,
        count: Option<Text<'a>>,
        subpartitioning: Option<(PartitionScheme<'a>, Option<Text<'a>>)>,
        partitions: List<'a, PartitionDefinition<'a>>,
    ) -> Result<()> {
        let number = |text: Text<'a>| std::str::from_utf8(text.0).ok().and_then(|text| text.parse::<usize>().ok());
        // Values of the wrong kind, or subpartitions without SUBPARTITION BY, are not errors of reading.
        let suits = |partition: &PartitionDefinition<'a>| match (scheme, partition.values) {
            (PartitionScheme::Range(_) | PartitionScheme::List(_), PartitionValues::None) => false,
            (PartitionScheme::Range(PartitionKey::Columns(names)), PartitionValues::LessThan(bounds)) => {
                bounds.len() == names.len()
            }
            (PartitionScheme::List(PartitionKey::Columns(names)), PartitionValues::In(rows)) => {
                rows.iter().all(|row| row.len() == names.len())
            }
            _ => true,
        };
        let subpartitions = partitions[0].subpartitions.len();
        let even = partitions.iter().all(|partition| partition.subpartitions.len() == subpartitions);
        let promised = subpartitioning.and_then(|(_, count)| count).and_then(number);
        let right = partitions.iter().all(suits)
            && count.and_then(number).is_none_or(|count| count == partitions.len())
            && (subpartitioning.is_none() || even)
            && (subpartitions == 0 || promised.is_none_or(|promised| promised == subpartitions));
        if right { Ok(()) } else { self.fail() }
    }

    /// `(expression)`; a query in it, or a function without a lasting value, is refused here.
    fn partition_function(&mut self) -> Result<Expression<'a>> {
        self.open()?;
        let start = self.token.start;
        let mut lexer = self.lexer;
        let mut token = self.token;
        let mut depth = 1;
        while depth > 0 && !matches!(token.kind, T::End | T::Invalid) {
            let next = lexer.next_token();
            match token.kind {
                T::LeftParenthesis => depth += 1,
                T::RightParenthesis => depth -= 1,
                T::Word if next.kind == T::LeftParenthesis => {
                    let name = token.span().of(self.text);
                    if matches!(token.keyword, K::NOW | K::CURTIME) || name.eq_ignore_ascii_case(b"rand") {
                        return self.fail();
                    }
                }
                _ => {}
            }
            token = next;
        }
        let expression = self.bits(0)?;
        if matches!(expression.kind, ExpressionKind::Subquery(_)) {
            return self.fail_at(crate::error::ErrorKind::Syntax, crate::span::Span::new(start, start));
        }
        self.close()?;
        Ok(expression)
    }

    fn hash_or_key(&mut self) -> Result<PartitionScheme<'a>> {
        let linear = self.accept(K::LINEAR);
        if self.expect_any(&[K::HASH, K::KEY])? == K::HASH {
            let expression = self.partition_function()?;
            return Ok(PartitionScheme::Hash { linear, expression });
        }
        let mut algorithm = None;
        if self.accept(K::ALGORITHM) {
            self.expect_kind(T::Equal)?;
            if !matches!(self.token.span().of(self.text), b"1" | b"2") {
                return self.fail();
            }
            algorithm = Some(self.integer()?);
        }
        self.open()?;
        let columns = if self.at_kind(T::RightParenthesis) { &[] } else { self.comma_list(Parser::identifier)? };
        self.close()?;
        Ok(PartitionScheme::Key { linear, algorithm, columns })
    }

    fn partition_count(&mut self, word: K) -> Result<Option<Text<'a>>> {
        if self.accept(word) { self.unsigned().map(Some) } else { Ok(None) }
    }

    pub(super) fn partition_definitions(&mut self) -> Result<List<'a, PartitionDefinition<'a>>> {
        self.parenthesised_list(Parser::partition_definition)
    }

    fn partition_definition(&mut self) -> Result<PartitionDefinition<'a>> {
        self.expect(K::PARTITION)?;
        let name = self.identifier()?;
        let mut values = PartitionValues::None;
        if self.accept(K::VALUES) {
            if self.accept(K::LESS) {
                self.expect(K::THAN)?;
                values = PartitionValues::LessThan(if self.accept(K::MAXVALUE) {
                    &[PartitionBound::MaxValue]
                } else {
                    self.partition_bounds()?
                });
            } else {
                self.expect(K::IN)?;
                if self.bounds_have_maxvalue() {
                    // Only an upper bound can be without limit.
                    self.open()?;
                    while !self.at(K::MAXVALUE) {
                        self.advance();
                    }
                    return self.fail();
                }
                let is_rows = self.peek().kind == T::LeftParenthesis && self.rows_of_bounds();
                values = PartitionValues::In(if is_rows {
                    let rows = self.parenthesised_list(Parser::partition_bounds)?;
                    // A row of one value is neither a row nor a value here.
                    if rows.iter().any(|row| row.len() == 1) {
                        return self.fail();
                    }
                    rows
                } else {
                    self.parenthesised_list(|p| {
                        let bound = p.partition_bound()?;
                        Ok::<&'a [PartitionBound<'a>], _>(p.arena.alloc_slice_copy(&[bound]))
                    })?
                });
            }
        }
        let options = self.run(Parser::partition_option)?;
        let subpartitions = self.optional_list(|p| {
            p.expect(K::SUBPARTITION)?;
            let name = p.name_or_string()?;
            let name = Identifier { text: name, span: p.span_from(p.previous_end) };
            Ok(Subpartition { name, options: p.run(Parser::partition_option)? })
        })?;
        Ok(PartitionDefinition { name, values, options, subpartitions })
    }

    /// At `((`: whether the inner parenthesis is a row of bounds, that is, closed before `,` or `)`.
    fn rows_of_bounds(&self) -> bool {
        let mut lexer = self.lexer;
        let mut depth = 0;
        loop {
            match lexer.next_token().kind {
                T::LeftParenthesis => depth += 1,
                T::RightParenthesis => {
                    depth -= 1;
                    if depth == 0 {
                        return matches!(lexer.next_token().kind, T::Comma | T::RightParenthesis);
                    }
                }
                T::End | T::Invalid | T::Semicolon => return false,
                _ => {}
            }
        }
    }

    /// At `(`: whether MAXVALUE is among the values of a list.
    fn bounds_have_maxvalue(&self) -> bool {
        let mut lexer = self.lexer;
        let mut depth = 1;
        while depth > 0 {
            let token = lexer.next_token();
            match token.kind {
                T::LeftParenthesis => depth += 1,
                T::RightParenthesis => depth -= 1,
                T::Word if token.keyword == K::MAXVALUE => return true,
                T::End | T::Invalid | T::Semicolon => return false,
                _ => {}
            }
        }
        false
    }

    fn partition_bounds(&mut self) -> Result<List<'a, PartitionBound<'a>>> {
        self.parenthesised_list(Parser::partition_bound)
    }

    fn partition_bound(&mut self) -> Result<PartitionBound<'a>> {
        if self.accept(K::MAXVALUE) {
            return Ok(PartitionBound::MaxValue);
        }
        self.enter()?;
        let value = self.bits(0)?;
        self.leave();
        Ok(PartitionBound::Value(value))
    }

    fn partition_option(&mut self) -> Result<Option<PartitionOption<'a>>> {
        use PartitionOption as O;
        let keyword = self.token.keyword;
        match keyword {
            K::ENGINE | K::COMMENT | K::MAX_ROWS | K::MIN_ROWS | K::TABLESPACE | K::NODEGROUP => self.advance(),
            K::STORAGE => {
                self.advance();
                if !self.at(K::ENGINE) {
                    return self.fail();
                }
                return self.partition_option();
            }
            K::DATA | K::INDEX => {
                self.advance();
                self.expect(K::DIRECTORY)?;
            }
            _ => return Ok(None),
        }
        self.accept_equal();
        Ok(Some(match keyword {
            K::ENGINE => O::Engine(self.name_or_string()?),
            K::COMMENT => O::Comment(self.string()?),
            K::MAX_ROWS => O::MaxRows(self.unsigned()?),
            K::MIN_ROWS => O::MinRows(self.unsigned()?),
            K::TABLESPACE => O::Tablespace(self.identifier()?.text),
            K::NODEGROUP => O::Nodegroup(self.unsigned()?),
            K::DATA => O::DataDirectory(self.string()?),
            _ => O::IndexDirectory(self.string()?),
        }))
    }
}
