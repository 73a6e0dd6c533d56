//! Logging in to `meseta serve` as a process: which accounts, by which plugin, with TLS and without; and what a start beyond
//! loopback asks for.

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use meseta_protocol::auth::Password;
use meseta_protocol::auth::client::ClientOptions;
use meseta_protocol::client::{Client, Event};
use meseta_protocol::flags::{Capabilities, CursorFlags};
use rcgen::{BasicConstraints, CertificateParams, DistinguishedName, DnType, DnValue, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use support::{Serving, command, row_text};

/// A certificate, and its key.
type Certified = (Arc<rcgen::Certificate>, Arc<KeyPair>);

const PATIENCE: Duration = Duration::from_secs(60);

/// Logging in to a server.
trait Logins {
    /// Its connection, or what it was answered.
    fn connect_as(&self, options: ClientOptions) -> Result<Connection, String>;

    /// The same, with a certificate to show.
    fn connect_certified(&self, options: ClientOptions, certificate: Option<&Certified>) -> Result<Connection, String>;

    /// Without TLS.
    fn login(&self, user: &str, password: &str) -> Result<Connection, String>;

    fn root(&self) -> Connection;
}

impl Logins for Serving {
    fn connect_as(&self, options: ClientOptions) -> Result<Connection, String> {
        self.connect_certified(options, None)
    }

    fn connect_certified(&self, options: ClientOptions, certificate: Option<&Certified>) -> Result<Connection, String> {
        let stream = self.socket();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut connection = Connection {
            stream: Stream::Plain(stream),
            client: Client::connect(options, 64 << 20),
            certificate: certificate.cloned(),
        };
        match connection.answers().last() {
            Some(last) if last == "connected" => Ok(connection),
            last => Err(last.cloned().unwrap_or_default()),
        }
    }

    fn login(&self, user: &str, password: &str) -> Result<Connection, String> {
        self.connect_as(options(user, password))
    }

    fn root(&self) -> Connection {
        self.login("root", "").expect("root gets in")
    }
}

fn options(user: &str, password: &str) -> ClientOptions {
    let usual = ClientOptions::default();
    ClientOptions {
        user: user.as_bytes().to_vec(),
        password: Password::new(password.as_bytes().to_vec()),
        capabilities: usual.capabilities.with(Capabilities::MULTI_STATEMENTS),
        allow_public_key: true,
        ..usual
    }
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<rustls::StreamOwned<rustls::ClientConnection, TcpStream>>),
    Gone,
}

impl Stream {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.read(into),
            Stream::Tls(stream) => stream.read(into),
            Stream::Gone => Ok(0),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Stream::Plain(stream) => stream.write(bytes),
            Stream::Tls(stream) => {
                let count = stream.write(bytes)?;
                stream.flush()?;
                Ok(count)
            }
            Stream::Gone => Ok(0),
        }
    }
}

struct Connection {
    stream: Stream,
    client: Client,
    /// A certificate to show, and its key.
    certificate: Option<Certified>,
}

impl Connection {
    /// What is answered until nothing more is to come: `a|b` a row, `ok`, `1045 message`, `connected`, `ended`.
    fn answers(&mut self) -> Vec<String> {
        let mut answers = Vec::new();
        loop {
            while !self.client.output().is_empty() {
                let Ok(count) = self.stream.write(self.client.output()) else { return vec!["ended".to_owned()] };
                self.client.sent(count);
            }
            let (mut moved, mut starts_tls) = (false, false);
            while let Some(event) = self.client.next_event().unwrap() {
                moved = true;
                match event {
                    Event::Connected(_) => answers.push("connected".to_owned()),
                    Event::Ok(_) => answers.push("ok".to_owned()),
                    Event::Error(error) => {
                        answers.push(format!("{} {}", error.code.0, String::from_utf8_lossy(error.message)));
                        return answers;
                    }
                    Event::Prepared(_) => answers.push("prepared".to_owned()),
                    Event::StartTls => {
                        starts_tls = true;
                        break;
                    }
                    Event::Row(row) => answers.push(row_text(&row)),
                    _ => {}
                }
            }
            if starts_tls {
                while !self.client.output().is_empty() {
                    let count = self.stream.write(self.client.output()).unwrap();
                    self.client.sent(count);
                }
                let Stream::Plain(stream) = std::mem::replace(&mut self.stream, Stream::Gone) else {
                    panic!("TLS twice")
                };
                self.stream = Stream::Tls(Box::new(tls(stream, self.certificate.as_ref())));
                self.client.tls_started();
                continue;
            }
            if self.client.is_idle() && self.client.output().is_empty() {
                return answers;
            }
            if !moved && self.client.output().is_empty() {
                // A server that refuses a certificate ends TLS with an alert.
                let count = self.stream.read(self.client.room()).unwrap_or(0);
                if count == 0 {
                    answers.push("ended".to_owned());
                    return answers;
                }
                self.client.filled(count);
            }
        }
    }

    fn query(&mut self, text: &str) -> Vec<String> {
        self.client.query(text.as_bytes());
        self.answers()
    }

    #[track_caller]
    fn ok(&mut self, text: &str) {
        let answers = self.query(text);
        assert!(answers.iter().all(|answer| answer == "ok"), "{text}: {answers:?}");
    }

    fn change_user(&mut self, user: &str, password: &str, database: &str) -> Vec<String> {
        self.client.change_user(ClientOptions { database: database.as_bytes().to_vec(), ..options(user, password) });
        self.answers()
    }
}

/// TLS without looking whose certificate it is.
fn tls(stream: TcpStream, certificate: Option<&Certified>) -> rustls::StreamOwned<rustls::ClientConnection, TcpStream> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)));
    let config = match certificate {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
            config.with_client_auth_cert(vec![certificate.der().clone()], key).unwrap()
        }
    };
    let name = "localhost".try_into().unwrap();
    rustls::StreamOwned::new(rustls::ClientConnection::new(Arc::new(config), name).unwrap(), stream)
}

#[derive(Debug)]
struct AnyCertificate(Arc<rustls::crypto::CryptoProvider>);

impl rustls::client::danger::ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &rustls::pki_types::CertificateDer<'_>,
        _: &[rustls::pki_types::CertificateDer<'_>],
        _: &rustls::pki_types::ServerName<'_>,
        _: &[u8],
        _: rustls::pki_types::UnixTime,
    ) -> Result<rustls::client::danger::ServerCertVerified, rustls::Error> {
        Ok(rustls::client::danger::ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &rustls::pki_types::CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &rustls::pki_types::CertificateDer<'_>,
        signature: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

fn denied(user: &str, using: &str) -> String {
    format!("1045 Access denied for user '{user}'@'localhost' (using password: {using})")
}

#[track_caller]
fn refused(login: Result<Connection, String>) -> String {
    login.err().expect("it is refused")
}

#[test]
fn accounts_log_in_with_what_they_have_and_after_a_restart_too() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut root = serving.root();
    for statement in [
        "create user sha identified by 'se''cret'",
        "create user native@localhost identified with mysql_native_password by 'old'",
        "create user `empty`@localhost",
        "create user locked identified by 'x' account lock",
        "create user elsewhere@'10.0.0.%' identified by 'x'",
        "create user net@'127.0.0.0/255.0.0.0' identified by 'x'",
        "create database d; create table d.t (a int primary key)",
        "grant select on d.* to sha; grant insert on d.* to native@localhost",
    ] {
        root.ok(statement);
    }
    let check = |serving: &Serving| {
        // The first by the slow way, the second from the cache.
        for _ in 0..2 {
            let mut sha = serving.login("sha", "se'cret").unwrap();
            assert_eq!(sha.query("select user(), current_user()"), ["sha@localhost|sha@%"]);
            assert_eq!(sha.query("insert into d.t values (1)")[0].split(' ').next(), Some("1142"));
            assert_eq!(sha.query("select * from d.t"), [] as [&str; 0]);
        }
        let mut native = serving.login("native", "old").unwrap();
        assert_eq!(
            native.query("select * from d.t"),
            ["1142 SELECT command denied to user 'native'@'localhost' for table 't'"]
        );
        assert!(serving.login("empty", "").is_ok());
        assert_eq!(serving.login("net", "x").unwrap().query("select current_user()"), ["net@127.0.0.0/255.0.0.0"]);
        for (user, password, using) in [
            ("sha", "secret", "YES"),
            ("sha", "", "NO"),
            ("native", "Old", "YES"),
            ("empty", "x", "YES"),
            ("locked", "y", "YES"),
            ("elsewhere", "x", "YES"),
            ("nobody", "x", "YES"),
            ("nobody", "", "NO"),
        ] {
            assert_eq!(refused(serving.login(user, password)), denied(user, using), "{user} {password}");
        }
        let locked = "3118 Access denied for user 'locked'@'localhost'. Account is locked.";
        assert_eq!(refused(serving.login("locked", "x")), locked);
    };
    check(&serving);
    serving.end("-KILL");
    let serving = Serving::start(directory.path());
    check(&serving);
    // A new password counts at once, whatever the cache has.
    let mut root = serving.root();
    root.ok("alter user sha identified by 'new'");
    assert_eq!(refused(serving.login("sha", "se'cret")), denied("sha", "YES"));
    assert!(serving.login("sha", "new").is_ok());
    root.ok("set password for sha = ''; drop user native@localhost");
    assert!(serving.login("sha", "").is_ok());
    assert_eq!(refused(serving.login("native", "old")), denied("native", "YES"));
}

#[test]
fn tls_is_asked_of_accounts_that_require_it() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    serving.root().ok("create user s identified by 'x' require ssl; create user c identified by 'x' require x509");
    assert_eq!(refused(serving.login("s", "x")), denied("s", "YES"));
    let with_tls = |user: &str, password: &str| {
        let options = options(user, password);
        let capabilities = options.capabilities.with(Capabilities::SSL);
        serving.connect_as(ClientOptions { tls: true, capabilities, ..options })
    };
    assert_eq!(with_tls("s", "x").unwrap().query("select current_user()"), ["s@%"]);
    assert_eq!(refused(with_tls("s", "y")), denied("s", "YES"));
    assert_eq!(refused(with_tls("c", "x")), denied("c", "YES"));
    assert!(with_tls("root", "").is_ok());
}

#[test]
fn a_connection_becomes_anothers() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut root = serving.root();
    root.ok(
        "create database d; create database e; create table d.t (a int primary key); create user u identified by 'x'",
    );
    root.ok("grant select on d.* to u; create role r; grant r to u");
    let mut client = serving.root();
    client.ok("use d; set @a = 1; begin; insert into t values (1)");
    client.client.prepare(b"select 1");
    assert_eq!(client.answers(), ["prepared"]);
    assert_eq!(client.change_user("u", "x", "d"), ["connected"]);
    // Nothing is left of who was there before.
    assert_eq!(client.query("select current_user(), database(), @a"), ["u@%|d|NULL"]);
    assert_eq!(client.query("select * from t"), [] as [&str; 0]);
    client.client.execute(1, CursorFlags(0), &[], true);
    assert!(client.answers()[0].starts_with("1243 "));
    assert_eq!(
        client.query("insert into t values (2)")[0],
        "1142 INSERT command denied to user 'u'@'localhost' for table 't'"
    );
    client.ok("set role r");
    assert_eq!(client.change_user("u", "x", ""), ["connected"]);
    assert_eq!(client.query("select current_role(), database()"), ["NONE|NULL"]);
    // What is refused ends the connection.
    assert_eq!(client.change_user("u", "x", "e"), ["1044 Access denied for user 'u'@'%' to database 'e'"]);
    let mut client = serving.root();
    assert_eq!(client.change_user("root", "", "nowhere"), ["1049 Unknown database 'nowhere'"]);
    let mut client = serving.login("u", "x").unwrap();
    assert_eq!(client.change_user("root", "wrong", ""), [denied("root", "YES")]);
    // The same when it begins.
    let with = |database: &str| ClientOptions { database: database.as_bytes().to_vec(), ..options("u", "x") };
    assert!(serving.connect_as(with("d")).is_ok());
    assert_eq!(
        refused(serving.connect_as(with("nowhere"))),
        "1044 Access denied for user 'u'@'%' to database 'nowhere'"
    );
}

#[test]
fn expired_passwords_failed_logins_and_limits() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut root = serving.root();
    root.ok("create user old identified by 'x' password expire");
    let expired =
        "1862 Your password has expired. To log in you must change it using a client that supports expired passwords.";
    assert_eq!(refused(serving.login("old", "x")), expired);
    let able = options("old", "x");
    let capabilities = able.capabilities.with(Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS);
    let mut old = serving.connect_as(ClientOptions { capabilities, ..able }).unwrap();
    let reset = "1820 You must reset your password using ALTER USER statement before executing this statement.";
    assert_eq!(old.query("select 1"), [reset]);
    old.ok("alter user user() identified by 'y'");
    assert_eq!(old.query("select 1"), ["1"]);
    assert!(serving.login("old", "y").is_ok());

    root.ok("create user f identified by 'x' failed_login_attempts 2 password_lock_time 3");
    assert_eq!(refused(serving.login("f", "a")), denied("f", "YES"));
    let blocked = "3955 Access denied for user 'f'@'localhost'. Account is blocked for 3 day(s) (3 day(s) remaining) due to 2 \
                   consecutive failed logins.";
    assert_eq!(refused(serving.login("f", "b")), blocked);
    assert_eq!(refused(serving.login("f", "x")), blocked);
    root.ok("alter user f account unlock");
    assert!(serving.login("f", "x").is_ok());

    root.ok("create user few identified by 'x' with max_user_connections 1");
    let one = serving.login("few", "x").unwrap();
    let full = "1226 User 'few' has exceeded the 'max_user_connections' resource (current value: 1)";
    assert_eq!(refused(serving.login("few", "x")), full);
    drop(one);
    // The server has seen the end of the first when it is told so: a connection that is refused or not says which.
    let mut tries = 0;
    while serving.login("few", "x").is_err() {
        tries += 1;
        assert!(tries < 1000, "the first connection still counts");
    }
}

#[test]
fn the_statements_of_administrators_are_for_them() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(directory.path(), &["--max-connections=2"], &[]);
    let mut root = serving.root();
    root.ok("create user u; create user v; grant connection_admin on *.* to v");
    let mut user = serving.login("u", "").unwrap();
    assert_eq!(
        user.query("set global max_connections = 5"),
        [
            "1227 Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation"
        ]
    );
    // One more may come, who has the privilege for it.
    assert!(refused(serving.login("u", "")).starts_with("1040 "));
    let deadline = Instant::now() + PATIENCE;
    // (Who was refused may be there a moment longer.)
    while let Err(refused) = serving.login("v", "") {
        assert!(refused.starts_with("1040 ") && Instant::now() < deadline, "{refused}");
    }
}

#[test]
fn beyond_loopback_root_needs_a_password() {
    let directory = tempfile::tempdir().unwrap();
    let beyond = ["--bind-address=0.0.0.0"];
    let run = command(directory.path(), &beyond, &[]).output().unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{told}");
    let last = told.lines().last().unwrap_or_default();
    assert!(last.starts_with("meseta: root@localhost has no password"), "{told}");
    assert!(last.contains("ALTER USER root@localhost") && last.contains("MYSQL_ROOT_PASSWORD"), "{told}");

    // As containers are started.
    let environment = [
        ("MYSQL_ROOT_PASSWORD", "it's \\ root"),
        ("MYSQL_DATABASE", "shop_1"),
        ("MYSQL_USER", "app"),
        ("MYSQL_PASSWORD", "app's"),
    ];
    let serving = Serving::start_with(directory.path(), &beyond, &environment);
    assert_eq!(refused(serving.login("root", "")), denied("root", "NO"));
    let mut root = serving.login("root", "it's \\ root").unwrap();
    assert_eq!(root.query("select user, host from mysql.user order by 1, 2"), ["app|%", "root|%", "root|localhost"]);
    let mut app = serving.login("app", "app's").unwrap();
    app.ok("create table shop_1.t (a int primary key)");
    assert!(app.query("create table shopx1.t (a int)")[0].starts_with("1142 "));
    serving.end("-TERM");

    // What is set stays, whatever the environment says then; and root may set it himself.
    let serving = Serving::start_with(directory.path(), &beyond, &[("MYSQL_ROOT_PASSWORD", "other")]);
    assert!(serving.login("root", "other").is_err());
    let mut root = serving.login("root", "it's \\ root").unwrap();
    root.ok("alter user root@localhost identified by 'third'");
    serving.end("-TERM");
    let serving = Serving::start_with(directory.path(), &beyond, &[]);
    assert!(serving.login("root", "third").is_ok());
    serving.end("-TERM");

    // Who wants it so.
    let other = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(other.path(), &beyond, &[("MYSQL_ALLOW_EMPTY_PASSWORD", "yes")]);
    assert!(serving.login("root", "").is_ok());
}

/// A certificate of this name, signed by an authority, or by itself and to be one.
fn certified(name: &str, signer: Option<&Issuer<'static, KeyPair>>) -> (Certified, CertificateParams) {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    let mut names = DistinguishedName::new();
    names.push(DnType::CountryName, DnValue::PrintableString("SE".try_into().unwrap()));
    names.push(DnType::CommonName, name);
    parameters.distinguished_name = names;
    let key = KeyPair::generate().unwrap();
    let certificate = match signer {
        None => {
            parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            parameters.self_signed(&key).unwrap()
        }
        Some(signer) => parameters.signed_by(&key, signer).unwrap(),
    };
    ((Arc::new(certificate), Arc::new(key)), parameters)
}

/// One that signs others, and its certificate in PEM.
fn authority(name: &str) -> (Issuer<'static, KeyPair>, String) {
    let ((certificate, key), parameters) = certified(name, None);
    (Issuer::new(parameters, Arc::into_inner(key).unwrap()), certificate.pem())
}

#[test]
fn accounts_that_require_a_certificate_get_in_with_it_and_only_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let (ours, pem) = authority("Our authority");
    let (theirs, _) = authority("Our authority");
    let file = directory.path().join("clients.pem");
    std::fs::write(&file, pem).unwrap();
    let option = format!("--ssl-ca={}", file.display());
    let serving = Serving::start_with(directory.path(), &[&option], &[]);
    let mut root = serving.root();
    assert_eq!(root.query("select @@ssl_ca"), [file.display().to_string()]);
    root.ok("create user x require x509; create user s require subject '/C=SE/CN=the client'; \
             create user i require issuer '/C=SE/CN=Our authority' and subject '/C=SE/CN=the client'; \
             create user o require issuer '/C=SE/CN=Another'; create user n; \
             create user c require cipher 'TLS_AES_256_GCM_SHA384'; create user d require cipher 'AES128-SHA'");
    let (the_client, _) = certified("the client", Some(&ours));
    let (other, _) = certified("other", Some(&ours));
    let (forged, _) = certified("the client", Some(&theirs));
    let gets_in = |user: &str, certificate: Option<&Certified>| {
        let options = options(user, "");
        let capabilities = options.capabilities.with(Capabilities::SSL);
        let options = ClientOptions { tls: true, capabilities, ..options };
        match serving.connect_certified(options, certificate) {
            Ok(_) => "in".to_owned(),
            Err(refused) => refused.split(' ').next().unwrap().to_owned(),
        }
    };
    let tries = |user| [None, Some(&the_client), Some(&other), Some(&forged)].map(|shown| gets_in(user, shown));
    // A certificate that nobody vouches for is as good as none with nobody: TLS itself fails.
    assert_eq!(tries("n"), ["in", "in", "in", "ended"]);
    assert_eq!(tries("x"), ["1045", "in", "in", "ended"]);
    assert_eq!(tries("s"), ["1045", "in", "1045", "ended"]);
    assert_eq!(tries("i"), ["1045", "in", "1045", "ended"]);
    assert_eq!(tries("o"), ["1045", "1045", "1045", "ended"]);
    assert_eq!((gets_in("c", None), gets_in("d", None)), ("in".to_owned(), "1045".to_owned()));
    assert!(serving.login("x", "").is_err(), "without TLS");
    // What is not a file of certificates ends the start.
    drop(root);
    drop(serving);
    std::fs::write(&file, "nothing").unwrap();
    let ended = command(directory.path(), &[&option], &[]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert!(String::from_utf8_lossy(&ended.stderr).contains("clients.pem"), "{ended:?}");
}

#[test]
fn an_hour_has_as_many_statements_and_connections_as_the_account_says() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut root = serving.root();
    root.ok("create database d; create table d.t (a int); create user q with max_queries_per_hour 3; \
             create user u with max_updates_per_hour 2; create user c with max_connections_per_hour 2; \
             grant all on d.* to q; grant all on d.* to u");
    let exceeded = |user: &str, what: &str, limit: u32| {
        format!("1226 User '{user}' has exceeded the '{what}' resource (current value: {limit})")
    };
    let mut one = serving.login("q", "").unwrap();
    let mut two = serving.login("q", "").unwrap();
    assert_eq!(
        (one.query("select 1"), two.query("select 2"), one.query("set @a = 1")),
        (vec!["1".to_owned()], vec!["2".to_owned()], vec!["ok".to_owned()])
    );
    assert_eq!(one.query("select 1"), [exceeded("q", "max_questions", 3)]);
    assert_eq!(two.query("set @a = 1"), [exceeded("q", "max_questions", 3)]);
    two.client.prepare(b"select 1");
    assert_eq!(two.answers(), ["prepared"]);
    root.ok("flush user_resources");
    assert_eq!(two.query("select 1"), ["1"]);

    let mut one = serving.login("u", "").unwrap();
    one.ok("insert into d.t values (1); select count(*) from d.t into @x; create table d.u (a int)");
    for change in ["update d.t set a = 2", "drop table d.u", "delete from d.t"] {
        assert_eq!(one.query(change), [exceeded("u", "max_updates", 2)], "{change}");
    }
    assert_eq!(one.query("select a from d.t"), ["1"]);
    root.ok("alter user u with max_updates_per_hour 3");
    // Who is there has the limit that he came with; who comes has the new one.
    serving.login("u", "").unwrap().ok("delete from d.t; drop table d.u");

    let connected = [(); 2].map(|()| serving.login("c", "").unwrap());
    assert_eq!(serving.login("c", "").err(), Some(exceeded("c", "max_connections_per_hour", 2)));
    drop(connected);
    assert_eq!(serving.login("c", "").err(), Some(exceeded("c", "max_connections_per_hour", 2)));
    root.ok("flush privileges");
    assert!(serving.login("c", "").is_ok());
}
