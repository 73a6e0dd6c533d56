//! Row and table locks: who holds what, who waits for whom.
