//! ALTER TABLE.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// Behind `ALTER TABLE`.
    pub(super) fn alter_table(&mut self) -> Result<Statement<'a>> {
        let name = self.table_name()?;
        let mut actions = self.new_list();
        let mut partitioning = None;
        let mut expected = false;
        loop {
            if !expected || self.at(K::PARTITION) || self.at(K::REMOVE) {
                if self.at(K::PARTITION) {
                    partitioning = Some(AlterPartitioning::By(self.partitioning()?));
                    break;
                }
                if self.accept_words(&[K::REMOVE, K::PARTITIONING])? {
                    partitioning = Some(AlterPartitioning::Remove);
                    break;
                }
                if self.at_kind(T::End) || self.at_kind(T::Semicolon) {
                    break;
                }
            }
            let before = self.token.start;
            actions.push(self.alter_action()?);
            if self.accept_kind(T::Comma) {
                expected = true;
            } else if self.at_any(&[K::PARTITION, K::REMOVE]) {
                expected = false;
            } else if before != self.token.start && self.follows_option(actions.last()) {
                // Options of the table need no comma between them.
                expected = true;
            } else {
                break;
            }
        }
        let actions = actions.into_bump_slice();
        Ok(Statement::AlterTable(self.alloc(AlterTable { name, actions, partitioning })))
    }

    /// Whether another option follows an option without a comma.
    fn follows_option(&self, last: Option<&AlterAction<'a>>) -> bool {
        matches!(last, Some(AlterAction::Option(_)))
            && self.token.kind == T::Word
            && matches!(
                self.token.keyword,
                K::ENGINE
                    | K::SECONDARY_ENGINE
                    | K::AUTO_INCREMENT
                    | K::AVG_ROW_LENGTH
                    | K::CHECKSUM
                    | K::TABLE_CHECKSUM
                    | K::COMMENT
                    | K::COMPRESSION
                    | K::CONNECTION
                    | K::DELAY_KEY_WRITE
                    | K::ENCRYPTION
                    | K::ENGINE_ATTRIBUTE
                    | K::SECONDARY_ENGINE_ATTRIBUTE
                    | K::INSERT_METHOD
                    | K::KEY_BLOCK_SIZE
                    | K::MAX_ROWS
                    | K::MIN_ROWS
                    | K::PACK_KEYS
                    | K::ROW_FORMAT
                    | K::STATS_AUTO_RECALC
                    | K::STATS_PERSISTENT
                    | K::STATS_SAMPLE_PAGES
                    | K::TABLESPACE
                    | K::STORAGE
                    | K::AUTOEXTEND_SIZE
                    | K::UNION
                    | K::DEFAULT
                    | K::CHARACTER
                    | K::CHARSET
                    | K::CHAR
                    | K::COLLATE
                    | K::DATA
                    | K::INDEX
                    | K::START
            )
    }

    fn column_position(&mut self) -> Result<Option<ColumnPosition<'a>>> {
        if self.accept(K::FIRST) {
            return Ok(Some(ColumnPosition::First));
        }
        if self.accept(K::AFTER) { Ok(Some(ColumnPosition::After(self.identifier()?))) } else { Ok(None) }
    }

    fn positioned_column(&mut self) -> Result<(&'a ColumnDefinition<'a>, Option<ColumnPosition<'a>>)> {
        let column = self.column_definition()?;
        Ok((self.alloc(column), self.column_position()?))
    }

    fn alter_action(&mut self) -> Result<AlterAction<'a>> {
        use AlterAction as A;
        let keyword = self.token.keyword;
        match keyword {
            K::ADD => {
                self.advance();
                self.alter_add()
            }
            K::DROP => {
                self.advance();
                self.alter_drop()
            }
            K::ALTER => {
                self.advance();
                self.alter_alter()
            }
            K::CHANGE => {
                self.advance();
                self.accept(K::COLUMN);
                let old = self.identifier()?;
                let (column, position) = self.positioned_column()?;
                Ok(A::ChangeColumn { old, column, position })
            }
            K::MODIFY => {
                self.advance();
                self.accept(K::COLUMN);
                let (column, position) = self.positioned_column()?;
                Ok(A::ModifyColumn { column, position })
            }
            K::RENAME => {
                self.advance();
                self.alter_rename()
            }
            K::CONVERT => {
                self.advance();
                // `CONVERT TO CHARACTER SET x`, `CONVERT PARTITION` is another server's.
                self.expect(K::TO)?;
                if !self.accept_character_set()? {
                    return self.fail();
                }
                let character_set =
                    if self.at(K::DEFAULT) { self.any_word()?.text } else { self.character_set_name()? };
                let mut collation = None;
                if self.accept(K::COLLATE) {
                    self.accept_equal();
                    collation = Some(self.character_set_name()?);
                }
                Ok(A::ConvertTo { character_set, collation })
            }
            K::ENABLE | K::DISABLE => {
                self.advance();
                self.expect(K::KEYS)?;
                Ok(if keyword == K::ENABLE { A::EnableKeys } else { A::DisableKeys })
            }
            K::FORCE => {
                self.advance();
                Ok(A::Force)
            }
            K::ORDER => {
                self.advance();
                self.expect(K::BY)?;
                let items = self.comma_list(|p| {
                    let start = p.token.start;
                    let name = p.column_name()?;
                    let kind = ExpressionKind::Column(p.alloc(name));
                    let expression = Expression { kind, span: p.span_from(start) };
                    let descending = p.accept(K::DESC);
                    if !descending {
                        p.accept(K::ASC);
                    }
                    Ok(OrderItem { expression, descending })
                })?;
                Ok(A::OrderBy(items))
            }
            K::ALGORITHM => {
                self.advance();
                self.algorithm_value().map(A::Algorithm)
            }
            K::LOCK => {
                self.advance();
                self.lock_value().map(A::Lock)
            }
            K::WITH | K::WITHOUT => {
                self.advance();
                self.expect(K::VALIDATION)?;
                Ok(A::Validation(keyword == K::WITH))
            }
            K::DISCARD | K::IMPORT => {
                self.advance();
                let discard = keyword == K::DISCARD;
                if self.accept(K::PARTITION) {
                    let partitions = self.partitions_or_all()?;
                    self.expect(K::TABLESPACE)?;
                    let action =
                        if discard { PartitionAction::DiscardTablespace } else { PartitionAction::ImportTablespace };
                    return Ok(A::Partitions { action, partitions });
                }
                self.expect(K::TABLESPACE)?;
                Ok(if discard { A::DiscardTablespace } else { A::ImportTablespace })
            }
            K::SECONDARY_LOAD | K::SECONDARY_UNLOAD => {
                self.advance();
                let load = keyword == K::SECONDARY_LOAD;
                if self.accept(K::PARTITION) {
                    let partitions = self.identifiers()?;
                    let action = if load { PartitionAction::SecondaryLoad } else { PartitionAction::SecondaryUnload };
                    return Ok(A::Partitions { action, partitions });
                }
                Ok(if load { A::SecondaryLoad } else { A::SecondaryUnload })
            }
            K::COALESCE => {
                self.advance();
                self.expect(K::PARTITION)?;
                self.no_binlog();
                self.unsigned().map(A::CoalescePartitions)
            }
            K::REORGANIZE => {
                self.advance();
                self.expect(K::PARTITION)?;
                self.no_binlog();
                if self.at_kind(T::End) || self.at_kind(T::Semicolon) {
                    return Ok(A::ReorganizePartitions { partitions: &[], into: &[] });
                }
                let partitions = self.comma_list(Parser::identifier)?;
                self.expect(K::INTO)?;
                Ok(A::ReorganizePartitions { partitions, into: self.partition_definitions()? })
            }
            K::EXCHANGE => {
                self.advance();
                self.expect(K::PARTITION)?;
                let partition = self.identifier()?;
                self.expect_words(&[K::WITH, K::TABLE])?;
                let table = self.table_name()?;
                let mut validation = None;
                if self.at_any(&[K::WITH, K::WITHOUT]) {
                    validation = Some(self.at(K::WITH));
                    self.advance();
                    self.expect(K::VALIDATION)?;
                }
                Ok(A::ExchangePartition { partition, table, validation })
            }
            K::TRUNCATE | K::ANALYZE | K::CHECK | K::OPTIMIZE | K::REBUILD | K::REPAIR => {
                self.partition_maintenance(keyword)
            }
            _ => match self.accept_table_option()? {
                Some(option) => Ok(A::Option(option)),
                None => self.fail(),
            },
        }
    }

    fn partition_maintenance(&mut self, keyword: K) -> Result<AlterAction<'a>> {
        let action = match keyword {
            K::TRUNCATE => PartitionAction::Truncate,
            K::ANALYZE => PartitionAction::Analyze,
            K::CHECK => PartitionAction::Check,
            K::OPTIMIZE => PartitionAction::Optimize,
            K::REBUILD => PartitionAction::Rebuild,
            _ => PartitionAction::Repair,
        };
        self.advance();
        self.expect(K::PARTITION)?;
        if !matches!(keyword, K::TRUNCATE | K::CHECK) {
            self.no_binlog();
        }
        let partitions = self.partitions_or_all()?;
        if matches!(keyword, K::CHECK | K::REPAIR) {
            self.check_options()?;
        }
        Ok(AlterAction::Partitions { action, partitions })
    }

    fn partitions_or_all(&mut self) -> Result<List<'a, Identifier<'a>>> {
        if self.accept(K::ALL) { Ok(&[]) } else { self.comma_list(Parser::identifier) }
    }

    /// `NO_WRITE_TO_BINLOG`, `LOCAL`.
    pub(super) fn no_binlog(&mut self) -> bool {
        self.accept(K::NO_WRITE_TO_BINLOG) || self.accept(K::LOCAL)
    }

    fn alter_add(&mut self) -> Result<AlterAction<'a>> {
        if self.accept(K::PARTITION) {
            self.no_binlog();
            if self.accept(K::PARTITIONS) {
                return Ok(AlterAction::AddPartitions { definitions: &[], count: Some(self.unsigned()?) });
            }
            let definitions = self.partition_definitions()?;
            return Ok(AlterAction::AddPartitions { definitions, count: None });
        }
        if let Some(constraint) = self.accept_table_constraint()? {
            return Ok(AlterAction::AddConstraint(self.alloc(constraint)));
        }
        self.accept(K::COLUMN);
        if self.at_kind(T::LeftParenthesis) {
            return self.parenthesised_list(Parser::table_element).map(AlterAction::AddElements);
        }
        let (column, position) = self.positioned_column()?;
        Ok(AlterAction::AddColumn { column, position })
    }

    fn alter_drop(&mut self) -> Result<AlterAction<'a>> {
        use AlterAction as A;
        let keyword = self.token.keyword;
        match keyword {
            K::PARTITION => {
                self.advance();
                self.comma_list(Parser::identifier).map(A::DropPartitions)
            }
            K::PRIMARY => {
                self.advance();
                self.expect(K::KEY)?;
                Ok(A::DropPrimaryKey)
            }
            K::FOREIGN => {
                self.advance();
                self.expect(K::KEY)?;
                self.identifier().map(A::DropForeignKey)
            }
            K::INDEX | K::KEY => {
                self.advance();
                self.identifier().map(A::DropIndex)
            }
            K::CHECK => {
                self.advance();
                self.identifier().map(A::DropCheck)
            }
            K::CONSTRAINT => {
                self.advance();
                self.identifier().map(A::DropConstraint)
            }
            _ => {
                self.accept(K::COLUMN);
                let name = self.identifier()?;
                if !self.accept(K::RESTRICT) {
                    self.accept(K::CASCADE);
                }
                Ok(A::DropColumn(name))
            }
        }
    }

    fn alter_alter(&mut self) -> Result<AlterAction<'a>> {
        use AlterAction as A;
        match self.token.keyword {
            K::INDEX => {
                self.advance();
                let index = self.identifier()?;
                let visible = self.expect_any(&[K::VISIBLE, K::INVISIBLE])? == K::VISIBLE;
                Ok(A::SetIndexVisibility { index, visible })
            }
            K::CHECK | K::CONSTRAINT => {
                let any_kind = self.at(K::CONSTRAINT);
                self.advance();
                let name = self.identifier()?;
                let enforced = !self.accept(K::NOT);
                self.expect(K::ENFORCED)?;
                Ok(A::SetEnforced { name, any_kind, enforced })
            }
            _ => {
                self.accept(K::COLUMN);
                let column = self.identifier()?;
                if self.accept(K::DROP) {
                    if self.accept_words(&[K::MASKING, K::POLICY])? {
                        return Ok(A::SetMaskingPolicy { column, policy: None });
                    }
                    self.expect(K::DEFAULT)?;
                    return Ok(A::DropDefault(column));
                }
                self.expect(K::SET)?;
                if self.accept_words(&[K::MASKING, K::POLICY])? {
                    return Ok(A::SetMaskingPolicy { column, policy: Some(self.identifier()?) });
                }
                if self.accept(K::VISIBLE) {
                    return Ok(A::SetColumnVisibility { column, visible: true });
                }
                if self.accept(K::INVISIBLE) {
                    return Ok(A::SetColumnVisibility { column, visible: false });
                }
                self.expect(K::DEFAULT)?;
                Ok(A::SetDefault { column, value: self.default_value()? })
            }
        }
    }

    fn alter_rename(&mut self) -> Result<AlterAction<'a>> {
        use AlterAction as A;
        match self.token.keyword {
            K::COLUMN | K::INDEX | K::KEY => {
                let is_column = self.at(K::COLUMN);
                self.advance();
                let old = self.identifier()?;
                self.expect(K::TO)?;
                let new = if is_column { self.new_column_name()? } else { self.identifier()? };
                Ok(if is_column { A::RenameColumn { old, new } } else { A::RenameIndex { old, new } })
            }
            _ => {
                if !self.accept(K::TO) && !self.accept(K::AS) {
                    self.accept_kind(T::Equal);
                }
                self.table_name().map(A::Rename)
            }
        }
    }

    /// `[=] DEFAULT | INSTANT | INPLACE | COPY`.
    pub(super) fn algorithm_value(&mut self) -> Result<Text<'a>> {
        self.accept_equal();
        let text = self.source(self.token.span());
        if !self.accept(K::DEFAULT) {
            self.identifier()?;
        }
        Ok(text)
    }

    /// `[=] DEFAULT | NONE | SHARED | EXCLUSIVE`.
    pub(super) fn lock_value(&mut self) -> Result<Text<'a>> {
        self.algorithm_value()
    }
}
