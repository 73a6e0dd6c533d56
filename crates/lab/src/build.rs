//! What options come to: a workload, and how the load is to be.
//!
//! When it fails: one line that names the option.

use std::sync::Arc;
use std::time::Duration;

use crate::generator::reactor::Waiting;
use crate::generator::run::{Ignore, Plan};
use crate::options::{AS_THE_SERVER, Options};
use crate::random::{Random, Shape};
use crate::text::nearest;
use crate::workload::{AnyWorkload, classic, custom, dbstress, sysbench, tpcc};

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
            // A client costs about what a point read costs its server, which has the processors to itself if it can.
            0 => match options.text("lab-cpus") {
                "" => (processors / 4).max(1),
                AS_THE_SERVER => processors.div_ceil(2),
                _ => processors,
            },
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
        waiting: match options.text("io") {
            "auto" => Waiting::Best,
            "epoll" => Waiting::Epoll,
            "uring" => Waiting::Ring,
            other => return Err(format!("--io={other}: auto, uring or epoll")),
        },
    })
}
