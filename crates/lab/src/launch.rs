//! Servers that the lab starts: on a set of processors, with a configuration, in a directory of their own.
//!
//! ```text
//! recipe (a command with {dir} {port} {socket} {connections}) --start--> sh: the command | a watcher on a pipe
//! the pipe closes (dropped, or the lab is gone, however) --> TERM to the group --> the server ends --> sh ends
//! ```
//!
//! A server's group of processes is not the terminal's: Ctrl-C ends the lab's run, and the server stays until the lab
//! has looked at it for the last time. That the pipe decides, and not a handler, lets nothing survive the lab, not even
//! when it is killed. A directory for the time being ([`Scratch`]) is removed in the same way.
//!
//! When it fails: one line with the last of what the server said, and where all of it is.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::admin::Admin;
use crate::generator::Failure;
use crate::generator::target::Target;

/// How long a server may take until it answers: a first start may make its data.
const PATIENCE: Duration = Duration::from_secs(300);
/// How long it may take to end before it is killed.
const FAREWELL: Duration = Duration::from_secs(60);

/// What `sh` is given; `$1` is the command.
const KEEPER: &str = "exec 3<&0 </dev/null\n\
                      (eval \"$1\") 3<&- &\n\
                      server=$!\n\
                      trap : TERM\n\
                      (cat <&3 >/dev/null; kill -TERM 0) &\n\
                      exec 3<&-\n\
                      while kill -0 $server 2>/dev/null; do wait $server; done\n";

/// How a server is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// The server's name in reports.
    pub name: String,
    /// A command of the shell's.
    pub command: String,
    /// Whether it keeps what is loaded. (The floor does not.)
    pub has_data: bool,
}

impl Recipe {
    /// Reads `NAME=COMMAND`, or `meseta` or `floor`: this program itself.
    ///
    /// # Errors
    /// One line.
    pub fn parse(text: &str) -> Result<Recipe, String> {
        let own = |command: &str, has_data| {
            let program = std::env::current_exe().map_err(|error| format!("--start={text}: {error}"))?;
            let command = format!("exec {} {command}", quote(&program.to_string_lossy()));
            Ok(Recipe { name: text.to_owned(), command, has_data })
        };
        match text.split_once('=') {
            Some((name, command)) if !name.is_empty() && !command.trim().is_empty() => {
                Ok(Recipe { name: name.to_owned(), command: command.to_owned(), has_data: true })
            }
            None if text == "meseta" => own(
                "serve --no-defaults --datadir={dir}/data --port={port} --socket={socket} \
                 --max-connections={connections}",
                true,
            ),
            None if text == "floor" => own("lab floor --mysql-host=127.0.0.1 --mysql-port={port}", false),
            _ => Err(format!(
                "--start={text}: meseta, floor, or NAME=COMMAND with {{dir}}, {{port}}, {{socket}} and {{connections}} \
                 in it"
            )),
        }
    }

    /// The same with more options at its end.
    pub fn with(&self, options: &str) -> Recipe {
        Recipe { command: format!("{} {options}", self.command).trim_end().to_owned(), ..self.clone() }
    }
}

/// A word that the shell takes as it is.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A server that runs.
#[derive(Debug)]
pub struct Launched {
    keeper: Child,
    /// How it is reached: `base` of [`Launched::start`], at another place.
    pub target: Target,
    log: PathBuf,
}

impl Launched {
    /// Starts a server, and waits until it answers. `directory` is its own; what is there already is what it left.
    ///
    /// # Errors
    /// One line.
    pub fn start(
        recipe: &Recipe,
        directory: &Path,
        processors: &[usize],
        connections: usize,
        base: &Target,
        interrupted: &AtomicBool,
    ) -> Result<Launched, String> {
        fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        let directory = directory.canonicalize().map_err(|error| format!("{}: {error}", directory.display()))?;
        let port = free_port().map_err(|error| format!("no port is free: {error}"))?;
        // (A path of a socket is at most a hundred bytes long, and folders' names may be longer.)
        let socket = std::env::temp_dir().join(format!("meseta-lab-{}-{port}.sock", std::process::id()));
        let command = recipe
            .command
            .replace("{dir}", &quote(&directory.to_string_lossy()))
            .replace("{socket}", &quote(&socket.to_string_lossy()))
            .replace("{port}", &port.to_string())
            .replace("{connections}", &connections.to_string());
        let log = directory.join("server.log");
        let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
        let errors = file.try_clone().map_err(|error| format!("{}: {error}", log.display()))?;
        let mut shell = Command::new("sh");
        shell.args(["-c", KEEPER, "server", &command]).current_dir(&directory).process_group(0);
        shell.stdin(Stdio::piped()).stdout(file).stderr(errors);
        let keeper = spawn_on(shell, processors).map_err(|error| format!("--start={}: {error}", recipe.name))?;
        let target = Target {
            name: recipe.name.clone(),
            host: "127.0.0.1".to_owned(),
            port,
            others: Vec::new(),
            socket: None,
            database: String::new(),
            ..base.clone()
        };
        let mut launched = Launched { keeper, target, log };
        launched.wait_until_it_answers(interrupted)?;
        launched.target.database.clone_from(&base.database);
        Ok(launched)
    }

    fn wait_until_it_answers(&mut self, interrupted: &AtomicBool) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        loop {
            let why = match Admin::connect(&self.target) {
                Ok(_) => return Ok(()),
                Err(failure @ Failure::Lost(_)) if Instant::now() < until => failure,
                Err(failure) => return Err(self.target.explain(&failure)),
            };
            if matches!(self.keeper.try_wait(), Ok(Some(_))) {
                return Err(format!(
                    "{} ended before it answered ({why}): {}; all that it said is in {}",
                    self.target.name,
                    last_line(&self.log),
                    self.log.display()
                ));
            }
            if interrupted.load(Ordering::Relaxed) {
                return Err("interrupted while a server was starting".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let until = Instant::now() + FAREWELL;
        while matches!(self.keeper.try_wait(), Ok(None)) {
            if Instant::now() > until {
                // Nobody is in the group any more, if that fails.
                let group = i32::try_from(self.keeper.id()).ok().and_then(Pid::from_raw);
                let _ = group.map(|group| kill_process_group(group, Signal::KILL));
                let _ = self.keeper.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// A port that nobody listens on now.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// The last line of a file that says something.
fn last_line(path: &Path) -> String {
    let mut text = Vec::new();
    if let Ok(mut file) = File::open(path) {
        let length = file.metadata().map_or(0, |facts| facts.len());
        // (What cannot be read is not said.)
        let _ = file.seek(SeekFrom::Start(length.saturating_sub(4096)));
        let _ = file.read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text).into_owned();
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing").trim().to_owned()
}

/// Starts a process on these processors; on all, if there are none. A process has those of the thread that starts it.
fn spawn_on(mut command: Command, processors: &[usize]) -> std::io::Result<Child> {
    let processors = processors.to_vec();
    let thread = std::thread::spawn(move || {
        pin(&processors)?;
        command.spawn()
    });
    thread.join().map_err(|_| std::io::Error::other("a thread panicked"))?
}

/// Keeps the calling thread, and those that it starts, to these processors; to what it has, if there are none.
///
/// # Errors
/// What the kernel says: there are none of these.
pub fn pin(processors: &[usize]) -> std::io::Result<()> {
    if processors.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for &processor in processors.iter().filter(|processor| **processor < CpuSet::MAX_CPU) {
        set.set(processor);
    }
    sched_setaffinity(None, &set)?;
    Ok(())
}

/// Does something bound to these processors, as are the threads that it starts; then this thread is where it was.
///
/// # Errors
/// The kernel's, before anything is done or after it.
pub fn on<T>(these: &[usize], work: impl FnOnce() -> T) -> std::io::Result<T> {
    let before = processors();
    pin(these)?;
    let done = work();
    pin(&before)?;
    Ok(done)
}

/// The processors that this thread may use.
pub fn processors() -> Vec<usize> {
    let set = sched_getaffinity(None);
    set.map_or_else(|_| vec![0], |set| (0..CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect())
}

/// A directory that is gone when the lab is, however that ends.
#[derive(Debug)]
pub struct Scratch {
    /// Where it is.
    pub path: PathBuf,
    janitor: Option<Child>,
}

impl Scratch {
    /// Makes one.
    ///
    /// # Errors
    /// One line.
    pub fn new() -> Result<Scratch, String> {
        let path = std::env::temp_dir().join(format!("meseta-lab-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        // A server that is still ending may hold on to it for a while.
        const JANITOR: &str = "cat >/dev/null; for try in 1 2 3 4 5 6 7 8 9; do rm -rf \"$1\" && exit; sleep 1; done";
        let mut shell = Command::new("sh");
        shell.args(["-c", JANITOR, "janitor"]).arg(&path).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let janitor = shell.spawn().map_err(|error| format!("sh: {error}"))?;
        Ok(Scratch { path, janitor: Some(janitor) })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Some(mut janitor) = self.janitor.take() {
            drop(janitor.stdin.take());
            let _ = janitor.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_are_read() {
        let recipe = Recipe::parse("mysql=mysqld --port={port}").unwrap();
        assert_eq!((recipe.name.as_str(), recipe.command.as_str()), ("mysql", "mysqld --port={port}"));
        assert_eq!(recipe.with("--x=1").command, "mysqld --port={port} --x=1");
        assert_eq!(recipe.with("").command, "mysqld --port={port}");
        assert!(Recipe::parse("meseta").unwrap().command.contains("serve --no-defaults"));
        for wrong in ["", "mysql", "=x", "mysql="] {
            assert!(Recipe::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_server_that_ends_is_told_with_its_last_words() {
        let directory = tempfile::tempdir().unwrap();
        let recipe = Recipe {
            name: "poor".to_owned(),
            command: "echo first; echo no memory >&2; exit 3".to_owned(),
            has_data: true,
        };
        let error = Launched::start(&recipe, directory.path(), &[], 1, &Target::default(), &AtomicBool::new(false));
        let error = error.unwrap_err();
        assert!(error.contains("poor ended before it answered") && error.contains("no memory"), "{error}");
    }

    #[test]
    fn work_and_its_threads_are_bound_and_their_caller_afterwards_is_not() {
        let all = processors();
        let one = vec![all[all.len() - 1]];
        let of_a_thread = on(&one, || std::thread::spawn(processors).join().unwrap()).unwrap();
        assert_eq!((of_a_thread, processors()), (one, all));
    }

    #[test]
    fn nothing_survives_the_pipe() {
        let directory = tempfile::tempdir().unwrap();
        let said = directory.path().join("said");
        let script =
            format!("trap 'echo ended > {0}; exit' TERM; echo $$ > {0}; while :; do sleep 0.02; done", said.display());
        let mut shell = Command::new("sh");
        shell.args(["-c", KEEPER, "server", &script]).process_group(0).stdin(Stdio::piped());
        let mut keeper = spawn_on(shell, &processors()[..1]).unwrap();
        while fs::read_to_string(&said).unwrap_or_default().is_empty() {
            std::thread::yield_now();
        }
        drop(keeper.stdin.take());
        keeper.wait().unwrap();
        assert_eq!(fs::read_to_string(&said).unwrap(), "ended\n");
    }

    #[test]
    fn a_scratch_directory_goes() {
        let scratch = Scratch::new().unwrap();
        let path = scratch.path.clone();
        fs::write(path.join("file"), "x").unwrap();
        drop(scratch);
        assert!(!path.exists());
    }
}
