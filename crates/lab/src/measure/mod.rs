//! What is measured beside the load: processes' CPU, the server's counters and waits, the machine.
//!
//! | module | what it answers |
//! |---|---|
//! | [`process`] | What has a process used? Which process listens on a port? |
//! | [`server`] | What does the server say of itself, before and after? |
//! | [`machine`] | What machine is this? |

pub mod machine;
pub mod process;
pub mod server;
