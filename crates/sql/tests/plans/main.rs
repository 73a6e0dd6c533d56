//! Plans: what they read, and that they yield what a plain evaluation yields.

mod access;
mod alike;
mod groups;
mod joins;
mod kept;
mod orders;
mod queries_inside;
#[path = "../support/mod.rs"]
mod support;
mod tables;
