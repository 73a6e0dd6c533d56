//! Spans: keys that an owner has locked together, as it came past them: with the gaps below them, or key by key.
//!
//! Above: whoever reads a long range with locks ([`LockTable::reach`]); `rows` and `gaps` ask here what an index's spans
//! say of a key. Below: `queue`, through a key's [`RowQueue`]. A million rows locked one by one are a million entries; locked
//! as they are read, some dozens at a time, with the gaps, they are one span, and without the gaps one list of keys.
//!
//! ```text
//!      from              through                reach
//!   ----)==================]......................]-------->  keys
//!         locked: what the    not yet: is looked at, and
//!         owner has seen      locked if nobody disturbs
//!
//!   1. look for a key some way on                        no latch held afterwards
//!   2. reach(through that key)                           others find the span from here on
//!   3. look again: which keys are there, who wrote them, is any of them locked by others
//!   4. hold(the keys up to the first that is not to be had): the span goes through the last of them
//! ```
//!
//! Nobody stands in line at a span. Who would have to wait for one has its claim on that key made an explicit one, and
//! waits for that, as for a writer's implicit lock: so queues and deadlocks know nothing of spans.
//!
//! # Invariants
//! 1. A span's owner may have every key in it, with the gap below, as if it had asked for each: there was no writer but
//!    itself, and nobody else had a lock that conflicts, after others began to find the span. (Provisional ones aside, as ever: of
//!    who asks for a key that is not there, or for a writer that is being rolled back.)
//! 2. Whoever asks for what a span reaches for gets it, and the span stops in front of that key: it is *disturbed*. So
//!    there is nothing to take back when the owner finds that a key is not to be had. A key that goes disturbs it too: the gap
//!    that it leaves is nobody's yet.
//! 3. *Lock, then look* (`index`): either whoever asks for a key or writes it finds the span, or the owner's second look, or
//!    its question to the key's queue, comes later and finds what was done.
//! 4. A span is counted as one entry, and if it has gaps as one gap, of its index while it is in the list.
//! 5. Who makes a span's claim explicit adds to its owner's ledger before the list's mutex is free again; who ends takes its spans
//!    out of the list first, and then looks at its ledger.
//!
//! # Failing
//! There are few spans in an index at any time ([`SPANS_MAX`]), since everybody looks through all of them. Who finds no
//! room, or a span of another's in its way, locks key by key.
//!
//! # Source
//! InnoDB packs the locks of a transaction on one page into a bitmap (lock0priv.h, `lock_rec_t`), so its locks are cheap
//! for the same reason. A span is by key, and does not care for pages: nothing is to be moved when they are split.

use std::sync::Arc;

use super::LockTable;
use super::claim::{Mode, Reach, RowClaim};
use super::index::{IndexLocks, Key};
use super::key_list::KeyList;
use super::owner::Owner;
use super::queue::Claim;
use super::report::{LockDescription, Locked};
use super::rows::{Request, RowQueue};
use super::sync::{AtomicUsize, Mutex, Ordering};

/// So many spans an index has at most.
const SPANS_MAX: usize = 32;

/// What an owner reaches for.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'k> {
    /// All above the first key up to the second, and with it, and the gaps below them.
    Stretch([&'k [u8]; 2]),
    /// Some keys above the first up to the second, and no gaps.
    Records([&'k [u8]; 2]),
    /// This key, and no gap.
    Record(&'k [u8]),
}

impl Wanted<'_> {
    fn reaching(self) -> Reaching {
        let (first, last) = match self {
            // From the first string of bytes above.
            Self::Stretch([from, through]) | Self::Records([from, through]) => ([from, &[0]].concat(), through),
            Self::Record(key) => (key.to_vec(), key),
        };
        Reaching { first, last: last.to_vec(), disturbed_at: None }
    }
}

/// Which keys a span has.
enum Keys {
    /// All above the first up to the second, with the gaps; none if they are the same.
    Stretch { from: Vec<u8>, through: Vec<u8> },
    /// These, without the gaps.
    Listed(KeyList),
}

impl Keys {
    /// Whether any key may be among them that is from the first of these to the last.
    fn has_within(&self, [first, last]: [&[u8]; 2]) -> bool {
        match self {
            Self::Stretch { from, through } => from.as_slice() < last && first <= through.as_slice() && from < through,
            Self::Listed(keys) => keys.has_within([first, last]),
        }
    }

    /// Whether they go on with what is wanted.
    fn go_on_with(&self, wanted: Wanted<'_>) -> bool {
        match (self, wanted) {
            (Self::Stretch { through, .. }, Wanted::Stretch([from, _])) => through == from,
            (Self::Listed(keys), Wanted::Record(key)) => keys.ends().is_none_or(|[_, last]| last < key),
            (Self::Listed(keys), Wanted::Records([from, _])) => keys.ends().is_none_or(|[_, last]| last <= from),
            _ => false,
        }
    }

    /// None yet, but what is wanted can be.
    fn before(wanted: Wanted<'_>) -> Self {
        match wanted {
            Wanted::Stretch([from, _]) => Self::Stretch { from: from.to_vec(), through: from.to_vec() },
            Wanted::Record(_) | Wanted::Records(_) => Self::Listed(KeyList::default()),
        }
    }

    /// One more, that is behind all others; false if there is no room for it.
    fn push(&mut self, key: &[u8]) -> bool {
        match self {
            Self::Stretch { through, .. } => {
                through.clear();
                through.extend_from_slice(key);
                true
            }
            Self::Listed(keys) => keys.push(key),
        }
    }
}

/// Keys of an index that an owner has locked together.
struct Span {
    owner: Arc<Owner>,
    mode: Mode,
    keys: Keys,
    /// How many they were when they were locked.
    count: u64,
    /// What its owner is about to lock.
    reach: Option<Reaching>,
}

/// Keys behind a span that its owner is about to lock.
struct Reaching {
    first: Vec<u8>,
    last: Vec<u8>,
    /// The first of them that somebody else has asked for meanwhile.
    disturbed_at: Option<Vec<u8>>,
}

impl Span {
    fn has_gaps(&self) -> bool {
        matches!(self.keys, Keys::Stretch { .. })
    }

    fn claim(&self) -> RowClaim {
        RowClaim::new(self.mode, if self.has_gaps() { Reach::NextKey } else { Reach::Record }, false)
    }

    fn covers(&self, key: Key<'_>) -> bool {
        let Key::Row(key) = key else { return false };
        self.keys.has_within([key, key])
    }

    /// Somebody else asks for a key, or it goes: if the owner is about to lock it, it will not.
    fn disturb(&mut self, key: Key<'_>) {
        let (Key::Row(key), Some(reach)) = (key, &mut self.reach) else { return };
        let is_reached = reach.first.as_slice() <= key && key <= reach.last.as_slice();
        if is_reached && reach.disturbed_at.as_deref().is_none_or(|at| key < at) {
            reach.disturbed_at = Some(key.to_vec());
        }
    }
}

/// What an index's spans say of a key.
#[derive(Clone, Copy)]
pub(super) struct Standing {
    /// What who asks has by a span of its own.
    pub held: RowClaim,
    /// Whether another's is in the way.
    pub is_blocked: bool,
    /// Whether there is nothing in the index but spans.
    pub is_all: bool,
}

/// The spans of one index.
#[derive(Default)]
pub(super) struct Spans {
    /// How many there are. Written under the mutex.
    count: AtomicUsize,
    list: Mutex<Vec<Span>>,
}

impl IndexLocks {
    /// Whether there are spans: then a key may be locked that is not there. On entry: what is asked for has been counted in the
    /// index and [told](IndexLocks::locked), or the leaf is latched and the index has been asked whether it is quiet; or one only
    /// wants to know where to begin.
    pub fn has_spans(&self) -> bool {
        self.spans.count.load(Ordering::Relaxed) > 0
    }

    /// What spans say to `owner`, who asks for a claim on a key.
    pub(super) fn standing(&self, owner: &Owner, key: Key<'_>, claim: RowClaim) -> Standing {
        let mut list = self.spans.list.lock();
        let is_all = self.entries() == list.len() as u64;
        let mut is_blocked = false;
        let held = ask(&mut list, owner, key, claim, |_, _| is_blocked = true);
        Standing { held, is_blocked, is_all }
    }

    /// Whether a span is in the way of one who wants to write a key, as [`LockTable::would_wait`] asks it.
    #[cfg(loom)]
    pub fn asks_spans(&self, owner: &Owner, key: &[u8]) -> bool {
        self.locked();
        self.has_spans() && self.standing(owner, Key::Row(key), RowClaim::writer()).is_blocked
    }

    /// As [`IndexLocks::standing`], for one who would wait: the claims of spans in its way are made explicit ones, so that none
    /// is in the way any more. Returns what it has by a span of its own.
    pub(super) fn settle(&self, owner: &Owner, claim: RowClaim, row: &mut RowQueue) -> RowClaim {
        let place = Arc::clone(&row.place);
        // (Somebody may have what is provisional: a key that is not there, asked for before it was looked for.)
        let explicit = |owner: &Arc<Owner>, claim| row.grant(owner, claim);
        let held = ask(&mut self.spans.list.lock(), owner, place.spot().key, claim, explicit);
        // One of them may stand in this line itself, and go before others with what it has now.
        row.queue.serve();
        held
    }

    /// A key comes into the gap of a successor: shows the owners whose span has that gap and not the key, with what they have. `show`
    /// runs under the list's mutex, under which it adds to the owners' ledgers.
    pub(super) fn split_in_spans(&self, key: Key<'_>, successor: Key<'_>, show: impl FnMut(&Arc<Owner>, RowClaim)) {
        if self.has_spans() {
            show_gaps(&self.spans.list.lock(), successor, key, show);
        }
    }

    /// A key goes: shows the owners who have it and not the successor in a span, with what they have of the gap that it leaves. `show`
    /// runs as in [`IndexLocks::split_in_spans`].
    pub(super) fn removed_from_spans(
        &self,
        key: Key<'_>,
        successor: Key<'_>,
        mut show: impl FnMut(&Arc<Owner>, RowClaim),
    ) {
        let (true, Key::Row(bytes)) = (self.has_spans(), key) else { return };
        let mut list = self.spans.list.lock();
        show_gaps(&list, key, successor, &mut show);
        for span in list.iter_mut() {
            span.disturb(key);
            let Keys::Listed(keys) = &mut span.keys else { continue };
            if keys.remove(bytes) && span.owner.keeps_gaps() {
                show(&span.owner, RowClaim::gap(span.mode));
            }
        }
    }

    /// Takes all spans of an owner out.
    fn leave_spans(&self, owner: &Owner) {
        let mut list = self.spans.list.lock();
        for span in list.extract_if(.., |span| span.owner.is(owner)) {
            self.uncount(span.has_gaps());
        }
        self.spans.count.store(list.len(), Ordering::Relaxed);
    }

    /// The spans of an index, as people see them.
    pub fn span_locks(&self) -> Vec<LockDescription> {
        let (table, index) = (self.table(), self.id());
        let describe = |span: &Span| {
            let [first, last] = match &span.keys {
                Keys::Stretch { from, through } => [from, through].map(Vec::as_slice),
                Keys::Listed(keys) => keys.ends()?,
            };
            let (first, last, gaps) = (first.into(), last.into(), span.has_gaps());
            let locked = Locked::Span { table, index, first, last, mode: span.mode, gaps, keys: span.count };
            Some(LockDescription::new(&span.owner, locked, false))
        };
        self.spans.list.lock().iter().filter_map(describe).collect()
    }
}

/// Somebody asks for a claim on a key: shows who has a span in the way, and with which claim, disturbs those that reach for the key,
/// and returns what the asker has by a span of its own.
fn ask(
    list: &mut [Span],
    asker: &Owner,
    key: Key<'_>,
    claim: RowClaim,
    mut in_the_way: impl FnMut(&Arc<Owner>, RowClaim),
) -> RowClaim {
    let mut held = RowClaim::default();
    for span in list {
        let covers = span.covers(key);
        if span.owner.is(asker) {
            held = if covers { held.joined(span.claim()) } else { held };
        } else if claim.waits_for(span.claim()) {
            if covers {
                in_the_way(&span.owner, span.claim());
            }
            span.disturb(key);
        }
    }
    held
}

/// Shows the owners of spans with gaps that have a key and not its neighbour.
fn show_gaps(list: &[Span], key: Key<'_>, neighbour: Key<'_>, mut show: impl FnMut(&Arc<Owner>, RowClaim)) {
    for span in list.iter().filter(|span| span.has_gaps() && span.covers(key) && !span.covers(neighbour)) {
        show(&span.owner, RowClaim::gap(span.mode));
    }
}

impl LockTable {
    /// `owner` is about to lock these: from here on others find that. It looks then which keys are there, and which of them nobody
    /// but itself has written, up to the first that somebody has; if the answer is `Some(true)`, also which nobody else has
    /// [locked](LockTable::is_free). Then it says which those are ([`LockTable::hold`]), even if there are none. `None`: it has to
    /// lock key by key.
    pub fn reach(&self, owner: &Arc<Owner>, index: &Arc<IndexLocks>, mode: Mode, wanted: Wanted<'_>) -> Option<bool> {
        let reaching = wanted.reaching();
        let stretch = [reaching.first.as_slice(), &reaching.last];
        let mut list = index.spans.list.lock();
        let in_the_way = |span: &Span| {
            let conflicts = mode == Mode::Exclusive || span.mode == Mode::Exclusive;
            let meets = |other: &Reaching| other.first <= reaching.last && reaching.first <= other.last;
            let is_met = span.keys.has_within(stretch) || span.reach.as_ref().is_some_and(meets);
            !span.owner.is(owner) && conflicts && is_met
        };
        if list.iter().any(in_the_way) {
            return None;
        }
        let goes_on = |span: &Span| span.owner.is(owner) && span.mode == mode && span.keys.go_on_with(wanted);
        let at = match list.iter().position(goes_on) {
            Some(at) => at,
            None if list.len() == SPANS_MAX => return None,
            None => {
                let span = Span { owner: Arc::clone(owner), mode, keys: Keys::before(wanted), count: 0, reach: None };
                index.count_entry();
                if span.has_gaps() {
                    index.count_gap();
                }
                list.push(span);
                index.spans.count.store(list.len(), Ordering::Relaxed);
                owner.spans.add(Arc::clone(index));
                list.len() - 1
            }
        };
        list[at].reach = Some(reaching);
        index.locked();
        Some(index.entries() > list.len() as u64)
    }

    /// Locks the first of these keys, which are what `owner` [reached](LockTable::reach) for in ascending order, up to where it
    /// was disturbed; returns how many.
    pub fn hold<'k>(&self, owner: &Owner, index: &IndexLocks, keys: impl Iterator<Item = &'k [u8]>) -> usize {
        let mut list = index.spans.list.lock();
        let reaches = |span: &Span| span.owner.is(owner) && span.reach.is_some();
        let Some(at) = list.iter().position(reaches) else { return 0 };
        let span = &mut list[at];
        let disturbed_at = span.reach.take().and_then(|reach| reach.disturbed_at);
        let mut count = 0;
        for key in keys.take_while(|key| disturbed_at.as_deref().is_none_or(|at| *key < at)) {
            if !span.keys.push(key) {
                break;
            }
            count += 1;
        }
        span.count += count as u64;
        if span.count == 0 {
            let span = list.swap_remove(at);
            index.uncount(span.has_gaps());
            index.spans.count.store(list.len(), Ordering::Relaxed);
        }
        count
    }

    /// Whether nobody else has a lock on this key that is in the way, or stands in line for one. Of spans it says nothing.
    pub fn is_free(&self, owner: &Owner, request: &Request<'_>) -> bool {
        let spot = self.spot(request.index, request.key);
        let claim = RowClaim::new(request.mode, request.reach, request.key == Key::Supremum);
        let mut shard = self.shard(spot.hash).lock();
        shard.find(&spot).is_none_or(|row| row.queue.is_free(owner, claim))
    }

    /// Gives back the spans of an owner that ends.
    pub(super) fn release_spans(&self, owner: &Owner) {
        // Nobody but the owner adds to these.
        if !owner.spans.is_empty() {
            owner.spans.take().iter().for_each(|index| index.leave_spans(owner));
        }
    }
}
