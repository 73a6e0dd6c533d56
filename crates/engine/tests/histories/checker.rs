//! Which phenomena a history shows.
//!
//! Adya's (*Weak Consistency*, 1999), found as Elle finds them (Kingsbury and Alvaro, VLDB 2020): from the versions that
//! transactions read and wrote to who depends on whom, and from there to cycles.
//!
//! Beside them one that is ours: [`Phenomenon::View`]. A consistent read sees what had been committed at some moment,
//! whatever else its transaction does later. So each view is a node of its own:
//!
//! ```text
//!   transactions     ww, wr            at the moment of their commit; of what they locked, rw too
//!   views            wr to them, rw    at the moment of their snapshot; "then" their transaction commits
//! ```
//!
//! Every edge leads from a moment to a later one. So there is no cycle at all, at any level from READ COMMITTED on; what
//! levels differ in is how many views a transaction has. That says more than the absence of G-single among readers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::graph::Dependency::{ReadWrite, Then, WriteRead, WriteWrite};
use crate::graph::{Dependency, Edge, Graph};
use crate::history::{Fate, History, Key};
use crate::versions::Orders;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phenomenon {
    /// A cycle of ww.
    G0,
    /// A read of something that was undone.
    G1a,
    /// A read of something that its writer wrote over.
    G1b,
    /// A cycle of ww and wr.
    G1c,
    /// Somebody read a key and wrote it, and another wrote it in between (P4).
    LostUpdate,
    /// A cycle with one rw.
    GSingle,
    /// A cycle with several rw.
    G2Item,
    /// A view that no moment had.
    View,
    /// A transaction did not see what it had written.
    Internal,
    /// Lists of which neither is the beginning of the other.
    Incompatible,
    /// A write replaced something else than what was there.
    Replaced,
    /// What was committed is not there in the end, or something else is.
    Lost,
    /// A read of what had been replaced before it began.
    Stale,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    pub phenomenon: Phenomenon,
    /// Who did what.
    pub story: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}: {}", self.phenomenon, self.story)
    }
}

/// All that is found; of each kind of cycle one of the shortest.
pub fn check(history: &History) -> Vec<Finding> {
    let mut orders = Orders::recover(history);
    let mut findings = std::mem::take(&mut orders.findings);
    let graph = dependencies(history, &orders);
    let any = |_: &[Edge]| true;
    let several = |cycle: &[Edge]| cycle.iter().filter(|edge| edge.dependency == ReadWrite).count() > 1;
    let cycles = [
        (Phenomenon::G0, graph.cycle(WriteWrite, &[WriteWrite], any)),
        (Phenomenon::G1c, graph.cycle(WriteRead, &[WriteWrite, WriteRead], any)),
        (Phenomenon::GSingle, graph.cycle(ReadWrite, &[WriteWrite, WriteRead], any)),
        (Phenomenon::G2Item, graph.cycle(ReadWrite, &[WriteWrite, WriteRead, ReadWrite], several)),
    ];
    for (phenomenon, cycle) in cycles {
        findings.extend(cycle.map(|cycle| Finding { phenomenon, story: graph.tell(&cycle) }));
    }
    findings.extend(lost_update(history, &orders));
    let views = views(history, &orders);
    let all = [WriteWrite, WriteRead, ReadWrite, Then];
    // A cycle of moments has a ww or a wr in it or an rw; "then" alone leads on and on.
    let cycle = [ReadWrite, WriteRead, WriteWrite].into_iter().find_map(|first| views.cycle(first, &all, any));
    findings.extend(cycle.map(|cycle| Finding { phenomenon: Phenomenon::View, story: views.tell(&cycle) }));
    findings
}

/// The phenomena alone.
pub fn phenomena(history: &History) -> BTreeSet<Phenomenon> {
    check(history).into_iter().map(|finding| finding.phenomenon).collect()
}

/// The transactions as nodes, with the edges between writers.
fn writers(history: &History, orders: &Orders<'_>) -> (Graph, Vec<bool>) {
    let mut graph = Graph::default();
    for transaction in &history.transactions {
        graph.node(transaction.name.clone());
    }
    let counts: Vec<bool> = (0..history.transactions.len()).map(|number| orders.counts(number)).collect();
    for (&key, versions) in &orders.versions {
        for pair in versions.windows(2) {
            if let (Some(one), Some(next)) = (pair[0].writer, pair[1].writer)
                && counts[one]
                && counts[next]
            {
                graph.edge(one, next, WriteWrite, key);
            }
        }
    }
    (graph, counts)
}

/// Who wrote a version of a key, if that counts.
fn writer_of(orders: &Orders<'_>, counts: &[bool], key: Key, version: usize) -> Option<usize> {
    let writer = orders.versions.get(&key)?.get(version)?.writer;
    writer.filter(|&writer| counts[writer])
}

/// Adya's graph, of what has committed.
fn dependencies(history: &History, orders: &Orders<'_>) -> Graph {
    let (mut graph, counts) = writers(history, orders);
    let mut known = BTreeSet::new();
    for seen in orders.seen.iter().filter(|seen| history.transactions[seen.reader].fate == Fate::Committed) {
        if !known.insert((seen.reader, seen.key, seen.version)) {
            continue;
        }
        if let Some(writer) = writer_of(orders, &counts, seen.key, seen.version) {
            graph.edge(writer, seen.reader, WriteRead, seen.key);
        }
        if let Some(writer) = writer_of(orders, &counts, seen.key, seen.version + 1) {
            graph.edge(seen.reader, writer, ReadWrite, seen.key);
        }
    }
    graph
}

/// The graph of moments: see the head. What a transaction that failed has seen counts as well.
fn views(history: &History, orders: &Orders<'_>) -> Graph {
    let (mut graph, counts) = writers(history, orders);
    let mut nodes: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    for seen in &orders.seen {
        if let Some(view) = seen.view {
            let name = || format!("{}'s view {view}", history.transactions[seen.reader].name);
            nodes.entry((seen.reader, view)).or_insert_with(|| graph.node(name()));
        }
    }
    let mut previous: Option<(usize, usize)> = None;
    for (&(reader, _), &node) in &nodes {
        if let Some((before, earlier)) = previous
            && before == reader
        {
            graph.edge(earlier, node, Then, 0);
        }
        if counts[reader] {
            graph.edge(node, reader, Then, 0);
        }
        previous = Some((reader, node));
    }
    for seen in &orders.seen {
        let view = seen.view.map(|view| nodes[&(seen.reader, view)]);
        let transaction = counts[seen.reader].then_some(seen.reader);
        let (from, to) = [0, 1].map(|more| writer_of(orders, &counts, seen.key, seen.version + more)).into();
        // Whoever sees through a view sees before the transaction ends: the edge "then" says the rest.
        let Some(reader) = view.or(transaction) else { continue };
        if let Some(from) = from {
            graph.edge(from, reader, WriteRead, seen.key);
        }
        if let Some(to) = to.filter(|&to| to != seen.reader) {
            graph.edge(reader, to, ReadWrite, seen.key);
        }
    }
    graph
}

/// A transaction that read a version of a key, and wrote one that is not the next.
fn lost_update(history: &History, orders: &Orders<'_>) -> Option<Finding> {
    orders.seen.iter().find_map(|seen| {
        let versions = orders.versions.get(&seen.key)?;
        let is_own = |version: &crate::versions::Version| version.writer == Some(seen.reader);
        let between = versions.iter().skip(seen.version + 1).position(is_own).filter(|&between| between > 0)?;
        let mut graph = Graph::default();
        for transaction in &history.transactions {
            graph.node(transaction.name.clone());
        }
        let others = versions[seen.version + 1..][..between].iter().filter_map(|version| version.writer);
        let mut cycle: Vec<Edge> = Vec::new();
        let edge = |from, to, dependency: Dependency| Edge { from, to, dependency, key: seen.key };
        for other in others {
            match cycle.last() {
                None => cycle.push(edge(seen.reader, other, ReadWrite)),
                Some(last) if last.to != other => cycle.push(edge(last.to, other, WriteWrite)),
                Some(_) => {}
            }
        }
        cycle.push(edge(cycle.last()?.to, seen.reader, WriteWrite));
        Some(Finding { phenomenon: Phenomenon::LostUpdate, story: graph.tell(&cycle) })
    })
}
