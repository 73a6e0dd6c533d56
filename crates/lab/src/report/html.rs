//! How the page looks: one file, without network; charts drawn by a script of its own from data in the page.
//!
//! Text of servers and users is escaped; data for the script is JSON in a `<script>` of type JSON, in which `<` is
//! written
//! as `\u003c`: nothing in it can end the element.

use super::{Data, charts, tables};
use crate::text::escape_html;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page.
pub fn page(data: &Data) -> String {
    let mut body = format!("<header><h1>{}</h1>", escape_html(&data.title));
    body.push_str(
        "<p class=tools><button id=scale>linear clients</button> <button id=theme>light / dark</button></p></header>",
    );
    if !data.notes.is_empty() {
        body.push_str("<ul class=notes>");
        for note in &data.notes {
            body.push_str(&format!("<li>{}</li>", escape_html(note)));
        }
        body.push_str("</ul>");
    }
    let mut all = Vec::new();
    for workload in data.workloads() {
        body.push_str(&format!("<section><h2>{}</h2><div class=charts>", escape_html(workload)));
        for chart in charts::of_workload(data, workload) {
            body.push_str(&format!("<figure class=chart data-chart={}></figure>", all.len()));
            all.push(chart);
        }
        body.push_str("</div>");
        for table in tables::of_workload(data, workload) {
            body.push_str(&table.html());
        }
        body.push_str("</section>");
    }
    body.push_str("<section><h2>Circumstances</h2>");
    for table in [tables::facts(data), tables::variables(data)] {
        if !table.rows.is_empty() {
            body.push_str(&table.html());
        }
    }
    body.push_str("<h3>Commands</h3><pre>");
    for run in &data.runs {
        body.push_str(&escape_html(&run.command.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")));
        body.push('\n');
    }
    body.push_str(
        "</pre><h3>How to read this</h3><p>A line goes through the means of the rounds; its band goes from the least \
         to the \
         greatest round. ± is the 95 % confidence interval of the mean; “no difference” means that the noise \
         between \
         rounds is greater than what is between the servers. Times of an open loop count from when a transaction was \
         to \
         begin. Waits are what the server itself counted.</p></section>",
    );
    // Serialising numbers and text does not fail.
    let json = serde_json::to_string(&all).unwrap_or_default().replace('<', "\\u003c");
    format!(
        "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>{}</title><style>{STYLE}</style></head><body>{body}\
         <script type=application/json id=data>{json}</script><script>{SCRIPT}</script></body></html>\n",
        escape_html(&data.title)
    )
}

/// A word as a shell takes it.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,+@*".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
