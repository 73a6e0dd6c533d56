//! The last word of a log at rest: a block without payload that vouches for the last sync.
//!
//! Every block says how far the log was durable when it was written, and so vouches for the blocks before it. Nobody
//! vouched for the blocks of the very last sync: damage there looked like a torn tail, and was cut off in silence. So
//! when the log has rested for a whole turn of its writer, a *voucher* is written behind its end, and synced.
//!
//! ```text
//!   --+--------------+--------------+------------------------+
//!     | full         | ends at W    | voucher:               |
//!     | durable: ... | durable: ... | len 0, durable: W      |
//!   --+--------------+--------------+------------------------+
//!                         ^ the next record goes here
//! ```
//!
//! # Invariants
//! 1. A voucher is written only while everything reserved is durable, and says just that. It holds no record: torn,
//!    lost or overwritten, it costs none.
//! 2. It takes no position in the log: its block is the first that holds no record, and the next records go where they
//!    would have gone without it. The first write that touches its 4 KiB overwrites it, with records or with zeroes.
//!    From then on the last sync is not vouched for, as ever while somebody writes, until the next voucher.
//! 3. There is one for each position at which the log comes to rest, not one for each turn; none where redo would
//!    begin at the end and needs nothing of the log; and none that would overwrite what redo may need.
//!
//! # When things fail
//! As with any other write or sync of the log: the engine stops.

use super::block::{self, BLOCK_LEN, BlockHeader, block_of, round_up};
use super::{BLOCKS_PER_ALIGN, Log};
use crate::error::Result;
use crate::ids::Lsn;
use crate::io::{AlignedBuffer, IO_ALIGN};

/// Where the log was durable when it was last looked at.
#[derive(Default)]
pub(super) struct Rest {
    at: Lsn,
    vouched: bool,
}

impl Log {
    /// For the turns of the writer that come once a second. Writes a voucher if nothing has been appended since the
    /// last such turn, and there is none yet. Returns whether it did.
    pub(super) fn vouch_if_at_rest(&self) -> Result<bool> {
        // Held from the write to the end of the sync: nobody else may take over the file that is to be synced.
        let _flushing = self.flusher.lock();
        let unsynced = {
            let mut writer = self.writer.lock();
            self.health.check()?;
            let durable = self.durable.reached();
            if writer.rest.at != durable {
                writer.rest = Rest { at: durable, vouched: false };
                return Ok(false);
            }
            let vouched_for = self.vouched_for();
            let number = block_of(round_up(durable));
            let first = number / BLOCKS_PER_ALIGN * BLOCKS_PER_ALIGN;
            let nothing_to_say = writer.rest.vouched || self.checkpoint() >= vouched_for;
            if nothing_to_say || self.reserved() > durable || !self.has_room(first + BLOCKS_PER_ALIGN) {
                return Ok(false);
            }
            // What is before the voucher in its alignment unit is written again, unchanged.
            let mut unit = AlignedBuffer::new(IO_ALIGN);
            if number > first {
                unit.copy_from_slice(&writer.out[..IO_ALIGN]);
            }
            let block = &mut unit[(number - first) as usize * BLOCK_LEN..][..BLOCK_LEN];
            block::seal(block, BlockHeader { len: 0, number, durable: vouched_for, epoch: writer.epoch });
            self.hand_over(&mut writer.unsynced, first, &unit)?;
            writer.rest.vouched = true;
            std::mem::take(&mut writer.unsynced)
        };
        self.sync_files(&unsynced)?;
        Ok(true)
    }
}
