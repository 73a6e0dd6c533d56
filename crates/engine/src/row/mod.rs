//! Values as bytes: keys that order as values do, rows, version headers.
