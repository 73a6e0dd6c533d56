//! Statements about what there is none of yet: views, procedures, functions, triggers, events.
//!
//! Dropping, altering and calling what is not there is answered as MySQL does, so that scripts and dumps that clear the way
//! first go through; making one is error 1235, which names it.
//!
//! Source: what 9.7 answers.

use meseta_errors::{
    ER_BAD_TABLE_ERROR, ER_EVENT_DOES_NOT_EXIST, ER_FEATURE_DISABLED, ER_NO_DB_ERROR, ER_NO_SUCH_TABLE,
    ER_SP_DOES_NOT_EXIST, ER_TRG_DOES_NOT_EXIST,
};
use meseta_parser::ast::{self, ProgramAction, ProgramKind, ShowWhat, Statement};
use meseta_types::SqlError;

use super::Session;
use crate::error::{Error, Result};
use crate::name::text_of;

impl Session {
    /// Carries out a statement about something that there is none of.
    pub(super) fn absent(&mut self, statement: &Statement<'_>) -> Result<()> {
        match statement {
            Statement::Call(call) => {
                Err(Error::new(ER_SP_DOES_NOT_EXIST, &[&"PROCEDURE", &self.qualified(&call.name)?]))
            }
            Statement::DropViews(drop) => {
                self.end_transaction(true)?;
                let names = drop.views.iter().map(|name| self.qualified(name)).collect::<Result<Vec<_>>>()?;
                if !drop.if_exists {
                    return Err(Error::new(ER_BAD_TABLE_ERROR, &[&names.join(",")]));
                }
                names.iter().for_each(|name| self.note(&Error::new(ER_BAD_TABLE_ERROR, &[name])));
                Ok(())
            }
            Statement::CreateView(create) if create.alter => {
                let (database, name) = self.place(&create.name)?;
                Err(Error::new(ER_NO_SUCH_TABLE, &[&database, &name]))
            }
            Statement::StoredProgram(program) => self.absent_program(program),
            _ => Err(Error::not_yet(name_of(statement))),
        }
    }

    fn absent_program(&mut self, program: &ast::StoredProgram<'_>) -> Result<()> {
        let kind = match program.kind {
            ProgramKind::Procedure => "PROCEDURE",
            ProgramKind::Function | ProgramKind::LoadableFunction => "FUNCTION",
            ProgramKind::Trigger => "TRIGGER",
            ProgramKind::Event => "EVENT",
            ProgramKind::Library => "LIBRARY",
        };
        if program.action == ProgramAction::Create {
            return Err(Error::not_yet(&format!("CREATE {kind}")));
        }
        self.end_transaction(true)?;
        let name = text_of(program.name.name.text.0);
        let missing = match (program.kind, program.conditional) {
            (ProgramKind::Trigger, _) => Error::new(ER_TRG_DOES_NOT_EXIST, &[]),
            (ProgramKind::Event, true) => Error::new(ER_SP_DOES_NOT_EXIST, &[&"Event", &name]),
            (ProgramKind::Event, false) => Error::new(ER_EVENT_DOES_NOT_EXIST, &[&name]),
            _ => Error::new(ER_SP_DOES_NOT_EXIST, &[&kind, &self.qualified(&program.name)?]),
        };
        if program.action == ProgramAction::Drop && program.conditional {
            self.note(&missing);
            return Ok(());
        }
        Err(missing)
    }

    /// SHOW of something that there is none of; nothing if it is about something else.
    pub(super) fn absent_shown(&self, what: &ShowWhat<'_>) -> Result<()> {
        let (kind, name) = match what {
            ShowWhat::CreateProcedure(name) => ("PROCEDURE", name),
            ShowWhat::CreateFunction(name) => ("FUNCTION", name),
            ShowWhat::CreateLibrary(name) => ("LIBRARY", name),
            ShowWhat::CreateTrigger(name) => {
                self.place(name)?;
                return Err(Error::new(ER_TRG_DOES_NOT_EXIST, &[]));
            }
            ShowWhat::CreateEvent(name) => return Err(Error::new(ER_EVENT_DOES_NOT_EXIST, &[&self.place(name)?.1])),
            ShowWhat::ProcedureCode(_) | ShowWhat::FunctionCode(_) => {
                return Err(Error::new(ER_FEATURE_DISABLED, &[&"SHOW PROCEDURE|FUNCTION CODE", &"--with-debug"]));
            }
            _ => return Ok(()),
        };
        Err(Error::new(ER_SP_DOES_NOT_EXIST, &[&kind, &self.place(name)?.1]))
    }

    fn note(&mut self, error: &Error) {
        self.context.warnings.note(SqlError::new(error.code.0, error.message.clone()));
    }

    /// Database and name. Error 1046 without a database.
    fn place(&self, name: &ast::ObjectName<'_>) -> Result<(String, String)> {
        let database = name.schema.map(|schema| text_of(schema.text.0)).or_else(|| self.facts.database_name());
        let database = database.ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))?;
        Ok((database, text_of(name.name.text.0)))
    }

    fn qualified(&self, name: &ast::ObjectName<'_>) -> Result<String> {
        let (database, name) = self.place(name)?;
        Ok(format!("{database}.{name}"))
    }
}

/// What a statement that is not there yet is called.
fn name_of(statement: &Statement<'_>) -> &'static str {
    match statement {
        Statement::CreateView(_) => "CREATE VIEW",
        Statement::Handler(_) => "HANDLER",
        Statement::Tablespace(_) => "TABLESPACE",
        Statement::SetResourceGroup { .. } => "RESOURCE GROUP",
        Statement::LockInstance | Statement::UnlockInstance => "LOCK INSTANCE",
        Statement::Maintenance(_) => "ANALYZE, CHECK and their like",
        Statement::Load(_) => "LOAD DATA",
        Statement::Administration(_) => "this statement of administration",
        Statement::Program => "compound statements",
        _ => "this statement",
    }
}
