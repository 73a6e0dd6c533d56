//! A connection of a client: statements out, answers in, each timed.
//!
//! ```text
//! run(statement, values): encode -> send -> (parked) -> receive -> events until idle -> recorder
//! ```
//!
//! After a send nothing is tried until the socket tells: an answer is never there at once, and a `recv` for nothing
//! costs as much as one for something. A `recv` that did not fill its buffer has emptied the socket (the set is
//! edge-triggered), so the next wait is without a try either.
//!
//! When it fails: [`Failure::Lost`] and the connection is of no use; [`Failure::Server`] and it goes on.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use meseta_protocol::auth::client::ClientOptions;
use meseta_protocol::client::{Client, Event};
use meseta_protocol::error::ProtocolError;
use meseta_protocol::flags::CursorFlags;
use meseta_protocol::row::Row;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, recv, send, socket_with, sockopt,
};

use super::reactor::Reactor;
use super::recorder::{Class, Recorder};
use super::statement::{Parameter, Statement};
use super::target::Address;
use super::{Failure, Result};

/// The largest packet that is taken from a server.
const LARGEST_PACKET: usize = 64 << 20;

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

/// A connection.
#[derive(Debug)]
pub struct Connection {
    reactor: Rc<Reactor>,
    recorder: Rc<RefCell<Recorder>>,
    socket: OwnedFd,
    client: Client,
    /// The statement of text that is being built.
    text: Vec<u8>,
    /// Whether statements are prepared, or sent as text.
    prepares: bool,
    /// Whether the socket may have bytes that no edge will tell of.
    may_have_more: bool,
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
        address: &Address,
        options: ClientOptions,
        prepares: bool,
    ) -> Result<Connection> {
        let socket = connect(&reactor, address).await?;
        let mut connection = Connection {
            reactor,
            recorder,
            socket,
            client: Client::connect(options, LARGEST_PACKET),
            text: Vec::new(),
            prepares,
            may_have_more: true,
            prepared_id: 0,
        };
        connection.receive(|_| ()).await?;
        Ok(connection)
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
        let _ = send(&self.socket, self.client.output(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    }

    #[inline]
    async fn send(&mut self) -> Result<()> {
        self.may_have_more = false;
        loop {
            let output = self.client.output();
            if output.is_empty() {
                return Ok(());
            }
            match send(&self.socket, output, SendFlags::NOSIGNAL) {
                Ok(count) => self.client.sent(count),
                Err(Errno::AGAIN) => {
                    self.reactor.park().await;
                    // The edge may have told of an answer, too.
                    self.may_have_more = true;
                }
                Err(Errno::INTR) => (),
                Err(error) => return Err(Failure::Lost(error.to_string())),
            }
        }
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
                        refusal = Some(Failure::Server {
                            code: error.code.0,
                            sqlstate: String::from_utf8_lossy(&error.sqlstate).into_owned(),
                            message: String::from_utf8_lossy(error.message).into_owned(),
                        });
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
        if !self.may_have_more {
            self.reactor.park().await;
        }
        loop {
            let room = self.client.room();
            let length = room.len();
            match recv(&self.socket, room, RecvFlags::empty()) {
                Ok((0, _)) => return Err(Failure::Lost("the server closed it".to_owned())),
                Ok((count, _)) => {
                    self.client.filled(count);
                    self.may_have_more = count == length;
                    return Ok(());
                }
                Err(Errno::AGAIN) => self.reactor.park().await,
                Err(Errno::INTR) => (),
                Err(error) => return Err(Failure::Lost(error.to_string())),
            }
        }
    }
}

/// What the client makes of bytes that are no protocol, or of a server that cannot be talked to.
pub(crate) fn lost(error: &ProtocolError) -> Failure {
    Failure::Lost(format!("{error}"))
}

async fn connect(reactor: &Reactor, address: &Address) -> Result<OwnedFd> {
    let failed = |error: Errno| Failure::Lost(error.to_string());
    let family = match address {
        Address::Internet(address) if address.is_ipv6() => AddressFamily::INET6,
        Address::Internet(_) => AddressFamily::INET,
        Address::Unix(_) => AddressFamily::UNIX,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None).map_err(failed)?;
    loop {
        let begun = match address {
            Address::Internet(address) => {
                sockopt::set_tcp_nodelay(&socket, true).map_err(failed)?;
                rustix::net::connect(&socket, address)
            }
            Address::Unix(path) => rustix::net::connect(&socket, &SocketAddrUnix::new(path.as_path()).map_err(failed)?),
        };
        match begun {
            Ok(()) => {
                reactor.register(&socket).map_err(|error| Failure::Lost(error.to_string()))?;
                return Ok(socket);
            }
            Err(Errno::INPROGRESS) => break,
            // The queue of a Unix socket's listener is full.
            Err(Errno::AGAIN) => reactor.sleep_until(Instant::now() + Duration::from_millis(1)).await,
            Err(Errno::INTR) => (),
            Err(error) => return Err(failed(error)),
        }
    }
    reactor.register(&socket).map_err(|error| Failure::Lost(error.to_string()))?;
    loop {
        reactor.park().await;
        sockopt::socket_error(&socket).map_err(failed)?.map_err(failed)?;
        if rustix::net::getpeername(&socket).is_ok() {
            return Ok(socket);
        }
    }
}
