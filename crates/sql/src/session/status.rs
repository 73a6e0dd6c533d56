//! Values of status variables: what sessions, the server of connections, the engine and the store count, by MySQL's names.
//!
//! ```text
//! SHOW STATUS, performance_schema.global_status --> ServerStatus (all figures of one moment) --> a value by its name
//! ```

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use meseta_engine::lock::WaitKind;
use meseta_storage::{StoreFigures, WaitEvent, WaitFigures};

use super::connections::ServerFigures;
use super::counters::Counter;
use super::facts::SessionFacts;
use crate::variable::StatusProvider;

const PAGE_BYTES: u64 = 16 << 10;

static COUNTED: LazyLock<HashMap<&'static str, Counter>> =
    LazyLock::new(|| Counter::ALL.iter().map(|counter| (counter.name(), *counter)).collect());

/// All figures of one moment.
pub struct ServerStatus<'s> {
    facts: &'s SessionFacts,
    own: Vec<u64>,
    sums: Vec<u64>,
    server: ServerFigures,
    store: StoreFigures,
    waits: Vec<WaitFigures>,
    locks: Vec<meseta_engine::lock::WaitFigures>,
}

impl<'s> ServerStatus<'s> {
    /// As a session sees them.
    pub fn new(facts: &'s SessionFacts) -> Self {
        let instance = &facts.instance;
        let engine = &instance.engine;
        Self {
            facts,
            own: facts.shared.counted(),
            sums: instance.sessions.sums(),
            server: instance.server().map(super::Connections::figures).unwrap_or_default(),
            store: engine.store().figures(),
            waits: engine.store().wait_events(),
            locks: engine.lock_wait_totals(),
        }
    }

    /// What was counted, of this session or of all.
    fn counted(&self, counter: Counter, global: bool) -> u64 {
        let counts = if global { &self.sums } else { &self.own };
        counts.get(counter as usize).copied().unwrap_or(0)
    }

    /// How often somebody waited there.
    fn waited(&self, events: &[WaitEvent]) -> u64 {
        self.waits.iter().filter(|figures| events.contains(&figures.event)).map(|figures| figures.count).sum()
    }

    /// Bytes that the session's connection has received and sent.
    fn own_traffic(&self) -> (u64, u64) {
        let server = self.facts.instance.server();
        server.and_then(|server| server.traffic(self.facts.identity.connection)).unwrap_or_default()
    }

    /// Of each kind of wait for rows.
    fn row_lock_waits(&self) -> impl Iterator<Item = &meseta_engine::lock::WaitFigures> {
        self.locks.iter().filter(|figures| figures.kind != WaitKind::Table)
    }

    fn number(&self, name: &str, global: bool) -> Option<u64> {
        let server = &self.server;
        let (store, instance) = (&self.store, &self.facts.instance);
        let page = PAGE_BYTES;
        let pages_written = store.cleaner.pages_written;
        let row_lock_count = || self.row_lock_waits().map(|figures| figures.count).sum::<u64>();
        let row_lock_time = || self.row_lock_waits().map(|figures| figures.total).sum::<Duration>().as_millis() as u64;
        let data_syncs = || self.waited(&[WaitEvent::DataSync, WaitEvent::DoublewriteSync, WaitEvent::ControlSync]);
        let data_writes = || self.waited(&[WaitEvent::DataWrite, WaitEvent::DoublewriteWrite]) + store.log.writes;
        Some(match name {
            "Aborted_clients" => server.aborted_clients,
            "Aborted_connects" => server.aborted_connects,
            "Bytes_received" if global => server.bytes_received,
            "Bytes_sent" if global => server.bytes_sent,
            "Bytes_received" => self.own_traffic().0,
            "Bytes_sent" => self.own_traffic().1,
            "Connection_errors_max_connections" => server.connection_errors_max_connections,
            "Connections" => server.connections,
            "Max_used_connections" => server.max_used_connections,
            "Threads_cached" => server.threads_cached,
            "Threads_connected" => server.threads_connected,
            "Threads_created" => server.threads_created,
            "Threads_running" => server.threads_running,
            "Uptime" => server.uptime_seconds,
            "Uptime_since_flush_status" => instance.seconds_since_flush().unwrap_or(server.uptime_seconds),
            "Ssl_accepts" | "Ssl_finished_accepts" => server.ssl_accepts,
            "Queries" => {
                let all = [Counter::Questions, Counter::ComStmtPrepare, Counter::ComStmtClose, Counter::ComStmtReset];
                all.iter().map(|counter| self.counted(*counter, global)).sum()
            }
            "Prepared_stmt_count" => instance.prepared.get(),
            "Open_tables" | "Open_table_definitions" => instance.tables.len() as u64,
            "Innodb_page_size" => page,
            "Innodb_buffer_pool_pages_total" => store.pool.limit_pages as u64,
            "Innodb_buffer_pool_pages_data" => store.pool.resident_pages as u64,
            "Innodb_buffer_pool_bytes_data" => store.pool.resident_pages as u64 * page,
            "Innodb_buffer_pool_pages_free" => store.pool.limit_pages.saturating_sub(store.pool.resident_pages) as u64,
            "Innodb_buffer_pool_pages_dirty" => store.cleaner.dirty_pages,
            "Innodb_buffer_pool_bytes_dirty" => store.cleaner.dirty_pages * page,
            "Innodb_buffer_pool_pages_flushed" | "Innodb_pages_written" => pages_written,
            "Innodb_buffer_pool_reads" | "Innodb_pages_read" | "Innodb_data_reads" => store.pool.reads,
            // Pages are found without counting: each row read asks for about one.
            "Innodb_buffer_pool_read_requests" => {
                self.counted(Counter::InnodbRowsRead, true).saturating_add(store.pool.reads)
            }
            "Innodb_buffer_pool_wait_free" => self.waited(&[WaitEvent::FrameFree]),
            "Innodb_data_fsyncs" => data_syncs() + store.log.flushes,
            "Innodb_data_read" => store.pool.reads * page,
            "Innodb_data_writes" => data_writes(),
            "Innodb_data_written" => 2 * pages_written * page + store.log.bytes_written,
            "Innodb_dblwr_pages_written" => pages_written,
            "Innodb_dblwr_writes" => self.waited(&[WaitEvent::DoublewriteWrite]),
            "Innodb_log_waits" => self.waited(&[WaitEvent::LogBufferSpace, WaitEvent::LogCapacity]),
            "Innodb_log_writes" => store.log.writes,
            "Innodb_log_write_requests" => store.log.commits,
            "Innodb_os_log_fsyncs" => store.log.flushes,
            "Innodb_os_log_written" => store.log.bytes_written,
            "Innodb_pages_created" => store.file_pages.saturating_sub(store.free_pages),
            "Innodb_redo_log_checkpoint_lsn" => instance.engine.store().checkpoint_lsn().0,
            "Innodb_redo_log_current_lsn" => instance.engine.store().log_end().0,
            "Innodb_redo_log_flushed_to_disk_lsn" => instance.engine.store().durable_lsn().0,
            "Innodb_redo_log_logical_size" => {
                let store = instance.engine.store();
                store.log_end().0.saturating_sub(store.checkpoint_lsn().0)
            }
            "Innodb_redo_log_physical_size" | "Innodb_redo_log_capacity_resized" => {
                instance.engine.store().log_capacity()
            }
            "Innodb_row_lock_current_waits" => instance.engine.waiting() as u64,
            "Innodb_row_lock_waits" => row_lock_count(),
            "Innodb_row_lock_time" => row_lock_time(),
            "Innodb_row_lock_time_avg" => row_lock_time().checked_div(row_lock_count()).unwrap_or(0),
            "Innodb_row_lock_time_max" => {
                self.row_lock_waits().map(|figures| figures.longest.as_millis() as u64).max().unwrap_or(0)
            }
            "Table_locks_waited" => {
                self.locks.iter().filter(|figures| figures.kind == WaitKind::Table).map(|figures| figures.count).sum()
            }
            name => {
                let counter = *COUNTED.get(name)?;
                self.counted(counter, global || name.starts_with("Innodb_"))
            }
        })
    }
}

impl StatusProvider for ServerStatus<'_> {
    fn status(&self, name: &str, global: bool) -> Option<String> {
        let text = match name {
            "Max_used_connections_time" => match self.server.max_used_connections_time {
                0 => String::new(),
                seconds => {
                    let zone = &self.facts.variables.settings().time_zone;
                    let time = zone.read_timestamp(&(seconds as u32).to_be_bytes());
                    let mut text = Vec::new();
                    let value = meseta_types::Datum::DateTime(time, 0);
                    meseta_types::DataType::DateTime { decimals: 0 }.append_text(value, &mut text);
                    String::from_utf8_lossy(&text).into_owned()
                }
            },
            "Ssl_version" | "Ssl_cipher" => {
                let tls = if global { None } else { *self.facts.shared.tls.lock() };
                let (version, cipher) = tls.unwrap_or(("", ""));
                if name == "Ssl_version" { version } else { cipher }.to_owned()
            }
            "Innodb_buffer_pool_load_status"
            | "Innodb_buffer_pool_dump_status"
            | "Innodb_buffer_pool_resize_status" => String::new(),
            "Innodb_redo_log_read_only" => "OFF".to_owned(),
            "Innodb_redo_log_enabled" => "ON".to_owned(),
            "Innodb_redo_log_resize_status" => "OK".to_owned(),
            "Current_tls_version" => "TLSv1.2,TLSv1.3".to_owned(),
            "Ssl_server_not_after"
            | "Ssl_server_not_before"
            | "Ssl_cipher_list"
            | "Rsa_public_key"
            | "Caching_sha2_password_rsa_public_key"
            | "Current_tls_ca"
            | "Current_tls_capath"
            | "Current_tls_cert"
            | "Current_tls_cipher"
            | "Current_tls_ciphersuites"
            | "Current_tls_crl"
            | "Current_tls_crlpath"
            | "Current_tls_key"
            | "Tls_library_version" => String::new(),
            "Telemetry_logs_supported"
            | "Telemetry_metrics_supported"
            | "Telemetry_traces_supported"
            | "Resource_group_supported" => "OFF".to_owned(),
            "Ssl_session_cache_mode" => "NONE".to_owned(),
            name => self.number(name, global)?.to_string(),
        };
        Some(text)
    }
}
