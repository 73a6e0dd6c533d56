//! Where accounts are kept: in memory as one immutable whole, and as one row each in a table of the engine.
//!
//! ```text
//! change: lock -> copy -> the statement changes the copy -> rows of the accounts that differ, one transaction -> publish
//! ```
//! The table is `#accounts.accounts (number, record)`: a name that no statement can write by accident, and that is not
//! in the way of the database `mysql`, whose tables `user`, `db`, ... are to be presented from [`Accounts`].
//!
//! # Invariants
//! 1. What is published is stored.
//! 2. Changes come one after the other. Readers take an `Arc`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use meseta_engine::lock::{Mode, TableMode};
use meseta_engine::row::{Column, ColumnType, IntegerWidth, KeyRange, Value};
use meseta_engine::rows::{RowChange, RowCursor};
use meseta_engine::table::{ColumnDefinition, TableDefinition};
use meseta_engine::{Direction, Engine, EngineError, Session};
use meseta_errors::ErrorCode;
use parking_lot::{Mutex, RwLock};

use super::accounts::{Account, AccountId, Accounts};
use super::attempts::FailedLogins;
use super::grants::Grants;
use super::record;
use super::usage::{Usage, Usages};
use crate::error::{Error, Result};

/// The engine's database, and the table in it. No session sees it.
pub(super) const DATABASE: &str = "#accounts";
const TABLE: &str = "accounts";
/// Bytes of a row, at most.
const RECORD_MAX: u32 = 16 << 20;

/// All accounts of a server.
pub struct AccountStore {
    now: RwLock<Arc<Accounts>>,
    version: AtomicU64,
    /// skip_grant_tables: whoever comes may do everything.
    skips_checks: AtomicBool,
    disk: Mutex<Option<Disk>>,
    logins: FailedLogins,
    usages: Usages,
    grants: Mutex<SharedGrants>,
}

/// What sessions of one account, with the same roles and from the same host, may: made once for all of them.
#[derive(Default)]
struct SharedGrants {
    /// The version of the accounts that they were made of.
    version: u64,
    all: HashMap<(AccountId, BTreeSet<AccountId>, String), Arc<Grants>>,
}

/// So many are kept at most: whoever has clients on more hosts gains less.
const SHARED_GRANTS: usize = 1024;

/// The rows of the accounts.
struct Disk {
    engine: Arc<Engine>,
    /// Which row is whose.
    numbers: BTreeMap<AccountId, u32>,
}

impl AccountStore {
    /// In memory only, with these accounts.
    pub fn in_memory(accounts: impl IntoIterator<Item = Account>) -> Self {
        let mut all = Accounts::default();
        accounts.into_iter().for_each(|account| all.insert(account));
        Self {
            now: RwLock::new(Arc::new(all)),
            version: AtomicU64::new(0),
            skips_checks: AtomicBool::new(false),
            disk: Mutex::new(None),
            logins: FailedLogins::default(),
            usages: Usages::default(),
            grants: Mutex::default(),
        }
    }

    /// Those that the engine has; on a first start root@localhost without a password. Errors: the engine's; 1030 of a row
    /// that is damaged.
    pub fn open(engine: Arc<Engine>) -> Result<Self> {
        let mut session = engine.session().map_err(failure)?;
        if !session.schema().databases.contains_key(DATABASE) {
            session.create_database(DATABASE, &[]).map_err(failure)?;
        }
        if session.schema().table_named(DATABASE, TABLE).is_err() {
            let columns = vec![
                ColumnDefinition::new("number", Column::new(ColumnType::Unsigned(IntegerWidth::Four))),
                ColumnDefinition::new("record", Column::new(ColumnType::Variable { max_len: RECORD_MAX })),
            ];
            let definition = TableDefinition::new(DATABASE, TABLE, columns).with_primary_key(&[0]);
            session.create_table(definition).map_err(failure)?;
        }
        let (accounts, numbers) = load(&mut session)?;
        let first = accounts.all.is_empty();
        drop(session);
        let store = Self {
            now: RwLock::new(Arc::new(accounts)),
            version: AtomicU64::new(0),
            skips_checks: AtomicBool::new(false),
            disk: Mutex::new(Some(Disk { engine, numbers })),
            logins: FailedLogins::default(),
            usages: Usages::default(),
            grants: Mutex::default(),
        };
        if first {
            store.change(|accounts| {
                accounts.insert(Account::root());
                Ok(())
            })?;
        }
        Ok(store)
    }

    /// The accounts of now.
    pub fn accounts(&self) -> Arc<Accounts> {
        Arc::clone(&self.now.read())
    }

    /// What an account may, with these roles, from a host.
    pub(super) fn grants_of(
        &self,
        accounts: &Accounts,
        version: u64,
        account: &Account,
        roles: &BTreeSet<AccountId>,
        host: &str,
    ) -> Arc<Grants> {
        let mut shared = self.grants.lock();
        if shared.version != version || shared.all.len() >= SHARED_GRANTS {
            *shared = SharedGrants { version, all: HashMap::new() };
        }
        let key = (account.id.clone(), roles.clone(), host.to_owned());
        let made = || Arc::new(Grants::new(accounts, account, roles, host));
        Arc::clone(shared.all.entry(key).or_insert_with(made))
    }

    /// skip_grant_tables: from now on whoever comes may do everything, and accounts cannot be changed.
    pub fn skip_checks(&self) {
        self.skips_checks.store(true, Ordering::Release);
    }

    /// FLUSH PRIVILEGES: sessions that begin from now on are of accounts again; failed logins and what is used in this hour
    /// are counted anew.
    pub fn flush_privileges(&self) {
        self.skips_checks.store(false, Ordering::Release);
        self.logins.forget_all();
        self.forget_usage();
    }

    /// Whether accounts are not looked at.
    pub fn skips_checks(&self) -> bool {
        self.skips_checks.load(Ordering::Acquire)
    }

    /// Failed logins.
    pub fn logins(&self) -> &FailedLogins {
        &self.logins
    }

    /// What an account's sessions use in an hour; `None` if it has no limit.
    pub fn usage(&self, account: &Account) -> Option<Arc<Usage>> {
        self.usages.of(account)
    }

    /// FLUSH USER_RESOURCES: what is used in this hour is counted anew.
    pub fn forget_usage(&self) {
        self.usages.forget_all();
    }

    /// Counts changes.
    #[inline]
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Changes accounts: all that `change` does, or, if it or the storing fails, nothing.
    pub fn change(&self, change: impl FnOnce(&mut Accounts) -> Result<()>) -> Result<()> {
        let mut disk = self.disk.lock();
        let before = self.accounts();
        let mut after = Accounts::clone(&before);
        change(&mut after)?;
        if let Some(disk) = &mut *disk {
            disk.store(&before, &after)?;
        }
        *self.now.write() = Arc::new(after);
        self.version.fetch_add(1, Ordering::Release);
        Ok(())
    }
}

/// 1030: the engine failed.
fn failure(error: impl Into<EngineError>) -> Error {
    let error = error.into();
    Error { code: ErrorCode(1030), message: format!("Got error from storage engine: {error}") }
}

fn damaged(number: u32) -> Error {
    Error { code: ErrorCode(1030), message: format!("Row {number} of the accounts is damaged") }
}

fn load(session: &mut Session) -> Result<(Accounts, BTreeMap<AccountId, u32>)> {
    let table = Arc::clone(session.schema().table_named(DATABASE, TABLE).map_err(failure)?);
    let (mut accounts, mut numbers) = (Accounts::default(), BTreeMap::new());
    let columns = [0, 1].into_iter();
    let mut cursor = RowCursor::consistent(&table, 0, KeyRange::ALL, Direction::Ascending, columns);
    while cursor.next(session).map_err(failure)? {
        let (mut buffers, mut values) = (Default::default(), Vec::new());
        cursor.read(&mut buffers, &mut values).map_err(failure)?;
        let &[Value::Unsigned(number), Value::Bytes(bytes)] = &*values else { return Err(damaged(0)) };
        let number = number as u32;
        let account = record::read(bytes).ok_or_else(|| damaged(number))?;
        numbers.insert(account.id.clone(), number);
        accounts.insert(account);
    }
    session.commit().map_err(failure)?;
    Ok((accounts, numbers))
}

impl Disk {
    /// Stores what differs, in one transaction.
    fn store(&mut self, before: &Accounts, after: &Accounts) -> Result<()> {
        let mut session = self.engine.session().map_err(failure)?;
        let id = session.schema().table_named(DATABASE, TABLE).map_err(failure)?.id();
        let mut numbers = self.numbers.clone();
        let mut changes: Vec<(u32, Option<Vec<u8>>)> = Vec::new();
        for gone in before.all.keys().filter(|id| !after.all.contains_key(id)) {
            if let Some(number) = numbers.remove(gone) {
                changes.push((number, None));
            }
        }
        let mut next = self.numbers.values().max().map_or(1, |last| last + 1);
        for (id, account) in &after.all {
            if before.all.get(id).is_some_and(|old| Arc::ptr_eq(old, account) || old == account) {
                continue;
            }
            let number = *numbers.entry(id.clone()).or_insert_with(|| {
                next += 1;
                next - 1
            });
            let record = record::write(account);
            if record.len() > RECORD_MAX as usize {
                return Err(Error::not_yet("an account with so many privileges"));
            }
            changes.push((number, Some(record)));
        }
        let table = session.use_table(id, TableMode::Write).map_err(failure)?.ok_or_else(|| damaged(0))?;
        for (number, record) in &changes {
            loop {
                let found = session.find_row(&table, &number.to_be_bytes(), Mode::Exclusive).map_err(failure)?;
                let values = |record| [Value::Unsigned((*number).into()), Value::Bytes(record)];
                let change = match (found, record) {
                    (None, None) => break,
                    (None, Some(record)) => session.insert_row(&table, &values(record), Mode::Shared),
                    (Some(row), Some(record)) => session.update_row(&table, &row, &values(record), Mode::Shared),
                    (Some(row), None) => session.delete_row(&table, &row),
                };
                if change.map_err(failure)? == RowChange::Done {
                    break;
                }
            }
        }
        session.commit().map_err(failure)?;
        self.numbers = numbers;
        Ok(())
    }
}
