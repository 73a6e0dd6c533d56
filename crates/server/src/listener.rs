//! Where clients come in: TCP addresses and the Unix socket, and the thread that accepts.
//!
//! ```text
//! bind-address = 127.0.0.1,::1      a socket each;  *  = all addresses, of IPv4 and IPv6
//! socket       = /run/x.sock        and beside it /run/x.sock.lock, which has our process number
//! ```
//!
//! **The Unix socket's file** outlives a server that was killed. The lock file says whose it is: if that process is there
//! no more, both files are removed; if it is, the server does not start.
//!
//! When it fails: no descriptors are left. It is logged, and tried again a tenth of a second later; clients wait in the
//! system's queue.

use std::fs;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use rustix::process::{Pid, test_kill_process};

use crate::backend::Peer;
use crate::options::ServerOptions;
use crate::server::{Shared, StartError};

/// Sockets that listen, and nobody accepts yet.
pub(crate) struct Listening {
    tcp: Vec<OwnedFd>,
    addresses: Vec<SocketAddr>,
    unix: Option<UnixSocket>,
}

/// The Unix socket and its files, which its drop removes.
struct UnixSocket {
    socket: OwnedFd,
    path: PathBuf,
    lock: PathBuf,
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(&self.lock);
    }
}

/// The thread that accepts. Its drop ends it, and closes the sockets.
pub(crate) struct Listener {
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) socket_path: Option<PathBuf>,
    stop: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener")
            .field("addresses", &self.addresses)
            .field("socket_path", &self.socket_path)
            .finish_non_exhaustive()
    }
}

impl Listening {
    /// Binds what the options say.
    pub(crate) fn bind(options: &ServerOptions) -> Result<Listening, StartError> {
        let mut listening = Listening { tcp: Vec::new(), addresses: Vec::new(), unix: None };
        let backlog = match options.back_log {
            0 => 4096,
            backlog => backlog.min(65_535) as i32,
        };
        if !options.skip_networking {
            for address in options.bind_address.split(',').map(str::trim).filter(|address| !address.is_empty()) {
                let refuse = |why: String| StartError::Listen { address: format!("{address}:{}", options.port), why };
                for (socket, address) in bind_tcp(address, options.port, backlog).map_err(refuse)? {
                    listening.tcp.push(socket);
                    listening.addresses.push(address);
                }
            }
        }
        if let Some(path) = &options.socket {
            let refuse = |why: String| StartError::Listen { address: path.display().to_string(), why };
            listening.unix = Some(bind_unix(path, backlog).map_err(refuse)?);
        }
        Ok(listening)
    }

    /// Starts to accept.
    pub(crate) fn start(self, shared: Arc<Shared>) -> io::Result<Listener> {
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (addresses, socket_path) = (self.addresses.clone(), self.unix.as_ref().map(|unix| unix.path.clone()));
        let told = stop.clone();
        let thread = std::thread::Builder::new()
            .name("meseta-listener".to_owned())
            .spawn(move || accept_all(&self, &told, &shared))?;
        Ok(Listener { addresses, socket_path, stop, thread: Some(thread) })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = rustix::io::write(&*self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The thread's life.
fn accept_all(listening: &Listening, stop: &OwnedFd, shared: &Arc<Shared>) {
    let unix = listening.unix.as_ref().map(|unix| &unix.socket);
    let sockets: Vec<&OwnedFd> = listening.tcp.iter().chain(unix).collect();
    let mut pause = false;
    while !shared.is_stopping() {
        let mut wanted = vec![PollFd::new(stop, PollFlags::IN)];
        if !pause {
            wanted.extend(sockets.iter().map(|socket| PollFd::new(*socket, PollFlags::IN)));
        }
        let tenth = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        match poll(&mut wanted, pause.then_some(&tenth)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => tracing::error!(%error, "poll failed"),
        }
        if shared.is_stopping() || wanted[0].revents().intersects(PollFlags::IN) {
            return;
        }
        // Each socket has its turn, whatever became of the others.
        let failed = sockets.iter().fold(None, |failed, socket| accept_from(socket, shared).err().or(failed));
        // Of what keeps it from accepting it tells once, not with each attempt.
        if let Some(error) = failed
            && !pause
        {
            tracing::error!(%error, "cannot accept connections for now");
        }
        pause = failed.is_some();
    }
}

/// Accepts until nobody is in the queue.
fn accept_from(socket: &OwnedFd, shared: &Arc<Shared>) -> Result<(), Errno> {
    loop {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (client, address) = match net::acceptfrom_with(socket, flags) {
            Ok(accepted) => accepted,
            Err(Errno::AGAIN) => return Ok(()),
            // The client has gone already.
            Err(Errno::INTR | Errno::CONNABORTED | Errno::PROTO | Errno::PERM) => continue,
            Err(error) => return Err(error),
        };
        let peer = match address.and_then(|address| SocketAddr::try_from(address).ok()) {
            Some(address) => {
                // Answers leave when they are ready, not when more would fit into a segment. (A socket whose options
                // cannot be set works without.)
                let _ = sockopt::set_tcp_nodelay(&client, true);
                let _ = sockopt::set_socket_keepalive(&client, true);
                Peer::Tcp(address)
            }
            None => {
                let user_id = sockopt::socket_peercred(&client).ok().map(|credentials| credentials.uid.as_raw());
                Peer::Unix { user_id }
            }
        };
        shared.admit(client, peer);
    }
}

/// Binds one entry of `bind-address`.
fn bind_tcp(address: &str, port: u16, backlog: i32) -> Result<Vec<(OwnedFd, SocketAddr)>, String> {
    let say = |error: &dyn std::fmt::Display| error.to_string();
    let why = |error: &Errno| match *error {
        Errno::ADDRINUSE => "another program has this port: end it, or say --port=.. with another one".to_owned(),
        Errno::ACCESS => "this port is for root alone: say --port=.. with one above 1023".to_owned(),
        Errno::ADDRNOTAVAIL => "this machine has no such address: see --bind-address".to_owned(),
        error => error.to_string(),
    };
    if address == "*" {
        // One socket of IPv6 takes both; a system without IPv6 has one of IPv4.
        let both = listen(SocketAddr::new(IpAddr::V6(Ipv6Addr::UNSPECIFIED), port), true, backlog);
        let bound = both.or_else(|error| match error {
            Errno::AFNOSUPPORT | Errno::ADDRNOTAVAIL => {
                listen(SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), port), false, backlog)
            }
            error => Err(error),
        });
        return Ok(vec![bound.map_err(|error| why(&error))?]);
    }
    let addresses: Vec<SocketAddr> = match address.parse::<IpAddr>() {
        Ok(address) => vec![SocketAddr::new(address, port)],
        Err(_) => (address, port).to_socket_addrs().map_err(|error| say(&error))?.collect(),
    };
    // As MySQL does with `::`: IPv4 as well.
    let both = |address: &SocketAddr| address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED);
    addresses.into_iter().map(|address| listen(address, both(&address), backlog).map_err(|error| why(&error))).collect()
}

fn listen(address: SocketAddr, both: bool, backlog: i32) -> Result<(OwnedFd, SocketAddr), Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, !both)?;
    }
    net::bind(&socket, &address)?;
    net::listen(&socket, backlog)?;
    let bound = SocketAddr::try_from(net::getsockname(&socket)?).unwrap_or(address);
    Ok((socket, bound))
}

/// Binds the Unix socket, after removing what a server that is no more left behind.
fn bind_unix(path: &Path, backlog: i32) -> Result<UnixSocket, String> {
    let say = |error: io::Error| error.to_string();
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    let lock = PathBuf::from(lock);
    let mut created = None;
    for _ in 0..3 {
        match fs::OpenOptions::new().write(true).create_new(true).open(&lock) {
            Ok(file) => {
                created = Some(file);
                break;
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if let Some(process) = lock_owner(&lock) {
                    return Err(format!("process {process} uses it (its lock file says so: {})", lock.display()));
                }
                fs::remove_file(&lock).map_err(say)?;
            }
            Err(error) => return Err(format!("cannot make the lock file {}: {error}", lock.display())),
        }
    }
    let Some(mut file) = created else { return Err(format!("somebody else makes {}", lock.display())) };
    let bound = (|| {
        writeln!(file, "{}", std::process::id())?;
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        net::bind(&socket, &SocketAddrUnix::new(path)?)?;
        // Who may connect is decided by accounts, not by files.
        fs::set_permissions(path, fs::Permissions::from_mode(0o777))?;
        net::listen(&socket, backlog)?;
        Ok(socket)
    })();
    match bound {
        Ok(socket) => Ok(UnixSocket { socket, path: path.to_owned(), lock }),
        Err(error) => {
            let _ = fs::remove_file(&lock);
            Err(say(error))
        }
    }
}

/// The process that a lock file names, if it is there and is not this one.
fn lock_owner(lock: &Path) -> Option<i32> {
    let process: i32 = fs::read_to_string(lock).ok()?.trim().parse().ok()?;
    let pid = Pid::from_raw(process)?;
    let there = !matches!(test_kill_process(pid), Err(Errno::SRCH));
    (there && process != std::process::id() as i32).then_some(process)
}
