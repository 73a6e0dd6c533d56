//! Rows written anew: each value becomes one of its column's new type.
