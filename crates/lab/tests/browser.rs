//! A report in a browser: every chart is drawn, answers the pointer, and follows the switches; no error is logged.
//!
//! The browser is a headless Chromium: the one that `MESETA_BROWSER` names, or one of the usual names. Where there is
//! none, there is nothing to test, and the test says so. `MESETA_SCREENSHOT=FILE.png` keeps a picture.

use std::path::{Path, PathBuf};
use std::process::Command;

use meseta_lab::report;

/// Hears what the page complains of, before any of its scripts runs.
const LISTENER: &str = "<script>window.errorsOfThePage = [];\
    addEventListener('error', (event) => errorsOfThePage.push(String(event.message)));\
    for (const name of ['error', 'warn']) console[name] = (...words) => errorsOfThePage.push(words.join(' '));</script>";

fn browser() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("MESETA_BROWSER") {
        return Some(path.into());
    }
    let names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let found = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = found.into_iter().find(|path| path.exists());
    if found.is_none() {
        println!("there is no browser: nothing is tested");
    }
    found
}

fn command(browser: &Path, profile: &Path) -> Command {
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=1300,1400",
        "--virtual-time-budget=5000",
    ]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command
}

#[test]
fn a_report_works_in_a_browser() {
    let Some(browser) = browser() else { return };
    let recorded = std::env::var_os("MESETA_RUN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/run"), PathBuf::from);
    let data = report::read(&[recorded], "").unwrap();
    let page = report::render(&data, "html").unwrap();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("report.html");
    if let Some(picture) = std::env::var_os("MESETA_SCREENSHOT") {
        std::fs::write(&file, &page).unwrap();
        let picture = format!("--screenshot={}", Path::new(&picture).display());
        assert!(command(&browser, directory.path()).arg(picture).arg(&file).status().unwrap().success());
    }
    let script = include_str!("browser.js");
    let heard = page.replace("<head>", &format!("<head>{LISTENER}"));
    std::fs::write(&file, heard.replace("</body>", &format!("<script>{script}</script></body>"))).unwrap();
    let output = command(&browser, directory.path()).arg("--dump-dom").arg(&file).output().unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let (_, found) = dom.split_once("<pre id=\"found\">").unwrap_or_else(|| {
        panic!("the page's test did not end: {}", String::from_utf8_lossy(&output.stderr));
    });
    let found = found.split_once("</pre>").unwrap().0.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["errors"], serde_json::json!([]), "{found}");
    assert_eq!(found["problems"], serde_json::json!([]), "{found}");
    let expected: usize =
        data.workloads().iter().map(|workload| report::charts::of_workload(&data, workload).len()).sum();
    assert_eq!(found["charts"].as_array().unwrap().len(), expected);
    assert!(expected > 4);
}
