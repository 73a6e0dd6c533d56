//! What can be wrong with what the other end sent.
//!
//! Every case here is the peer's fault (or an attack), never a bug of ours; each has the number of MySQL's error that
//! a server answers with before it closes the connection: after any of these the stream cannot be trusted to be in
//! step. The exception is [`ProtocolError::UnknownCommand`]: the packet was sound, and the connection goes on.

use std::fmt;

use meseta_errors::{self as errors, ErrorCode};

/// What is wrong with the bytes of the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolError {
    /// A packet, joined of its parts, is larger than `max_allowed_packet`.
    PacketTooLarge,
    /// A packet's sequence number is not the one that is due.
    OutOfOrder {
        /// The number that was due.
        expected: u8,
        /// The number that came.
        got: u8,
    },
    /// A packet ends before its contents do, or says what cannot be. The text says which part.
    Malformed(&'static str),
    /// A compressed packet does not decompress to what its header says.
    Decompress,
    /// A command byte that we do not know, or one that MySQL does not have any more.
    UnknownCommand(u8),
    /// The client speaks the protocol from before MySQL 4.1.
    OldProtocol,
    /// The peer asks for, or insists on, an authentication plugin that we do not have.
    UnknownPlugin,
    /// The client will not send, or the server will not take, a password over a connection that can be read by others.
    InsecureTransport,
}

/// Shorthand.
pub type Result<T> = std::result::Result<T, ProtocolError>;

impl ProtocolError {
    /// The number of the error that a server answers with.
    pub fn code(self) -> ErrorCode {
        match self {
            ProtocolError::PacketTooLarge => errors::ER_NET_PACKET_TOO_LARGE,
            ProtocolError::OutOfOrder { .. } => errors::ER_NET_PACKETS_OUT_OF_ORDER,
            ProtocolError::Malformed(_) => errors::ER_MALFORMED_PACKET,
            ProtocolError::Decompress => errors::ER_NET_UNCOMPRESS_ERROR,
            ProtocolError::UnknownCommand(_) => errors::ER_UNKNOWN_COM_ERROR,
            ProtocolError::OldProtocol | ProtocolError::UnknownPlugin => errors::ER_NOT_SUPPORTED_AUTH_MODE,
            ProtocolError::InsecureTransport => errors::ER_SECURE_TRANSPORT_REQUIRED,
        }
    }
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProtocolError::PacketTooLarge => write!(f, "a packet is larger than max_allowed_packet"),
            ProtocolError::OutOfOrder { expected, got } => write!(f, "packet {got} came, packet {expected} was due"),
            ProtocolError::Malformed(part) => write!(f, "malformed packet: {part}"),
            ProtocolError::Decompress => write!(f, "a compressed packet does not decompress to what it promises"),
            ProtocolError::UnknownCommand(byte) => write!(f, "unknown command {byte:#04x}"),
            ProtocolError::OldProtocol => write!(f, "the client speaks the protocol from before MySQL 4.1"),
            ProtocolError::UnknownPlugin => write!(f, "unknown authentication plugin"),
            ProtocolError::InsecureTransport => write!(f, "the password would travel in the clear"),
        }
    }
}

impl std::error::Error for ProtocolError {}
