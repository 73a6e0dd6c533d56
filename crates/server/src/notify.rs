//! Telling systemd how far the start or the stop is: `Type=notify` units.
//!
//! `NOTIFY_SOCKET` names a datagram socket, by a path or (with `@`) by an abstract name; a line each is sent there. Without
//! the variable nothing is done, and nothing here fails.
//!
//! Source: the manual page sd_notify(3).

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// The server takes connections.
pub fn ready(status: &str) {
    send(&format!("READY=1\nSTATUS={status}\nMAINPID={}\n", std::process::id()));
}

/// The server is about to stop.
pub fn stopping() {
    send("STOPPING=1\n");
}

fn send(message: &str) {
    let Some(name) = std::env::var_os("NOTIFY_SOCKET") else { return };
    if let Err(error) = send_to(name.as_encoded_bytes(), message) {
        tracing::warn!(%error, "NOTIFY_SOCKET is set, but nobody listens there");
    }
}

fn send_to(name: &[u8], message: &str) -> std::io::Result<()> {
    let address = match name.split_first() {
        Some((b'@', rest)) => SocketAddr::from_abstract_name(rest)?,
        _ => SocketAddr::from_pathname(std::str::from_utf8(name).map_err(std::io::Error::other)?)?,
    };
    UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_by_path_and_by_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        send_to(path.as_os_str().as_encoded_bytes(), "READY=1\n").unwrap();
        let mut room = [0; 64];
        let count = socket.recv(&mut room).unwrap();
        assert_eq!(&room[..count], b"READY=1\n");
        let name = format!("meseta-test-{}", std::process::id());
        let socket = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        send_to(format!("@{name}").as_bytes(), "STOPPING=1\n").unwrap();
        let count = socket.recv(&mut room).unwrap();
        assert_eq!(&room[..count], b"STOPPING=1\n");
        assert!(send_to(b"/does/not/exist", "x").is_err());
    }
}
