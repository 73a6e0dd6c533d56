//! Everything of a MySQL server that is not SQL: connections, the scheduler, TLS, options, start and stop.
//!
//! ```text
//!   listener --accept--> connection --turns--> backend::Session     (SQL: another crate, by the seam)
//!                            |  ^
//!                  scheduler |  | epoll, deadlines, parked replies
//!                            v  |
//!                        worker threads, as many as cores run
//! ```
//!
//! | module | what it answers |
//! |---|---|
//! | [`backend`] | What is asked of whoever knows SQL? |
//! | [`blocking`] | How does code below say that it is about to wait? |
//! | [`server`] | How does it start and stop? Who is connected? |
//! | [`options`] | What do command lines and option files say? |
//! | [`scheduler`] | Who runs when, on which thread? |
//! | [`connection`] | What happens between two packets? |
//! | [`listener`], [`tls`], `certificate`, [`signals`], [`notify`], [`log`] | the system around it |
//! | [`counters`], [`clock`] | How much, and when? |
//!
//! A statement costs, beyond itself: a share of an `epoll_wait`, a `read` and a share of a call that sends; no lock that another thread
//! wants, no allocation, and no counter that another thread writes.
//!
//! Invariants:
//! 1. No bytes from a client stop the process or another connection. (`tests/hostile.rs`)
//! 2. A statement that waits keeps nobody else from running. (`tests/scheduling.rs`)
//! 3. An idle connection has no buffers. (`tests/idle_memory.rs`)

pub mod backend;
pub mod blocking;
mod certificate;
pub mod clock;
pub mod connection;
pub mod counters;
pub mod listener;
pub mod log;
pub mod notify;
pub mod options;
pub mod scheduler;
pub mod server;
pub mod signals;
pub mod tls;

pub use backend::{Backend, Outcome, Reply, Session};
pub use clock::Clock;
pub use options::ServerOptions;
pub use server::{Server, ServerHandle, StartError};
