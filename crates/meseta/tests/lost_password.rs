//! A root password that nobody knows any more: `--init-file` and `--skip-grant-tables`, as docs/operate.md has it.

mod support;

use std::fs;
use std::net::TcpStream;
use std::path::Path;

use support::{Serving, command};

/// A directory whose root has a password.
fn locked_out(directory: &Path) {
    let serving = Serving::start(directory);
    let mut root = serving.connect();
    assert_eq!(root.query("alter user root@localhost identified by 'nobody knows'"), ["ok 0"]);
    assert_eq!(
        root.query("create user app@localhost identified by 'a'; grant select on *.* to app@localhost"),
        ["ok 0"; 2]
    );
    drop(root);
    assert_eq!(serving.end("-TERM"), Some(0));
}

/// What a start that fails says.
fn refusal(directory: &Path, options: &[&str]) -> String {
    let ended = command(directory, options, &[]).output().expect("the program starts");
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

#[test]
fn a_file_of_statements_sets_a_new_password_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    locked_out(&data);
    let file = directory.path().join("reset.sql");
    let option = format!("--init-file={}", file.display());
    fs::write(
        &file,
        "-- the account, and a table\nALTER USER 'root'@'localhost'\n  IDENTIFIED BY 'new;';\n\
         CREATE DATABASE kept; CREATE TABLE kept.t (id INT PRIMARY KEY);\nINSERT INTO kept.t VALUES (1), (2)",
    )
    .unwrap();
    let serving = Serving::start_with(&data, &[&option], &[]);
    assert!(serving.told().contains("reset.sql: 4 statements were run"), "{}", serving.told());
    assert_eq!(serving.login_as("root", "nobody knows").err().as_deref(), Some("error 1045"));
    let mut root = serving.login_as("root", "new;").unwrap();
    assert_eq!(root.query("select count(*), user(), current_user(), @@init_file from kept.t")[0], {
        format!("2|root@localhost|root@localhost|{}", file.display())
    });
    drop(root);
    assert_eq!(serving.end("-TERM"), Some(0));

    // What fails ends the start, by file and line, without the statement; a file that is not there as well.
    fs::write(&file, "SET @a = 1;\n\nALTER USER root@localhost IDENTIFIED BY 'secret' WITH nonsense;\n").unwrap();
    let refused = refusal(&data, &[&option]);
    assert!(refused.contains("reset.sql, line 3: ERROR 1064 (42000): "), "{refused}");
    fs::write(&file, "SELECT 1;\nINSERT INTO kept.t VALUES (1);").unwrap();
    let refused = refusal(&data, &[&option]);
    assert!(refused.contains("line 2: ERROR 1062 (23000): Duplicate entry '1' for key 't.PRIMARY'"), "{refused}");
    let refused = refusal(&data, &["--init-file=/nowhere/at/all.sql"]);
    assert!(refused.contains("init_file /nowhere/at/all.sql: No such file"), "{refused}");
    let serving = Serving::start(&data);
    assert!(serving.login_as("root", "new;").is_ok());
}

#[test]
fn without_checks_whoever_comes_by_the_socket_may_set_a_new_password() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("d");
    locked_out(&data);
    let serving = Serving::start_with(&data, &["--skip-grant-tables"], &[]);
    assert!(serving.told().contains("skip_grant_tables"), "{}", serving.told());
    assert_eq!((serving.port, serving.socket_path.as_deref()), (0, Some(&*data.join("meseta.sock"))));
    let mut anybody = serving.login_as("whoever", "not this").unwrap();
    let who = "select current_user(), @@skip_networking, @@port";
    assert_eq!(anybody.query(who), ["skip-grants user@skip-grants host|1|0"]);
    assert_eq!(anybody.query("create database d; select count(*) from mysql.user"), ["ok 1", "2"]);
    // Accounts are not there until they are read again.
    for refused in [
        "alter user root@localhost identified by 'new'",
        "set password for root@localhost = 'new'",
        "create user x",
        "drop user app@localhost",
        "grant all on *.* to app@localhost",
        "revoke select on *.* from app@localhost",
        "show grants for root@localhost",
        "create role r",
    ] {
        assert_eq!(anybody.query(refused), ["error 1290"], "{refused}");
    }
    let mut empty = serving.login_as("", "").unwrap();
    assert_eq!(empty.query("select 1"), ["1"]);
    assert_eq!(anybody.query("flush privileges; alter user root@localhost identified by 'new'"), ["ok 0", "ok 0"]);
    // Who was there may still do everything; who comes now must prove himself.
    assert_eq!(
        anybody.query("create database e; select current_user()"),
        ["ok 1", "skip-grants user@skip-grants host"]
    );
    assert_eq!(serving.login_as("root", "nobody knows").err().as_deref(), Some("error 1045"));
    let mut root = serving.login_as("root", "new").unwrap();
    assert_eq!(root.query("select current_user()"), ["root@localhost"]);
    let mut app = serving.login_as("app", "a").unwrap();
    assert_eq!(app.query("create database f"), ["error 1044"]);
    drop((anybody, empty, root, app));
    assert_eq!(serving.end("-TERM"), Some(0));

    // A start as usual listens to all again.
    let serving = Serving::start(&data);
    assert!(TcpStream::connect(("127.0.0.1", serving.port)).is_ok());
    assert_eq!(serving.login_as("whoever", "").err().as_deref(), Some("error 1045"));
    assert!(serving.login_as("root", "new").is_ok());
}
