//! Indexes, views, databases, tablespaces; DROP and RENAME.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// Behind `CREATE [UNIQUE | FULLTEXT | SPATIAL] INDEX`.
    pub(super) fn create_index(&mut self, kind: IndexKind) -> Result<Statement<'a>> {
        let name = Some(self.identifier()?);
        let using = self.index_using()?;
        self.expect(K::ON)?;
        let table = self.table_name()?;
        let parts = self.key_parts()?;
        let options = self.index_options(using)?;
        let index = IndexDefinition { kind, constraint: None, name, parts, options };
        let (algorithm, lock) = self.algorithm_and_lock()?;
        Ok(Statement::CreateIndex(self.alloc(CreateIndex { table, index, algorithm, lock })))
    }

    fn algorithm_and_lock(&mut self) -> Result<(Option<Text<'a>>, Option<Text<'a>>)> {
        let (mut algorithm, mut lock) = (None, None);
        loop {
            if algorithm.is_none() && self.accept(K::ALGORITHM) {
                algorithm = Some(self.algorithm_value()?);
            } else if lock.is_none() && self.accept(K::LOCK) {
                lock = Some(self.lock_value()?);
            } else {
                return Ok((algorithm, lock));
            }
        }
    }

    pub(super) fn drop_index(&mut self) -> Result<Statement<'a>> {
        let name = self.identifier()?;
        self.expect(K::ON)?;
        let table = self.table_name()?;
        let (algorithm, lock) = self.algorithm_and_lock()?;
        Ok(Statement::DropIndex(self.alloc(DropIndex { name, table, algorithm, lock })))
    }

    /// `ALGORITHM = x`, behind CREATE or ALTER.
    pub(super) fn view_algorithm(&mut self) -> Result<Option<ViewAlgorithm>> {
        if !self.accept(K::ALGORITHM) {
            return Ok(None);
        }
        self.expect_kind(T::Equal)?;
        Ok(Some(match self.expect_any(&[K::UNDEFINED, K::MERGE, K::TEMPTABLE])? {
            K::UNDEFINED => ViewAlgorithm::Undefined,
            K::MERGE => ViewAlgorithm::Merge,
            _ => ViewAlgorithm::Temptable,
        }))
    }

    /// `SQL SECURITY DEFINER | INVOKER`, or nothing: whether it is the invoker's.
    pub(super) fn sql_security(&mut self) -> Result<Option<bool>> {
        if !self.accept_words(&[K::SQL, K::SECURITY])? {
            return Ok(None);
        }
        Ok(Some(self.expect_any(&[K::DEFINER, K::INVOKER])? == K::INVOKER))
    }

    /// Behind VIEW. The caller fills in what stood in front.
    pub(super) fn view(&mut self, mut view: CreateViewHead<'a>) -> Result<Statement<'a>> {
        if !view.alter && !view.or_replace {
            view.if_not_exists = self.if_not_exists()?;
        }
        let name = self.table_name()?;
        let columns = self.optional_identifiers()?;
        self.expect(K::AS)?;
        let start = self.token.start;
        let query = self.query()?;
        let source = self.span_from(start);
        let mut check_option = None;
        if self.accept(K::WITH) {
            check_option = Some(if self.accept(K::LOCAL) { CheckOption::Local } else { CheckOption::Cascaded });
            self.accept(K::CASCADED);
            self.expect_words(&[K::CHECK, K::OPTION])?;
        }
        let CreateViewHead { alter, or_replace, if_not_exists, algorithm, definer, invoker, materialized } = view;
        Ok(Statement::CreateView(self.alloc(CreateView {
            alter,
            or_replace,
            if_not_exists,
            algorithm,
            definer,
            invoker,
            materialized,
            name,
            columns,
            query,
            source,
            check_option,
        })))
    }

    /// Behind CREATE or ALTER DATABASE.
    pub(super) fn database(&mut self, alter: bool) -> Result<Statement<'a>> {
        let if_not_exists = !alter && self.if_not_exists()?;
        let at_option = self.at_any(&[K::CHARSET, K::ENCRYPTION, K::READ])
            && !matches!(self.peek().keyword, K::CHARACTER | K::CHARSET | K::COLLATE | K::ENCRYPTION | K::DEFAULT);
        let name = if alter && (at_option || !self.at_identifier()) { None } else { Some(self.schema_name()?) };
        let options = self.run(Parser::database_option)?;
        if alter && options.is_empty() {
            return self.fail();
        }
        Ok(Statement::CreateDatabase(self.alloc(CreateDatabase { alter, if_not_exists, name, options })))
    }

    fn database_option(&mut self) -> Result<Option<DatabaseOption<'a>>> {
        if self.at(K::DEFAULT) && self.peek().keyword == K::ENCRYPTION {
            self.advance();
        }
        if self.accept(K::ENCRYPTION) {
            return self.equal_string().map(|text| Some(DatabaseOption::Encryption(text)));
        }
        if self.accept(K::READ) {
            self.expect(K::ONLY)?;
            self.accept_equal();
            let text = self.source(self.token.span());
            if !self.accept(K::DEFAULT) {
                if !matches!(text.0, b"0" | b"1") {
                    return self.fail();
                }
                self.integer()?;
            }
            return Ok(Some(DatabaseOption::ReadOnly(text)));
        }
        Ok(self.accept_default_charset()?.map(|(is_collation, name)| {
            if is_collation { DatabaseOption::Collate(name) } else { DatabaseOption::CharacterSet(name) }
        }))
    }

    fn drop_behaviour(&mut self) -> Option<DropBehaviour> {
        if self.accept(K::RESTRICT) {
            Some(DropBehaviour::Restrict)
        } else if self.accept(K::CASCADE) {
            Some(DropBehaviour::Cascade)
        } else {
            None
        }
    }

    /// Behind `DROP [TEMPORARY] TABLE`.
    pub(super) fn drop_tables(&mut self, temporary: bool) -> Result<Statement<'a>> {
        let if_exists = self.if_exists()?;
        let tables = self.comma_list(Parser::table_name)?;
        let behaviour = self.drop_behaviour();
        Ok(Statement::DropTables(self.alloc(DropTables { temporary, if_exists, tables, behaviour })))
    }

    pub(super) fn drop_views(&mut self) -> Result<Statement<'a>> {
        let if_exists = self.if_exists()?;
        let views = self.comma_list(Parser::table_name)?;
        let behaviour = self.drop_behaviour();
        Ok(Statement::DropViews(self.alloc(DropViews { if_exists, views, behaviour })))
    }

    pub(super) fn rename(&mut self) -> Result<Statement<'a>> {
        self.advance();
        if self.accept(K::USER) {
            return Ok(Statement::RenameUsers(self.comma_list(|p| {
                let old = p.account()?;
                p.expect(K::TO)?;
                Ok((old, p.account()?))
            })?));
        }
        self.expect_any(&[K::TABLE, K::TABLES])?;
        Ok(Statement::RenameTables(self.comma_list(|p| {
            let old = p.table_name()?;
            p.expect(K::TO)?;
            Ok((old, p.table_name()?))
        })?))
    }

    /// Behind `CREATE | ALTER | DROP [UNDO] TABLESPACE` or `LOGFILE GROUP`; `verb` says which.
    pub(super) fn tablespace(&mut self, verb: K, undo: bool, logfile_group: bool) -> Result<Statement<'a>> {
        let name = self.identifier()?;
        let action = match verb {
            K::CREATE => {
                let mut datafile = None;
                if self.accept(K::ADD) {
                    self.expect_any(&[if logfile_group { K::UNDOFILE } else { K::DATAFILE }])?;
                    datafile = Some(self.string()?);
                } else if undo || logfile_group {
                    return self.fail();
                }
                let mut group = None;
                if self.accept_words(&[K::USE, K::LOGFILE, K::GROUP])? {
                    group = Some(self.identifier()?);
                }
                TablespaceAction::Create { datafile, logfile_group: group }
            }
            K::DROP => TablespaceAction::Drop,
            _ => match self.token.keyword {
                K::ADD => {
                    self.advance();
                    self.expect(if logfile_group { K::UNDOFILE } else { K::DATAFILE })?;
                    TablespaceAction::AddDatafile(self.string()?)
                }
                K::DROP => {
                    self.advance();
                    self.expect(K::DATAFILE)?;
                    TablespaceAction::DropDatafile(self.string()?)
                }
                K::RENAME => {
                    self.advance();
                    self.expect(K::TO)?;
                    TablespaceAction::Rename(self.identifier()?)
                }
                K::SET => {
                    self.advance();
                    TablespaceAction::SetActive(self.expect_any(&[K::ACTIVE, K::INACTIVE])? == K::ACTIVE)
                }
                _ => TablespaceAction::Alter,
            },
        };
        let mut options = self.new_list();
        while let Some(option) = self.tablespace_option()? {
            options.push(option);
            self.accept_kind(T::Comma);
        }
        if options.is_empty() && matches!(action, TablespaceAction::Alter) {
            return self.fail();
        }
        let options = options.into_bump_slice();
        Ok(Statement::Tablespace(self.alloc(Tablespace { action, undo, logfile_group, name, options })))
    }

    fn tablespace_option(&mut self) -> Result<Option<TablespaceOption<'a>>> {
        use TablespaceOption as O;
        let keyword = self.token.keyword;
        match keyword {
            K::FILE_BLOCK_SIZE
            | K::INITIAL_SIZE
            | K::AUTOEXTEND_SIZE
            | K::MAX_SIZE
            | K::EXTENT_SIZE
            | K::UNDO_BUFFER_SIZE
            | K::REDO_BUFFER_SIZE
            | K::NODEGROUP
            | K::ENGINE
            | K::WAIT
            | K::NO_WAIT
            | K::COMMENT
            | K::ENCRYPTION
            | K::ENGINE_ATTRIBUTE => self.advance(),
            K::STORAGE => {
                self.advance();
                return if self.at(K::ENGINE) { self.tablespace_option() } else { self.fail() };
            }
            _ => return Ok(None),
        }
        Ok(Some(match keyword {
            K::FILE_BLOCK_SIZE => O::FileBlockSize(self.size()?),
            K::INITIAL_SIZE => O::InitialSize(self.size()?),
            K::AUTOEXTEND_SIZE => O::AutoextendSize(self.size()?),
            K::MAX_SIZE => O::MaxSize(self.size()?),
            K::EXTENT_SIZE => O::ExtentSize(self.size()?),
            K::UNDO_BUFFER_SIZE => O::UndoBufferSize(self.size()?),
            K::REDO_BUFFER_SIZE => O::RedoBufferSize(self.size()?),
            K::NODEGROUP => O::Nodegroup(self.size()?),
            K::ENGINE => O::Engine(self.equal_name()?),
            K::WAIT => O::Wait(true),
            K::NO_WAIT => O::Wait(false),
            K::COMMENT => O::Comment(self.equal_string()?),
            K::ENCRYPTION => O::Encryption(self.equal_string()?),
            _ => O::EngineAttribute(self.equal_string()?),
        }))
    }
}

/// What stands between CREATE or ALTER and VIEW.
#[derive(Clone, Copy, Default)]
pub(super) struct CreateViewHead<'a> {
    pub alter: bool,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub algorithm: Option<ViewAlgorithm>,
    pub definer: Option<AccountName<'a>>,
    pub invoker: Option<bool>,
    pub materialized: bool,
}
