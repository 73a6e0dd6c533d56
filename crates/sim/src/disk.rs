//! A disk in memory that loses power, forgets, tears, reorders and fails, all as a seed or a test says.
//!
//! # Words
//! *Visible*: what reads return. *Durable*: what is certain to survive a loss of power. *Pending*: visible, not yet
//! durable. *Lost*: what a sync that failed did not make durable, and no later one will: a file in the page cache (see
//! `DiskFile::use_page_cache`) still shows it, one that is read past the cache does not. An *operation* is a call that changes something ([`Call::changes`]); power is lost at one of them.
//!
//! # What becomes durable when
//! - Bytes, and a file's length: by a successful `sync` of that file.
//! - A name (created, renamed, removed): by a successful `sync_directory`. A sync of the file does not help.
//!
//! Whatever is pending when the power goes may survive or not, by the seed given to [`SimDisk::power_cycle`]: whole
//! writes, single sectors of 512 bytes, older versions of them, with or without the length. A sector is never torn.
//!
//! # Power
//!
//! ```text
//!           power_off_after(n), n operations later
//!      on ------------------------------------------> off: every call fails, nothing changes
//!      ^   (or power_off(), at once)                   |
//!      +------------------ power_cycle(seed) ----------+   (also from `on`)
//! ```
//!
//! The operation at which the power goes fails, but may have been carried out, in part or in whole. After a cycle,
//! files opened before it are dead, and the lock is free. Stop the old engine before: a call on the *disk* from a
//! thread that lives on cannot be told from the new engine's.
//!
//! # Determinism
//! The seeds and the sequence of calls determine everything. Calls from several threads come in an order that no
//! seed decides.
//!
//! # Invariants
//! 1. Like the real disk: whole, aligned blocks only; a misaligned call is `InvalidInput`.
//! 2. A batch is carried out before `submit` returns, in an order that the seed chooses.
//! 3. Completions run with no lock of ours held, so they may do anything, `submit` included.
//! 4. Nothing changes while the power is off.
//!
//! # Deliberately absent
//! Time: no call takes long. Lost or misdirected writes: checksums are tested with [`SimDisk::flip_bit`] and
//! [`SimDisk::overwrite`].

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use meseta_storage::io::{DirectoryLock, Disk, DiskFile, IO_ALIGN, Operation, Request};
use parking_lot::{Mutex, MutexGuard};

use crate::fault::{self, Call, Effect, Fault};
use crate::image::{Contents, Survival};
use crate::random::SeededRandom;

/// What faults call files without a name.
pub const TEMPORARY_FILE: &str = "temporary file";

/// A simulated disk. A clone is the same disk; for a copy see [`SimDisk::fork`].
#[derive(Clone)]
pub struct SimDisk {
    /// Held for one call at a time; never while a completion runs.
    state: Arc<Mutex<State>>,
}

#[derive(Clone)]
struct State {
    /// Files by number, as names come and go. Those without a name are dropped by a power cycle.
    files: BTreeMap<u64, Contents>,
    /// The directory as it is seen.
    names: BTreeMap<String, u64>,
    /// The directory as it is on the disk.
    durable_names: BTreeMap<String, u64>,
    /// What made `names` from `durable_names`, with the time of each change.
    pending_names: Vec<(u64, NameChange)>,
    next_file: u64,

    power: Power,
    /// Counts power cycles; what was opened in an earlier one is dead.
    cycle: u64,
    locked: bool,

    capacity: Option<u64>,
    faults: Vec<Fault>,
    calls: [u64; Call::ALL.len()],
    /// Calls that change something, and the time that changes are stamped with.
    operations: u64,
    random: SeededRandom,
}

#[derive(Clone)]
enum NameChange {
    Create(String, u64),
    Rename(String, String),
    Remove(String),
}

#[derive(Clone, Copy, PartialEq)]
enum Power {
    On,
    /// This many operations are left; the one after them is cut.
    Fading(u64),
    Off,
}

/// How a call is to go on.
enum Verdict {
    Go,
    /// The power goes during it.
    Cut,
    Fault(Effect),
}

/// Settings and tools for the test. They work whether the power is on or off, and are not counted as calls.
impl SimDisk {
    /// An empty disk with the power on. The seed decides the order of batches, and how a failed call fails.
    pub fn new(seed: u64) -> Self {
        let state = State {
            files: BTreeMap::new(),
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            pending_names: Vec::new(),
            next_file: 0,
            power: Power::On,
            cycle: 0,
            locked: false,
            capacity: None,
            faults: Vec::new(),
            calls: [0; Call::ALL.len()],
            operations: 0,
            random: SeededRandom::new(seed),
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// A copy of the disk as it is, pending changes, faults and power included, that goes its own way with a seed of
    /// its own; it is not locked. To see many ends of one story: run it once, then fork and cycle for each end.
    pub fn fork(&self, seed: u64) -> SimDisk {
        let mut state = self.state.lock().clone();
        state.random = SeededRandom::new(seed);
        state.locked = false;
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// Lets `operations` more operations happen; the power goes during the one after them.
    pub fn power_off_after(&self, operations: u64) {
        self.state.lock().power = Power::Fading(operations);
    }

    /// The power goes now, between operations.
    pub fn power_off(&self) {
        self.state.lock().power = Power::Off;
    }

    /// Whether the power is off.
    pub fn is_off(&self) -> bool {
        self.state.lock().power == Power::Off
    }

    /// Loses the power, if it is still on, and restores it: what was durable is there, and of the rest what the seed
    /// lets survive. Counters, faults and the capacity stay.
    pub fn power_cycle(&self, seed: u64) {
        self.state.lock().power_cycle(&mut SeededRandom::new(seed));
    }

    /// Operations so far, the one at which the power went included.
    pub fn operations(&self) -> u64 {
        self.state.lock().operations
    }

    /// Calls of this kind so far, failed ones included, but not those made without power.
    pub fn calls(&self, call: Call) -> u64 {
        self.state.lock().calls[call as usize]
    }

    /// Adds a rule. It counts calls from now on; if several apply to a call, the one added first decides.
    pub fn inject(&self, fault: Fault) {
        self.state.lock().faults.push(fault);
    }

    /// Forgets all rules.
    pub fn clear_faults(&self) {
        self.state.lock().faults.clear();
    }

    /// Limits the sum of all files' lengths. What would exceed it fails with `StorageFull`, and changes nothing.
    pub fn set_capacity(&self, bytes: u64) {
        self.state.lock().capacity = Some(bytes);
    }

    /// The length of a file as it is seen; `None` when there is no such file.
    pub fn file_len(&self, name: &str) -> Option<u64> {
        let state = self.state.lock();
        state.names.get(name).map(|id| state.files[id].len())
    }

    /// The bytes of a file as they are seen in the page cache: fewer than `len` if the file ends first. Panics when there
    /// is no file.
    pub fn read_raw(&self, name: &str, offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        let count = self.state.lock().named(name).read(&mut bytes, offset);
        bytes.truncate(count);
        bytes
    }

    /// Inverts one bit, durably, in every version of it. Panics beyond the end.
    pub fn flip_bit(&self, name: &str, offset: u64, bit: u32) {
        assert!(bit < 8, "a byte has bits 0 to 7");
        self.state.lock().named(name).corrupt(offset, |byte| *byte ^= 1 << bit);
    }

    /// Puts other bytes, durably, in place of all versions of those that are there. Panics beyond the end.
    pub fn overwrite(&self, name: &str, offset: u64, bytes: &[u8]) {
        let mut state = self.state.lock();
        let contents = state.named(name);
        for (at, &new) in (offset..).zip(bytes) {
            contents.corrupt(at, |byte| *byte = new);
        }
    }

    /// Makes a file this long, durably: cuts it off, or adds zeros.
    pub fn truncate_file(&self, name: &str, len: u64) {
        self.state.lock().named(name).truncate(len);
    }

    /// Removes a file and syncs the directory. Panics when there is none.
    pub fn remove_file(&self, name: &str) {
        let mut state = self.state.lock();
        state.names.remove(name).unwrap_or_else(|| panic!("no file {name:?} on the simulated disk"));
        state.sync_names();
    }
}

impl State {
    fn named(&mut self, name: &str) -> &mut Contents {
        let id = self.names.get(name).unwrap_or_else(|| panic!("no file {name:?} on the simulated disk"));
        self.files.get_mut(id).expect("a name leads to a file")
    }

    /// Counts a call and decides how it goes on.
    fn begin(&mut self, call: Call, names: &[&str]) -> io::Result<Verdict> {
        if self.power == Power::Off {
            return Err(power_is_off());
        }
        self.calls[call as usize] += 1;
        if call.changes() {
            self.operations += 1;
            match &mut self.power {
                Power::Fading(0) => {
                    self.power = Power::Off;
                    return Ok(Verdict::Cut);
                }
                Power::Fading(left) => *left -= 1,
                Power::On | Power::Off => {}
            }
        }
        // All rules hear of the call, so that each counts what it matches; the first that applies decides.
        let mut decided = None;
        for fault in &mut self.faults {
            let effect = fault.strike(call, names);
            decided = decided.or(effect);
        }
        Ok(decided.map_or(Verdict::Go, Verdict::Fault))
    }

    /// For a call that reads: go on, or an error.
    fn begin_reading(&mut self, call: Call, names: &[&str]) -> io::Result<()> {
        match self.begin(call, names)? {
            Verdict::Go => Ok(()),
            Verdict::Cut => unreachable!("the power goes at an operation"),
            Verdict::Fault(effect) => Err(effect.error().expect("Fault::new has checked this")),
        }
    }

    /// For a call that happens whole or not at all: runs `change` if it happens, and tells what the caller sees.
    fn change(&mut self, call: Call, names: &[&str], change: impl FnOnce(&mut State)) -> io::Result<()> {
        match self.begin(call, names)? {
            Verdict::Go => {
                change(self);
                Ok(())
            }
            Verdict::Cut => {
                if self.random.chance(50) {
                    change(self);
                }
                Err(power_is_off())
            }
            Verdict::Fault(effect) => Err(effect.error().expect("Fault::new has checked this")),
        }
    }

    fn change_names(&mut self, change: NameChange) {
        apply(&change, &mut self.names);
        self.pending_names.push((self.operations, change));
    }

    fn sync_names(&mut self) {
        self.durable_names = self.names.clone();
        self.pending_names.clear();
    }

    /// Whether a file of this length may become so long.
    fn has_space(&self, old_len: u64, len: u64) -> bool {
        let Some(capacity) = self.capacity else { return true };
        let used: u64 = self.names.values().map(|id| self.files[id].len()).sum();
        len <= old_len || used + (len - old_len) <= capacity
    }

    fn power_cycle(&mut self, random: &mut SeededRandom) {
        self.power = Power::On;
        self.cycle += 1;
        self.locked = false;

        let mut times: Vec<u64> = self.pending_names.iter().map(|(time, _)| *time).collect();
        times.extend(self.files.values().flat_map(Contents::pending_times));
        times.sort_unstable();
        times.dedup();
        let survival = Survival::draw(random, &times);
        // Files may lie on one device, which treats them alike, or on several.
        let alike = random.chance(60);
        let mut next = || if alike { survival } else { Survival::draw(random, &times) };
        let survivals: Vec<Survival> = (0..=self.files.len()).map(|_| next()).collect();

        for (time, change) in std::mem::take(&mut self.pending_names) {
            if survivals[0].keeps(time, random) {
                apply(&change, &mut self.durable_names);
            }
        }
        self.names = self.durable_names.clone();
        for (contents, survival) in self.files.values_mut().zip(&survivals[1..]) {
            contents.crash(*survival, random);
        }
        let reachable: Vec<u64> = self.names.values().copied().collect();
        self.files.retain(|id, _| reachable.contains(id));
    }
}

/// Changes a directory. A change whose file is not there, because an earlier change was lost, does nothing.
fn apply(change: &NameChange, names: &mut BTreeMap<String, u64>) {
    match change {
        NameChange::Create(name, id) => {
            names.insert(name.clone(), *id);
        }
        NameChange::Rename(from, to) => {
            if let Some(id) = names.remove(from) {
                names.insert(to.clone(), id);
            }
        }
        NameChange::Remove(name) => {
            names.remove(name);
        }
    }
}

fn power_is_off() -> io::Error {
    io::Error::other("power is off")
}

fn not_found(name: &str) -> io::Error {
    io::Error::new(ErrorKind::NotFound, format!("{name}: no such file"))
}

impl SimDisk {
    fn file(&self, name: &str, id: u64, cycle: u64) -> Arc<dyn DiskFile> {
        let page_cache = AtomicBool::new(false);
        Arc::new(SimFile { state: Arc::clone(&self.state), name: name.to_owned(), id, cycle, page_cache })
    }
}

impl Disk for SimDisk {
    fn lock(&self) -> io::Result<Box<dyn DirectoryLock>> {
        let mut state = self.state.lock();
        state.begin_reading(Call::Lock, &[])?;
        if state.locked {
            return Err(io::Error::new(ErrorKind::WouldBlock, "the simulated disk is in use by another store"));
        }
        state.locked = true;
        Ok(Box::new(SimLock { state: Arc::clone(&self.state), cycle: state.cycle }))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock();
        state.begin_reading(Call::Open, &[name])?;
        let id = *state.names.get(name).ok_or_else(|| not_found(name))?;
        Ok(self.file(name, id, state.cycle))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock();
        let exists = state.names.contains_key(name);
        let id = state.next_file;
        state.change(Call::Create, &[name], |state| {
            if !exists {
                state.next_file += 1;
                state.files.insert(id, Contents::default());
                state.change_names(NameChange::Create(name.to_owned(), id));
            }
        })?;
        if exists {
            return Err(io::Error::new(ErrorKind::AlreadyExists, format!("{name}: file exists")));
        }
        Ok(self.file(name, id, state.cycle))
    }

    fn create_temporary(&self) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock();
        let id = state.next_file;
        state.change(Call::Create, &[TEMPORARY_FILE], |state| {
            state.next_file += 1;
            state.files.insert(id, Contents::default());
        })?;
        Ok(self.file(TEMPORARY_FILE, id, state.cycle))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut state = self.state.lock();
        let exists = state.names.contains_key(from);
        state.change(Call::Rename, &[from, to], |state| {
            if exists {
                state.change_names(NameChange::Rename(from.to_owned(), to.to_owned()));
            }
        })?;
        if exists { Ok(()) } else { Err(not_found(from)) }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.state.lock();
        let exists = state.names.contains_key(name);
        state.change(Call::Remove, &[name], |state| {
            if exists {
                state.change_names(NameChange::Remove(name.to_owned()));
            }
        })?;
        if exists { Ok(()) } else { Err(not_found(name)) }
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut state = self.state.lock();
        state.begin_reading(Call::List, &[])?;
        Ok(state.names.keys().cloned().collect())
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.state.lock().change(Call::SyncDirectory, &[], State::sync_names)
    }

    fn describe(&self) -> String {
        "simulated disk".to_owned()
    }
}

struct SimLock {
    state: Arc<Mutex<State>>,
    cycle: u64,
}

impl DirectoryLock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut state = self.state.lock();
        // A power cycle has taken this lock away, and someone else may hold it now.
        if state.cycle == self.cycle {
            state.locked = false;
        }
    }
}

/// An open file; dead after a power cycle.
struct SimFile {
    state: Arc<Mutex<State>>,
    /// As given to `open` or `create`: a later rename does not change it.
    name: String,
    id: u64,
    cycle: u64,
    /// Reads go through the page cache.
    page_cache: AtomicBool,
}

impl SimFile {
    /// The disk, if the power has not been off since the file was opened.
    fn state(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state.lock();
        if state.cycle != self.cycle {
            return Err(io::Error::other(format!("{}: the power was off since this file was opened", self.name)));
        }
        Ok(state)
    }

    fn contents<'a>(&self, state: &'a mut State) -> &'a mut Contents {
        state.files.get_mut(&self.id).expect("files are dropped only by a power cycle")
    }

    fn read(&self, state: &mut State, buffer: &mut [u8], offset: u64) -> usize {
        let contents = self.contents(state);
        match self.page_cache.load(Ordering::Relaxed) {
            true => contents.read(buffer, offset),
            false => contents.read_device(buffer, offset),
        }
    }

    /// As the real disk does.
    fn check_aligned(&self, pointer: *const u8, len: usize, offset: u64) -> io::Result<()> {
        let aligned = (pointer as usize).is_multiple_of(IO_ALIGN)
            && len.is_multiple_of(IO_ALIGN)
            && offset.is_multiple_of(IO_ALIGN as u64);
        if aligned {
            return Ok(());
        }
        let message = format!("{}: {len} bytes at {offset}: not multiples of {IO_ALIGN} bytes", self.name);
        Err(io::Error::new(ErrorKind::InvalidInput, message))
    }

    /// Carries out one request, in as many steps as it takes.
    fn carry_out(&self, request: &Request) -> io::Result<()> {
        let Request { operation, offset, memory, .. } = request;
        let file: &dyn DiskFile = self;
        self.check_aligned(memory.pointer(), memory.len(), *offset)?;
        match operation {
            Operation::Read => {
                // SAFETY: we carry the request out, call this once, and the completion comes later.
                file.read_exact_at(unsafe { memory.as_mut_slice() }, *offset)
            }
            Operation::Write => {
                // SAFETY: allocated, and changed by nobody, until the completion, by the promise made to
                // `IoMemory::new`. Not `&mut`, as others may read the same bytes.
                let bytes = unsafe { slice::from_raw_parts(memory.pointer(), memory.len()) };
                file.write_all_at(bytes, *offset)
            }
        }
    }
}

/// How many of `len` bytes a short transfer moves: whole blocks, at least one if that is fewer than all.
fn short_len(len: usize, random: &mut SeededRandom) -> usize {
    let blocks = (len / IO_ALIGN) as u64;
    if blocks < 2 { 0 } else { random.range(1..blocks) as usize * IO_ALIGN }
}

impl DiskFile for SimFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let state = &mut *self.state()?;
        if let Err(error) = self.check_aligned(buffer.as_ptr(), buffer.len(), offset) {
            // Like the real disk: who reads on after a file that ends at an odd place is at the end.
            return if offset >= self.contents(state).len() { Ok(0) } else { Err(error) };
        }
        match state.begin(Call::Read, &[&self.name])? {
            Verdict::Go => Ok(self.read(state, buffer, offset)),
            Verdict::Cut => unreachable!("the power goes at an operation"),
            Verdict::Fault(Effect::Short) => {
                let len = short_len(buffer.len(), &mut state.random);
                Ok(self.read(state, &mut buffer[..len], offset))
            }
            Verdict::Fault(Effect::FlipBit) => {
                let count = self.read(state, buffer, offset);
                if count > 0 {
                    let bit = state.random.below(count as u64 * 8);
                    buffer[bit as usize / 8] ^= 1 << (bit % 8);
                }
                Ok(count)
            }
            Verdict::Fault(effect) => Err(effect.error().expect("all other effects are errors")),
        }
    }

    fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.check_aligned(buffer.as_ptr(), buffer.len(), offset)?;
        let state = &mut *self.state()?;
        let verdict = state.begin(Call::Write, &[&self.name])?;
        let old_len = self.contents(state).len();
        if !state.has_space(old_len, offset + buffer.len() as u64) {
            return Err(if state.power == Power::Off { power_is_off() } else { fault::disk_full() });
        }
        let time = state.operations;
        let mut random = state.random.clone();
        let contents = self.contents(state);
        let outcome = match verdict {
            Verdict::Go => {
                contents.write(buffer, offset, time);
                Ok(buffer.len())
            }
            Verdict::Cut => {
                contents.write_torn(buffer, offset, time, &mut random);
                Err(power_is_off())
            }
            Verdict::Fault(Effect::Short) => {
                let len = short_len(buffer.len(), &mut random);
                contents.write(&buffer[..len], offset, time);
                Ok(len)
            }
            Verdict::Fault(effect) => {
                if effect == Effect::DeviceError {
                    contents.write_torn(buffer, offset, time, &mut random);
                }
                Err(effect.error().expect("all other effects are errors"))
            }
        };
        state.random = random;
        outcome
    }

    fn sync(&self) -> io::Result<()> {
        let state = &mut *self.state()?;
        match state.begin(Call::Sync, &[&self.name])? {
            Verdict::Go => {
                self.contents(state).sync();
                Ok(())
            }
            // Whatever part of a sync was done: the power cycle lets some of what is pending survive anyway.
            Verdict::Cut => Err(power_is_off()),
            Verdict::Fault(effect) => {
                if effect == Effect::DeviceError {
                    let mut random = state.random.clone();
                    self.contents(state).sync_failed(&mut random);
                    state.random = random;
                }
                Err(effect.error().expect("Fault::new has checked this"))
            }
        }
    }

    fn len(&self) -> io::Result<u64> {
        let state = &mut *self.state()?;
        state.begin_reading(Call::Len, &[&self.name])?;
        Ok(self.contents(state).len())
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let state = &mut *self.state()?;
        let old_len = self.contents(state).len();
        let space = state.has_space(old_len, len);
        state.change(Call::Allocate, &[&self.name], |state| {
            if space {
                let time = state.operations;
                self.contents(state).grow(len, time);
            }
        })?;
        if space { Ok(()) } else { Err(fault::disk_full()) }
    }

    fn use_page_cache(&self) -> io::Result<()> {
        self.page_cache.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn submit(&self, mut batch: Vec<Request>) {
        self.state.lock().random.shuffle(&mut batch);
        for request in batch {
            let outcome = self.carry_out(&request);
            (request.done)(outcome);
        }
    }
}
