//! Columns, keys, constraints.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// `name type attributes`.
    pub(super) fn column_definition(&mut self) -> Result<ColumnDefinition<'a>> {
        let name = self.new_column_name()?;
        let data_type = self.data_type()?;
        let mut collated = false;
        let attributes = self.run(|p| {
            if p.at(K::COLLATE) && std::mem::replace(&mut collated, true) {
                return p.fail();
            }
            p.column_attribute()
        })?;
        Ok(ColumnDefinition { name, data_type, attributes })
    }

    fn column_attribute(&mut self) -> Result<Option<ColumnAttribute<'a>>> {
        use ColumnAttribute as A;
        if self.token.kind != T::Word {
            return Ok(None);
        }
        let keyword = self.token.keyword;
        match keyword {
            K::NULL
            | K::NOT
            | K::DEFAULT
            | K::ON
            | K::AUTO_INCREMENT
            | K::PRIMARY
            | K::KEY
            | K::UNIQUE
            | K::COMMENT
            | K::COLLATE
            | K::COLUMN_FORMAT
            | K::STORAGE
            | K::ENGINE_ATTRIBUTE
            | K::SECONDARY_ENGINE_ATTRIBUTE
            | K::GENERATED
            | K::AS
            | K::VISIBLE
            | K::INVISIBLE
            | K::SRID
            | K::REFERENCES
            | K::CHECK
            | K::CONSTRAINT
            | K::SERIAL
            | K::EXTERNAL_FORMAT
            | K::MASKING => {}
            _ => return Ok(None),
        }
        if matches!(keyword, K::CHECK | K::CONSTRAINT) {
            // A constraint's name may be left out: CONSTRAINT CHECK (..).
            let name = if self.accept(K::CONSTRAINT) { self.accept_identifier() } else { None };
            return self.check(name).map(|check| Some(A::Check(check)));
        }
        self.advance();
        Ok(Some(match keyword {
            K::NULL => A::Null,
            K::NOT => {
                if self.accept(K::SECONDARY) {
                    A::NotSecondary
                } else {
                    self.expect(K::NULL)?;
                    A::NotNull
                }
            }
            K::DEFAULT => A::Default(self.default_value()?),
            K::ON => {
                self.expect(K::UPDATE)?;
                A::OnUpdate(self.current_timestamp()?)
            }
            K::AUTO_INCREMENT => A::AutoIncrement,
            K::PRIMARY => {
                self.expect(K::KEY)?;
                A::PrimaryKey
            }
            K::KEY => A::PrimaryKey,
            K::UNIQUE => {
                self.accept(K::KEY);
                A::Unique
            }
            K::COMMENT => A::Comment(self.string()?),
            K::COLLATE => A::Collate(self.character_set_name()?),
            K::COLUMN_FORMAT | K::STORAGE => {
                let words: &[K] = if keyword == K::STORAGE {
                    &[K::DISK, K::MEMORY, K::DEFAULT]
                } else {
                    &[K::FIXED, K::DYNAMIC, K::DEFAULT]
                };
                let text = self.source(self.token.span());
                self.expect_any(words)?;
                if keyword == K::STORAGE { A::Storage(text) } else { A::ColumnFormat(text) }
            }
            K::ENGINE_ATTRIBUTE => A::EngineAttribute(self.equal_string()?),
            K::SECONDARY_ENGINE_ATTRIBUTE => A::SecondaryEngineAttribute(self.equal_string()?),
            K::EXTERNAL_FORMAT => A::ExternalFormat(self.equal_string()?),
            K::GENERATED => {
                self.expect_words(&[K::ALWAYS, K::AS])?;
                self.generated()?
            }
            K::AS => self.generated()?,
            K::MASKING => {
                self.expect(K::POLICY)?;
                A::MaskingPolicy(self.identifier()?)
            }
            K::VISIBLE => A::Visible,
            K::INVISIBLE => A::Invisible,
            K::SRID => A::SpatialReference(self.integer()?),
            K::REFERENCES => A::References(self.references()?),
            _ => {
                self.expect_words(&[K::DEFAULT, K::VALUE])?;
                A::Serial
            }
        }))
    }

    fn generated(&mut self) -> Result<ColumnAttribute<'a>> {
        self.open()?;
        let (expression, source) = self.expression_with_source()?;
        self.close()?;
        let stored = self.accept(K::STORED);
        if !stored {
            self.accept(K::VIRTUAL);
        }
        Ok(ColumnAttribute::Generated { expression, source, stored })
    }

    /// A literal with a sign, `CURRENT_TIMESTAMP`, or an expression in parentheses.
    pub(super) fn default_value(&mut self) -> Result<Expression<'a>> {
        if self.at_any(&[K::CURRENT_TIMESTAMP, K::NOW, K::LOCALTIME, K::LOCALTIMESTAMP]) {
            return self.current_timestamp();
        }
        match self.token.kind {
            T::LeftParenthesis
            | T::Integer
            | T::Decimal
            | T::Float
            | T::String
            | T::NationalString
            | T::HexString
            | T::HexNumber
            | T::BitString
            | T::BitNumber
            | T::Introducer
            | T::Minus
            | T::Plus => {}
            T::Word
                if matches!(self.token.keyword, K::NULL | K::TRUE | K::FALSE | K::DATE | K::TIME | K::TIMESTAMP) => {}
            _ => return self.fail(),
        }
        // COLLATE behind a default is the column's, so no operator may be taken.
        let start = self.token.start;
        if self.at_kind(T::LeftParenthesis) {
            self.advance();
            let value = self.expression()?;
            self.close()?;
            return Ok(value);
        }
        let operator = match self.token.kind {
            T::Minus => Some(UnaryOperator::Minus),
            T::Plus => Some(UnaryOperator::Plus),
            _ => None,
        };
        if operator.is_some() {
            self.advance();
            if !matches!(self.token.kind, T::Integer | T::Decimal | T::Float) {
                return self.fail();
            }
        }
        let literal_start = self.token.start;
        let kind = match self.token.keyword {
            K::NULL | K::TRUE | K::FALSE if self.token.kind == T::Word => return self.word_primary(start),
            _ => match self.accept_temporal() {
                Some(temporal) => temporal,
                None => self.literal()?,
            },
        };
        let literal = Expression { kind, span: self.span_from(literal_start) };
        Ok(match operator {
            Some(operator) => {
                let kind = ExpressionKind::Unary { operator, operand: self.alloc(literal) };
                Expression { kind, span: self.span_from(start) }
            }
            None => literal,
        })
    }

    fn current_timestamp(&mut self) -> Result<Expression<'a>> {
        if !self.at_any(&[K::CURRENT_TIMESTAMP, K::NOW, K::LOCALTIME, K::LOCALTIMESTAMP]) {
            return self.fail();
        }
        let start = self.token.start;
        self.word_primary(start)
    }

    fn check(&mut self, name: Option<Identifier<'a>>) -> Result<Check<'a>> {
        self.expect(K::CHECK)?;
        self.open()?;
        let (condition, source) = self.expression_with_source()?;
        self.close()?;
        // NOT can also begin NOT NULL of the column.
        let not_enforced = self.at(K::NOT) && self.peek().keyword == K::ENFORCED;
        if not_enforced {
            self.advance();
        }
        let enforced = self.accept(K::ENFORCED).then_some(!not_enforced);
        Ok(Check { name, condition, source, enforced })
    }

    fn references(&mut self) -> Result<References<'a>> {
        let table = self.table_name()?;
        let columns = self.optional_identifiers()?;
        let mut references = References { table, columns, match_kind: None, on_delete: None, on_update: None };
        if self.accept(K::MATCH) {
            references.match_kind = Some(match self.expect_any(&[K::FULL, K::PARTIAL, K::SIMPLE])? {
                K::FULL => ReferenceMatch::Full,
                K::PARTIAL => ReferenceMatch::Partial,
                _ => ReferenceMatch::Simple,
            });
        }
        while self.at(K::ON) {
            let next = self.peek().keyword;
            let place = match next {
                K::DELETE if references.on_delete.is_none() => &mut references.on_delete,
                K::UPDATE if references.on_update.is_none() => &mut references.on_update,
                _ => {
                    self.advance();
                    return self.fail();
                }
            };
            self.advance();
            self.advance();
            *place = Some(match self.expect_any(&[K::RESTRICT, K::CASCADE, K::SET, K::NO])? {
                K::RESTRICT => ReferenceAction::Restrict,
                K::CASCADE => ReferenceAction::Cascade,
                K::SET => match self.expect_any(&[K::NULL, K::DEFAULT])? {
                    K::NULL => ReferenceAction::SetNull,
                    _ => ReferenceAction::SetDefault,
                },
                _ => {
                    self.expect(K::ACTION)?;
                    ReferenceAction::NoAction
                }
            });
        }
        Ok(references)
    }

    /// A key or a constraint, if one begins here.
    pub(super) fn accept_table_constraint(&mut self) -> Result<Option<TableConstraint<'a>>> {
        if self.token.kind != T::Word {
            return Ok(None);
        }
        let mut constraint = None;
        let named = self.accept(K::CONSTRAINT);
        if named {
            constraint = self.accept_identifier();
        }
        let kind = match self.token.keyword {
            K::CHECK => return self.check(constraint).map(|check| Some(TableConstraint::Check(check))),
            K::FOREIGN => {
                self.advance();
                self.expect(K::KEY)?;
                let name = self.accept_identifier();
                let columns = self.key_parts()?;
                self.expect(K::REFERENCES)?;
                let references = self.references()?;
                return Ok(Some(TableConstraint::ForeignKey { constraint, name, columns, references }));
            }
            K::PRIMARY => {
                self.advance();
                self.expect(K::KEY)?;
                IndexKind::Primary
            }
            K::UNIQUE => {
                self.advance();
                if !self.accept(K::KEY) {
                    self.accept(K::INDEX);
                }
                IndexKind::Unique
            }
            K::KEY | K::INDEX if !named => {
                self.advance();
                IndexKind::Plain
            }
            K::FULLTEXT | K::SPATIAL if !named => {
                let kind = if self.at(K::FULLTEXT) { IndexKind::Fulltext } else { IndexKind::Spatial };
                self.advance();
                if !self.accept(K::KEY) {
                    self.accept(K::INDEX);
                }
                kind
            }
            _ if named => return self.fail(),
            _ => return Ok(None),
        };
        self.index_definition(kind, constraint).map(|index| Some(TableConstraint::Index(index)))
    }

    fn index_definition(&mut self, kind: IndexKind, constraint: Option<Identifier<'a>>) -> Result<IndexDefinition<'a>> {
        let name = self.accept_identifier();
        let special = matches!(kind, IndexKind::Fulltext | IndexKind::Spatial);
        let using = if special { None } else { self.index_using()? };
        let parts = self.key_parts()?;
        let options = self.index_options(using)?;
        Ok(IndexDefinition { kind, constraint, name, parts, options })
    }

    /// `USING BTREE`, `TYPE HASH`, or nothing.
    pub(super) fn index_using(&mut self) -> Result<Option<IndexOption<'a>>> {
        if !self.accept(K::USING) && !self.accept(K::TYPE) {
            return Ok(None);
        }
        Ok(Some(IndexOption::Using(match self.expect_any(&[K::BTREE, K::HASH, K::RTREE])? {
            K::BTREE => IndexAlgorithm::Btree,
            K::HASH => IndexAlgorithm::Hash,
            _ => IndexAlgorithm::Rtree,
        })))
    }

    pub(super) fn index_options(&mut self, first: Option<IndexOption<'a>>) -> Result<List<'a, IndexOption<'a>>> {
        let mut options = self.new_list();
        options.extend(first);
        while let Some(option) = self.index_option()? {
            options.push(option);
        }
        Ok(options.into_bump_slice())
    }

    fn index_option(&mut self) -> Result<Option<IndexOption<'a>>> {
        use IndexOption as O;
        let keyword = self.token.keyword;
        match keyword {
            K::USING | K::TYPE => return self.index_using(),
            K::KEY_BLOCK_SIZE
            | K::COMMENT
            | K::VISIBLE
            | K::INVISIBLE
            | K::ENGINE_ATTRIBUTE
            | K::SECONDARY_ENGINE_ATTRIBUTE => self.advance(),
            K::WITH if self.peek().keyword == K::PARSER => {
                self.advance();
                self.advance();
                return Ok(Some(O::Parser(self.identifier()?)));
            }
            _ => return Ok(None),
        }
        Ok(Some(match keyword {
            K::KEY_BLOCK_SIZE => {
                self.accept_equal();
                O::KeyBlockSize(self.unsigned()?)
            }
            K::COMMENT => O::Comment(self.string()?),
            K::VISIBLE => O::Visible,
            K::INVISIBLE => O::Invisible,
            K::ENGINE_ATTRIBUTE => O::EngineAttribute(self.equal_string()?),
            _ => O::SecondaryEngineAttribute(self.equal_string()?),
        }))
    }

    pub(super) fn key_parts(&mut self) -> Result<List<'a, KeyPart<'a>>> {
        self.parenthesised_list(|p| {
            if p.at_kind(T::LeftParenthesis) {
                p.advance();
                let (expression, source) = p.expression_with_source()?;
                p.close()?;
                let descending = p.direction();
                return Ok(KeyPart::Expression { expression, source, descending });
            }
            let name = p.identifier()?;
            let mut length = None;
            if p.accept_kind(T::LeftParenthesis) {
                length = Some(p.integer()?);
                p.close()?;
            }
            let descending = p.direction();
            Ok(KeyPart::Column { name, length, descending })
        })
    }

    fn direction(&mut self) -> bool {
        let descending = self.accept(K::DESC);
        if !descending {
            self.accept(K::ASC);
        }
        descending
    }
}
