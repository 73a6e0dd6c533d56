//! The proofs that clients give, made and checked.
//!
//! Both have the same shape: the client sends the password's digest, hidden by a digest that only who knows the stored
//! one can make. The server takes the cover off and looks whether the digest of what is under it is the stored one.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

use crate::greeting::Scramble;

/// SHA-256 of pieces put together.
pub fn sha256(pieces: &[&[u8]]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    pieces.iter().for_each(|piece| context.update(piece));
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

/// SHA-1 of pieces put together.
pub fn sha1(pieces: &[&[u8]]) -> [u8; 20] {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    pieces.iter().for_each(|piece| context.update(piece));
    let mut digest = [0; 20];
    digest.copy_from_slice(context.finish().as_ref());
    digest
}

fn xor<const N: usize>(mut left: [u8; N], right: [u8; N]) -> [u8; N] {
    left.iter_mut().zip(right).for_each(|(left, right)| *left ^= right);
    left
}

/// Whether two are equal, in a time that does not say where they differ.
pub fn equal(left: &[u8], right: &[u8]) -> bool {
    verify_slices_are_equal(left, right).is_ok()
}

/// What `mysql.user` stores for mysql_native_password: SHA-1 of SHA-1.
pub fn native_stored(password: &[u8]) -> [u8; 20] {
    sha1(&[&sha1(&[password])])
}

/// The proof for mysql_native_password.
pub fn native_proof(password: &[u8], scramble: &Scramble) -> [u8; 20] {
    let first = sha1(&[password]);
    xor(first, sha1(&[scramble, &sha1(&[&first])]))
}

/// Whether the proof is that of the password that was stored.
pub fn native_proves(proof: &[u8], scramble: &Scramble, stored: &[u8; 20]) -> bool {
    let Ok(proof) = <[u8; 20]>::try_from(proof) else { return false };
    let first = xor(proof, sha1(&[scramble, stored]));
    equal(&sha1(&[&first]), stored)
}

/// What caching_sha2_password keeps in its cache: SHA-256 of SHA-256.
pub fn sha2_cached(password: &[u8]) -> [u8; 32] {
    sha256(&[&sha256(&[password])])
}

/// The proof for caching_sha2_password.
pub fn sha2_proof(password: &[u8], scramble: &Scramble) -> [u8; 32] {
    let first = sha256(&[password]);
    xor(first, sha256(&[&sha256(&[&first]), scramble]))
}

/// Whether the proof is that of the password whose digest is in the cache.
pub fn sha2_proves(proof: &[u8], scramble: &Scramble, cached: &[u8; 32]) -> bool {
    let Ok(proof) = <[u8; 32]>::try_from(proof) else { return false };
    let first = xor(proof, sha256(&[cached, scramble]));
    equal(&sha256(&[&first]), cached)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_prove_the_password_and_no_other() {
        let scramble = b"abcdefghijklmnopqrst";
        let (native, cached) = (native_stored(b"secret"), sha2_cached(b"secret"));
        assert!(native_proves(&native_proof(b"secret", scramble), scramble, &native));
        assert!(sha2_proves(&sha2_proof(b"secret", scramble), scramble, &cached));
        assert!(!native_proves(&native_proof(b"Secret", scramble), scramble, &native));
        assert!(!sha2_proves(&sha2_proof(b"Secret", scramble), scramble, &cached));
        assert!(!native_proves(&native_proof(b"secret", b"Abcdefghijklmnopqrst"), scramble, &native));
        assert!(!native_proves(b"", scramble, &native) && !sha2_proves(b"short", scramble, &cached));
    }
}
