//! A connection of a client: statements out, answers in, each timed.
//!
//! ```text
//! run(statement, values): encode -> send -> (parked) -> receive -> events until idle -> recorder
//! ```
//!
//! Bytes go to the socket as they are, or through TLS. How the socket waits is [`super::socket`]'s.
//!
//! When it fails: [`Failure::Lost`] and the connection is of no use; [`Failure::Server`] and it goes on.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use meseta_protocol::client::{Client, Event};
use meseta_protocol::error::ProtocolError;
use meseta_protocol::flags::CursorFlags;
use meseta_protocol::reply::ErrPacket;
use meseta_protocol::row::Row;
use rustls::ClientConnection;

use super::reactor::Reactor;
use super::recorder::{Class, Recorder};
use super::socket::Socket;
use super::statement::{Parameter, Statement};
use super::target::{Address, Target};
use super::{Failure, Result, tls};

/// The largest packet that is taken from a server.
const LARGEST_PACKET: usize = 64 << 20;

/// How much of what is encrypted is received at a time: a little more than TLS's largest record.
const SEALED_BYTES: usize = 17 << 10;

/// ER_UNSUPPORTED_PS.
const CANNOT_PREPARE: u16 = 1295;

/// What came back for a statement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reply {
    /// Rows of its results.
    pub rows: u64,
    /// Rows that it changed.
    pub affected: u64,
    /// The number that AUTO_INCREMENT gave.
    pub last_insert_id: u64,
    /// Whether there was a result with columns.
    pub is_result: bool,
}

impl Reply {
    fn class(&self) -> Class {
        if self.is_result {
            Class::Read
        } else if self.affected > 0 {
            Class::Write
        } else {
            Class::Other
        }
    }
}

/// TLS between the socket and the packets.
#[derive(Debug)]
struct Sealed {
    tls: ClientConnection,
    /// What is to be sent.
    out: Vec<u8>,
    /// What came.
    came: Vec<u8>,
}

/// A connection.
#[derive(Debug)]
pub struct Connection {
    reactor: Rc<Reactor>,
    recorder: Rc<RefCell<Recorder>>,
    socket: Socket,
    sealed: Option<Box<Sealed>>,
    client: Client,
    /// The statement of text that is being built.
    text: Vec<u8>,
    /// Whether statements are prepared, or sent as text.
    prepares: bool,
    prepared_id: u32,
}

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// [`Failure`], also of the server's when it refuses.
    pub async fn open(
        reactor: Rc<Reactor>,
        recorder: Rc<RefCell<Recorder>>,
        target: &Target,
        address: &Address,
        prepares: bool,
    ) -> Result<Connection> {
        let mut connection = Connection {
            socket: Socket::connect(reactor.clone(), address).await?,
            reactor,
            recorder,
            sealed: None,
            client: Client::connect(target.client_options(), LARGEST_PACKET),
            text: Vec::new(),
            prepares,
            prepared_id: 0,
        };
        if let Some(config) = &target.tls {
            connection.greet().await?;
            let tls = tls::client(config, &target.host)?;
            connection.sealed = Some(Box::new(Sealed { tls, out: Vec::new(), came: vec![0; SEALED_BYTES] }));
            connection.client.tls_started();
        }
        connection.receive(|_| ()).await?;
        Ok(connection)
    }

    /// Takes the server's greeting, and asks for TLS.
    async fn greet(&mut self) -> Result<()> {
        loop {
            match self.client.next_event() {
                Ok(Some(Event::StartTls)) => return self.send().await,
                Ok(Some(Event::Error(error))) => return Err(refused(&error)),
                Ok(Some(_)) => (),
                Ok(None) => self.read().await?,
                Err(error) => return Err(lost(&error)),
            }
        }
    }

    /// Prepares a statement, if statements are prepared.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn prepare(&mut self, statement: &mut Statement) -> Result<()> {
        if self.prepares {
            self.client.prepare(statement.text.as_bytes());
            self.send().await?;
            match self.receive(|_| ()).await {
                Ok(_) => (statement.id, statement.typed) = (Some(self.prepared_id), false),
                // A statement that the server cannot prepare (BEGIN, in most) is sent as text, as sysbench does.
                Err(Failure::Server { code: CANNOT_PREPARE, .. }) => (),
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Executes a statement, and looks at no row.
    ///
    /// # Errors
    /// [`Failure`].
    #[inline]
    pub fn run<'c>(
        &'c mut self,
        statement: &mut Statement,
        values: &[Parameter<'_>],
    ) -> impl Future<Output = Result<Reply>> + use<'c> {
        self.run_rows(statement, values, |_| ())
    }

    /// Executes a statement, and shows each row to `on_row`.
    ///
    /// # Errors
    /// [`Failure`].
    #[inline]
    pub fn run_rows<'c, F: FnMut(Row<'_>) + 'c>(
        &'c mut self,
        statement: &mut Statement,
        values: &[Parameter<'_>],
        on_row: F,
    ) -> impl Future<Output = Result<Reply>> + use<'c, F> {
        let begun = Instant::now();
        match statement.id {
            Some(id) => {
                self.client.execute(id, CursorFlags(0), values, !statement.typed);
                statement.typed = true;
            }
            None => {
                self.text.clear();
                statement.paste(values, &mut self.text);
                self.client.query(&self.text);
            }
        }
        self.finish(statement.kind, begun, on_row)
    }

    /// Sends text as it is, counted as `kind`.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn query<'c>(&'c mut self, kind: usize, text: &[u8]) -> impl Future<Output = Result<Reply>> + use<'c> {
        let begun = Instant::now();
        self.client.query(text);
        self.finish(kind, begun, |_| ())
    }

    async fn finish(&mut self, kind: usize, begun: Instant, on_row: impl FnMut(Row<'_>)) -> Result<Reply> {
        self.send().await?;
        let result = self.receive(on_row).await;
        let mut recorder = self.recorder.borrow_mut();
        match &result {
            Ok(reply) => recorder.statement(kind, begun.elapsed(), reply.class(), reply.rows),
            Err(Failure::Server { code, .. }) => recorder.error(Some(kind), *code),
            Err(_) => (),
        }
        result
    }

    /// Counts a transaction of a kind that has been going on since `begun`.
    pub fn count_transaction(&self, kind: usize, begun: Instant) {
        self.recorder.borrow_mut().transaction(kind, begun.elapsed());
    }

    /// Waits.
    pub async fn sleep(&self, time: Duration) {
        self.reactor.sleep_until(Instant::now() + time).await;
    }

    /// Says goodbye, without waiting.
    pub fn close(mut self) {
        self.client.quit();
        match &mut self.sealed {
            Some(sealed) => {
                if tls::seal(&mut sealed.tls, self.client.output(), &mut sealed.out).is_ok() {
                    self.socket.send_now(&sealed.out);
                }
            }
            None => self.socket.send_now(self.client.output()),
        }
    }

    #[inline]
    async fn send(&mut self) -> Result<()> {
        let output = self.client.output();
        match &mut self.sealed {
            None => self.socket.send(output).await?,
            Some(sealed) => {
                tls::seal(&mut sealed.tls, output, &mut sealed.out)?;
                self.socket.send(&sealed.out).await?;
                sealed.out.clear();
            }
        }
        self.client.sent(usize::MAX);
        Ok(())
    }

    /// Takes what comes until nothing more is to come.
    #[inline]
    async fn receive(&mut self, mut on_row: impl FnMut(Row<'_>)) -> Result<Reply> {
        let mut reply = Reply::default();
        let mut refusal = None;
        loop {
            match self.client.next_event() {
                Ok(Some(event)) => match event {
                    Event::Row(row) => {
                        reply.rows += 1;
                        on_row(row);
                        continue;
                    }
                    Event::Ok(ok) => {
                        reply.affected += ok.affected_rows;
                        reply.last_insert_id = ok.last_insert_id;
                    }
                    Event::Columns(_) => reply.is_result = true,
                    Event::Error(error) => {
                        refusal = Some(refused(&error));
                    }
                    Event::Prepared(prepared) => self.prepared_id = prepared.statement_id,
                    Event::LocalInfile(_) => self.client.end_file(),
                    _ => (),
                },
                Ok(None) => {
                    if !self.client.output().is_empty() {
                        self.send().await?;
                    }
                    self.read().await?;
                    continue;
                }
                Err(error) => return Err(lost(&error)),
            }
            if self.client.is_idle() {
                return refusal.map_or(Ok(reply), Err);
            }
        }
    }

    #[inline]
    async fn read(&mut self) -> Result<()> {
        let Some(sealed) = &mut self.sealed else {
            let count = self.socket.receive(self.client.room()).await?;
            self.client.filled(count);
            return Ok(());
        };
        loop {
            let count = tls::open(&mut sealed.tls, self.client.room());
            if count > 0 {
                self.client.filled(count);
                return Ok(());
            }
            let count = self.socket.receive(&mut sealed.came).await?;
            let fed = tls::feed(&mut sealed.tls, &sealed.came[..count]);
            tls::flush(&mut sealed.tls, &mut sealed.out)?;
            if !sealed.out.is_empty() {
                self.socket.send(&sealed.out).await?;
                sealed.out.clear();
            }
            fed?;
        }
    }
}

/// What the client makes of bytes that are no protocol, or of a server that cannot be talked to.
pub(crate) fn lost(error: &ProtocolError) -> Failure {
    Failure::Lost(format!("{error}"))
}

/// What the server said in place of an answer.
pub(crate) fn refused(error: &ErrPacket<'_>) -> Failure {
    Failure::Server {
        code: error.code.0,
        sqlstate: String::from_utf8_lossy(&error.sqlstate).into_owned(),
        message: String::from_utf8_lossy(error.message).into_owned(),
    }
}
