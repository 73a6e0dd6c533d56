//! SHA-crypt with SHA-256: a digest that is slow on purpose, so that a stolen table of them is of little use.
//!
//! As everywhere, but for the salt, which MySQL has of 20 bytes where others cut it at 16. The steps have no names of
//! their own; the comments number them as the specification does.
//!
//! Source: Ulrich Drepper, "Unix crypt using SHA-256 and SHA-512" (2008, public domain).

use super::digest::sha256;
use aws_lc_rs::digest::{Context, SHA256};

/// The length of the digest as text.
pub const TEXT_BYTES: usize = 43;

const ALPHABET: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The digest of a password with `salt` after `rounds` rounds, as 43 characters. A few milliseconds for the usual 5000:
/// not for a thread that others wait for.
pub fn sha256_crypt(password: &[u8], salt: &[u8], rounds: u32) -> [u8; TEXT_BYTES] {
    // 4 to 8: digest B.
    let other = sha256(&[password, salt, password]);
    // 1 to 3, 9 to 12: digest A.
    let mut context = Context::new(&SHA256);
    context.update(password);
    context.update(salt);
    update_repeated(&mut context, &other, password.len());
    let mut bits = password.len();
    while bits > 0 {
        context.update(if bits & 1 != 0 { &other } else { password });
        bits >>= 1;
    }
    let mut digest = finish(context);
    // 13 to 16: P, as long as the password.
    let mut context = Context::new(&SHA256);
    (0..password.len()).for_each(|_| context.update(password));
    let p = repeated(&finish(context), password.len());
    // 17 to 20: S, as long as the salt.
    let mut context = Context::new(&SHA256);
    (0..16 + usize::from(digest[0])).for_each(|_| context.update(salt));
    let s = repeated(&finish(context), salt.len());
    // 21: the rounds.
    for round in 0..rounds {
        let mut context = Context::new(&SHA256);
        context.update(if round & 1 != 0 { &p } else { &digest });
        if round % 3 != 0 {
            context.update(&s);
        }
        if round % 7 != 0 {
            context.update(&p);
        }
        context.update(if round & 1 != 0 { &digest } else { &p });
        digest = finish(context);
    }
    text(&digest)
}

fn finish(context: Context) -> [u8; 32] {
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

fn update_repeated(context: &mut Context, digest: &[u8; 32], mut length: usize) {
    while length > 32 {
        context.update(digest);
        length -= 32;
    }
    context.update(&digest[..length]);
}

fn repeated(digest: &[u8; 32], length: usize) -> Vec<u8> {
    digest.iter().copied().cycle().take(length).collect()
}

/// 22: six bits a character, of bytes in an order of the specification's own.
fn text(digest: &[u8; 32]) -> [u8; TEXT_BYTES] {
    let mut out = [0; TEXT_BYTES];
    let (mut a, mut b, mut c) = (0, 10, 20);
    for four in out.chunks_exact_mut(4) {
        let mut bits = u32::from(digest[a]) << 16 | u32::from(digest[b]) << 8 | u32::from(digest[c]);
        for character in four {
            *character = ALPHABET[(bits & 63) as usize];
            bits >>= 6;
        }
        (a, b, c) = (c + 1, a + 1, b + 1);
    }
    let mut bits = u32::from(digest[31]) << 8 | u32::from(digest[30]);
    for character in &mut out[40..] {
        *character = ALPHABET[(bits & 63) as usize];
        bits >>= 6;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `openssl passwd -5` and the C library's `crypt` say.
    #[test]
    fn the_same_digests_as_elsewhere() {
        let long = [b'x'; 100];
        type Example<'a> = (&'a [u8], &'a [u8], u32, &'a [u8]);
        let examples: [Example<'_>; 5] = [
            (b"Hello world!", b"saltstring", 5000, b"5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5"),
            (b"Hello world!", b"saltstringsaltst", 10000, b"3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA"),
            (&long, b"saltsalt", 1000, b"JNOV7s7vjB0PhhHN66UrF2vaTAa/vNtrNtsDt.YBfh6"),
            (
                b"we have a short salt string but not a short password",
                b"short",
                7777,
                b"ltSeJPozE.NJ.IS0ZKHDC7XvzB4EWtNqm6SxGtpv.61",
            ),
            (b"", b"empty", 5000, b"3K9/D2YPFYWGxmrKN0aBSx.KoWwkHU6Pdzn3GnrLXz6"),
        ];
        for (password, salt, rounds, expected) in examples {
            assert_eq!(sha256_crypt(password, salt, rounds).as_slice(), expected);
        }
    }
}
