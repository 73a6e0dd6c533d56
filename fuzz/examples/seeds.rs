//! Writes the seed corpora: a few small inputs for each target, made from real pages, records and blocks.
//!
//! ```text
//! cd fuzz && cargo run --release --example seeds
//! ```
//!
//! A seed's name says what it holds. Seeds made here are overwritten; those that came from a crash, named
//! `crash-...`, stay.

use std::fs;
use std::path::Path;

use meseta_fuzz::pages;
use meseta_storage::log::block::{self, BLOCK_HEADER_LEN, BLOCK_LEN, BlockHeader};
use meseta_storage::log::buffer::{header_word, record_len};
use meseta_storage::page::PageKind;
use meseta_storage::page::bytes::{PageMut, PageRef};
use meseta_storage::page::node::CAPACITY_MIN;
use meseta_storage::page::space_map::Entry;
use meseta_storage::redo::Op;
use meseta_storage::{Lsn, PageNo};

fn main() -> std::io::Result<()> {
    page()?;
    node_ops()?;
    log_block()?;
    log_records()?;
    redo_record()?;
    control()
}

fn save(target: &str, name: &str, parts: &[&[u8]]) -> std::io::Result<()> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&directory)?;
    fs::write(directory.join(name), parts.concat())
}

/// A page of which only this much is not zero: the space map's entries are few, and nodes have the least capacity.
fn head(page: &[u8]) -> &[u8] {
    let used = page.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &page[..used.max(64)]
}

const PAGES: [&str; pages::SOUND_COUNT] = ["empty-leaf", "full-leaf", "inner", "overflow", "space-map", "free"];

fn page() -> std::io::Result<()> {
    for (which, name) in PAGES.into_iter().enumerate() {
        save("page", name, &[&[1], head(pages::sound(which).bytes())])?;
    }
    let mut dropped = pages::sound(2);
    PageMut::of(&mut dropped).set_kind(PageKind::DroppedRoot);
    save("page", "dropped-root", &[&[1], head(dropped.bytes())])?;
    save("page", "bad-checksum", &[&[0], &head(pages::sound(1).bytes())[4..]])
}

fn node_ops() -> std::io::Result<()> {
    // Capacity, fences; then put (0): a new key (0) of so many bytes, flags, a value of so many bytes.
    let puts: Vec<u8> = (0..30u8).flat_map(|n| [0, 0, 2, n % 7, n, 0, 3, n, n, n]).collect();
    let removals: Vec<u8> = (0..20u8).flat_map(|n| [4, 1, n]).collect();
    save("node_ops", "puts", &[&[0, 0, 0, 0], &puts])?;
    save("node_ops", "puts-and-removals", &[&[0, 0, 0, 0], &puts, &removals, &puts])?;
    save("node_ops", "between-fences", &[&[1, 2, b'a', b'b', 2, b'a', b'd', 1], &puts, &removals])?;
    // Values as long as can be, so that the node is split.
    let large: Vec<u8> = (0..24u8).flat_map(|n| [0, 0, 2, n.wrapping_mul(37), n, 2, 0]).collect();
    save("node_ops", "splits", &[&[0, 0, 0, 0], &large])?;
    let patches: Vec<u8> = (0..10u8).flat_map(|n| [6, 1, n, 1, 1, n]).collect();
    save("node_ops", "patches-and-a-split", &[&[2, 0, 0, 0], &puts, &patches, &[7, 1, 5, 1], &patches])
}

/// The payload of a log with records of these lengths.
fn payload(body_lens: &[usize]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &len in body_lens {
        let end = bytes.len() + record_len(len);
        bytes.extend_from_slice(&header_word(len).to_le_bytes());
        bytes.resize(bytes.len() + len, b'r');
        bytes.resize(end, 0);
    }
    bytes
}

fn blocks(payload: &[u8], epoch: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, bytes) in payload.chunks(block::BLOCK_PAYLOAD).enumerate() {
        let mut block = vec![0; BLOCK_LEN];
        block[BLOCK_HEADER_LEN..][..bytes.len()].copy_from_slice(bytes);
        block::seal(&mut block, BlockHeader { len: bytes.len(), number: number as u64, durable: Lsn(0), epoch });
        out.extend_from_slice(&block);
    }
    out
}

fn log_block() -> std::io::Result<()> {
    let log = blocks(&payload(&[16, 100, 700, 3]), 1);
    // Flags, start, newest epoch, checksums.
    save("log_block", "three-blocks", &[&[0, 0, 0, 1, 0, 0], &log])?;
    save("log_block", "checksums-made-true", &[&[3, 0, 0, 9, 0xFF, 0xFF], &log])?;
    save("log_block", "from-the-second-record", &[&[0, 3, 0, 1, 0, 0], &log])?;
    let mut reopened = log.clone();
    reopened.extend_from_slice(&blocks(&payload(&[40]), 2));
    save("log_block", "reopened", &[&[2, 0, 0, 2, 0xFF, 0xFF], &reopened])?;
    save("log_block", "empty", &[&[0, 0, 0, 1, 0, 0]])
}

fn log_records() -> std::io::Result<()> {
    // Start, batches; each: choice (count, 0x40 sync, 0x80 reopen), record lengths; then damage.
    let batch =
        |choice: u8, lens: &[u16]| [vec![choice], lens.iter().flat_map(|len| len.to_le_bytes()).collect()].concat();
    let plain = [batch(0x41, &[100]), batch(0x02, &[30, 600]), batch(0x43, &[0, 1400, 7])].concat();
    save("log_records", "three-batches", &[&[0, 3], &plain, &[0, 0]])?;
    save("log_records", "torn-tail", &[&[5, 3], &plain, &[1, 2, 4, 0, 5, 2]])?;
    save("log_records", "damaged-middle", &[&[0, 3], &plain, &[0, 1, 1, 1, 9, 0, 3]])?;
    let reopened = [batch(0x01, &[100]), batch(0x81, &[30]), batch(0xC1, &[500])].concat();
    save("log_records", "reopened-twice", &[&[31, 3], &reopened, &[1, 1, 2, 0]])
}

fn redo_record() -> std::io::Result<()> {
    let record = |ops: &[Op<'_>]| {
        let mut body = Vec::new();
        ops.iter().for_each(|op| op.encode(PageNo(8), &mut body));
        body
    };
    let leaf = record(&[
        Op::Insert { index: 0, overflow: false, suffix: b"a", value: b"value" },
        Op::Replace { index: 0, overflow: false, value: b"longer value" },
        Op::Patch { index: 0, offset: 2, bytes: b"xy" },
        Op::Remove { index: 0 },
        Op::Note { bytes: b"note" },
    ]);
    save("redo_record", "leaf", &[&[0], &leaf])?;
    let cut = record(&[Op::Truncate { keep: 20, upper: b"key\x03" }, Op::Remove { index: 3 }]);
    save("redo_record", "truncate", &[&[1], &cut])?;
    let inner = record(&[Op::Insert { index: 2, overflow: false, suffix: b"bb", value: &[7, 0, 0, 0] }]);
    save("redo_record", "inner", &[&[2], &inner])?;
    let map = record(&[Op::SetExtent { index: 5, entry: Entry { owner: 8, used: 1 } }]);
    save("redo_record", "space-map", &[&[4], &map])?;
    save("redo_record", "kind", &[&[5], &record(&[Op::SetKind { kind: PageKind::DroppedRoot }])])?;
    let image = pages::node(0, b"", None, &[b"one".to_vec(), b"two".to_vec()]);
    let mut scratch = Vec::new();
    let make = record(&[Op::image(PageRef::of(&image), &mut scratch)]);
    save("redo_record", "image", &[&[5], &make, &leaf])?;
    let mut page = pages::sound(1).bytes()[..CAPACITY_MIN].to_vec();
    page.resize(1300, 0);
    save("redo_record", "page-from-disk", &[&[pages::SOUND_COUNT as u8], &page, &leaf])
}

fn control() -> std::io::Result<()> {
    // As `Control::encode` lays it out: magic, words, log file length, checkpoint, sequence, store id.
    let mut slot = b"MESETA\r\n".to_vec();
    for word in [1u32, 16 * 1024, 16 * 1024, 0, 3, 1, 4, 0] {
        slot.extend_from_slice(&word.to_le_bytes());
    }
    for word in [64u64 << 20, 480, 7] {
        slot.extend_from_slice(&word.to_le_bytes());
    }
    slot.extend_from_slice(&[0x5A; 16]);
    save("control", "slot", &[&[1], &slot])?;
    save("control", "without-checksum", &[&[0], &slot])?;
    save("control", "cut-off", &[&[2], &slot])?;
    slot[8] = 2;
    save("control", "next-format", &[&[1], &slot])
}
