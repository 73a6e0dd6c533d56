//! Files of the server's host: SELECT .. INTO OUTFILE and DUMPFILE, LOAD DATA INFILE, secure_file_priv, FILE. Numbers and
//! contents are those of MySQL 9.7.

mod support;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use support::{Connection, Serving};

fn error(connection: &mut Connection, text: &str) -> u16 {
    let answers = connection.query(text);
    let number = answers.last().and_then(|last| last.strip_prefix("error ")).and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("{text}: {answers:?}"))
}

#[test]
fn files_are_written_and_read_in_their_folder_and_nowhere_else() {
    let directory = tempfile::tempdir().unwrap();
    let files = directory.path().join("files");
    fs::create_dir(&files).unwrap();
    let option = format!("--secure-file-priv={}", files.display());
    let serving = Serving::start_with(&directory.path().join("data"), &[&option], &[]);
    let mut root = serving.connect();
    let path = |name: &str| files.join(name).display().to_string();
    root.query("create database d; use d; create table t (a int, b varchar(20)); create table u like t");
    root.query("insert into t values (1, 'x'), (2, NULL), (3, 'a\\tb\\\\c')");

    // There and back.
    assert_eq!(root.query(&format!("select * from t into outfile '{}'", path("a"))), ["ok 3"]);
    assert_eq!(fs::read(path("a")).unwrap(), b"1\tx\n2\t\\N\n3\ta\\\tb\\\\c\n");
    assert_eq!(fs::metadata(path("a")).unwrap().permissions().mode() & 0o137, 0, "others do not read it");
    assert_eq!(root.query(&format!("load data infile '{}' into table u", path("a"))), ["ok 3"]);
    assert_eq!(root.query("select count(*) from t join u on t.a <=> u.a and t.b <=> u.b"), ["3"]);
    let written = format!(
        "select a, b from t order by a limit 2 into outfile '{}' character set latin1 fields terminated by ',' \
         optionally enclosed by '\"' escaped by '' lines starting by '>' terminated by '\\r\\n'",
        path("b")
    );
    assert_eq!(root.query(&written), ["ok 2"]);
    assert_eq!(fs::read(path("b")).unwrap(), b">1,\"x\"\r\n>2,NULL\r\n");
    assert_eq!(root.query(&format!("select b, NULL, a from t where a = 3 into dumpfile '{}'", path("c"))), ["ok 1"]);
    assert_eq!(fs::read(path("c")).unwrap(), b"a\tb\\c\x003");
    assert_eq!(root.query(&format!("select b from t where a = 9 into dumpfile '{}'", path("d"))), ["ok 0"]);
    assert_eq!(fs::read(path("d")).unwrap(), b"");

    // What is there stays; what fails leaves nothing.
    assert_eq!(error(&mut root, &format!("select 1 into outfile '{}'", path("a"))), 1086);
    assert_eq!(error(&mut root, &format!("select 1 into dumpfile '{}'", path("a"))), 1086);
    assert_eq!(fs::read(path("a")).unwrap().len(), 19);
    assert_eq!(error(&mut root, &format!("select a from t into dumpfile '{}'", path("e"))), 1172);
    assert_eq!(error(&mut root, &format!("select (select a from t) into outfile '{}'", path("e"))), 1242);
    assert!(!files.join("e").exists());
    assert_eq!(error(&mut root, &format!("select 1 into outfile '{}' fields enclosed by 'xx'", path("e"))), 1083);

    // Elsewhere: also by dots, by links, and by nothing.
    symlink(directory.path(), files.join("out")).unwrap();
    fs::write(directory.path().join("secret"), "1\tsecret\n").unwrap();
    symlink(directory.path().join("secret"), files.join("link")).unwrap();
    for elsewhere in [
        directory.path().join("x").display().to_string(),
        path("../x"),
        path("out/x"),
        path("nowhere/x"),
        "relative".to_owned(),
        String::new(),
    ] {
        assert_eq!(error(&mut root, &format!("select 1 into outfile '{elsewhere}'")), 1290, "{elsewhere}");
        assert_eq!(error(&mut root, &format!("select 1 into dumpfile '{elsewhere}'")), 1290, "{elsewhere}");
        assert_eq!(error(&mut root, &format!("load data infile '{elsewhere}' into table t")), 1290, "{elsewhere}");
    }
    for linked in ["link", "out/secret"] {
        assert_eq!(error(&mut root, &format!("load data infile '{}' into table t", path(linked))), 1290, "{linked}");
    }
    assert!(!directory.path().join("x").exists());

    // Reading what is not there, or is no file; of a table that is not there first.
    assert_eq!(error(&mut root, &format!("load data infile '{}' into table t", path("none"))), 13);
    assert_eq!(error(&mut root, &format!("load data infile '{}' into table t", path(""))), 1085);
    assert_eq!(error(&mut root, "load data infile '/etc/passwd' into table nowhere"), 1146);
    assert_eq!(error(&mut root, "select * from nowhere into outfile '/etc/x'"), 1146);
    assert_eq!(error(&mut root, &format!("load xml infile '{}' into table t", path("a"))), 1235);
    // A line that does not fit undoes those before it.
    fs::write(path("bad"), "7\tseven\nx\tno\n").unwrap();
    assert_eq!(error(&mut root, &format!("load data infile '{}' into table t", path("bad"))), 1366);
    assert_eq!(root.query("select count(*) from t where a = 7"), ["0"]);

    // Who has no FILE.
    root.query("create user u@localhost; grant all on d.* to u@localhost");
    let mut user = serving.login_as("u", "").unwrap();
    user.query("use d");
    assert_eq!(error(&mut user, &format!("select 1 into outfile '{}'", path("f"))), 1227);
    assert_eq!(error(&mut user, &format!("select 1 into dumpfile '{}'", path("f"))), 1227);
    assert_eq!(error(&mut user, &format!("load data infile '{}' into table t", path("a"))), 1045);
    root.query("grant file on *.* to u@localhost");
    assert_eq!(user.query(&format!("load data infile '{}' into table t", path("a"))), ["ok 3"]);
}

#[test]
fn without_secure_file_priv_no_file_is_touched_and_with_an_empty_one_any() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let file = directory.path().join("x");
    let serving = Serving::start(&data);
    let mut root = serving.connect();
    assert_eq!(root.query("select @@secure_file_priv"), ["NULL"]);
    assert_eq!(error(&mut root, &format!("select 1 into outfile '{}'", file.display())), 1290);
    assert_eq!(error(&mut root, "set global secure_file_priv = ''"), 1238);
    drop(root);
    assert_eq!(serving.end("-TERM"), Some(0));
    let serving = Serving::start_with(&data, &["--secure-file-priv="], &[]);
    let mut root = serving.connect();
    assert_eq!(root.query(&format!("select 1 into outfile '{}'", file.display())), ["ok 1"]);
    assert_eq!(fs::read(&file).unwrap(), b"1\n");
}
