//! CREATE TABLE, and the options of tables.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// Behind `CREATE [TEMPORARY | EXTERNAL] TABLE`.
    pub(super) fn create_table(&mut self, temporary: bool, external: bool) -> Result<Statement<'a>> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.table_name()?;
        let source = if self.accept(K::LIKE) {
            CreateTableSource::Like(self.table_name()?)
        } else if self.at_kind(T::LeftParenthesis) && self.peek().keyword == K::LIKE {
            self.advance();
            self.advance();
            let like = self.table_name()?;
            self.close()?;
            CreateTableSource::Like(like)
        } else {
            self.table_definition()?
        };
        Ok(Statement::CreateTable(self.alloc(CreateTable { temporary, external, if_not_exists, name, source })))
    }

    fn table_definition(&mut self) -> Result<CreateTableSource<'a>> {
        let mut elements: List<'a, TableElement<'a>> = &[];
        if self.at_kind(T::LeftParenthesis) {
            let next = self.peek();
            let is_query = next.kind == T::LeftParenthesis
                || next.kind == T::Word && matches!(next.keyword, K::SELECT | K::WITH | K::TABLE | K::VALUES);
            if !is_query {
                elements = self.parenthesised_list(Parser::table_element)?;
            }
        }
        let options = self.table_options()?;
        let partitioning = if self.at(K::PARTITION) { Some(self.partitioning()?) } else { None };
        let duplicates = match self.token.keyword {
            K::IGNORE => LoadDuplicates::Ignore,
            K::REPLACE => LoadDuplicates::Replace,
            _ => LoadDuplicates::Error,
        };
        let named = duplicates != LoadDuplicates::Error;
        if named {
            self.advance();
        }
        let as_word = self.accept(K::AS);
        let query = if named || as_word || self.at_query() || self.at_kind(T::LeftParenthesis) {
            Some(self.query()?)
        } else {
            None
        };
        if elements.is_empty() && query.is_none() {
            if self.at_kind(T::End) || self.at_kind(T::Semicolon) {
                return Err(self.failure(crate::error::ErrorKind::NoColumns));
            }
            return self.fail();
        }
        let start_transaction = self.accept_words(&[K::START, K::TRANSACTION])?;
        Ok(CreateTableSource::Definition { elements, options, partitioning, duplicates, query, start_transaction })
    }

    pub(super) fn table_element(&mut self) -> Result<TableElement<'a>> {
        if let Some(constraint) = self.accept_table_constraint()? {
            return Ok(TableElement::Constraint(constraint));
        }
        Ok(TableElement::Column(self.column_definition()?))
    }

    /// Options, with or without commas between them.
    pub(super) fn table_options(&mut self) -> Result<List<'a, TableOption<'a>>> {
        let mut options = self.new_list();
        let mut needed = false;
        loop {
            match self.accept_table_option()? {
                Some(option) => options.push(option),
                None if needed => return self.fail(),
                None => break,
            }
            needed = self.accept_kind(T::Comma);
        }
        Ok(options.into_bump_slice())
    }

    pub(super) fn accept_equal(&mut self) {
        self.accept_kind(T::Equal);
    }

    /// `[=] number | DEFAULT`.
    fn number_or_default(&mut self) -> Result<Text<'a>> {
        self.accept_equal();
        if self.at(K::DEFAULT) {
            let text = self.source(self.token.span());
            self.advance();
            return Ok(text);
        }
        self.unsigned()
    }

    fn equal_number(&mut self) -> Result<Text<'a>> {
        self.accept_equal();
        self.unsigned()
    }

    pub(super) fn equal_string(&mut self) -> Result<Text<'a>> {
        self.accept_equal();
        self.string()
    }

    pub(super) fn equal_name(&mut self) -> Result<Text<'a>> {
        self.accept_equal();
        self.name_or_string()
    }

    /// A size: digits, or digits and `K`, `M`, `G`.
    pub(super) fn size(&mut self) -> Result<Text<'a>> {
        self.accept_equal();
        if self.at_identifier() {
            return self.identifier().map(|name| name.text);
        }
        self.unsigned()
    }

    fn one_of(&mut self, words: &[K]) -> Result<Text<'a>> {
        self.accept_equal();
        let span = self.token.span();
        self.expect_any(words)?;
        Ok(self.source(span))
    }

    /// `[DEFAULT] CHARACTER SET [=] x`, `[DEFAULT] COLLATE [=] x`: the name, and whether it is a collation.
    pub(super) fn accept_default_charset(&mut self) -> Result<Option<(bool, Text<'a>)>> {
        let is_default =
            self.at(K::DEFAULT) && matches!(self.peek().keyword, K::CHARACTER | K::CHAR | K::CHARSET | K::COLLATE);
        if is_default {
            self.advance();
        }
        if self.accept(K::COLLATE) {
            self.accept_equal();
            return Ok(Some((true, self.character_set_name()?)));
        }
        if self.accept_character_set()? {
            self.accept_equal();
            return Ok(Some((false, self.character_set_name()?)));
        }
        if is_default {
            return self.fail();
        }
        Ok(None)
    }

    pub(super) fn accept_table_option(&mut self) -> Result<Option<TableOption<'a>>> {
        use TableOption as O;
        if let Some((is_collation, name)) = self.accept_default_charset()? {
            return Ok(Some(if is_collation { O::Collate(name) } else { O::CharacterSet(name) }));
        }
        let keyword = self.token.keyword;
        match keyword {
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
            | K::PASSWORD
            | K::ROW_FORMAT
            | K::STATS_AUTO_RECALC
            | K::STATS_PERSISTENT
            | K::STATS_SAMPLE_PAGES
            | K::TABLESPACE
            | K::STORAGE
            | K::AUTOEXTEND_SIZE
            | K::UNION => self.advance(),
            K::DATA | K::INDEX if self.peek().keyword == K::DIRECTORY => {
                self.advance();
                self.advance();
            }
            K::START if self.peek().keyword == K::TRANSACTION => {
                self.advance();
                self.advance();
                return Ok(Some(O::StartTransaction));
            }
            K::FILE_FORMAT
            | K::FILES
            | K::ALLOW_MISSING_FILES
            | K::AUTO_REFRESH
            | K::AUTO_REFRESH_SOURCE
            | K::VERIFY_KEY_CONSTRAINTS
            | K::STRICT_LOAD => return self.external_option().map(Some),
            _ => return Ok(None),
        }
        Ok(Some(match keyword {
            K::ENGINE => O::Engine(self.equal_name()?),
            K::SECONDARY_ENGINE => {
                self.accept_equal();
                O::SecondaryEngine(if self.accept(K::NULL) { None } else { Some(self.name_or_string()?) })
            }
            K::AUTO_INCREMENT => O::AutoIncrement(self.equal_number()?),
            K::AVG_ROW_LENGTH => O::AverageRowLength(self.equal_number()?),
            K::CHECKSUM => O::Checksum(self.equal_number()?),
            K::TABLE_CHECKSUM => O::TableChecksum(self.equal_number()?),
            K::COMMENT => O::Comment(self.equal_string()?),
            K::COMPRESSION => O::Compression(self.equal_string()?),
            K::CONNECTION => O::Connection(self.equal_string()?),
            K::DATA => O::DataDirectory(self.equal_string()?),
            K::INDEX => O::IndexDirectory(self.equal_string()?),
            K::DELAY_KEY_WRITE => O::DelayKeyWrite(self.equal_number()?),
            K::ENCRYPTION => O::Encryption(self.equal_string()?),
            K::ENGINE_ATTRIBUTE => O::EngineAttribute(self.equal_string()?),
            K::SECONDARY_ENGINE_ATTRIBUTE => O::SecondaryEngineAttribute(self.equal_string()?),
            K::INSERT_METHOD => O::InsertMethod(self.one_of(&[K::NO, K::FIRST, K::LAST])?),
            K::KEY_BLOCK_SIZE => O::KeyBlockSize(self.equal_number()?),
            K::MAX_ROWS => O::MaxRows(self.equal_number()?),
            K::MIN_ROWS => O::MinRows(self.equal_number()?),
            K::PACK_KEYS => O::PackKeys(self.number_or_default()?),
            K::PASSWORD => O::Password(self.equal_string()?),
            K::ROW_FORMAT => O::RowFormat(self.one_of(&[
                K::DEFAULT,
                K::FIXED,
                K::DYNAMIC,
                K::COMPRESSED,
                K::REDUNDANT,
                K::COMPACT,
            ])?),
            K::STATS_AUTO_RECALC => O::StatsAutoRecalc(self.number_or_default()?),
            K::STATS_PERSISTENT => O::StatsPersistent(self.number_or_default()?),
            K::STATS_SAMPLE_PAGES => O::StatsSamplePages(self.number_or_default()?),
            K::TABLESPACE => {
                self.accept_equal();
                O::Tablespace(self.identifier()?.text)
            }
            K::STORAGE => O::Storage(self.one_of(&[K::DISK, K::MEMORY])?),
            K::AUTOEXTEND_SIZE => O::AutoextendSize(self.size()?),
            _ => {
                self.accept_equal();
                self.open()?;
                let tables = if self.at_kind(T::RightParenthesis) { &[] } else { self.comma_list(Parser::table_name)? };
                self.close()?;
                O::Union(tables)
            }
        }))
    }

    /// An option of an external table: kept as text.
    fn external_option(&mut self) -> Result<TableOption<'a>> {
        let name = self.source(self.token.span());
        self.advance();
        self.accept_equal();
        let start = self.token.start;
        if self.at_kind(T::LeftParenthesis) {
            self.balanced()?;
        } else {
            self.advance();
        }
        Ok(TableOption::Other { name, value: self.source(self.span_from(start)) })
    }

    /// `( .. )` with whatever is inside.
    pub(super) fn balanced(&mut self) -> Result<()> {
        self.open()?;
        let mut depth = 1;
        while depth > 0 {
            match self.token.kind {
                T::LeftParenthesis => depth += 1,
                T::RightParenthesis => depth -= 1,
                T::End | T::Invalid | T::Semicolon => return self.fail(),
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }
}
