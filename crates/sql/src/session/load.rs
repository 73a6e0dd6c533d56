//! LOAD DATA: where its file comes from, and what the client is told.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use meseta_errors::{
    ER_CLIENT_LOCAL_FILES_DISABLED, ER_LOAD_INFO, ER_OPTION_PREVENTS_STATEMENT, ER_TEXTFILE_NOT_READABLE, ErrorCode,
};
use meseta_parser::ast;

use super::plan::Parameters;
use super::{Answer, Done, Session};
use crate::error::{Error, Result};
use crate::name::text_of;
use crate::query::Binder;
use crate::statement::manipulation::{LoadPlan, PieceSource};
use crate::variable::Variable;

/// A file of the server's host, in pieces.
struct ServerFile {
    file: File,
    piece: Vec<u8>,
}

/// Bytes of a piece.
const PIECE: usize = 64 << 10;

impl PieceSource for ServerFile {
    fn next_piece(&mut self) -> Result<Option<&[u8]>> {
        self.piece.resize(PIECE, 0);
        let count = self.file.read(&mut self.piece).map_err(|error| {
            let message = format!("Error reading file (OS errno {})", error.raw_os_error().unwrap_or(0));
            Error { code: meseta_errors::ER_UNKNOWN_ERROR, message }
        })?;
        Ok((count > 0).then_some(&self.piece[..count]))
    }
}

impl Session {
    /// Whether files of the server's host may be read and written at this path. Error 1290: `secure_file_priv` forbids it.
    pub(super) fn check_file(&self, path: &str) -> Result<()> {
        let refused = || Error::new(ER_OPTION_PREVENTS_STATEMENT, &[&"--secure-file-priv"]);
        let value = Variable::find("secure_file_priv").map(|variable| self.instance.globals.get(variable));
        let Some(value) = value.filter(|value| !value.as_datum().is_null()) else { return Err(refused()) };
        let folder = value.as_text();
        if folder.is_empty() {
            return Ok(());
        }
        // Names are compared as they are once links and dots are followed; of a file that is not there, its folder's.
        let path = Path::new(path);
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let place = std::fs::canonicalize(path).or_else(|_| std::fs::canonicalize(parent));
        match (std::fs::canonicalize(folder), place) {
            (Ok(folder), Ok(place)) if place.starts_with(&folder) => Ok(()),
            _ => Err(refused()),
        }
    }

    /// Executes LOAD DATA.
    pub(super) fn load(
        &mut self,
        load: &ast::Load<'_>,
        text: &[u8],
        parameters: Parameters<'_>,
        answer: &mut dyn Answer,
    ) -> Result<Done> {
        let is_allowed =
            Variable::find("local_infile").is_some_and(|variable| self.instance.globals.get(variable).as_u64() != 0);
        if load.local && !is_allowed {
            return Err(Error::new(ER_CLIENT_LOCAL_FILES_DISABLED, &[]));
        }
        let path = text_of(load.path.0);
        let character_set = self.facts.variables.settings().collation_database.charset();
        let facts = self.bind_facts(text, parameters);
        let mut tables = self.tables();
        let mut binder = Binder::new(facts, &mut tables);
        let plan = LoadPlan::new(load, character_set, &mut binder)?;
        let subqueries = std::mem::take(&mut binder.subqueries);
        drop(binder);
        if !load.local {
            self.check_file(&path)?;
        }
        let savepoint = self.engine.savepoint();
        let changes = if load.local {
            let mut source = answer.local_file(load.path.0)?;
            let mut running = self.running(parameters.values, &subqueries);
            plan.run(&mut *source, &mut running)
        } else {
            let file = open(&path)?;
            let mut running = self.running(parameters.values, &subqueries);
            plan.run(&mut ServerFile { file, piece: Vec::new() }, &mut running)
        };
        if let Err(error) = &changes
            && !error.ends_transaction()
        {
            self.engine.roll_back_to(savepoint).map_err(Error::from_engine)?;
        }
        let changes = self.end_statement(changes)?;
        if changes.insert_id != 0 {
            self.facts.variables.state.last_insert_id = changes.insert_id;
        }
        let arguments: [&dyn std::fmt::Display; 4] = [
            &changes.found,
            &changes.removed,
            &(changes.found - (changes.affected - changes.removed)),
            &self.context.warnings.count(),
        ];
        let info = arguments.iter().fold(ER_LOAD_INFO.info().format.to_owned(), |text, argument| {
            let at = text.find("%ld").map(|at| (at, 3)).or_else(|| text.find('%').map(|at| (at, 2)));
            match at {
                Some((at, length)) => format!("{}{argument}{}", &text[..at], &text[at + length..]),
                None => text,
            }
        });
        Ok(Done { affected: changes.affected, insert_id: 0, info })
    }
}

/// Opens a file to be read. Errors: 13 if it is not there, 1085 if it is no file, 29.
fn open(path: &str) -> Result<File> {
    let failed = |error: &std::io::Error, code: u16, before: &str, after: &str| {
        let number = error.raw_os_error().unwrap_or(0);
        let text = error.to_string();
        let reason = text.split(" (os error").next().unwrap_or_default();
        let message = format!("{before} '{path}'{after} (OS errno {number} - {reason})");
        Error { code: ErrorCode(code), message }
    };
    let facts = std::fs::metadata(path).map_err(|error| failed(&error, 13, "Can't get stat of", ""))?;
    if !facts.is_file() && !facts.file_type().is_fifo() {
        return Err(Error::new(ER_TEXTFILE_NOT_READABLE, &[&path.trim_end_matches('/')]));
    }
    File::open(path).map_err(|error| failed(&error, 29, "File", " not found"))
}
