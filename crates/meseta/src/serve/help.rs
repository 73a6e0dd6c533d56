//! What `meseta serve` says of itself: `--help`, `--verbose --help`, `--version`.

use std::fmt::Write;

use meseta_server::options::{known, unused};

const USAGE: &str = "\
Usage: meseta serve [--defaults-file=FILE] [OPTIONS]

Serves MySQL's clients, in the foreground, until Ctrl-C or SIGTERM; logs to standard error.

  --datadir=DIR                        where the data is; made if it is not there (data)
  --port=PORT                          where to listen (3306)
  --bind-address=ADDRESS[,..]          on which addresses; * for all (127.0.0.1)
  --socket=PATH                        a Unix socket besides (none)
  --innodb-buffer-pool-size=BYTES      memory for pages, as 4G (128M)
  --innodb-redo-log-capacity=BYTES     size of the log (1G)
  --innodb-flush-log-at-trx-commit=N   commits: 1 survive a loss of power, 2 a crash of the process, 0 neither,
                                       within a second (1)
  --max-connections=N                  how many clients at a time (151)
  --max-allowed-packet=BYTES           the largest statement or value (64M)
  --ssl-cert=FILE --ssl-key=FILE       a certificate of your own, in PEM (one is made)
  --defaults-file=FILE                 options from a file, sections [mysqld], [server] and [meseta]
  --log-error-verbosity=N              1 errors, 2 warnings as well, 3 notes as well (3)

Options are MySQL's, with - or _ in their names; a number may end in K, M, G. What is not needed here is accepted, and
the log says why; what is misspelt is an error. `meseta serve --verbose --help` lists every option.

A first start has root@localhost without a password. Beyond this machine the server listens when root has one: set by
ALTER USER, or by MYSQL_ROOT_PASSWORD in the environment.

  meseta serve --datadir=data          then, elsewhere:  mariadb -h 127.0.0.1 -u root
";

/// What is to be printed in place of serving, if that is asked for.
pub fn asked(arguments: &[String]) -> Option<String> {
    let has = |names: &[&str]| arguments.iter().any(|argument| names.contains(&argument.as_str()));
    if has(&["--help", "-?", "help"]) {
        let mut text = USAGE.to_owned();
        if has(&["--verbose", "-v"]) {
            text.push_str("\nUsed:\n");
            list(known::KNOWN.iter().map(|known| known.name), &mut text);
            text.push_str("\nKnown, and not needed here, or refused; the log says why:\n");
            list(unused::names(), &mut text);
        }
        return Some(text);
    }
    has(&["--version", "-V"]).then(|| format!("meseta {}\n", env!("CARGO_PKG_VERSION")))
}

/// Names in order, some a line.
fn list<'n>(names: impl Iterator<Item = &'n str>, out: &mut String) {
    let mut names: Vec<String> = names.map(|name| name.replace('_', "-")).collect();
    names.sort_unstable();
    let mut width = 0;
    for name in names {
        if width == 0 || width + name.len() > 110 {
            out.push_str(if width == 0 { "  " } else { "\n  " });
            width = 0;
        }
        let _ = write!(out, "{name} ");
        width += name.len() + 1;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_and_version_are_texts_and_the_rest_is_not() {
        let asked = |line: &str| asked(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(asked("--help").is_some_and(|text| text.lines().all(|line| line.len() <= 120)));
        let all = asked("--help --verbose").unwrap();
        assert!(all.contains(" innodb-thread-concurrency ") && all.contains(" max-connections "), "{all}");
        assert!(all.lines().all(|line| line.len() <= 120), "{all}");
        assert!(asked("-V").is_some_and(|text| text.starts_with("meseta ")));
        assert!(asked("--port=1 --verbose").is_none());
    }
}
