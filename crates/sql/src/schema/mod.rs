//! What a table is, in MySQL's words and in the engine's.
