//! Placeholder.
use super::Function;
pub(super) static FUNCTIONS: &[Function] = &[];
/// A regular expression.
#[derive(Debug)]
pub struct Regex;
