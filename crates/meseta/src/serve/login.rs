//! Logging in: from a claim to an account, from a proved account to what its session may.
//!
//! ```text
//! claim --AccountStore::authenticate--> account --verifier, cached digest--> the protocol's proof
//!   denied:  counted; 1045, or 3955 when that was one too many
//!   proved:  blocked (3955)? locked (3118)? TLS (1045)? expired (1862)? too many connections (1226)? --> SessionAccount
//! ```
//!
//! # Invariants
//! 1. A digest in the cache is used for the stored password that it was made of, and no other.
//! 2. What a client is told before it has proved who it is does not depend on which accounts there are.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use meseta_errors as errors;
use meseta_protocol::auth::server::Account as ProtocolAccount;
use meseta_protocol::auth::verifier::Verifier;
use meseta_protocol::auth::{Plugin, fresh_scramble};
use meseta_protocol::flags::Capabilities;
use meseta_server::backend::{Claim, Opening, Peer, Refusal};
use meseta_server::blocking;
use meseta_sql::Error;
use meseta_sql::account::{
    Account, AccountId, AccountSettings, AccountStore, Connection, Login, LoginRefusal, PasswordHasher, SessionAccount,
    Use,
};
use meseta_sql::session::{Instance, account_settings};
use meseta_sql::variable::{Globals, Variable};
use parking_lot::Mutex;

/// A digest of caching_sha2_password, and the stored password that it belongs to.
struct Digest {
    stored: Vec<u8>,
    digest: [u8; 32],
}

/// What is kept of logins.
#[derive(Default)]
pub struct Logins {
    digests: Mutex<HashMap<AccountId, Digest>>,
    /// How many connections accounts have.
    connected: Arc<Mutex<HashMap<AccountId, u32>>>,
}

/// A connection of an account, counted until it is dropped.
pub struct Connected {
    account: AccountId,
    all: Arc<Mutex<HashMap<AccountId, u32>>>,
}

impl Connected {
    /// Counts one more of an account; `None` if it has as many as it may (0: any number).
    fn count(all: &Arc<Mutex<HashMap<AccountId, u32>>>, account: &AccountId, limit: u64) -> Option<Self> {
        let mut counts = all.lock();
        let count = counts.entry(account.clone()).or_default();
        if limit != 0 && u64::from(*count) >= limit {
            return None;
        }
        *count += 1;
        Some(Connected { account: account.clone(), all: Arc::clone(all) })
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        if let Some(count) = all.get_mut(&self.account) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.account);
            }
        }
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn refusal(error: Error) -> Refusal {
    Refusal { code: error.code, message: error.message }
}

fn find(store: &AccountStore, user: &[u8], peer: &Peer) -> Option<Login> {
    store.authenticate(&String::from_utf8_lossy(user), &peer.host(), peer.address())
}

fn denied(user: &[u8], peer: &Peer, account: &Account) -> Refusal {
    let using = if account.stored.is_empty() { "NO" } else { "YES" };
    Refusal::new(errors::ER_ACCESS_DENIED_ERROR, &[&String::from_utf8_lossy(user), &peer.host(), &using])
}

impl Logins {
    /// The account that a claim is about, for the protocol.
    pub fn account(&self, store: &AccountStore, claim: &Claim<'_>) -> Option<ProtocolAccount> {
        if store.skips_checks() {
            let (plugin, verifier) = (Plugin::CachingSha2Password, Verifier::Anything);
            return Some(ProtocolAccount { plugin, verifier, cached: None });
        }
        let account = find(store, claim.user, claim.peer)?.account;
        let plugin = Plugin::by_name(account.plugin.as_bytes())?;
        let verifier = Verifier::parse(plugin, &account.stored)?;
        let digests = self.digests.lock();
        let cached = digests.get(&account.id).filter(|kept| kept.stored == account.stored).map(|kept| kept.digest);
        Some(ProtocolAccount { plugin, verifier, cached })
    }

    /// Keeps the digest of a password that was proved the slow way.
    pub fn proved(&self, store: &AccountStore, claim: &Claim<'_>, digest: [u8; 32]) {
        if let Some(Login { account }) = find(store, claim.user, claim.peer) {
            self.digests.lock().insert(account.id.clone(), Digest { stored: account.stored.clone(), digest });
        }
    }

    /// A login failed. What the client is told, if it is not 1045.
    pub fn denied(&self, store: &AccountStore, claim: &Claim<'_>) -> Option<Refusal> {
        let account = find(store, claim.user, claim.peer)?.account;
        let user = String::from_utf8_lossy(claim.user);
        let tried = store.logins().tried(&account, false, &user, &claim.peer.host(), now());
        tried.err().map(refusal)
    }

    /// The session of a client whose password was right.
    ///
    /// # Errors
    /// 1045, 1226, 1862, 3118, 3955.
    pub fn open(&self, instance: &Instance, opening: &Opening<'_>) -> Result<(SessionAccount, Connected), Refusal> {
        let (user, peer, now) = (&opening.client.user[..], &opening.peer, now());
        let store = &instance.accounts;
        let (name, host) = (String::from_utf8_lossy(user), peer.host());
        let unknown = || Refusal::new(errors::ER_ACCESS_DENIED_ERROR, &[&name, &host, &"YES"]);
        if store.skips_checks() {
            let anybody = AccountId::new("skip-grants user", "skip-grants host");
            let connected = Connected::count(&self.connected, &anybody, 0).ok_or_else(unknown)?;
            return Ok((SessionAccount::trusted(&anybody, &host), connected));
        }
        let login = find(store, user, peer).ok_or_else(unknown)?;
        let account = &login.account;
        store.logins().tried(account, true, &name, &host, now).map_err(refusal)?;
        let cipher = opening.tls.map_or("", |tls| tls.cipher);
        let certificate = opening.certificate.as_ref().map(|of| (&*of.subject, &*of.issuer));
        match login.check(Connection { tls: opening.tls.is_some(), certificate, cipher }) {
            Ok(()) => {}
            Err(LoginRefusal::Locked) => {
                return Err(Refusal::new(errors::ER_ACCOUNT_HAS_BEEN_LOCKED, &[&name, &host]));
            }
            Err(LoginRefusal::Tls) => return Err(denied(user, peer, account)),
        }
        let global = |name: &str| Variable::find(name).map_or(0, |variable| instance.globals.get(variable).as_u64());
        let is_expired = login.is_expired(now, global("default_password_lifetime").min(u16::MAX.into()) as u16);
        let can_handle = opening.client.capabilities.has(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS);
        if is_expired && !can_handle && global("disconnect_on_expired_password") != 0 {
            return Err(Refusal::new(errors::ER_MUST_CHANGE_PASSWORD_LOGIN, &[]));
        }
        let connected = self.connected(account, global("max_user_connections"), &name)?;
        let usage = store.usage(account);
        if let Some(usage) = &usage {
            usage.count(Use::Connection, &name, now).map_err(refusal)?;
        }
        let settings: AccountSettings = account_settings(&instance.globals, now);
        let session = SessionAccount::new(store, &account.id, &host, !account.stored.is_empty(), &settings);
        let mut session = session.ok_or_else(unknown)?;
        session.must_change_password = is_expired;
        session.usage = usage;
        Ok((session, connected))
    }

    /// Counts a connection. Error 1226 if the account has as many as it may.
    fn connected(&self, account: &Account, for_all: u64, user: &str) -> Result<Connected, Refusal> {
        let limit = match account.limits[3] {
            0 => for_all,
            own => own.into(),
        };
        Connected::count(&self.connected, &account.id, limit)
            .ok_or_else(|| Refusal::new(errors::ER_USER_LIMIT_REACHED, &[&user, &"max_user_connections", &limit]))
    }
}

/// Makes stored passwords of the two plugins.
pub struct Plugins {
    globals: Arc<Globals>,
}

impl Plugins {
    /// With the rounds of caching_sha2_password_digest_rounds.
    pub fn new(globals: Arc<Globals>) -> Self {
        Self { globals }
    }
}

/// Letters of passwords that are made up: 64, so that six bits choose one.
const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";

impl PasswordHasher for Plugins {
    fn knows(&self, plugin: &str) -> bool {
        Plugin::by_name(plugin.as_bytes()).is_some()
    }

    fn hash(&self, plugin: &str, password: &[u8]) -> Vec<u8> {
        let Some(plugin) = Plugin::by_name(plugin.as_bytes()) else { return Vec::new() };
        let _blocking = blocking::enter();
        let rounds = Variable::find("caching_sha2_password_digest_rounds");
        let rounds = rounds.map_or(0, |variable| self.globals.get(variable).as_u64());
        Verifier::of_password(plugin, password, fresh_scramble(), rounds as u32).stored()
    }

    fn is_valid(&self, plugin: &str, stored: &[u8]) -> bool {
        Plugin::by_name(plugin.as_bytes()).is_some_and(|plugin| Verifier::parse(plugin, stored).is_some())
    }

    fn matches(&self, plugin: &str, stored: &[u8], password: &[u8]) -> bool {
        let _blocking = blocking::enter();
        let verifier = Plugin::by_name(plugin.as_bytes()).and_then(|plugin| Verifier::parse(plugin, stored));
        verifier.is_some_and(|verifier| verifier.matches(password))
    }

    fn random(&self) -> String {
        fresh_scramble().iter().map(|&byte| char::from(LETTERS[usize::from(byte & 63)])).collect()
    }
}
