//! Which call goes wrong, and how.
//!
//! A test that wants to try every place where the disk can fail runs its story once, asks `SimDisk::calls` how often
//! each kind of call came, and repeats the story with the n-th call failing, for every n.

use std::io;

/// The kinds of calls that a disk and its files take. A request of a batch counts as a read or a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // they are called like the methods of the two traits
pub enum Call {
    Lock,
    Open,
    Create,
    Rename,
    Remove,
    List,
    SyncDirectory,
    Read,
    Write,
    Sync,
    Len,
    Allocate,
}

impl Call {
    /// All kinds.
    pub const ALL: [Call; 12] = [
        Call::Lock,
        Call::Open,
        Call::Create,
        Call::Rename,
        Call::Remove,
        Call::List,
        Call::SyncDirectory,
        Call::Read,
        Call::Write,
        Call::Sync,
        Call::Len,
        Call::Allocate,
    ];

    /// Whether such a call changes what is, or will be, on the disk. Only these count as *operations* for power.
    pub fn changes(self) -> bool {
        match self {
            Call::Lock | Call::Open | Call::List | Call::Read | Call::Len => false,
            Call::Create | Call::Rename | Call::Remove | Call::SyncDirectory => true,
            Call::Write | Call::Sync | Call::Allocate => true,
        }
    }
}

/// What happens instead of success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// `EIO`. A write that fails so may have written any of its sectors; a sync may have kept, *or lost for good*,
    /// any of what it was to make durable; everything else has done nothing.
    DeviceError,
    /// `ENOSPC`, and nothing was done.
    DiskFull,
    /// An error of this kind, and nothing was done.
    Error(io::ErrorKind),
    /// A read or write moves only some of the bytes, in whole blocks; none, if it is one block long. A request of a
    /// batch goes on with the rest, which counts as another call.
    Short,
    /// A read returns one wrong bit. The disk itself keeps the right one.
    FlipBit,
}

/// A rule: which call, and what happens to it.
#[derive(Clone, Debug)]
pub struct Fault {
    pub(crate) call: Call,
    pub(crate) effect: Effect,
    prefix: String,
    nth: u64,
    forever: bool,
    /// Calls that matched so far.
    matched: u64,
}

impl Fault {
    /// The next call of this kind, on any file, once.
    ///
    /// Panics for an effect that such a call cannot have.
    pub fn new(call: Call, effect: Effect) -> Self {
        let possible = match effect {
            Effect::Short => matches!(call, Call::Read | Call::Write),
            Effect::FlipBit => call == Call::Read,
            Effect::DeviceError | Effect::DiskFull | Effect::Error(_) => true,
        };
        assert!(possible, "{call:?} cannot end in {effect:?}");
        Self { call, effect, prefix: String::new(), nth: 1, forever: false, matched: 0 }
    }

    /// Only calls on files whose name starts so. (The name under which a file was opened or created; for a rename,
    /// either name; `List`, `Lock` and `SyncDirectory` have none.)
    pub fn on(mut self, prefix: &str) -> Self {
        self.prefix = prefix.to_owned();
        self
    }

    /// Not the next matching call, but the n-th from now, counting from 1.
    pub fn nth(mut self, nth: u64) -> Self {
        assert!(nth > 0, "calls are counted from 1");
        self.nth = nth;
        self
    }

    /// That call, and all that match after it.
    pub fn forever(mut self) -> Self {
        self.forever = true;
        self
    }

    /// Tells the rule of a call; the answer is what the rule does to it.
    pub(crate) fn strike(&mut self, call: Call, names: &[&str]) -> Option<Effect> {
        let named = self.prefix.is_empty() || names.iter().any(|name| name.starts_with(&self.prefix));
        if call != self.call || !named {
            return None;
        }
        self.matched += 1;
        (self.matched == self.nth || self.forever && self.matched > self.nth).then_some(self.effect)
    }
}

impl Effect {
    /// The error, for effects that are one.
    pub(crate) fn error(self) -> Option<io::Error> {
        match self {
            Effect::DeviceError => Some(io::Error::from_raw_os_error(EIO)),
            Effect::DiskFull => Some(disk_full()),
            Effect::Error(kind) => Some(io::Error::new(kind, "injected by the simulated disk")),
            Effect::Short | Effect::FlipBit => None,
        }
    }
}

/// The numbers that Linux gives these errors.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// No space left on device.
pub(crate) fn disk_full() -> io::Error {
    io::Error::from_raw_os_error(ENOSPC)
}
