//! What `mysql.user` stores in `authentication_string`.
//!
//! ```text
//! mysql_native_password    *2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19     SHA-1 of SHA-1, in hexadecimal
//! caching_sha2_password    $A$005$ 20 bytes of salt, 43 characters of digest
//!                             ^^^ thousands of rounds, in hexadecimal
//! either                   (nothing)                                    no password
//! ```
//!
//! Source: the manual on the two plugins; what MySQL 9.7 stores.

use super::Plugin;
use super::crypt::{TEXT_BYTES, sha256_crypt};
use super::digest::{equal, native_stored};

/// Rounds when nothing else is said (`caching_sha2_password_digest_rounds` of MySQL 8).
pub const DEFAULT_ROUNDS: u32 = 5000;
const SALT_BYTES: usize = 20;

/// A stored password, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verifier {
    /// The account has no password.
    Empty,
    /// Of mysql_native_password.
    Native([u8; 20]),
    /// Of caching_sha2_password.
    Sha2(Sha2Verifier),
    /// Nothing is looked at: a server that lets everybody in. It is never stored.
    Anything,
}

/// A salted, slow digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sha2Verifier {
    /// A multiple of a thousand, to 0xFFF thousand.
    pub rounds: u32,
    /// Any bytes.
    pub salt: [u8; SALT_BYTES],
    /// What [`sha256_crypt`] makes.
    pub digest: [u8; TEXT_BYTES],
}

impl Verifier {
    /// Reads what is stored for an account of that plugin. `None` if it is not of that plugin's form: the account
    /// cannot log in.
    pub fn parse(plugin: Plugin, stored: &[u8]) -> Option<Verifier> {
        if stored.is_empty() {
            return Some(Verifier::Empty);
        }
        match plugin {
            Plugin::NativePassword => {
                let hexadecimal: &[u8; 40] = stored.strip_prefix(b"*")?.try_into().ok()?;
                let mut digest = [0; 20];
                for (byte, pair) in digest.iter_mut().zip(hexadecimal.chunks_exact(2)) {
                    *byte = (hexadecimal_digit(pair[0])? << 4) | hexadecimal_digit(pair[1])?;
                }
                Some(Verifier::Native(digest))
            }
            Plugin::CachingSha2Password => {
                let (thousands, rest) = stored.strip_prefix(b"$A$")?.split_first_chunk::<3>()?;
                let mut rounds = 0;
                for &digit in thousands {
                    rounds = rounds << 4 | u32::from(hexadecimal_digit(digit)?);
                }
                let (salt, digest) = rest.strip_prefix(b"$")?.split_first_chunk::<SALT_BYTES>()?;
                let digest = *<&[u8; TEXT_BYTES]>::try_from(digest).ok()?;
                (rounds > 0).then_some(Verifier::Sha2(Sha2Verifier { rounds: rounds * 1000, salt: *salt, digest }))
            }
        }
    }

    /// Makes what is to be stored. `salt` and `rounds` are of caching_sha2_password only; rounds are brought to a whole
    /// number of thousands. No password makes [`Verifier::Empty`]. Slow, as it is meant to be.
    pub fn of_password(plugin: Plugin, password: &[u8], salt: [u8; SALT_BYTES], rounds: u32) -> Verifier {
        if password.is_empty() {
            return Verifier::Empty;
        }
        match plugin {
            Plugin::NativePassword => Verifier::Native(native_stored(password)),
            Plugin::CachingSha2Password => {
                let rounds = (rounds / 1000).clamp(1, 0xFFF) * 1000;
                Verifier::Sha2(Sha2Verifier { rounds, salt, digest: sha256_crypt(password, &salt, rounds) })
            }
        }
    }

    /// As it is stored: bytes, not always text.
    pub fn stored(&self) -> Vec<u8> {
        match self {
            Verifier::Empty | Verifier::Anything => Vec::new(),
            Verifier::Native(digest) => {
                let hexadecimal: String = digest.iter().map(|byte| format!("{byte:02X}")).collect();
                format!("*{hexadecimal}").into_bytes()
            }
            Verifier::Sha2(Sha2Verifier { rounds, salt, digest }) => {
                let mut stored = format!("$A${:03X}$", rounds / 1000).into_bytes();
                stored.extend_from_slice(salt);
                stored.extend_from_slice(digest);
                stored
            }
        }
    }

    /// Whether that is the password. Slow for caching_sha2_password: some milliseconds.
    pub fn matches(&self, password: &[u8]) -> bool {
        match self {
            Verifier::Empty => password.is_empty(),
            Verifier::Native(digest) => equal(&native_stored(password), digest),
            Verifier::Sha2(verifier) => verifier.matches(password),
            Verifier::Anything => true,
        }
    }
}

impl Sha2Verifier {
    /// Whether that is the password. Some milliseconds.
    pub fn matches(&self, password: &[u8]) -> bool {
        equal(&sha256_crypt(password, &self.salt, self.rounds), &self.digest)
    }

    /// One that no password matches and that costs as much as any.
    pub(crate) fn decoy() -> Sha2Verifier {
        Sha2Verifier { rounds: DEFAULT_ROUNDS, salt: [b'x'; SALT_BYTES], digest: [b'*'; TEXT_BYTES] }
    }
}

fn hexadecimal_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_mysql_stored_is_understood() {
        // SELECT authentication_string for a password of "bench", on MySQL 9.7 with 10,000 rounds.
        let stored = b"$A$00A$\x5B\x7A\x35\x62\x47\x17\x6B\x72\x34\x0F\x04\x56\x7A\x7D\x4E\x1D\x13\x4A\x18\x50\
                       QePAxgF1NNZ6Z1QuLRWQoWtbrHz3EaT1ve.5fxBorZ6";
        let verifier = Verifier::parse(Plugin::CachingSha2Password, stored).unwrap();
        assert!(matches!(verifier, Verifier::Sha2(Sha2Verifier { rounds: 10_000, .. })));
        assert!(verifier.matches(b"bench") && !verifier.matches(b"Bench"));
        assert_eq!(verifier.stored(), stored);
        // The manual's example for PASSWORD('mypass').
        let stored = b"*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4";
        let verifier = Verifier::parse(Plugin::NativePassword, stored).unwrap();
        assert!(verifier.matches(b"mypass") && !verifier.matches(b""));
        assert_eq!(verifier.stored(), stored);
    }

    #[test]
    fn what_is_made_is_understood() {
        for plugin in [Plugin::NativePassword, Plugin::CachingSha2Password] {
            let made = Verifier::of_password(plugin, b"pass", [b'q'; 20], 5000);
            assert_eq!(Verifier::parse(plugin, &made.stored()), Some(made.clone()));
            assert!(made.matches(b"pass") && !made.matches(b"word"));
            assert_eq!(Verifier::of_password(plugin, b"", [0; 20], 5000).stored(), b"");
        }
    }

    #[test]
    fn what_is_not_of_the_form_opens_nothing() {
        for stored in [&b"*6C89"[..], b"x", b"$A$005$short", b"$A$000$", b"*ZZ89366EAF75BB670AD8EA7A7FC1176A95CEF4AA"] {
            assert_eq!(Verifier::parse(Plugin::NativePassword, stored), None);
            assert_eq!(Verifier::parse(Plugin::CachingSha2Password, stored), None);
        }
        // The form of accounts that cannot log in, as MySQL stores it for its own.
        let stored = b"$A$005$THISISACOMBINATIONOFINVALIDSALTANDPASSWORDTHATMUSTNEVERBRBEUSED";
        let verifier = Verifier::parse(Plugin::CachingSha2Password, stored);
        assert!(!verifier.is_some_and(|verifier| verifier.matches(b"")));
    }
}
