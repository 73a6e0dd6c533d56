//! Authentication: who is it, and how is it proved without the password travelling in the clear.
//!
//! ```text
//! mysql_native_password    one answer:  SHA1(password) xor SHA1(scramble . SHA1(SHA1(password)))
//! caching_sha2_password    one answer:  SHA256(password) xor SHA256(SHA256(SHA256(password)) . scramble)
//!     the server has the inner digest in its cache  --> 01 03, done
//!     it has not                                    --> 01 04: send the password itself,
//!         over TLS or a local socket:   the password and a zero byte
//!         else:                         02 (your public key?) --> 01 PEM; then RSA-OAEP(password . 0 xor scramble)
//! ```
//!
//! - [`digest`]: the proofs.
//! - [`crypt`]: the slow digest that caching_sha2_password stores.
//! - [`verifier`]: what `mysql.user` stores, parsed and made.
//! - [`rsa`]: the key pair, and the public key as PEM.
//! - [`server`], [`client`]: the two ends as machines that take a packet and say what to do next.
//!
//! Invariants:
//! 1. Proofs and digests are compared in constant time.
//! 2. An account that does not exist is asked the same questions, and costs the same, as one that does.
//! 3. The client sends a password itself only over a secure transport, or encrypted with a key that its user allowed it
//!    to ask for.
//! 4. Passwords are overwritten when they are dropped.
//!
//! Source: "Authentication Method" chapters of the MySQL source documentation; the manual on the two plugins.

pub mod client;
pub mod crypt;
pub mod digest;
pub mod rsa;
pub mod server;
#[cfg(test)]
mod tests;
pub mod verifier;

/// The name of the plugin that MySQL had before 8.0.
pub const NATIVE_PASSWORD: &[u8] = b"mysql_native_password";
/// The name of the plugin that MySQL has since.
pub const CACHING_SHA2_PASSWORD: &[u8] = b"caching_sha2_password";

/// How an account proves itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Plugin {
    /// `mysql_native_password`.
    NativePassword,
    /// `caching_sha2_password`.
    CachingSha2Password,
}

impl Plugin {
    /// The plugin of that name.
    pub fn by_name(name: &[u8]) -> Option<Plugin> {
        match name {
            NATIVE_PASSWORD => Some(Plugin::NativePassword),
            CACHING_SHA2_PASSWORD => Some(Plugin::CachingSha2Password),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static [u8] {
        match self {
            Plugin::NativePassword => NATIVE_PASSWORD,
            Plugin::CachingSha2Password => CACHING_SHA2_PASSWORD,
        }
    }
}

/// A password, overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Password(Vec<u8>);

impl Password {
    /// Keeps a password. One that has a zero byte is cut there: the wire cannot say it.
    pub fn new(mut bytes: Vec<u8>) -> Password {
        if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
            bytes[end..].fill(0);
            bytes.truncate(end);
        }
        Password(bytes)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Password {
    fn drop(&mut self) {
        self.0.fill(0);
        std::hint::black_box(&self.0);
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password(..)")
    }
}

/// Twenty random bytes of seven bits, of which none is zero or `$`: what proofs are made with, and salts.
pub fn fresh_scramble() -> crate::greeting::Scramble {
    let mut scramble = [0; 20];
    // The system's source of randomness does not fail once it has been seeded; without it there is no safe way on.
    aws_lc_rs::rand::fill(&mut scramble).expect("the system gives random bytes");
    for byte in &mut scramble {
        *byte &= 0x7F;
        if *byte == 0 || *byte == b'$' {
            *byte += 1;
        }
    }
    scramble
}
