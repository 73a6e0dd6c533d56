//! Transfers between accounts by many threads, versioned by the commit table alone: whatever the moment, and however
//! often the table went round, the sum that a snapshot sees is what it was.
//!
//! The accounts are what trees and undo will be: a list of versions each, under a mutex that is held for an instant. A
//! writer that finds an account changed by one who is active gives up and undoes what it did; so one in a few
//! transactions is rolled back, most of them half done. Versions that nobody sees are removed as far as the horizon
//! says. The table has 4,096 words and comes round every few milliseconds.
#![cfg(not(loom))]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use meseta_engine::ids::{CommitTime, TransactionId};
use meseta_engine::time::{Session, Sizes, Snapshot, State, TableFull, Time};

const ACCOUNTS: usize = 64;
const EACH: i64 = 1000;
const LASTS: Duration = Duration::from_millis(1500);

/// An account's versions, the newest last.
type Versions = Vec<(TransactionId, i64)>;

struct Bank {
    time: Arc<Time>,
    accounts: Vec<Mutex<Versions>>,
    stop: AtomicBool,
    committed: AtomicU64,
    rolled_back: AtomicU64,
}

/// Numbers that differ from thread to thread. (Marsaglia's xorshift.)
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

impl Bank {
    fn new(next: TransactionId, undecided: &[TransactionId]) -> Self {
        let start = || Mutex::new(vec![(TransactionId::NOBODY, EACH)]);
        Self {
            time: Arc::new(Time::open_sized(next, undecided, Sizes::SMALL).unwrap()),
            accounts: (0..ACCOUNTS).map(|_| start()).collect(),
            stop: AtomicBool::new(false),
            committed: AtomicU64::new(0),
            rolled_back: AtomicU64::new(0),
        }
    }

    fn account(&self, account: usize) -> MutexGuard<'_, Versions> {
        self.accounts[account].lock().unwrap()
    }

    fn begin(&self) -> TransactionId {
        loop {
            match self.time.begin_writer() {
                Ok(id) => return id,
                Err(TableFull) => std::thread::yield_now(),
            }
        }
    }

    /// Adds to an account, unless somebody else's change of it is not decided.
    fn add(&self, id: TransactionId, account: usize, amount: i64) -> bool {
        let mut versions = self.account(account);
        let &(writer, value) = versions.last().expect("an account has a version");
        if writer != id {
            match self.time.state_of(writer) {
                State::Active => return false,
                State::RolledBack(_) => panic!("{writer:?} was rolled back, but its version is there"),
                State::Committed(_) | State::Frozen => {}
            }
        }
        versions.push((id, value + amount));
        self.purge(&mut versions);
        true
    }

    /// Removes what lies behind a version that every snapshot sees.
    fn purge(&self, versions: &mut Versions) {
        let horizon = self.time.horizon();
        let everybody_sees = |&(writer, _): &(TransactionId, i64)| match self.time.state_of(writer) {
            State::Frozen => true,
            State::Committed(time) => time <= horizon,
            State::Active | State::RolledBack(_) => false,
        };
        if let Some(place) = versions.iter().rposition(everybody_sees) {
            versions.drain(..place);
        }
    }

    fn roll_back(&self, id: TransactionId, accounts: &[usize]) {
        for &account in accounts {
            self.account(account).retain(|&(writer, _)| writer != id);
        }
        self.time.rolled_back(id);
        self.rolled_back.fetch_add(1, Ordering::Relaxed);
    }

    fn commit(&self, id: TransactionId) -> CommitTime {
        let time = self.time.commit(id);
        self.committed.fetch_add(1, Ordering::Relaxed);
        self.time.advance_when_due();
        time
    }

    /// Moves money round some accounts, `pause` after each.
    fn transfer(&self, dice: &mut Dice, pause: Duration) {
        let id = self.begin();
        let mut touched = Vec::new();
        let amount = dice.below(100) as i64;
        for amount in [amount, -2 * amount, amount] {
            let account = dice.below(ACCOUNTS);
            touched.push(account);
            if !self.add(id, account, amount) {
                return self.roll_back(id, &touched);
            }
            if !pause.is_zero() {
                std::thread::sleep(pause);
            }
        }
        self.commit(id);
    }

    fn write(&self, seed: u64, pause: Duration) {
        let mut dice = Dice(seed);
        while !self.stop.load(Ordering::Relaxed) {
            self.transfer(&mut dice, pause);
        }
    }

    fn sum(&self, snapshot: &Snapshot) -> i64 {
        let visible = |account| {
            let versions = self.account(account);
            let seen = versions.iter().rev().find(|(writer, _)| self.time.is_visible(*writer, snapshot));
            seen.unwrap_or_else(|| panic!("account {account}: what {snapshot:?} sees was purged: {versions:?}")).1
        };
        (0..ACCOUNTS).map(visible).sum()
    }

    fn check(&self, session: &mut Session) -> Snapshot {
        let snapshot = session.announce();
        assert_eq!(self.sum(&snapshot), EACH * ACCOUNTS as i64, "{snapshot:?}");
        snapshot
    }

    /// A statement after another: READ COMMITTED, now and then in a new session.
    fn read_statements(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let mut session = self.time.session().unwrap();
            let mut before = CommitTime(0);
            for turn in 0..100 {
                let now = self.check(&mut session).time;
                assert!(before <= now);
                before = now;
                if turn % 10 == 0 {
                    session.withdraw();
                }
            }
        }
    }

    /// The same snapshot again and again: REPEATABLE READ, or a copy of the database being made.
    fn read_one_snapshot(&self) {
        let mut session = self.time.session().unwrap();
        while !self.stop.load(Ordering::Relaxed) {
            let snapshot = self.check(&mut session);
            for _ in 0..5 {
                std::thread::sleep(Duration::from_millis(1));
                assert_eq!(self.sum(&snapshot), EACH * ACCOUNTS as i64, "{snapshot:?}");
            }
            session.withdraw();
        }
    }
}

#[test]
fn every_snapshot_sees_the_same_sum() {
    let bank = Bank::new(TransactionId(1), &[]);
    std::thread::scope(|scope| {
        for seed in 1..=4 {
            let bank = &bank;
            scope.spawn(move || bank.write(seed * 7919, Duration::ZERO));
        }
        // One whose transactions outstay the table.
        scope.spawn(|| bank.write(1, Duration::from_millis(5)));
        scope.spawn(|| bank.read_statements());
        scope.spawn(|| bank.read_one_snapshot());
        let begun = Instant::now();
        while begun.elapsed() < LASTS {
            std::thread::sleep(Duration::from_millis(1));
            bank.time.advance();
        }
        bank.stop.store(true, Ordering::Relaxed);
    });

    // With nobody left, everything freezes, and one version of each account is left.
    bank.time.advance();
    let next = bank.time.next();
    assert_eq!(bank.time.frozen(), next);
    for account in 0..ACCOUNTS {
        let mut versions = bank.account(account);
        bank.purge(&mut versions);
        assert_eq!(versions.len(), 1);
    }
    let (committed, rolled_back) = (bank.committed.into_inner(), bank.rolled_back.into_inner());
    assert_eq!(bank.time.now().0, 1 + committed + rolled_back);
    assert_eq!(next.0, 1 + committed + rolled_back);
    let laps = next.0 / Sizes::SMALL.transactions;
    assert!(laps > 4 && rolled_back > 0, "{laps} laps, {rolled_back} rolled back: this has shown little");
    println!("{committed} committed, {rolled_back} rolled back, {laps} laps");
}

#[test]
fn what_a_restart_found_undecided_blocks_until_it_ends_and_nothing_else() {
    let [prepared, torn] = [TransactionId(17), TransactionId(90_000)];
    let bank = Bank::new(TransactionId(100_000), &[torn, prepared]);
    // Both had moved money before the crash, and another that committed.
    for (account, writer) in [(0, prepared), (1, prepared), (2, torn), (3, TransactionId(50_000))] {
        bank.account(account).push((writer, EACH + if account == 1 { 5 } else { -5 }));
    }
    bank.account(4).push((TransactionId(50_000), EACH + 5));
    let mut session = bank.time.session().unwrap();
    bank.check(&mut session);
    let id = bank.begin();
    assert!([0, 1, 2].iter().all(|&account| !bank.add(id, account, 1)));
    bank.roll_back(id, &[]);

    let mut dice = Dice(42);
    let transfer =
        |dice: &mut Dice| (0..3 * Sizes::SMALL.transactions).for_each(|_| bank.transfer(dice, Duration::ZERO));
    session.withdraw();
    transfer(&mut dice);
    assert_eq!(bank.time.frozen(), prepared);
    bank.roll_back(torn, &[2]);
    transfer(&mut dice);
    assert_eq!(bank.time.frozen(), prepared);
    assert_eq!(bank.time.state_of(prepared), State::Active);
    bank.commit(prepared);
    bank.check(&mut session);
    session.withdraw();
    bank.time.advance();
    assert!(bank.time.frozen() > TransactionId(100_000));
    bank.check(&mut session);
}

#[test]
fn sessions_come_and_go_while_the_horizon_moves() {
    let bank = Bank::new(TransactionId(1), &[]);
    let horizons = || {
        let mut before = CommitTime(0);
        for _ in 0..20_000 {
            bank.commit(bank.begin());
            let horizon = bank.time.advance();
            assert!(before <= horizon);
            before = horizon;
        }
    };
    std::thread::scope(|scope| {
        let come_and_go = || {
            while !bank.stop.load(Ordering::Relaxed) {
                let mut sessions: Vec<_> = (0..5).map(|_| bank.time.session().unwrap()).collect();
                for session in &mut sessions {
                    let time = session.announce().time;
                    assert!(bank.time.horizon() <= time);
                    assert!(bank.time.advance() <= time);
                }
            }
        };
        scope.spawn(come_and_go);
        scope.spawn(come_and_go);
        horizons();
        bank.stop.store(true, Ordering::Relaxed);
    });
}
