//! PREPARE, EXECUTE, DEALLOCATE; EXPLAIN; maintenance of tables.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    pub(super) fn prepare(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let name = self.identifier()?;
        self.expect(K::FROM)?;
        let source = if self.at_kind(T::AtName) {
            PrepareSource::Variable(self.at_name()?)
        } else {
            PrepareSource::Text(self.string()?)
        };
        Ok(Statement::Prepare { name, source })
    }

    pub(super) fn execute(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let name = self.identifier()?;
        let using = if self.accept(K::USING) { self.comma_list(Parser::at_name)? } else { &[] };
        Ok(Statement::Execute { name, using })
    }

    /// `DEALLOCATE PREPARE name`, `DROP PREPARE name`: at PREPARE.
    pub(super) fn deallocate(&mut self) -> Result<Statement<'a>> {
        self.expect(K::PREPARE)?;
        self.identifier().map(Statement::Deallocate)
    }

    /// EXPLAIN, DESCRIBE, DESC.
    pub(super) fn explain(&mut self) -> Result<Statement<'a>> {
        self.advance();
        let mut explain = Explain {
            analyze: self.accept(K::ANALYZE),
            format: None,
            into: None,
            schema: None,
            target: ExplainTarget::Connection(Text(b"")),
        };
        if self.at(K::FORMAT) && self.peek().kind == T::Equal {
            self.advance();
            self.advance();
            explain.format = Some(self.name_or_string()?);
        }
        if self.accept(K::INTO) {
            explain.into = Some(self.at_name()?);
        }
        if self.accept(K::FOR) {
            if self.at_any(&[K::SCHEMA, K::DATABASE]) {
                self.advance();
                explain.schema = Some(self.schema_name()?);
            } else {
                self.expect(K::CONNECTION)?;
                explain.target = ExplainTarget::Connection(self.unsigned()?);
                return Ok(Statement::Explain(self.alloc(explain)));
            }
        }
        let at_statement = self.at_kind(T::LeftParenthesis)
            || self.token.kind == T::Word
                && matches!(
                    self.token.keyword,
                    K::SELECT | K::WITH | K::TABLE | K::VALUES | K::INSERT | K::REPLACE | K::UPDATE | K::DELETE
                );
        let bare = explain.format.is_none() && explain.into.is_none() && explain.schema.is_none() && !explain.analyze;
        explain.target = if at_statement {
            self.enter()?;
            let statement = self.statement()?;
            self.leave();
            ExplainTarget::Statement(self.alloc(statement))
        } else if bare {
            let name = self.table_name()?;
            let columns =
                if self.at_identifier() || self.at_kind(T::String) { Some(self.name_or_string()?) } else { None };
            ExplainTarget::Table { name, columns }
        } else {
            return self.fail();
        };
        Ok(Statement::Explain(self.alloc(explain)))
    }

    /// ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR: at the word.
    pub(super) fn maintenance(&mut self, kind: MaintenanceKind) -> Result<Statement<'a>> {
        self.advance();
        let no_binlog = !matches!(kind, MaintenanceKind::Check | MaintenanceKind::Checksum) && self.no_binlog();
        self.expect_any(&[K::TABLE, K::TABLES])?;
        let tables = self.comma_list(Parser::table_name)?;
        let mut maintenance = Maintenance { kind, no_binlog, tables, options: &[], histogram: None };
        match kind {
            MaintenanceKind::Analyze => maintenance.histogram = self.histogram()?,
            MaintenanceKind::Check | MaintenanceKind::Repair => maintenance.options = self.check_options()?,
            MaintenanceKind::Checksum if self.at_any(&[K::QUICK, K::EXTENDED]) => {
                let option = self.source(self.token.span());
                self.advance();
                maintenance.options = self.arena.alloc_slice_copy(&[option]);
            }
            _ => {}
        }
        Ok(Statement::Maintenance(self.alloc(maintenance)))
    }

    /// Options of CHECK and REPAIR.
    pub(super) fn check_options(&mut self) -> Result<List<'a, Text<'a>>> {
        self.run(|p| {
            let start = p.token.start;
            match p.token.keyword {
                K::QUICK | K::FAST | K::MEDIUM | K::EXTENDED | K::CHANGED | K::USE_FRM => p.advance(),
                K::FOR => {
                    p.advance();
                    p.expect(K::UPGRADE)?;
                }
                _ => return Ok(None),
            }
            Ok(Some(p.source(p.span_from(start))))
        })
    }

    fn histogram(&mut self) -> Result<Option<Histogram<'a>>> {
        let drop = self.at(K::DROP);
        if !drop && !self.at(K::UPDATE) {
            return Ok(None);
        }
        self.advance();
        self.expect_words(&[K::HISTOGRAM, K::ON])?;
        let columns = self.comma_list(Parser::identifier)?;
        let mut histogram = Histogram { drop, columns, buckets: None, data: None, auto_update: None };
        if drop {
            return Ok(Some(histogram));
        }
        if self.accept_words(&[K::USING, K::DATA])? {
            histogram.data = Some(self.string()?);
            return Ok(Some(histogram));
        }
        if self.accept(K::WITH) {
            histogram.buckets = Some(self.integer()?);
            self.expect(K::BUCKETS)?;
        }
        if self.at_any(&[K::AUTO, K::MANUAL]) {
            histogram.auto_update = Some(self.at(K::AUTO));
            self.advance();
            self.expect(K::UPDATE)?;
        }
        Ok(Some(histogram))
    }
}
