//! Who depends on whom, and the shortest cycle in that.
//!
//! ```text
//!   ww   a wrote a version, b the next one        wr   a wrote a version, b read it
//!   rw   a read a version, b wrote the next one   then a happened before b within one transaction
//! ```
//!
//! A cycle lies within one strongly connected component (Tarjan, 1972). So where each component is one node there is
//! none, which is quickly seen; and only where there is one is it looked for, breadth first from each of its edges.

use std::collections::VecDeque;

use crate::history::{Key, name_of};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dependency {
    WriteWrite,
    WriteRead,
    ReadWrite,
    Then,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    pub dependency: Dependency,
    pub key: Key,
}

/// Once a cycle has been found, so many more edges are tried for a shorter one.
const TRIES: usize = 100;

#[derive(Default)]
pub struct Graph {
    pub names: Vec<String>,
    edges: Vec<Edge>,
    /// The edges that leave each node, by number.
    out: Vec<Vec<usize>>,
}

impl Graph {
    pub fn node(&mut self, name: String) -> usize {
        self.names.push(name);
        self.out.push(Vec::new());
        self.names.len() - 1
    }

    /// Adds an edge; nobody depends on himself.
    pub fn edge(&mut self, from: usize, to: usize, dependency: Dependency, key: Key) {
        if from != to {
            self.out[from].push(self.edges.len());
            self.edges.push(Edge { from, to, dependency, key });
        }
    }

    fn leaving(&self, node: usize, allowed: &[Dependency]) -> impl Iterator<Item = Edge> {
        self.out[node].iter().map(|&edge| self.edges[edge]).filter(|edge| allowed.contains(&edge.dependency))
    }

    /// The component of each node, over edges of these kinds. Tarjan's algorithm, with a stack of its own.
    fn components(&self, allowed: &[Dependency]) -> Vec<usize> {
        const NONE: usize = usize::MAX;
        let count = self.names.len();
        let (mut order, mut low, mut component) = (vec![NONE; count], vec![NONE; count], vec![NONE; count]);
        let (mut visited, mut open, mut found) = (0, Vec::new(), 0);
        for root in 0..count {
            if order[root] != NONE {
                continue;
            }
            let mut path = vec![(root, self.leaving(root, allowed))];
            (order[root], low[root]) = (visited, visited);
            visited += 1;
            open.push(root);
            while let Some((node, edges)) = path.last_mut() {
                let node = *node;
                if let Some(Edge { to, .. }) = edges.next() {
                    if order[to] == NONE {
                        (order[to], low[to]) = (visited, visited);
                        visited += 1;
                        open.push(to);
                        path.push((to, self.leaving(to, allowed)));
                    } else if component[to] == NONE {
                        low[node] = low[node].min(order[to]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(above, _)) = path.last() {
                    low[above] = low[above].min(low[node]);
                }
                if low[node] == order[node] {
                    while let Some(member) = open.pop() {
                        component[member] = found;
                        if member == node {
                            break;
                        }
                    }
                    found += 1;
                }
            }
        }
        component
    }

    /// The shortest way over edges of these kinds.
    fn path(&self, from: usize, to: usize, allowed: &[Dependency]) -> Option<Vec<Edge>> {
        let mut reached: Vec<Option<Edge>> = vec![None; self.names.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for edge in self.leaving(node, allowed) {
                if edge.to == from || reached[edge.to].is_some() {
                    continue;
                }
                reached[edge.to] = Some(edge);
                if edge.to == to {
                    let back = std::iter::successors(reached[to], |edge| reached[edge.from]);
                    let mut path: Vec<Edge> = back.collect();
                    path.reverse();
                    return Some(path);
                }
                queue.push_back(edge.to);
            }
        }
        None
    }

    /// The shortest cycle that begins with an edge of the kind `first` and goes on over edges of the kinds `rest`.
    pub fn cycle(&self, first: Dependency, rest: &[Dependency], fits: impl Fn(&[Edge]) -> bool) -> Option<Vec<Edge>> {
        let component = self.components(&[&[first], rest].concat());
        let mut shortest: Option<Vec<Edge>> = None;
        let mut tries = 0;
        for &edge in self.edges.iter().filter(|edge| edge.dependency == first) {
            if component[edge.from] != component[edge.to] || tries == TRIES {
                continue;
            }
            tries += usize::from(shortest.is_some());
            let Some(path) = self.path(edge.to, edge.from, rest) else { continue };
            let cycle = [vec![edge], path].concat();
            if fits(&cycle) && shortest.as_ref().is_none_or(|shortest| cycle.len() < shortest.len()) {
                shortest = Some(cycle);
            }
        }
        shortest
    }

    /// A cycle, told.
    pub fn tell(&self, cycle: &[Edge]) -> String {
        let mut story = String::new();
        for edge in cycle {
            let [from, to] = [edge.from, edge.to].map(|node| &self.names[node]);
            let key = name_of(edge.key);
            story += &match edge.dependency {
                Dependency::WriteWrite => format!("\n    {from} -ww-> {to}: it wrote {key}, then {to} did"),
                Dependency::WriteRead => format!("\n    {from} -wr-> {to}: it wrote {key}, and {to} read that"),
                Dependency::ReadWrite => format!("\n    {from} -rw-> {to}: it read {key} as it was before {to} wrote"),
                Dependency::Then => format!("\n    {from} -then-> {to}"),
            };
        }
        story
    }
}
