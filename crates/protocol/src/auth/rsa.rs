//! The key pair by which a client can send a password where there is no TLS.
//!
//! The server makes one when it starts (or reads it from a file); the client asks for the public half, as PEM, hides
//! `password . 0` under the scramble, repeated, and encrypts it with RSA-OAEP (SHA-1 inside, as the protocol has it).
//!
//! This protects from who listens, not from who stands in the middle: the key comes over the same wire. Clients ask
//! for it only if their user allows it.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rsa::{
    KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, PrivateDecryptingKey,
    PublicEncryptingKey,
};

use super::Password;
use crate::error::{ProtocolError, Result};
use crate::greeting::Scramble;

/// A private key, with its public half as PEM.
pub struct KeyPair {
    private: OaepPrivateDecryptingKey,
    pkcs8: Vec<u8>,
    public_pem: Vec<u8>,
}

impl std::fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyPair").finish_non_exhaustive()
    }
}

impl KeyPair {
    /// Makes a key of 2048 bits. Takes a tenth of a second and more: once, at the start.
    pub fn generate() -> Option<KeyPair> {
        KeyPair::of_private(PrivateDecryptingKey::generate(KeySize::Rsa2048).ok()?)
    }

    /// Reads a private key: the DER of PKCS #8, as [`KeyPair::pkcs8`] gives it.
    pub fn from_pkcs8(der: &[u8]) -> Option<KeyPair> {
        KeyPair::of_private(PrivateDecryptingKey::from_pkcs8(der).ok()?)
    }

    fn of_private(key: PrivateDecryptingKey) -> Option<KeyPair> {
        let pkcs8: Pkcs8V1Der<'_> = key.as_der().ok()?;
        let public: PublicKeyX509Der<'_> = key.public_key().as_der().ok()?;
        Some(KeyPair {
            pkcs8: pkcs8.as_ref().to_vec(),
            public_pem: pem(public.as_ref()),
            private: OaepPrivateDecryptingKey::new(key).ok()?,
        })
    }

    /// The private key, to be kept in a file that nobody else reads.
    pub fn pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    /// The public key, as a client is sent it.
    pub fn public_pem(&self) -> &[u8] {
        &self.public_pem
    }

    /// The password in a client's answer; nothing if it was not made with this key and scramble.
    pub fn decrypt(&self, encrypted: &[u8], scramble: &Scramble) -> Option<Password> {
        let mut room = vec![0; self.private.min_output_size()];
        let plain = self.private.decrypt(&OAEP_SHA1_MGF1SHA1, encrypted, &mut room, None).ok()?;
        hide(plain, scramble);
        let password = plain.strip_suffix(b"\0").map(|password| Password::new(password.to_vec()));
        room.fill(0);
        password
    }
}

/// The answer of a client: `password`, a zero byte after it, hidden and encrypted with the server's key.
///
/// # Errors
/// [`ProtocolError::Malformed`] if what the server sent is no public key, or the password is too long for it.
pub fn encrypt(password: &[u8], scramble: &Scramble, public_pem: &[u8]) -> Result<Vec<u8>> {
    let refused = ProtocolError::Malformed("public key");
    let der = un_pem(public_pem).ok_or(refused)?;
    let key = PublicEncryptingKey::from_der(&der).map_err(|_| refused)?;
    let key = OaepPublicEncryptingKey::new(key).map_err(|_| refused)?;
    let mut plain = [password, b"\0"].concat();
    hide(&mut plain, scramble);
    let mut room = vec![0; key.ciphertext_size()];
    let length = key.encrypt(&OAEP_SHA1_MGF1SHA1, &plain, &mut room, None).map_err(|_| refused)?.len();
    plain.fill(0);
    room.truncate(length);
    Ok(room)
}

fn hide(bytes: &mut [u8], scramble: &Scramble) {
    bytes.iter_mut().zip(scramble.iter().cycle()).for_each(|(byte, scramble)| *byte ^= scramble);
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const FIRST_LINE: &[u8] = b"-----BEGIN PUBLIC KEY-----";
const LAST_LINE: &[u8] = b"-----END PUBLIC KEY-----";

/// DER as PEM: base64 in lines of 64 characters.
fn pem(der: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for three in der.chunks(3) {
        let bits = three.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let character = ALPHABET[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= three.len() { character } else { b'=' });
        }
    }
    let mut out = [FIRST_LINE, b"\n"].concat();
    for line in text.chunks(64) {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.extend_from_slice(LAST_LINE);
    out.push(b'\n');
    out
}

fn un_pem(pem: &[u8]) -> Option<Vec<u8>> {
    let find = |needle: &[u8]| pem.windows(needle.len()).position(|window| window == needle);
    let body = pem.get(find(FIRST_LINE)? + FIRST_LINE.len()..find(LAST_LINE)?)?;
    let mut out = Vec::with_capacity(body.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for &character in body.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != b'=') {
        bits = bits << 6 | ALPHABET.iter().position(|&known| known == character)? as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_travels_encrypted() {
        let pair = KeyPair::generate().unwrap();
        let scramble = b"abcdefghijklmnopqrst";
        let password = b"a password that is longer than the scramble";
        let encrypted = encrypt(password, scramble, pair.public_pem()).unwrap();
        assert_eq!(encrypted.len(), 256);
        assert_eq!(pair.decrypt(&encrypted, scramble).unwrap().bytes(), password);
        assert_eq!(pair.decrypt(&encrypted[1..], scramble), None);
        let again = KeyPair::from_pkcs8(pair.pkcs8()).unwrap();
        assert_eq!(again.public_pem(), pair.public_pem());
        assert_eq!(again.decrypt(&encrypted, scramble).unwrap().bytes(), password);
        assert!(encrypt(&[b'x'; 300], scramble, pair.public_pem()).is_err());
        assert!(encrypt(password, scramble, b"no key").is_err());
    }

    #[test]
    fn pem_comes_back() {
        for length in 0..200 {
            let der: Vec<u8> = (0..length).map(|i| (i * 77) as u8).collect();
            assert_eq!(un_pem(&pem(&der)), Some(der));
        }
        assert_eq!(un_pem(b"-----END PUBLIC KEY----------BEGIN PUBLIC KEY-----"), None);
    }
}
