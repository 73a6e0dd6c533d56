//! Finds cycles of waits, and tells one member of each to give up.
//!
//! Above: the engine keeps a [`DeadlockDetector`]. Below: `waiters` (who waits), `rows` and `table` (for whom), `seat`.
//!
//! ```text
//!   1. who waits, and with which ticket          the register, the seats
//!   2. which of those hold what others wait for  each queue in which somebody waits, once
//!   3. from these, depth first: who waits for    each owner's queue, when it is its turn
//!      whom? back to one on the path: a cycle
//!   4. look at its edges again: are all there?
//!   5. lock all its members' seats: does each    then the cycle is real, and the victim's wait is ended
//!      still wait with the ticket of step 1?
//! ```
//!
//! Traffic is not stopped: one mutex at a time is taken, for as long as one looks at one queue. So the picture is blurred,
//! and steps 4 and 5 say whether it can be believed.
//!
//! # Invariants
//! 1. A cycle believed is a cycle. Every member waited from step 1 to step 5 without interruption, for a ticket is never
//!    used twice. Who waits gives nothing back and leaves no queue. What others can do to an edge either ends a wait
//!    (they remove the key), or it takes the edge away for good (one who waits is given more in the same queue, and now
//!    goes before another that it waited behind). So an edge that is seen in step 3 and in step 4 was there all the time,
//!    and all of them were when step 3 was over.
//! 2. Exactly one member of a cycle is told, in step 5: under all its members' seats, so that no other end of a wait breaks the
//!    cycle at the same time.
//! 3. Every cycle is found sooner or later: it does not go away, and contains somebody who holds what another member
//!    waits for. (Waiting behind each other in one queue makes no cycle: that has an order. Who waits in another queue
//!    than the one before it is met there as a holder.) In step 2 such a one is found.
//!
//! # Victims
//! The member with the least weight; among equals the one whose wait began last. Whoever waited for it, to insert, is favoured from
//! then on (`claim`): the victim comes back, and is not to be in the way again.
//!
//! # Failing
//! Without the detector, deadlocks end by time. A victim that does not give back what it holds leaves the others waiting;
//! it does not wait itself then, so there is no cycle.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use super::LockTable;
use super::claim::RowClaim;
use super::owner::{Owner, OwnerId};
use super::queue::{Claim, Queue};
use super::report::{Deadlock, LockDescription, Party};
use super::seat::{Ended, Look, Site, Ticket};
use super::table::TableClaim;

/// How often the detector looks while anybody waits.
const INTERVAL: Duration = Duration::from_millis(10);
/// How soon it looks again where it has found deadlocks: those who go on soon have the next one.
const SHORTEST: Duration = Duration::from_millis(1);
/// But it rests so many times as long as it has looked.
const RESTS: u32 = 4;

/// One who waits.
struct Node {
    owner: Arc<Owner>,
    ticket: Ticket,
    site: Site,
}

type Nodes = HashMap<OwnerId, Node>;

/// "Waits for": what is wanted, and what of whose is in the way.
#[derive(Clone, Copy)]
struct Edge {
    wanted: AnyClaim,
    to: OwnerId,
    in_the_way: AnyClaim,
    /// Whether that is only wanted too.
    waits: bool,
}

#[derive(Clone, Copy)]
enum AnyClaim {
    Row(RowClaim),
    Table(TableClaim),
}

impl AnyClaim {
    fn describe(self, owner: &Owner, site: &Site, waits: bool) -> LockDescription {
        match (self, site) {
            (AnyClaim::Row(claim), Site::Row(place)) => LockDescription::row(owner, place, claim, waits),
            (AnyClaim::Table(claim), Site::Table(table)) => LockDescription::table(owner, table, claim, waits),
            _ => unreachable!("rows are waited for at rows, and tables at tables"),
        }
    }
}

/// One step of the search, and how far it is with it.
struct Step {
    at: OwnerId,
    edges: Vec<Edge>,
    next: usize,
}

impl LockTable {
    /// Looks for deadlocks once. Returns how many it broke.
    pub fn detect_once(&self) -> usize {
        if self.waiting() < 2 {
            return 0;
        }
        let mut nodes = self.nodes();
        let candidates = self.candidates(&nodes);
        let mut broken = 0;
        let mut done = HashSet::new();
        for candidate in candidates {
            // Again from the same one: it may be in more than one cycle.
            while let Some(cycle) = self.search(&nodes, &mut done, candidate) {
                broken += usize::from(self.break_cycle(&mut nodes, &cycle));
                // Whom the victim kept from being looked at is looked at anew.
                done.clear();
            }
        }
        broken
    }

    /// Step 1.
    fn nodes(&self) -> Nodes {
        let owners = self.waiters.owners().into_iter();
        owners
            .filter_map(|owner| {
                let (ticket, site) = owner.seat.look().waiting().map(|wait| (wait.ticket, wait.site.clone()))?;
                Some((owner.id(), Node { owner, ticket, site }))
            })
            .collect()
    }

    /// Step 2.
    fn candidates(&self, nodes: &Nodes) -> Vec<OwnerId> {
        fn holders<C: Claim>(queue: &Queue<C>, nodes: &Nodes, into: &mut HashSet<OwnerId>) {
            into.extend(queue.granted().iter().map(|granted| granted.owner.id()).filter(|id| nodes.contains_key(id)));
        }
        let mut looked_at = HashSet::new();
        let mut found = HashSet::new();
        for node in nodes.values() {
            match &node.site {
                Site::Row(place) if looked_at.insert(Arc::as_ptr(place) as usize) => {
                    let spot = place.spot();
                    if let Some(row) = self.shard(spot.hash).lock().find(&spot) {
                        holders(&row.queue, nodes, &mut found);
                    }
                }
                Site::Table(table) if looked_at.insert(Arc::as_ptr(table) as usize) => {
                    holders(&table.inside().queue, nodes, &mut found);
                }
                _ => {}
            }
        }
        found.into_iter().collect()
    }

    /// Step 3: a cycle that can be reached from here through those who are not `done`, as its members and why each
    /// waits for the next.
    fn search(&self, nodes: &Nodes, done: &mut HashSet<OwnerId>, from: OwnerId) -> Option<Vec<(OwnerId, Edge)>> {
        let mut path: Vec<Step> = Vec::new();
        let mut on_path: HashMap<OwnerId, usize> = HashMap::new();
        let mut next = Some(from);
        loop {
            if let Some(at) = next.take()
                && !done.contains(&at)
                && let Some(node) = nodes.get(&at)
            {
                on_path.insert(at, path.len());
                path.push(Step { at, edges: self.edges(node), next: 0 });
            }
            let step = path.last_mut()?;
            let Some(edge) = step.edges.get(step.next) else {
                on_path.remove(&step.at);
                done.insert(step.at);
                path.pop();
                continue;
            };
            step.next += 1;
            let to = edge.to;
            match on_path.get(&to) {
                Some(&begin) => {
                    let taken = |step: &Step| (step.at, step.edges[step.next - 1]);
                    return Some(path[begin..].iter().map(taken).collect());
                }
                None => next = Some(to),
            }
        }
    }

    /// For whom one waits, if it still does.
    fn edges(&self, node: &Node) -> Vec<Edge> {
        fn of<C: Claim>(queue: &Queue<C>, node: &Node, any: impl Fn(C) -> AnyClaim) -> Vec<Edge> {
            let Some(at) = queue.waiting().iter().position(|waiting| waiting.ticket == node.ticket) else {
                return Vec::new();
            };
            let claim = queue.waiting()[at].claim;
            queue
                .blockers(&node.owner, claim, at)
                .map(|blocker| Edge {
                    wanted: any(claim),
                    to: blocker.owner.id(),
                    in_the_way: any(blocker.claim),
                    waits: blocker.waits,
                })
                .collect()
        }
        match &node.site {
            Site::Row(place) => {
                let spot = place.spot();
                let mut shard = self.shard(spot.hash).lock();
                shard.find(&spot).map_or(Vec::new(), |row| of(&row.queue, node, AnyClaim::Row))
            }
            Site::Table(table) => of(&table.inside().queue, node, AnyClaim::Table),
            #[cfg(test)]
            Site::Nowhere => Vec::new(),
        }
    }

    /// Those who come later are not to go before this one, whom a deadlock was broken for. (If it has been served meanwhile, it
    /// had no need.)
    fn favour(&self, node: &Node) {
        if let Site::Row(place) = &node.site {
            let spot = place.spot();
            if let Some(row) = self.shard(spot.hash).lock().find(&spot) {
                row.queue.favour(node.ticket);
            }
        }
    }

    /// Steps 4 and 5. False if the cycle is none. Either way at least one of its members is a node no more.
    fn break_cycle(&self, nodes: &mut Nodes, cycle: &[(OwnerId, Edge)]) -> bool {
        let is_there = |(id, edge): &(OwnerId, Edge)| self.edges(&nodes[id]).iter().any(|now| now.to == edge.to);
        let outdated = cycle.iter().find(|step| !is_there(step)).map(|&(id, _)| id);
        if let Some(id) = outdated {
            // Whatever it waits for now is looked at next time.
            nodes.remove(&id);
            return false;
        }
        let mut members: Vec<&Node> = cycle.iter().map(|(id, _)| &nodes[id]).collect();
        members.sort_by_key(|node| node.owner.id());
        let mut looks: Vec<Look<'_>> = members.iter().map(|node| node.owner.seat.look()).collect();
        let still_waits =
            |(node, look): (&&Node, &Look<'_>)| look.waiting().is_some_and(|wait| wait.ticket == node.ticket);
        let gone: Vec<OwnerId> = members
            .iter()
            .zip(&looks)
            .filter(|&member| !still_waits(member))
            .map(|(node, _)| node.owner.id())
            .collect();
        if !gone.is_empty() {
            drop(looks);
            gone.iter().for_each(|id| drop(nodes.remove(id)));
            return false;
        }
        let lightest = |&at: &usize| (members[at].owner.weight(), std::cmp::Reverse(members[at].ticket));
        let chosen = (0..members.len()).min_by_key(lightest).expect("a cycle has members");
        let victim = members[chosen].owner.id();
        // Told before the victim wakes, so that it can read why.
        *self.last_deadlock.lock() = Some(Arc::new(describe(nodes, cycle, &looks, &members, victim)));
        self.deadlocks.fetch_add(1, Ordering::Relaxed);
        let ended = looks[chosen].end(members[chosen].ticket, Ended::Deadlock);
        debug_assert!(ended, "it was seen to wait, and its seat is still locked");
        drop(looks);
        self.favour(&nodes[&before_in(cycle, victim)]);
        nodes.remove(&victim);
        true
    }
}

/// Who waits for that member.
fn before_in(cycle: &[(OwnerId, Edge)], member: OwnerId) -> OwnerId {
    cycle.iter().find(|(_, edge)| edge.to == member).expect("a cycle is closed").0
}

fn describe(
    nodes: &Nodes,
    cycle: &[(OwnerId, Edge)],
    looks: &[Look<'_>],
    members: &[&Node],
    victim: OwnerId,
) -> Deadlock {
    let waited: HashMap<OwnerId, Duration> = members
        .iter()
        .zip(looks)
        .map(|(node, look)| (node.owner.id(), look.waiting().map_or(Duration::ZERO, |wait| wait.since.elapsed())))
        .collect();
    let parties = cycle.iter().enumerate().map(|(at, (id, edge))| {
        let (before_id, before) = &cycle[(at + cycle.len() - 1) % cycle.len()];
        let Node { owner, site, .. } = &nodes[id];
        Party {
            owner: *id,
            transaction: owner.transaction(),
            weight: owner.weight(),
            waited: waited[id],
            in_the_way: before.in_the_way.describe(owner, &nodes[before_id].site, before.waits),
            wanted: edge.wanted.describe(owner, site, true),
        }
    });
    let victim = cycle.iter().position(|(id, _)| *id == victim).expect("the victim is a member");
    Deadlock { at: SystemTime::now(), parties: parties.collect(), victim }
}

/// The thread that looks for deadlocks every 10 ms while anybody waits, and more often while it finds some. It ends when this is
/// dropped.
pub struct DeadlockDetector {
    locks: Arc<LockTable>,
    thread: Option<JoinHandle<()>>,
}

impl DeadlockDetector {
    /// Starts the thread. One for each lock table.
    pub fn start(locks: &Arc<LockTable>) -> std::io::Result<Self> {
        locks.waiters.set_stop(false);
        let looked_at = Arc::clone(locks);
        let thread = std::thread::Builder::new().name("deadlocks".into()).spawn(move || {
            let mut pause = INTERVAL;
            while looked_at.waiters.listen(pause) {
                let begin = Instant::now();
                let broken = looked_at.detect_once();
                pause = if broken == 0 { INTERVAL } else { (begin.elapsed() * RESTS).clamp(SHORTEST, INTERVAL) };
            }
        })?;
        Ok(Self { locks: Arc::clone(locks), thread: Some(thread) })
    }
}

impl Drop for DeadlockDetector {
    fn drop(&mut self) {
        self.locks.waiters.set_stop(true);
        if let Some(thread) = self.thread.take() {
            // A panic in there has been reported where it happened.
            let _ = thread.join();
        }
    }
}
