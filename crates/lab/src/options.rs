//! Options, as sysbench has them: `--name=value`, `--name` alone for `on`; `-` and `_` are the same.
//!
//! ```text
//! words --> classic names translated (0.4) --> looked up in OPTIONS --> checked --> Options
//! ```
//!
//! One table says what there is, with the value it has when not given. What is not in it is refused, with the nearest
//! name; so is a value that the option cannot have. The manual's tables are printed from here (`meseta lab help`).

use std::collections::BTreeMap;

use crate::text::nearest;

/// `--lab-cpus=server`: the lab has the processors of the server that it measures, and no others.
pub const AS_THE_SERVER: &str = "server";

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `on` or `off`.
    Switch,
    /// A whole number, with K, M or G.
    Number,
    /// A number with a fraction.
    Real,
    /// Anything.
    Text,
}

/// An option.
#[derive(Debug, Clone, Copy)]
pub struct OptionInfo {
    /// The part of the help it is in.
    pub group: &'static str,
    /// Its name, with `-`.
    pub name: &'static str,
    /// What it may be.
    pub of: Type,
    /// What it is if not given.
    pub default: &'static str,
    /// What it says.
    pub help: &'static str,
}

const fn option(
    group: &'static str,
    name: &'static str,
    of: Type,
    default: &'static str,
    help: &'static str,
) -> OptionInfo {
    OptionInfo { group, name, of, default, help }
}

use Type::{Number, Real, Switch, Text};

const GENERAL: &str = "General";
const SERVER: &str = "Server";
const RANDOM: &str = "Random numbers";
const SYSBENCH: &str = "sysbench 1.0";
const CLASSIC: &str = "sysbench 0.4";
const DBSTRESS: &str = "dbSTRESS";
const TPCC: &str = "TPC-C";
const SWEEP: &str = "Sweeps and reports";

/// All options.
pub const OPTIONS: &[OptionInfo] = &[
    option(GENERAL, "threads", Number, "1", "clients: connections, each with one statement at a time"),
    option(
        GENERAL,
        "workers",
        Number,
        "0",
        "threads of the generator's; 0: a quarter of the processors; all of --lab-cpus, half of the server's",
    ),
    option(GENERAL, "time", Number, "10", "seconds to measure; 0: no limit"),
    option(GENERAL, "events", Number, "0", "events to do; 0: no limit"),
    option(GENERAL, "warmup-time", Number, "0", "seconds before the measurement"),
    option(GENERAL, "rate", Real, "0", "events a second, arriving at random (open loop); 0: closed loop"),
    option(GENERAL, "think-time", Text, "0", "milliseconds between two events of a client: a number, or LEAST..MOST"),
    option(GENERAL, "report-interval", Number, "0", "seconds between lines of intermediate results; 0: none"),
    option(
        GENERAL,
        "report-checkpoints",
        Text,
        "",
        "seconds at which a full report of the time since the last is printed",
    ),
    option(GENERAL, "percentile", Number, "95", "the percentile in sysbench's report; 0: none"),
    option(GENERAL, "histogram", Switch, "off", "print the histogram of events' times"),
    option(GENERAL, "json", Text, "", "append the result, all of it, to this file as a line of JSON"),
    option(GENERAL, "load-threads", Number, "0", "connections of a load; 0: twice the processors"),
    option(
        GENERAL,
        "io",
        Text,
        "auto",
        "how sockets are waited for: uring, epoll, or auto: the first where there is one",
    ),
    option(GENERAL, "config-file", Text, "", "a file of options, name=value a line; the command line wins"),
    option(GENERAL, "verbosity", Number, "3", "accepted for sysbench's sake"),
    option(GENERAL, "debug", Switch, "off", "accepted for sysbench's sake"),
    option(GENERAL, "forced-shutdown", Text, "off", "accepted: clients have ten seconds for their last events"),
    option(GENERAL, "thread-stack-size", Text, "64K", "accepted for sysbench's sake"),
    option(GENERAL, "thread-init-timeout", Number, "60", "accepted for sysbench's sake"),
    option(GENERAL, "validate", Switch, "off", "accepted for sysbench's sake"),
    option(SERVER, "db-driver", Text, "mysql", "mysql"),
    option(SERVER, "db-ps-mode", Text, "auto", "auto: prepared statements; disable: text"),
    option(SERVER, "mysql-host", Text, "localhost", "the host, or several, over which clients are spread"),
    option(SERVER, "mysql-port", Text, "3306", "the port, or several"),
    option(SERVER, "mysql-socket", Text, "", "a Unix socket, in place of host and port"),
    option(SERVER, "mysql-user", Text, "sbtest", "the account"),
    option(SERVER, "mysql-password", Text, "", "its password (or MYSQL_PWD in the environment)"),
    option(SERVER, "mysql-db", Text, "sbtest", "the database"),
    option(SERVER, "mysql-ssl", Text, "off", "TLS: off, on (or required), verify_ca, verify_identity"),
    option(SERVER, "mysql-ssl-ca", Text, "", "a file of certificates that are believed"),
    option(SERVER, "mysql-ssl-cert", Text, "", "a file with the client's certificate"),
    option(SERVER, "mysql-ssl-key", Text, "", "and one with its key"),
    option(SERVER, "mysql-ssl-cipher", Text, "", "cipher suites, as OpenSSL names them, with colons between"),
    option(SERVER, "mysql-compression", Switch, "off", "compressed packets"),
    option(SERVER, "mysql-debug", Switch, "off", "accepted for sysbench's sake"),
    option(SERVER, "db-debug", Switch, "off", "accepted for sysbench's sake"),
    option(
        SERVER,
        "mysql-ignore-errors",
        Text,
        "1213,1020,1205",
        "errors after which an event is tried again: numbers, or all",
    ),
    option(SERVER, "mysql-storage-engine", Text, "innodb", "the engine of tables that are made"),
    option(
        SERVER,
        "server-pid",
        Number,
        "0",
        "the server's process, to measure its CPU; 0: found, if it is on this machine",
    ),
    option(RANDOM, "rand-type", Text, "special", "uniform, gaussian, special, pareto or zipfian"),
    option(RANDOM, "rand-seed", Number, "0", "where chance begins; 0: somewhere, and the report says where"),
    option(RANDOM, "rand-spec-iter", Number, "12", "numbers that are averaged, for special and gaussian"),
    option(RANDOM, "rand-spec-pct", Number, "1", "special: per cent of the table that is hot"),
    option(RANDOM, "rand-spec-res", Number, "75", "special: per cent of the draws that go there"),
    option(RANDOM, "rand-pareto-h", Real, "0.2", "pareto: the parameter"),
    option(RANDOM, "rand-zipfian-exp", Real, "0.8", "zipfian: the exponent"),
    option(SYSBENCH, "tables", Number, "1", "tables"),
    option(SYSBENCH, "table-size", Number, "10000", "rows of each"),
    option(SYSBENCH, "range-size", Number, "100", "rows of a range"),
    option(SYSBENCH, "point-selects", Number, "10", "SELECTs by key in a transaction"),
    option(SYSBENCH, "simple-ranges", Number, "1", "SELECTs of a range"),
    option(SYSBENCH, "sum-ranges", Number, "1", "SELECT SUM() of a range"),
    option(SYSBENCH, "order-ranges", Number, "1", "SELECT .. ORDER BY of a range"),
    option(SYSBENCH, "distinct-ranges", Number, "1", "SELECT DISTINCT of a range"),
    option(SYSBENCH, "index-updates", Number, "1", "UPDATEs of an indexed column"),
    option(SYSBENCH, "non-index-updates", Number, "1", "UPDATEs of a column without an index"),
    option(SYSBENCH, "delete-inserts", Number, "1", "DELETEs, each followed by an INSERT of the same key"),
    option(SYSBENCH, "range-selects", Switch, "on", "whether there are ranges at all"),
    option(SYSBENCH, "skip-trx", Switch, "off", "no BEGIN and COMMIT"),
    option(SYSBENCH, "auto-inc", Switch, "on", "tables with AUTO_INCREMENT"),
    option(SYSBENCH, "secondary", Switch, "off", "a secondary key in place of the primary one"),
    option(SYSBENCH, "create-secondary", Switch, "on", "an index on k"),
    option(SYSBENCH, "random-points", Number, "10", "values of select_random_points"),
    option(SYSBENCH, "random-ranges", Number, "10", "ranges of select_random_ranges"),
    option(SYSBENCH, "delta", Number, "5", "the width of those"),
    option(CLASSIC, "oltp-test-mode", Text, "complex", "complex, simple or nontrx"),
    option(CLASSIC, "oltp-read-only", Switch, "off", "no writes"),
    option(CLASSIC, "oltp-skip-trx", Switch, "off", "no BEGIN and COMMIT"),
    option(CLASSIC, "oltp-reconnect-mode", Text, "session", "session"),
    option(CLASSIC, "oltp-sp-name", Text, "", "must be empty: procedures are not called"),
    option(CLASSIC, "oltp-point-selects", Number, "10", "SELECTs by key in a transaction"),
    option(CLASSIC, "oltp-simple-ranges", Number, "1", "SELECTs of a range"),
    option(CLASSIC, "oltp-sum-ranges", Number, "1", "SELECT SUM() of a range"),
    option(CLASSIC, "oltp-order-ranges", Number, "1", "SELECT .. ORDER BY of a range"),
    option(CLASSIC, "oltp-distinct-ranges", Number, "1", "SELECT DISTINCT of a range"),
    option(CLASSIC, "oltp-index-updates", Number, "1", "UPDATEs of k"),
    option(CLASSIC, "oltp-non-index-updates", Number, "1", "UPDATEs of c"),
    option(CLASSIC, "oltp-range-size", Number, "100", "rows of a range"),
    option(CLASSIC, "oltp-nontrx-mode", Text, "select", "select, update_key, update_nokey, insert or delete"),
    option(CLASSIC, "oltp-auto-inc", Switch, "on", "a table with AUTO_INCREMENT"),
    option(CLASSIC, "oltp-secondary", Switch, "off", "a secondary key in place of the primary one"),
    option(CLASSIC, "oltp-connect-delay", Number, "10000", "accepted: clients log in one after another"),
    option(CLASSIC, "oltp-user-delay-min", Number, "0", "microseconds before each statement, at least"),
    option(CLASSIC, "oltp-user-delay-max", Number, "0", "and at most"),
    option(CLASSIC, "oltp-table-name", Text, "sbtest", "the table"),
    option(CLASSIC, "oltp-table-size", Number, "10000", "its rows"),
    option(CLASSIC, "oltp-dist-type", Text, "special", "uniform, gaussian or special"),
    option(CLASSIC, "oltp-dist-iter", Number, "12", "numbers that are averaged"),
    option(CLASSIC, "oltp-dist-pct", Number, "1", "special: per cent of the table that is hot"),
    option(CLASSIC, "oltp-dist-res", Number, "75", "special: per cent of the draws that go there"),
    option(CLASSIC, "oltp-point-select-all-cols", Switch, "off", "SELECT id, k, c, pad"),
    option(CLASSIC, "oltp-simple-update", Switch, "off", "in mode simple: an UPDATE after the SELECT"),
    option(CLASSIC, "oltp-simple-update-column", Text, "c", "which column that changes: c or k"),
    option(CLASSIC, "oltp-simple-update-same-id", Switch, "off", "whether it changes the row that was read"),
    option(CLASSIC, "mysql-table-engine", Text, "innodb", "the engine of the table"),
    option(CLASSIC, "mysql-engine-trx", Text, "auto", "accepted: the engine's name decides"),
    option(CLASSIC, "init-rng", Switch, "off", "chance begins somewhere (else at 1, as it was)"),
    option(
        DBSTRESS,
        "scenario",
        Text,
        "read+write",
        "ro, read+update, read+write, sel1-ro, sel1+update, sel1+write, sel2-ro, upd-only or write-only",
    ),
    option(DBSTRESS, "objects", Number, "100K", "objects; each has 20 rows of history"),
    option(DBSTRESS, "sets", Number, "1", "sets of five tables"),
    option(DBSTRESS, "rw-ratio", Number, "1", "reads for each write; 0: no writes"),
    option(DBSTRESS, "hpk", Switch, "off", "a unique key on the history"),
    option(DBSTRESS, "anti-dead", Switch, "on", "each client has objects of its own"),
    option(DBSTRESS, "same-ref", Switch, "on", "an event stays with one object"),
    option(DBSTRESS, "for-update", Switch, "off", "reads lock"),
    option(DBSTRESS, "in-transaction", Switch, "off", "an event is one transaction"),
    option(TPCC, "warehouses", Number, "1", "warehouses: about 100 MB each"),
    option(TPCC, "keying", Switch, "off", "the standard's keying and think times"),
    option(SWEEP, "clients", Text, "1..64", "numbers of clients: 1,2,4..64 or 8,16"),
    option(SWEEP, "server", Text, "", "a server: NAME=HOST:PORT or NAME=/SOCKET; may be given again"),
    option(
        SWEEP,
        "start",
        Text,
        "",
        "a server that the lab starts: meseta, floor, or NAME=COMMAND; may be given again",
    ),
    option(SWEEP, "config", Text, "", "options of one configuration of it: NAME=OPTIONS; may be given again"),
    option(SWEEP, "cores", Text, "", "numbers of processors that it has, as in 1,2,4..N"),
    option(SWEEP, "server-cpus", Text, "", "which processors those are, in order; all that there are if not said"),
    option(
        SWEEP,
        "lab-cpus",
        Text,
        "",
        "the lab's own; all if not said; server: the server's, as on a machine of so many",
    ),
    option(SWEEP, "data-dir", Text, "", "where it has its data; in the run's folder if not said"),
    option(SWEEP, "keep-data", Switch, "off", "its data stays when all is measured"),
    option(SWEEP, "count-syscalls", Switch, "off", "count the server's system calls, by perf: costs it some time"),
    option(SWEEP, "open", Switch, "on", "the demonstration opens its report, where there is a screen"),
    option(SWEEP, "workload", Text, "", "a workload of a sweep; may be given again"),
    option(SWEEP, "rounds", Number, "1", "how often the whole grid is measured"),
    option(SWEEP, "pause", Real, "1", "seconds between two points"),
    option(SWEEP, "dir", Text, "", "the folder that keeps the run; an existing one is gone on with"),
    option(SWEEP, "out", Text, "", "where the report goes"),
    option(SWEEP, "format", Text, "html", "html, markdown, json or csv"),
    option(SWEEP, "title", Text, "", "the report's title"),
    option(SWEEP, "against", Text, "floor", "guard: the server whose throughput and CPU are the measure"),
    option(SWEEP, "baseline", Text, "", "guard: the file of what was before"),
    option(SWEEP, "tolerance", Real, "10", "guard: by how many per cent a figure may be worse"),
    option(SWEEP, "record", Switch, "off", "guard: write the baseline"),
];

/// The names of 0.4 that 1.0 has under another name.
const RENAMED: [(&str, &str); 8] = [
    ("num-threads", "threads"),
    ("max-time", "time"),
    ("max-requests", "events"),
    ("seed-rng", "rand-seed"),
    ("mysql-db-name", "mysql-db"),
    ("tx-rate", "rate"),
    ("rand-init", "init-rng"),
    ("dist-type", "oltp-dist-type"),
];

/// What a command line said.
#[derive(Debug, Clone, Default)]
pub struct Options {
    values: BTreeMap<&'static str, Vec<String>>,
    /// The words that are no options: a workload, a command, files.
    pub words: Vec<String>,
    /// Whether this is a command line of sysbench 0.4: `--test=oltp`.
    pub is_classic: bool,
}

fn find(name: &str) -> Option<&'static OptionInfo> {
    OPTIONS.iter().find(|option| option.name == name)
}

impl Options {
    /// Reads a command line.
    ///
    /// # Errors
    /// One line that names what is wrong.
    pub fn parse<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> Result<Options, String> {
        let mut options = Options::default();
        let words: Vec<String> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
        for word in &words {
            let file = word.strip_prefix("--config-file=").or_else(|| word.strip_prefix("--config_file="));
            if let Some(file) = file.filter(|file| !file.is_empty()) {
                options.read_file(file)?;
            }
        }
        for word in &words {
            let Some(rest) = word.strip_prefix("--") else {
                options.words.push(word.to_owned());
                continue;
            };
            let (name, value) = rest.split_once('=').map_or((rest, None), |(name, value)| (name, Some(value)));
            options.set(&name.replace('_', "-"), value)?;
        }
        Ok(options)
    }

    /// Lines of a file: `name=value`, or a name alone; what begins with `#` is a comment.
    fn read_file(&mut self, file: &str) -> Result<(), String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("--config-file={file}: {error}"))?;
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let line = line.strip_prefix("--").unwrap_or(line);
            let (name, value) = line.split_once('=').map_or((line, None), |(name, value)| (name, Some(value.trim())));
            self.set(&name.trim().replace('_', "-"), value).map_err(|error| format!("{file}: {error}"))?;
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        if name == "test" {
            // 0.4 named the test so, 0.5 a file.
            let test = value.unwrap_or_default();
            if test == "oltp" {
                self.is_classic = true;
            } else {
                let file = test.rsplit('/').next().unwrap_or_default();
                self.words.insert(0, file.strip_suffix(".lua").unwrap_or(file).to_owned());
            }
            return Ok(());
        }
        let name = RENAMED.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
        let Some(option) = find(name) else {
            let names = OPTIONS.iter().map(|option| option.name).chain(RENAMED.iter().map(|(old, _)| *old));
            let hint = nearest(name, names).map_or(String::new(), |nearest| format!("; did you mean --{nearest}?"));
            return Err(format!("there is no option --{name}{hint}"));
        };
        let value = match (value, option.of) {
            (Some(value), _) => value.to_owned(),
            (None, Switch) => "on".to_owned(),
            (None, _) if matches!(name, "forced-shutdown" | "mysql-ssl") => "on".to_owned(),
            (None, _) => return Err(format!("--{name} needs a value: --{name}={}", option.default)),
        };
        let is_right = match option.of {
            Switch => switch(&value).is_some(),
            Number => number(&value).is_some(),
            Real => value.parse::<f64>().is_ok_and(|value| value.is_finite() && value >= 0.0),
            Text => true,
        };
        if !is_right {
            let kind = match option.of {
                Switch => "on or off",
                Number => "a whole number, not below zero",
                Real => "a number, not below zero",
                Text => "text",
            };
            return Err(format!("--{name}={value}: that must be {kind}"));
        }
        self.values.entry(option.name).or_default().push(value);
        Ok(())
    }

    /// Whether an option was given.
    pub fn is_given(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// An option's value as text: the last one that was given, or the default.
    pub fn text(&self, name: &str) -> &str {
        let default = find(name).map_or("", |option| option.default);
        self.values.get(name).and_then(|values| values.last()).map_or(default, String::as_str)
    }

    /// All values that were given.
    pub fn all(&self, name: &str) -> &[String] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// A whole number.
    pub fn number(&self, name: &str) -> u64 {
        number(self.text(name)).unwrap_or(0)
    }

    /// A whole number, as small as fits.
    pub fn count(&self, name: &str) -> u32 {
        u32::try_from(self.number(name)).unwrap_or(u32::MAX)
    }

    /// A whole number, signed.
    pub fn signed(&self, name: &str) -> i64 {
        i64::try_from(self.number(name)).unwrap_or(i64::MAX)
    }

    /// A number with a fraction.
    pub fn real(&self, name: &str) -> f64 {
        self.text(name).parse().unwrap_or(0.0)
    }

    /// A switch.
    pub fn switch(&self, name: &str) -> bool {
        switch(self.text(name)).unwrap_or(false)
    }

    /// The same with another value for one option. (The name is one of the table's.)
    pub fn with(&self, name: &'static str, value: &str) -> Options {
        let mut options = self.clone();
        options.values.insert(name, vec![value.to_owned()]);
        options
    }

    /// What was given, without the password.
    pub fn given(&self) -> BTreeMap<String, String> {
        let shown = |(name, values): (&&'static str, &Vec<String>)| {
            let value = if *name == "mysql-password" { "***".to_owned() } else { values.join(" ") };
            ((*name).to_owned(), value)
        };
        self.values.iter().map(shown).collect()
    }
}

fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "on" | "yes" | "true" | "1" => Some(true),
        "off" | "no" | "false" | "0" => Some(false),
        _ => None,
    }
}

fn number(value: &str) -> Option<u64> {
    let (digits, unit) = match value.char_indices().last()? {
        (at, 'k' | 'K') => (&value[..at], 1000),
        (at, 'm' | 'M') => (&value[..at], 1_000_000),
        (at, 'g' | 'G') => (&value[..at], 1_000_000_000),
        _ => (value, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// A list of numbers of clients: `1,2,4..64` goes on doubling, `10,20,30..100` in the same steps.
///
/// # Errors
/// One line.
pub fn parse_counts(text: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("{text:?} is no list of numbers: 1,2,4..1024 or 8,16,32");
    let mut counts: Vec<usize> = Vec::new();
    for part in text.split(',') {
        let parse =
            |text: &str| text.trim().parse::<usize>().ok().filter(|n| (1..=100_000).contains(n)).ok_or_else(wrong);
        match part.split_once("..") {
            None => counts.push(parse(part)?),
            Some((from, to)) => {
                let (from, to) = (parse(from)?, parse(to)?);
                let step = match counts[..] {
                    [.., first, second] if second > first && from == second + (second - first) => Some(second - first),
                    _ => None,
                };
                let mut next = from;
                while next <= to {
                    counts.push(next);
                    next = step.map_or(next * 2, |step| next + step);
                }
                if counts.last().is_some_and(|last| *last < to) {
                    counts.push(to);
                }
            }
        }
    }
    counts.dedup();
    Ok(counts)
}

/// The table of options, for people.
pub fn help() -> String {
    let mut text = String::new();
    let mut group = "";
    for option in OPTIONS {
        if option.group != group {
            group = option.group;
            text.push_str(&format!("\n{group}:\n"));
        }
        let default = if option.default.is_empty() { String::new() } else { format!(" [{}]", option.default) };
        text.push_str(&format!("  --{:<28} {}{default}\n", option.name, option.help));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(line.split_whitespace())
    }

    #[test]
    fn a_command_line_of_1_0_is_understood() {
        let options =
            parse("oltp_read_write --mysql_host=db --threads=64 --table-size=10M --skip_trx --rand-type=pareto run")
                .unwrap();
        assert_eq!(options.words, ["oltp_read_write", "run"]);
        assert_eq!((options.text("mysql-host"), options.number("threads")), ("db", 64));
        assert_eq!(options.number("table-size"), 10_000_000);
        assert!(options.switch("skip-trx") && !options.is_classic);
        assert_eq!(options.number("time"), 10);
    }

    #[test]
    fn a_command_line_of_2010_is_understood() {
        let line = "--test=oltp --oltp-table-size=2000000 --oltp-test-mode=simple --oltp-simple-update --max-time=180 \
                    --max-requests=0 --seed-rng=1 --db-ps-mode=disable --num-threads=16 --oltp-point-select-all-cols \
                    --oltp-dist-type=uniform --oltp-range-size=1 --mysql-table-engine=innodb --oltp-skip-trx run";
        let options = parse(line).unwrap();
        assert!(
            options.is_classic && options.switch("oltp-simple-update") && options.switch("oltp-point-select-all-cols")
        );
        assert_eq!((options.number("threads"), options.number("time"), options.number("events")), (16, 180, 0));
        assert_eq!((options.text("oltp-dist-type"), options.number("rand-seed")), ("uniform", 1));
        assert_eq!(options.words, ["run"]);
        let lua = parse("--test=/usr/share/sysbench/tests/db/oltp_read_only.lua --num-threads=4 run").unwrap();
        assert_eq!(lua.words, ["oltp_read_only", "run"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(parse("--thread=4").unwrap_err(), "there is no option --thread; did you mean --threads?");
        assert_eq!(parse("--zzzzqqqq=4").unwrap_err(), "there is no option --zzzzqqqq");
        assert_eq!(parse("--threads=four").unwrap_err(), "--threads=four: that must be a whole number, not below zero");
        assert_eq!(parse("--threads").unwrap_err(), "--threads needs a value: --threads=1");
        assert_eq!(parse("--skip-trx=maybe").unwrap_err(), "--skip-trx=maybe: that must be on or off");
        assert!(parse("--rate=nan").is_err());
    }

    #[test]
    fn counts_double_or_go_in_steps() {
        assert_eq!(parse_counts("1,2,4..64").unwrap(), [1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(parse_counts("1..100").unwrap(), [1, 2, 4, 8, 16, 32, 64, 100]);
        assert_eq!(parse_counts("10,20,30..50").unwrap(), [10, 20, 30, 40, 50]);
        assert_eq!(parse_counts("3,300").unwrap(), [3, 300]);
        for wrong in ["", "0", "a", "4..", "-1", "1,,2", "1000000"] {
            assert!(parse_counts(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_table_is_sound() {
        for (number, option) in OPTIONS.iter().enumerate() {
            assert!(OPTIONS[..number].iter().all(|other| other.name != option.name), "{} twice", option.name);
            assert!(Options::default().set(option.name, Some(option.default)).is_ok(), "{}", option.name);
        }
        for (_, new) in RENAMED {
            assert!(find(new).is_some());
        }
    }

    proptest! {
        #[test]
        fn no_words_make_it_panic(words in prop::collection::vec("(--)?[a-z_=.,0-9é-]{0,12}", 0..6)) {
            let _ = Options::parse(&words);
            for word in &words {
                let _ = parse_counts(word);
            }
        }
    }
}
