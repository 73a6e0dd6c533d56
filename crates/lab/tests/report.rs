//! A report of a recorded run: two servers, from a folder, without any server.

use std::path::{Path, PathBuf};

use meseta_lab::report;

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
    assert!(data.servers().contains(&"sysbench: sysbench-output"));
    let copy = tempfile::tempdir().unwrap();
    for file in ["run.json", "points.jsonl"] {
        std::fs::copy(recorded().join(file), copy.path().join(file)).unwrap();
    }
    let twice = report::read(&[recorded(), copy.path().to_owned()], "").unwrap();
    assert_eq!(twice.servers().len(), 4);
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
