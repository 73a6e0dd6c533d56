//! A connection that blocks: for tables, variables and checks, one statement at a time, answers as text.
//!
//! When it fails: [`Failure`], as of the generator's connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use meseta_protocol::client::{Client, Event};
use meseta_protocol::value::Value;
use rustls::{ClientConnection, StreamOwned};

use crate::generator::connection::{lost, refused};
use crate::generator::target::{Address, Target};
use crate::generator::{Failure, Result, tls};

/// The longest time that an answer may take to begin: a load of indexes takes long.
const PATIENCE: Duration = Duration::from_secs(6 * 3600);

trait Stream: Read + Write + Send {}
impl Stream for TcpStream {}
impl Stream for UnixStream {}
impl Stream for std::io::Empty {}
impl Stream for StreamOwned<ClientConnection, Box<dyn Stream>> {}

/// A connection.
pub struct Admin {
    stream: Box<dyn Stream>,
    client: Client,
}

/// A row of text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TextRow(pub Vec<Option<String>>);

impl TextRow {
    /// A value; `None` for NULL and for columns that are not there.
    pub fn text(&self, column: usize) -> Option<&str> {
        self.0.get(column)?.as_deref()
    }

    /// A value as a number.
    pub fn number(&self, column: usize) -> Option<f64> {
        self.text(column)?.parse().ok()
    }
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admin").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Admin {
    /// Connects and logs in.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn connect(target: &Target) -> Result<Admin> {
        let failed = |error: std::io::Error| Failure::Lost(error.to_string());
        let stream: Box<dyn Stream> = match target.resolve().map_err(Failure::Lost)? {
            Address::Internet(address) => {
                let stream = TcpStream::connect_timeout(&address, Duration::from_secs(10)).map_err(failed)?;
                stream.set_nodelay(true).map_err(failed)?;
                stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
                Box::new(stream)
            }
            Address::Unix(path) => {
                let stream = UnixStream::connect(path).map_err(failed)?;
                stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
                Box::new(stream)
            }
        };
        let mut admin = Admin { stream, client: Client::connect(target.client_options(), 1 << 30) };
        if let Some(config) = &target.tls {
            admin.converse(&mut Vec::new())?;
            let tls = tls::client(config, &target.host)?;
            let plain = std::mem::replace(&mut admin.stream, Box::new(std::io::empty()));
            admin.stream = Box::new(StreamOwned::new(tls, plain));
            admin.client.tls_started();
        }
        admin.converse(&mut Vec::new())?;
        Ok(admin)
    }

    /// What the server calls its version.
    pub fn server_version(&self) -> String {
        String::from_utf8_lossy(&self.client.server().version).into_owned()
    }

    /// Executes a statement, and leaves its rows.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn execute(&mut self, text: &str) -> Result<()> {
        self.execute_bytes(text.as_bytes())
    }

    /// Executes a statement, and leaves its rows.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn execute_bytes(&mut self, text: &[u8]) -> Result<()> {
        self.client.query(text);
        self.converse(&mut Vec::new())
    }

    /// Executes a statement, and gives its rows.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn query(&mut self, text: &str) -> Result<Vec<TextRow>> {
        let mut rows = Vec::new();
        self.client.query(text.as_bytes());
        self.converse(&mut rows)?;
        Ok(rows)
    }

    /// The first value of the first row.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn value(&mut self, text: &str) -> Result<Option<String>> {
        Ok(self.query(text)?.first().and_then(|row| row.text(0).map(str::to_owned)))
    }

    fn converse(&mut self, rows: &mut Vec<TextRow>) -> Result<()> {
        let failed = |error: std::io::Error| {
            // What TLS refused comes as an error of the stream's.
            let is_of_tls = error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>());
            Failure::Lost(if is_of_tls { format!("TLS: {error}") } else { error.to_string() })
        };
        let mut refusal = None;
        loop {
            if !self.client.output().is_empty() {
                self.stream.write_all(self.client.output()).map_err(failed)?;
                self.client.sent(usize::MAX);
            }
            match self.client.next_event() {
                Ok(Some(Event::Row(row))) => {
                    rows.push(TextRow(row.values().map(|value| value.ok().and_then(text)).collect()))
                }
                Ok(Some(Event::Error(error))) => refusal = Some(refused(&error)),
                // What is to be sent goes in the clear; the rest of the conversation is another one.
                Ok(Some(Event::StartTls)) => {
                    self.stream.write_all(self.client.output()).map_err(failed)?;
                    self.client.sent(usize::MAX);
                    return Ok(());
                }
                Ok(Some(Event::LocalInfile(_))) => self.client.end_file(),
                Ok(Some(_)) => (),
                Ok(None) => {
                    let count = self.stream.read(self.client.room()).map_err(failed)?;
                    if count == 0 {
                        return Err(Failure::Lost("the server closed it".to_owned()));
                    }
                    self.client.filled(count);
                    continue;
                }
                Err(error) => return Err(lost(&error)),
            }
            if self.client.is_idle() {
                return refusal.map_or(Ok(()), Err);
            }
        }
    }
}

impl Drop for Admin {
    fn drop(&mut self) {
        if self.client.is_idle() {
            self.client.quit();
            // The server may have gone.
            let _ = self.stream.write_all(self.client.output());
        }
    }
}

/// A value of the text protocol.
fn text(value: Value<'_>) -> Option<String> {
    match value {
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        Value::Int(value) => Some(value.to_string()),
        Value::UInt(value) => Some(value.to_string()),
        _ => None,
    }
}
