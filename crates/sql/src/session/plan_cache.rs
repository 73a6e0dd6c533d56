//! Plans by the shapes of statements: parsing and planning are paid once for each shape, by whoever meets it first.
//!
//! ```text
//!   text --normaliser--> shape --hash, with the session's environment--> PlanKey
//!                                                   |
//!     SessionPlans   this session's, no other looks at them          --- not there --->  PlanCache   all sessions', in shards
//! ```
//!
//! A prepared statement has its plan with it, and asks the cache only when that is not there or too old.
//!
//! # Invariants
//! 1. A key says all that a plan depends on but the schema: the shape, the types of parameters, the session's variables and
//!    database. Its 128 bits are hashed with seeds that no client knows.
//! 2. A hit in the session's own plans writes nothing that other sessions read: not even a plan's count of holders.
//! 3. A plan is for one version of the schema, and for [`GOOD_FOR`]: then it is made anew, with new statistics. Should the
//!    schema change between the look and the use, entering a table says so.
//!
//! # Memory
//! At most [`SHARED`] plans, and [`OWN`] references a session. What is full forgets half, whatever it is: who has many more
//! shapes than that gains nothing from a plan cache.

use std::sync::Arc;
use std::time::Duration;

use meseta_engine::known_hash::KnownMap;
use parking_lot::RwLock;

use super::plan::{Parameters, StatementPlan};

/// What a plan is found by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PlanKey(pub u128);

/// So long a plan is used before statistics are looked at again.
const GOOD_FOR: Duration = Duration::from_secs(20);

/// Plans of all sessions.
const SHARED: usize = 8192;
/// Shards, each with a lock of its own.
const SHARDS: usize = 64;
/// Plans that a session refers to.
const OWN: usize = 256;

type ByKey<V> = KnownMap<PlanKey, V>;

/// A plan, and until when it may be used.
pub struct CachedPlan {
    /// The plan.
    pub plan: StatementPlan,
    made: PlanMoment,
}

/// A moment at which a plan is made or used.
#[derive(Clone, Copy, Debug)]
pub struct PlanMoment {
    /// The version of the schema.
    pub schema_version: u64,
    /// Microseconds since 1970.
    pub time: i64,
}

impl CachedPlan {
    /// A plan that was made now.
    pub fn new(plan: StatementPlan, made: PlanMoment) -> Self {
        Self { plan, made }
    }

    /// Whether it is for these values of parameters, whose types are those that it was made for.
    pub fn is_for(&self, parameters: Parameters<'_>) -> bool {
        let asked = self.plan.asks_whole_texts;
        asked == 0 || (self.plan.whole_texts ^ parameters.whole_texts()) & asked == 0
    }

    /// Whether it may still be used.
    fn is_fresh(&self, at: PlanMoment) -> bool {
        let micros = at.time.wrapping_sub(self.made.time);
        self.made.schema_version == at.schema_version && (0..GOOD_FOR.as_micros() as i64).contains(&micros)
    }
}

/// The plans of all sessions.
pub struct PlanCache {
    shards: Box<[RwLock<ByKey<Arc<CachedPlan>>>]>,
    seed: u64,
}

impl Default for PlanCache {
    fn default() -> Self {
        use std::hash::{BuildHasher, RandomState};
        Self { shards: (0..SHARDS).map(|_| RwLock::default()).collect(), seed: RandomState::new().hash_one(0) }
    }
}

impl PlanCache {
    /// What shapes are hashed with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    fn shard(&self, key: PlanKey) -> &RwLock<ByKey<Arc<CachedPlan>>> {
        &self.shards[(key.0 >> 64) as usize % SHARDS]
    }

    /// The plan that somebody has, or else the one that is here, if it may still be used.
    pub fn fresh(&self, own: Option<Arc<CachedPlan>>, key: PlanKey, at: PlanMoment) -> Option<Arc<CachedPlan>> {
        let is_fresh = |plan: &Arc<CachedPlan>| plan.is_fresh(at);
        own.filter(is_fresh).or_else(|| self.shard(key).read().get(&key).cloned().filter(is_fresh))
    }

    /// Keeps a plan that was made, for all.
    pub fn add(&self, key: PlanKey, plan: CachedPlan) -> Arc<CachedPlan> {
        let plan = Arc::new(plan);
        let mut shard = self.shard(key).write();
        if shard.len() >= SHARED / SHARDS {
            forget_half(&mut shard);
        }
        shard.insert(key, Arc::clone(&plan));
        plan
    }
}

fn forget_half<V>(map: &mut ByKey<V>) {
    let mut stays = false;
    map.retain(|_, _| {
        stays = !stays;
        stays
    });
}

/// The plans that a session has used.
#[derive(Default)]
pub struct SessionPlans(ByKey<Option<Arc<CachedPlan>>>);

impl SessionPlans {
    /// Takes the plan out: it is to be put back when it has run ([`SessionPlans::put_back`]).
    pub fn take(&mut self, key: PlanKey, shared: &PlanCache, at: PlanMoment) -> Option<Arc<CachedPlan>> {
        shared.fresh(self.0.get_mut(&key).and_then(Option::take), key, at)
    }

    /// Puts back what was taken, or was made.
    pub fn put_back(&mut self, key: PlanKey, plan: Arc<CachedPlan>) {
        if let Some(place) = self.0.get_mut(&key) {
            *place = Some(plan);
            return;
        }
        if self.0.len() >= OWN {
            forget_half(&mut self.0);
        }
        self.0.insert(key, Some(plan));
    }
}

#[cfg(test)]
mod tests {
    use meseta_types::{Collation, Datum};

    use super::*;
    use crate::account::Requirements;
    use crate::query::{Body, QueryPlan};
    use crate::session::plan::PlanBody;

    const fn at(schema_version: u64, time: i64) -> PlanMoment {
        PlanMoment { schema_version, time }
    }

    fn plan(made: PlanMoment) -> CachedPlan {
        let query = QueryPlan::new(Body::Values(Vec::new()), Vec::new());
        let plan = StatementPlan {
            begins_with_a_row: false,
            body: PlanBody::Query(query),
            subqueries: Vec::new(),
            requirements: Requirements::default(),
            deprecated: Vec::new(),
            is_personal: false,
            counter: None,
            counts: Box::default(),
            access: (false, false),
            sizes: Vec::new(),
            unsampled: Vec::new(),
            whole_texts: 0,
            asks_whole_texts: 0,
        };
        CachedPlan::new(plan, made)
    }

    #[test]
    fn a_plan_is_for_texts_like_those_that_it_has_asked_of() {
        let text = |text: &'static [u8]| Datum::Text(text, Collation::Utf8mb4_0900AiCi);
        let of = |values: &[Datum<'_>], asks: u64| {
            let made_for = Parameters { values: &[text(b"12"), text(b"name")], types: &[] };
            let mut plan = plan(at(1, 1));
            (plan.plan.whole_texts, plan.plan.asks_whole_texts) = (made_for.whole_texts(), asks);
            plan.is_for(Parameters { values, types: &[] })
        };
        assert!(of(&[text(b"-7"), text(b"other")], 0b11));
        assert!(of(&[text(b"-7"), text(b"8")], 0b01), "of the second it has not asked");
        assert!(!of(&[text(b"-7"), text(b"8")], 0b10));
        for not_whole in [&b"1.5"[..], b"", b"-", b"+1", b" 1", b"1e3", b"1234567890123456789"] {
            assert!(!of(&[text(not_whole), text(b"name")], 0b01), "{}", not_whole.escape_ascii());
            assert!(of(&[text(not_whole), text(b"name")], 0), "nobody has asked");
        }
        assert!(!of(&[Datum::Signed(12), text(b"name")], 0b01), "no text");
    }

    #[test]
    fn a_plan_is_found_by_all_until_the_schema_changes_or_it_is_old() {
        let shared = PlanCache::default();
        let (mut one, mut other) = (SessionPlans::default(), SessionPlans::default());
        let key = PlanKey(7 << 64 | 9);
        assert!(one.take(key, &shared, at(1, 0)).is_none());
        one.put_back(key, shared.add(key, plan(at(1, 0))));
        let found = one.take(key, &shared, at(1, 5)).unwrap();
        assert!(Arc::ptr_eq(&found, &other.take(key, &shared, at(1, 5)).unwrap()));
        one.put_back(key, found);
        assert!(one.take(key, &shared, at(2, 5)).is_none());
        assert!(other.take(key, &shared, at(1, GOOD_FOR.as_micros() as i64)).is_none());
        assert!(other.take(key, &shared, at(1, -1)).is_none(), "a clock that went back");
    }

    #[test]
    fn what_is_full_forgets_half() {
        let shared = PlanCache::default();
        let mut own = SessionPlans::default();
        for number in 0..3 * SHARED as u128 {
            let key = PlanKey(number << 64 | number);
            own.put_back(key, shared.add(key, plan(at(1, 0))));
        }
        assert!(own.0.len() <= OWN);
        let kept: usize = shared.shards.iter().map(|shard| shard.read().len()).sum();
        assert!((SHARED / 4..=SHARED).contains(&kept), "{kept}");
    }
}
