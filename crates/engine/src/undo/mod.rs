//! What was there before: undo records and the trees that hold them.
