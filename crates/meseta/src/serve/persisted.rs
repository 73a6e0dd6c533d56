//! What SET PERSIST remembered, heeded at the start: after all files and the command line, so that it wins, as with MySQL.
//!
//! A file that is damaged ends the start: a server that comes up with other limits than those that somebody set is worse
//! than one that does not. `--persisted-globals-load=OFF` starts without it; then RESET PERSIST makes a new one.

use meseta_server::options::{OptionError, Parsed, override_with};
use meseta_sql::variable::{Persisted, Variable};

/// Reads the file in the data directory and takes its values as options.
///
/// # Errors
/// A file that is damaged, or a value that an option cannot have: what to do is said as well.
pub fn heed(parsed: &mut Parsed) -> Result<Persisted, OptionError> {
    let directory = parsed.options.datadir.clone();
    let loads = parsed.options.persisted_globals_load;
    let helps = |why: String| OptionError(format!("{why}; --persisted-globals-load=OFF starts without this file"));
    let persisted = match Persisted::read(&directory) {
        Ok(persisted) => persisted,
        Err(why) if loads => return Err(helps(why)),
        Err(why) => {
            parsed.notes.push(format!("{why}; the next SET PERSIST or RESET PERSIST writes another"));
            Persisted::nothing(&directory)
        }
    };
    for (name, value) in persisted.iter().filter(|_| loads) {
        if Variable::find(name).is_none() {
            parsed.notes.push(format!("{name} was set by SET PERSIST, and is no variable here"));
            continue;
        }
        override_with(parsed, name, &value.value)
            .map_err(|OptionError(why)| helps(format!("what SET PERSIST remembered: {why}")))?;
    }
    Ok(persisted)
}
