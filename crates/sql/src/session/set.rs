//! SET, RESET PERSIST.

use meseta_errors::{ER_PERSIST_ONLY_ACCESS_DENIED_ERROR, ER_VAR_DOES_NOT_EXIST, ER_WRONG_VALUE_FOR_VAR};
use meseta_parser::ast::{self, SetItem};
use meseta_types::SqlError;

use super::{Parameters, Session};
use crate::error::{Error, Result};
use crate::expression::{Host, Value};
use crate::name::text_of;
use crate::variable::{Assignment, Input, SetContext, Variable, check_names, check_set, check_transaction};

impl Session {
    /// Sets all, or none.
    pub(super) fn set(&mut self, items: &[SetItem<'_>], text: &[u8], parameters: Parameters<'_>) -> Result<()> {
        let mut assignments: Vec<Assignment> = Vec::new();
        let mut users: Vec<(String, Value)> = Vec::new();
        for item in items {
            match item {
                SetItem::User { name, value } => {
                    let mut result = Value::NULL;
                    self.evaluate_each(std::slice::from_ref(value), text, parameters, &mut |_, value| {
                        result = Value::new(value);
                        Ok(())
                    })?;
                    users.push((text_of(name.0).to_lowercase(), result));
                }
                SetItem::System { variable, at_signs, value } => {
                    let name = match variable.prefix {
                        Some(prefix) => format!("{}.{}", text_of(prefix.text.0), text_of(variable.name.text.0)),
                        None => text_of(variable.name.text.0),
                    };
                    let mut result = None;
                    if Input::of_expression(value).is_none() {
                        self.evaluate_each(std::slice::from_ref(value), text, parameters, &mut |_, value| {
                            result = Some(Value::new(value));
                            Ok(())
                        })?;
                    }
                    let mut buffer = Vec::new();
                    let input = match &result {
                        Some(value) => Input::of_datum(value.get(), &mut buffer),
                        None => Input::of_expression(value).unwrap_or(Input::Null),
                    };
                    let grants = self.facts.account.grants();
                    let may = |privilege: &str| grants.may_dynamic(privilege);
                    let mut context = SetContext { may: &may, warnings: &mut self.context.warnings };
                    let checked =
                        check_set(&self.facts.variables, variable.scope, *at_signs, &name, input, &mut context)?;
                    assignments.push(checked);
                }
                SetItem::Names { character_set, collation } => {
                    let (set, collation) =
                        (character_set.map(|name| text_of(name.0)), collation.map(|name| text_of(name.0)));
                    let names = check_names(&self.facts.variables, true, set.as_deref(), collation.as_deref())?;
                    assignments.extend(names);
                }
                SetItem::CharacterSet(name) => {
                    let name = name.map(|name| text_of(name.0));
                    assignments.extend(check_names(&self.facts.variables, false, name.as_deref(), None)?);
                }
                SetItem::TriggerRow { .. } => return Err(Error::not_yet("triggers")),
            }
        }
        // What the engine cannot change while it runs is not said to have changed.
        if let Some(fixed) = assignments.iter().find(|assignment| assignment.needs_restart(&self.instance.globals)) {
            let name = fixed.variable().definition().name;
            return Err(Error::not_yet(&format!("SET GLOBAL {name} while the server runs")));
        }
        self.check_logs(&assignments)?;
        let now = self.facts.statement_time.max(0) as u64;
        self.instance.globals.persist(&assignments, &self.facts.identity.user, now)?;
        for (name, value) in users {
            self.tracker.changed_state();
            self.facts.set_user_variable(&name, value.get())?;
        }
        let was_autocommit = self.facts.variables.settings().autocommit;
        let autocommit = Variable::find("autocommit");
        if !was_autocommit && assignments.iter().any(|assignment| Some(assignment.variable()) == autocommit) {
            self.refuse_in_xa()?;
        }
        self.apply_assignments(assignments);
        if !was_autocommit && self.facts.variables.settings().autocommit {
            self.end_transaction(true)?;
        }
        self.apply_settings();
        Ok(())
    }

    pub(super) fn set_transaction(&mut self, statement: &ast::SetTransaction) -> Result<()> {
        let grants = self.facts.account.grants();
        let may = |privilege: &str| grants.may_dynamic(privilege);
        let mut context = SetContext { may: &may, warnings: &mut self.context.warnings };
        let assignments = check_transaction(&self.facts.variables, statement, &mut context)?;
        let now = self.facts.statement_time.max(0) as u64;
        self.instance.globals.persist(&assignments, &self.facts.identity.user, now)?;
        self.apply_assignments(assignments);
        self.apply_settings();
        Ok(())
    }

    /// Where logs are to be must be a place for them. Error 1231; 1235 for logs in tables.
    fn check_logs(&self, assignments: &[Assignment]) -> Result<()> {
        for assignment in assignments.iter().filter(|assignment| assignment.is_global()) {
            let (name, value) = (assignment.variable().definition().name, assignment.value().as_text());
            match name {
                "general_log_file" | "slow_query_log_file" => {
                    let directory = Variable::find("datadir").map(|variable| self.instance.globals.get(variable));
                    let directory = directory.as_ref().map_or("", |directory| directory.as_text());
                    super::check_path(std::path::Path::new(directory), value)
                        .map_err(|_| Error::new(ER_WRONG_VALUE_FOR_VAR, &[&name, &value]))?;
                }
                "log_output" if value.split(',').any(|output| output == "TABLE") => {
                    return Err(Error::not_yet("log_output = TABLE"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// RESET PERSIST [[IF EXISTS] name]. Error 3615, a warning with IF EXISTS, if that is not remembered; 3630.
    pub(super) fn reset_persist(&mut self, name: Option<&str>, if_exists: bool) -> Result<()> {
        let only_read = |name: &str| Variable::find(name).is_some_and(|variable| !variable.definition().writable);
        let persisted = self.instance.globals.persisted();
        let grants = self.facts.account.grants();
        if persisted.iter().any(|(kept, _)| name.is_none_or(|name| kept.eq_ignore_ascii_case(name)) && only_read(kept))
            && !grants.may_dynamic("PERSIST_RO_VARIABLES_ADMIN")
            && !grants.may_dynamic("SUPER")
        {
            let both = "SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN";
            return Err(Error::new(ER_PERSIST_ONLY_ACCESS_DENIED_ERROR, &[&both]));
        }
        if self.instance.globals.forget_persisted(name)? {
            return Ok(());
        }
        let missing = Error::new(ER_VAR_DOES_NOT_EXIST, &[&name.unwrap_or_default()]);
        if !if_exists {
            return Err(missing);
        }
        self.context.warnings.warn(SqlError::new(missing.code.0, missing.message));
        Ok(())
    }

    /// Speaks in the collation that a client named by its number when it came, as SET NAMES would. A number that is not known
    /// means the server's defaults.
    pub fn set_client_collation(&mut self, id: u16) -> Result<()> {
        let Some(collation) = meseta_types::Collation::from_id(id) else { return Ok(()) };
        let settings = self.facts.variables.settings();
        if settings.collation_connection == collation && settings.character_set_client == collation.charset() {
            return Ok(());
        }
        let set = collation.charset().name();
        for assignment in check_names(&self.facts.variables, true, Some(set), Some(collation.name()))? {
            assignment.apply(&mut self.facts.variables);
        }
        self.apply_settings();
        Ok(())
    }

    fn apply_assignments(&mut self, assignments: Vec<Assignment>) {
        let mut globals_changed = false;
        for assignment in assignments {
            let assigned = assignment.apply(&mut self.facts.variables);
            match assigned.session {
                true => self.tracker.assigned(assigned.variable),
                false => globals_changed = true,
            }
        }
        if globals_changed {
            self.instance.globals_changed();
        }
    }
}
