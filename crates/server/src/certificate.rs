//! Who a client's certificate is of, and who issued it, as accounts REQUIRE them.
//!
//! ```text
//! Certificate ::= SEQUENCE { tbs SEQUENCE { [0] version, serial, algorithm, issuer Name, validity, subject Name, .. }, .. }
//! Name        ::= SEQUENCE OF SET OF SEQUENCE { type OBJECT IDENTIFIER, value string }
//!
//! /C=SE/ST=Stockholm/O=Example/CN=client/emailAddress=client@example.com        a Name, in its own order
//! ```
//!
//! The certificate has been verified when it comes here; all that is read is its names. What is not as it should be
//! gives none, and such a certificate is nobody's.
//!
//! Source: RFC 5280 and X.690; the form of the text is that of MySQL's manual, "CREATE USER SSL/TLS Options".

use std::fmt::Write;

/// Whose a verified certificate is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Certificate {
    /// `/C=SE/CN=client`.
    pub subject: String,
    /// `/C=SE/CN=authority`.
    pub issuer: String,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;
const VERSION: u8 = 0xA0;
const WIDE_STRING: u8 = 0x1E;

/// Types of names, as they are encoded, and what they are called.
const NAMES: &[(&[u8], &str)] = &[
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "street"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 12], "title"),
    (&[0x55, 4, 42], "GN"),
    (&[0x55, 4, 43], "initials"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1], "emailAddress"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1, 1], "UID"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1, 25], "DC"),
];

impl Certificate {
    /// Of a certificate in DER.
    pub fn read(der: &[u8]) -> Option<Certificate> {
        let (whole, _) = element(der, SEQUENCE)?;
        let (mut rest, _) = element(whole, SEQUENCE)?;
        if rest.first() == Some(&VERSION) {
            (_, rest) = element(rest, VERSION)?;
        }
        (_, rest) = any(rest)?;
        (_, rest) = any(rest)?;
        let (issuer, rest) = element(rest, SEQUENCE)?;
        let (_, rest) = any(rest)?;
        let (subject, _) = element(rest, SEQUENCE)?;
        Some(Certificate { subject: name(subject)?, issuer: name(issuer)? })
    }
}

/// The content of the first element, and what is behind it.
fn any(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[_, first], mut rest) = bytes.split_first_chunk()?;
    let mut length = usize::from(first);
    if first & 0x80 != 0 {
        let count = usize::from(first & 0x7F);
        let digits = rest.get(..count).filter(|digits| (1..=4).contains(&digits.len()))?;
        length = digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit));
        rest = &rest[count..];
    }
    rest.split_at_checked(length)
}

/// The same, of an element with this tag.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    (bytes.first() == Some(&tag)).then(|| any(bytes))?
}

/// A name as a text.
fn name(mut parts: &[u8]) -> Option<String> {
    let mut text = String::new();
    while !parts.is_empty() {
        let (mut set, rest) = element(parts, SET)?;
        parts = rest;
        let mut separator = '/';
        while !set.is_empty() {
            let (pair, rest) = element(set, SEQUENCE)?;
            set = rest;
            let (kind, value) = element(pair, OBJECT_IDENTIFIER)?;
            let (characters, _) = any(value)?;
            text.push(separator);
            separator = '+';
            append_kind(kind, &mut text);
            text.push('=');
            // Of characters of two bytes, those of one are shown.
            let is_wide = value.first() == Some(&WIDE_STRING);
            let shown = characters.iter().enumerate().filter(|(at, byte)| !is_wide || at % 2 == 1 || **byte != 0);
            for (_, byte) in shown {
                match byte {
                    b' '..=b'~' => text.push(char::from(*byte)),
                    byte => {
                        let _ = write!(text, "\\x{byte:02X}");
                    }
                }
            }
        }
    }
    Some(text)
}

/// What a type is called; its numbers, if it has no name.
fn append_kind(kind: &[u8], text: &mut String) {
    if let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == kind) {
        return text.push_str(name);
    }
    let mut number: u64 = 0;
    let mut is_first = true;
    for byte in kind {
        number = number.wrapping_shl(7) | u64::from(byte & 0x7F);
        if byte & 0x80 != 0 {
            continue;
        }
        let _ = match is_first {
            true => write!(text, "{}.{}", (number / 40).min(2), number - 40 * (number / 40).min(2)),
            false => write!(text, ".{number}"),
        };
        (number, is_first) = (0, false);
    }
}

/// A cipher suite as OpenSSL and MySQL name it (`Ssl_cipher`, REQUIRE CIPHER), from the name that standards have.
pub(crate) fn cipher_name(suite: rustls::CipherSuite) -> &'static str {
    use rustls::CipherSuite as S;
    match suite {
        S::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        S::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        S::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        S::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 => "ECDHE-ECDSA-AES128-GCM-SHA256",
        S::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 => "ECDHE-ECDSA-AES256-GCM-SHA384",
        S::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 => "ECDHE-ECDSA-CHACHA20-POLY1305",
        S::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 => "ECDHE-RSA-AES128-GCM-SHA256",
        S::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 => "ECDHE-RSA-AES256-GCM-SHA384",
        S::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 => "ECDHE-RSA-CHACHA20-POLY1305",
        other => other.as_str().unwrap_or(""),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DistinguishedName, DnType, DnValue, KeyPair};

    use super::*;

    #[test]
    fn names_are_those_of_openssl() {
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let mut name = DistinguishedName::new();
        name.push(DnType::CountryName, DnValue::PrintableString("SE".try_into().unwrap()));
        name.push(DnType::OrganizationName, "M\u{fc}ller");
        name.push(DnType::CommonName, "a client");
        name.push(DnType::CustomDnType(vec![1, 2, 840, 113_549, 1, 9, 1]), "a@b");
        name.push(DnType::CustomDnType(vec![2, 999, 3]), "x");
        parameters.distinguished_name = name;
        let der = parameters.self_signed(&KeyPair::generate().unwrap()).unwrap().der().to_vec();
        let read = Certificate::read(&der).unwrap();
        assert_eq!(read.subject, "/C=SE/O=M\\xC3\\xBCller/CN=a client/emailAddress=a@b/2.999.3=x");
        assert_eq!(read.issuer, read.subject);
        for end in 0..der.len() {
            // What is cut off is none, and no panic.
            let _ = Certificate::read(&der[..end]);
        }
        assert_eq!(Certificate::read(&der[..der.len() - 1]), None);
        assert_eq!(Certificate::read(b"\x30\x84\xFF\xFF\xFF\xFF"), None);
    }
}
