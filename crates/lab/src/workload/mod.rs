//! The workloads: what clients do, which tables they do it on, and how those are loaded.
//!
//! | module | what it is |
//! |---|---|
//! | [`sysbench`] | sysbench 1.0's OLTP family |
//! | [`classic`] | the one OLTP test of sysbench 0.4, which posts before 2012 used |
//! | [`dbstress`] | dbSTRESS: objects with a history of states |
//! | [`tpcc`] | TPC-C's five transactions |
//! | [`custom`] | a user's own, from a file |
//!
//! A workload says what a statement is and in which order; it does not know of threads, sockets or time. What it is
//! loaded with is a [`LoadPlan`], a pure function of its options and a seed.

pub mod classic;
pub mod custom;
pub mod dbstress;
pub mod sysbench;
pub mod tpcc;

use std::sync::Arc;

use crate::generator::run::{Measured, Observer, Plan};
use crate::generator::target::Target;
use crate::generator::{Workload, run};
use crate::load::LoadPlan;

/// Any of the workloads.
#[derive(Debug, Clone)]
pub enum AnyWorkload {
    /// sysbench 1.0.
    Sysbench(Arc<sysbench::Sysbench>),
    /// sysbench 0.4.
    Classic(Arc<classic::Classic>),
    /// dbSTRESS.
    DbStress(Arc<dbstress::DbStress>),
    /// TPC-C.
    Tpcc(Arc<tpcc::Tpcc>),
    /// A user's own.
    Custom(Arc<custom::Custom>),
}

/// The same for each kind of workload.
macro_rules! each {
    ($any:expr, $workload:ident => $body:expr) => {
        match $any {
            AnyWorkload::Sysbench($workload) => $body,
            AnyWorkload::Classic($workload) => $body,
            AnyWorkload::DbStress($workload) => $body,
            AnyWorkload::Tpcc($workload) => $body,
            AnyWorkload::Custom($workload) => $body,
        }
    };
}

impl AnyWorkload {
    /// Runs it.
    ///
    /// # Errors
    /// As of [`run::run`].
    pub fn run(&self, target: &Target, plan: &Plan, observer: &mut dyn Observer) -> Result<Measured, String> {
        each!(self, workload => run::run(workload.clone(), target, plan, observer))
    }

    /// How it is loaded.
    pub fn load_plan(&self, seed: u64) -> LoadPlan {
        each!(self, workload => workload.load_plan(seed))
    }

    /// Statements that remove its tables.
    pub fn cleanup(&self) -> Vec<String> {
        each!(self, workload => workload.cleanup())
    }

    /// Statements that read all of its tables into the server's memory.
    pub fn prewarm(&self) -> Vec<String> {
        each!(self, workload => workload.prewarm())
    }

    /// Its name in reports.
    pub fn name(&self) -> String {
        each!(self, workload => workload.name())
    }

    /// Some of its tables: those without which nothing runs.
    pub fn tables(&self) -> Vec<String> {
        match self {
            AnyWorkload::Sysbench(workload) => (1..=workload.tables).map(|table| format!("sbtest{table}")).collect(),
            AnyWorkload::Classic(workload) => vec![workload.table_name.clone()],
            AnyWorkload::DbStress(workload) => workload.tables().collect(),
            AnyWorkload::Tpcc(_) => ["warehouse", "stock", "orders", "item"].map(str::to_owned).to_vec(),
            // (What a user's statements need is theirs to know.)
            AnyWorkload::Custom(_) => Vec::new(),
        }
    }

    /// How many statements each client keeps prepared.
    pub fn prepared_statements(&self) -> usize {
        each!(self, workload => workload.prepared_statements())
    }

    /// Questions whose answers must be 0 rows, asked after a run, each with what a row would mean.
    pub fn checks(&self) -> Vec<(String, String)> {
        match self {
            AnyWorkload::DbStress(workload) => workload.checks(),
            AnyWorkload::Tpcc(workload) => workload.checks(),
            _ => Vec::new(),
        }
    }
}
