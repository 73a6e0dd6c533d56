//! Both ends of a handshake, in memory, in all the ways that there are.

use super::client::{ClientHandshake, ClientOptions, ClientStep, ServerFacts};
use super::rsa::KeyPair;
use super::server::{Account, ClientFacts, ServerHandshake, ServerStep};
use super::verifier::Verifier;
use super::{Password, Plugin, digest, fresh_scramble};
use crate::command::ChangeUser;
use crate::error::ProtocolError;
use crate::flags::{Capabilities, StatusFlags};
use crate::receive::Receiver;
use crate::reply::OkPacket;
use crate::send::PacketWriter;
use std::sync::OnceLock;

/// How a handshake ended.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Accepted { cache: bool, checks: usize, packets: u8 },
    Denied { using_password: bool },
    ClientRefuses(ProtocolError),
}

struct Case {
    options: ClientOptions,
    greeted_plugin: Plugin,
    account: Option<Account>,
    with_key: bool,
}

fn key() -> &'static KeyPair {
    static KEY: OnceLock<KeyPair> = OnceLock::new();
    KEY.get_or_init(|| KeyPair::generate().unwrap())
}

fn account(plugin: Plugin, password: &[u8], cached: bool) -> Option<Account> {
    let verifier = Verifier::of_password(plugin, password, fresh_scramble(), 1000);
    Some(Account { plugin, verifier, cached: cached.then(|| digest::sha2_cached(password)) })
}

fn options(password: &[u8]) -> ClientOptions {
    ClientOptions {
        user: b"ann".to_vec(),
        password: Password::new(password.to_vec()),
        database: b"shop".to_vec(),
        ..ClientOptions::default()
    }
}

/// Lets the two ends talk until one has had enough. `change` begins with COM_CHANGE_USER, written already.
fn talk(mut server: ServerHandshake, mut client: ClientHandshake, case: &Case, change: Option<PacketWriter>) -> End {
    let (mut to_client, mut to_server) = (Receiver::new(1 << 20), Receiver::new(1 << 20));
    let (mut from_server, mut from_client) = (PacketWriter::new(), PacketWriter::new());
    let (mut step, mut checks) = (None, 0);
    if change.is_some() {
        from_server.set_sequence(1);
        to_client.expect_sequence(1);
        step = Some(ServerStep::LookUp);
    } else {
        server.greet(&mut from_server, b"9.7.0", 7, 255, StatusFlags::AUTOCOMMIT, case.greeted_plugin);
    }
    for _ in 0..20 {
        while let Some(now) = step.take() {
            match now {
                ServerStep::Continue => break,
                ServerStep::StartTls => server.tls_started(),
                ServerStep::LookUp => {
                    assert_eq!((&server.client().user[..], &server.client().database[..]), (&b"ann"[..], &b"shop"[..]));
                    step = Some(server.account(case.account.clone(), &mut from_server));
                }
                ServerStep::Check(check) => {
                    checks += 1;
                    step = Some(server.checked(check.run()));
                }
                ServerStep::Accepted { cache } => {
                    OkPacket::default().write(&mut from_server, server.client().capabilities);
                    to_client.feed(from_server.bytes());
                    while let Some(packet) = to_client.next_packet().unwrap() {
                        if let ClientStep::Connected(_) = client.on_packet(packet.payload, &mut from_client).unwrap() {
                            let packets = from_server.sequence();
                            return End::Accepted { cache: cache.is_some(), checks, packets };
                        }
                    }
                    panic!("the client did not see that it is connected");
                }
                ServerStep::Denied { using_password } => return End::Denied { using_password },
            }
        }
        to_client.feed(from_server.bytes());
        from_server.sent(usize::MAX);
        to_server.expect_sequence(from_server.sequence());
        while let Some(packet) = to_client.next_packet().unwrap() {
            from_client.set_sequence(packet.answer_sequence);
            match client.on_packet(packet.payload, &mut from_client) {
                Ok(ClientStep::StartTls) => client.tls_started(&mut from_client),
                Ok(ClientStep::Continue) => {}
                Ok(other) => panic!("{other:?}"),
                Err(error) => return End::ClientRefuses(error),
            }
        }
        to_client.expect_sequence(from_client.sequence());
        to_server.feed(from_client.bytes());
        from_client.sent(usize::MAX);
        while let Some(packet) = to_server.next_packet().unwrap() {
            from_server.set_sequence(packet.answer_sequence);
            step = Some(server.on_packet(packet.payload, case.with_key.then(key), &mut from_server).unwrap());
            if let Some(ServerStep::StartTls) = step {
                server.tls_started();
            }
        }
    }
    panic!("they would talk for ever");
}

fn run(case: &Case) -> End {
    let server = ServerHandshake::new(Capabilities(!0), case.options.secure);
    talk(server, ClientHandshake::new(case.options.clone()), case, None)
}

const BOTH: [Plugin; 2] = [Plugin::NativePassword, Plugin::CachingSha2Password];

#[test]
fn a_proof_in_the_response_is_enough_where_it_can_be() {
    for greeted_plugin in BOTH {
        for plugin in BOTH {
            let case = Case {
                options: options(b"pw"),
                greeted_plugin,
                account: account(plugin, b"pw", true),
                with_key: false,
            };
            // Greeting, OK; one more for a switch, one more for "fast".
            let packets = if greeted_plugin == plugin { 3 } else { 5 }
                + if plugin == Plugin::CachingSha2Password { 1 } else { 0 };
            assert_eq!(run(&case), End::Accepted { cache: false, checks: 0, packets }, "{greeted_plugin:?} {plugin:?}");
            let wrong = Case { options: options(b"wrong"), ..case };
            if plugin == Plugin::NativePassword {
                assert_eq!(run(&wrong), End::Denied { using_password: true });
            }
        }
    }
}

#[test]
fn a_digest_that_is_not_cached_needs_the_password() {
    let with = |change: fn(&mut ClientOptions), password: &[u8], account: &Option<Account>, with_key| {
        let mut options = options(password);
        change(&mut options);
        run(&Case { options, greeted_plugin: Plugin::CachingSha2Password, account: account.clone(), with_key })
    };
    let known = account(Plugin::CachingSha2Password, b"pw", false);
    let by_tls: fn(&mut ClientOptions) = |options| options.tls = true;
    let by_socket: fn(&mut ClientOptions) = |options| options.secure = true;
    let by_key: fn(&mut ClientOptions) = |options| options.allow_public_key = true;
    for way in [by_tls, by_socket, by_key] {
        assert!(matches!(with(way, b"pw", &known, true), End::Accepted { cache: true, checks: 1, .. }));
        assert_eq!(with(way, b"wrong", &known, true), End::Denied { using_password: true });
        assert_eq!(with(way, b"pw", &None, true), End::Denied { using_password: true });
    }
    let refused = End::ClientRefuses(ProtocolError::InsecureTransport);
    assert_eq!(with(|_| (), b"pw", &known, true), refused, "the user did not allow to ask for the key");
    // A digest in the cache from before the password was changed does no harm.
    let mut stale = account(Plugin::CachingSha2Password, b"pw", false);
    stale.as_mut().unwrap().cached = Some(digest::sha2_cached(b"old"));
    assert!(matches!(with(by_tls, b"pw", &stale, false), End::Accepted { cache: true, checks: 1, .. }));
}

#[test]
fn no_password_is_right_only_where_there_is_none() {
    for plugin in BOTH {
        let without = account(plugin, b"", false);
        let with_password = account(plugin, b"pw", false);
        let case = |password, account: &Option<Account>| Case {
            options: options(password),
            greeted_plugin: plugin,
            account: account.clone(),
            with_key: true,
        };
        assert!(matches!(run(&case(b"", &without)), End::Accepted { checks: 0, .. }));
        assert_eq!(run(&case(b"pw", &without)), End::Denied { using_password: true });
        assert_eq!(run(&case(b"", &with_password)), End::Denied { using_password: false });
        assert_eq!(run(&case(b"", &None)), End::Denied { using_password: false });
    }
}

#[test]
fn change_user_asks_again() {
    for plugin in BOTH {
        let before = ClientFacts { capabilities: Capabilities(!0), ..ClientFacts::default() };
        let at_server = ServerFacts { capabilities: Capabilities(!0), ..ServerFacts::default() };
        let mut writer = PacketWriter::new();
        let client = ClientHandshake::change_user(options(b"pw"), &at_server, &mut writer);
        let change = ChangeUser::parse(&writer.bytes()[5..], before.capabilities).unwrap();
        let server = ServerHandshake::change_user(&change, &before, false);
        let case = Case {
            options: options(b"pw"),
            greeted_plugin: plugin,
            account: account(plugin, b"pw", true),
            with_key: false,
        };
        assert!(matches!(talk(server, client, &case, Some(writer)), End::Accepted { cache: false, .. }));
    }
}

#[test]
fn packets_that_are_not_due_are_refused() {
    let mut server = ServerHandshake::new(Capabilities(!0), false);
    let mut writer = PacketWriter::new();
    assert!(matches!(server.account(None, &mut writer), ServerStep::Denied { .. }));
    assert!(server.on_packet(b"x", None, &mut writer).is_err());
    let mut client = ClientHandshake::new(options(b"pw"));
    assert!(client.on_packet(b"\x01\x04", &mut writer).is_err());
    for plugin_data in
        [&b"\xFEmysql_native_password\0short\0"[..], b"\xFEnone_such\0abcdefghijklmnopqrst\0", b"\xFE", b""]
    {
        let mut client = ClientHandshake::change_user(
            options(b"pw"),
            &ServerFacts { capabilities: Capabilities(!0), ..ServerFacts::default() },
            &mut writer,
        );
        assert!(client.on_packet(plugin_data, &mut writer).is_err());
    }
}
