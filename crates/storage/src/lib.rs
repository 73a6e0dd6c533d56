//! Meseta's lowest room: bytes and pages, a B+-tree, a log and recovery, shared by many cores.
//!
//! It has never heard of rows, transactions or SQL; it compares keys as bytes. The essay is in `README.md` beside
//! this crate's manifest; each module's header has its own picture, invariants and sources.
//!
//! ```text
//!   Store ------------------------------------------------ one directory, open
//!     |                        |             |
//!   Tree, Cursor            recovery       verify, inspect
//!     |   |     \
//!     |   |      space -- which page is whose
//!     |   mtr ---------- pages changed and logged as one step (redo: the changes themselves)
//!     |   |    \
//!   buffer     log ----- what makes changes durable
//!     |  \    /
//!   latch  cleaner ----- writes pages back (doublewrite, control)
//!     |       |
//!   page     io -------- what bytes mean; how they reach the disk
//! ```

pub mod btree;
pub mod buffer;
mod cleaner;
mod control;
mod core;
mod creation;
mod doublewrite;
pub mod error;
mod health;
mod ids;
mod inspect;
pub mod io;
pub mod latch;
pub mod log;
mod mtr;
mod opening;
mod options;
pub mod page;
mod rank;
mod recovery;
pub mod redo;
mod running;
mod space;
mod store;
mod sync;
mod temporary_file;
mod thread;
mod verify;
mod wait;

pub use btree::{Change, Copied, Cursor, Loader, Portion, Tree};
pub use cleaner::CleanerFigures;
pub use control::{CONTROL_FILE, Control};
pub use doublewrite::DOUBLEWRITE_FILE;
pub use error::{Effect, ErrorKind, Result, StorageError};
pub use ids::{Lsn, PageNo, TreeId};
pub use inspect::{Finding, Inspection};
pub use options::{Background, Durability, StoreOptions};
pub use recovery::{LogParticipant, RecoveryFigures};
pub use store::{Store, StoreFigures, file_names};
pub use temporary_file::{TemporaryBlock, TemporaryFile};
pub use verify::{Problem, Report};
pub use wait::{Hooked, WaitEvent, WaitFigures, WaitHook};
