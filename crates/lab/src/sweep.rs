//! Sweeps: a grid, measured in rounds.
//!
//! ```text
//! for each place of the grid { its stage is up: start, load, warm; measure; append to points.jsonl; pause }
//! ```
//!
//! The folder keeps each point as soon as it is measured; the same command again goes on with what is missing. Data of
//! servers that the lab starts is in the folder too, and removed when the whole grid is measured.
//!
//! When it fails: a point that fails is kept with its reason, and the sweep goes on; a server that does not start ends
//! it, as does Ctrl-C, and the report of what there is is written.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::admin::Admin;
use crate::commands::{self, Interrupt};
use crate::generator::Failure;
use crate::generator::recorder::Second;
use crate::generator::target::Target;
use crate::grid::{Grid, Place, Setting, Stage};
use crate::launch::{self, Launched};
use crate::measure::server::Wait;
use crate::options::Options;
use crate::record::{self, Key, Point, Run};
use crate::subject::{Subject, Watch};
use crate::view::{View, time};
use crate::workload::AnyWorkload;
use crate::{build, load, report};

/// A stage that is up.
struct Up {
    number: usize,
    /// (Before the server: its connection is closed before that ends.)
    subjects: Vec<Subject>,
    _launched: Option<Launched>,
}

/// A sweep.
struct Sweep<'a> {
    options: &'a Options,
    words: &'a [String],
    interrupted: &'a Interrupt,
    grid: Grid,
    directory: PathBuf,
    /// Where servers that the lab starts have their data.
    data: PathBuf,
    /// Names of servers whose facts are kept.
    known: BTreeSet<String>,
    view: View,
}

/// The sweep that the options describe.
///
/// # Errors
/// One line, before any load.
pub fn run(options: &Options, words: &[String], interrupted: &Interrupt) -> Result<u8, String> {
    let directory = PathBuf::from(options.text("dir"));
    if directory.as_os_str().is_empty() {
        return Err("a sweep needs a folder: --dir=DIR".to_owned());
    }
    let grid = Grid::of(options)?;
    let plan = build::plan(&options.with("threads", &grid.most_clients().to_string()))?;
    // Servers that run are asked for their limits before anything is measured.
    let running: Option<usize> = grid.stages.iter().position(|stage| matches!(stage, Stage::Running(_)));
    let mut up = match running {
        Some(number) => Some(open_running(&grid, number, options)?),
        None => None,
    };
    for subject in up.iter_mut().flat_map(|up| &mut up.subjects) {
        for workload in &grid.workloads {
            subject.check_limits(workload, &plan)?;
            subject.check_tables(workload)?;
        }
    }
    fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    record::has_room(&directory)?;
    let (run_file, points_file) = (directory.join("run.json"), directory.join("points.jsonl"));
    let (mut done, mut known) = (BTreeSet::<Key>::new(), BTreeSet::new());
    if run_file.exists() {
        known.extend(read_run(&directory)?.servers.into_iter().map(|server| server.name));
        if points_file.exists() {
            let (points, _) = record::read_lines::<Point>(&points_file)?;
            done.extend(points.into_iter().filter(|point| point.ended.is_none()).map(|point| point.key));
        }
    }
    let places: Vec<Place> = grid.places().into_iter().filter(|place| !done.contains(&place.key)).collect();
    let there = grid.places().len() - places.len();
    println!(
        "{} points to measure ({there} are there), about {}",
        places.len(),
        time(estimate(&grid, &places, options))
    );
    let data = match options.text("data-dir") {
        "" => directory.join("data"),
        data => PathBuf::from(data),
    };
    let view = View::new(places.len(), grid.rounds, options.number("time"));
    let mut sweep = Sweep { options, words, interrupted, grid, directory, data, known, view };
    let ended = sweep.measure_all(&places, &mut up, &points_file);
    drop(up);
    let is_interrupted = interrupted.load(Ordering::Relaxed);
    if ended.is_ok() && !is_interrupted && !options.switch("keep-data") && sweep.data.exists() {
        // What is left says where it is.
        fs::remove_dir_all(&sweep.data).map_err(|error| format!("{}: {error}", sweep.data.display()))?;
    }
    if !points_file.exists() {
        let why = "interrupted before a point was measured; the same command again goes on from here".to_owned();
        return ended.and(Err(why));
    }
    let reported = sweep.report();
    ended.and(reported).map(|()| u8::from(is_interrupted))
}

/// How long it will take, in seconds.
fn estimate(grid: &Grid, places: &[Place], options: &Options) -> f64 {
    let each = options.real("time") + options.real("warmup-time") + options.real("pause") + 0.4;
    let is_start = |place: &&Place| matches!(grid.stages[place.stage], Stage::Start(_));
    let starts: BTreeSet<_> = places.iter().filter(is_start).map(|place| (place.key.round, place.stage)).collect();
    places.len() as f64 * each + starts.len() as f64 * 3.0
}

fn open_running(grid: &Grid, number: usize, options: &Options) -> Result<Up, String> {
    let Stage::Running(targets) = &grid.stages[number] else {
        return Ok(Up { number, subjects: Vec::new(), _launched: None });
    };
    let subjects =
        targets.iter().map(|target| Subject::open(target.clone(), options)).collect::<Result<Vec<_>, String>>()?;
    Ok(Up { number, subjects, _launched: None })
}

impl Sweep<'_> {
    fn measure_all(&mut self, places: &[Place], up: &mut Option<Up>, points_file: &Path) -> Result<(), String> {
        for (number, place) in places.iter().enumerate() {
            if self.interrupted.load(Ordering::Relaxed) {
                break;
            }
            if up.as_ref().is_none_or(|up| up.number != place.stage) {
                // (The last server ends before the next begins.)
                *up = None;
                *up = match self.bring_up(place.stage) {
                    Ok(up) => Some(up),
                    Err(_) if self.interrupted.load(Ordering::Relaxed) => break,
                    Err(why) => return Err(why),
                };
            }
            let Some(subject) = up.as_mut().and_then(|up| up.subjects.get_mut(place.server)) else { break };
            self.keep_facts(subject, &place.key)?;
            let point = self.measure(subject, place, number)?;
            if self.interrupted.load(Ordering::Relaxed) && point.seconds < 1.0 {
                break;
            }
            record::append(points_file, &point)?;
            self.view.point(number, &point);
            if number + 1 < places.len() {
                pause(Duration::from_secs_f64(self.options.real("pause").min(3600.0)), self.interrupted);
            }
        }
        Ok(())
    }

    fn bring_up(&mut self, number: usize) -> Result<Up, String> {
        let setting = match &self.grid.stages[number] {
            Stage::Running(_) => return open_running(&self.grid, number, self.options),
            Stage::Start(setting) => setting.clone(),
        };
        // A server of the lab's own has nobody but its administrator.
        let with_user = if self.options.is_given("mysql-user") {
            self.options.clone()
        } else {
            self.options.with("mysql-user", "root")
        };
        let base = commands::target(&with_user)?;
        let directory = setting.directory(&self.data);
        let processors = self.grid.on(setting.cores);
        // (The lab's own connections, and room for the server's.)
        let connections = self.grid.most_clients() + 20;
        let pinned = if setting.cores.is_some() || self.options.is_given("server-cpus") { processors } else { &[] };
        let launched = Launched::start(&setting.recipe, &directory, pinned, connections, &base, self.interrupted)?;
        if setting.recipe.has_data {
            self.load(&launched.target, &directory, &setting)?;
        }
        let subject = Subject::open(launched.target.clone(), self.options)?;
        Ok(Up { number, subjects: vec![subject], _launched: Some(launched) })
    }

    /// Makes and fills tables, if that has not been done in this directory, and reads them.
    fn load(&mut self, target: &Target, directory: &Path, setting: &Setting) -> Result<(), String> {
        let nowhere = Target { database: String::new(), ..target.clone() };
        let mut admin = Admin::connect(&nowhere).map_err(|failure| nowhere.explain(&failure))?;
        admin
            .execute(&format!("CREATE DATABASE IF NOT EXISTS `{}`", target.database.replace('`', "``")))
            .map_err(|failure| nowhere.explain(&failure))?;
        let mut loaded = BTreeSet::new();
        for workload in &self.grid.workloads {
            // Workloads that have the same tables share them.
            let signature = load::signature(&workload.load_plan(0));
            if !loaded.insert(signature.clone()) {
                continue;
            }
            let mark = directory.join(format!("loaded-{signature}"));
            if !mark.exists() {
                self.view.say(&format!("loading {} into {}", workload.name(), setting.recipe.name));
                let load = |plan| {
                    load::load(target, plan, commands::load_threads(self.options), self.interrupted, &mut |_, _| ())
                };
                let seed = build::seed(self.options);
                let done = load(workload.load_plan(seed)).or_else(|why| {
                    if self.interrupted.load(Ordering::Relaxed) {
                        return Err(why);
                    }
                    // Tables are there of a load whose end nobody noted.
                    load::in_parallel(target, &workload.cleanup(), 1)?;
                    load(workload.load_plan(seed))
                });
                done?;
                fs::write(&mark, "").map_err(|error| format!("{}: {error}", mark.display()))?;
            }
            load::in_parallel(target, &workload.prewarm(), commands::load_threads(self.options))?;
        }
        Ok(())
    }

    /// Keeps what a server says of itself, once.
    fn keep_facts(&mut self, subject: &Subject, key: &Key) -> Result<(), String> {
        let name = key.line();
        if self.known.insert(name.clone()) {
            let facts = crate::measure::server::ServerFacts { name, ..subject.facts.clone() };
            record::append(
                &self.directory.join("run.json"),
                &commands::describe(self.options, self.words, vec![facts]),
            )?;
        }
        Ok(())
    }

    /// Measures a point, from the processors that the lab is to have beside its server.
    fn measure(&mut self, subject: &mut Subject, place: &Place, number: usize) -> Result<Point, String> {
        let processors = self.grid.lab_beside(place.key.cores).to_vec();
        launch::on(&processors, || self.measure_here(subject, place, number))
            .map_err(|error| format!("--lab-cpus={}: {error}", self.options.text("lab-cpus")))?
    }

    fn measure_here(&mut self, subject: &mut Subject, place: &Place, number: usize) -> Result<Point, String> {
        let key = &place.key;
        let options = self.options.with("threads", &key.clients.to_string());
        let plan = build::plan(&options)?;
        let target = subject.target.clone();
        let workload: &AnyWorkload = &self.grid.workloads[place.workload];
        let (shows_waits, view) = (self.view.is_terminal, &mut self.view);
        let mut show = |second: &Second, waits: &[Wait]| view.second(number, key, second, waits);
        let mut watch = Watch::new(subject, self.interrupted, shows_waits, &mut show);
        watch.count_system_calls(options.switch("count-syscalls"));
        let mut point = match workload.run(&target, &plan, &mut watch) {
            Ok(measured) => {
                let change = std::mem::take(&mut watch.change);
                Point::of(key.clone(), &measured, change, plan.rate.is_some())
            }
            // One point's failure is a result: this server does not bear so many clients, say.
            Err(why) => Point {
                format: record::FORMAT,
                key: key.clone(),
                started: record::now(),
                ended: Some(why),
                ..Point::default()
            },
        };
        (point.seed, point.options) = (plan.seed, options.given());
        Ok(point)
    }

    fn report(&self) -> Result<(), String> {
        let data = report::read(std::slice::from_ref(&self.directory), self.options.text("title"))?;
        let out = match self.options.text("out") {
            "" => self.directory.join("report.html"),
            out => PathBuf::from(out),
        };
        fs::write(&out, report::render(&data, "html")?).map_err(|error| format!("{}: {error}", out.display()))?;
        println!("{}", out.display());
        Ok(())
    }
}

fn pause(length: Duration, interrupted: &AtomicBool) {
    let until = Instant::now() + length;
    while Instant::now() < until && !interrupted.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50).min(until.saturating_duration_since(Instant::now())));
    }
}

/// A run that is there already: its first line, with the servers of all lines.
///
/// # Errors
/// One line.
pub fn read_run(directory: &Path) -> Result<Run, String> {
    let (runs, _) = record::read_lines::<Run>(&directory.join("run.json"))?;
    let mut runs = runs.into_iter();
    let mut run = runs.next().ok_or_else(|| format!("{}: there is no run in run.json", directory.display()))?;
    for more in runs.flat_map(|run| run.servers) {
        if run.servers.iter().all(|server| server.name != more.name) {
            run.servers.push(more);
        }
    }
    Ok(run)
}

/// Whether a failure says that a table is not there.
pub(crate) fn is_missing(failure: &Failure) -> bool {
    matches!(failure, Failure::Server { code: 1146, .. })
}
