//! Which option is meant: `_` and `-` alike, `skip-`, `loose-`, beginnings that fit one option only; and for a misspelt
//! one, the nearest name.

use super::OptionError;
use super::known::{self, Known};
use super::unused::{self, Family};

/// What an option is.
#[derive(Clone, Copy)]
pub enum Meaning {
    /// Used here, or handed on.
    Known(&'static Known),
    /// Accepted and not needed, or refused.
    Unused(&'static Family),
}

/// An option that was found.
#[derive(Clone)]
pub struct Found {
    /// Its whole name, with `_`.
    pub name: &'static str,
    /// What it is.
    pub meaning: Meaning,
    /// It was said with `skip-` or `disable-`: off.
    pub off: bool,
}

/// Finds the option of that name, without the dashes before it. Nothing: there is none, and `loose-` said that this
/// does not matter.
///
/// # Errors
/// No option, or more than one, is meant.
pub fn find(written: &str) -> Result<Option<Found>, OptionError> {
    let name: String = written.to_ascii_lowercase().replace('-', "_");
    let (name, loose) = match name.strip_prefix("loose_") {
        Some(rest) => (rest.to_owned(), true),
        None => (name, false),
    };
    if let Some(found) = exact(&name) {
        return Ok(Some(found));
    }
    let candidates: Vec<&'static str> = all().filter(|known| known.starts_with(name.as_str())).collect();
    match candidates[..] {
        [only] => return Ok(exact(only)),
        [] => {}
        _ if loose => return Ok(None),
        _ => {
            let some: Vec<_> = candidates.iter().take(6).copied().collect();
            return Err(OptionError(format!("--{written} may be any of {}", some.join(", "))));
        }
    }
    if loose {
        return Ok(None);
    }
    let nearest = all().min_by_key(|known| distance(&name, known));
    let hint = nearest.map_or(String::new(), |nearest| format!("; the nearest is --{}", nearest.replace('_', "-")));
    Err(OptionError(format!("unknown option --{written}{hint}")))
}

/// The option of exactly that name, or of that name with a prefix that switches it.
fn exact(name: &str) -> Option<Found> {
    let direct = |name: &str, off: bool| {
        if let Some(known) = known::KNOWN.iter().find(|known| known.name == name) {
            return Some(Found { name: known.name, meaning: Meaning::Known(known), off });
        }
        unused::find(name).map(|(name, family)| Found { name, meaning: Meaning::Unused(family), off })
    };
    direct(name, false).or_else(|| {
        let (bare, off) = [("skip_", true), ("disable_", true), ("enable_", false)]
            .into_iter()
            .find_map(|(prefix, off)| Some((name.strip_prefix(prefix)?, off)))?;
        direct(bare, off)
    })
}

/// All names.
fn all() -> impl Iterator<Item = &'static str> {
    known::KNOWN.iter().map(|known| known.name).chain(unused::names())
}

/// How many characters must be put in, taken out or changed to make one of the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let changed = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_every_spelling() {
        for (written, name, off) in [
            ("max-connections", "max_connections", false),
            ("max_connections", "max_connections", false),
            ("MAX-Connect_ions", "", false),
            ("skip-networking", "skip_networking", false),
            ("skip-ssl", "ssl", true),
            ("disable-ssl", "ssl", true),
            ("loose-port", "port", false),
            ("innodb-flush-log-at-trx", "innodb_flush_log_at_trx_commit", false),
            ("skip-name-resolve", "skip_name_resolve", false),
        ] {
            let found = find(written).ok().flatten();
            assert_eq!(found.as_ref().map_or("", |found| found.name), name, "{written}");
            assert_eq!(found.is_some_and(|found| found.off), off, "{written}");
        }
        assert!(find("loose-nothing-like-it").unwrap().is_none());
    }

    #[test]
    fn a_misspelt_name_gets_the_nearest() {
        let error = |written| find(written).err().map(|error| error.0).unwrap_or_default();
        assert!(error("max-conections").contains("max-connections"), "{}", error("max-conections"));
        assert!(error("inodb_buffer_pool_size").contains("--innodb-buffer-pool-size"));
        assert!(error("innodb_buffer_pool").contains("may be any of"));
    }

    #[test]
    fn no_name_is_there_twice() {
        let mut names: Vec<_> = all().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(count > 900, "{count}");
        assert!(
            names.iter().all(|name| name.bytes().all(|c| c.is_ascii_lowercase() || c == b'_' || c.is_ascii_digit()))
        );
    }

    #[test]
    fn distances() {
        assert_eq!((distance("abc", "abc"), distance("abc", "axc"), distance("", "abc")), (0, 1, 3));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
