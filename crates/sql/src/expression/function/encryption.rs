//! Placeholder.
use super::Function;
pub(super) static FUNCTIONS: &[Function] = &[];
