//! The load lab: workloads, loading, the generator, sweeps, measurement and reports, against any server that speaks
//! MySQL's protocol. It knows a server only as a client does.
//!
//! ```text
//! words --options--> commands --+-- load ------> admin connections        (prepare)
//!                               +-- generator <-- workload <-- random     (run, sweep)
//!                               |      | recorder
//!                               +-- measure --> record (JSON) --> report  (report)
//! ```
//!
//! | module | what it answers |
//! |---|---|
//! | [`commands`], [`options`], [`build`], [`sweep`], [`grid`], [`demo`] | What was asked for? |
//! | [`workload`], [`random`] | Which statements, with which values? |
//! | [`generator`] | How are thousands of clients driven by a few threads, and what is counted? |
//! | [`load`], [`admin`], [`launch`], [`floor`] | How do tables, and servers of the lab's own, come to be? |
//! | [`measure`], [`subject`], [`record`] | What is known beside the counts, and how is it kept? |
//! | [`report`], [`summary`], [`view`] | What does a reader see? |
//! | [`guard`] | Has a change made it slower? |
//!
//! The manual is `docs/lab.md`.

pub mod admin;
pub mod build;
pub mod commands;
pub mod demo;
pub mod floor;
pub mod generator;
pub mod grid;
pub mod guard;
pub mod launch;
pub mod load;
pub mod measure;
pub mod options;
pub mod random;
pub mod record;
pub mod report;
pub mod subject;
pub mod summary;
pub mod sweep;
pub mod text;
pub mod view;
pub mod workload;

pub use commands::run;
