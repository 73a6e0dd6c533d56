//! What an idle connection costs: a process of its own, so that nothing else is counted.

mod common;

use common::*;

/// Resident memory of this process, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[test]
fn an_idle_connection_has_no_buffers() {
    let count = 2000;
    let running = start(|options| {
        options.max_connections = 20_000;
        // In this process are the clients as well: sockets without buffers of their own, once they are connected.
    });
    let warm = running.connect();
    let before = resident();
    let streams: Vec<_> = (0..count)
        .map(|_| {
            let mut connection = running.connect();
            assert_eq!(connection.query("literal 7").value, "7");
            // What the client has is dropped; the socket stays.
            connection.stream.take()
        })
        .collect();
    let each = resident().saturating_sub(before) / count;
    println!("{each} bytes for each of {count} idle connections");
    assert_eq!(running.server.handle().totals().threads_connected, count + 1);
    assert!(each < 4 << 10, "{each} bytes each");
    drop((warm, streams));
}
