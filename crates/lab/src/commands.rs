//! The commands: what the words of a command line lead to.
//!
//! ```text
//! meseta lab WORKLOAD [options] prepare | prewarm | run | cleanup | check
//! meseta lab sweep [options]      meseta lab report RUN...      meseta lab guard RUN
//! meseta lab demo [options]       meseta lab floor [options]    meseta lab help
//! ```
//!
//! When it fails: one line on standard error, and exit status 2 (1 when a run was cut off by a failure, or a check of
//! the data found something).

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::admin::Admin;
use crate::generator::recorder::Second;
use crate::generator::run::Plan;
use crate::generator::target::Target;
use crate::generator::tls::{self, TlsOptions};
use crate::measure::machine;
use crate::measure::server::{ServerFacts, Wait};
use crate::options::{Options, help};
use crate::record::{self, FORMAT, Key, Point, Run, Single};
use crate::subject::{Subject, Watch};
use crate::text::{nearest, thousands};
use crate::workload::AnyWorkload;
use crate::{build, demo, floor, grid, guard, launch, load, report, summary, sweep};

const HELP: &str = "\
meseta lab: drives any server that speaks MySQL's protocol, and measures it.

  meseta lab WORKLOAD [options] prepare     make tables and fill them (again, after a stop: go on)
  meseta lab WORKLOAD [options] run         measure
  meseta lab WORKLOAD [options] cleanup     drop the tables
  meseta lab WORKLOAD [options] prewarm     read the tables into the server's memory
  meseta lab WORKLOAD [options] check       the workload's own checks of its data
  meseta lab --test=oltp [options] ...      the same, with the options of sysbench 0.4
  meseta lab sweep --workload=W --clients=1,2,4..256 --server=NAME=HOST:PORT --dir=DIR [options]
  meseta lab sweep --workload=W --cores=1,2,4..N --start=meseta --dir=DIR [options]
  meseta lab demo                           a Meseta of its own, a small data set, a sweep of two minutes, a report
  meseta lab report DIR|FILE... [--out=FILE] [--format=html|markdown|json|csv]
  meseta lab guard DIR --against=SERVER --baseline=FILE [--tolerance=10] [--record]
  meseta lab floor [--mysql-port=P]         a server that answers at once and does nothing: the limit of all

Workloads: oltp_point_select oltp_read_only oltp_read_write oltp_write_only oltp_update_index
  oltp_update_non_index oltp_insert oltp_delete select_random_points select_random_ranges bulk_insert
  dbstress, tpcc, or a FILE.toml of your own.
";

/// Set when somebody presses Ctrl-C.
pub type Interrupt = Arc<AtomicBool>;

/// Runs the lab with the words after its name. Returns the exit status.
pub fn run(words: &[String]) -> u8 {
    let interrupted = interrupt();
    match execute(words, &interrupted) {
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

/// Runs the lab, and says why it could not.
///
/// # Errors
/// One line.
pub fn execute(words: &[String], interrupted: &Interrupt) -> Result<u8, String> {
    if words.is_empty() || words.iter().any(|word| word == "--help" || word == "-h") || words[0] == "help" {
        print!("{HELP}{}", help());
        return Ok(0);
    }
    if words.iter().any(|word| word == "--version") {
        println!("meseta lab {}", env!("CARGO_PKG_VERSION"));
        return Ok(0);
    }
    let options = Options::parse(words)?;
    // (A sweep starts servers, which are not where the lab is, and has the lab there while it measures.)
    let sweeps = options.words.first().is_some_and(|word| word == "sweep");
    if !sweeps && !options.text("lab-cpus").is_empty() {
        let processors = grid::parse_processors("lab-cpus", options.text("lab-cpus"))?;
        launch::pin(&processors).map_err(|error| format!("--lab-cpus: {error}"))?;
    }
    match options.words.first().map(String::as_str) {
        Some("sweep") => return sweep::run(&options, words, interrupted),
        Some("report") => return report_of(&options),
        Some("demo") => return demo::run(&options, words, interrupted),
        Some("floor") => return floor::run(&options, interrupted),
        Some("guard") => return guard::run(&options),
        _ => (),
    }
    let (name, command) = split(&options)?;
    let workload = build::workload(name, &options)?;
    let target = target(&options)?;
    match command {
        "prepare" => prepare(&workload, &target, &options, interrupted),
        "run" => run_once(&workload, &target, &options, words, interrupted),
        "cleanup" => statements(&target, &workload.cleanup(), 1),
        "prewarm" | "warmup" => statements(&target, &workload.prewarm(), load_threads(&options)),
        "check" => check(&workload, &target),
        "help" => {
            print!("{HELP}{}", help());
            Ok(0)
        }
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
    // All hosts with the first port, then with the next: sysbench's order.
    let mut places = Vec::new();
    for port in options.text("mysql-port").split(',') {
        let port = port.trim().parse::<u16>().map_err(|_| format!("--mysql-port={port}: a number up to 65535"))?;
        places.extend(options.text("mysql-host").split(',').map(|host| (host.trim().to_owned(), port)));
    }
    let (host, port) = places.remove(0);
    let tls = tls::configure(&TlsOptions {
        mode: options.text("mysql-ssl"),
        authority: options.text("mysql-ssl-ca"),
        certificate: options.text("mysql-ssl-cert"),
        key: options.text("mysql-ssl-key"),
        ciphers: options.text("mysql-ssl-cipher"),
    })?;
    Ok(Target {
        name: String::new(),
        host,
        port,
        others: places,
        socket: (!socket.is_empty()).then(|| PathBuf::from(socket)),
        user: options.text("mysql-user").to_owned(),
        password,
        database: options.text("mysql-db").to_owned(),
        tls,
        compressed: options.switch("mysql-compression"),
    })
}

/// How many connections load.
pub fn load_threads(options: &Options) -> usize {
    match options.number("load-threads") as usize {
        0 if options.is_given("threads") => options.number("threads").clamp(1, 64) as usize,
        0 => 2 * std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Makes the workload's tables and fills them.
///
/// # Errors
/// One line.
pub fn prepare(
    workload: &AnyWorkload,
    target: &Target,
    options: &Options,
    interrupted: &Interrupt,
) -> Result<u8, String> {
    let plan = workload.load_plan(build::seed(options));
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
    let plan = build::plan(options)?;
    let percentile = options.number("percentile").min(100) as f64;
    let mut printer = Printer::new(options, &plan, percentile)?;
    let file = options.text("json");
    if !file.is_empty() {
        record::can_append(Path::new(file))?;
    }
    let mut subject = Subject::open(target.clone(), options)?;
    subject.check_limits(workload, &plan)?;
    subject.check_tables(workload)?;
    println!("meseta lab {}: {} on {}\n", env!("CARGO_PKG_VERSION"), workload.name(), target.place());
    println!("Running the test with following options:\nNumber of threads: {}", plan.clients);
    println!("Seed of random numbers: {}\n", plan.seed);
    let mut print = |second: &Second, _: &[Wait]| printer.second(second);
    let mut watch = Watch::new(&mut subject, interrupted, false, &mut print);
    watch.count_system_calls(options.switch("count-syscalls"));
    let measured = workload.run(target, &plan, &mut watch)?;
    let change = std::mem::take(&mut watch.change);
    let key = Key {
        server: subject.facts.name.clone(),
        workload: workload.name(),
        clients: plan.clients,
        round: 1,
        ..Key::default()
    };
    let mut point = Point::of(key, &measured, change, plan.rate.is_some());
    (point.seed, point.options) = (plan.seed, options.given());
    print!("{}", summary::report(&point, percentile, options.switch("histogram")));
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

/// Prints what a run says meanwhile: a line for each interval, a report at each checkpoint.
struct Printer {
    every: u64,
    held: Option<Second>,
    seconds_held: u64,
    checkpoints: Vec<u64>,
    since_checkpoint: Option<Second>,
    checkpoint: u64,
    clients: usize,
    percentile: f64,
    is_open_loop: bool,
}

impl Printer {
    fn new(options: &Options, plan: &Plan, percentile: f64) -> Result<Printer, String> {
        let text = options.text("report-checkpoints");
        let numbers = text.split(',').filter(|part| !part.is_empty()).map(|part| part.trim().parse::<u64>());
        let checkpoints = numbers
            .collect::<Result<Vec<_>, _>>()
            .map_err(|_| format!("--report-checkpoints={text}: seconds, as in 60,120"))?;
        Ok(Printer {
            every: options.number("report-interval"),
            held: None,
            seconds_held: 0,
            checkpoints,
            since_checkpoint: None,
            checkpoint: 0,
            clients: plan.clients,
            percentile,
            is_open_loop: plan.rate.is_some(),
        })
    }

    fn second(&mut self, second: &Second) {
        let now = second.number + 1;
        if self.every > 0 {
            hold(&mut self.held, second);
            self.seconds_held += 1;
            if self.seconds_held == self.every
                && let Some(held) = self.held.take()
            {
                let seconds = std::mem::take(&mut self.seconds_held) as f64;
                let line =
                    summary::interval_line(&held, now, seconds, self.clients, self.percentile, self.is_open_loop);
                println!("{line}");
            }
        }
        if !self.checkpoints.is_empty() {
            hold(&mut self.since_checkpoint, second);
            if self.checkpoints.contains(&now)
                && let Some(held) = self.since_checkpoint.take()
            {
                println!("[ {now}s ] Checkpoint report:");
                let seconds = (now - std::mem::replace(&mut self.checkpoint, now)) as f64;
                print!("{}", summary::checkpoint(&held, seconds, self.percentile));
            }
        }
        // A reader of a pipe may have gone.
        let _ = std::io::stdout().flush();
    }
}

/// Adds a second to those that are held.
fn hold(held: &mut Option<Second>, second: &Second) {
    match held {
        Some(held) => {
            held.merge(second);
            (held.queued, held.active) = (second.queued, second.active);
        }
        None => *held = Some(second.clone()),
    }
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
