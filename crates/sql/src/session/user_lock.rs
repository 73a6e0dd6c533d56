//! User locks: GET_LOCK and its kin.
//!
//! ```text
//! name -> { owner, how often, those who wait }     one mutex for all: these are rare
//! ```
//!
//! # Invariants
//! 1. A session waits for one lock at a time, and is in that lock's list while it does.
//! 2. Those who wait are rung when a lock comes free; the first to look gets it.
//! 3. Nobody waits in a circle: who would close one gets error 3058.
//!
//! Source: the manual's "Locking Functions".

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use meseta_errors::ER_USER_LOCK_DEADLOCK;
use parking_lot::{Condvar, Mutex};

use super::Interrupts;
use crate::error::{Error, Result};

/// What somebody waits for, who may be woken by several.
#[derive(Default, Debug)]
pub struct Bell {
    rung: Mutex<bool>,
    ring: Condvar,
}

impl Bell {
    /// Wakes who waits, or the next who will.
    pub fn ring(&self) {
        *self.rung.lock() = true;
        self.ring.notify_all();
    }

    /// Waits until it is rung, or until the deadline; whether it was rung. It is quiet again then.
    pub fn wait(&self, deadline: Option<Instant>) -> bool {
        let mut rung = self.rung.lock();
        while !*rung {
            match deadline {
                None => self.ring.wait(&mut rung),
                Some(deadline) => {
                    if self.ring.wait_until(&mut rung, deadline).timed_out() {
                        break;
                    }
                }
            }
        }
        std::mem::take(&mut *rung)
    }
}

struct Held {
    owner: u64,
    times: u64,
    waiting: Vec<(u64, Arc<Bell>)>,
}

/// All user locks of a server.
#[derive(Default)]
pub struct UserLocks(Mutex<HashMap<String, Held>>);

impl UserLocks {
    /// Gets a lock, waiting up to `limit` (none: for ever); whether it was got in time. Errors: 3058; those of being
    /// interrupted.
    pub fn get(&self, name: &str, me: u64, limit: Option<Duration>, interrupts: &dyn Interrupts) -> Result<bool> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let bell = Arc::new(Bell::default());
        loop {
            {
                let mut locks = self.0.lock();
                match locks.get_mut(name) {
                    None => {
                        locks.insert(name.to_owned(), Held { owner: me, times: 1, waiting: Vec::new() });
                        return Ok(true);
                    }
                    Some(held) if held.times == 0 || held.owner == me => {
                        held.owner = me;
                        held.times += 1;
                        held.waiting.retain(|(who, _)| *who != me);
                        return Ok(true);
                    }
                    Some(_) => {}
                }
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    forget(&mut locks, name, me);
                    return Ok(false);
                }
                if let Err(error) = interrupts.check() {
                    forget(&mut locks, name, me);
                    return Err(error);
                }
                if closes_circle(&locks, name, me) {
                    forget(&mut locks, name, me);
                    return Err(Error::new(ER_USER_LOCK_DEADLOCK, &[]));
                }
                if let Some(held) = locks.get_mut(name)
                    && !held.waiting.iter().any(|(who, _)| *who == me)
                {
                    held.waiting.push((me, Arc::clone(&bell)));
                }
            }
            interrupts.wait(&bell, deadline, "User lock");
        }
    }

    /// Gives a lock back: whether it was held by `me`; none if nobody holds it.
    pub fn release(&self, name: &str, me: u64) -> Option<bool> {
        let mut locks = self.0.lock();
        let held = locks.get_mut(name).filter(|held| held.times > 0)?;
        if held.owner != me {
            return Some(false);
        }
        held.times -= 1;
        if held.times == 0 {
            free(&mut locks, name);
        }
        Some(true)
    }

    /// Gives all back that `me` holds; how often they were got.
    pub fn release_all(&self, me: u64) -> u64 {
        let mut locks = self.0.lock();
        let own: Vec<String> =
            locks.iter().filter(|(_, held)| held.times > 0 && held.owner == me).map(|(name, _)| name.clone()).collect();
        let mut times = 0;
        for name in own {
            if let Some(held) = locks.get_mut(&name) {
                times += std::mem::take(&mut held.times);
            }
            free(&mut locks, &name);
        }
        times
    }

    /// Who holds a lock.
    pub fn owner(&self, name: &str) -> Option<u64> {
        self.0.lock().get(name).filter(|held| held.times > 0).map(|held| held.owner)
    }
}

/// A lock has come free: those who wait look again.
fn free(locks: &mut HashMap<String, Held>, name: &str) {
    if let Some(held) = locks.get(name) {
        match held.waiting.is_empty() {
            true => {
                locks.remove(name);
            }
            false => held.waiting.iter().for_each(|(_, bell)| bell.ring()),
        }
    }
}

/// `me` waits for this lock no more.
fn forget(locks: &mut HashMap<String, Held>, name: &str, me: u64) {
    if let Some(held) = locks.get_mut(name) {
        held.waiting.retain(|(who, _)| *who != me);
        if held.times == 0 && held.waiting.is_empty() {
            locks.remove(name);
        }
    }
}

/// Whether whoever holds this lock waits, over others, for `me`.
fn closes_circle(locks: &HashMap<String, Held>, name: &str, me: u64) -> bool {
    let mut wanted = name;
    for _ in 0..=locks.len() {
        let Some(owner) = locks.get(wanted).filter(|held| held.times > 0).map(|held| held.owner) else { return false };
        if owner == me {
            return true;
        }
        let next = locks.iter().find(|(_, held)| held.waiting.iter().any(|(who, _)| *who == owner));
        let Some((next, _)) = next else { return false };
        wanted = next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Undisturbed;

    #[test]
    fn a_lock_is_got_more_than_once_and_given_back_as_often() {
        let locks = UserLocks::default();
        let get = |name: &str, me| locks.get(name, me, Some(Duration::ZERO), &Undisturbed);
        assert_eq!(get("a", 1), Ok(true));
        assert_eq!(get("a", 1), Ok(true));
        assert_eq!(get("a", 2), Ok(false));
        assert_eq!((locks.owner("a"), locks.owner("b")), (Some(1), None));
        assert_eq!((locks.release("a", 2), locks.release("a", 1)), (Some(false), Some(true)));
        assert_eq!(get("a", 2), Ok(false));
        assert_eq!(locks.release_all(1), 1);
        assert_eq!(get("a", 2), Ok(true));
        assert_eq!(locks.release("b", 2), None);
    }

    #[test]
    fn who_waits_gets_it_and_a_circle_is_an_error() {
        let locks = Arc::new(UserLocks::default());
        assert_eq!(locks.get("a", 1, None, &Undisturbed), Ok(true));
        assert_eq!(locks.get("b", 2, None, &Undisturbed), Ok(true));
        let waiting = {
            let locks = Arc::clone(&locks);
            std::thread::spawn(move || locks.get("a", 2, None, &Undisturbed))
        };
        while locks.0.lock().get("a").is_none_or(|held| held.waiting.is_empty()) {
            std::thread::yield_now();
        }
        let circle = locks.get("b", 1, None, &Undisturbed).unwrap_err();
        assert_eq!(circle.code, ER_USER_LOCK_DEADLOCK);
        assert_eq!(locks.release("a", 1), Some(true));
        assert_eq!(waiting.join().unwrap(), Ok(true));
        assert_eq!(locks.owner("a"), Some(2));
    }
}
