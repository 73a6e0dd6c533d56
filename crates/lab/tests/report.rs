//! A report of a recorded run: two servers, from a folder, without any server.

use std::path::{Path, PathBuf};

use meseta_lab::record::{self, Key, Point, Run, Times};
use meseta_lab::report::{self, charts};

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run")
}

#[test]
fn a_recorded_run_is_rendered() {
    let data = report::read(&[recorded()], "A title with <b> & \"quotes\"").unwrap();
    assert_eq!(data.servers(), ["mysql97", "floor"]);
    assert!(data.notes.is_empty(), "{:?}", data.notes);
    let page = report::render(&data, "html").unwrap();
    assert!(page.contains("<title>A title with &lt;b&gt; &amp; &quot;quotes&quot;</title>"));
    assert!(!page.contains("<b>"));
    // One file: nothing is loaded from elsewhere.
    assert!(!page.contains("src=") && !page.contains("http://www.w3.org/1999") && !page.contains("@import"));
    for heading in ["Throughput", "Response time in ms", "By kind, in ms", "Costs", "Circumstances", "Commands"] {
        assert!(page.contains(heading), "{heading}");
    }
    let workloads = data.workloads().len();
    assert!(page.matches("<figure class=chart").count() >= 4 * workloads);
    assert_eq!(page, report::render(&data, "html").unwrap());
}

#[test]
fn data_in_the_page_is_json_that_ends_nothing() {
    let data = report::read(&[recorded()], "").unwrap();
    let page = report::render(&data, "html").unwrap();
    let (_, rest) = page.split_once("<script type=application/json id=data>").unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    let charts: serde_json::Value = serde_json::from_str(json).unwrap();
    for chart in charts.as_array().unwrap() {
        let length = chart["x"].as_array().unwrap().len();
        assert!(length > 0);
        for series in chart["series"].as_array().unwrap() {
            assert_eq!(series["y"].as_array().unwrap().len(), length, "{}", chart["title"]);
        }
    }
}

#[test]
fn the_other_formats_have_every_point() {
    let data = report::read(&[recorded()], "").unwrap();
    let csv = report::render(&data, "csv").unwrap();
    assert_eq!(csv.lines().count(), data.points.len() + 1);
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() >= columns));
    let markdown = report::render(&data, "markdown").unwrap();
    assert!(markdown.contains("| clients | mysql97, transactions/s | floor, transactions/s | floor against mysql97 |"));
    let json: serde_json::Value = serde_json::from_str(&report::render(&data, "json").unwrap()).unwrap();
    assert_eq!(json["points"].as_array().unwrap().len(), data.points.len());
    assert!(report::render(&data, "pdf").is_err());
}

#[test]
fn runs_are_compared_with_each_other_and_with_sysbench() {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sysbench-output.txt");
    let data = report::read(&[recorded(), old], "").unwrap();
    assert!(data.servers().iter().any(|name| name == "sysbench: sysbench-output"));
    let copy = tempfile::tempdir().unwrap();
    for file in ["run.json", "points.jsonl"] {
        std::fs::copy(recorded().join(file), copy.path().join(file)).unwrap();
    }
    let twice = report::read(&[recorded(), copy.path().to_owned()], "").unwrap();
    assert_eq!(twice.servers().len(), 4);
}

/// A point of a made-up law: 100 transactions a second and core, and a little less with each.
fn point(config: &str, cores: usize, clients: usize, ended: Option<&str>) -> Point {
    let rate = (100 * cores * clients / (clients + 1) - cores * cores) as u64;
    Point {
        key: Key {
            server: "s".to_owned(),
            config: config.to_owned(),
            cores: Some(cores),
            workload: "w".to_owned(),
            clients,
            round: 1,
        },
        seconds: 1.0,
        events: Times { count: rate, histogram: vec![(1_000_000, rate)], ..Times::default() },
        ended: ended.map(str::to_owned),
        ..Point::default()
    }
}

#[test]
fn scaling_with_cores_is_drawn_with_the_ideal_and_the_law() {
    let directory = tempfile::tempdir().unwrap();
    record::append(&directory.path().join("run.json"), &Run { title: "cores".to_owned(), ..Run::default() }).unwrap();
    for config in ["a", "b"] {
        for cores in [1, 2, 4, 8] {
            for clients in [1, 16] {
                record::append(&directory.path().join("points.jsonl"), &point(config, cores, clients, None)).unwrap();
            }
        }
    }
    let data = report::read(&[directory.path().to_owned()], "").unwrap();
    assert_eq!(data.servers().len(), 8);
    assert_eq!(data.on_cores("w"), [("s a".to_owned(), vec![1, 2, 4, 8]), ("s b".to_owned(), vec![1, 2, 4, 8])]);
    let charts = charts::of_workload(&data, "w");
    let chart = charts.iter().find(|chart| chart.x_label == "cores").unwrap();
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["s a", "s a: ideal", "s a: fitted law", "s b", "s b: ideal", "s b: fitted law"]);
    let best = |cores: usize| (100 * cores * 16 / 17 - cores * cores) as f64;
    assert_eq!(chart.series[0].y, [1, 2, 4, 8].map(|cores| Some(best(cores))));
    assert_eq!(chart.series[1].y[3], Some(8.0 * best(1)));
    assert!((chart.series[2].y[2].unwrap() - best(4)).abs() < best(4) / 50.0);
    assert!(chart.series[1].dash > 0 && chart.series[0].dash == 0);
    assert_eq!(chart.series[1].colour, chart.series[0].colour);
    let page = report::render(&data, "html").unwrap();
    assert!(page.contains("<td>s a</td><td>cores</td>"));
    let csv = report::render(&data, "csv").unwrap();
    assert!(csv.contains("\ns,b,8,w,16,1,"), "{csv}");
}

#[test]
fn a_machine_that_is_robbed_is_told_of() {
    let directory = tempfile::tempdir().unwrap();
    record::append(&directory.path().join("run.json"), &Run::default()).unwrap();
    let mut robbed = point("", 1, 4, None);
    (robbed.change.machine.user, robbed.change.machine.stolen) = (3.0, 1.0);
    record::append(&directory.path().join("points.jsonl"), &robbed).unwrap();
    let data = report::read(&[directory.path().to_owned()], "").unwrap();
    assert!(data.notes[0].starts_with("up to 25 % of this machine's processors"), "{:?}", data.notes);
}

#[test]
fn a_point_that_was_measured_again_counts_once() {
    let directory = tempfile::tempdir().unwrap();
    record::append(&directory.path().join("run.json"), &Run::default()).unwrap();
    for ended in [Some("interrupted"), None] {
        record::append(&directory.path().join("points.jsonl"), &point("", 1, 4, ended)).unwrap();
    }
    record::append(&directory.path().join("points.jsonl"), &point("", 2, 4, Some("interrupted"))).unwrap();
    let data = report::read(&[directory.path().to_owned()], "").unwrap();
    assert_eq!(data.points.len(), 2);
    assert_eq!(data.notes, ["s, 2 cores, w, 4 clients: ended early: interrupted"]);
}

#[test]
fn what_is_no_run_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let error = report::read(&[directory.path().to_owned()], "").unwrap_err();
    assert!(error.contains("run.json"), "{error}");
    let file = directory.path().join("notes.txt");
    std::fs::write(&file, "not a result\n").unwrap();
    let error = report::read(&[file], "").unwrap_err();
    assert!(error.contains("neither a run"), "{error}");
}
