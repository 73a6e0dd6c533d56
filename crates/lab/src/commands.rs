//! The commands: what the words of a command line lead to.
//!
//! ```text
//! meseta lab WORKLOAD [options] prepare | prewarm | run | cleanup | check
//! meseta lab sweep [options]      meseta lab report RUN...      meseta lab help
//! ```
//!
//! When it fails: one line on standard error, and exit status 2 (1 when a run was cut off by a failure, or a check of
//! the data found something).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::admin::Admin;
use crate::generator::Kind;
use crate::generator::recorder::Second;
use crate::generator::run::{Ignore, Observer, Plan};
use crate::generator::target::Target;
use crate::load;
use crate::measure::server::{Change, Look, ServerFacts, change, facts, look};
use crate::measure::{machine, process};
use crate::options::{Options, help};
use crate::random::{Random, Shape};
use crate::record::{self, FORMAT, Key, Point, Run, Single};
use crate::text::{nearest, thousands};
use crate::workload::{AnyWorkload, classic, custom, dbstress, sysbench, tpcc};
use crate::{report, summary, sweep};

const HELP: &str = "\
meseta lab: drives any server that speaks MySQL's protocol, and measures it.

  meseta lab WORKLOAD [options] prepare     make tables and fill them (again, after a stop: go on)
  meseta lab WORKLOAD [options] run         measure
  meseta lab WORKLOAD [options] cleanup     drop the tables
  meseta lab WORKLOAD [options] prewarm     read the tables into the server's memory
  meseta lab WORKLOAD [options] check       the workload's own checks of its data
  meseta lab --test=oltp [options] ...      the same, with the options of sysbench 0.4
  meseta lab sweep --workload=W --clients=1,2,4..256 --server=NAME=HOST:PORT --dir=DIR [options]
  meseta lab demo [server options]          a small data set and a sweep of two minutes, in a database of its own
  meseta lab report DIR|FILE... [--out=FILE] [--format=html|markdown|json|csv]

Workloads: oltp_point_select oltp_read_only oltp_read_write oltp_write_only oltp_update_index
  oltp_update_non_index oltp_insert oltp_delete select_random_points select_random_ranges bulk_insert
  dbstress, tpcc, or a FILE.toml of your own.
";

/// Set when somebody presses Ctrl-C.
pub type Interrupt = Arc<AtomicBool>;

/// Runs the lab with the words after its name. Returns the exit status.
pub fn run(words: &[String]) -> u8 {
    let interrupted = interrupt();
    match dispatch(words, &interrupted) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("meseta lab: {error}");
            2
        }
    }
}

/// The first Ctrl-C ends the run cleanly, the second the program.
fn interrupt() -> Interrupt {
    let interrupted = Interrupt::default();
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // (Fails for signals that cannot be caught only.)
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, interrupted.clone());
        let _ = signal_hook::flag::register(signal, interrupted.clone());
    }
    interrupted
}

fn dispatch(words: &[String], interrupted: &Interrupt) -> Result<u8, String> {
    if words.is_empty() || words.iter().any(|word| word == "--help" || word == "-h") || words[0] == "help" {
        print!("{HELP}{}", help());
        return Ok(0);
    }
    let options = Options::parse(words)?;
    match options.words.first().map(String::as_str) {
        Some("sweep") => return sweep::run(&options, words, interrupted),
        Some("report") => return report_of(&options),
        Some("demo") => return demo(&options, words, interrupted),
        _ => (),
    }
    let (name, command) = split(&options)?;
    let workload = workload(name, &options)?;
    let target = target(&options)?;
    match command {
        "prepare" => prepare(&workload, &target, &options, interrupted),
        "run" => run_once(&workload, &target, &options, words, interrupted),
        "cleanup" => statements(&target, &workload.cleanup(), 1),
        "prewarm" | "warmup" => statements(&target, &workload.prewarm(), load_threads(&options)),
        "check" => check(&workload, &target),
        other => {
            let hint = nearest(other, ["prepare", "run", "cleanup", "prewarm", "check"]);
            let hint = hint.map_or(String::new(), |nearest| format!("; did you mean {nearest}?"));
            Err(format!("there is no command {other:?}{hint}"))
        }
    }
}

/// The workload's name and the command.
fn split(options: &Options) -> Result<(&str, &str), String> {
    let mut words: Vec<&str> = options.words.iter().map(String::as_str).collect();
    if options.is_classic {
        words.insert(0, "oltp");
    }
    match words[..] {
        [name] => Ok((name, "run")),
        [name, command] => Ok((name, command)),
        [] => Err("which workload? See meseta lab help".to_owned()),
        _ => Err(format!("{:?}: one workload and one command are enough", words[2])),
    }
}

/// The server that the options name.
pub fn target(options: &Options) -> Result<Target, String> {
    if options.text("db-driver") != "mysql" {
        return Err("--db-driver: there is mysql only".to_owned());
    }
    let socket = options.text("mysql-socket");
    let password = match options.text("mysql-password") {
        "" => std::env::var("MYSQL_PWD").unwrap_or_default(),
        password => password.to_owned(),
    };
    let port = options.number("mysql-port");
    Ok(Target {
        name: String::new(),
        host: options.text("mysql-host").to_owned(),
        port: u16::try_from(port).map_err(|_| format!("--mysql-port={port}: ports end at 65535"))?,
        socket: (!socket.is_empty()).then(|| PathBuf::from(socket)),
        user: options.text("mysql-user").to_owned(),
        password,
        database: options.text("mysql-db").to_owned(),
    })
}

fn per_cent(options: &Options, name: &str, most: u64) -> Result<u64, String> {
    let value = options.number(name);
    if value <= most { Ok(value) } else { Err(format!("--{name}={value}: at most {most}")) }
}

fn shape(options: &Options) -> Result<Shape, String> {
    let iterations = options.count("rand-spec-iter");
    let percent = per_cent(options, "rand-spec-pct", 100)? as f64;
    let hot = per_cent(options, "rand-spec-res", 99)? as f64;
    Ok(match options.text("rand-type") {
        "uniform" => Shape::Uniform,
        "gaussian" => Shape::Gaussian { iterations },
        "special" => Shape::Special { iterations, percent, hot },
        "pareto" => match options.real("rand-pareto-h") {
            h if h > 0.0 && h < 1.0 => Shape::Pareto { h },
            h => return Err(format!("--rand-pareto-h={h}: between 0 and 1")),
        },
        "zipfian" => Shape::Zipfian { exponent: options.real("rand-zipfian-exp") },
        other => return Err(format!("--rand-type={other}: uniform, gaussian, special, pareto or zipfian")),
    })
}

/// The workload of that name, as the options want it.
pub fn workload(name: &str, options: &Options) -> Result<AnyWorkload, String> {
    if name == "oltp" {
        return Ok(AnyWorkload::Classic(Arc::new(classic(options)?)));
    }
    if name.ends_with(".toml") {
        let text = std::fs::read_to_string(name).map_err(|error| format!("{name}: {error}"))?;
        return Ok(AnyWorkload::Custom(Arc::new(
            custom::Custom::parse(&text).map_err(|error| format!("{name}: {error}"))?,
        )));
    }
    if let Some((_, test)) = sysbench::TESTS.iter().find(|(known, _)| *known == name) {
        return Ok(AnyWorkload::Sysbench(Arc::new(sysbench_of(*test, options)?)));
    }
    let (family, variant) = name.split_once(':').map_or((name, None), |(family, variant)| (family, Some(variant)));
    match family {
        "dbstress" => {
            Ok(AnyWorkload::DbStress(Arc::new(dbstress_of(variant.unwrap_or(options.text("scenario")), options)?)))
        }
        "tpcc" => Ok(AnyWorkload::Tpcc(Arc::new(tpcc::Tpcc {
            warehouses: options.signed("warehouses").clamp(1, 100_000),
            keying: options.switch("keying"),
            engine: options.text("mysql-storage-engine").to_owned(),
        }))),
        _ => {
            let names = sysbench::TESTS.iter().map(|(name, _)| *name).chain(["dbstress", "tpcc", "sweep", "report"]);
            let hint = nearest(name, names).map_or(String::new(), |nearest| format!("; did you mean {nearest}?"));
            Err(format!("there is no workload {name:?}{hint}"))
        }
    }
}

fn sysbench_of(test: sysbench::Test, options: &Options) -> Result<sysbench::Sysbench, String> {
    let tables = options.number("tables").clamp(1, 100_000) as usize;
    let is_slices = matches!(test, sysbench::Test::RandomPoints | sysbench::Test::RandomRanges);
    if is_slices && tables > 1 {
        return Err(format!("--tables={tables}: this test works on one table"));
    }
    // bulk_insert has a table for each client.
    let tables = if test == sysbench::Test::BulkInsert { options.number("threads").max(1) as usize } else { tables };
    Ok(sysbench::Sysbench {
        test,
        tables,
        table_size: options.signed("table-size").max(1),
        range_size: options.signed("range-size"),
        point_selects: options.count("point-selects"),
        simple_ranges: options.count("simple-ranges"),
        sum_ranges: options.count("sum-ranges"),
        order_ranges: options.count("order-ranges"),
        distinct_ranges: options.count("distinct-ranges"),
        index_updates: options.count("index-updates"),
        non_index_updates: options.count("non-index-updates"),
        delete_inserts: options.count("delete-inserts"),
        range_selects: options.switch("range-selects"),
        skip_trx: options.switch("skip-trx"),
        auto_inc: options.switch("auto-inc"),
        secondary: options.switch("secondary"),
        create_secondary: options.switch("create-secondary"),
        engine: options.text("mysql-storage-engine").to_owned(),
        random_points: options.count("random-points").clamp(1, 60_000),
        random_ranges: options.count("random-ranges").clamp(1, 30_000),
        delta: options.signed("delta"),
        shape: shape(options)?,
        prepares: prepares(options)?,
    })
}

fn classic(options: &Options) -> Result<classic::Classic, String> {
    use classic::{Mode, NonTransactional};
    let mode = match options.text("oltp-test-mode") {
        "complex" => Mode::Complex,
        "simple" => Mode::Simple,
        "nontrx" => Mode::NonTransactional(match options.text("oltp-nontrx-mode") {
            "select" => NonTransactional::Select,
            "update_key" => NonTransactional::UpdateKey,
            "update_nokey" => NonTransactional::UpdateNoKey,
            "insert" => NonTransactional::Insert,
            "delete" => NonTransactional::Delete,
            other => {
                return Err(format!("--oltp-nontrx-mode={other}: select, update_key, update_nokey, insert or delete"));
            }
        }),
        other => return Err(format!("--oltp-test-mode={other}: complex, simple or nontrx")),
    };
    if !options.text("oltp-sp-name").is_empty() {
        return Err("--oltp-sp-name: procedures are not called; a workload of your own (FILE.toml) can".to_owned());
    }
    if options.text("oltp-reconnect-mode") != "session" {
        return Err("--oltp-reconnect-mode: there is session only".to_owned());
    }
    let (iterations, percent) = (options.count("oltp-dist-iter"), per_cent(options, "oltp-dist-pct", 100)? as u32);
    let shape = match options.text("oltp-dist-type") {
        "uniform" => Shape::Uniform,
        "gaussian" => Shape::Gaussian { iterations },
        "special" => Shape::Special04 { iterations, percent, hot: per_cent(options, "oltp-dist-res", 99)? as u32 },
        other => return Err(format!("--oltp-dist-type={other}: uniform, gaussian or special")),
    };
    let delay = |name| Duration::from_micros(options.number(name));
    let (least, most) = (delay("oltp-user-delay-min"), delay("oltp-user-delay-max"));
    let engine = if options.is_given("mysql-table-engine") { "mysql-table-engine" } else { "mysql-storage-engine" };
    Ok(classic::Classic {
        mode,
        read_only: options.switch("oltp-read-only"),
        skip_trx: options.switch("oltp-skip-trx"),
        point_selects: options.count("oltp-point-selects"),
        simple_ranges: options.count("oltp-simple-ranges"),
        sum_ranges: options.count("oltp-sum-ranges"),
        order_ranges: options.count("oltp-order-ranges"),
        distinct_ranges: options.count("oltp-distinct-ranges"),
        index_updates: options.count("oltp-index-updates"),
        non_index_updates: options.count("oltp-non-index-updates"),
        range_size: options.signed("oltp-range-size"),
        auto_inc: options.switch("oltp-auto-inc"),
        secondary: options.switch("oltp-secondary"),
        table_name: options.text("oltp-table-name").to_owned(),
        table_size: options.signed("oltp-table-size").max(1),
        engine: options.text(engine).to_owned(),
        point_select_all_cols: options.switch("oltp-point-select-all-cols"),
        simple_update: options.switch("oltp-simple-update"),
        simple_update_key: options.text("oltp-simple-update-column") == "k",
        simple_update_same_id: options.switch("oltp-simple-update-same-id"),
        user_delay: (most > Duration::ZERO).then_some((least.min(most), most)),
        shape,
    })
}

fn dbstress_of(scenario: &str, options: &Options) -> Result<dbstress::DbStress, String> {
    let names = || dbstress::SCENARIOS.iter().map(|(name, _)| *name);
    let Some((_, parts)) = dbstress::SCENARIOS.iter().find(|(name, _)| *name == scenario) else {
        return Err(format!("--scenario={scenario}: {}", names().collect::<Vec<_>>().join(", ")));
    };
    Ok(dbstress::DbStress {
        scenario: scenario.to_owned(),
        parts: *parts,
        rw_ratio: options.number("rw-ratio"),
        objects: options.number("objects").max(1),
        sets: options.number("sets").clamp(1, 1000) as usize,
        hpk: options.switch("hpk"),
        anti_dead: options.switch("anti-dead"),
        same_ref: options.switch("same-ref"),
        for_update: options.switch("for-update"),
        in_transaction: options.switch("in-transaction"),
        engine: options.text("mysql-storage-engine").to_owned(),
        shape: if options.is_given("rand-type") { shape(options)? } else { Shape::Uniform },
    })
}

fn prepares(options: &Options) -> Result<bool, String> {
    match options.text("db-ps-mode") {
        "auto" => Ok(true),
        "disable" => Ok(false),
        other => Err(format!("--db-ps-mode={other}: auto or disable")),
    }
}

/// Where chance begins.
pub fn seed(options: &Options) -> u64 {
    match options.number("rand-seed") {
        // Without a seed 0.4 always began at the same place.
        0 if options.is_classic && !options.switch("init-rng") => 1,
        0 => Random::fresh_seed(),
        seed => seed,
    }
}

/// How the load is to be.
pub fn plan(options: &Options) -> Result<Plan, String> {
    let clients = options.number("threads") as usize;
    if !(1..=100_000).contains(&clients) {
        return Err(format!("--threads={clients}: 1 to 100,000"));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let seconds = |name| Duration::from_secs(options.number(name).min(366 * 86_400));
    // In 0.4 a run was bounded by 10,000 requests, and not by time.
    let (time, events) = match (options.is_classic, options.is_given("time"), options.is_given("events")) {
        (true, _, false) => (if options.is_given("time") { options.number("time") } else { 0 }, 10_000),
        (true, false, true) => (0, options.number("events")),
        _ => (options.number("time"), options.number("events")),
    };
    let codes = |text: &str| text.split(',').map(|code| code.trim().parse().ok()).collect::<Option<Vec<u16>>>();
    let ignore = match options.text("mysql-ignore-errors") {
        "all" => Ignore::All,
        "none" | "" => Ignore::These(Vec::new()),
        text => Ignore::These(codes(text).ok_or_else(|| format!("--mysql-ignore-errors={text}: numbers, or all"))?),
    };
    let think = options.text("think-time");
    let milliseconds = |text: &str| {
        let value = text.parse::<f64>().ok().filter(|value| (0.0..1e9).contains(value));
        value
            .map(|value| Duration::from_secs_f64(value / 1e3))
            .ok_or_else(|| format!("--think-time={think}: milliseconds"))
    };
    let (least, most) = match think.split_once("..") {
        Some((least, most)) => (milliseconds(least)?, milliseconds(most)?),
        None => (milliseconds(think)?, milliseconds(think)?),
    };
    let rate = options.real("rate");
    Ok(Plan {
        clients,
        workers: match options.number("workers") as usize {
            0 => (processors / 4).max(1),
            workers => workers.min(1024),
        },
        warm_up: seconds("warmup-time"),
        time: (time > 0).then(|| Duration::from_secs(time.min(366 * 86_400))),
        events: (events > 0).then_some(events),
        rate: (rate > 0.0).then_some(rate),
        think: (most > Duration::ZERO).then_some((least.min(most), most)),
        ignore,
        prepares: prepares(options)?,
        seed: seed(options),
    })
}

fn load_threads(options: &Options) -> usize {
    match options.number("load-threads") as usize {
        0 if options.is_given("threads") => options.number("threads").clamp(1, 64) as usize,
        0 => 2 * std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

fn prepare(workload: &AnyWorkload, target: &Target, options: &Options, interrupted: &Interrupt) -> Result<u8, String> {
    let plan = workload.load_plan(seed(options));
    let is_terminal = std::io::IsTerminal::is_terminal(&std::io::stderr());
    let begun = std::time::Instant::now();
    let mut progress = |share: f64, rows: u64| {
        if is_terminal {
            let bar = "#".repeat((share * 30.0) as usize);
            let rate = rows as f64 / begun.elapsed().as_secs_f64().max(1e-3);
            eprint!("\r[{bar:<30}] {:>5.1} %  {} rows/s  ", share * 100.0, thousands(rate as u64));
        }
    };
    let loaded = load::load(target, plan, load_threads(options), interrupted, &mut progress)?;
    if is_terminal {
        eprintln!();
    }
    println!(
        "loaded {} rows in {:.1} s ({} rows/s), with indexes in {:.1} s{}",
        thousands(loaded.rows),
        loaded.rows_time.as_secs_f64(),
        thousands((loaded.rows as f64 / loaded.rows_time.as_secs_f64().max(1e-3)) as u64),
        loaded.time.as_secs_f64(),
        if loaded.resumed > 0 { format!("; {} were there", thousands(loaded.resumed)) } else { String::new() }
    );
    Ok(0)
}

fn statements(target: &Target, statements: &[String], threads: usize) -> Result<u8, String> {
    load::in_parallel(target, statements, threads).map(|()| 0)
}

/// Asks the workload's checks; prints each, and returns 1 if one failed.
///
/// # Errors
/// One line.
pub fn check(workload: &AnyWorkload, target: &Target) -> Result<u8, String> {
    let mut admin = Admin::connect(target).map_err(|failure| target.explain(&failure))?;
    let mut status = 0;
    for (meaning, question) in workload.checks() {
        let rows = admin.query(&question).map_err(|failure| target.explain(&failure))?;
        println!("{} {meaning}", if rows.is_empty() { "ok      " } else { "VIOLATED" });
        if !rows.is_empty() {
            status = 1;
        }
    }
    Ok(status)
}

/// A server that is about to be measured.
pub struct Subject {
    /// It.
    pub target: Target,
    /// What it says of itself.
    pub facts: ServerFacts,
    /// A connection for looks.
    pub admin: Admin,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Subject {
    /// Connects, and reads the facts.
    ///
    /// # Errors
    /// One line.
    pub fn open(target: Target, options: &Options) -> Result<Subject, String> {
        let mut admin = Admin::connect(&target).map_err(|failure| target.explain(&failure))?;
        let pid = match options.number("server-pid") {
            0 => process::server_process(&target),
            pid => u32::try_from(pid).ok(),
        };
        // What is no whole server (a proxy, a test) may have no variables.
        let facts = facts(&mut admin, &target, pid).unwrap_or_default();
        let facts = ServerFacts {
            name: target.name.clone(),
            place: target.place(),
            pid,
            version: admin.server_version(),
            ..facts
        };
        Ok(Subject { target, facts, admin })
    }

    /// Says what the server would refuse, before there is any load.
    ///
    /// # Errors
    /// One line that says what to do.
    pub fn check_limits(&self, workload: &AnyWorkload, plan: &Plan) -> Result<(), String> {
        let limit = |name: &str| self.facts.variables.get(name).and_then(|value| value.parse::<usize>().ok());
        if let Some(most) = limit("max_connections")
            && plan.clients >= most
        {
            return Err(format!(
                "{} takes {most} connections: raise max_connections to {} there, or ask for fewer clients",
                self.target.place(),
                plan.clients + 10
            ));
        }
        let statements = plan.clients * workload.prepared_statements();
        if plan.prepares
            && let Some(most) = limit("max_prepared_stmt_count")
            && statements > most
        {
            return Err(format!(
                "{statements} prepared statements are more than the server's max_prepared_stmt_count of {most}: \
                 raise it, \
                 or use --db-ps-mode=disable"
            ));
        }
        Ok(())
    }
}

/// Watches a run: looks at the server before and after, and passes seconds on.
pub struct Watch<'a> {
    subject: &'a mut Subject,
    interrupted: &'a AtomicBool,
    before: Option<Look>,
    /// What changed; there when the run is over.
    pub change: Change,
    on_second: &'a mut dyn FnMut(&Second, &[Kind]),
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl<'a> Watch<'a> {
    /// A watch that tells `on_second`.
    pub fn new(
        subject: &'a mut Subject,
        interrupted: &'a AtomicBool,
        on_second: &'a mut dyn FnMut(&Second, &[Kind]),
    ) -> Watch<'a> {
        Watch { subject, interrupted, before: None, change: Change::default(), on_second }
    }
}

impl Observer for Watch<'_> {
    fn on_begin(&mut self) {
        self.before = Some(look(&mut self.subject.admin, self.subject.facts.pid));
    }

    fn on_second(&mut self, second: &Second, kinds: &[Kind]) {
        (self.on_second)(second, kinds);
    }

    fn on_end(&mut self) {
        if let Some(before) = &self.before {
            self.change = change(before, &look(&mut self.subject.admin, self.subject.facts.pid));
        }
    }

    fn wants_end(&mut self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// The facts that all points of a run share.
pub fn describe(options: &Options, words: &[String], servers: Vec<ServerFacts>) -> Run {
    let hide = |word: &String| {
        let secret = word.starts_with("--mysql-password=") || word.starts_with("--mysql_password=");
        if secret { "--mysql-password=***".to_owned() } else { word.clone() }
    };
    Run {
        format: FORMAT,
        title: options.text("title").to_owned(),
        command: ["meseta", "lab"].map(str::to_owned).into_iter().chain(words.iter().map(hide)).collect(),
        started: record::now(),
        machine: machine::machine(),
        servers,
    }
}

fn run_once(
    workload: &AnyWorkload,
    target: &Target,
    options: &Options,
    words: &[String],
    interrupted: &Interrupt,
) -> Result<u8, String> {
    let plan = plan(options)?;
    let mut subject = Subject::open(target.clone(), options)?;
    subject.check_limits(workload, &plan)?;
    let percentile = options.number("percentile").min(100) as f64;
    let every = options.number("report-interval");
    println!("meseta lab {}: {} on {}\n", env!("CARGO_PKG_VERSION"), workload.name(), target.place());
    println!("Running the test with following options:\nNumber of threads: {}", plan.clients);
    println!("Seed of random numbers: {}\n", plan.seed);
    let mut held: Option<Second> = None;
    let mut seconds_held = 0;
    let mut print = |second: &Second, _: &[Kind]| {
        if every == 0 {
            return;
        }
        match &mut held {
            Some(held) => {
                held.merge(second);
                (held.queued, held.active) = (second.queued, second.active);
            }
            None => held = Some(second.clone()),
        }
        seconds_held += 1;
        if seconds_held == every
            && let Some(held) = held.take()
        {
            let line = summary::interval_line(
                &held,
                second.number + 1,
                every as f64,
                plan.clients,
                percentile,
                plan.rate.is_some(),
            );
            println!("{line}");
            // A reader of a pipe may have gone.
            let _ = std::io::stdout().flush();
            seconds_held = 0;
        }
    };
    let mut watch = Watch::new(&mut subject, interrupted, &mut print);
    let measured = workload.run(target, &plan, &mut watch)?;
    let change = std::mem::take(&mut watch.change);
    let key = Key { server: subject.facts.name.clone(), workload: workload.name(), clients: plan.clients, round: 1 };
    let mut point = Point::of(key, &measured, change, plan.rate.is_some());
    (point.seed, point.options) = (plan.seed, options.given());
    print!("{}", summary::report(&point, percentile, options.switch("histogram")));
    let file = options.text("json");
    if !file.is_empty() {
        let run = describe(options, words, vec![subject.facts.clone()]);
        record::append(Path::new(file), &Single { run, point: point.clone() })?;
    }
    match &point.ended {
        None => Ok(0),
        Some(why) => {
            eprintln!("meseta lab: the run ended early: {why}");
            Ok(1)
        }
    }
}

/// The database of the demonstration.
const DEMO_DATABASE: &str = "meseta_lab_demo";

/// For newcomers: loads a little, sweeps for two minutes, reports, and leaves nothing on the server.
fn demo(options: &Options, words: &[String], interrupted: &Interrupt) -> Result<u8, String> {
    let nowhere = Target { database: String::new(), ..target(options)? };
    let mut admin = Admin::connect(&nowhere).map_err(|failure| nowhere.explain(&failure))?;
    let mut execute = |text: String| admin.execute(&text).map_err(|failure| nowhere.explain(&failure));
    execute(format!("DROP DATABASE IF EXISTS {DEMO_DATABASE}"))?;
    execute(format!("CREATE DATABASE {DEMO_DATABASE}"))?;
    let mut options = options.with("mysql-db", DEMO_DATABASE);
    options.words = vec!["sweep".to_owned()];
    let directory = format!("lab-demo-{}", record::now());
    for (name, value) in [
        ("workload", "oltp_point_select,oltp_read_only,oltp_read_write"),
        ("clients", "1,4,16,64,256"),
        ("time", "6"),
        ("table-size", "50000"),
        ("dir", directory.as_str()),
        ("title", "A first look"),
    ] {
        if !options.is_given(name) {
            options = options.with(name, value);
        }
    }
    let target = target(&options)?;
    let done = workload("oltp_read_write", &options)
        .and_then(|workload| prepare(&workload, &target, &options, interrupted))
        .and_then(|_| sweep::run(&options, words, interrupted));
    execute(format!("DROP DATABASE {DEMO_DATABASE}"))?;
    done
}

fn report_of(options: &Options) -> Result<u8, String> {
    let files: Vec<PathBuf> = options.words[1..].iter().map(PathBuf::from).collect();
    if files.is_empty() {
        return Err("of which runs? meseta lab report DIR|FILE...".to_owned());
    }
    let data = report::read(&files, options.text("title"))?;
    let format = options.text("format");
    let text = report::render(&data, format)?;
    let default = files[0].join(format!("report.{}", if format == "markdown" { "md" } else { format }));
    let out = match options.text("out") {
        "" if files[0].is_dir() => default,
        "" => PathBuf::from("-"),
        out => PathBuf::from(out),
    };
    if out.as_os_str() == "-" {
        print!("{text}");
    } else {
        std::fs::write(&out, text).map_err(|error| format!("{}: {error}", out.display()))?;
        println!("{}", out.display());
    }
    Ok(0)
}
