//! What a simulated file contains: what is durable, what is seen, and what stands between the two.
//!
//! # Representation
//! Contents are kept in blocks of [`IO_ALIGN`] bytes, the unit of I/O, shared by `Arc`: a write copies its bytes
//! once, and a sync or a copy of the disk copies none. A block that was never written is zeros and takes no memory,
//! so allocating gigabytes is cheap.
//!
//! # Invariants
//! 1. `visible` is `durable` plus all of `pending`, in order, unless a sync has failed: then that is `device`, and what
//!    the sync lost is in `visible` alone. (`Contents::sync_failed`)
//! 2. Blocks of `visible` lie below its length, and bytes of the last one beyond the length are zero. Blocks of
//!    `durable` may lie beyond *its* length, until a crash cuts them off or a sync lengthens it.
//! 3. What was synced survives: a crash only adds to `durable`. (`Contents::crash`)

use std::collections::BTreeMap;
use std::sync::Arc;

use meseta_storage::io::IO_ALIGN;

use crate::random::SeededRandom;

/// A device writes this much whole or not at all.
pub(crate) const SECTOR: usize = 512;

const SECTORS_PER_BLOCK: usize = IO_ALIGN / SECTOR;

type Block = [u8; IO_ALIGN];

/// A length, and blocks by index.
#[derive(Clone, Default)]
struct Image {
    len: u64,
    blocks: BTreeMap<u64, Arc<Block>>,
}

impl Image {
    /// Fills `buffer` as far as the file reaches; returns how far.
    fn read(&self, buffer: &mut [u8], offset: u64) -> usize {
        let count = self.len.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let mut done = 0;
        while done < count {
            let at = offset + done as u64;
            let start = (at % IO_ALIGN as u64) as usize;
            let part = (count - done).min(IO_ALIGN - start);
            let target = &mut buffer[done..done + part];
            match self.blocks.get(&(at / IO_ALIGN as u64)) {
                Some(block) => target.copy_from_slice(&block[start..start + part]),
                None => target.fill(0),
            }
            done += part;
        }
        count
    }

    /// The block to change; zeros if it was never written.
    fn block_mut(&mut self, index: u64) -> &mut Block {
        Arc::make_mut(self.blocks.entry(index).or_insert_with(|| Arc::new([0; IO_ALIGN])))
    }

    /// Changes the bytes at `offset`, all in one block.
    fn patch(&mut self, offset: u64, bytes: &[u8]) {
        let start = (offset % IO_ALIGN as u64) as usize;
        self.block_mut(offset / IO_ALIGN as u64)[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// Forgets what lies beyond `len`.
    fn cut(&mut self, len: u64) {
        self.len = len;
        self.blocks.split_off(&len.div_ceil(IO_ALIGN as u64));
        let rest = (len % IO_ALIGN as u64) as usize;
        if rest != 0 && self.blocks.contains_key(&(len / IO_ALIGN as u64)) {
            self.block_mut(len / IO_ALIGN as u64)[rest..].fill(0);
        }
    }
}

/// A change that no sync has made durable yet. `time` is the operation that made it.
#[derive(Clone)]
struct Change {
    time: u64,
    what: What,
}

#[derive(Clone)]
enum What {
    /// The file became this long.
    Len(u64),
    /// This block was written.
    Block(u64, Arc<Block>),
}

/// How much of what was not synced survives a loss of power.
///
/// Each is something that a device with a volatile cache may do. A kernel, a file system or a test would rarely hit
/// the interesting ones by an even chance for every sector alone, hence the choice.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Survival {
    /// All of it.
    Everything,
    /// None.
    Nothing,
    /// Each write, whole, with this chance: the device reorders.
    Writes(u32),
    /// Each sector of each write with this chance: it also tears, and keeps older versions of a sector.
    Sectors(u32),
    /// What came before this time; what was under way then is torn.
    Before(u64),
}

impl Survival {
    /// Draws one, for changes made at these times.
    pub(crate) fn draw(random: &mut SeededRandom, times: &[u64]) -> Survival {
        let percent = *random.pick(&[5, 20, 50, 80, 95]);
        match random.below(10) {
            0 => Survival::Everything,
            1 => Survival::Nothing,
            2..4 => Survival::Writes(percent),
            4..7 => Survival::Sectors(percent),
            _ if times.is_empty() => Survival::Nothing,
            _ => Survival::Before(*random.pick(times)),
        }
    }

    /// Whether a change that happens whole or not at all survives.
    pub(crate) fn keeps(self, time: u64, random: &mut SeededRandom) -> bool {
        match self {
            Survival::Everything => true,
            Survival::Nothing => false,
            Survival::Writes(percent) | Survival::Sectors(percent) => random.chance(percent),
            Survival::Before(cut) => time < cut || time == cut && random.chance(50),
        }
    }

    /// Whether each sector of a write survives on its own.
    fn tears(self, time: u64) -> bool {
        match self {
            Survival::Everything | Survival::Nothing | Survival::Writes(_) => false,
            Survival::Sectors(_) => true,
            Survival::Before(cut) => time == cut,
        }
    }
}

/// One file's bytes, through time.
#[derive(Clone, Default)]
pub(crate) struct Contents {
    durable: Image,
    visible: Image,
    /// What the device would return, its volatile cache included: there once that is not all of `visible`. As long as
    /// `visible`, since the length is the file system's.
    device: Option<Image>,
    pending: Vec<Change>,
}

impl Contents {
    pub(crate) fn len(&self) -> u64 {
        self.visible.len
    }

    /// Reads through the page cache.
    pub(crate) fn read(&self, buffer: &mut [u8], offset: u64) -> usize {
        self.visible.read(buffer, offset)
    }

    /// Reads past the page cache, which is written back first, as far as it is dirty.
    pub(crate) fn read_device(&self, buffer: &mut [u8], offset: u64) -> usize {
        self.device.as_ref().unwrap_or(&self.visible).read(buffer, offset)
    }

    /// What a change changes at once.
    fn images(&mut self) -> impl Iterator<Item = &mut Image> {
        [Some(&mut self.visible), self.device.as_mut()].into_iter().flatten()
    }

    /// Makes the file longer, with zeros. It never gets shorter.
    pub(crate) fn grow(&mut self, len: u64, time: u64) {
        if len > self.visible.len {
            self.images().for_each(|image| image.len = len);
            self.pending.push(Change { time, what: What::Len(len) });
        }
    }

    /// Writes whole blocks.
    pub(crate) fn write(&mut self, bytes: &[u8], offset: u64, time: u64) {
        self.grow(offset + bytes.len() as u64, time);
        for (index, bytes) in (offset / IO_ALIGN as u64..).zip(bytes.chunks_exact(IO_ALIGN)) {
            let block: Arc<Block> = Arc::new(bytes.try_into().expect("chunks of this length"));
            for image in self.images() {
                image.blocks.insert(index, Arc::clone(&block));
            }
            self.pending.push(Change { time, what: What::Block(index, block) });
        }
    }

    /// A write that did not end well: none of it, all of it, a prefix, or any of its sectors.
    pub(crate) fn write_torn(&mut self, bytes: &[u8], offset: u64, time: u64, random: &mut SeededRandom) {
        let sectors = bytes.len() / SECTOR;
        let (prefix, percent) = match random.below(4) {
            0 => return,
            1 => (sectors, 0),
            2 => (random.below(sectors as u64) as usize, 0),
            _ => (0, 50),
        };
        let mut mixed = vec![0; bytes.len()];
        self.read_device(&mut mixed, offset);
        for sector in 0..sectors {
            if sector < prefix || random.chance(percent) {
                let range = sector * SECTOR..(sector + 1) * SECTOR;
                mixed[range.clone()].copy_from_slice(&bytes[range]);
            }
        }
        self.write(&mixed, offset, time);
    }

    pub(crate) fn sync(&mut self) {
        for change in self.pending.drain(..) {
            if let What::Block(index, block) = change.what {
                self.durable.blocks.insert(index, block);
            }
        }
        self.durable.len = self.visible.len;
    }

    /// A sync that reported an error: some of what was pending is durable now, the rest never will be, although
    /// reads through the page cache go on to see it. That is what Linux does (it forgets that the pages are dirty), and
    /// it is why no one may retry a sync and call the data safe.
    pub(crate) fn sync_failed(&mut self, random: &mut SeededRandom) {
        let times: Vec<u64> = self.pending_times().collect();
        let survival = Survival::draw(random, &times);
        self.settle(survival, random);
        self.device = Some(Image { len: self.visible.len, ..self.durable.clone() });
    }

    /// When the pending changes were made, ascending.
    pub(crate) fn pending_times(&self) -> impl Iterator<Item = u64> {
        self.pending.iter().map(|change| change.time)
    }

    /// The power is lost: some of what was pending is on the disk, and what is on the disk is all there is.
    pub(crate) fn crash(&mut self, survival: Survival, random: &mut SeededRandom) {
        self.settle(survival, random);
        self.durable.cut(self.durable.len);
        self.visible = self.durable.clone();
        self.device = None;
    }

    /// Makes what survives durable, and forgets the rest.
    fn settle(&mut self, survival: Survival, random: &mut SeededRandom) {
        // One coin for all changes of a write, unless it tears.
        let mut coin = None;
        for Change { time, what } in std::mem::take(&mut self.pending) {
            let keep = match coin {
                Some((thrown_for, keep)) if thrown_for == time && !survival.tears(time) => keep,
                _ => survival.keeps(time, random),
            };
            coin = Some((time, keep));
            match what {
                What::Len(len) if keep => self.durable.len = self.durable.len.max(len),
                What::Len(_) => {}
                What::Block(index, block) if survival.tears(time) => {
                    for sector in 0..SECTORS_PER_BLOCK {
                        if survival.keeps(time, random) {
                            let start = sector * SECTOR;
                            let offset = index * IO_ALIGN as u64 + start as u64;
                            self.durable.patch(offset, &block[start..start + SECTOR]);
                        }
                    }
                }
                What::Block(index, block) if keep => {
                    self.durable.blocks.insert(index, block);
                }
                What::Block(..) => {}
            }
        }
    }

    /// Changes stored bytes behind everybody's back, in every version of them that there is.
    pub(crate) fn corrupt(&mut self, offset: u64, change: impl Fn(&mut u8)) {
        assert!(offset < self.visible.len, "byte {offset} of a file of {} bytes", self.visible.len);
        let (index, byte) = (offset / IO_ALIGN as u64, (offset % IO_ALIGN as u64) as usize);
        self.images().for_each(|image| change(&mut image.block_mut(index)[byte]));
        change(&mut self.durable.block_mut(index)[byte]);
        for pending in &mut self.pending {
            if let What::Block(at, block) = &mut pending.what
                && *at == index
            {
                change(&mut Arc::make_mut(block)[byte]);
            }
        }
    }

    /// Makes the file this long behind everybody's back, for good.
    pub(crate) fn truncate(&mut self, len: u64) {
        self.pending.retain(|change| match change.what {
            What::Len(grown) => grown <= len,
            What::Block(index, _) => index * (IO_ALIGN as u64) < len,
        });
        let tail = (len % IO_ALIGN as u64) as usize;
        for change in &mut self.pending {
            if let What::Block(index, block) = &mut change.what
                && *index == len / IO_ALIGN as u64
                && tail != 0
            {
                Arc::make_mut(block)[tail..].fill(0);
            }
        }
        self.images().for_each(|image| image.cut(len));
        self.durable.cut(len);
    }
}
