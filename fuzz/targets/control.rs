//! Any bytes as a slot of the control file: decoding them does no harm, and nothing is believed without a checksum.
//!
//! Input: flags (1: with a true checksum; 2: not a whole slot), then the slot from its first byte on.
#![no_main]

use libfuzzer_sys::fuzz_target;
use meseta_fuzz::Input;
use meseta_storage::Control;
use meseta_storage::io::IO_ALIGN;
use meseta_storage::page::crc32c;

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let flags = input.u8();
    if flags & 2 != 0 {
        assert!(data.len() == IO_ALIGN || matches!(Control::decode(data), Ok(None)));
        return;
    }
    let mut slot = vec![0; IO_ALIGN];
    let bytes = input.bytes(IO_ALIGN);
    slot[..bytes.len()].copy_from_slice(bytes);
    let crc = crc32c(&slot[..IO_ALIGN - 4]);
    if flags & 1 != 0 {
        slot[IO_ALIGN - 4..].copy_from_slice(&crc.to_le_bytes());
    }
    let whole = slot[IO_ALIGN - 4..] == crc.to_le_bytes();
    if let Ok(Some(control)) = Control::decode(&slot) {
        assert!(whole, "{control:?} without a true checksum");
    }
});
