//! The tables and columns that a query, and a change of rows, names.
//!
//! ```text
//! levels:   the blocks of a query, the innermost last: what names of columns may mean
//! common:   the names of WITH, which are no tables
//! ```

use meseta_parser::ast::{
    self, CallExtra, ColumnName, DeleteTarget, Expression, ExpressionKind as Kind, InsertSource, JoinCondition,
    ObjectName, OrderItem, Query, QueryBody, SelectItem, TableReference, WindowFunction,
};

use super::{Extent, Requirement, Requirements};
use crate::account::accounts::RoutineKind;
use crate::account::privilege::Privileges;
use crate::account::store;

/// A source of rows by its name.
struct Named {
    alias: Box<str>,
    /// The place of its table; none of a derived one, which was looked at by itself.
    table: Option<usize>,
}

/// What names may mean in a block.
#[derive(Default)]
struct Level {
    named: Vec<Named>,
    /// Aliases of expressions.
    aliases: Vec<Box<str>>,
}

/// Requirements as they are found.
pub(super) struct Collector<'c> {
    database: Option<&'c str>,
    pub(super) each: Vec<Requirement>,
    /// Those of columns, which come behind.
    columns: Vec<Requirement>,
    tables: Vec<(Box<str>, Box<str>)>,
    levels: Vec<Level>,
    common: Vec<Box<str>>,
    globally: Privileges,
}

pub(super) fn text(bytes: &[u8]) -> Box<str> {
    String::from_utf8_lossy(bytes).into()
}

/// The tables of performance_schema that everybody reads.
fn is_for_everybody(table: &str) -> bool {
    let name = table.to_ascii_lowercase();
    name.ends_with("_status") || name.ends_with("_variables") || name.starts_with("session_")
}

impl<'c> Collector<'c> {
    pub(super) fn new(database: Option<&'c str>) -> Self {
        Self {
            database,
            each: Vec::new(),
            columns: Vec::new(),
            tables: Vec::new(),
            levels: Vec::new(),
            common: Vec::new(),
            globally: Privileges::NONE,
        }
    }

    pub(super) fn finish(mut self, changes_password: bool) -> Requirements {
        self.each.append(&mut self.columns);
        Requirements { globally: self.globally, each: self.each.into(), tables: self.tables.into(), changes_password }
    }

    // ---- requirements -----------------------------------------------------------------------------------------------

    /// `enough` are the global privileges that are enough for it.
    pub(super) fn push(&mut self, requirement: Requirement, enough: Privileges) {
        self.globally = self.globally.and(enough);
        if !self.each.contains(&requirement) {
            self.each.push(requirement);
        }
    }

    pub(super) fn one_of(&mut self, names: &'static [&'static str], shown: &'static str) {
        // The static one among them, if there is one; who has another is looked at closer.
        let enough = names.iter().find_map(|name| Privileges::parse(name)).unwrap_or(Privileges::NOBODYS);
        self.push(Requirement::OneOf { names, shown }, enough);
    }

    pub(super) fn never(&mut self, database: &str) {
        self.push(Requirement::Never(database.into()), Privileges::NOBODYS);
    }

    /// The session's database.
    pub(super) fn current(&self) -> Option<Box<str>> {
        self.database.map(Into::into)
    }

    /// A name's database: the one that is written, or the session's.
    pub(super) fn database_of(&self, name: &ObjectName<'_>) -> Option<Box<str>> {
        name.schema.map(|schema| text(schema.text.0)).or_else(|| self.database.map(Into::into))
    }

    /// Privileges in a database.
    pub(super) fn database(&mut self, name: &str, privileges: Privileges) {
        let is_ours = ["information_schema", "performance_schema", store::DATABASE]
            .iter()
            .any(|system| name.eq_ignore_ascii_case(system));
        if is_ours {
            return self.never(name);
        }
        self.push(Requirement::Database { name: name.into(), privileges }, privileges);
    }

    /// Anything at all in a database.
    pub(super) fn see(&mut self, name: &str, creates: bool) {
        if name == store::DATABASE {
            return self.never(name);
        }
        self.push(Requirement::SeeDatabase { name: name.into(), creates }, Privileges::SELECT);
    }

    /// Privileges in a table; nothing if it is none that needs any.
    pub(super) fn table(&mut self, name: &ObjectName<'_>, privileges: Privileges, extent: Extent) -> Option<usize> {
        if name.schema.is_none() && self.common.iter().any(|common| **common == *text(name.name.text.0)) {
            return None;
        }
        // Without a database the binder says so.
        let database = self.database_of(name)?;
        let table = text(name.name.text.0);
        let reads = Privileges::SELECT.has(privileges) || matches!(extent, Extent::OneOf { .. } | Extent::Seen);
        if database.eq_ignore_ascii_case("information_schema") {
            if !reads {
                self.never(&database);
            }
            return None;
        }
        if &*database == store::DATABASE {
            self.never(&database);
            return None;
        }
        if database.eq_ignore_ascii_case("performance_schema") {
            if reads && is_for_everybody(&table) {
                return None;
            }
            if privileges.has(Privileges::CREATE) {
                self.never(&database);
                return None;
            }
        }
        let known = self.tables.iter().position(|(of, name)| *of == database && *name == table);
        let place = known.unwrap_or_else(|| {
            self.tables.push((database, table));
            self.tables.len() - 1
        });
        let requirement = Requirement::Table { table: place, privileges, extent, is_qualified: false };
        self.push(requirement, privileges);
        Some(place)
    }

    /// The same of a table that a foreign key refers to.
    pub(super) fn referenced(&mut self, name: &ObjectName<'_>) {
        if let Some(table) = self.table(name, Privileges::REFERENCES, Extent::SomeColumn)
            && let Some(Requirement::Table { table: last, is_qualified, .. }) = self.each.last_mut()
            && *last == table
        {
            *is_qualified = true;
        }
    }

    fn column_of(&mut self, name: &[u8], privilege: Privileges, levels: Vec<Box<[usize]>>, may_be_alias: bool) {
        if levels.iter().all(|level| level.is_empty()) {
            return;
        }
        self.globally = self.globally.and(privilege);
        let requirement = Requirement::Column { name: text(name), privilege, levels: levels.into(), may_be_alias };
        if !self.columns.contains(&requirement) {
            self.columns.push(requirement);
        }
    }

    /// A column that an expression reads, or an assignment writes.
    fn column(&mut self, name: &ColumnName<'_>, privilege: Privileges, aliases_count: bool) {
        let mut levels = Vec::new();
        for level in self.levels.iter().rev() {
            let tables: Box<[usize]> = match name.table {
                None => level.named.iter().filter_map(|named| named.table).collect(),
                Some(table) => {
                    let table = text(table.text.0);
                    let mut found =
                        level.named.iter().filter(|named| named.alias.eq_ignore_ascii_case(&table)).peekable();
                    let is_here = found.peek().is_some();
                    let tables = found.filter_map(|named| named.table).collect();
                    if is_here {
                        levels.push(tables);
                        break;
                    }
                    continue;
                }
            };
            levels.push(tables);
        }
        let may_be_alias = aliases_count
            && name.table.is_none()
            && self.levels.last().is_some_and(|level| {
                let written = text(name.column.text.0);
                level.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(&written))
            });
        self.column_of(name.column.text.0, privilege, levels, may_be_alias);
    }

    // ---- queries ----------------------------------------------------------------------------------------------------

    fn with(&mut self, with: Option<&ast::With<'_>>) {
        for table in with.into_iter().flat_map(|with| with.tables.iter()) {
            let is_recursive = with.is_some_and(|with| with.recursive);
            if is_recursive {
                self.common.push(text(table.name.text.0));
            }
            self.query(table.query);
            if !is_recursive {
                self.common.push(text(table.name.text.0));
            }
        }
    }

    pub(super) fn query(&mut self, query: &Query<'_>) {
        let common = self.common.len();
        self.with(query.with);
        self.body(&query.body, query);
        if let Some(into) = query.into
            && !matches!(into, ast::SelectInto::Variables(_))
        {
            self.one_of(&["FILE"], "FILE");
        }
        self.common.truncate(common);
    }

    fn body(&mut self, body: &QueryBody<'_>, query: &Query<'_>) {
        match body {
            QueryBody::Select(select) => self.select(select, query),
            QueryBody::Values(rows) => rows.iter().flat_map(|row| row.iter()).for_each(|value| self.expression(value)),
            QueryBody::Table(name) => {
                self.table(name, Privileges::SELECT, Extent::SomeColumn);
                self.table(name, Privileges::SELECT, Extent::EveryColumn);
            }
            QueryBody::SetOperation(operation) => {
                // ORDER BY names the columns of the result.
                let plain = Query { order_by: &[], ..*query };
                self.body(&operation.left, &plain);
                self.body(&operation.right, &plain);
            }
            QueryBody::Parenthesised(inner) => self.query(inner),
        }
    }

    fn select(&mut self, select: &ast::Select<'_>, query: &Query<'_>) {
        let level = self.from(select.from);
        let everything = select.items.iter().any(|item| matches!(item, SelectItem::All));
        let mut whole: Vec<usize> = Vec::new();
        for named in &level.named {
            let is_whole = select.items.iter().any(|item| match item {
                SelectItem::AllOf(of) => named.alias.eq_ignore_ascii_case(&text(of.name.text.0)),
                _ => false,
            });
            whole.extend(named.table.filter(|_| everything || is_whole));
        }
        for table in whole {
            self.whole(table, Privileges::SELECT);
        }
        for clause in query.locking.iter().filter(|clause| clause.exclusive) {
            for named in &level.named {
                let is_meant = clause.tables.is_empty()
                    || clause.tables.iter().any(|table| named.alias.eq_ignore_ascii_case(&text(table.name.text.0)));
                if let Some(table) = named.table.filter(|_| is_meant) {
                    let privileges = Privileges::UPDATE.and(Privileges::DELETE).and(Privileges::LOCK_TABLES);
                    let extent = Extent::OneOf { columns: true, shown: "SELECT with locking clause" };
                    self.globally = self.globally.and(Privileges::UPDATE);
                    self.columns.push(Requirement::Table { table, privileges, extent, is_qualified: false });
                }
            }
        }
        self.levels.push(level);
        self.conditions(select.from);
        for item in select.items {
            if let SelectItem::Expression { expression, alias, .. } = item {
                self.expression(expression);
                let alias = alias.map(|alias| text(alias.0));
                let Some(level) = self.levels.last_mut() else { continue };
                level.aliases.extend(alias);
            }
        }
        self.optional(select.condition.as_ref());
        self.aliased(select.group_by.iter().flat_map(|group| group.items.iter().map(|item| &item.expression)));
        self.aliased(select.having.iter());
        for (_, window) in select.windows {
            self.window(window);
        }
        self.optional(select.qualify.as_ref());
        self.aliased(query.order_by.iter().map(|item| &item.expression));
        self.levels.pop();
    }

    /// Expressions in which an alias may stand by itself.
    fn aliased<'e>(&mut self, expressions: impl Iterator<Item = &'e Expression<'e>>) {
        for expression in expressions {
            match expression.kind {
                Kind::Column(name) => self.column(name, Privileges::SELECT, true),
                _ => self.walk(expression, true),
            }
        }
    }

    /// All columns of a table.
    pub(super) fn whole(&mut self, table: usize, privileges: Privileges) {
        let requirement = Requirement::Table { table, privileges, extent: Extent::EveryColumn, is_qualified: false };
        self.globally = self.globally.and(privileges);
        if !self.columns.contains(&requirement) {
            self.columns.push(requirement);
        }
    }

    /// The sources of FROM. Their conditions come when all are known: [`Collector::conditions`].
    fn from(&mut self, references: &[TableReference<'_>]) -> Level {
        let mut level = Level::default();
        references.iter().for_each(|reference| self.source(reference, &mut level));
        level
    }

    fn source(&mut self, reference: &TableReference<'_>, level: &mut Level) {
        match reference {
            TableReference::Table(table) => {
                let alias = text(table.alias.map_or(table.name.name, |alias| alias).text.0);
                let table = self.table(&table.name, Privileges::SELECT, Extent::SomeColumn);
                level.named.push(Named { alias, table });
            }
            TableReference::Derived(derived) => {
                if derived.lateral {
                    self.levels.push(std::mem::take(level));
                    self.query(derived.query);
                    *level = self.levels.pop().unwrap_or_default();
                } else {
                    self.query(derived.query);
                }
                if let Some(alias) = derived.alias {
                    level.named.push(Named { alias: text(alias.text.0), table: None });
                }
            }
            TableReference::Join(join) => {
                self.source(&join.left, level);
                self.source(&join.right, level);
            }
            TableReference::Parenthesised(all) => all.iter().for_each(|one| self.source(one, level)),
            TableReference::JsonTable(table) => {
                self.levels.push(std::mem::take(level));
                self.expression(&table.document);
                *level = self.levels.pop().unwrap_or_default();
                if let Some(alias) = table.alias {
                    level.named.push(Named { alias: text(alias.text.0), table: None });
                }
            }
        }
    }

    /// ON. (Of the columns of USING and NATURAL nothing is asked, as in MySQL.)
    fn conditions(&mut self, references: &[TableReference<'_>]) {
        let mut left: Vec<&TableReference<'_>> = references.iter().collect();
        while let Some(next) = left.pop() {
            match next {
                TableReference::Join(join) => {
                    left.extend([&join.left, &join.right]);
                    if let JoinCondition::On(condition) = &join.condition {
                        self.expression(condition);
                    }
                }
                TableReference::Parenthesised(all) => left.extend(all.iter()),
                _ => {}
            }
        }
    }

    // ---- changes of rows --------------------------------------------------------------------------------------------

    pub(super) fn insert(&mut self, insert: &ast::Insert<'_>) {
        let mut privileges = Privileges::INSERT;
        if insert.replace {
            privileges = privileges.and(Privileges::DELETE);
        }
        if !insert.on_duplicate.is_empty() {
            privileges = privileges.and(Privileges::UPDATE);
        }
        let target = self.table(&insert.table, privileges, Extent::SomeColumn);
        let named = Named { alias: text(insert.table.name.text.0), table: target };
        self.levels.push(Level { named: vec![named], aliases: Vec::new() });
        match insert.columns {
            Some(columns @ [_, ..]) => {
                columns.iter().for_each(|column| self.column(column, Privileges::INSERT, false));
            }
            _ => {
                if let Some(table) = target {
                    self.whole(table, Privileges::INSERT);
                }
            }
        }
        match insert.source {
            InsertSource::Rows(rows) => {
                rows.iter().flat_map(|row| row.iter()).for_each(|value| self.expression(value));
            }
            InsertSource::Query(query) => {
                // The query does not see the table; what is behind it sees both.
                let level = self.levels.pop();
                let before = self.tables.len();
                self.query(query);
                self.levels.extend(level);
                let read = before..self.tables.len();
                if let Some(level) = self.levels.last_mut() {
                    level
                        .named
                        .extend(read.map(|table| Named { alias: self.tables[table].1.clone(), table: Some(table) }));
                }
            }
        }
        if let (Some((alias, _)), Some(level)) = (insert.row_alias, self.levels.last_mut()) {
            level.named.push(Named { alias: text(alias.text.0), table: None });
        }
        for assignment in insert.on_duplicate {
            self.written(&assignment.column, target, Privileges::UPDATE);
            self.expression(&assignment.value);
        }
        self.levels.pop();
    }

    /// A column of the one table that is written.
    fn written(&mut self, column: &ColumnName<'_>, target: Option<usize>, privilege: Privileges) {
        if let Some(table) = target {
            self.column_of(column.column.text.0, privilege, vec![[table].into()], false);
        }
    }

    pub(super) fn update(&mut self, update: &ast::Update<'_>) {
        let common = self.common.len();
        self.with(update.with);
        let mut level = Level::default();
        if let [TableReference::Table(table)] = update.tables {
            let alias = text(table.alias.map_or(table.name.name, |alias| alias).text.0);
            let target = self.table(&table.name, Privileges::UPDATE, Extent::SomeColumn);
            level.named.push(Named { alias, table: target });
        } else {
            update.tables.iter().for_each(|reference| self.several(reference, &mut level));
        }
        self.levels.push(level);
        self.conditions(update.tables);
        for assignment in update.assignments {
            self.column(&assignment.column, Privileges::UPDATE, false);
            self.expression(&assignment.value);
        }
        self.optional(update.condition.as_ref());
        self.order(update.order_by);
        self.optional(update.limit.as_ref());
        self.levels.pop();
        self.common.truncate(common);
    }

    /// The sources of an UPDATE of several tables. Which are written is asked of their columns.
    fn several(&mut self, reference: &TableReference<'_>, level: &mut Level) {
        match reference {
            TableReference::Table(table) => {
                let alias = text(table.alias.map_or(table.name.name, |alias| alias).text.0);
                let either = Privileges::SELECT.and(Privileges::UPDATE);
                let table = self.table(&table.name, either, Extent::OneOf { columns: true, shown: "SELECT" });
                level.named.push(Named { alias, table });
            }
            TableReference::Join(join) => {
                self.several(&join.left, level);
                self.several(&join.right, level);
            }
            TableReference::Parenthesised(all) => all.iter().for_each(|one| self.several(one, level)),
            other => self.source(other, level),
        }
    }

    pub(super) fn delete(&mut self, delete: &ast::Delete<'_>) {
        let common = self.common.len();
        self.with(delete.with);
        match delete.target {
            DeleteTarget::Single(table) => {
                let alias = text(table.alias.map_or(table.name.name, |alias| alias).text.0);
                let target = self.table(&table.name, Privileges::DELETE, Extent::Table);
                self.levels.push(Level { named: vec![Named { alias, table: target }], aliases: Vec::new() });
            }
            DeleteTarget::Several { tables, from } => {
                let level = self.from(from);
                for target in tables {
                    let name = text(target.name.text.0);
                    let found = level.named.iter().find(|named| named.alias.eq_ignore_ascii_case(&name));
                    match found.and_then(|named| named.table) {
                        Some(table) => {
                            let (privileges, extent) = (Privileges::DELETE, Extent::Table);
                            let requirement = Requirement::Table { table, privileges, extent, is_qualified: false };
                            self.push(requirement, privileges);
                        }
                        None => {
                            self.table(target, Privileges::DELETE, Extent::Table);
                        }
                    }
                }
                self.levels.push(level);
                self.conditions(from);
            }
        }
        self.optional(delete.condition.as_ref());
        self.order(delete.order_by);
        self.optional(delete.limit.as_ref());
        self.levels.pop();
        self.common.truncate(common);
    }

    pub(super) fn load(&mut self, load: &ast::Load<'_>) {
        if !load.local {
            self.push(Requirement::File, Privileges::FILE);
        }
        let mut privileges = Privileges::INSERT;
        if load.duplicates == ast::LoadDuplicates::Replace {
            privileges = privileges.and(Privileges::DELETE);
        }
        let target = self.table(&load.table, privileges, Extent::SomeColumn);
        let named = Named { alias: text(load.table.name.text.0), table: target };
        self.levels.push(Level { named: vec![named], aliases: Vec::new() });
        if let (true, Some(table)) = (load.columns.is_empty(), target) {
            self.whole(table, Privileges::INSERT);
        }
        for column in load.columns {
            if let ast::LoadColumn::Column(column) = column {
                self.column(column, Privileges::INSERT, false);
            }
        }
        for assignment in load.assignments {
            self.column(&assignment.column, Privileges::INSERT, false);
            self.expression(&assignment.value);
        }
        self.levels.pop();
    }

    // ---- expressions ------------------------------------------------------------------------------------------------

    fn order(&mut self, items: &[OrderItem<'_>]) {
        items.iter().for_each(|item| self.expression(&item.expression));
    }

    fn optional(&mut self, expression: Option<&Expression<'_>>) {
        expression.into_iter().for_each(|expression| self.expression(expression));
    }

    pub(super) fn expressions(&mut self, all: &[Expression<'_>]) {
        all.iter().for_each(|expression| self.expression(expression));
    }

    pub(super) fn expression(&mut self, expression: &Expression<'_>) {
        self.walk(expression, false);
    }

    fn walk(&mut self, expression: &Expression<'_>, aliases: bool) {
        let mut expression = expression;
        // Chains of operators lean to the left.
        while let Kind::Binary { left, right, .. } = expression.kind {
            self.walk(right, aliases);
            expression = left;
        }
        let one = |this: &mut Self, expression: &Expression<'_>| this.walk(expression, aliases);
        match expression.kind {
            Kind::Literal(_)
            | Kind::Parameter(_)
            | Kind::UserVariable(_)
            | Kind::SystemVariable(_)
            | Kind::Default
            | Kind::Binary { .. } => {}
            Kind::Column(name) | Kind::DefaultOf(name) | Kind::ValuesOf(name) => {
                self.column(name, Privileges::SELECT, aliases);
            }
            Kind::JsonPath { column, .. } => self.column(column, Privileges::SELECT, aliases),
            Kind::Assign { value, .. } => one(self, value),
            Kind::Unary { operand, .. }
            | Kind::Is { operand, .. }
            | Kind::ConvertUsing { operand, .. }
            | Kind::Collate { operand, .. }
            | Kind::Odbc { operand, .. } => one(self, operand),
            Kind::Between(between) => {
                [&between.operand, &between.low, &between.high].into_iter().for_each(|operand| one(self, operand));
            }
            Kind::In { operand, list, .. } => {
                one(self, operand);
                list.iter().for_each(|item| one(self, item));
            }
            Kind::InQuery { operand, query, .. } => {
                one(self, operand);
                self.query(query);
            }
            Kind::Like(like) => {
                one(self, &like.operand);
                one(self, &like.pattern);
                like.escape.iter().for_each(|escape| one(self, escape));
            }
            Kind::Regexp { operand, pattern, .. } => [operand, pattern].into_iter().for_each(|part| one(self, part)),
            Kind::MemberOf { value, array } => [value, array].into_iter().for_each(|part| one(self, part)),
            Kind::Quantified(quantified) => {
                one(self, &quantified.left);
                self.query(quantified.query);
            }
            Kind::Row(values) => values.iter().for_each(|value| one(self, value)),
            Kind::Subquery(query) | Kind::Exists(query) => {
                self.subquery(query, matches!(expression.kind, Kind::Exists(_)))
            }
            Kind::Case(case) => {
                case.operand.iter().for_each(|operand| one(self, operand));
                case.branches.iter().flat_map(|(when, then)| [when, then]).for_each(|part| one(self, part));
                case.otherwise.iter().for_each(|otherwise| one(self, otherwise));
            }
            Kind::Cast(cast) => one(self, &cast.operand),
            Kind::DateArithmetic(arithmetic) => {
                [&arithmetic.date, &arithmetic.amount].into_iter().for_each(|part| one(self, part));
            }
            Kind::Call(call) => {
                call.arguments.iter().for_each(|argument| one(self, argument));
                self.call(call);
            }
            Kind::Aggregate(aggregate) => self.aggregate(aggregate, aliases),
            Kind::Window(window) => {
                match window.function {
                    WindowFunction::Aggregate(aggregate) => self.aggregate(aggregate, aliases),
                    WindowFunction::Named { arguments, .. } => {
                        arguments.iter().for_each(|argument| one(self, argument));
                    }
                }
                if let ast::Over::Specification(specification) = window.over {
                    self.window(specification);
                }
            }
            Kind::Match(matched) => {
                matched.columns.iter().for_each(|column| self.column(column, Privileges::SELECT, false));
                one(self, &matched.against);
            }
            Kind::JsonValue(value) => {
                one(self, &value.document);
                for fallback in [value.on_empty, value.on_error].into_iter().flatten() {
                    if let ast::JsonFallback::Default(expression) = fallback {
                        one(self, &expression);
                    }
                }
            }
        }
    }

    /// What EXISTS selects is not read: `EXISTS (SELECT * ..)` needs no more than some column.
    fn subquery(&mut self, query: &Query<'_>, exists: bool) {
        let reads_everything = match query.body {
            QueryBody::Select(select) if exists => matches!(select.items, [SelectItem::All]),
            _ => false,
        };
        match query.body {
            QueryBody::Select(select) if reads_everything => {
                let select = ast::Select { items: &[], ..*select };
                let query = Query { body: QueryBody::Select(&select), ..*query };
                self.query(&query);
            }
            _ => self.query(query),
        }
    }

    fn call(&mut self, call: &ast::Call<'_>) {
        // Names with a database are stored functions'; those without may be, and those that are no built-in ones will ask
        // when there are any.
        if let (Some(schema), CallExtra::None | CallExtra::Aliases(_)) = (call.name.schema, call.extra) {
            let (database, name) = (text(schema.text.0), text(call.name.name.text.0));
            self.routine(RoutineKind::Function, database, name, Privileges::EXECUTE);
        }
    }

    pub(super) fn routine(&mut self, kind: RoutineKind, database: Box<str>, name: Box<str>, privileges: Privileges) {
        self.push(Requirement::Routine { kind, database, name, privileges }, privileges);
    }

    fn aggregate(&mut self, aggregate: &ast::Aggregate<'_>, aliases: bool) {
        aggregate.arguments.iter().for_each(|argument| self.walk(argument, aliases));
        self.order(aggregate.order_by);
    }

    fn window(&mut self, window: &ast::WindowSpecification<'_>) {
        self.order(window.partition_by);
        self.order(window.order_by);
    }
}
