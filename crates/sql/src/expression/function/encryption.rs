//! Hashes, compression, random bytes.
//!
//! Source: the manual's "Encryption and Compression Functions".

use std::io::{Read, Write};

use aws_lc_rs::digest;
use meseta_types::{Datum, SqlError};

use super::string::append_hex;
use super::{Env, Function, Site, pure, volatile};
use crate::error::{Error, Result};

pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "md5",
        1,
        1,
        |arguments| Ok(arguments.ascii(32)),
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            Ok(hexadecimal(site, &md5(text), env))
        },
    ),
    pure("sha", 1, 1, |arguments| Ok(arguments.ascii(40)), sha1),
    pure("sha1", 1, 1, |arguments| Ok(arguments.ascii(40)), sha1),
    pure(
        "sha2",
        2,
        2,
        |arguments| {
            let length = match arguments.constant_integer(1) {
                Some(224) => 56,
                Some(256 | 0) => 64,
                Some(384) => 96,
                Some(512) => 128,
                _ => 128,
            };
            Ok(arguments.ascii(length).nullable())
        },
        |site, env| {
            let text = site.text(0, env)?;
            let bits = site.signed(1, env)?;
            let (Some(text), Some(bits)) = (text, bits) else { return Ok(Datum::Null) };
            let algorithm = match bits {
                224 => &digest::SHA224,
                256 | 0 => &digest::SHA256,
                384 => &digest::SHA384,
                512 => &digest::SHA512,
                _ => {
                    let error = Error::new(meseta_errors::ER_WRONG_PARAMETERS_TO_NATIVE_FCT, &[&"sha2"]);
                    env.context.warnings.warn(super::warning(error));
                    return Ok(Datum::Null);
                }
            };
            Ok(hexadecimal(site, digest::digest(algorithm, text).as_ref(), env))
        },
    ),
    pure(
        "compress",
        1,
        1,
        |arguments| Ok(arguments.bytes(arguments.characters(0).saturating_mul(4).saturating_add(120)).nullable()),
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            if text.is_empty() {
                return Ok(site.made(b"", env));
            }
            let mut out = (text.len() as u32 & 0x3fff_ffff).to_le_bytes().to_vec();
            let mut encoder = flate2::write::ZlibEncoder::new(&mut out, flate2::Compression::default());
            let done = encoder.write_all(text).and_then(|()| encoder.finish().map(|_| ()));
            if done.is_err() {
                return Ok(Datum::Null);
            }
            // A blank at the end of a CHAR column would be cut off.
            if out.last() == Some(&b' ') {
                out.push(b'.');
            }
            Ok(site.made(&out, env))
        },
    ),
    pure(
        "uncompress",
        1,
        1,
        |arguments| Ok(arguments.bytes(u64::from(u32::MAX)).nullable()),
        |site, env| {
            let Some(bytes) = site.text(0, env)? else { return Ok(Datum::Null) };
            if bytes.is_empty() {
                return Ok(site.made(b"", env));
            }
            let refuse = |env: &mut Env<'_, '_>| {
                env.context.warnings.warn(SqlError::new(1259, "ZLIB: Input data corrupted"));
                Ok(Datum::Null)
            };
            let Some((header, rest)) = bytes.split_first_chunk::<4>().filter(|(_, rest)| !rest.is_empty()) else {
                return refuse(env);
            };
            let length = (u32::from_le_bytes(*header) & 0x3fff_ffff) as usize;
            if site.too_long(length, env) {
                return Ok(Datum::Null);
            }
            let mut out = Vec::new();
            let limit = length as u64 + 1;
            match flate2::read::ZlibDecoder::new(rest).take(limit).read_to_end(&mut out) {
                Ok(_) if out.len() <= length => Ok(site.made(&out, env)),
                _ => refuse(env),
            }
        },
    ),
    volatile(
        "random_bytes",
        1,
        1,
        |arguments| Ok(arguments.bytes(1024).nullable()),
        |site, env| {
            let Some(length) = site.signed(0, env)? else { return Ok(Datum::Null) };
            if !(1..=1024).contains(&length) {
                return Err(SqlError::new(1690, "length value is out of range in 'random_bytes'").into());
            }
            let out = env.arena.alloc_slice_fill_copy(length as usize, 0u8);
            env.host.random_bytes(out);
            Ok(Datum::Text(out, site.collation()))
        },
    ),
];

fn hexadecimal<'v>(site: Site<'v>, bytes: &[u8], env: &mut Env<'v, '_>) -> Datum<'v> {
    let mut out = Vec::with_capacity(2 * bytes.len());
    append_hex(bytes, false, &mut out);
    site.made(&out, env)
}

fn sha1<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
    Ok(hexadecimal(site, digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, text).as_ref(), env))
}

/// MD5, which a database needs and no library of ours has. Source: RFC 1321.
fn md5(bytes: &[u8]) -> [u8; 16] {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut state = [0x6745_2301u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend_from_slice(&(bytes.len() as u64).wrapping_mul(8).to_le_bytes());
    for block in message.chunks_exact(64) {
        let mut words = [0u32; 16];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64usize {
            let (mixed, at) = match step / 16 {
                0 => (b & c | !b & d, step),
                1 => (d & b | !d & c, (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), 7 * step % 16),
            };
            let constant = ((step as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a.wrapping_add(mixed).wrapping_add(constant).wrapping_add(words[at]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
        }
        for (word, add) in state.iter_mut().zip([a, b, c, d]) {
            *word = word.wrapping_add(add);
        }
    }
    let mut out = [0; 16];
    for (bytes, word) in out.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    out
}
