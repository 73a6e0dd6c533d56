//! SHOW in its forms.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    pub(super) fn show(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let (what, filtered) = self.show_what()?;
        let filter = if filtered { self.show_filter()? } else { None };
        Ok(Statement::Show(self.alloc(Show { what, filter })))
    }

    fn show_filter(&mut self) -> Result<Option<ShowFilter<'a>>> {
        if self.accept(K::LIKE) {
            return self.string().map(|text| Some(ShowFilter::Like(text)));
        }
        Ok(self.where_clause()?.map(ShowFilter::Where))
    }

    /// `FROM name`, `IN name`, or nothing.
    fn schema_behind_from(&mut self) -> Result<Option<Identifier<'a>>> {
        if self.accept(K::FROM) || self.accept(K::IN) { self.schema_name().map(Some) } else { Ok(None) }
    }

    /// `FROM table [FROM schema]`.
    fn table_behind_from(&mut self) -> Result<ObjectName<'a>> {
        self.expect_any(&[K::FROM, K::IN])?;
        let mut table = self.table_name()?;
        if let Some(schema) = self.schema_behind_from()? {
            table.schema = Some(schema);
        }
        Ok(table)
    }

    fn channel(&mut self) -> Result<Option<Text<'a>>> {
        if self.accept_words(&[K::FOR, K::CHANNEL])? { self.string().map(Some) } else { Ok(None) }
    }

    /// What is shown, and whether LIKE or WHERE may follow.
    fn show_what(&mut self) -> Result<(ShowWhat<'a>, bool)> {
        use ShowWhat as W;
        let extended = self.at(K::EXTENDED);
        if extended {
            self.advance();
        }
        let full = self.at(K::FULL);
        if full {
            self.advance();
        }
        let keyword = self.token.keyword;
        let allowed = match keyword {
            K::COLUMNS | K::FIELDS | K::TABLES => true,
            K::INDEX | K::INDEXES | K::KEYS => !full,
            K::TRIGGERS | K::PROCESSLIST => !extended,
            _ => !extended && !full,
        };
        if !allowed {
            return self.fail();
        }
        if self.token.kind != T::Word || keyword == K::None {
            return self.fail();
        }
        let scope = match keyword {
            K::GLOBAL => Some(VariableScope::Global),
            K::SESSION | K::LOCAL => Some(VariableScope::Session),
            _ => None,
        };
        self.advance();
        if scope.is_some() {
            let variables = self.expect_any(&[K::VARIABLES, K::STATUS])? == K::VARIABLES;
            return Ok((if variables { W::Variables { scope } } else { W::Status { scope } }, true));
        }
        Ok(match keyword {
            K::DATABASES | K::SCHEMAS => (W::Databases, true),
            K::TABLES => (W::Tables { extended, full, schema: self.schema_behind_from()? }, true),
            K::OPEN => {
                self.expect(K::TABLES)?;
                (W::OpenTables { schema: self.schema_behind_from()? }, true)
            }
            K::TABLE => {
                self.expect(K::STATUS)?;
                (W::TableStatus { schema: self.schema_behind_from()? }, true)
            }
            K::TRIGGERS => (W::Triggers { full, schema: self.schema_behind_from()? }, true),
            K::EVENTS => (W::Events { schema: self.schema_behind_from()? }, true),
            K::COLUMNS | K::FIELDS => (W::Columns { extended, full, table: self.table_behind_from()? }, true),
            K::INDEX | K::INDEXES | K::KEYS => {
                let table = self.table_behind_from()?;
                // WHERE only.
                (W::Indexes { extended, table }, self.at(K::WHERE))
            }
            K::VARIABLES => (W::Variables { scope: None }, true),
            K::STATUS => (W::Status { scope: None }, true),
            K::PROCESSLIST => (W::ProcessList { full }, false),
            K::WARNINGS => (W::Warnings { limit: self.limit()? }, false),
            K::ERRORS => (W::Errors { limit: self.limit()? }, false),
            K::COUNT => {
                self.open()?;
                self.expect_kind(T::Star)?;
                self.close()?;
                let warnings = self.expect_any(&[K::WARNINGS, K::ERRORS])? == K::WARNINGS;
                (if warnings { W::CountWarnings } else { W::CountErrors }, false)
            }
            K::ENGINES => (W::Engines, false),
            K::STORAGE => {
                self.expect(K::ENGINES)?;
                (W::Engines, false)
            }
            K::ENGINE => {
                let name = if self.accept(K::ALL) { None } else { Some(self.name_or_string()?) };
                let topic = match self.expect_any(&[K::STATUS, K::MUTEX, K::LOGS])? {
                    K::STATUS => EngineTopic::Status,
                    K::MUTEX => EngineTopic::Mutex,
                    _ => EngineTopic::Logs,
                };
                (W::Engine { name, topic }, false)
            }
            K::PLUGINS => (W::Plugins, false),
            K::PRIVILEGES => (W::Privileges, false),
            K::CHARACTER | K::CHAR => {
                self.expect(K::SET)?;
                (W::CharacterSet, true)
            }
            K::CHARSET => (W::CharacterSet, true),
            K::COLLATION => (W::Collation, true),
            K::GRANTS => {
                let (mut account, mut using): (_, List<'a, AccountName<'a>>) = (None, &[]);
                if self.accept(K::FOR) {
                    account = Some(self.account()?);
                    if self.accept(K::USING) {
                        using = self.comma_list(Parser::account)?;
                    }
                }
                (W::Grants { account, using }, false)
            }
            K::CREATE => (self.show_create()?, false),
            K::PROCEDURE | K::FUNCTION | K::LIBRARY => {
                if keyword != K::LIBRARY && self.accept(K::CODE) {
                    let name = self.object_name()?;
                    let procedure = keyword == K::PROCEDURE;
                    return Ok((if procedure { W::ProcedureCode(name) } else { W::FunctionCode(name) }, false));
                }
                self.expect(K::STATUS)?;
                let what = match keyword {
                    K::PROCEDURE => W::ProcedureStatus,
                    K::FUNCTION => W::FunctionStatus,
                    _ => W::LibraryStatus,
                };
                (what, true)
            }
            K::BINARY => {
                if self.accept(K::LOGS) {
                    (W::BinaryLogs, false)
                } else {
                    self.expect_words(&[K::LOG, K::STATUS])?;
                    (W::BinaryLogStatus, false)
                }
            }
            K::BINLOG | K::RELAYLOG => {
                self.expect(K::EVENTS)?;
                let log = if self.accept(K::IN) { Some(self.string()?) } else { None };
                let position = if self.accept(K::FROM) { Some(self.unsigned()?) } else { None };
                let limit = self.limit()?;
                if keyword == K::BINLOG {
                    (W::BinlogEvents { log, position, limit }, false)
                } else {
                    let channel = self.channel()?;
                    (W::RelaylogEvents { log, position, limit, channel }, false)
                }
            }
            K::REPLICAS => (W::Replicas, false),
            K::REPLICA => {
                self.expect(K::STATUS)?;
                (W::ReplicaStatus { channel: self.channel()? }, false)
            }
            K::PROFILES => (W::Profiles, false),
            K::PROFILE => self.show_profile()?,
            _ => {
                // The word itself is the offender.
                return Err(crate::error::Failure {
                    kind: crate::error::ErrorKind::Syntax,
                    start: self.previous_end - keyword.text().len() as u32,
                    end: self.previous_end,
                });
            }
        })
    }

    fn show_create(&mut self) -> Result<ShowWhat<'a>> {
        use ShowWhat as W;
        let keyword = self.expect_any(&[
            K::TABLE,
            K::VIEW,
            K::DATABASE,
            K::SCHEMA,
            K::PROCEDURE,
            K::FUNCTION,
            K::TRIGGER,
            K::EVENT,
            K::LIBRARY,
            K::USER,
            K::MASKING,
        ])?;
        Ok(match keyword {
            K::DATABASE | K::SCHEMA => {
                W::CreateDatabase { if_not_exists: self.if_not_exists()?, name: self.schema_name()? }
            }
            K::USER => W::CreateUser(self.account()?),
            K::MASKING => {
                self.expect(K::POLICY)?;
                W::CreateMaskingPolicy(self.identifier()?)
            }
            K::TABLE => W::CreateTable(self.table_name()?),
            K::VIEW => W::CreateView(self.table_name()?),
            K::PROCEDURE => W::CreateProcedure(self.object_name()?),
            K::FUNCTION => W::CreateFunction(self.object_name()?),
            K::TRIGGER => W::CreateTrigger(self.object_name()?),
            K::EVENT => W::CreateEvent(self.object_name()?),
            _ => W::CreateLibrary(self.object_name()?),
        })
    }

    fn show_profile(&mut self) -> Result<(ShowWhat<'a>, bool)> {
        let mut types = self.new_list();
        if !self.at_any(&[K::FOR, K::LIMIT]) && self.token.kind == T::Word {
            loop {
                let start = self.token.start;
                match self.token.keyword {
                    K::ALL | K::CPU | K::IPC | K::MEMORY | K::SOURCE | K::SWAPS => self.advance(),
                    K::BLOCK => {
                        self.advance();
                        self.expect(K::IO)?;
                    }
                    K::CONTEXT => {
                        self.advance();
                        self.expect(K::SWITCHES)?;
                    }
                    K::PAGE => {
                        self.advance();
                        self.expect(K::FAULTS)?;
                    }
                    _ => return self.fail(),
                }
                types.push(self.source(self.span_from(start)));
                if !self.accept_kind(T::Comma) {
                    break;
                }
            }
        }
        let query = if self.accept_words(&[K::FOR, K::QUERY])? { Some(self.integer()?) } else { None };
        let limit = self.limit()?;
        Ok((ShowWhat::Profile { types: types.into_bump_slice(), query, limit }, false))
    }
}
