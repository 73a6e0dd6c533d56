//! The actions of ALTER TABLE, one by one, on a table that is under way.
