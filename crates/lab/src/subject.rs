//! A server that is measured: a connection for looks at it, what it says of itself, and who watches a run.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::admin::Admin;
use crate::generator::Kind;
use crate::generator::recorder::Second;
use crate::generator::run::{Observer, Plan};
use crate::generator::target::Target;
use crate::measure::process::{self, CallCounter};
use crate::measure::server::{self, Change, Look, ServerFacts, Wait, Waits, change, facts, look};
use crate::options::Options;
use crate::sweep::is_missing;
use crate::workload::AnyWorkload;

/// A server that is about to be measured.
pub struct Subject {
    /// It.
    pub target: Target,
    /// What it says of itself.
    pub facts: ServerFacts,
    /// A connection for looks.
    pub admin: Admin,
}

impl std::fmt::Debug for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").field("target", &self.target).finish_non_exhaustive()
    }
}

impl Subject {
    /// Connects, and reads the facts.
    ///
    /// # Errors
    /// One line.
    pub fn open(target: Target, options: &Options) -> Result<Subject, String> {
        let mut admin = Admin::connect(&target).map_err(|failure| target.explain(&failure))?;
        let pid = match options.number("server-pid") {
            0 => process::server_process(&target),
            pid => u32::try_from(pid).ok(),
        };
        // What is no whole server (a proxy, a test) may have no variables.
        let facts = facts(&mut admin, &target, pid).unwrap_or_default();
        let facts = ServerFacts {
            name: target.name.clone(),
            place: target.place(),
            pid,
            version: admin.server_version(),
            ..facts
        };
        Ok(Subject { target, facts, admin })
    }

    /// Says whether the workload's tables are there, before there is any load.
    ///
    /// # Errors
    /// One line that says what to do.
    pub fn check_tables(&mut self, workload: &AnyWorkload) -> Result<(), String> {
        for table in workload.tables() {
            let found = self.admin.query(&format!("SELECT 1 FROM {table} LIMIT 1"));
            if let Err(failure) = found
                && is_missing(&failure)
            {
                return Err(self.target.explain(&failure));
            }
        }
        Ok(())
    }

    /// Says what the server would refuse, before there is any load.
    ///
    /// # Errors
    /// One line that says what to do.
    pub fn check_limits(&self, workload: &AnyWorkload, plan: &Plan) -> Result<(), String> {
        let limit = |name: &str| self.facts.variables.get(name).and_then(|value| value.parse::<usize>().ok());
        if let Some(most) = limit("max_connections")
            && plan.clients >= most
        {
            return Err(format!(
                "{} takes {most} connections: raise max_connections to {} there, or ask for fewer clients",
                self.target.place(),
                plan.clients + 10
            ));
        }
        let statements = plan.clients * workload.prepared_statements();
        if plan.prepares
            && let Some(most) = limit("max_prepared_stmt_count")
            && statements > most
        {
            return Err(format!(
                "{statements} prepared statements are more than the server's max_prepared_stmt_count of {most}: \
                 raise it, \
                 or use --db-ps-mode=disable"
            ));
        }
        Ok(())
    }
}

/// Watches a run: looks at the server before and after, and passes seconds on.
pub struct Watch<'a> {
    subject: &'a mut Subject,
    interrupted: &'a AtomicBool,
    before: Option<Look>,
    /// What changed; there when the run is over.
    pub change: Change,
    /// Whether system calls are counted, and who counts them meanwhile.
    counts_calls: bool,
    calls: Option<CallCounter>,
    /// Waits at the last look meanwhile, if somebody wants to see them.
    live: Option<Waits>,
    on_second: &'a mut dyn FnMut(&Second, &[Wait]),
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl<'a> Watch<'a> {
    /// A watch that tells `on_second`. With `shows_waits` it is told the waits of each second, which costs the server a
    /// query.
    pub fn new(
        subject: &'a mut Subject,
        interrupted: &'a AtomicBool,
        shows_waits: bool,
        on_second: &'a mut dyn FnMut(&Second, &[Wait]),
    ) -> Watch<'a> {
        Watch {
            subject,
            interrupted,
            before: None,
            change: Change::default(),
            counts_calls: false,
            calls: None,
            live: shows_waits.then(Waits::new),
            on_second,
        }
    }
}

impl Watch<'_> {
    /// Has the server's system calls counted, where that can be done.
    pub fn count_system_calls(&mut self, on: bool) {
        self.counts_calls = on;
    }
}

impl Observer for Watch<'_> {
    fn on_begin(&mut self) {
        if self.counts_calls {
            self.calls = self.subject.facts.pid.and_then(CallCounter::start);
        }
        self.before = Some(look(&mut self.subject.admin, self.subject.facts.pid));
    }

    fn on_second(&mut self, second: &Second, _: &[Kind]) {
        let mut waits = Vec::new();
        if let Some(live) = &mut self.live {
            let now = server::waits(&mut self.subject.admin);
            if !live.is_empty() {
                waits = server::differences(live, &now);
            }
            *live = now;
        }
        (self.on_second)(second, &waits);
    }

    fn on_end(&mut self) {
        if let Some(before) = &self.before {
            let calls = self.calls.take().and_then(CallCounter::finish);
            self.change = change(before, &look(&mut self.subject.admin, self.subject.facts.pid));
            self.change.system_calls = calls;
        }
    }

    fn wants_end(&mut self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}
