//! Identifiers that no other server gives: UUID(), UUID_SHORT(), and bytes that nobody can guess.
//!
//! ```text
//! UUID()        60 bits of time (100 ns since 1582), a clock sequence, a node: version 1 of RFC 9562
//! UUID_SHORT()  server_id 8 bits | seconds of the start 32 bits | a counter 24 bits
//! ```
//!
//! # Invariants
//! 1. Times of UUID() grow: a clock that stands still or goes back is helped by a tick.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::{SecureRandom, SystemRandom};

/// Ticks of 100 ns from 1582-10-15 to 1970-01-01.
const EPOCH: u64 = 0x01B2_1DD2_1381_4000;

/// Fills in bytes that nobody can guess.
pub fn random_bytes(out: &mut [u8]) {
    // The system's generator does not fail once it works; if it never does, nobody could open a connection either.
    if SystemRandom::new().fill(out).is_err() {
        out.fill(0);
    }
}

/// A version 1 identifier. The node is random, and marked as such.
pub fn uuid() -> [u8; 16] {
    static LAST: AtomicU64 = AtomicU64::new(0);
    static NODE: OnceLock<[u8; 8]> = OnceLock::new();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = EPOCH + (since.as_nanos() / 100) as u64;
    let mut last = LAST.load(Ordering::Relaxed);
    let time = loop {
        let time = now.max(last + 1);
        match LAST.compare_exchange_weak(last, time, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => break time,
            Err(other) => last = other,
        }
    };
    let node = NODE.get_or_init(|| {
        let mut node = [0; 8];
        random_bytes(&mut node);
        node[0] = node[0] & 0x3F | 0x80;
        node[2] |= 1;
        node
    });
    let mut out = [0; 16];
    out[..4].copy_from_slice(&(time as u32).to_be_bytes());
    out[4..6].copy_from_slice(&((time >> 32) as u16).to_be_bytes());
    out[6..8].copy_from_slice(&((time >> 48) as u16 & 0x0FFF | 0x1000).to_be_bytes());
    out[8..].copy_from_slice(node);
    out
}

/// The text of an identifier.
pub fn uuid_text(bytes: &[u8; 16]) -> String {
    let hexadecimal: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts =
        [&hexadecimal[..8], &hexadecimal[8..12], &hexadecimal[12..16], &hexadecimal[16..20], &hexadecimal[20..]];
    parts.join("-")
}

/// Where UUID_SHORT() begins.
pub fn first_short_identifier(server_id: u64) -> u64 {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    (server_id & 0xFF) << 56 | (seconds & 0xFFFF_FFFF) << 24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_differ_and_grow() {
        let time = |uuid: [u8; 16]| {
            let text = uuid_text(&uuid);
            assert_eq!((text.len(), &text[14..15]), (36, "1"));
            format!("{}{}{}", &text[15..18], &text[9..13], &text[..8])
        };
        let times: Vec<_> = (0..100).map(|_| time(uuid())).collect();
        assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
        let mut bytes = [[0; 16]; 2];
        bytes.iter_mut().for_each(|bytes| random_bytes(bytes));
        assert_ne!(bytes[0], bytes[1]);
    }
}
