//! Failed logins: FAILED_LOGIN_ATTEMPTS and PASSWORD_LOCK_TIME.
//!
//! ```text
//! a wrong password:  count + 1; when it reaches FAILED_LOGIN_ATTEMPTS the account is blocked for PASSWORD_LOCK_TIME
//! a right one:       blocked still? refused, and the time goes on; else the count begins anew
//! ```
//!
//! # Invariants
//! 1. Counts are in memory only: a restart, FLUSH PRIVILEGES, and an ALTER USER that names one of the two options or
//!    ACCOUNT UNLOCK begin anew, as in MySQL.
//! 2. Only accounts for which both are set are counted: what strangers try takes no memory.

use std::collections::HashMap;

use meseta_errors::{ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK, ErrorCode};
use parking_lot::Mutex;

use super::accounts::{Account, AccountId};
use crate::error::Error;

const DAY: u64 = 86_400;

/// What is counted of an account.
#[derive(Clone, Copy, Default)]
struct Failures {
    count: u16,
    /// Seconds since 1970 at which it was blocked.
    blocked_at: Option<u64>,
}

/// Failed logins of all accounts.
#[derive(Default)]
pub struct FailedLogins(Mutex<HashMap<AccountId, Failures>>);

impl FailedLogins {
    /// A login was tried, at `now` (seconds since 1970), and its password was right or wrong. Error 3955 if the account
    /// is blocked, or is so from now on; `user` and `host` are as the error names who tried.
    pub fn tried(&self, account: &Account, is_right: bool, user: &str, host: &str, now: u64) -> Result<(), Error> {
        if account.failed_attempts == 0 || account.lock_days == 0 {
            return Ok(());
        }
        let mut all = self.0.lock();
        let failures = all.entry(account.id.clone()).or_default();
        // Days that remain; unbounded is none.
        let remaining = |since: u64| {
            let days = u64::try_from(account.lock_days).ok()?;
            Some((since + days * DAY).saturating_sub(now).div_ceil(DAY))
        };
        if failures.blocked_at.is_some_and(|since| remaining(since) == Some(0)) {
            *failures = Failures::default();
        }
        match (failures.blocked_at, is_right) {
            (Some(_), _) => {}
            (None, true) => {
                all.remove(&account.id);
                return Ok(());
            }
            (None, false) => {
                failures.count += 1;
                if failures.count < account.failed_attempts {
                    return Ok(());
                }
                failures.blocked_at = Some(now);
            }
        }
        let shown = |days: Option<u64>| days.map_or("unlimited".to_owned(), |days| days.to_string());
        let (of, left) = (shown(u64::try_from(account.lock_days).ok()), shown(failures.blocked_at.and_then(remaining)));
        const CODE: ErrorCode = ER_USER_ACCESS_DENIED_FOR_USER_ACCOUNT_BLOCKED_BY_PASSWORD_LOCK;
        Err(Error::new(CODE, &[&user, &host, &of, &left, &account.failed_attempts]))
    }

    /// Begins anew for an account.
    pub fn forget(&self, account: &AccountId) {
        self.0.lock().remove(account);
    }

    /// Begins anew for all.
    pub fn forget_all(&self) {
        self.0.lock().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_blocked_for_its_days() {
        let logins = FailedLogins::default();
        let mut account = Account::user(AccountId::new("u", "%"));
        let tried = |account: &Account, is_right: bool, now: u64| {
            logins.tried(account, is_right, "u", "localhost", now).map_err(|error| error.message)
        };
        assert_eq!(tried(&account, false, 0), Ok(()));
        (account.failed_attempts, account.lock_days) = (2, 3);
        assert_eq!(tried(&account, false, 10), Ok(()));
        assert_eq!(tried(&account, true, 10), Ok(()));
        assert_eq!(tried(&account, false, 10), Ok(()));
        let blocked = |left: &str| {
            Err(format!(
                "Access denied for user 'u'@'localhost'. Account is blocked for 3 day(s) ({left} day(s) remaining) due to 2 \
                 consecutive failed logins."
            ))
        };
        assert_eq!(tried(&account, false, 20), blocked("3"));
        assert_eq!(tried(&account, true, 20 + DAY), blocked("2"));
        assert_eq!(tried(&account, true, 20 + 3 * DAY), Ok(()));
        account.lock_days = -1;
        assert_eq!(tried(&account, false, 30), Ok(()));
        assert!(
            tried(&account, false, 30)
                .unwrap_err()
                .contains("blocked for unlimited day(s) (unlimited day(s) remaining)")
        );
        assert!(tried(&account, true, 1 << 40).is_err());
        logins.forget(&account.id);
        assert_eq!(logins.tried(&account, true, "u", "localhost", 30).map_err(|error| error.message), Ok(()));
    }
}
