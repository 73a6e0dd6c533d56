//! Options behind a table's columns: those that mean something here, and those of old dumps.

use meseta_errors::*;
use meseta_parser::ast::{self, TableOption};
use meseta_types::{Charset, Collation};

use super::data_type::{collation_mismatch, number};
use super::{DefinitionContext, name};
use crate::error::{Error, Result};
use crate::schema::TableOptions;

/// Engines that MySQL has: tables of them are tables of this engine.
const ENGINES: [&str; 9] = ["InnoDB", "MyISAM", "MEMORY", "HEAP", "CSV", "ARCHIVE", "BLACKHOLE", "MRG_MYISAM", "MERGE"];

/// What options say besides what a table keeps.
#[derive(Default)]
pub struct Given {
    /// AUTO_INCREMENT.
    pub auto_increment: Option<u64>,
    /// Another engine was named: options that only it has mean nothing.
    is_substituted: bool,
    character_set: Option<Charset>,
    collation: Option<Collation>,
}

impl Given {
    /// The collation that was named, if any.
    pub fn collation(&self) -> Option<Collation> {
        self.collation.or(self.character_set.map(Charset::default_collation))
    }
}

fn tristate(given: ast::Text<'_>) -> Option<bool> {
    (!given.eq_ignore_ascii_case(b"DEFAULT")).then(|| number(given) != 0)
}

impl DefinitionContext<'_> {
    /// A character set and a collation that were named, in either order, have to go together. Errors: 1115, 1273, 1253.
    pub(super) fn collation_option(
        &mut self,
        character_set: Option<ast::Text<'_>>,
        collation: Option<ast::Text<'_>>,
        default: Collation,
        given: (Option<Charset>, Option<Collation>),
    ) -> Result<(Option<Charset>, Option<Collation>)> {
        let (mut known_set, mut known_collation) = given;
        if let Some(set) = character_set {
            let set = match set.eq_ignore_ascii_case(b"DEFAULT") {
                true => default.charset(),
                false => self.character_set(set)?,
            };
            if let Some(collation) = known_collation
                && collation.charset() != set
            {
                return Err(collation_mismatch(collation, set));
            }
            known_set = Some(set);
        }
        if let Some(collation) = collation {
            let collation = match collation.eq_ignore_ascii_case(b"DEFAULT") {
                true => default,
                false => self.collation(collation)?,
            };
            if let Some(set) = known_set
                && collation.charset() != set
            {
                return Err(collation_mismatch(collation, set));
            }
            known_collation = Some(collation);
        }
        Ok((known_set, known_collation))
    }

    /// Sets one option. Errors: 1286, 1115, 1273, 1253, 1031.
    pub(super) fn set_option(
        &mut self,
        option: &TableOption<'_>,
        options: &mut TableOptions,
        given: &mut Given,
        table: &str,
    ) -> Result<()> {
        match option {
            TableOption::Engine(engine) => given.is_substituted = self.engine(&name::text(*engine), table)?,
            TableOption::AutoIncrement(next) => given.auto_increment = Some(number(*next)),
            TableOption::AverageRowLength(length) => options.average_row_length = number(*length),
            TableOption::CharacterSet(set) => {
                let known = (given.character_set, given.collation);
                let default = options.collation;
                (given.character_set, given.collation) = self.collation_option(Some(*set), None, default, known)?;
            }
            TableOption::Collate(collation) => {
                let known = (given.character_set, given.collation);
                let default = options.collation;
                (given.character_set, given.collation) =
                    self.collation_option(None, Some(*collation), default, known)?;
            }
            TableOption::Checksum(value) | TableOption::TableChecksum(value) => options.checksum = number(*value) != 0,
            TableOption::Comment(comment) => {
                options.comment = name::text(*comment);
                if options.comment.chars().count() > 2048 {
                    return Err(Error::new(ER_TOO_LONG_TABLE_COMMENT, &[&table, &2048]));
                }
            }
            TableOption::Compression(kind) => options.compression = name::text(*kind),
            TableOption::Connection(text) => options.connection = name::text(*text),
            TableOption::DelayKeyWrite(value) => options.delay_key_write = number(*value) != 0,
            TableOption::KeyBlockSize(size) => options.key_block_size = number(*size),
            TableOption::MaxRows(rows) => options.max_rows = number(*rows),
            TableOption::MinRows(rows) => options.min_rows = number(*rows),
            TableOption::PackKeys(value) => options.pack_keys = tristate(*value),
            TableOption::RowFormat(format) => {
                let format = name::text(*format).to_uppercase();
                match format.as_str() {
                    "DEFAULT" => options.row_format.clear(),
                    "DYNAMIC" | "COMPACT" | "COMPRESSED" | "REDUNDANT" => options.row_format = format,
                    "FIXED" | "PAGED" if given.is_substituted => options.row_format.clear(),
                    _ => {
                        self.warn_text(ER_ILLEGAL_HA_CREATE_OPTION, "InnoDB: invalid ROW_FORMAT specifier.");
                        return Err(Error::new(ER_ILLEGAL_HA, &[&table]));
                    }
                }
            }
            TableOption::StatsAutoRecalc(value) => options.stats_auto_recalc = tristate(*value),
            TableOption::StatsPersistent(value) => options.stats_persistent = tristate(*value),
            TableOption::StatsSamplePages(pages) => {
                options.stats_sample_pages = if pages.eq_ignore_ascii_case(b"DEFAULT") { 0 } else { number(*pages) };
            }
            TableOption::Encryption(value) if value.eq_ignore_ascii_case(b"Y") => {
                return Err(Error::not_yet("encryption"));
            }
            TableOption::Union(_) => {}
            TableOption::Tablespace(_)
            | TableOption::Storage(_)
            | TableOption::SecondaryEngine(_)
            | TableOption::DataDirectory(_)
            | TableOption::IndexDirectory(_)
            | TableOption::Encryption(_)
            | TableOption::EngineAttribute(_)
            | TableOption::SecondaryEngineAttribute(_)
            | TableOption::InsertMethod(_)
            | TableOption::Password(_)
            | TableOption::AutoextendSize(_)
            | TableOption::StartTransaction
            | TableOption::Other { .. } => {}
        }
        Ok(())
    }

    /// Looks at the engine that was named. Returns whether this one is in its place.
    fn engine(&mut self, engine: &str, table: &str) -> Result<bool> {
        if let Some(known) = ENGINES.iter().find(|known| known.eq_ignore_ascii_case(engine)) {
            let is_other = *known != "InnoDB";
            if is_other {
                self.warn(ER_WARN_USING_OTHER_HANDLER, &[&"InnoDB", &table]);
            }
            return Ok(is_other);
        }
        if self.no_engine_substitution {
            return Err(Error::new(ER_UNKNOWN_STORAGE_ENGINE, &[&engine]));
        }
        self.warn(ER_UNKNOWN_STORAGE_ENGINE, &[&engine]);
        self.warn(ER_WARN_USING_OTHER_HANDLER, &[&"InnoDB", &table]);
        Ok(true)
    }

    fn warn_text(&mut self, code: ErrorCode, message: &str) {
        self.context.warnings.warn(meseta_types::SqlError::new(code.0, message));
    }
}
