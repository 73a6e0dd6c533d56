//! AES_ENCRYPT and AES_DECRYPT: keys of any length, in the session's `block_encryption_mode`.
//!
//! ```text
//!   key  --folded, or by a key derivation function-->  16, 24 or 32 bytes
//!   ecb, cbc: whole blocks, padded             cfb1, cfb8, cfb128, ofb: as many bytes as there are
//! ```
//!
//! What does not decrypt is NULL. Errors: 1582 (no initialization vector), 1882 (a short one), 3235 to 3238 (key derivation).
//!
//! Source: the manual's "Encryption and Compression Functions"; texts and warnings by experiment.

use std::num::NonZeroU32;

use aws_lc_rs::cipher::{
    AES_128, AES_192, AES_256, Algorithm, DecryptionContext, EncryptionContext, StreamingDecryptingKey,
    StreamingEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::{hkdf, iv, pbkdf2};
use meseta_types::{Datum, SqlError};

use super::{Env, Function, Site, statement};
use crate::error::{Error, Result};

pub(super) static FUNCTIONS: &[Function] = &[
    statement(
        "aes_encrypt",
        2,
        6,
        |arguments| {
            Ok(arguments.bytes((arguments.characters(0).saturating_mul(4) / 16 + 1).saturating_mul(16)).nullable())
        },
        |site, env| crypt(site, env, encrypted),
    ),
    statement(
        "aes_decrypt",
        2,
        6,
        |arguments| Ok(arguments.bytes(arguments.characters(0)).nullable()),
        |site, env| crypt(site, env, decrypted),
    ),
];

/// How blocks are chained.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chaining {
    Ecb,
    Cbc,
    Cfb1,
    Cfb8,
    Cfb128,
    Ofb,
}

impl Chaining {
    fn is_padded(self) -> bool {
        matches!(self, Chaining::Ecb | Chaining::Cbc)
    }
}

type Crypt = fn(Chaining, UnboundCipherKey, [u8; BLOCK], &[u8]) -> std::result::Result<Vec<u8>, Unspecified>;

/// Bytes of a block, and of an initialization vector.
const BLOCK: usize = 16;

/// `aes-256-cbc`: the cipher, the bytes of its key, the chaining.
fn mode(name: &str) -> Option<(&'static Algorithm, usize, Chaining)> {
    let (bits, chaining) = name.strip_prefix("aes-")?.split_once('-')?;
    let (algorithm, length) = match bits {
        "128" => (&AES_128, 16),
        "192" => (&AES_192, 24),
        "256" => (&AES_256, 32),
        _ => return None,
    };
    let chaining = match chaining {
        "ecb" => Chaining::Ecb,
        "cbc" => Chaining::Cbc,
        "cfb1" => Chaining::Cfb1,
        "cfb8" => Chaining::Cfb8,
        "cfb128" => Chaining::Cfb128,
        "ofb" => Chaining::Ofb,
        _ => return None,
    };
    Some((algorithm, length, chaining))
}

fn crypt<'v>(site: Site<'v>, env: &mut Env<'v, '_>, crypt: Crypt) -> Result<Datum<'v>> {
    let name = site.call.function.name;
    let Some((algorithm, length, chaining)) = mode(env.host.block_encryption_mode()) else {
        return Err(Error::not_yet("this block_encryption_mode"));
    };
    let (text, key) = (site.text(0, env)?, site.text(1, env)?);
    let (Some(text), Some(key)) = (text, key) else { return Ok(Datum::Null) };
    let mut vector = [0; BLOCK];
    if chaining == Chaining::Ecb {
        if site.count() == 3 && site.text(2, env)?.is_some() {
            env.context.warnings.warn(SqlError::new(1618, "<IV> option ignored"));
        }
    } else if site.count() < 3 {
        return Err(Error::new(meseta_errors::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, &[&name]));
    } else {
        let given = site.text(2, env)?.unwrap_or_default();
        let Some(given) = given.first_chunk::<BLOCK>() else {
            let message = format!(
                "The initialization vector supplied to {name} is too short. Must be at least {BLOCK} bytes long"
            );
            return Err(SqlError::new(1882, message).into());
        };
        vector = *given;
    }
    let key = if site.count() > 3 { derived_key(site, key, length, env)? } else { folded_key(key, length, env) };
    if chaining.is_padded() && name == "aes_decrypt" && (text.is_empty() || !text.len().is_multiple_of(BLOCK)) {
        return Ok(Datum::Null);
    }
    if text.is_empty() && !chaining.is_padded() {
        return Ok(site.made(b"", env));
    }
    let made = UnboundCipherKey::new(algorithm, &key).and_then(|key| crypt(chaining, key, vector, text));
    Ok(made.map_or(Datum::Null, |made| site.made(&made, env)))
}

fn encrypted(
    chaining: Chaining,
    key: UnboundCipherKey,
    vector: [u8; BLOCK],
    text: &[u8],
) -> std::result::Result<Vec<u8>, Unspecified> {
    let context = EncryptionContext::Iv128(iv::FixedLength::from(vector));
    let mut key = match chaining {
        Chaining::Ecb => StreamingEncryptingKey::ecb_pkcs7(key),
        Chaining::Cbc => StreamingEncryptingKey::less_safe_cbc_pkcs7(key, context),
        Chaining::Cfb1 => StreamingEncryptingKey::less_safe_cfb1(key, context),
        Chaining::Cfb8 => StreamingEncryptingKey::less_safe_cfb8(key, context),
        Chaining::Cfb128 => StreamingEncryptingKey::less_safe_cfb128(key, context),
        Chaining::Ofb => StreamingEncryptingKey::less_safe_ofb(key, context),
    }?;
    let mut out = vec![0; text.len() + 2 * BLOCK];
    let written = key.update(text, &mut out)?.written().len();
    let (_, last) = key.finish(&mut out[written..])?;
    let length = written + last.written().len();
    out.truncate(length);
    Ok(out)
}

fn decrypted(
    chaining: Chaining,
    key: UnboundCipherKey,
    vector: [u8; BLOCK],
    bytes: &[u8],
) -> std::result::Result<Vec<u8>, Unspecified> {
    let context = DecryptionContext::Iv128(iv::FixedLength::from(vector));
    let mut key = match chaining {
        Chaining::Ecb => StreamingDecryptingKey::ecb_pkcs7(key, DecryptionContext::None),
        Chaining::Cbc => StreamingDecryptingKey::cbc_pkcs7(key, context),
        Chaining::Cfb1 => StreamingDecryptingKey::cfb1(key, context),
        Chaining::Cfb8 => StreamingDecryptingKey::cfb8(key, context),
        Chaining::Cfb128 => StreamingDecryptingKey::cfb128(key, context),
        Chaining::Ofb => StreamingDecryptingKey::ofb(key, context),
    }?;
    let mut out = vec![0; bytes.len() + 2 * BLOCK];
    let written = key.update(bytes, &mut out)?.written().len();
    let last = key.finish(&mut out[written..])?;
    let length = written + last.written().len();
    out.truncate(length);
    Ok(out)
}

/// A key of any length as one of so many bytes.
fn folded_key(key: &[u8], length: usize, env: &mut Env<'_, '_>) -> Vec<u8> {
    if key.len() > length {
        let message = format!(
            "AES key size should be {length} bytes length or secure KDF methods hkdf or pbkdf2_hmac should be used, \
             please provide exact AES key size or use KDF methods for better security."
        );
        env.context.warnings.warn(SqlError::new(3237, message));
    }
    let mut out = vec![0; length];
    for (place, byte) in key.iter().enumerate() {
        out[place % length] ^= byte;
    }
    out
}

/// Bytes that are wanted of a key derivation function.
struct KeyLength(usize);

impl hkdf::KeyType for KeyLength {
    fn len(&self) -> usize {
        self.0
    }
}

/// A key made by a key derivation function: `hkdf`, salt, info; or `pbkdf2_hmac`, salt, iterations.
fn derived_key<'v>(site: Site<'v>, key: &[u8], length: usize, env: &mut Env<'v, '_>) -> Result<Vec<u8>> {
    let mut option = |number: usize| -> Result<&'v [u8]> {
        if number >= site.count() {
            return Ok(b"");
        }
        match site.text(number, env)? {
            Some(option) if option.len() < 256 => Ok(option),
            _ => Err(SqlError::new(
                3238,
                "KDF option size is invalid, please provide valid size < 256 bytes and not NULL",
            )
            .into()),
        }
    };
    let (function, salt, last) = (option(3)?, option(4)?, option(5)?);
    let mut out = vec![0; length];
    match function {
        b"hkdf" => {
            let made = hkdf::Salt::new(hkdf::HKDF_SHA512, salt).extract(key);
            let made = made.expand(&[last], KeyLength(length)).and_then(|made| made.fill(&mut out));
            made.map_err(|_| Error::not_yet("a key of this length"))?;
        }
        b"pbkdf2_hmac" => {
            let iterations = match last {
                b"" if site.count() < 6 => Some(1000),
                digits => std::str::from_utf8(digits).ok().and_then(|digits| digits.trim().parse().ok()),
            };
            let iterations = iterations.filter(|count| (1000..=65_535).contains(count)).and_then(NonZeroU32::new);
            let Some(iterations) = iterations else {
                return Err(SqlError::new(
                    3236,
                    "For KDF method pbkdf2_hmac iterations value less than 1000 or more than 65535 is not allowed due to \
                     security reasons. Please provide iterations >= 1000 and iterations < 65535",
                )
                .into());
            };
            pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA512, iterations, salt, key, &mut out);
        }
        _ => {
            return Err(SqlError::new(
                3235,
                "KDF method name is not valid. Please use hkdf or pbkdf2_hmac method name",
            )
            .into());
        }
    }
    Ok(out)
}
