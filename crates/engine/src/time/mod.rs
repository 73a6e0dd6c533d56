//! Transaction ids, commit times and snapshots.
