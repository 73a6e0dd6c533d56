//! SHOW of what a session knows: variables, status, warnings.

use meseta_parser::ast::{Limit, Show, ShowFilter, ShowWhat};
use meseta_types::{Collation, DataType, Datum, IntegerSize, Level};

use super::administration::number_of;
use super::{Answer, Parameters, ServerStatus, Session, Status};
use crate::error::Result;
use crate::query::{OutputColumn, OutputColumns};
use crate::schema::information::{Cell, Rows, VirtualColumn};
use crate::variable::{show_status, show_variables};

fn text_column(name: &str, length: u32) -> OutputColumn {
    let data_type = DataType::Varchar { length, collation: Collation::Utf8mb4_0900AiCi };
    OutputColumn::new(name, data_type, false)
}

fn number_column(name: &str) -> OutputColumn {
    OutputColumn::new(name, DataType::BIGINT_UNSIGNED, false)
}

impl Session {
    /// Answers a SHOW of the session's own; false if it is another one.
    pub(super) fn show_own(
        &mut self,
        show: &Show<'_>,
        text: &[u8],
        more: bool,
        answer: &mut dyn Answer,
    ) -> Result<bool> {
        let pattern = match &show.filter {
            None => None,
            Some(ShowFilter::Like(pattern)) => Some(pattern.0),
            Some(ShowFilter::Where(_)) => None,
        };
        let named = |rows: Vec<(&'static str, String)>| -> Vec<[String; 2]> {
            rows.into_iter().map(|(name, value)| [name.to_owned(), value]).collect()
        };
        let rows = match &show.what {
            ShowWhat::Variables { scope } => named(show_variables(&self.facts.variables, *scope, pattern)),
            ShowWhat::Status { scope } => named(show_status(&ServerStatus::new(&self.facts), *scope, pattern)),
            ShowWhat::Warnings { limit } | ShowWhat::Errors { limit } => {
                let least = if matches!(show.what, ShowWhat::Errors { .. }) { Level::Error } else { Level::Note };
                let shown = self.shown_conditions(limit.as_ref(), text)?;
                return self.show_conditions(least, shown, more, answer).map(|()| true);
            }
            ShowWhat::CountWarnings => {
                let count = self.context.warnings.count();
                let columns = vec![number_column("@@session.warning_count")].into();
                return self.show_values(&columns, &[vec![Datum::Unsigned(count)]], more, answer).map(|()| true);
            }
            ShowWhat::CountErrors => {
                let count = self.context.warnings.kept().iter().filter(|kept| kept.level == Level::Error).count();
                let columns = vec![number_column("@@session.error_count")].into();
                let row = vec![Datum::Unsigned(count as u64)];
                return self.show_values(&columns, &[row], more, answer).map(|()| true);
            }
            what => return self.absent_shown(what).map(|()| false),
        };
        let columns = vec![VirtualColumn::text("Variable_name", 64), VirtualColumn::text("Value", 1024)];
        let rows = rows.into_iter().map(|row| row.map(Cell::Text).to_vec()).collect();
        let rows = self.rows_where(Rows::new(columns, rows), show, text)?;
        self.show_rows(&rows, more, answer).map(|()| true)
    }

    fn show_values(
        &mut self,
        columns: &OutputColumns,
        rows: &[Vec<Datum<'_>>],
        more: bool,
        answer: &mut dyn Answer,
    ) -> Result<()> {
        self.facts.row_count = -1;
        self.facts.found_rows = rows.len() as u64;
        let status = Status { more_results: more, ..self.status() };
        answer.columns(columns, status)?;
        rows.iter().try_for_each(|row| answer.row(columns, row))?;
        answer.end(status)
    }

    /// Which conditions a LIMIT wants: so many behind the first so many.
    fn shown_conditions(&mut self, limit: Option<&Limit<'_>>, text: &[u8]) -> Result<(usize, usize)> {
        let Some(limit) = limit else { return Ok((0, usize::MAX)) };
        let mut numbers = [0; 2];
        let expressions = [Some(limit.count), limit.offset];
        let given: Vec<_> = expressions.into_iter().flatten().collect();
        self.evaluate_each(&given, text, Parameters::default(), &mut |at, value| {
            numbers[at] = number_of(value) as usize;
            Ok(())
        })?;
        let [count, offset] = numbers;
        Ok((offset, count))
    }

    /// The conditions of the statement before, from this level on.
    fn show_conditions(
        &mut self,
        least: Level,
        (offset, count): (usize, usize),
        more: bool,
        answer: &mut dyn Answer,
    ) -> Result<()> {
        let code = OutputColumn { data_type: DataType::integer(IntegerSize::Int, true), ..number_column("Code") };
        let columns = vec![text_column("Level", 7), code, text_column("Message", 512)].into();
        let kept = self.context.warnings.kept().to_vec();
        // FOUND_ROWS() is still that of the statement which is warned of.
        let found_rows = self.facts.found_rows;
        let rows: Vec<Vec<Datum<'_>>> = kept
            .iter()
            .filter(|warning| warning.level >= least)
            .skip(offset)
            .take(count)
            .map(|warning| {
                let code = Datum::Unsigned(warning.condition.number.into());
                vec![Datum::text(warning.level.name()), code, Datum::text(&warning.condition.message)]
            })
            .collect();
        let shown = self.show_values(&columns, &rows, more, answer);
        self.facts.found_rows = found_rows;
        shown
    }
}
