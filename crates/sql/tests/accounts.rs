//! Runs what `recorded/accounts.txt` recorded of account statements, and compares; and what no recording has: logging in,
//! checks of privileges, a store that is opened again.
//!
//! `recorded/accounts.known.txt` lists the cases that are answered otherwise here, by their numbers, and why.

mod recorded;

use std::collections::BTreeMap;
use std::sync::Arc;

use meseta_engine::{Engine, EngineOptions};
use meseta_parser::ast::ExpressionKind;
use meseta_parser::ast::{QueryBody, SelectItem, Statement};
use meseta_parser::{Arena, Options, parse};
use meseta_sim::SimDisk;
use meseta_sql::account::*;
use meseta_sql::{Error, Result};
use meseta_storage::{Store, StoreOptions};
use meseta_types::Warnings;
use proptest::prelude::*;
use recorded::{Answer, cases};

/// What a server would implement, without the cost.
struct Hasher;

impl PasswordHasher for Hasher {
    fn knows(&self, plugin: &str) -> bool {
        matches!(plugin, "caching_sha2_password" | "sha256_password")
    }

    fn hash(&self, _plugin: &str, password: &[u8]) -> Vec<u8> {
        if password.is_empty() { Vec::new() } else { [b"$A$005$0123456789", password].concat() }
    }

    fn is_valid(&self, _plugin: &str, stored: &[u8]) -> bool {
        stored.starts_with(b"$A$") && stored.len() == 70
    }

    fn matches(&self, plugin: &str, stored: &[u8], password: &[u8]) -> bool {
        stored == self.hash(plugin, password)
    }

    fn random(&self) -> String {
        "random".into()
    }
}

struct Tables;

impl Objects for Tables {
    fn columns(&self, database: &str, table: &str) -> Option<Vec<String>> {
        let columns: &[&str] = match (database, table) {
            ("d1", "t") => &["a", "b", "c"],
            ("d1", "t2") | ("d2", "t") => &["a"],
            ("mysql", "user") => &["user", "host"],
            _ => return None,
        };
        Some(columns.iter().map(|column| (*column).to_owned()).collect())
    }

    fn has_routine(&self, kind: RoutineKind, database: &str, name: &str) -> bool {
        matches!((kind, database, name), (RoutineKind::Procedure, "d1", "p") | (RoutineKind::Function, "d1", "f"))
    }
}

struct World {
    store: AccountStore,
    sessions: BTreeMap<String, SessionAccount>,
    settings: AccountSettings,
}

impl World {
    fn new(store: AccountStore) -> Self {
        let settings = AccountSettings { print_hex: true, now: 1_000_000, ..AccountSettings::default() };
        Self { store, sessions: BTreeMap::new(), settings }
    }

    fn fresh() -> Self {
        Self::new(AccountStore::in_memory([Account::root()]))
    }

    fn session(&mut self, who: &str) -> &mut SessionAccount {
        let (store, settings) = (&self.store, &self.settings);
        self.sessions.entry(who.to_owned()).or_insert_with(|| {
            let id = AccountId::new(if who.is_empty() { "root" } else { who }, "localhost");
            SessionAccount::new(store, &id, "localhost", false, settings).expect("the account is there")
        })
    }

    fn execute(&mut self, who: &str, statement: &[u8], warnings: &mut Warnings) -> Result<Vec<Vec<String>>> {
        let arena = Arena::new();
        let parsed = parse(&arena, statement, 0, Options::default()).map_err(Error::from)?;
        self.session(who);
        let session = self.sessions.get_mut(who).unwrap();
        if let Statement::Query(query) = parsed.statement
            && let QueryBody::Select(select) = query.body
            && let Some(SelectItem::Expression { expression, .. }) = select.items.first()
            && matches!(expression.kind, ExpressionKind::Call(_))
        {
            return Ok(vec![vec![session.current_role().to_owned()]]);
        }
        let mut context = AccountContext {
            store: &self.store,
            session,
            database: Some("d1"),
            objects: &Tables,
            hasher: &Hasher,
            settings: &self.settings,
            warnings,
        };
        match execute(&parsed.statement, &mut context)? {
            Outcome::Done => Ok(vec![]),
            Outcome::Rows { rows, .. } => Ok(rows),
        }
    }

    fn answer(&mut self, who: &str, statement: &str) -> Answer {
        let mut warnings = Warnings::default();
        let result = self.execute(who, statement.as_bytes(), &mut warnings);
        let shown = warnings.kept().iter();
        let shown = shown.map(|one| format!("{} {} {}", one.level.name(), one.condition.number, one.condition.message));
        let warnings = shown.collect();
        match result {
            Err(error) => Answer { error: Some((error.code.0, error.message)), warnings, rows: vec![] },
            Ok(rows) => {
                let cell = |text: String| format!("T{}", without_salt(&text));
                let rows = rows.into_iter().map(|row| row.into_iter().map(cell).collect()).collect();
                Answer { error: None, warnings, rows }
            }
        }
    }
}

/// As the recorder writes salted passwords.
fn without_salt(text: &str) -> String {
    let Some(at) = text.find("0x24") else { return text.to_owned() };
    let end = text[at + 2..].find(|c: char| !c.is_ascii_hexdigit()).map_or(text.len(), |end| at + 2 + end);
    format!("{}0x#{}", &text[..at], &text[end..])
}

#[test]
fn account_statements_answer_as_recorded() {
    let known: Vec<usize> = include_str!("recorded/accounts.known.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().next()?.parse().ok())
        .collect();
    let cases = cases(include_str!("recorded/accounts.txt"));
    let (mut right, mut wrong) = (0, vec![]);
    for (number, case) in cases.iter().enumerate() {
        let mut world = World::fresh();
        let mut differences = vec![];
        for step in case {
            // The recorder logs in when a user's first statement comes.
            let ours = world.answer(&step.who, &step.statement);
            let mut theirs = step.answer.clone();
            if step.statement == "SHOW PRIVILEGES" {
                theirs.rows.sort();
            }
            let mut sorted = ours.clone();
            if step.statement == "SHOW PRIVILEGES" {
                sorted.rows.sort();
            }
            if sorted != theirs {
                let text = format!("[{}] {}\n   theirs {theirs:?}\n   ours   {ours:?}", step.who, step.statement);
                differences.push(text);
            }
        }
        match differences.is_empty() {
            true => right += 1,
            false => wrong.push((number, differences)),
        }
    }
    if std::env::var_os("MESETA_SHOW_DIFFERENCES").is_some() {
        for (number, differences) in &wrong {
            println!("known: {number} {}", differences[0].lines().next().unwrap_or_default());
            println!("case {number}: {}\n{}", cases[*number][0].statement, differences.join("\n"));
        }
    }
    println!("{right} of {} cases as recorded", cases.len());
    let numbers: Vec<_> = wrong.iter().map(|(number, _)| *number).collect();
    let new: Vec<_> = wrong.iter().filter(|(number, _)| !known.contains(number)).take(3).collect();
    assert!(new.is_empty(), "cases that did not differ: {new:#?}");
    let healed: Vec<_> = known.iter().filter(|number| !numbers.contains(number)).collect();
    assert!(healed.is_empty(), "cases are right now, and still on the list: {healed:?}");
}

fn run(world: &mut World, statements: &[&str]) {
    for statement in statements {
        let answer = world.answer("", statement);
        assert_eq!(answer.error, None, "{statement}");
    }
}

#[test]
fn privileges_are_found_at_each_level() {
    let mut world = World::fresh();
    run(
        &mut world,
        &[
            "CREATE USER u@localhost",
            "CREATE ROLE r",
            "GRANT SELECT ON `d\\_1`.* TO u@localhost",
            "GRANT INSERT ON `x%`.* TO u@localhost",
            "GRANT UPDATE ON d1.t TO u@localhost",
            "GRANT SELECT (a), REFERENCES (b) ON d1.t TO u@localhost",
            "GRANT EXECUTE ON PROCEDURE d1.p TO u@localhost",
            "GRANT DELETE ON d2.* TO r",
            "GRANT CONNECTION_ADMIN, PROCESS ON *.* TO u@localhost",
            "GRANT r TO u@localhost",
        ],
    );
    use Object::*;
    use Privileges as P;
    let grants = Arc::clone(world.session("u").grants());
    for (privilege, object, may) in [
        (P::PROCESS, Server, true),
        (P::SHUTDOWN, Server, false),
        (P::SELECT, Table("d_1", "any"), true),
        (P::SELECT, Table("dx1", "any"), false),
        (P::INSERT, Table("xyz", "any"), true),
        (P::INSERT, Database("xyz"), true),
        (P::UPDATE, Table("d1", "t"), true),
        (P::UPDATE, Table("d1", "t2"), false),
        (P::SELECT, Column("d1", "t", "A"), true),
        (P::SELECT, Column("d1", "t", "b"), false),
        (P::UPDATE, Column("d1", "t", "b"), true),
        (P::SELECT, Table("d1", "t"), false),
        (P::EXECUTE, Routine(RoutineKind::Procedure, "d1", "P"), true),
        (P::EXECUTE, Routine(RoutineKind::Function, "d1", "f"), false),
        (P::DELETE, Table("d2", "t"), false),
    ] {
        assert_eq!(grants.may(privilege, object), may, "{privilege:?} {object:?}");
        assert_eq!(grants.check(privilege, object).is_ok(), may);
    }
    let text = |result: Result<()>| result.unwrap_err().to_string();
    assert_eq!(
        text(grants.check(P::SELECT, Table("d2", "t"))),
        "ERROR 1142 (42000): SELECT command denied to user 'u'@'localhost' for table 't'"
    );
    assert_eq!(
        text(grants.check(P::SELECT, Column("d1", "t", "b"))),
        "ERROR 1143 (42000): SELECT command denied to user 'u'@'localhost' for column 'b' in table 't'"
    );
    assert_eq!(
        text(grants.check(P::CREATE, Database("d9"))),
        "ERROR 1044 (42000): Access denied for user 'u'@'localhost' to database 'd9'"
    );
    assert!(grants.may_in_some_column(P::SELECT, "d1", "t") && !grants.may_in_some_column(P::INSERT, "d1", "t"));
    assert!(grants.sees_database("d1") && grants.sees_database("d_1") && !grants.sees_database("d2"));
    assert!(grants.may_dynamic("CONNECTION_ADMIN") && !grants.may_dynamic("BACKUP_ADMIN"));
    // A role counts while it is active; what changes is seen by the next statement.
    world.answer("u", "SET ROLE r");
    assert!(world.session("u").grants().may(P::DELETE, Table("d2", "t")));
    run(&mut world, &["REVOKE DELETE ON d2.* FROM r", "DROP USER u@localhost"]);
    world.answer("u", "SHOW GRANTS");
    assert!(!world.session("u").grants().may(P::DELETE, Table("d2", "t")));
    assert!(!world.session("u").grants().may(P::UPDATE, Table("d1", "t")));
}

#[test]
fn the_account_of_the_more_specific_host_is_logged_in() {
    let mut world = World::fresh();
    run(
        &mut world,
        &[
            "CREATE USER u@'%'",
            "CREATE USER u@'10.0.0.%' REQUIRE SSL",
            "CREATE USER ''@'10.0.0.1'",
            "CREATE USER u@'10.0.1.0/255.255.255.0' ACCOUNT LOCK",
            "CREATE USER u@localhost PASSWORD EXPIRE",
            "CREATE USER c@localhost REQUIRE SUBJECT '/CN=c'",
        ],
    );
    let found = |user: &str, host: &str, address: &str| {
        let login = world.store.authenticate(user, host, address.parse().ok());
        login.map(|login| login.account.id.to_string())
    };
    assert_eq!(found("u", "h", "10.0.0.2").as_deref(), Some("u@10.0.0.%"));
    assert_eq!(found("u", "h", "10.0.0.1").as_deref(), Some("@10.0.0.1"));
    assert_eq!(found("u", "h", "10.0.1.1").as_deref(), Some("u@10.0.1.0/255.255.255.0"));
    assert_eq!(found("u", "h", "10.0.2.1").as_deref(), Some("u@%"));
    assert_eq!(found("u", "localhost", "").as_deref(), Some("u@localhost"));
    assert_eq!(found("v", "h", "10.0.2.1"), None);
    let login =
        |user: &str, host: &str, address: &str| world.store.authenticate(user, host, address.parse().ok()).unwrap();
    let plain = Connection::default();
    let tls = Connection { tls: true, ..plain };
    assert_eq!(login("u", "h", "10.0.0.2").check(plain), Err(LoginRefusal::Tls));
    assert_eq!(login("u", "h", "10.0.0.2").check(tls), Ok(()));
    assert_eq!(login("u", "h", "10.0.1.2").check(plain), Err(LoginRefusal::Locked));
    assert!(login("u", "localhost", "").is_expired(0, 0) && !login("u", "h", "10.0.2.1").is_expired(u64::MAX, 0));
    assert_eq!(login("c", "localhost", "").check(tls), Err(LoginRefusal::Tls));
    let with = |subject| Connection { certificate: Some((subject, "/CN=ca")), ..tls };
    assert_eq!(login("c", "localhost", "").check(with("/CN=d")), Err(LoginRefusal::Tls));
    assert_eq!(login("c", "localhost", "").check(with("/CN=c")), Ok(()));
}

fn engine(disk: &SimDisk) -> Engine {
    let options = StoreOptions {
        memory_bytes: 8 << 20,
        log_bytes: 8 << 20,
        log_buffer_bytes: 512 << 10,
        max_data_bytes: 256 << 20,
        node_capacity: 2048,
        ..StoreOptions::default()
    };
    let store = Store::open_on(Arc::new(disk.clone()), options).unwrap();
    Engine::open(store, EngineOptions { slots: 4, lock_shards: 8, ..EngineOptions::default() }).unwrap()
}

#[test]
fn accounts_are_there_after_a_restart() {
    let disk = SimDisk::new(7);
    let mut world = World::new(AccountStore::open(Arc::new(engine(&disk))).unwrap());
    assert_eq!(world.store.accounts().iter().count(), 1);
    run(
        &mut world,
        &[
            "CREATE USER u@localhost IDENTIFIED BY 'x', v@localhost COMMENT 'c'",
            "CREATE ROLE r",
            "GRANT SELECT (a) ON d1.t TO u@localhost",
            "GRANT r TO u@localhost",
            "DROP USER v@localhost",
            "RENAME USER u@localhost TO w@localhost",
        ],
    );
    let before: Vec<Account> = world.store.accounts().iter().map(|account| Account::clone(account)).collect();
    // What fails changes nothing, also on disk.
    assert!(world.answer("", "CREATE USER x@localhost, w@localhost").error.is_some());
    drop(world);
    let again = AccountStore::open(Arc::new(engine(&disk))).unwrap();
    let after: Vec<Account> = again.accounts().iter().map(|account| Account::clone(account)).collect();
    assert_eq!(before, after);
    assert_eq!(after.len(), 3);
}

#[test]
fn a_password_of_before_is_refused_as_long_as_its_history_says() {
    let mut world = World::fresh();
    run(&mut world, &["CREATE USER u@localhost IDENTIFIED BY 'a' PASSWORD HISTORY 2"]);
    run(&mut world, &["ALTER USER u@localhost IDENTIFIED BY 'b'"]);
    assert_eq!(world.answer("", "ALTER USER u@localhost IDENTIFIED BY 'a'").error.unwrap().0, 3638);
    run(&mut world, &["ALTER USER u@localhost IDENTIFIED BY 'c'", "ALTER USER u@localhost IDENTIFIED BY 'd'"]);
    run(&mut world, &["ALTER USER u@localhost IDENTIFIED BY 'a'"]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn hostile_names_do_no_harm(
        user in proptest::collection::vec(any::<u8>(), 0..40),
        host in proptest::collection::vec(any::<u8>(), 0..20),
        database in "[ -~]{0,10}",
    ) {
        let quote = |bytes: &[u8]| {
            let mut out = vec![b'\''];
            for byte in bytes {
                if matches!(byte, b'\'' | b'\\') {
                    out.push(b'\\');
                }
                out.push(*byte);
            }
            out.push(b'\'');
            out
        };
        let name = [quote(&user), b"@".to_vec(), quote(&host)].concat();
        let database = format!("`{}`", database.replace('`', "``"));
        let mut world = World::fresh();
        let mut warnings = Warnings::default();
        for (front, back) in [
            ("CREATE USER ", String::new()),
            ("CREATE ROLE r", String::new()),
            ("GRANT r TO ", String::new()),
            (&*format!("GRANT SELECT ON {database}.* TO "), String::new()),
            ("SHOW GRANTS FOR ", String::new()),
            ("SHOW CREATE USER ", String::new()),
            ("RENAME USER ", " TO 'a'@'b'".to_owned()),
            ("DROP USER IF EXISTS ", String::new()),
        ] {
            let statement = match front {
                "CREATE ROLE r" => front.as_bytes().to_vec(),
                _ => [front.as_bytes(), &name, back.as_bytes()].concat(),
            };
            let _ = world.execute("", &statement, &mut warnings);
        }
        let _ = world.store.authenticate(&String::from_utf8_lossy(&user), &String::from_utf8_lossy(&host), None);
    }
}
