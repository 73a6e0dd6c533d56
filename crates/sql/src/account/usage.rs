//! What accounts use in an hour: MAX_QUERIES_PER_HOUR, MAX_UPDATES_PER_HOUR, MAX_CONNECTIONS_PER_HOUR.
//!
//! ```text
//! a session of an account with a limit --Usage--> counts of all sessions of the account, and when their hour began
//! a session of another                            nothing: it costs one test
//! ```
//!
//! # Invariants
//! 1. Counts are in memory only: a restart, FLUSH USER_RESOURCES, FLUSH PRIVILEGES, and an ALTER USER that changes a limit
//!    begin anew. An hour begins with the first use after the last one ended, as in MySQL.
//!
//! # Source
//! The manual's "Setting Account Resource Limits".

use std::collections::HashMap;
use std::sync::Arc;

use meseta_errors::ER_USER_LIMIT_REACHED;
use parking_lot::Mutex;

use super::accounts::{Account, AccountId};
use crate::error::{Error, Result};

const HOUR: u64 = 3600;

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// A statement.
    Query,
    /// A statement that changes data, tables or accounts.
    Update,
    /// A connection.
    Connection,
}

impl Use {
    /// As error 1226 names it.
    fn name(self) -> &'static str {
        match self {
            Use::Query => "max_questions",
            Use::Update => "max_updates",
            Use::Connection => "max_connections_per_hour",
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    /// Seconds since 1970.
    since: u64,
    counts: [u32; 3],
}

/// What the sessions of an account use together.
#[derive(Debug)]
pub struct Usage {
    /// In the order of [`Use`]; 0 is no limit.
    limits: [u32; 3],
    counts: Mutex<Counts>,
}

impl Usage {
    /// Counts a use, at `now` (seconds since 1970). Error 1226 if it is one too many.
    pub fn count(&self, what: Use, user: &str, now: u64) -> Result<()> {
        let limit = self.limits[what as usize];
        if limit == 0 {
            return Ok(());
        }
        let mut counts = self.counts.lock();
        if now.saturating_sub(counts.since) >= HOUR {
            *counts = Counts { since: now, counts: [0; 3] };
        }
        let count = &mut counts.counts[what as usize];
        if *count >= limit {
            return Err(Error::new(ER_USER_LIMIT_REACHED, &[&user, &what.name(), &limit]));
        }
        *count += 1;
        Ok(())
    }

    fn forget(&self) {
        *self.counts.lock() = Counts::default();
    }
}

/// What all accounts use that have a limit.
#[derive(Default)]
pub(super) struct Usages(Mutex<HashMap<AccountId, Arc<Usage>>>);

impl Usages {
    /// What an account uses; `None` if it has no limit.
    pub(super) fn of(&self, account: &Account) -> Option<Arc<Usage>> {
        let limits = [account.limits[0], account.limits[1], account.limits[2]];
        if limits == [0; 3] {
            return None;
        }
        let mut all = self.0.lock();
        let usage = all.get(&account.id).filter(|usage| usage.limits == limits).cloned();
        let usage = usage.unwrap_or_else(|| Arc::new(Usage { limits, counts: Mutex::default() }));
        all.insert(account.id.clone(), Arc::clone(&usage));
        Some(usage)
    }

    /// All begin anew.
    pub(super) fn forget_all(&self) {
        self.0.lock().values().for_each(|usage| usage.forget());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_hour_has_so_many_uses_and_then_begins_anew() {
        let account = Account { limits: [2, 1, 0, 0], ..Account::user(AccountId::new("u", "h")) };
        let usages = Usages::default();
        let usage = usages.of(&account).unwrap();
        let count = |what, now| usage.count(what, "u", now).map_err(|error| (error.code.0, error.message));
        assert_eq!((count(Use::Query, 1_001_000), count(Use::Query, 1_004_599)), (Ok(()), Ok(())));
        let told = "User 'u' has exceeded the 'max_questions' resource (current value: 2)".to_owned();
        assert_eq!(count(Use::Query, 1_004_599), Err((1226, told)));
        assert_eq!(count(Use::Query, 1_004_600), Ok(()));
        assert_eq!((count(Use::Update, 1_004_600).is_ok(), count(Use::Update, 1_004_600).is_ok()), (true, false));
        assert!((0..9).all(|_| count(Use::Connection, 1_004_600).is_ok()));
        usages.forget_all();
        assert!(count(Use::Update, 1_004_600).is_ok());
        // Whoever comes later shares it; another limit begins anew; without one nothing is counted.
        assert!(Arc::ptr_eq(&usage, &usages.of(&account).unwrap()));
        let other = Account { limits: [3, 1, 0, 0], ..account.clone() };
        assert!(usages.of(&other).unwrap().count(Use::Update, "u", 1_004_600).is_ok());
        assert!(usages.of(&Account { limits: [0, 0, 0, 9], ..account }).is_none());
    }
}
