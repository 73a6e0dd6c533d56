//! A log as the engine writes it, then damaged: what is read back is what was written, up to some point, and never
//! less than what was durable unless reading fails.
//!
//! Input: where the log begins, its records in batches (each batch is one write; some are synced; some of these are
//! vouched for; some open the store anew), then damage to single blocks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meseta_fuzz::{Input, ring::ring};
use meseta_storage::Lsn;
use meseta_storage::log::block::{
    self, BLOCK_HEADER_LEN, BLOCK_LEN, BLOCK_PAYLOAD, BlockHeader, block_of, block_start,
};
use meseta_storage::log::buffer::{header_word, record_len};
use meseta_storage::log::reader::LogReader;

const BLOCKS: u64 = 32;

/// What a writer did.
struct Written {
    ring: Vec<u8>,
    /// Start and body of every record.
    records: Vec<(Lsn, Vec<u8>)>,
    end: Lsn,
    /// As of the last sync, and how many records that covers.
    durable: Lsn,
    durable_count: usize,
    /// What blocks say: no more than `durable`.
    durable_in_blocks: Lsn,
    epoch: u32,
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let start = block_start(u64::from(input.u8()));
    let mut log = Written {
        ring: vec![0; BLOCKS as usize * BLOCK_LEN],
        records: Vec::new(),
        end: start,
        durable: start,
        durable_count: 0,
        durable_in_blocks: start,
        epoch: 1,
    };
    for _ in 0..input.below(24) {
        log.batch(&mut input, start);
    }
    let sound = log.read(start).expect("an undamaged log is readable");
    assert_eq!(sound, log.records.len(), "an undamaged log is read to its end");

    // Blocks that end before the last sync stay as they are, now and then; a crash cannot touch them.
    let crash = input.u8() & 1 != 0;
    let mut damaged = false;
    for _ in 0..input.below(6) {
        let number = block_of(start) + input.below(BLOCKS as usize) as u64;
        let survives =
            number < block_of(log.durable) || number == block_of(log.durable) && log.durable > block_start(number);
        if crash && survives {
            continue;
        }
        let at = (number % BLOCKS) as usize * BLOCK_LEN;
        let block = &mut log.ring[at..at + BLOCK_LEN];
        let before = block.to_vec();
        match input.u8() % 3 {
            0 => block.fill(0),
            1 => block[input.below(BLOCK_LEN)] ^= 1 << input.below(8),
            _ => block[256..].fill(0xEE), // half of it did not arrive
        }
        damaged |= before != block;
    }
    match log.read(start) {
        Ok(count) => assert!(!crash || count >= log.durable_count, "a crash cost durable records"),
        Err(()) => assert!(damaged && !crash, "a crash was taken for corruption"),
    }
});

impl Written {
    fn batch(&mut self, input: &mut Input<'_>, start: Lsn) {
        let choice = input.u8();
        if choice & 0x80 != 0 {
            // Opened anew: what was there is durable; the log goes on at the next block, under the next epoch.
            self.sync();
            self.end = block::round_up(self.end);
            self.epoch += 1;
        }
        for _ in 0..choice % 4 {
            let body = vec![choice; input.below(1500)];
            let from = self.end;
            let end = Lsn(from.0 + record_len(body.len()) as u64);
            if block_of(end) >= block_of(start) + BLOCKS - 1 {
                return;
            }
            let mut bytes = header_word(body.len()).to_le_bytes().to_vec();
            bytes.extend_from_slice(&body);
            bytes.resize(record_len(body.len()), 0);
            self.write(from, &bytes);
            self.records.push((from, body));
            self.end = end;
        }
        if choice & 0x40 != 0 {
            self.sync();
            if choice & 0x20 != 0 {
                self.vouch();
            }
        }
    }

    /// A log at rest: a block without payload, behind the last one with records, says how far the log is durable.
    fn vouch(&mut self) {
        let number = block_of(block::round_up(self.end));
        let place = (number % BLOCKS) as usize * BLOCK_LEN;
        let block = &mut self.ring[place..place + BLOCK_LEN];
        block.fill(0);
        block::seal(block, BlockHeader { len: 0, number, durable: self.durable, epoch: self.epoch });
    }

    /// What is durable ends where a record ends, not where a new opening went on: that is what blocks vouch for.
    fn sync(&mut self) {
        let Some((start, body)) = self.records.last() else { return };
        self.durable = Lsn(start.0 + record_len(body.len()) as u64);
        self.durable_count = self.records.len();
    }

    /// Adds bytes to the blocks that hold them, and seals these.
    fn write(&mut self, mut at: Lsn, mut bytes: &[u8]) {
        self.durable_in_blocks = self.durable;
        while !bytes.is_empty() {
            let number = block_of(at);
            let inside = (at.0 - block_start(number).0) as usize;
            let (now, later) = bytes.split_at(bytes.len().min(BLOCK_PAYLOAD - inside));
            let place = (number % BLOCKS) as usize * BLOCK_LEN;
            let block = &mut self.ring[place..place + BLOCK_LEN];
            block[BLOCK_HEADER_LEN + inside..][..now.len()].copy_from_slice(now);
            let len = inside + now.len();
            block::seal(block, BlockHeader { len, number, durable: self.durable_in_blocks, epoch: self.epoch });
            at = Lsn(at.0 + now.len() as u64);
            bytes = later;
        }
    }

    /// Reads everything; checks that it is the beginning of what was written, and says how many records came.
    fn read(&self, start: Lsn) -> Result<usize, ()> {
        let files = ring(&self.ring, 2);
        let mut reader = LogReader::new(&files, start, 1..=self.epoch);
        let mut count = 0;
        loop {
            let stretch = reader.next_stretch(2000).map_err(|_| ())?;
            if stretch.records.is_empty() {
                break;
            }
            for &record in &stretch.records {
                let (expected_start, body) = &self.records[count];
                assert_eq!((record.start, stretch.body(record)), (*expected_start, body.as_slice()), "record {count}");
                count += 1;
            }
        }
        reader.check_end(start, 1 << 20).map_err(|_| ())?;
        Ok(count)
    }
}
