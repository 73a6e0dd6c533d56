//! What a sweep measures: servers, configurations, numbers of processors, workloads, numbers of clients; all of each.
//!
//! ```text
//! stage: the servers that are running, point by point in turn
//! stage: a server that the lab starts, in one configuration, on so many processors
//! order: for round { for stage { for workload { for clients { for the stage's servers { a point } } } } }
//! ```
//!
//! Servers that the lab starts do not run beside each other: they would take each other's processors. Rounds repeat the
//! whole grid, so that whatever drifts (a machine's heat, a neighbour) drifts for all alike.

use std::path::PathBuf;

use crate::build;
use crate::commands;
use crate::generator::target::Target;
use crate::launch::{Recipe, processors};
use crate::options::{AS_THE_SERVER, Options, parse_counts};
use crate::record::Key;
use crate::workload::AnyWorkload;

/// A server that the lab starts, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// How it is started, with the configuration's options.
    pub recipe: Recipe,
    /// The configuration's name; empty for the only one.
    pub config: String,
    /// On how many processors; all if nobody asked.
    pub cores: Option<usize>,
}

impl Setting {
    /// The directory of its data, within that of all: each configuration has its own.
    pub fn directory(&self, all: &std::path::Path) -> PathBuf {
        let name: String = format!("{} {}", self.recipe.name, self.config).trim_end().to_owned();
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        all.join(format!(
            "{}-{:04x}",
            name.chars().map(plain).collect::<String>(),
            crate::text::hash(name.as_bytes()) & 0xFFFF
        ))
    }
}

/// Servers that are measured in turn.
#[derive(Debug, Clone)]
pub enum Stage {
    /// They run.
    Running(Vec<Target>),
    /// The lab starts it.
    Start(Setting),
}

/// A point that is to be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Which of [`Grid::stages`].
    pub stage: usize,
    /// Which of its servers.
    pub server: usize,
    /// Which of [`Grid::workloads`].
    pub workload: usize,
    /// Its name.
    pub key: Key,
}

/// All of it.
#[derive(Debug)]
pub struct Grid {
    /// The servers.
    pub stages: Vec<Stage>,
    /// The workloads.
    pub workloads: Vec<AnyWorkload>,
    /// The numbers of clients.
    pub clients: Vec<usize>,
    /// How often all is measured.
    pub rounds: u64,
    /// The processors for servers that the lab starts, the first ones first.
    pub processors: Vec<usize>,
    /// Those of the lab while it measures.
    lab: LabProcessors,
}

/// Where the lab runs while it measures.
#[derive(Debug)]
enum LabProcessors {
    /// Where the server does.
    AsTheServer,
    /// On these; anywhere, if there are none.
    These(Vec<usize>),
}

impl Grid {
    /// The grid that the options describe.
    ///
    /// # Errors
    /// One line.
    pub fn of(options: &Options) -> Result<Grid, String> {
        let mut names: Vec<&str> = options.all("workload").iter().flat_map(|names| names.split(',')).collect();
        names.extend(options.words[1..].iter().map(String::as_str).filter(|word| *word != "run"));
        if names.is_empty() {
            return Err("which workload? --workload=oltp_read_write".to_owned());
        }
        let clients = parse_counts(options.text("clients"))?;
        // (bulk_insert has a table for each client.)
        let most = clients.iter().max().copied().unwrap_or(1).to_string();
        let widest = options.with("threads", &most);
        let workloads =
            names.iter().map(|name| build::workload(name, &widest)).collect::<Result<Vec<AnyWorkload>, String>>()?;
        let given = match options.text("server-cpus") {
            "" => processors(),
            list => parse_processors("server-cpus", list)?,
        };
        let lab = match options.text("lab-cpus") {
            AS_THE_SERVER => LabProcessors::AsTheServer,
            "" => LabProcessors::These(Vec::new()),
            list => LabProcessors::These(parse_processors("lab-cpus", list)?),
        };
        Ok(Grid {
            stages: stages(options, &given)?,
            workloads,
            clients,
            rounds: options.number("rounds").clamp(1, 1000),
            processors: given,
            lab,
        })
    }

    /// The processors of a server that has so many, or all.
    pub fn on(&self, cores: Option<usize>) -> &[usize] {
        &self.processors[..cores.unwrap_or(self.processors.len())]
    }

    /// The processors of the lab while it measures a server that has so many; none if nobody asked.
    pub fn lab_beside(&self, cores: Option<usize>) -> &[usize] {
        match &self.lab {
            LabProcessors::AsTheServer => self.on(cores),
            LabProcessors::These(these) => these,
        }
    }

    /// The most clients of any point.
    pub fn most_clients(&self) -> usize {
        self.clients.iter().max().copied().unwrap_or(1)
    }

    /// All points, in their order.
    pub fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for round in 1..=self.rounds {
            for (stage, servers) in self.stages.iter().enumerate() {
                let keys: Vec<Key> = match servers {
                    Stage::Running(targets) => {
                        targets.iter().map(|target| Key { server: target.name.clone(), ..Key::default() }).collect()
                    }
                    Stage::Start(setting) => vec![Key {
                        server: setting.recipe.name.clone(),
                        config: setting.config.clone(),
                        cores: setting.cores,
                        ..Key::default()
                    }],
                };
                for (workload, of) in self.workloads.iter().enumerate() {
                    for &clients in &self.clients {
                        for (server, key) in keys.iter().enumerate() {
                            let key = Key { workload: of.name(), clients, round, ..key.clone() };
                            places.push(Place { stage, server, workload, key });
                        }
                    }
                }
            }
        }
        places
    }
}

fn stages(options: &Options, processors: &[usize]) -> Result<Vec<Stage>, String> {
    let base = commands::target(options)?;
    let running =
        options.all("server").iter().map(|server| parse_server(server, &base)).collect::<Result<Vec<_>, _>>()?;
    let recipes = options.all("start").iter().map(|text| Recipe::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let mut stages = Vec::new();
    if !running.is_empty() {
        stages.push(Stage::Running(running));
    } else if recipes.is_empty() {
        stages.push(Stage::Running(vec![Target { name: base.place(), ..base }]));
    }
    let configs = match options.all("config") {
        [] => vec![(String::new(), String::new())],
        given => given
            .iter()
            .map(|text| match text.split_once('=') {
                Some((name, rest)) if !name.is_empty() && !name.starts_with('-') => {
                    Ok((name.to_owned(), rest.to_owned()))
                }
                _ => Err(format!("--config={text}: NAME=OPTIONS, as in relaxed=--innodb-flush-log-at-trx-commit=2")),
            })
            .collect::<Result<Vec<_>, _>>()?,
    };
    let cores = match options.text("cores") {
        "" => vec![None],
        text => {
            let counts = parse_counts(&text.replace(['N', 'n'], &processors.len().to_string()))?;
            if let Some(most) = counts.iter().find(|count| **count > processors.len()) {
                return Err(format!("--cores={text}: {most} are more than the {} that there are", processors.len()));
            }
            counts.into_iter().map(Some).collect()
        }
    };
    let shares = options.text("lab-cpus") == AS_THE_SERVER;
    for name in ["config", "cores", "server-cpus", "lab-cpus"] {
        if recipes.is_empty() && options.is_given(name) && (name != "lab-cpus" || shares) {
            return Err(format!(
                "--{name} is for servers that the lab starts: --start=meseta, or --start=NAME=COMMAND"
            ));
        }
    }
    for recipe in &recipes {
        for (config, more) in &configs {
            for &cores in &cores {
                let recipe = recipe.with(more);
                stages.push(Stage::Start(Setting { recipe, config: config.clone(), cores }));
            }
        }
    }
    Ok(stages)
}

/// Reads `0,2,4-7`.
///
/// # Errors
/// One line.
pub fn parse_processors(option: &str, text: &str) -> Result<Vec<usize>, String> {
    let wrong = || format!("--{option}={text}: numbers of processors that there are, as in 0,2,4-7");
    let (mut list, there) = (Vec::new(), processors());
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to) = (from.trim().parse().map_err(|_| wrong())?, to.trim().parse().map_err(|_| wrong())?);
        let range: std::ops::RangeInclusive<usize> = from..=to;
        list.extend(there.iter().copied().filter(|processor| range.contains(processor)));
        if from > to || !there.contains(&from) || !there.contains(&to) {
            return Err(wrong());
        }
    }
    Ok(list)
}

/// Reads `NAME=HOST:PORT`, `NAME=/SOCKET` or `HOST:PORT`; what is missing is as the other options say.
///
/// # Errors
/// One line.
pub fn parse_server(text: &str, base: &Target) -> Result<Target, String> {
    let wrong = || format!("--server={text}: NAME=HOST:PORT or NAME=/SOCKET");
    let (name, place) = text.split_once('=').unwrap_or((text, text));
    let mut target = Target { name: name.to_owned(), others: Vec::new(), ..base.clone() };
    // USER:PASSWORD@ before the place.
    let place = match place.rsplit_once('@') {
        Some((account, place)) => {
            let (user, password) = account.split_once(':').unwrap_or((account, ""));
            (target.user, target.password) = (user.to_owned(), password.to_owned());
            place
        }
        None => place,
    };
    if place.starts_with('/') {
        target.socket = Some(PathBuf::from(place));
    } else {
        let (host, port) = place.rsplit_once(':').ok_or_else(wrong)?;
        (target.host, target.port, target.socket) = (host.to_owned(), port.parse().map_err(|_| wrong())?, None);
    }
    if target.name.is_empty() { Err(wrong()) } else { Ok(target) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(line: &str) -> Result<Grid, String> {
        Grid::of(&Options::parse(line.split_whitespace()).unwrap())
    }

    #[test]
    fn servers_are_named() {
        let base = Target { user: "u".to_owned(), ..Target::default() };
        let server = parse_server("mysql=10.0.0.1:3397", &base).unwrap();
        assert_eq!(
            (server.name.as_str(), server.host.as_str(), server.port, server.user.as_str()),
            ("mysql", "10.0.0.1", 3397, "u")
        );
        let server = parse_server("m=root:pw@/tmp/s.sock", &base).unwrap();
        assert_eq!((server.user.as_str(), server.password.as_str()), ("root", "pw"));
        assert_eq!(server.socket, Some(PathBuf::from("/tmp/s.sock")));
        assert_eq!(parse_server("db:3306", &base).unwrap().name, "db:3306");
        for wrong in ["", "name", "name=host", "name=host:port", "name=host:99999", "=h:1"] {
            assert!(parse_server(wrong, &base).is_err(), "{wrong}");
        }
    }

    #[test]
    fn running_servers_alternate_and_started_ones_do_not() {
        let line = "sweep --workload=oltp_read_only,tpcc --clients=1,8 --rounds=2 --server=a=h:1 --server=b=h:2 \
                    --start=c=run --cores=1";
        let places = grid(line).unwrap().places();
        assert_eq!(places.len(), 2 * (2 * 2 * 2 + 2 * 2));
        let first: Vec<String> = places[..12]
            .iter()
            .map(|place| format!("{} {} {}", place.key.line(), place.key.workload, place.key.clients))
            .collect();
        assert_eq!(first[..3], ["a oltp_read_only 1", "b oltp_read_only 1", "a oltp_read_only 8"]);
        assert_eq!(first[8..10], ["c, 1 core oltp_read_only 1", "c, 1 core oltp_read_only 8"]);
        assert_eq!((places[0].key.round, places[12].key.round), (1, 2));
    }

    #[test]
    fn configurations_and_cores_multiply() {
        let options =
            ["sweep", "--workload=tpcc", "--clients=4", "--start=s=run", "--config=a=--x=1 --y", "--config=b="];
        let grid = Grid::of(&Options::parse(options).unwrap()).unwrap();
        let commands: Vec<String> = grid
            .stages
            .iter()
            .map(|stage| match stage {
                Stage::Start(setting) => format!("{}: {}", setting.config, setting.recipe.command),
                Stage::Running(_) => "running".to_owned(),
            })
            .collect();
        assert_eq!(commands, ["a: run --x=1 --y", "b: run"]);
        let lines: Vec<String> = grid.places().iter().map(|place| place.key.line()).collect();
        assert_eq!(lines, ["s a", "s b"]);
        let Stage::Start(setting) = &grid.stages[0] else { panic!() };
        let directory = setting.directory(std::path::Path::new("d"));
        assert!(directory.to_string_lossy().starts_with("d/s-a-"), "{directory:?}");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let of = |line: &str| grid(&format!("sweep {line}")).unwrap_err();
        assert!(of("").contains("which workload?"));
        assert!(of("--workload=tpcc --cores=1,2").contains("--start=meseta"));
        assert!(of("--workload=tpcc --start=s=x --cores=9000").contains("more than"));
        assert!(of("--workload=tpcc --start=s=x --config=--flush=2").contains("NAME=OPTIONS"));
        assert!(of("--workload=tpcc --start=s=x --server-cpus=9000").contains("0,2,4-7"));
        assert!(of("--workload=tpcc --start=mysql").contains("NAME=COMMAND"));
        assert!(of("--workload=tpcc --server=s=h:1 --lab-cpus=server").contains("--start=meseta"));
        assert!(grid("sweep --workload=tpcc --server=s=h:1 --lab-cpus=0").is_ok());
        let all = grid("sweep --workload=tpcc --start=s=x --cores=1..N").unwrap();
        assert_eq!(all.places().last().unwrap().key.cores, Some(processors().len()));
    }
}
