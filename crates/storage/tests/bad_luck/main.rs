//! What goes wrong in the world, one test for each misfortune: a directory in use, a foreign or missing or damaged
//! file, a full disk, a failing one, power that goes at the worst moment.
//!
//! Each test asks the same three things. Does the error say which file, where in it, and what was expected? Is
//! everything still there once the cause has been removed? And is nothing ever wrong in silence?

#[path = "../common/mod.rs"]
mod common;
mod control_file;
mod demands;
mod directory;
mod failing_disk;
mod full_disk;
mod missing_files;
mod power;
mod rot;
mod story;
mod tools;
