//! x
pub mod collation;
pub mod column;
pub mod command;
pub mod compress;
pub mod error;
pub mod execute;
pub mod flags;
pub mod greeting;
pub mod receive;
pub mod reply;
pub mod row;
pub mod send;
pub mod value;
pub mod wire;
