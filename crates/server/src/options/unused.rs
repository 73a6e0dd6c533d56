//! Options that configuration files of MySQL and InnoDB carry, and that are not needed here, or refused, with why.
//!
//! An option that is not needed is accepted, with a line in the log: the file of a server that is replaced starts this one
//! as it is. What would change the meaning of data, or make somebody believe what is not so, is refused.

/// What is done with an option of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// Accepted; a line in the log.
    Ignored,
    /// The server does not start with it (unless it switches the thing off).
    Refused,
}

/// Options that are treated alike, for one reason.
#[derive(Debug)]
pub struct Family {
    /// What is done.
    pub treatment: Treatment,
    /// Why, in a sentence without its full stop.
    pub reason: &'static str,
    /// Their names, with `_`, between spaces.
    names: &'static str,
}

/// The family of that name, and the name.
pub fn find(name: &str) -> Option<(&'static str, &'static Family)> {
    FAMILIES
        .iter()
        .find_map(|family| Some((family.names.split_ascii_whitespace().find(|known| *known == name)?, family)))
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.names.split_ascii_whitespace())
}

/// All families.
static FAMILIES: &[Family] = &[
    Family {
        treatment: Treatment::Refused,
        reason: "the server runs in the foreground; systemd, a container or a shell put it elsewhere",
        names: "chroot daemonize",
    },
    Family {
        treatment: Treatment::Refused,
        reason: "there is one engine, and it cannot be left out",
        names: "innodb skip_innodb",
    },
    Family {
        treatment: Treatment::Refused,
        reason: "there are no plugins",
        names: "early_plugin_load plugin_load plugin_load_add",
    },
    Family {
        treatment: Treatment::Refused,
        reason: "a server is made by starting it on an empty data directory, and brought up to date by starting it",
        names: "bootstrap initialize initialize_insecure upgrade",
    },
    Family {
        treatment: Treatment::Refused,
        reason: "this is another program's business here: `meseta --help`, `meseta --version`",
        names: "console gdb help install install_manual print_defaults remove standalone validate_config verbose \
                version",
    },
    Family {
        treatment: Treatment::Refused,
        reason: "the clear-text passwords of before MySQL 4.1 are gone",
        names: "old_passwords skip_secure_auth",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "the memory of pages is one range that no thread locks as a whole: there is nothing to divide",
        names: "innodb_adaptive_hash_index_partitions innodb_adaptive_hash_index_parts innodb_buffer_pool_chunk_size \
                innodb_buffer_pool_instances innodb_page_hash_locks innodb_sync_array_size key_cache_segments \
                metadata_locks_cache_size metadata_locks_hash_instances table_open_cache_instances \
                thread_pool_high_prio_mode thread_pool_high_prio_tickets thread_pool_idle_timeout \
                thread_pool_max_threads thread_pool_oversubscribe thread_pool_size thread_pool_stall_limit",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "as many statements run as there are cores, by design: no ticket is drawn and no queue is configured",
        names: "innodb_adaptive_max_sleep_delay innodb_commit_concurrency innodb_concurrency_tickets \
                innodb_priority_cleaner innodb_priority_io innodb_priority_master innodb_priority_purge \
                innodb_replication_delay innodb_sched_priority_cleaner innodb_sched_priority_io \
                innodb_sched_priority_master innodb_sched_priority_purge innodb_thread_concurrency \
                innodb_thread_concurrency_timer_based innodb_thread_sleep_delay slow_launch_time thread_cache_size \
                thread_concurrency thread_handling thread_stack",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "there is no adaptive hash index: a descent of the tree writes to nothing shared",
        names: "innodb_adaptive_hash_index",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "memory for the dictionary and for sessions is taken as it is needed",
        names: "binlog_row_event_max_size connection_memory_chunk_size connection_memory_limit \
                connection_memory_status_limit container_aware core_file global_connection_memory_limit \
                global_connection_memory_status_limit global_connection_memory_tracking \
                histogram_generation_max_mem_size host_cache_size innodb_additional_mem_pool_size \
                innodb_buffer_pool_in_core_file innodb_buffer_pool_populate innodb_dedicated_server \
                innodb_dict_size_limit innodb_numa_interleave innodb_open_files innodb_use_sys_malloc large_pages \
                max_connect_errors max_length_for_sort_data memlock net_buffer_length net_retry_count \
                open_files_limit parser_max_mem_size preload_buffer_size query_alloc_block_size query_prealloc_size \
                range_alloc_block_size range_optimizer_max_mem_size read_buffer_size read_rnd_buffer_size \
                schema_definition_cache select_into_buffer_size server_memory set_operations_buffer_size \
                stored_program_cache stored_program_definition_cache super_large_pages table_cache \
                table_definition_cache table_open_cache table_open_cache_triggers tablespace_definition_cache \
                transaction_alloc_block_size transaction_prealloc_size",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "there is no query cache, as in MySQL since 8.0",
        names: "have_query_cache query_cache_limit query_cache_min_res_unit query_cache_size \
                query_cache_strip_comments query_cache_type query_cache_wlock_invalidate",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "pages are flushed at the pace at which the log fills, which is measured, not configured",
        names: "flush flush_time innodb_adaptive_checkpoint innodb_adaptive_flushing innodb_adaptive_flushing_lwm \
                innodb_adaptive_flushing_method innodb_checkpoint_age_target innodb_cleaner_eviction_factor \
                innodb_cleaner_flush_chunk_size innodb_cleaner_free_list_lwm innodb_cleaner_lru_chunk_size \
                innodb_cleaner_lsn_age_factor innodb_cleaner_max_flush_time innodb_cleaner_max_lru_time \
                innodb_empty_free_list_algorithm innodb_flush_neighbor_pages innodb_flush_neighbors \
                innodb_flush_sync innodb_flushing_avg_loops innodb_foreground_preflush innodb_fsync_threshold \
                innodb_idle_flush_pct innodb_io_capacity innodb_io_capacity_max innodb_lru_scan_depth \
                innodb_max_changed_pages innodb_max_dirty_pages_pct innodb_max_dirty_pages_pct_lwm \
                innodb_old_blocks_pct innodb_old_blocks_time innodb_page_cleaners innodb_sched_priority_all",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "files are read and written directly, in batches that suit the device",
        names: "innodb_autoextend_increment innodb_disable_sort_file_cache innodb_extend_and_initialize \
                innodb_file_io_threads innodb_fill_factor innodb_flush_method innodb_parallel_read_threads \
                innodb_random_read_ahead innodb_read_ahead innodb_read_ahead_threshold innodb_read_io_threads \
                innodb_segment_reserve_factor innodb_use_fallocate innodb_use_fdatasync innodb_write_io_threads",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "there is no change buffer: secondary indexes are changed at once",
        names: "innodb_change_buffer_max_size innodb_change_buffering innodb_ibuf_accel_rate \
                innodb_ibuf_active_contract innodb_ibuf_max_size",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "each commit reclaims old versions as it goes: no purge falls behind, and none is configured",
        names: "innodb_extra_rsegments innodb_extra_undoslots innodb_kill_idle_transaction innodb_max_purge_lag \
                innodb_max_purge_lag_delay innodb_max_undo_log_size innodb_purge_batch_size \
                innodb_purge_rseg_truncate_frequency innodb_purge_threads innodb_rollback_segments \
                innodb_undo_directory innodb_undo_log_encrypt innodb_undo_log_truncate innodb_undo_logs \
                innodb_undo_tablespaces innodb_use_purge_thread",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "pages and log have checksums always, and torn pages are always repaired",
        names: "innodb_checksum_algorithm innodb_checksums innodb_corrupt_table_action innodb_doublewrite \
                innodb_doublewrite_batch_size innodb_doublewrite_dir innodb_doublewrite_file \
                innodb_doublewrite_files innodb_doublewrite_pages innodb_fast_checksum innodb_force_load_corrupted \
                innodb_log_checksum_algorithm innodb_log_checksums innodb_pass_corrupt_table \
                innodb_validate_tablespace_paths tls_certificates_enforced_validation",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "the log is one ring of files in the data directory, written by one thread for all",
        names: "innodb_fast_shutdown innodb_flush_log_at_timeout innodb_log_arch_dir innodb_log_arch_expire_sec \
                innodb_log_archive innodb_log_block_size innodb_log_buffer_size innodb_log_compressed_pages \
                innodb_log_group_home_dir innodb_log_spin_cpu_abs_lwm innodb_log_spin_cpu_pct_hwm \
                innodb_log_wait_for_flush_spin_hwm innodb_log_write_ahead_size innodb_log_writer_threads \
                innodb_mirrored_log_groups innodb_recovery_stats innodb_recovery_update_relay_log \
                innodb_redo_log_archive_dirs innodb_redo_log_encrypt innodb_support_xa \
                innodb_use_global_flush_log_at_trx_commit",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "data is in the data directory, in one format",
        names: "basedir character_sets_dir default_table_encryption external_locking innodb_cmp_per_index_enabled \
                innodb_compression_failure_threshold_pct innodb_compression_level innodb_compression_pad_pct_max \
                innodb_data_file_path innodb_data_home_dir innodb_default_row_format innodb_directories \
                innodb_file_format innodb_file_format_check innodb_file_format_max \
                innodb_import_table_from_xtrabackup innodb_large_prefix innodb_strict_row_format \
                innodb_temp_data_file_path innodb_temp_tablespaces_dir innodb_tmpdir language lc_messages_dir \
                locking plugin_dir replica_load_tmpdir skip_locking skip_symlink slave_load_tmpdir symbolic_links \
                sync_frm table_encryption_privilege_check tmpdir",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "what is in memory is found again by use; nothing is dumped and loaded",
        names: "innodb_auto_lru_dump innodb_blocking_buffer_pool_restore innodb_buffer_pool_dump_at_shutdown \
                innodb_buffer_pool_dump_now innodb_buffer_pool_dump_pct innodb_buffer_pool_filename \
                innodb_buffer_pool_load_abort innodb_buffer_pool_load_at_startup innodb_buffer_pool_load_now \
                innodb_buffer_pool_restore_at_startup innodb_buffer_pool_shm_checksum innodb_buffer_pool_shm_key",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "latches spin and sleep by themselves, as the machine in question needs it",
        names: "innodb_spin_wait_delay innodb_spin_wait_pause_multiplier innodb_sync_spin_loops \
                innodb_use_atomic_writes timed_mutexes",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "locks are taken as the isolation level says",
        names: "innodb_api_bk_commit_interval innodb_api_disable_rowlock innodb_api_enable_binlog \
                innodb_api_enable_mdl innodb_api_trx_level innodb_fake_changes innodb_locking_fake_changes \
                innodb_locks_unsafe_for_binlog innodb_native_foreign_keys max_write_lock_count",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "wait events and figures are counted always, at no cost while nobody waits",
        names: "innodb_monitor_disable innodb_monitor_enable innodb_monitor_reset innodb_monitor_reset_all \
                innodb_print_ddl_logs innodb_print_lock_wait_timeout_info innodb_show_locks_held \
                innodb_show_verbose_locks innodb_status_file innodb_status_output innodb_status_output_locks \
                innodb_use_stacktrace performance_schema performance_schema_accounts_size \
                performance_schema_consumer_events_stages_current performance_schema_consumer_events_stages_history \
                performance_schema_consumer_events_stages_history_long \
                performance_schema_consumer_events_statements_cpu \
                performance_schema_consumer_events_statements_current \
                performance_schema_consumer_events_statements_history \
                performance_schema_consumer_events_statements_history_long \
                performance_schema_consumer_events_transactions_current \
                performance_schema_consumer_events_transactions_history \
                performance_schema_consumer_events_transactions_history_long \
                performance_schema_consumer_events_waits_current performance_schema_consumer_events_waits_history \
                performance_schema_consumer_events_waits_history_long \
                performance_schema_consumer_global_instrumentation performance_schema_consumer_statements_digest \
                performance_schema_consumer_thread_instrumentation performance_schema_digests_size \
                performance_schema_error_size performance_schema_events_stages_history_long_size \
                performance_schema_events_stages_history_size performance_schema_events_statements_history_long_size \
                performance_schema_events_statements_history_size \
                performance_schema_events_transactions_history_long_size \
                performance_schema_events_transactions_history_size \
                performance_schema_events_waits_history_long_size performance_schema_events_waits_history_size \
                performance_schema_hosts_size performance_schema_instrument performance_schema_logger \
                performance_schema_max_cond_classes performance_schema_max_cond_instances \
                performance_schema_max_digest_length performance_schema_max_digest_sample_age \
                performance_schema_max_file_classes performance_schema_max_file_handles \
                performance_schema_max_file_instances performance_schema_max_index_stat \
                performance_schema_max_logger_classes performance_schema_max_memory_classes \
                performance_schema_max_metadata_locks performance_schema_max_meter_classes \
                performance_schema_max_metric_classes performance_schema_max_mutex_classes \
                performance_schema_max_mutex_instances performance_schema_max_prepared_statements_instances \
                performance_schema_max_program_instances performance_schema_max_rwlock_classes \
                performance_schema_max_rwlock_instances performance_schema_max_socket_classes \
                performance_schema_max_socket_instances performance_schema_max_sql_text_length \
                performance_schema_max_stage_classes performance_schema_max_statement_classes \
                performance_schema_max_statement_stack performance_schema_max_table_handles \
                performance_schema_max_table_instances performance_schema_max_table_lock_stat \
                performance_schema_max_thread_classes performance_schema_max_thread_instances \
                performance_schema_meter performance_schema_session_connect_attrs_size \
                performance_schema_setup_actors_size performance_schema_setup_objects_size \
                performance_schema_show_processlist performance_schema_users_size profiling_history_size \
                query_response_time_stats thread_statistics userstat userstat_running",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "statistics are sampled; these switches have nothing to switch",
        names: "innodb_stats_auto_update innodb_stats_include_delete_marked innodb_stats_method \
                innodb_stats_modified_counter innodb_stats_on_metadata innodb_stats_sample_pages \
                innodb_stats_traditional innodb_stats_transient_sample_pages innodb_stats_update_need_lock",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "DDL builds indexes with the memory that it is given",
        names: "bulk_insert_buffer_size expand_fast_index_creation innodb_ddl_buffer_size innodb_ddl_threads \
                innodb_expand_import innodb_lazy_drop_table innodb_merge_sort_block_size \
                innodb_online_alter_log_max_size innodb_sort_buffer_size keep_files_on_create",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "there is no full-text index yet",
        names: "ft_boolean_syntax ft_max_word_len ft_min_word_len ft_query_expansion_limit ft_stopword_file \
                innodb_ft_aux_table innodb_ft_cache_size innodb_ft_enable_diag_print innodb_ft_enable_stopword \
                innodb_ft_max_token_size innodb_ft_min_token_size innodb_ft_num_word_optimize \
                innodb_ft_result_cache_limit innodb_ft_server_stopword_table innodb_ft_sort_pll_degree \
                innodb_ft_total_cache_size innodb_ft_user_stopword_table innodb_optimize_fulltext_only mecab_rc_file \
                ngram ngram_token_size",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "there is no MyISAM: its tables are kept as all others are",
        names: "archive aria_pagecache_buffer_size bdb bdb_cache_size berkeley_db blackhole concurrent_insert csv \
                delay_key_write delayed_insert_limit delayed_insert_timeout delayed_queue_size federated isam \
                key_buffer key_buffer_size key_cache_age_threshold key_cache_block_size key_cache_division_limit \
                log_isam max_delayed_threads max_tmp_tables merge myisam_block_size myisam_data_pointer_size \
                myisam_max_extra_sort_file_size myisam_max_sort_file_size myisam_mmap_size myisam_recover \
                myisam_recover_options myisam_repair_threads myisam_sort_buffer_size myisam_stats_method \
                myisam_use_mmap partition storage_engine_flags",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "temporary tables need no setting of their own",
        names: "internal_tmp_disk_storage_engine internal_tmp_mem_storage_engine temptable_max_mmap \
                temptable_max_ram temptable_use_mmap tmp_memory_table_size",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "there is no binary log yet, and so nothing that is written to it or read from it",
        names: "abort_slave_event_count binlog_cache_size binlog_checksum binlog_direct_non_transactional_updates \
                binlog_do_db binlog_encryption binlog_error_action binlog_expire_logs_auto_purge \
                binlog_expire_logs_seconds binlog_format binlog_group_commit_sync_delay \
                binlog_group_commit_sync_no_delay_count binlog_gtid_simple_recovery binlog_ignore_db \
                binlog_max_flush_queue_time binlog_order_commits binlog_rotate_encryption_master_key_at_startup \
                binlog_row_image binlog_row_metadata binlog_row_value_options binlog_rows_query_log_events \
                binlog_stmt_cache_size binlog_transaction_compression binlog_transaction_compression_level_zstd \
                binlog_transaction_dependency_history_size disconnect_slave_event_count enforce_gtid_consistency \
                enforce_storage_engine expire_logs_days group_replication_consistency \
                gtid_executed_compression_period gtid_mode log_bin log_bin_index log_bin_trust_function_creators \
                log_bin_trust_routine_creators log_builtin_as_identified_by_password log_replica_updates \
                log_slave_updates log_statements_unsafe_for_binlog log_tc log_tc_size max_binlog_cache_size \
                max_binlog_dump_events max_binlog_size max_binlog_stmt_cache_size rpl_read_size \
                rpl_semi_sync_master_enabled rpl_semi_sync_master_timeout rpl_semi_sync_replica_enabled \
                rpl_semi_sync_slave_enabled rpl_semi_sync_source_enabled server_id_bits server_uuid \
                session_track_gtids session_track_transaction_info simplified_binlog_gtid_recovery \
                sporadic_binlog_dump_fail sync_binlog tc_heuristic_recover transaction_write_set_extraction \
                xa_detach_on_prepare",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "there is no replication yet",
        names: "init_replica init_slave log_slow_replica_statements log_slow_slave_statements master_connect_retry \
                master_host master_info_file master_info_repository master_password master_port master_retry_count \
                master_ssl master_user master_verify_checksum max_relay_log_size old_style_user_limits relay_log \
                relay_log_index relay_log_info_file relay_log_info_repository relay_log_purge relay_log_recovery \
                relay_log_space_limit replica_allow_batching replica_allow_higher_version_source \
                replica_checkpoint_group replica_checkpoint_period replica_compressed_protocol replica_exec_mode \
                replica_max_allowed_packet replica_net_timeout replica_parallel_type replica_parallel_workers \
                replica_pending_jobs_size_max replica_preserve_commit_order replica_skip_errors \
                replica_sql_verify_checksum replica_transaction_retries replica_type_conversions replicate_do_db \
                replicate_do_table replicate_ignore_db replicate_ignore_table replicate_rewrite_db \
                replicate_same_server_id replicate_wild_do_table replicate_wild_ignore_table \
                replication_optimize_for_static_plugin_config replication_sender_observe_commit_only report_host \
                report_password report_port report_user rpl_stop_replica_timeout rpl_stop_slave_timeout \
                show_replica_auth_info show_slave_auth_info skip_replica_start skip_slave_start slave_allow_batching \
                slave_checkpoint_group slave_checkpoint_period slave_compressed_protocol slave_exec_mode \
                slave_max_allowed_packet slave_net_timeout slave_parallel_type slave_parallel_workers \
                slave_pending_jobs_size_max slave_preserve_commit_order slave_rows_search_algorithms \
                slave_skip_errors slave_sql_verify_checksum slave_transaction_retries slave_type_conversions \
                source_verify_checksum sync_master_info sync_relay_log sync_relay_log_info sync_source_info \
                terminology_use_previous",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "there is no X protocol, no cluster and no group",
        names: "admin_address admin_port admin_ssl_ca admin_ssl_capath admin_ssl_cert admin_ssl_cipher admin_ssl_crl \
                admin_ssl_crlpath admin_ssl_key admin_tls_ciphersuites admin_tls_version \
                create_admin_listener_thread mysqlx mysqlx_bind_address mysqlx_cache_cleaner \
                mysqlx_compression_algorithms mysqlx_connect_timeout mysqlx_deflate_default_compression_level \
                mysqlx_deflate_max_client_compression_level mysqlx_document_id_unique_prefix \
                mysqlx_enable_hello_notice mysqlx_idle_worker_thread_timeout mysqlx_interactive_timeout \
                mysqlx_lz4_default_compression_level mysqlx_lz4_max_client_compression_level \
                mysqlx_max_allowed_packet mysqlx_max_connections mysqlx_min_worker_threads mysqlx_port \
                mysqlx_port_open_timeout mysqlx_read_timeout mysqlx_socket mysqlx_ssl_ca mysqlx_ssl_capath \
                mysqlx_ssl_cert mysqlx_ssl_cipher mysqlx_ssl_crl mysqlx_ssl_crlpath mysqlx_ssl_key \
                mysqlx_wait_timeout mysqlx_write_timeout mysqlx_zstd_default_compression_level \
                mysqlx_zstd_max_client_compression_level ndb_allow_copying_alter_table ndb_applier_allow_skip_epoch \
                ndb_applier_conflict_role ndb_autoincrement_prefetch_sz ndb_batch_size ndb_blob_read_batch_bytes \
                ndb_blob_write_batch_bytes ndb_clear_apply_status ndb_cluster_connection_pool \
                ndb_cluster_connection_pool_nodeids ndb_connectstring ndb_data_node_neighbour \
                ndb_default_column_format ndb_deferred_constraints ndb_distribution ndb_eventbuffer_free_percent \
                ndb_eventbuffer_max_alloc ndb_extra_logging ndb_force_send ndb_fully_replicated \
                ndb_index_stat_enable ndb_index_stat_option ndb_join_pushdown ndb_log_apply_status ndb_log_bin \
                ndb_log_binlog_index ndb_log_cache_size ndb_log_empty_epochs ndb_log_empty_update \
                ndb_log_exclusive_reads ndb_log_fail_terminate ndb_log_orig ndb_log_purge_rate \
                ndb_log_row_slice_count ndb_log_row_slice_id ndb_log_transaction_compression \
                ndb_log_transaction_compression_level_zstd ndb_log_transaction_dependency ndb_log_transaction_id \
                ndb_log_update_as_write ndb_log_update_minimal ndb_log_updated_only ndb_metadata_check \
                ndb_metadata_check_interval ndb_metadata_sync ndb_mgm_tls ndb_mgmd_host ndb_nodeid \
                ndb_optimization_delay ndb_optimized_node_selection ndb_read_backup \
                ndb_recv_thread_activation_threshold ndb_recv_thread_cpu_mask ndb_replica_batch_size \
                ndb_replica_blob_write_batch_bytes ndb_report_thresh_binlog_epoch_slip \
                ndb_report_thresh_binlog_mem_usage ndb_row_checksum ndb_schema_dist_lock_wait_timeout \
                ndb_schema_dist_timeout ndb_schema_dist_upgrade_allowed ndb_show_foreign_key_mock_tables \
                ndb_slave_conflict_role ndb_table_no_logging ndb_table_temporary ndb_tls_search_path \
                ndb_transid_mysql_connection_map ndb_use_copying_alter_table ndb_use_exact_count \
                ndb_use_transactions ndb_wait_connected ndb_wait_setup ndbcluster ndbinfo ndbinfo_max_bytes \
                ndbinfo_max_rows ndbinfo_show_hidden",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "the log is the standard error output, in one form",
        names: "log log_error log_error_services log_error_suppression_list \
                log_queries_not_using_indexes log_raw log_short_format log_slow_admin_statements log_slow_extra \
                log_slow_filter log_slow_queries log_slow_rate_limit log_slow_verbosity log_syslog \
                log_syslog_facility log_syslog_tag log_throttle_queries_not_using_indexes log_timestamps log_update \
                log_warnings sql_log_bin syslog",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "the process runs as the user that starts it (systemd's User=)",
        names: "user",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "client addresses are never looked up in the name service",
        names: "skip_host_cache skip_name_resolve",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "clients are known by account and password, not by certificate",
        names: "allow_suspicious_udfs authentication_policy caching_sha2_password_enforce_storage_format \
                caching_sha2_password_proxy_users caching_sha2_password_storage_format default_authentication_plugin \
                generated_random_password_length keyring_migration_destination keyring_migration_from_component \
                keyring_migration_host keyring_migration_password keyring_migration_port keyring_migration_socket \
                keyring_migration_source keyring_migration_to_component keyring_migration_user mysql_native_password \
                mysql_native_password_proxy_users persist_only_admin_x509_subject \
                persist_sensitive_variables_in_plaintext  print_identified_with_as_hex \
                safe_user_create secure_auth sha256_password_auto_generate_rsa_keys sha256_password_private_key_path \
                sha256_password_proxy_users sha256_password_public_key_path ssl_capath ssl_cipher ssl_crl \
                ssl_crlpath ssl_fips_mode ssl_session_cache_mode ssl_session_cache_timeout tls_ciphersuites \
                validate_user_plugins",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "the planner knows what it needs, and is not told by these",
        names: "enable_secondary_engine_statistics engine_condition_pushdown explain_format \
                explain_json_format_version external_table_secondary_storage_engine external_table_storage_engine \
                join_cache_level max_seeks_for_key multi_range_count optimizer_full_scan optimizer_join_cache_level \
                optimizer_max_subgraph_pairs optimizer_trace optimizer_trace_features optimizer_trace_limit \
                optimizer_trace_max_mem_size optimizer_trace_offset secondary_engine_cost_threshold \
                select_into_disk_sync select_into_disk_sync_delay windowing_use_high_precision",
    },
    Family {
        treatment: Treatment::Ignored,
        reason: "there is one behaviour, that of MySQL 9.7",
        names: "activate_mandatory_roles ansi avoid_temporal_upgrade check_table_functions default_table_type \
                disabled_storage_engines enable_cascade_triggers exit_info ignore_builtin_innodb ignore_db_dirs \
                innodb_change_tracking innodb_ft_ext innodb_max_bitmap_file_size innodb_read_only \
                innodb_track_changed_pages lower_case_file_system max_long_data_size named_pipe new old \
                port_open_timeout restrict_fk_on_non_standard_key safe_mode server_tools shared_memory \
                show_create_table_verbosity show_gipk_in_create_table_and_information_schema show_old_temporals \
                skip_event_scheduler skip_new skip_stack_trace skip_thread_priority slow_start_timeout \
                sql_big_selects sql_big_tables storage_engine table_lock_wait_timeout temp_pool thread_alarm \
                tx_isolation tx_read_only updatable_views_with_limit version_with_update",
    },
];
