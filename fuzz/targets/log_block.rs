//! Any bytes as log files: reading them ends, hands out only whole records in order, and does no harm.
//!
//! Input: flags (1: two files; 2: blocks get their own numbers), where to start, the newest epoch, a mask that says
//! which blocks get a true checksum; then the files' bytes, whose rest is zero.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meseta_fuzz::{Input, ring::ring};
use meseta_storage::Lsn;
use meseta_storage::log::block::{self, BLOCK_LEN, block_of, block_start};
use meseta_storage::log::buffer::record_len;
use meseta_storage::log::reader::LogReader;
use meseta_storage::page::crc32c;

const RING_LEN: usize = 16 * BLOCK_LEN;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let flags = input.u8();
    let start = Lsn(u64::from(input.u16()) * 8);
    let epoch_max = u32::from(input.u8());
    let true_checksums = input.u16();
    let mut bytes = vec![0; RING_LEN];
    let content = input.bytes(RING_LEN);
    bytes[..content.len()].copy_from_slice(content);
    for (place, block) in bytes.chunks_exact_mut(BLOCK_LEN).enumerate() {
        if flags & 2 != 0 {
            // The number that this place has in the round of the ring in which reading begins.
            let blocks = (RING_LEN / BLOCK_LEN) as u64;
            let first = block_of(start);
            let number = first + (place as u64 + blocks - first % blocks) % blocks;
            block[8..16].copy_from_slice(&number.to_le_bytes());
        }
        if true_checksums & (1 << place) != 0 {
            let crc = crc32c(&block[4..]);
            block[..4].copy_from_slice(&crc.to_le_bytes());
        }
        if let Some(header) = block::open(block) {
            assert!(header.len <= BLOCK_LEN);
        }
    }

    let files = ring(&bytes, if flags & 1 != 0 { 2 } else { 1 });
    let mut reader = LogReader::new(&files, start, 1..=epoch_max);
    let mut position = start;
    let mut total = 0;
    loop {
        let stretch = reader.next_stretch(1000).expect("memory does not fail");
        if stretch.records.is_empty() {
            break;
        }
        for &record in &stretch.records {
            assert!(record.start >= position);
            assert_eq!(record.end.0 - record.start.0, record_len(stretch.body(record).len()) as u64);
            position = record.end;
            total += stretch.body(record).len();
        }
    }
    assert!(total <= RING_LEN);
    assert!(reader.position() >= position);
    assert!(block_start(reader.next_free_block()) >= block_start(block_of(start)));
    let _ = reader.check_end(start, 1 << 20);
});
