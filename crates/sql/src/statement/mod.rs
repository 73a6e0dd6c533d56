//! Statements: one module a family.

pub mod definition;
