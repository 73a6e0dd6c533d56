//! MySQL's client/server protocol, both ends of the wire: bytes into packets, packets into bytes.
//!
//! ```text
//!              the way in                                         the way out
//!  socket -> [compress] -> receive::Receiver            send::PacketWriter -> [compress] -> socket
//!                              | a packet                    ^ a packet
//!   server:  auth::server, command::Command            reply, column, row
//!   client:  client::Client::next_event                client::Client::query, execute, ..
//! ```
//!
//! The crate knows neither sockets nor threads nor SQL. It is told how many bytes came and tells which are to be sent.
//!
//! | floor | modules | what it answers |
//! |---|---|---|
//! | a connection | [`client`], [`auth`] | How does one begin, who is it, what does a packet mean after the last? |
//! | packets' contents | [`greeting`], [`command`], [`execute`], [`reply`], [`mod@column`], [`row`] | What is in it? |
//! | packets | [`receive`], [`send`], [`compress`] | Where does one begin and end? |
//! | words | [`wire`], [`value`], [`flags`], [`collation`], [`error`] | What is a string, a date, a flag? |
//!
//! The server's side of an exchange, in short:
//!
//! ```
//! # use meseta_protocol::{command::Command, flags::Capabilities, reply::OkPacket};
//! # use meseta_protocol::{receive::Receiver, send::PacketWriter};
//! # fn serve(receiver: &mut Receiver, writer: &mut PacketWriter, capabilities: Capabilities)
//! #     -> meseta_protocol::error::Result<()> {
//! receiver.expect_sequence(0);
//! while let Some(packet) = receiver.next_packet()? {
//!     writer.set_sequence(packet.answer_sequence);
//!     match Command::parse(packet.payload, capabilities)? {
//!         Command::Query(query) => { /* run query.text, append rows and their end */ }
//!         _ => OkPacket::default().write(writer, capabilities),
//!     }
//!     receiver.expect_sequence(0);
//! }
//! // send writer.bytes(), then writer.sent(count)
//! # Ok(())
//! # }
//! ```
//!
//! Invariants:
//! 1. No bytes of the other end make anything here panic, or allocate more than a small multiple of what came.
//!    (`tests/mutations.rs`)
//! 2. On the way of a row and of a COM_STMT_EXECUTE nothing is allocated but the buffers themselves.
//! 3. What a MySQL 9.7 server sends is what is sent here. (`tests/recorded.rs`)

pub mod auth;
pub mod client;
pub mod collation;
pub mod column;
pub mod command;
pub mod compress;
pub mod error;
pub mod execute;
pub mod flags;
pub mod greeting;
pub mod receive;
pub mod reply;
pub mod row;
pub mod send;
pub mod value;
pub mod wire;
