//! A backend that knows a few sentences, and a client, for the tests of the server.
//!
//! ```text
//! literal 7        one row: 7            block            waits until released (as a row lock would)
//! rows 1000 100    1000 rows of 100      spin             computes until released, and says nothing
//! long             the query's length    park             the reply waits until completed
//! panic            panics                park-round       the same, until the round is over
//! suspend          is executed again until called back: a row        suspend-for 20   four times, after so many milliseconds
//! file name        LOCAL INFILE: size    who              user, host, database
//! ```

#![allow(dead_code)]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::RawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Waker;
use std::time::Duration;

use meseta_errors as errors;
use meseta_protocol::auth::client::ClientOptions;
use meseta_protocol::auth::server::Account;
use meseta_protocol::auth::verifier::Verifier;
use meseta_protocol::auth::{Password, Plugin};
use meseta_protocol::client::{Client, Event};
use meseta_protocol::column::{ColumnDefinition, ColumnType, write_column_count};
use meseta_protocol::execute::{Execute, Query};
use meseta_protocol::flags::{Capabilities, StatusFlags};
use meseta_protocol::reply::{EofPacket, OkPacket, PrepareOk};
use meseta_protocol::row::TextRow;
use meseta_protocol::value::Value;
use meseta_server::backend::{Claim, ConnectionHandle, End, Opening, Parked, Reason, Refusal};
use meseta_server::clock::Clock;
use meseta_server::options::ServerOptions;
use meseta_server::{Backend, Outcome, Reply, Server, Session, blocking};

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A door that tests open, and a count of those who stand before it.
#[derive(Default)]
pub struct Gate {
    state: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Gate {
    pub fn open(&self) {
        self.state.lock().unwrap().0 = true;
        self.changed.notify_all();
    }

    pub fn close(&self) {
        self.state.lock().unwrap().0 = false;
    }

    /// Waits until `count` stand before it.
    pub fn wait_for(&self, count: usize) {
        let state = self.state.lock().unwrap();
        let (state, _) = self.changed.wait_timeout_while(state, PATIENCE, |state| state.1 < count).unwrap();
        assert!(state.1 >= count, "{} of {count} came", state.1);
    }

    /// Stands before it; whether it was opened, not interrupted.
    pub fn pass(self: &Arc<Self>, interrupt: &meseta_server::backend::Interrupt) -> bool {
        let me = self.clone();
        let _watch = interrupt.watch(Arc::new(move || {
            // Under the lock, so that nobody is between looking and waiting.
            drop(me.state.lock().unwrap());
            me.changed.notify_all();
        }));
        let mut state = self.state.lock().unwrap();
        state.1 += 1;
        self.changed.notify_all();
        while !state.0 && interrupt.reason().is_none() {
            state = self.changed.wait(state).unwrap();
        }
        state.1 -= 1;
        state.0
    }
}

#[derive(Default)]
pub struct TestBackend {
    pub gate: Arc<Gate>,
    pub spinning: AtomicUsize,
    pub stop_spinning: AtomicBool,
    pub parked: Mutex<Vec<Parked>>,
    pub park_changed: Condvar,
    pub parked_for_round: Mutex<Vec<Parked>>,
    /// What wakes the worker that ran the last statement that asked.
    pub bell: Mutex<Option<RawFd>>,
    /// Those who call suspended statements back.
    pub suspended: Mutex<Vec<Waker>>,
    /// Whether they do.
    pub calls_back: AtomicBool,
    pub open: AtomicUsize,
    pub ends: Mutex<Vec<End>>,
    pub digests: Mutex<std::collections::HashMap<Vec<u8>, [u8; 32]>>,
}

impl TestBackend {
    /// Waits for so many parked replies and takes them.
    pub fn take_parked(&self, count: usize) -> Vec<Parked> {
        let parked = self.parked.lock().unwrap();
        let (mut parked, _) =
            self.park_changed.wait_timeout_while(parked, PATIENCE, |parked| parked.len() < count).unwrap();
        assert!(parked.len() >= count);
        std::mem::take(&mut *parked)
    }
}

impl TestBackend {
    /// Waits until so many statements are suspended, and takes those who call them back.
    pub fn take_suspended(&self, count: usize) -> Vec<Waker> {
        eventually("they are suspended", || self.suspended.lock().unwrap().len() >= count);
        self.calls_back.store(false, Ordering::SeqCst);
        std::mem::take(&mut *self.suspended.lock().unwrap())
    }

    /// Calls suspended statements back.
    pub fn call_back(&self, wakers: Vec<Waker>) {
        self.calls_back.store(true, Ordering::SeqCst);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// The backend as the server has it.
pub struct Shared(pub Arc<TestBackend>);

impl Backend for Shared {
    fn version(&self) -> String {
        "9.7.0-test".to_owned()
    }

    fn account(&self, claim: &Claim<'_>) -> Option<Account> {
        let (plugin, password): (_, &[u8]) = match claim.user {
            b"native" => (Plugin::NativePassword, b"secret"),
            b"sha2" => (Plugin::CachingSha2Password, b"secret"),
            b"admin" | b"anybody" => (Plugin::CachingSha2Password, b""),
            _ => return None,
        };
        let cached = self.0.digests.lock().unwrap().get(claim.user).copied();
        Some(Account { plugin, verifier: Verifier::of_password(plugin, password, [b'a'; 20], 5000), cached })
    }

    fn proved(&self, claim: &Claim<'_>, digest: [u8; 32]) {
        self.0.digests.lock().unwrap().insert(claim.user.to_vec(), digest);
    }

    fn round_is_over(&self, goes_on: bool) {
        if goes_on {
            // As late as may be.
            return;
        }
        let parked = std::mem::take(&mut *self.0.parked_for_round.lock().unwrap());
        parked.into_iter().for_each(|parked| parked.complete(Ok(())));
    }

    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Session>, Refusal> {
        if opening.client.database == b"nowhere" {
            return Err(Refusal::new(errors::ER_BAD_DB_ERROR, &[&"nowhere"]));
        }
        self.0.open.fetch_add(1, Ordering::SeqCst);
        let who = format!(
            "{}@{} {}",
            String::from_utf8_lossy(&opening.client.user),
            opening.peer.host(),
            opening.tls.map_or("clear", |tls| tls.version)
        );
        Ok(Box::new(TestSession { shared: self.0.clone(), connection: opening.connection, who, executed: 0 }))
    }
}

pub struct TestSession {
    shared: Arc<TestBackend>,
    connection: ConnectionHandle,
    who: String,
    /// How often the statement that is suspended was executed.
    executed: usize,
}

impl TestSession {
    fn row(&self, values: &[&[u8]], reply: &mut Reply<'_>) -> Outcome {
        self.rows(1, values, reply)
    }

    fn rows(&self, count: usize, values: &[&[u8]], reply: &mut Reply<'_>) -> Outcome {
        let capabilities = reply.capabilities();
        write_column_count(reply.writer(), capabilities, values.len(), true);
        for _ in values {
            let column = ColumnDefinition { name: b"c", column_type: ColumnType::VarString, ..Default::default() };
            column.write(reply.writer());
        }
        EofPacket { status: self.status(), warnings: 0 }.write_end_of_columns(reply.writer(), capabilities);
        for _ in 0..count {
            let mut row = TextRow::new(reply.writer());
            values.iter().for_each(|value| row.bytes(value));
            row.end();
            if reply.flush_if_full().is_err() {
                return Outcome::Close;
            }
            if reply.interrupt().reason().is_some() {
                reply.interrupted();
                return Outcome::Done;
            }
        }
        let ok = OkPacket { status: self.status(), ..Default::default() };
        ok.write_end_of_rows(reply.writer(), capabilities);
        Outcome::Done
    }

    fn ok(&self, reply: &mut Reply<'_>) -> Outcome {
        reply.ok(&OkPacket { status: self.status(), ..Default::default() });
        Outcome::Done
    }
}

impl Session for TestSession {
    fn status(&self) -> StatusFlags {
        StatusFlags::AUTOCOMMIT
    }

    fn is_administrator(&self) -> bool {
        self.who.starts_with("admin@")
    }

    fn query(&mut self, query: &Query<'_>, reply: &mut Reply<'_>) -> Outcome {
        let text = String::from_utf8_lossy(&query.text[..query.text.len().min(100)]).into_owned();
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["literal", word] => self.row(&[word.as_bytes()], reply),
            ["who"] => self.row(&[self.who.clone().as_bytes()], reply),
            ["rows", count, bytes] => {
                let value = vec![b'x'; bytes.parse().unwrap()];
                self.rows(count.parse().unwrap(), &[&value], reply)
            }
            ["long", ..] => self.row(&[query.text.len().to_string().as_bytes()], reply),
            ["panic"] => panic!("asked to"),
            ["block"] => {
                reply.set_state("Waiting for the gate");
                let passed = {
                    let _blocking = blocking::enter();
                    self.shared.gate.pass(reply.interrupt())
                };
                if passed {
                    return self.ok(reply);
                }
                reply.interrupted();
                Outcome::Done
            }
            ["spin"] => {
                self.shared.spinning.fetch_add(1, Ordering::SeqCst);
                while !self.shared.stop_spinning.load(Ordering::SeqCst) && reply.interrupt().reason().is_none() {
                    std::hint::spin_loop();
                }
                self.ok(reply)
            }
            ["park"] => {
                self.ok(reply);
                let parked = reply.park();
                self.shared.parked.lock().unwrap().push(parked);
                self.shared.park_changed.notify_all();
                Outcome::Parked
            }
            ["park-rung"] => {
                self.ok(reply);
                *self.shared.bell.lock().unwrap() = (blocking::HOOK.bell)();
                self.shared.parked.lock().unwrap().push(reply.park());
                self.shared.park_changed.notify_all();
                Outcome::Parked
            }
            ["park-round"] => {
                self.ok(reply);
                let parked = reply.park();
                self.shared.parked_for_round.lock().unwrap().push(parked);
                Outcome::Parked
            }
            ["suspend"] => {
                self.executed += 1;
                let waker = self.connection.waker();
                if self.executed == 1 {
                    self.connection.interrupt().watch_always(Arc::new({
                        let waker = waker.clone();
                        move || waker.wake_by_ref()
                    }));
                    self.shared.suspended.lock().unwrap().push(waker);
                    reply.set_state("being patient");
                    return Outcome::Suspended(PATIENCE);
                }
                if reply.interrupt().reason().is_none() && !self.shared.calls_back.load(Ordering::SeqCst) {
                    // Nobody has called: too early.
                    return Outcome::Suspended(PATIENCE);
                }
                self.executed = 0;
                if reply.interrupt().reason().is_some() {
                    reply.interrupted();
                    return Outcome::Done;
                }
                self.row(&[b"called back"], reply)
            }
            ["suspend-for", milliseconds] => {
                self.executed += 1;
                if self.executed < 4 {
                    return Outcome::Suspended(Duration::from_millis(milliseconds.parse().unwrap()));
                }
                let executed = std::mem::take(&mut self.executed);
                self.row(&[executed.to_string().as_bytes()], reply)
            }
            ["alone"] => {
                // What keeps its worker does not wait for a thread to be given another.
                let _kept = blocking::is_alone().then(blocking::keep);
                self.row(&[if blocking::is_alone() { b"yes" } else { b"no" }], reply)
            }
            ["processors", waiting] => {
                let _kept = (blocking::is_alone() && waiting == "waiting").then(blocking::keep);
                let is_brief = waiting == "briefly";
                if is_brief {
                    blocking::before_brief_wait();
                }
                let count = rustix::thread::sched_getaffinity(None).unwrap().count();
                if is_brief {
                    blocking::after_wait();
                }
                self.row(&[count.to_string().as_bytes()], reply)
            }
            ["park-done"] => {
                self.ok(reply);
                reply.park().complete(Ok(()));
                Outcome::Parked
            }
            ["file", name] => {
                let mut size = 0;
                {
                    let Ok(mut file) = reply.request_file(name.as_bytes()) else { return Outcome::Close };
                    loop {
                        match file.next_piece() {
                            Ok(Some(piece)) => size += piece.len(),
                            Ok(None) => break,
                            Err(_) => return Outcome::Close,
                        }
                    }
                }
                reply.ok(&OkPacket { affected_rows: size as u64, status: self.status(), ..Default::default() });
                Outcome::Done
            }
            ["wait_timeout", seconds] => {
                self.connection.set_wait_timeout_seconds(seconds.parse().unwrap());
                self.ok(reply)
            }
            ["kill", what, id] => {
                let reason = if what == "query" { Reason::Query } else { Reason::Connection };
                if self.connection.server().kill(id.parse().unwrap(), reason) {
                    return self.ok(reply);
                }
                reply.error(errors::ER_NO_SUCH_THREAD, &[&id]);
                Outcome::Done
            }
            _ => {
                reply.error(errors::ER_PARSE_ERROR, &[&"You have an error", &text, &1]);
                Outcome::Done
            }
        }
    }

    fn prepare(&mut self, _: &[u8], reply: &mut Reply<'_>) -> Outcome {
        let capabilities = reply.capabilities();
        PrepareOk { statement_id: 1, ..Default::default() }.write(reply.writer(), capabilities);
        Outcome::Done
    }

    fn execute(&mut self, _: Execute<'_>, reply: &mut Reply<'_>) -> Outcome {
        self.ok(reply)
    }

    fn fetch(&mut self, _: u32, _: u32, reply: &mut Reply<'_>) -> Outcome {
        reply.error(errors::ER_STMT_HAS_NO_OPEN_CURSOR, &[]);
        Outcome::Done
    }

    fn send_long_data(&mut self, _: u32, _: u16, _: &[u8]) {}

    fn close_statement(&mut self, _: u32) {}

    fn reset_statement(&mut self, _: u32, reply: &mut Reply<'_>) -> Outcome {
        self.ok(reply)
    }

    fn init_db(&mut self, name: &[u8], reply: &mut Reply<'_>) -> Outcome {
        self.connection.set_database(Some(&String::from_utf8_lossy(name)));
        self.ok(reply)
    }

    fn field_list(&mut self, _: &[u8], _: &[u8], reply: &mut Reply<'_>) -> Outcome {
        EofPacket::default().write(reply.writer());
        Outcome::Done
    }

    fn set_multi_statements(&mut self, _: bool) {}

    fn reset_connection(&mut self, reply: &mut Reply<'_>) -> Outcome {
        self.ok(reply)
    }

    fn change_user(&mut self, opening: Opening<'_>) -> Result<(), Refusal> {
        self.who = format!("{}@changed", String::from_utf8_lossy(&opening.client.user));
        Ok(())
    }

    fn kill(&mut self, id: u32, reply: &mut Reply<'_>) -> Outcome {
        self.connection.server().kill(id, Reason::Connection);
        self.ok(reply)
    }

    fn close(self: Box<Self>, end: End) {
        self.shared.ends.lock().unwrap().push(end);
        self.shared.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A server with the test backend, stopped at its drop.
pub struct Running {
    pub backend: Arc<TestBackend>,
    pub server: Server,
    pub directory: tempfile::TempDir,
    pub port: u16,
}

pub fn start(change: impl FnOnce(&mut ServerOptions)) -> Running {
    start_with(Clock::System, change)
}

pub fn start_with(clock: Clock, change: impl FnOnce(&mut ServerOptions)) -> Running {
    let directory = tempfile::tempdir().unwrap();
    let mut options = ServerOptions {
        port: 0,
        datadir: directory.path().to_owned(),
        worker_threads: 2,
        shutdown_timeout: 1,
        local_infile: true,
        // Made once for all tests: it takes a while.
        caching_sha2_password_auto_generate_rsa_keys: false,
        ..ServerOptions::default()
    };
    change(&mut options);
    let backend = Arc::new(TestBackend::default());
    let server = Server::start(&options, Arc::new(Shared(backend.clone())), clock).unwrap();
    let port = server.addresses().first().map_or(0, |address| address.port());
    Running { backend, server, directory, port }
}

impl Running {
    pub fn connect(&self) -> Connection {
        self.connect_as("anybody", "").unwrap()
    }

    pub fn connect_as(&self, user: &str, password: &str) -> Result<Connection, Answer> {
        self.connect_with(options(user, password, Capabilities::NONE))
    }

    pub fn connect_with(&self, options: ClientOptions) -> Result<Connection, Answer> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        Connection::begin(Stream::Tcp(stream), options)
    }
}

pub fn options(user: &str, password: &str, more: Capabilities) -> ClientOptions {
    let usual = ClientOptions::default();
    ClientOptions {
        user: user.as_bytes().to_vec(),
        password: Password::new(password.as_bytes().to_vec()),
        capabilities: usual.capabilities.with(more),
        allow_public_key: true,
        ..usual
    }
}

pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<rustls::StreamOwned<rustls::ClientConnection, TcpStream>>),
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(into),
            Stream::Unix(stream) => stream.read(into),
            Stream::Tls(stream) => stream.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
            Stream::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Stream::Tls(stream) => stream.flush(),
            _ => Ok(()),
        }
    }
}

/// A client's connection, that waits.
pub struct Connection {
    pub stream: Option<Stream>,
    pub client: Client,
    pub file: Vec<u8>,
}

/// What came of a command.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Answer {
    pub rows: usize,
    pub bytes: usize,
    pub value: String,
    pub affected: u64,
    pub error: Option<(u16, String)>,
    /// The server closed the connection.
    pub ended: bool,
}

impl Connection {
    pub fn begin(stream: Stream, options: ClientOptions) -> Result<Connection, Answer> {
        if let Stream::Tcp(stream) = &stream {
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.set_nodelay(true).unwrap();
        }
        let client = Client::connect(options, 64 << 20);
        let mut connection = Connection { stream: Some(stream), client, file: Vec::new() };
        let outcome = connection.run();
        if outcome.error.is_some() || outcome.ended { Err(outcome) } else { Ok(connection) }
    }

    pub fn query(&mut self, text: &str) -> Answer {
        self.client.query(text.as_bytes());
        self.run()
    }

    /// Sends what there is, and does not wait for an answer.
    pub fn send(&mut self) {
        let stream = self.stream.as_mut().unwrap();
        while !self.client.output().is_empty() {
            let count = stream.write(self.client.output()).unwrap();
            self.client.sent(count);
        }
        stream.flush().unwrap();
    }

    /// Sends what there is, and takes events until the client is idle.
    pub fn run(&mut self) -> Answer {
        let mut outcome = Answer::default();
        loop {
            while !self.client.output().is_empty() {
                match self.stream.as_mut().unwrap().write(self.client.output()) {
                    Ok(count) => self.client.sent(count),
                    // A test that sends signals may run beside.
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => {
                        outcome.ended = true;
                        return outcome;
                    }
                }
            }
            let _ = self.stream.as_mut().unwrap().flush();
            let mut progress = false;
            let (mut start_tls, mut file) = (false, false);
            while let Some(event) = self.client.next_event().unwrap() {
                progress = true;
                match event {
                    Event::StartTls => start_tls = true,
                    Event::LocalInfile(_) => file = true,
                    Event::Ok(ok) => outcome.affected = ok.affected_rows,
                    Event::Error(error) => {
                        let text = String::from_utf8_lossy(error.message).into_owned();
                        outcome.error = Some((error.code.number(), text));
                    }
                    Event::Row(row) => {
                        outcome.rows += 1;
                        for value in row.values() {
                            if let Value::Bytes(bytes) = value.unwrap() {
                                outcome.bytes += bytes.len();
                                if outcome.rows == 1 {
                                    outcome.value = String::from_utf8_lossy(bytes).into_owned();
                                }
                            }
                        }
                    }
                    _ => {}
                }
                if start_tls || file {
                    break;
                }
            }
            if file {
                for piece in std::mem::take(&mut self.file).chunks(10_000) {
                    self.client.send_file(piece);
                }
                self.client.end_file();
                continue;
            }
            if start_tls {
                self.send();
                let Some(Stream::Tcp(stream)) = self.stream.take() else { panic!("TLS over TCP only") };
                self.stream = Some(Stream::Tls(Box::new(tls(stream))));
                self.client.tls_started();
                continue;
            }
            if self.client.is_idle() || outcome.error.is_some() {
                return outcome;
            }
            if progress && !self.client.output().is_empty() {
                continue;
            }
            let count = match self.stream.as_mut().unwrap().read(self.client.room()) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read.unwrap_or(0),
            };
            if count == 0 {
                outcome.ended = true;
                return outcome;
            }
            self.client.filled(count);
        }
    }

    /// Waits for the server to close the connection; what it said before.
    pub fn wait_for_end(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        let _ = self.stream.as_mut().unwrap().read_to_end(&mut all);
        all
    }

    pub fn id(&self) -> u32 {
        self.client.server().connection_id
    }
}

/// TLS without looking whose certificate it is.
fn tls(stream: TcpStream) -> rustls::StreamOwned<rustls::ClientConnection, TcpStream> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
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
        dss: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &rustls::pki_types::CertificateDer<'_>,
        dss: &rustls::DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Waits until something is so: bounded, and woken by nothing, for what has no event.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + PATIENCE;
    while !is_so() {
        assert!(std::time::Instant::now() < end, "never: {what}");
        std::thread::yield_now();
    }
}
