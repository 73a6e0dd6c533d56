//! The columns that expressions read, and the queries inside of them.

use meseta_parser::ast::{
    self, CallExtra, Expression, ExpressionKind as Kind, OrderItem, Query, QueryBody, SelectItem, WindowFunction,
};

use super::Requirement;
use super::collect::{Collector, text};
use crate::account::accounts::RoutineKind;
use crate::account::privilege::Privileges;

impl Collector<'_> {
    pub(super) fn order(&mut self, items: &[OrderItem<'_>]) {
        items.iter().for_each(|item| self.expression(&item.expression));
    }

    pub(super) fn optional(&mut self, expression: Option<&Expression<'_>>) {
        expression.into_iter().for_each(|expression| self.expression(expression));
    }

    pub(super) fn expressions(&mut self, all: &[Expression<'_>]) {
        all.iter().for_each(|expression| self.expression(expression));
    }

    pub(super) fn expression(&mut self, expression: &Expression<'_>) {
        self.walk(expression, false);
    }

    pub(super) fn walk(&mut self, expression: &Expression<'_>, aliases: bool) {
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
    pub(super) fn subquery(&mut self, query: &Query<'_>, exists: bool) {
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

    pub(super) fn call(&mut self, call: &ast::Call<'_>) {
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

    pub(super) fn aggregate(&mut self, aggregate: &ast::Aggregate<'_>, aliases: bool) {
        aggregate.arguments.iter().for_each(|argument| self.walk(argument, aliases));
        self.order(aggregate.order_by);
    }

    pub(super) fn window(&mut self, window: &ast::WindowSpecification<'_>) {
        self.order(window.partition_by);
        self.order(window.order_by);
    }
}
