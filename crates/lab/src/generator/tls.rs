//! TLS of the lab's connections: what is asked for and verified, and the bytes between socket and packets.
//!
//! | `--mysql-ssl` | what it asks for |
//! |---|---|
//! | `off`, `disabled` | no TLS |
//! | `on`, `required` | TLS; whoever answers is believed |
//! | `verify_ca` | and its certificate leads to one of `--mysql-ssl-ca` |
//! | `verify_identity` | and is of the host's name |
//!
//! When it fails: files that cannot be read are named before anything is connected; what the handshake refuses ends the
//! connection ([`Failure::Lost`]) and says why.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

use super::{Failure, Result};

/// What of a certificate is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    /// Nothing.
    Nothing,
    /// Who signed it.
    Authority,
    /// Who signed it, and whose it is.
    Identity,
}

/// What TLS is to be like, by its options.
#[derive(Debug, Clone, Copy)]
pub struct TlsOptions<'a> {
    /// `--mysql-ssl`.
    pub mode: &'a str,
    /// `--mysql-ssl-ca`: certificates that are believed, or empty.
    pub authority: &'a str,
    /// `--mysql-ssl-cert`: the client's own, or empty.
    pub certificate: &'a str,
    /// `--mysql-ssl-key`: its key.
    pub key: &'a str,
    /// `--mysql-ssl-cipher`: names, as OpenSSL has them, separated by colons; or empty.
    pub ciphers: &'a str,
}

/// What connections begin TLS with; nothing if there is to be none.
///
/// # Errors
/// One line.
pub fn configure(options: &TlsOptions<'_>) -> std::result::Result<Option<Arc<ClientConfig>>, String> {
    let mode = options.mode.to_ascii_lowercase().replace('-', "_");
    let verify = match mode.as_str() {
        "off" | "no" | "false" | "0" | "disabled" => return Ok(None),
        "on" | "yes" | "true" | "1" | "required" => Verify::Nothing,
        "verify_ca" => Verify::Authority,
        "verify_identity" => Verify::Identity,
        "preferred" => {
            return Err("--mysql-ssl=preferred: a measurement has to know which: disabled or required".to_owned());
        }
        _ => return Err(format!("--mysql-ssl={}: disabled, required, verify_ca or verify_identity", options.mode)),
    };
    let provider = Arc::new(provider(options.ciphers)?);
    let verifier = verifier(verify, options.authority, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("--mysql-ssl: {error}"))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let config = match (options.certificate, options.key) {
        ("", "") => builder.with_no_client_auth(),
        ("", _) | (_, "") => return Err("--mysql-ssl-cert and --mysql-ssl-key belong together".to_owned()),
        (certificate, key) => {
            let secret =
                PrivateKeyDer::from_pem_file(key).map_err(|error| format!("--mysql-ssl-key={key}: {error}"))?;
            builder
                .with_client_auth_cert(certificates("mysql-ssl-cert", certificate)?, secret)
                .map_err(|error| format!("--mysql-ssl-cert={certificate}: {error}"))?
        }
    };
    Ok(Some(Arc::new(config)))
}

/// The algorithms, and of the cipher suites those that are named.
fn provider(names: &str) -> std::result::Result<CryptoProvider, String> {
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    if names.is_empty() {
        return Ok(provider);
    }
    let name_of = |suite: &rustls::SupportedCipherSuite| {
        // OpenSSL's names: TLS_AES_256_GCM_SHA384 as it is, TLS_ECDHE_RSA_WITH_AES_.. as ECDHE-RSA-AES...
        let name = suite.suite().as_str().unwrap_or_default().replace("TLS13_", "TLS_");
        if name.starts_with("TLS_ECDHE") {
            name.replace("TLS_", "")
                .replace("WITH_", "")
                .replace("AES_", "AES")
                .replace('_', "-")
                .replace("CHACHA20-POLY1305-SHA256", "CHACHA20-POLY1305")
        } else {
            name
        }
    };
    let known: Vec<String> = provider.cipher_suites.iter().map(name_of).collect();
    for name in names.split(':') {
        if !known.iter().any(|known| known == name) {
            return Err(format!("--mysql-ssl-cipher={name}: there are {}", known.join(":")));
        }
    }
    provider.cipher_suites.retain(|suite| names.split(':').any(|name| name == name_of(suite)));
    Ok(provider)
}

fn certificates(option: &str, path: &str) -> std::result::Result<Vec<CertificateDer<'static>>, String> {
    let read =
        CertificateDer::pem_file_iter(Path::new(path)).and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>);
    match read {
        Ok(read) if read.is_empty() => Err(format!("--{option}={path}: there is no certificate in it")),
        Ok(read) => Ok(read),
        Err(error) => Err(format!("--{option}={path}: {error}")),
    }
}

fn verifier(
    verify: Verify,
    authority: &str,
    provider: &Arc<CryptoProvider>,
) -> std::result::Result<Arc<dyn ServerCertVerifier>, String> {
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    if verify == Verify::Nothing {
        return Ok(Arc::new(Lenient { schemes, chain: None }));
    }
    if authority.is_empty() {
        return Err("--mysql-ssl=verify_..: which certificates are to be believed? --mysql-ssl-ca=FILE".to_owned());
    }
    let mut roots = RootCertStore::empty();
    for certificate in certificates("mysql-ssl-ca", authority)? {
        roots.add(certificate).map_err(|error| format!("--mysql-ssl-ca={authority}: {error}"))?;
    }
    let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|error| format!("--mysql-ssl-ca={authority}: {error}"))?;
    if verify == Verify::Identity { Ok(chain) } else { Ok(Arc::new(Lenient { schemes, chain: Some(chain) })) }
}

/// Believes any name; and anybody, unless there is a chain to verify.
#[derive(Debug)]
struct Lenient {
    schemes: Vec<SignatureScheme>,
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The chain is verified before the name is.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        match &self.chain {
            Some(chain) => chain.verify_tls12_signature(message, certificate, signed),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, Error> {
        match &self.chain {
            Some(chain) => chain.verify_tls13_signature(message, certificate, signed),
            None => Ok(HandshakeSignatureValid::assertion()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

/// The client's end of TLS, for a server of that name.
///
/// # Errors
/// [`Failure::Lost`]: it is no name.
pub fn client(config: &Arc<ClientConfig>, host: &str) -> Result<ClientConnection> {
    // A socket of this machine has no name.
    let host = if host.is_empty() { "localhost" } else { host };
    let name = ServerName::try_from(host.to_owned()).map_err(|error| Failure::Lost(format!("{host}: {error}")))?;
    let mut client = ClientConnection::new(config.clone(), name).map_err(|error| failed(&error))?;
    // A statement is sent whole, whatever its length.
    client.set_buffer_limit(None);
    Ok(client)
}

/// Encrypts `bytes` into `to`.
///
/// # Errors
/// [`Failure::Lost`].
pub fn seal(tls: &mut ClientConnection, bytes: &[u8], to: &mut Vec<u8>) -> Result<()> {
    tls.writer().write_all(bytes).map_err(|error| failed(&error))?;
    flush(tls, to)
}

/// Appends what TLS itself has to send.
///
/// # Errors
/// [`Failure::Lost`].
pub fn flush(tls: &mut ClientConnection, to: &mut Vec<u8>) -> Result<()> {
    while tls.wants_write() {
        tls.write_tls(to).map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Takes bytes from the socket.
///
/// # Errors
/// [`Failure::Lost`].
pub fn feed(tls: &mut ClientConnection, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        tls.read_tls(&mut bytes).map_err(|error| failed(&error))?;
        tls.process_new_packets().map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// Decrypted bytes, as far as there are any and `room` takes them.
pub fn open(tls: &mut ClientConnection, room: &mut [u8]) -> usize {
    tls.reader().read(room).unwrap_or(0)
}

fn failed(error: &impl std::fmt::Display) -> Failure {
    Failure::Lost(format!("TLS: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFF: TlsOptions<'static> = TlsOptions { mode: "off", authority: "", certificate: "", key: "", ciphers: "" };

    #[test]
    fn modes_are_those_of_mysql() {
        assert!(configure(&OFF).unwrap().is_none());
        for mode in ["on", "REQUIRED", "required"] {
            assert!(configure(&TlsOptions { mode, ..OFF }).unwrap().is_some(), "{mode}");
        }
        let of = |mode| configure(&TlsOptions { mode, ..OFF }).unwrap_err();
        assert!(of("VERIFY_CA").contains("--mysql-ssl-ca"));
        assert!(of("preferred").contains("disabled or required"));
        assert!(of("maybe").contains("verify_identity"));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let of = |options: TlsOptions<'_>| configure(&options).unwrap_err();
        let on = TlsOptions { mode: "on", ..OFF };
        assert!(
            of(TlsOptions { mode: "verify_ca", authority: "/none.pem", ..OFF }).contains("--mysql-ssl-ca=/none.pem")
        );
        assert!(of(TlsOptions { certificate: "/c.pem", ..on }).contains("belong together"));
        assert!(of(TlsOptions { certificate: "/c.pem", key: "/none.pem", ..on }).contains("--mysql-ssl-key=/none.pem"));
        assert!(of(TlsOptions { ciphers: "RC4", ..on }).contains("TLS_AES_256_GCM_SHA384"));
        for ciphers in ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305"] {
            assert!(configure(&TlsOptions { ciphers, ..on }).is_ok(), "{ciphers}");
        }
    }
}
