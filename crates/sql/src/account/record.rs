//! An account as bytes, for its row.
//!
//! ```text
//! version 1, then the fields of Account in order: numbers as 8 bytes little-endian, texts with their length in front,
//! collections with their count in front
//! ```
//!
//! # When things fail
//! Bytes that are no account read as `None`: the row is damaged, and the store says so.

use super::accounts::{Account, AccountId, Expiry, RequireCurrent, RoutineKind, TableGrants, TlsRequirement};
use super::privilege::Privileges;

const VERSION: u64 = 1;

/// The account's row.
pub(super) fn write(account: &Account) -> Vec<u8> {
    let mut out = Writer(Vec::with_capacity(256));
    out.number(VERSION);
    out.id(&account.id);
    out.text(&account.plugin);
    out.bytes(&account.stored);
    out.bytes(&account.stored_before);
    out.list(account.history_stored.iter(), |out, stored| out.bytes(stored));
    out.number(u64::from(account.locked) | u64::from(account.expired) << 1);
    out.number(match account.expiry {
        Expiry::Default => 0,
        Expiry::Never => 1,
        Expiry::Days(days) => 2 + u64::from(days),
    });
    out.number(account.changed_at);
    for optional in [account.history, account.reuse_days] {
        out.number(optional.map_or(0, |number| 1 + u64::from(number)));
    }
    out.number(account.require_current as u64);
    account.limits.iter().for_each(|limit| out.number((*limit).into()));
    match &account.tls {
        TlsRequirement::None => out.number(0),
        TlsRequirement::Ssl => out.number(1),
        TlsRequirement::X509 => out.number(2),
        TlsRequirement::Certificate { subject, issuer, cipher } => {
            out.number(3);
            [subject, issuer, cipher].into_iter().for_each(|text| out.text(text));
        }
    }
    out.number(account.failed_attempts.into());
    out.number(i64::from(account.lock_days) as u64);
    out.list(account.attributes.iter(), |out, (name, value)| {
        out.text(name);
        out.text(value);
    });
    out.privileges(account.global);
    out.list(account.dynamic.iter(), |out, (name, option)| {
        out.text(name);
        out.number((*option).into());
    });
    out.list(account.databases.iter(), |out, (name, of)| {
        out.text(name);
        out.privileges(*of);
    });
    out.list(account.tables.iter(), |out, ((database, table), grants)| {
        out.text(database);
        out.text(table);
        out.privileges(grants.table);
        out.list(grants.columns.iter(), |out, (column, of)| {
            out.text(column);
            out.privileges(*of);
        });
    });
    out.list(account.routines.iter(), |out, ((kind, database, name), of)| {
        out.number(*kind as u64);
        out.text(database);
        out.text(name);
        out.privileges(*of);
    });
    for named in [&account.proxies, &account.roles] {
        out.list(named.iter(), |out, (id, option)| {
            out.id(id);
            out.number((*option).into());
        });
    }
    out.list(account.default_roles.iter(), |out, id| out.id(id));
    out.0
}

/// The account of a row.
pub(super) fn read(bytes: &[u8]) -> Option<Account> {
    let mut from = Reader(bytes);
    if from.number()? != VERSION {
        return None;
    }
    let mut account = Account { id: from.id()?, plugin: from.text()?, ..Account::default() };
    account.stored = from.bytes()?;
    account.stored_before = from.bytes()?;
    account.history_stored = from.list(Reader::bytes)?;
    let flags = from.number()?;
    (account.locked, account.expired) = (flags & 1 != 0, flags & 2 != 0);
    account.expiry = match from.number()? {
        0 => Expiry::Default,
        1 => Expiry::Never,
        days => Expiry::Days(u16::try_from(days - 2).ok()?),
    };
    account.changed_at = from.number()?;
    let optional = |number: u64| match number {
        0 => Some(None),
        number => u32::try_from(number - 1).ok().map(Some),
    };
    account.history = optional(from.number()?)?;
    account.reuse_days = optional(from.number()?)?;
    account.require_current = match from.number()? {
        0 => RequireCurrent::Default,
        1 => RequireCurrent::Required,
        2 => RequireCurrent::Optional,
        _ => return None,
    };
    for limit in &mut account.limits {
        *limit = u32::try_from(from.number()?).ok()?;
    }
    account.tls = match from.number()? {
        0 => TlsRequirement::None,
        1 => TlsRequirement::Ssl,
        2 => TlsRequirement::X509,
        3 => TlsRequirement::Certificate { subject: from.text()?, issuer: from.text()?, cipher: from.text()? },
        _ => return None,
    };
    account.failed_attempts = u16::try_from(from.number()?).ok()?;
    account.lock_days = i32::try_from(from.number()? as i64).ok()?;
    account.attributes = from.list(|from| Some((from.text()?, from.text()?)))?.into_iter().collect();
    account.global = from.privileges()?;
    account.dynamic = from.list(|from| Some((from.text()?, from.number()? != 0)))?.into_iter().collect();
    account.databases = from.list(|from| Some((from.text()?, from.privileges()?)))?.into_iter().collect();
    let table = |from: &mut Reader<'_>| {
        let name = (from.text()?, from.text()?);
        let table = from.privileges()?;
        let columns = from.list(|from| Some((from.text()?, from.privileges()?)))?.into_iter().collect();
        Some((name, TableGrants { table, columns }))
    };
    account.tables = from.list(table)?.into_iter().collect();
    let routine = |from: &mut Reader<'_>| {
        let kind = match from.number()? {
            0 => RoutineKind::Function,
            1 => RoutineKind::Procedure,
            _ => return None,
        };
        Some(((kind, from.text()?, from.text()?), from.privileges()?))
    };
    account.routines = from.list(routine)?.into_iter().collect();
    let named = |from: &mut Reader<'_>| Some((from.id()?, from.number()? != 0));
    account.proxies = from.list(named)?.into_iter().collect();
    account.roles = from.list(named)?.into_iter().collect();
    account.default_roles = from.list(Reader::id)?.into_iter().collect();
    from.0.is_empty().then_some(account)
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn id(&mut self, id: &AccountId) {
        self.text(&id.user);
        self.text(&id.host);
    }

    fn privileges(&mut self, privileges: Privileges) {
        self.number(privileges.bits().into());
    }

    fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.number(items.len() as u64);
        items.for_each(|item| write(self, item));
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        let len = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes.to_vec())
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?).ok()
    }

    fn id(&mut self) -> Option<AccountId> {
        Some(AccountId { user: self.text()?, host: self.text()? })
    }

    fn privileges(&mut self) -> Option<Privileges> {
        u32::try_from(self.number()?).ok().map(Privileges::of_bits)
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        // Each item takes eight bytes at least.
        if count > self.0.len() as u64 / 8 {
            return None;
        }
        (0..count).map(|_| read(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_account_survives_its_row() {
        let id = AccountId::new("a", "%");
        let mut account = Account::root();
        account.stored = b"$A$\0\xFF".to_vec();
        account.history_stored = vec![b"x".to_vec()];
        account.expiry = Expiry::Days(65_535);
        account.history = Some(0);
        account.lock_days = -1;
        account.tls = TlsRequirement::Certificate { subject: "s".into(), issuer: String::new(), cipher: "c".into() };
        account.attributes.insert("comment".into(), "\"x\"".into());
        account.databases.insert("d%".into(), Privileges::OF_DATABASE);
        let columns = [("c".to_owned(), Privileges::SELECT)].into();
        account.tables.insert(("d".into(), "t".into()), TableGrants { table: Privileges::NONE, columns });
        account.routines.insert((RoutineKind::Procedure, "d".into(), "p".into()), Privileges::EXECUTE);
        account.roles.insert(id.clone(), true);
        account.default_roles.insert(id);
        let row = write(&account);
        assert_eq!(read(&row).as_ref(), Some(&account));
        for end in 0..row.len() {
            assert_eq!(read(&row[..end]), None);
        }
    }

    proptest! {
        #[test]
        fn damaged_rows_are_no_accounts_or_others(at in 0..2000usize, value in any::<u8>()) {
            let mut row = write(&Account::root());
            let at = at % row.len();
            row[at] = value;
            read(&row);
        }
    }
}
