//! Administration: FLUSH, KILL, plugins, components, servers, resource groups, diagnostics and their like.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    pub(super) fn administrative(
        &self,
        kind: AdministrationKind,
        name: Option<Text<'a>>,
        start: u32,
    ) -> Result<Statement<'a>> {
        Ok(Statement::Administration(Administration { kind, name, source: self.span_from(start) }))
    }

    pub(super) fn kill(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let query = self.accept(K::QUERY);
        if !query {
            self.accept(K::CONNECTION);
        }
        let id = self.expression()?;
        Ok(Statement::Kill(self.alloc(Kill { query, id })))
    }

    pub(super) fn flush(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let no_binlog = self.no_binlog();
        let what = if self.at_any(&[K::TABLE, K::TABLES]) {
            self.advance();
            let tables = if self.at_identifier() { self.comma_list(Parser::table_name)? } else { &[] };
            let mut mode = FlushTablesMode::Close;
            if self.accept(K::WITH) {
                self.expect_words(&[K::READ, K::LOCK])?;
                mode = FlushTablesMode::WithReadLock;
            } else if !tables.is_empty() && self.accept(K::FOR) {
                self.expect(K::EXPORT)?;
                mode = FlushTablesMode::ForExport;
            }
            FlushWhat::Tables { tables, mode }
        } else {
            FlushWhat::Options(self.comma_list(Parser::flush_option)?)
        };
        Ok(Statement::Flush(self.alloc(Flush { no_binlog, what })))
    }

    fn flush_option(&mut self) -> Result<Text<'a>> {
        let keyword = self.token.keyword;
        let words: &[K] = match keyword {
            K::ERROR | K::ENGINE | K::GENERAL | K::SLOW | K::BINARY | K::RELAY => &[K::LOGS],
            K::LOGS | K::PRIVILEGES | K::STATUS | K::USER_RESOURCES | K::OPTIMIZER_COSTS => &[],
            _ => return self.fail(),
        };
        self.advance();
        self.expect_words(words)?;
        if keyword == K::RELAY && self.accept_words(&[K::FOR, K::CHANNEL])? {
            self.string()?;
        }
        Ok(Text(match keyword {
            K::ERROR => b"ERROR LOGS",
            K::ENGINE => b"ENGINE LOGS",
            K::GENERAL => b"GENERAL LOGS",
            K::SLOW => b"SLOW LOGS",
            K::BINARY => b"BINARY LOGS",
            K::RELAY => b"RELAY LOGS",
            _ => keyword.text().as_bytes(),
        }))
    }

    /// `INSTALL PLUGIN`, `INSTALL COMPONENT`, and UNINSTALL.
    pub(super) fn install(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        let install = self.at(K::INSTALL);
        self.advance();
        let kind = if install { AdministrationKind::Install } else { AdministrationKind::Uninstall };
        if self.expect_any(&[K::PLUGIN, K::COMPONENT])? == K::PLUGIN {
            let name = self.identifier()?;
            if install {
                self.expect(K::SONAME)?;
                self.string()?;
            }
            return self.administrative(kind, Some(name.text), start);
        }
        self.comma_list(Parser::string)?;
        if install && self.accept(K::SET) {
            self.comma_list(|p| {
                if !p.accept(K::GLOBAL) {
                    p.accept(K::PERSIST);
                }
                p.object_name()?;
                if !p.accept_kind(T::Assign) {
                    p.expect_kind(T::Equal)?;
                }
                p.set_value()
            })?;
        }
        self.administrative(kind, None, start)
    }

    /// `ALTER INSTANCE ..`: behind INSTANCE.
    pub(super) fn alter_instance(&mut self, start: u32) -> Result<Statement<'a>> {
        if self.accept(K::ROTATE) {
            // `INNODB MASTER KEY`, `BINLOG MASTER KEY`
            if !self.accept(K::BINLOG) {
                if !self.at_word("INNODB") {
                    return self.fail();
                }
                self.advance();
            }
            self.expect_words(&[K::MASTER, K::KEY])?;
        } else if self.at_any(&[K::ENABLE, K::DISABLE]) {
            self.advance();
            self.identifier()?;
            self.identifier()?;
        } else {
            self.expect(K::RELOAD)?;
            if self.accept(K::KEYRING) {
            } else {
                self.expect(K::TLS)?;
                if self.accept_words(&[K::FOR, K::CHANNEL])? {
                    self.identifier()?;
                }
                if self.accept(K::NO) {
                    self.expect(K::ROLLBACK)?;
                    self.expect_words(&[K::ON, K::ERROR])?;
                }
            }
        }
        self.administrative(AdministrationKind::Instance, None, start)
    }

    /// Behind `CREATE | ALTER | DROP SERVER`.
    pub(super) fn server(&mut self, verb: K, start: u32) -> Result<Statement<'a>> {
        if verb == K::DROP {
            self.if_exists()?;
        }
        let name = self.name_or_string()?;
        if verb == K::CREATE {
            self.expect_words(&[K::FOREIGN, K::DATA, K::WRAPPER])?;
            self.name_or_string()?;
        }
        if verb != K::DROP {
            self.expect(K::OPTIONS)?;
            self.parenthesised_list(|p| {
                if p.expect_any(&[K::USER, K::HOST, K::DATABASE, K::OWNER, K::PASSWORD, K::SOCKET, K::PORT])? == K::PORT
                {
                    p.unsigned()
                } else {
                    p.string()
                }
            })?;
        }
        self.administrative(AdministrationKind::Server, Some(name), start)
    }

    /// Behind `CREATE | ALTER | DROP RESOURCE GROUP`.
    pub(super) fn resource_group(&mut self, verb: K, start: u32) -> Result<Statement<'a>> {
        let name = self.identifier()?.text;
        if verb == K::CREATE {
            self.expect(K::TYPE)?;
            self.accept_equal();
            self.expect_any(&[K::SYSTEM, K::USER])?;
        }
        if verb != K::DROP {
            if self.accept(K::VCPU) {
                self.accept_equal();
                loop {
                    self.integer()?;
                    if self.accept_kind(T::Minus) {
                        self.integer()?;
                    }
                    if !self.accept_kind(T::Comma) && !self.at_kind(T::Integer) {
                        break;
                    }
                }
            }
            if self.accept(K::THREAD_PRIORITY) {
                self.accept_equal();
                self.accept_kind(T::Minus);
                self.integer()?;
            }
            if !self.accept(K::ENABLE) {
                self.accept(K::DISABLE);
            }
        }
        if verb != K::CREATE {
            self.accept(K::FORCE);
        }
        self.administrative(AdministrationKind::ResourceGroup, Some(name), start)
    }

    /// Behind `CREATE | DROP SPATIAL`: REFERENCE SYSTEM.
    pub(super) fn spatial_reference_system(&mut self, verb: K, start: u32) -> Result<Statement<'a>> {
        self.expect_words(&[K::REFERENCE, K::SYSTEM])?;
        if verb == K::DROP {
            self.if_exists()?;
        } else {
            self.if_not_exists()?;
        }
        let id = self.integer()?;
        while verb == K::CREATE && self.at_any(&[K::NAME, K::DEFINITION, K::ORGANIZATION, K::DESCRIPTION]) {
            let organization = self.at(K::ORGANIZATION);
            self.advance();
            self.string()?;
            if organization && self.accept_words(&[K::IDENTIFIED, K::BY])? {
                self.integer()?;
            }
        }
        self.administrative(AdministrationKind::SpatialReferenceSystem, Some(id), start)
    }

    /// `CACHE INDEX t, u IN cache`, `LOAD INDEX INTO CACHE t`.
    pub(super) fn key_cache(&mut self, start: u32, load: bool) -> Result<Statement<'a>> {
        self.expect(K::INDEX)?;
        if load {
            self.expect_words(&[K::INTO, K::CACHE])?;
        }
        self.comma_list(|p| {
            let table = p.table_name()?;
            if p.accept(K::PARTITION) {
                p.open()?;
                p.partition_list_or_all()?;
                p.close()?;
            }
            if p.accept(K::INDEX) || p.accept(K::KEY) {
                p.open()?;
                if !p.at_kind(T::RightParenthesis) {
                    p.comma_list(|p| if p.at(K::PRIMARY) { p.any_word() } else { p.identifier() })?;
                }
                p.close()?;
            }
            if load {
                p.accept_words(&[K::IGNORE, K::LEAVES])?;
            }
            Ok(table)
        })?;
        if !load {
            self.expect(K::IN)?;
            if !self.accept(K::DEFAULT) {
                self.identifier()?;
            }
        }
        let kind = if load { AdministrationKind::LoadIndex } else { AdministrationKind::CacheIndex };
        self.administrative(kind, None, start)
    }

    fn partition_list_or_all(&mut self) -> Result<()> {
        if !self.accept(K::ALL) {
            self.comma_list(Parser::identifier)?;
        }
        Ok(())
    }

    /// GET DIAGNOSTICS, SIGNAL, RESIGNAL.
    pub(super) fn diagnostics(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        self.advance();
        if !self.accept(K::CURRENT) {
            self.accept(K::STACKED);
        }
        self.expect(K::DIAGNOSTICS)?;
        let condition = self.accept(K::CONDITION);
        if condition {
            match self.token.kind {
                T::Integer | T::String | T::AtName | T::AtAt => {}
                _ if self.at_identifier() && self.peek().kind != T::LeftParenthesis => {}
                _ => return self.fail(),
            }
            self.simple()?;
        }
        self.comma_list(|p| {
            if p.at_kind(T::AtName) {
                p.at_name()?;
            } else {
                p.identifier()?;
            }
            p.expect_kind(T::Equal)?;
            if condition { p.expect_any(CONDITION_ITEMS) } else { p.expect_any(&[K::NUMBER, K::ROW_COUNT]) }
        })?;
        self.administrative(AdministrationKind::Diagnostics, None, start)
    }

    pub(super) fn signal(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        let resignal = self.at(K::RESIGNAL);
        self.advance();
        if self.at(K::SQLSTATE) {
            self.sqlstate()?;
        } else if self.at_identifier() {
            self.identifier()?;
        } else if !resignal {
            return self.fail();
        }
        if self.accept(K::SET) {
            self.comma_list(|p| {
                if p.at(K::RETURNED_SQLSTATE) {
                    return p.fail();
                }
                p.expect_any(CONDITION_ITEMS)?;
                p.expect_kind(T::Equal)?;
                p.simple()
            })?;
        }
        self.administrative(AdministrationKind::Signal, None, start)
    }

    /// `SQLSTATE [VALUE] 'x'`.
    pub(super) fn sqlstate(&mut self) -> Result<Text<'a>> {
        self.expect(K::SQLSTATE)?;
        self.accept(K::VALUE);
        self.string()
    }

    pub(super) fn help(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        self.advance();
        let topic = self.name_or_string()?;
        self.administrative(AdministrationKind::Help, Some(topic), start)
    }

    /// `IMPORT TABLE FROM 'x', 'y'`.
    pub(super) fn import_table(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        self.advance();
        self.expect_words(&[K::TABLE, K::FROM])?;
        self.comma_list(Parser::string)?;
        self.administrative(AdministrationKind::ImportTable, None, start)
    }

    /// `CLONE LOCAL DATA DIRECTORY 'x'`, `CLONE INSTANCE FROM u@h:port IDENTIFIED BY 'x' ..`.
    pub(super) fn clone_statement(&mut self) -> Result<Statement<'a>> {
        let start = self.token.start;
        self.advance();
        if self.accept(K::LOCAL) {
            self.expect_words(&[K::DATA, K::DIRECTORY])?;
            self.equal_string()?;
        } else {
            self.expect_words(&[K::INSTANCE, K::FROM])?;
            self.account()?;
            self.expect_kind(T::Colon)?;
            self.integer()?;
            self.expect_words(&[K::IDENTIFIED, K::BY])?;
            self.string()?;
            if self.accept_words(&[K::DATA, K::DIRECTORY])? {
                self.equal_string()?;
            }
            if self.accept(K::REQUIRE) {
                self.accept(K::NO);
                self.expect(K::SSL)?;
            }
        }
        self.administrative(AdministrationKind::Clone, None, start)
    }
}

const CONDITION_ITEMS: &[K] = &[
    K::CLASS_ORIGIN,
    K::SUBCLASS_ORIGIN,
    K::CONSTRAINT_CATALOG,
    K::CONSTRAINT_SCHEMA,
    K::CONSTRAINT_NAME,
    K::CATALOG_NAME,
    K::SCHEMA_NAME,
    K::TABLE_NAME,
    K::COLUMN_NAME,
    K::CURSOR_NAME,
    K::MESSAGE_TEXT,
    K::MYSQL_ERRNO,
    K::RETURNED_SQLSTATE,
];
