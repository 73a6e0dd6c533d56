//! Certificate and keys: the user's, or made at the first start and kept in the data directory.
//!
//! ```text
//! server-cert.pem, server-key.pem    TLS: a certificate that signs itself (ssl_cert, ssl_key)
//! ssl_ca                             who signs clients' certificates, which accounts may REQUIRE
//! private_key.pem                    passwords of clients without TLS (caching_sha2_password_private_key_path)
//! ```
//!
//! A certificate that signs itself protects from who listens. A client that wants to know whom it talks to needs one
//! that its user gave (`ssl_cert`, `ssl_key`).
//!
//! Files with private keys are made so that only the server's user reads them.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use meseta_protocol::auth::rsa::KeyPair;
use parking_lot::{Condvar, Mutex};
use rcgen::{CertificateParams, DistinguishedName, DnType};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};

use crate::options::ServerOptions;

/// What connections begin TLS with; nothing if the options say that there is none, or no certificate can be kept.
///
/// # Errors
/// Files that cannot be read, or do not fit together.
pub fn configure(options: &ServerOptions) -> Result<Option<Arc<ServerConfig>>, String> {
    let versions = versions(&options.tls_version)?;
    if !options.ssl || versions.is_empty() {
        return Ok(None);
    }
    let (certificate, key) = match (&options.ssl_cert, &options.ssl_key) {
        (Some(certificate), Some(key)) => (options.in_datadir(certificate), options.in_datadir(key)),
        (None, None) => match own_certificate(options)? {
            Some(paths) => paths,
            None => return Ok(None),
        },
        _ => return Err("ssl_cert and ssl_key belong together; one is missing".to_owned()),
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&certificate)
        .and_then(Iterator::collect)
        .map_err(|error| format!("{}: {error}", certificate.display()))?;
    let secret = PrivateKeyDer::from_pem_file(&key).map_err(|error| format!("{}: {error}", key.display()))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&versions)
        .map_err(|error| error.to_string())?
        .with_client_cert_verifier(verifier(options, provider)?)
        .with_single_cert(chain, secret)
        .map_err(|error| format!("{} and {}: {error}", certificate.display(), key.display()))?;
    // The buffer of a connection that writes faster than its socket takes is bounded by who writes.
    config.send_half_rtt_data = false;
    Ok(Some(Arc::new(config)))
}

/// Who looks at clients' certificates: a client need not have one, but one that it has must be signed by `ssl_ca`.
fn verifier(options: &ServerOptions, provider: Arc<CryptoProvider>) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let Some(path) = options.ssl_ca.as_ref().map(|path| options.in_datadir(path)) else {
        return Ok(WebPkiClientVerifier::no_client_auth());
    };
    let say = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(&path).map_err(|error| say(&error))? {
        roots.add(certificate.map_err(|error| say(&error))?).map_err(|error| say(&error))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
        .allow_unauthenticated()
        .build()
        .map_err(|error| say(&error))
}

fn versions(names: &str) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(|name| match name {
            "TLSv1.2" => Ok(&rustls::version::TLS12),
            "TLSv1.3" => Ok(&rustls::version::TLS13),
            _ => Err(format!("tls_version: {name} is not one of TLSv1.2, TLSv1.3")),
        })
        .collect()
}

/// The certificate in the data directory, made if it is not there. Nothing if there is none and none is to be made.
fn own_certificate(options: &ServerOptions) -> Result<Option<(PathBuf, PathBuf)>, String> {
    let certificate = options.in_datadir(Path::new("server-cert.pem"));
    let key = options.in_datadir(Path::new("server-key.pem"));
    if certificate.exists() && key.exists() {
        return Ok(Some((certificate, key)));
    }
    if !options.auto_generate_certs {
        return Ok(None);
    }
    let say = |error: rcgen::Error| format!("cannot make a certificate: {error}");
    let pair = rcgen::KeyPair::generate().map_err(say)?;
    let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).map_err(say)?;
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "Meseta auto generated server certificate");
    parameters.distinguished_name = name;
    parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
    parameters.not_after = rcgen::date_time_ymd(2050, 1, 1);
    let made = parameters.self_signed(&pair).map_err(say)?;
    write_private(&key, pair.serialize_pem().as_bytes())?;
    write_private(&certificate, made.pem().as_bytes())?;
    Ok(Some((certificate, key)))
}

/// The key by which clients without TLS send a password: in its file, or made beside everything else when there is none,
/// since that takes longer than all of the start.
pub(crate) struct PasswordKey {
    private: PathBuf,
    public: PathBuf,
    state: Mutex<KeyState>,
    changed: Condvar,
}

enum KeyState {
    /// It is there, or there is none.
    Known(Option<Arc<KeyPair>>),
    /// Somebody is to make it.
    Missing,
}

impl PasswordKey {
    /// Reads the key, if its file is there.
    ///
    /// # Errors
    /// A file that is there and has no such key.
    pub(crate) fn open(options: &ServerOptions) -> Result<Arc<PasswordKey>, String> {
        let private = options.in_datadir(&options.caching_sha2_password_private_key_path);
        let public = options.in_datadir(&options.caching_sha2_password_public_key_path);
        let state = match fs::read(&private) {
            Ok(bytes) => {
                let read = pem::parse(&bytes).ok().and_then(|pem| KeyPair::from_pkcs8(pem.contents()));
                let pair = read.ok_or_else(|| format!("{}: not an RSA key (PKCS #8, in PEM)", private.display()))?;
                KeyState::Known(Some(Arc::new(pair)))
            }
            Err(_) if !options.caching_sha2_password_auto_generate_rsa_keys => KeyState::Known(None),
            Err(_) => KeyState::Missing,
        };
        Ok(Arc::new(PasswordKey { private, public, state: Mutex::new(state), changed: Condvar::new() }))
    }

    /// Has a thread make it, if it is missing.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn make_if_missing(self: &Arc<Self>) -> std::io::Result<()> {
        if matches!(*self.state.lock(), KeyState::Missing) {
            let key = Arc::clone(self);
            std::thread::Builder::new().name("meseta-key".to_owned()).spawn(move || key.make())?;
        }
        Ok(())
    }

    fn make(&self) {
        let made = KeyPair::generate().ok_or_else(|| "cannot make an RSA key".to_owned());
        let kept = made.and_then(|pair| {
            write_private(&self.public, pair.public_pem())?;
            let text = pem::encode(&pem::Pem::new("PRIVATE KEY", pair.pkcs8()));
            write_private(&self.private, text.as_bytes())?;
            Ok(Arc::new(pair))
        });
        // Without it, clients need TLS or the Unix socket.
        let kept = kept.inspect_err(|error| tracing::error!("the key for passwords: {error}")).ok();
        *self.state.lock() = KeyState::Known(kept);
        self.changed.notify_all();
    }

    /// The key; waits for it while it is being made.
    pub(crate) fn get(&self) -> Option<Arc<KeyPair>> {
        let mut state = self.state.lock();
        if matches!(*state, KeyState::Missing) {
            let _blocking = crate::blocking::enter();
            while matches!(*state, KeyState::Missing) {
                self.changed.wait(&mut state);
            }
        }
        match &*state {
            KeyState::Known(pair) => pair.clone(),
            KeyState::Missing => None,
        }
    }
}

/// Writes a file that only the server's user reads: it is whole, or not there.
fn write_private(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let say = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside).map_err(say)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, path)).map_err(say)
}
