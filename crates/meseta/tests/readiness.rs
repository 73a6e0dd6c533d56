//! The server under systemd: what it says on NOTIFY_SOCKET, and when; and how fast it is ready.

mod support;

use std::fs;
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use support::{Serving, command};

const PATIENCE: Duration = Duration::from_secs(60);

fn told(socket: &UnixDatagram) -> String {
    let mut room = [0; 1024];
    let count = socket.recv(&mut room).expect("it is told in time");
    String::from_utf8_lossy(&room[..count]).into_owned()
}

#[test]
fn systemd_is_told_when_clients_are_served_and_when_it_stops() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let path = directory.path().join("notify");
    let name = format!("@meseta-readiness-{}", std::process::id());
    let by_path = UnixDatagram::bind(&path).unwrap();
    let by_name = UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(&name[1..]).unwrap()).unwrap();
    for (socket, name) in [(by_path, path.to_str().unwrap()), (by_name, &*name)] {
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let serving = Serving::start_with(&data, &[], &[("NOTIFY_SOCKET", name)]);
        let ready = told(&socket);
        assert!(ready.lines().any(|line| line == "READY=1"), "{ready}");
        assert!(ready.lines().any(|line| line == format!("MAINPID={}", serving.id())), "{ready}");
        // Whoever waited for it gets in.
        assert!(TcpStream::connect(("127.0.0.1", serving.port)).is_ok());
        assert_eq!(serving.connect().query("select 1"), ["1"]);
        serving.signal("-TERM");
        assert_eq!(told(&socket), "STOPPING=1\n");
        assert_eq!(serving.ended(), Some(0));
    }
    // A start that fails says nothing of being ready; a socket that is not there is not in the way.
    let socket = UnixDatagram::bind(directory.path().join("other")).unwrap();
    let environment = [("NOTIFY_SOCKET", directory.path().join("other").to_str().unwrap().to_owned())];
    let environment = environment.each_ref().map(|(name, value)| (*name, &**value));
    let ended = command(&data, &["--init-file=/nowhere"], &environment).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    socket.set_nonblocking(true).unwrap();
    assert!(socket.recv(&mut [0; 64]).is_err());
    let serving = Serving::start_with(&data, &[], &[("NOTIFY_SOCKET", "/nowhere/at/all")]);
    assert_eq!(serving.connect().query("select 1"), ["1"]);
}

/// The key for passwords takes longer than the rest of a first start: it is made meanwhile, and whoever needs it waits.
#[test]
fn a_first_start_does_not_wait_for_the_key_of_passwords_and_clients_that_need_it_do() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut root = serving.connect();
    assert_eq!(root.query("create user u@localhost identified by 'secret'"), ["ok 0"]);
    // In the clear, and not in the cache of digests.
    assert!(serving.login_as("u", "secret").is_ok());
    let key = directory.path().join("private_key.pem");
    let made = fs::read(&key).unwrap();
    assert!(directory.path().join("public_key.pem").exists());
    drop(root);
    assert_eq!(serving.end("-TERM"), Some(0));
    // It is the same at the next start; one that is damaged is told of.
    let serving = Serving::start(directory.path());
    assert!(serving.login_as("u", "secret").is_ok());
    assert_eq!(fs::read(&key).unwrap(), made);
    drop(serving);
    fs::write(&key, "nothing").unwrap();
    let ended = command(directory.path(), &[], &[]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("private_key.pem: not an RSA key"), "{ended:?}");

    // A server that is stopped at once leaves a key that is whole, or none.
    for _ in 0..3 {
        let directory = tempfile::tempdir().unwrap();
        let serving = Serving::start(directory.path());
        let deadline = Instant::now() + PATIENCE;
        assert_eq!(serving.end("-KILL"), None);
        let serving = Serving::start(directory.path());
        while !directory.path().join("private_key.pem").exists() {
            assert!(Instant::now() < deadline);
            std::thread::yield_now();
        }
        drop(serving);
    }
}
