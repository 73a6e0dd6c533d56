//! mariadb-dump of a database with every type, restored by the mariadb client: as MySQL's dump of the same tables, and both
//! databases are equal. `dump/record` made `dump/dump.sql`, on a MySQL 9.7 server.
//!
//! The client's programs have to be installed (Debian's mariadb-client; `tools/setup` does it).

mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use support::Serving;

/// The client's programs against a server.
trait Programs {
    /// Runs one of the client's programs; what it printed.
    fn run(&self, program: &str, arguments: &[&str], input: &str) -> String;

    fn execute(&self, database: &str, text: &str) -> String;

    fn dump(&self, database: &str, options: &[&str]) -> String;
}

impl Programs for Serving {
    fn run(&self, program: &str, arguments: &[&str], input: &str) -> String {
        let mut process = Command::new(program)
            .args(["--no-defaults", "--default-character-set=utf8mb4", "-h", "127.0.0.1", "-u", "root", "-P"])
            .arg(self.port.to_string())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{program} is needed (Debian's mariadb-client; see tools/setup): {error}"));
        process.stdin.take().expect("it was piped").write_all(input.as_bytes()).expect("it reads");
        let output = process.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {arguments:?}: {told}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn execute(&self, database: &str, text: &str) -> String {
        self.run("mariadb", &["--batch", "--skip-column-names", database], text)
    }

    fn dump(&self, database: &str, options: &[&str]) -> String {
        // It writes the values of generated columns, which MySQL and this server refuse (3105): not the rows of that table.
        let rows = format!("--ignore-table-data={database}.computed");
        let usual = ["--skip-comments", "--hex-blob", "--order-by-primary", &rows];
        self.run("mariadb-dump", &[&usual[..], options, &[database]].concat(), "")
    }
}

/// The statements of a dump, without those that set the session up: they change with the client's version.
fn body(dump: &str) -> Vec<&str> {
    let is_setup = |line: &&str| line.is_empty() || line.starts_with("/*!40") && line.contains("SET ");
    dump.lines().filter(|line| !is_setup(line) && !line.starts_with("/*M!")).collect()
}

#[track_caller]
fn assert_same(ours: &[&str], theirs: &[&str]) {
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}

#[test]
fn a_dump_is_as_mysqls_and_restores_to_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    serving.execute("information_schema", "create database one; create database two; create database three");
    serving.execute("one", include_str!("dump/source.sql"));
    let first = serving.dump("one", &[]);
    assert_same(&body(&first), &body(include_str!("dump/dump.sql")));

    serving.execute("two", &first);
    assert_eq!(serving.dump("two", &[]), first);
    // Another way to write the same: columns named, a statement for each row, read in one transaction.
    let options =
        ["--complete-insert", "--skip-extended-insert", "--single-transaction", "--routines", "--triggers", "--events"];
    let other = serving.dump("two", &options);
    serving.execute("three", &other);
    assert_eq!(serving.dump("three", &[]), first);

    let copy =
        "insert into computed (id, price, count, doc, hidden) select id, price, count, doc, hidden from one.computed";
    serving.execute("two", copy);
    serving.execute("three", copy);
    let names = serving.execute("one", "show tables");
    let names: Vec<String> = names.lines().map(|name| format!("`{}`", name.replace('`', "``"))).collect();
    let checksums = |database: &str| {
        let shown = serving.execute(database, &format!("checksum table {}", names.join(", ")));
        shown.replace(&format!("{database}."), "")
    };
    assert_eq!(checksums("one"), checksums("two"));
    assert_eq!(checksums("one"), checksums("three"));
    // Old files name tables' engines, and options that mean nothing here.
    let old = first.replace("ENGINE=InnoDB", "ENGINE=MyISAM ROW_FORMAT=FIXED PACK_KEYS=1").replace("utf8mb3", "utf8");
    serving.execute("three", &old);
    serving.execute("three", copy);
    assert_eq!(checksums("one"), checksums("three"));
}

/// What mysqldump 8 and 9 ask, one statement after the other.
#[test]
fn mysqldumps_questions_are_answered() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let asked = "
        create database d; use d; create table t (id int primary key, v varchar(10)); insert into t values (1, 'a');
        /*!40100 SET @@SQL_MODE='' */;
        /*!40103 SET TIME_ZONE='+00:00' */;
        /*!80000 SET SESSION information_schema_stats_expiry=0 */;
        SET SESSION NET_READ_TIMEOUT= 86400, SESSION NET_WRITE_TIMEOUT= 86400;
        SHOW VARIABLES LIKE 'gtid\\_mode';
        SELECT LOGFILE_GROUP_NAME, FILE_NAME, TOTAL_EXTENTS, INITIAL_SIZE, ENGINE, EXTRA FROM INFORMATION_SCHEMA.FILES
            WHERE FILE_TYPE = 'UNDO LOG' AND FILE_NAME IS NOT NULL AND LOGFILE_GROUP_NAME IS NOT NULL
            AND LOGFILE_GROUP_NAME IN (SELECT DISTINCT LOGFILE_GROUP_NAME FROM INFORMATION_SCHEMA.FILES
            WHERE FILE_TYPE = 'DATAFILE' AND TABLESPACE_NAME IN (SELECT DISTINCT TABLESPACE_NAME
            FROM INFORMATION_SCHEMA.PARTITIONS WHERE TABLE_SCHEMA IN ('d')))
            GROUP BY LOGFILE_GROUP_NAME, FILE_NAME, ENGINE, TOTAL_EXTENTS, INITIAL_SIZE, EXTRA ORDER BY LOGFILE_GROUP_NAME;
        SELECT DISTINCT TABLESPACE_NAME, FILE_NAME, LOGFILE_GROUP_NAME, EXTENT_SIZE, INITIAL_SIZE, ENGINE
            FROM INFORMATION_SCHEMA.FILES WHERE FILE_TYPE = 'DATAFILE' AND TABLESPACE_NAME IN
            (SELECT DISTINCT TABLESPACE_NAME FROM INFORMATION_SCHEMA.PARTITIONS WHERE TABLE_SCHEMA IN ('d'))
            ORDER BY TABLESPACE_NAME, LOGFILE_GROUP_NAME;
        SHOW VARIABLES LIKE 'ndbinfo\\_version';
        SHOW CREATE DATABASE IF NOT EXISTS `d`;
        SELECT @@collation_database;
        SET SQL_QUOTE_SHOW_CREATE=1;
        SET SESSION character_set_results = 'binary';
        SHOW CREATE TABLE `t`;
        SET SESSION character_set_results = 'utf8mb4';
        SHOW TABLE STATUS LIKE 't';
        SHOW FIELDS FROM `t`;
        SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`;
        SELECT /*!40001 SQL_NO_CACHE */ `id`, `v` FROM `t`;
        SHOW TRIGGERS LIKE 't';
        SELECT COLUMN_NAME, JSON_EXTRACT(HISTOGRAM, '$.\"number-of-buckets-specified\"')
            FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'd' AND TABLE_NAME = 't';
        SELECT engine FROM INFORMATION_SCHEMA.TABLES WHERE table_schema = DATABASE() AND table_name = 't';
        SHOW EVENTS; SHOW FUNCTION STATUS WHERE Db = 'd'; SHOW PROCEDURE STATUS WHERE Db = 'd';
        ALTER TABLE `t` DISABLE KEYS; ALTER TABLE `t` ENABLE KEYS;
        START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */; SAVEPOINT sp; SELECT * FROM t; ROLLBACK TO SAVEPOINT sp;
        RELEASE SAVEPOINT sp; COMMIT";
    let answers = serving.execute("information_schema", asked);
    assert!(answers.contains("1\ta"), "{answers}");
    assert!(answers.contains("CREATE DATABASE /*!32312 IF NOT EXISTS*/ `d`"), "{answers}");
}
