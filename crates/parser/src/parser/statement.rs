//! Which statement it is.

use super::definition::CreateViewHead;
use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// A statement, at its first word.
    pub(super) fn statement(&mut self) -> Result<Statement<'a>> {
        if self.at_kind(T::LeftParenthesis) {
            return self.query_statement().map(Statement::Query);
        }
        if self.token.kind != T::Word {
            return self.fail();
        }
        let start = self.token.start;
        match self.token.keyword {
            K::SELECT | K::VALUES | K::TABLE => self.query_statement().map(Statement::Query),
            K::WITH => self.with_statement(),
            K::INSERT | K::REPLACE => self.insert(),
            K::UPDATE => self.update(None),
            K::DELETE => self.delete(None),
            K::SET => self.set_statement(),
            K::BEGIN if !self.in_program => self.begin(),
            K::COMMIT => self.commit(),
            K::ROLLBACK => self.rollback(),
            K::SAVEPOINT | K::RELEASE => self.savepoint(),
            K::START => {
                self.advance();
                if self.accept(K::TRANSACTION) {
                    self.start_transaction()
                } else {
                    self.start_or_stop_replica(true, start)
                }
            }
            K::STOP => {
                self.advance();
                self.start_or_stop_replica(false, start)
            }
            K::SHOW => self.show(),
            K::EXPLAIN | K::DESCRIBE | K::DESC => self.explain(),
            K::PREPARE => self.prepare(),
            K::EXECUTE => self.execute(),
            K::DEALLOCATE => {
                self.advance();
                self.deallocate()
            }
            K::USE => {
                self.advance();
                self.schema_name().map(Statement::Use)
            }
            K::CREATE => self.create(start),
            K::ALTER => self.alter(start),
            K::DROP => self.drop(start),
            K::TRUNCATE => {
                self.advance();
                self.accept(K::TABLE);
                self.table_name().map(Statement::Truncate)
            }
            K::RENAME => self.rename(),
            K::LOAD => {
                self.advance();
                if self.at(K::INDEX) { self.key_cache(start, true) } else { self.load() }
            }
            K::HANDLER => self.handler(),
            K::CALL => self.call_statement(),
            K::DO => self.do_statement(),
            K::LOCK => self.lock(),
            K::UNLOCK => self.unlock(),
            K::XA => self.xa(),
            K::ANALYZE => self.maintenance(MaintenanceKind::Analyze),
            K::CHECK => self.maintenance(MaintenanceKind::Check),
            K::CHECKSUM => self.maintenance(MaintenanceKind::Checksum),
            K::OPTIMIZE => self.maintenance(MaintenanceKind::Optimize),
            K::REPAIR => self.maintenance(MaintenanceKind::Repair),
            K::GRANT | K::REVOKE => self.grant(),
            K::KILL => self.kill(),
            K::FLUSH => self.flush(),
            K::INSTALL | K::UNINSTALL => self.install(),
            K::CACHE => {
                self.advance();
                self.key_cache(start, false)
            }
            K::GET => self.diagnostics(),
            K::SIGNAL | K::RESIGNAL => self.signal(),
            K::HELP => self.help(),
            K::IMPORT => self.import_table(),
            K::CLONE => self.clone_statement(),
            K::CHANGE => self.change_replication(),
            K::RESET => self.reset(),
            K::PURGE => self.purge(),
            K::BINLOG => self.binlog(),
            K::RESTART | K::SHUTDOWN => {
                let restart = self.at(K::RESTART);
                self.advance();
                let kind = if restart { AdministrationKind::Restart } else { AdministrationKind::Shutdown };
                self.administrative(kind, None, start)
            }
            _ => self.fail(),
        }
    }

    /// `WITH ..` in front of SELECT, UPDATE or DELETE.
    fn with_statement(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        let with = Some(self.with()?);
        match self.token.keyword {
            K::UPDATE => self.update(with),
            K::DELETE => self.delete(with),
            _ => self.query_with(with, start).map(Statement::Query),
        }
    }

    /// `DEFINER = account`, or nothing.
    fn definer(&mut self) -> Result<Option<AccountName<'a>>> {
        if !self.accept(K::DEFINER) {
            return Ok(None);
        }
        self.expect_kind(T::Equal)?;
        self.account().map(Some)
    }

    fn create(&mut self, start: u32) -> Result<Statement<'a>> {
        self.advance();
        let keyword = self.token.keyword;
        match keyword {
            K::TABLE => {
                self.advance();
                self.create_table(false, false)
            }
            K::TEMPORARY | K::EXTERNAL => {
                self.advance();
                self.expect(K::TABLE)?;
                self.create_table(keyword == K::TEMPORARY, keyword == K::EXTERNAL)
            }
            K::INDEX => {
                self.advance();
                self.create_index(IndexKind::Plain)
            }
            K::UNIQUE | K::FULLTEXT => {
                self.advance();
                self.expect(K::INDEX)?;
                self.create_index(if keyword == K::UNIQUE { IndexKind::Unique } else { IndexKind::Fulltext })
            }
            K::SPATIAL => {
                self.advance();
                if self.accept(K::INDEX) {
                    return self.create_index(IndexKind::Spatial);
                }
                self.spatial_reference_system(K::CREATE, start)
            }
            K::DATABASE | K::SCHEMA => {
                self.advance();
                self.database(false)
            }
            K::USER => {
                self.advance();
                self.create_user(false)
            }
            K::ROLE => {
                self.advance();
                let if_not_exists = self.if_not_exists()?;
                Ok(Statement::CreateRole { if_not_exists, roles: self.comma_list(Parser::role)? })
            }
            K::SERVER => {
                self.advance();
                self.server(K::CREATE, start)
            }
            K::RESOURCE => {
                self.advance();
                self.expect(K::GROUP)?;
                self.resource_group(K::CREATE, start)
            }
            K::TABLESPACE | K::UNDO | K::LOGFILE => self.any_tablespace(K::CREATE),
            K::LIBRARY => self.create_program(None, false),
            K::MASKING => {
                self.advance();
                self.expect(K::POLICY)?;
                self.if_not_exists()?;
                let name = self.identifier()?.text;
                self.identifiers()?;
                self.expression()?;
                self.administrative(AdministrationKind::MaskingPolicy, Some(name), start)
            }
            K::AGGREGATE => {
                self.advance();
                if self.at(K::FUNCTION) { self.create_program(None, true) } else { self.fail() }
            }
            _ => self.create_defined(start),
        }
    }

    /// What may have OR REPLACE, ALGORITHM, DEFINER in front: views and stored programs.
    fn create_defined(&mut self, start: u32) -> Result<Statement<'a>> {
        let mut head = CreateViewHead::default();
        if self.accept_words(&[K::OR, K::REPLACE])? {
            head.or_replace = true;
            if self.accept_words(&[K::SPATIAL, K::REFERENCE])? {
                self.expect(K::SYSTEM)?;
                let id = self.integer()?;
                while self.at_any(&[K::NAME, K::DEFINITION, K::ORGANIZATION, K::DESCRIPTION]) {
                    self.advance();
                    self.string()?;
                    if self.accept_words(&[K::IDENTIFIED, K::BY])? {
                        self.integer()?;
                    }
                }
                return self.administrative(AdministrationKind::SpatialReferenceSystem, Some(id), start);
            }
        }
        head.algorithm = self.view_algorithm()?;
        head.definer = self.definer()?;
        head.invoker = self.sql_security()?;
        head.materialized = self.accept(K::MATERIALIZED);
        let only_view = head.or_replace || head.algorithm.is_some() || head.invoker.is_some() || head.materialized;
        match self.token.keyword {
            K::VIEW => {
                self.advance();
                self.view(head)
            }
            K::JSON if self.peek().keyword == K::RELATIONAL || self.peek().keyword == K::DUALITY => {
                self.advance();
                self.accept(K::RELATIONAL);
                self.expect_words(&[K::DUALITY, K::VIEW])?;
                self.view(head)
            }
            K::PROCEDURE | K::FUNCTION | K::TRIGGER | K::EVENT if !only_view => {
                self.create_program(head.definer, false)
            }
            K::AGGREGATE if !only_view => {
                self.advance();
                if self.at(K::FUNCTION) { self.create_program(head.definer, true) } else { self.fail() }
            }
            _ => self.fail(),
        }
    }

    /// At `[UNDO] TABLESPACE` or `LOGFILE GROUP`.
    fn any_tablespace(&mut self, verb: K) -> Result<Statement<'a>> {
        let logfile_group = self.at(K::LOGFILE);
        if logfile_group {
            self.advance();
            self.expect(K::GROUP)?;
            return self.tablespace(verb, false, true);
        }
        let undo = self.accept(K::UNDO);
        self.expect(K::TABLESPACE)?;
        self.tablespace(verb, undo, false)
    }

    fn alter(&mut self, start: u32) -> Result<Statement<'a>> {
        self.advance();
        let keyword = self.token.keyword;
        match keyword {
            K::TABLE => {
                self.advance();
                self.alter_table()
            }
            K::DATABASE | K::SCHEMA => {
                self.advance();
                self.database(true)
            }
            K::USER => {
                self.advance();
                self.create_user(true)
            }
            K::INSTANCE => {
                self.advance();
                self.alter_instance(start)
            }
            K::SERVER => {
                self.advance();
                self.server(K::ALTER, start)
            }
            K::RESOURCE => {
                self.advance();
                self.expect(K::GROUP)?;
                self.resource_group(K::ALTER, start)
            }
            K::TABLESPACE | K::UNDO | K::LOGFILE => self.any_tablespace(K::ALTER),
            K::PROCEDURE | K::FUNCTION | K::LIBRARY => self.alter_program(None),
            _ => {
                let mut head = CreateViewHead { alter: true, ..CreateViewHead::default() };
                head.algorithm = self.view_algorithm()?;
                head.definer = self.definer()?;
                head.invoker = self.sql_security()?;
                if self.accept(K::VIEW) {
                    return self.view(head);
                }
                if self.at(K::EVENT) && head.algorithm.is_none() && head.invoker.is_none() {
                    return self.alter_program(head.definer);
                }
                self.fail()
            }
        }
    }

    fn drop(&mut self, start: u32) -> Result<Statement<'a>> {
        self.advance();
        let keyword = self.token.keyword;
        match keyword {
            K::PREPARE => return self.deallocate(),
            K::MASKING => {
                self.advance();
                self.expect(K::POLICY)?;
                self.if_exists()?;
                let name = self.identifier()?.text;
                return self.administrative(AdministrationKind::MaskingPolicy, Some(name), start);
            }
            K::TABLESPACE | K::UNDO | K::LOGFILE => return self.any_tablespace(K::DROP),
            K::PROCEDURE | K::FUNCTION | K::TRIGGER | K::EVENT | K::LIBRARY => return self.drop_program(),
            K::TABLE
            | K::TABLES
            | K::TEMPORARY
            | K::INDEX
            | K::VIEW
            | K::DATABASE
            | K::SCHEMA
            | K::USER
            | K::ROLE
            | K::SERVER
            | K::RESOURCE
            | K::SPATIAL => self.advance(),
            _ => return self.fail(),
        }
        match keyword {
            K::TABLE | K::TABLES => self.drop_tables(false),
            K::TEMPORARY => {
                self.expect_any(&[K::TABLE, K::TABLES])?;
                self.drop_tables(true)
            }
            K::INDEX => self.drop_index(),
            K::VIEW => self.drop_views(),
            K::DATABASE | K::SCHEMA => {
                let if_exists = self.if_exists()?;
                Ok(Statement::DropDatabase { if_exists, name: self.schema_name()? })
            }
            K::USER | K::ROLE => {
                let roles = keyword == K::ROLE;
                let if_exists = self.if_exists()?;
                let accounts = if roles { self.comma_list(Parser::role)? } else { self.comma_list(Parser::account)? };
                Ok(Statement::DropAccounts(self.alloc(DropAccounts { roles, if_exists, accounts })))
            }
            K::SERVER => self.server(K::DROP, start),
            K::RESOURCE => {
                self.expect(K::GROUP)?;
                self.resource_group(K::DROP, start)
            }
            _ => self.spatial_reference_system(K::DROP, start),
        }
    }
}
