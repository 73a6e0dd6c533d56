//! RocksDB: an LSM tree with a log, many writers grouped behind one leader.

use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use rocksdb::statistics::{StatsLevel, Ticker};
use rocksdb::{
    BlockBasedOptions, Cache, DB, DataBlockIndexType, Options, ReadOptions, SstFileWriter, WaitForCompactOptions,
    WriteBufferManager, WriteOptions,
};

use crate::dataset::{Dataset, Key};
use crate::engine::{Engine, Result, Settings, checksum};

/// Rows in each file of the bulk load: about the 64 MiB that RocksDB's own
/// compactions write.
const ROWS_PER_FILE: usize = 500_000;

/// On so many cores one thread inserts for the whole group of writers.
const FEW_CORES: i32 = 4;

/// RocksDB in one directory. Its log is on and written at each commit; only
/// `commit_durably` flushes it.
pub struct Rocks {
    db: DB,
    options: Options,
    dir: PathBuf,
    // Kept, since making a set of options allocates.
    reading: ReadOptions,
    written: WriteOptions,
    flushed: WriteOptions,
    counts_flushes: bool,
}

impl Rocks {
    /// Opens or creates the database.
    pub fn open(dir: &Path, settings: &Settings) -> Result<Self> {
        let cores = available_parallelism().map_or(2, |n| n.get()) as i32;
        let memory = settings.memory_bytes as usize;

        // The memtables are charged to the block cache, so that both together
        // stay within the memory every engine gets.
        let cache = Cache::new_hyper_clock_cache(memory, 0);
        let write_buffers = (memory / 4).clamp(16 << 20, 256 << 20);
        let manager = WriteBufferManager::new_write_buffer_manager_with_cache(write_buffers, false, cache.clone());

        let mut table = BlockBasedOptions::default();
        table.set_format_version(6);
        table.set_block_cache(&cache);
        table.set_bloom_filter(10.0, false);
        table.set_cache_index_and_filter_blocks(true);
        table.set_pin_l0_filter_and_index_blocks_in_cache(true);
        table.set_data_block_index_type(DataBlockIndexType::BinaryAndHash);
        table.set_data_block_hash_ratio(0.75);

        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_block_based_table_factory(&table);
        options.set_write_buffer_manager(&manager);
        options.set_write_buffer_size(write_buffers / 4);
        options.set_max_background_jobs(cores.max(2));
        options.set_bytes_per_sync(1 << 20);
        // What made its writes fastest where this was tried, on two cores: there
        // handing a group's inserts out to its members costs more than it gains.
        options.set_enable_pipelined_write(true);
        options.set_allow_concurrent_memtable_write(cores > FEW_CORES);
        // Every lookup here finds its key: the last level needs no filter.
        options.set_optimize_filters_for_hits(true);
        if settings.larger_than_memory {
            options.set_use_direct_reads(true);
            options.set_use_direct_io_for_flush_and_compaction(true);
        }
        if settings.durable {
            // Only here: counting costs a little on every operation.
            options.enable_statistics();
            options.set_statistics_level(StatsLevel::ExceptDetailedTimers);
        }
        let db = DB::open(&options, dir)?;
        let mut flushed = WriteOptions::default();
        flushed.set_sync(true);
        Ok(Rocks {
            db,
            options,
            dir: dir.to_owned(),
            reading: ReadOptions::default(),
            written: WriteOptions::default(),
            flushed,
            counts_flushes: settings.durable,
        })
    }
}

impl Engine for Rocks {
    fn load(&self, data: &Dataset) -> Result<()> {
        let mut files = Vec::new();
        let mut writer = None;
        let mut rows = 0;
        data.each_row(|key, value| -> Result<()> {
            if rows % ROWS_PER_FILE == 0 {
                if let Some(mut full) = writer.take() {
                    SstFileWriter::finish(&mut full)?;
                }
                let path = self.dir.join(format!("load-{}.sst", files.len()));
                let next = SstFileWriter::create(&self.options);
                next.open(&path)?;
                files.push(path);
                writer = Some(next);
            }
            rows += 1;
            Ok(writer.as_mut().expect("opened above").put(key, value)?)
        })?;
        if let Some(mut last) = writer {
            last.finish()?;
        }
        let mut ingest = rocksdb::IngestExternalFileOptions::default();
        ingest.set_move_files(true);
        self.db.ingest_external_file_opts(&ingest, files)?;
        self.settle()
    }

    fn get(&self, key: &Key, value: &mut Vec<u8>) -> Result<bool> {
        let Some(found) = self.db.get_pinned_opt(key, &self.reading)? else { return Ok(false) };
        value.clear();
        value.extend_from_slice(&found);
        Ok(true)
    }

    fn scan(&self, from: &Key, n: usize) -> Result<u64> {
        let mut cursor = self.db.raw_iterator();
        cursor.seek(from);
        let mut sum = 0;
        for _ in 0..n {
            let Some((key, value)) = cursor.item() else { break };
            sum += checksum(key, value);
            cursor.next();
        }
        cursor.status()?;
        Ok(sum)
    }

    fn update(&self, key: &Key, value: &[u8]) -> Result<()> {
        Ok(self.db.put_opt(key, value, &self.written)?)
    }

    fn insert(&self, key: &Key, value: &[u8]) -> Result<()> {
        Ok(self.db.put_opt(key, value, &self.written)?)
    }

    fn commit_durably(&self, key: &Key, value: &[u8]) -> Result<()> {
        Ok(self.db.put_opt(key, value, &self.flushed)?)
    }

    fn sync(&self) -> Result<()> {
        Ok(self.db.flush_wal(true)?)
    }

    fn settle(&self) -> Result<()> {
        self.sync()?;
        Ok(self.db.wait_for_compact(&WaitForCompactOptions::default())?)
    }

    fn flushes(&self) -> Option<u64> {
        self.counts_flushes.then(|| self.options.get_ticker_count(Ticker::WalFileSynced))
    }
}
