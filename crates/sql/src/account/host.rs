//! Which hosts an account is for, and which of several accounts comes first.
//!
//! ```text
//! 'db.example'  '10.0.0.1'     exact          first
//! '10.0.0.0/255.255.255.0'  '10.0.0.0/24'     netmask
//! '10.0.%'  '%.example'        a pattern      the later its first wildcard, the sooner it is tried
//! '%'  ''                      everybody      last
//! ```
//! Within one host a named user comes before the anonymous one.
//!
//! # Source
//! The manual's "Access Control, Stage 1: Connection Verification".

use std::net::{IpAddr, Ipv4Addr};

/// How specific a host is: greater is tried first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum HostPattern {
    /// Nothing given: everybody, after `%`.
    Empty,
    /// `%`.
    Any,
    /// With wildcards, the first at this place.
    Wildcard(usize),
    /// A network.
    Netmask(u32),
    /// One host.
    Exact,
}

impl HostPattern {
    /// Of the host of an account.
    pub fn of(host: &str) -> HostPattern {
        match host {
            "" => HostPattern::Empty,
            "%" => HostPattern::Any,
            host => match host.find(['%', '_']) {
                Some(at) => HostPattern::Wildcard(at),
                None => netmask(host).map_or(HostPattern::Exact, |(_, mask)| HostPattern::Netmask(mask)),
            },
        }
    }
}

/// The address and the mask of `a.b.c.d/m.m.m.m` or `a.b.c.d/bits`.
fn netmask(host: &str) -> Option<(u32, u32)> {
    let (address, mask) = host.split_once('/')?;
    let address: Ipv4Addr = address.parse().ok()?;
    let mask = match mask.parse::<u32>() {
        Ok(bits @ 0..=32) => u32::MAX.checked_shl(32 - bits).unwrap_or(0),
        Ok(_) => return None,
        Err(_) => u32::from(mask.parse::<Ipv4Addr>().ok()?),
    };
    Some((address.into(), mask))
}

/// Whether an account's host is that of a connection: `name` as the server resolved it (`localhost` for a socket file),
/// or its address.
pub fn matches_host(host: &str, name: &str, address: Option<IpAddr>) -> bool {
    let text = address.map(|address| address.to_canonical().to_string());
    let eq = |pattern: &str| {
        pattern.eq_ignore_ascii_case(name) || text.as_ref().is_some_and(|text| pattern.eq_ignore_ascii_case(text))
    };
    match HostPattern::of(host) {
        HostPattern::Empty | HostPattern::Any => true,
        HostPattern::Exact => eq(host),
        HostPattern::Netmask(mask) => match (netmask(host), address.map(|address| address.to_canonical())) {
            (Some((network, _)), Some(IpAddr::V4(address))) => u32::from(address) & mask == network,
            _ => false,
        },
        HostPattern::Wildcard(_) => wildcard(host, name, true) || text.is_some_and(|text| wildcard(host, &text, true)),
    }
}

/// `text LIKE pattern`, of ASCII letters in any case if `any_case`; `\` takes a wildcard's meaning away.
pub(super) fn wildcard(pattern: &str, text: &str, any_case: bool) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut at, mut place) = (0, 0);
    let mut back = None;
    while at < text.len() {
        let same = match pattern.get(place) {
            Some(b'%') => {
                back = Some((place + 1, at));
                place += 1;
                continue;
            }
            Some(b'_') => Some(1),
            Some(b'\\') if place + 1 < pattern.len() => (pattern[place + 1] == text[at]).then_some(2),
            Some(byte) if any_case => byte.eq_ignore_ascii_case(&text[at]).then_some(1),
            Some(byte) => (*byte == text[at]).then_some(1),
            None => None,
        };
        match (same, back) {
            (Some(len), _) => (place, at) = (place + len, at + 1),
            (None, Some((after, start))) => {
                (place, at) = (after, start + 1);
                back = Some((after, start + 1));
            }
            (None, None) => return false,
        }
    }
    pattern[place..].iter().all(|byte| *byte == b'%')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hosts_match_as_the_manual_says() {
        let ip = |text: &str| text.parse().ok();
        for (host, name, address, fits) in [
            ("localhost", "localhost", "127.0.0.1", true),
            ("LOCALHOST", "localhost", "127.0.0.1", true),
            ("127.0.0.1", "localhost", "127.0.0.1", true),
            ("127.0.0.1", "localhost", "::ffff:127.0.0.1", true),
            ("%", "anything", "10.1.2.3", true),
            ("", "anything", "10.1.2.3", true),
            ("10.1.%", "h", "10.1.2.3", true),
            ("10.1.%", "h", "10.2.2.3", false),
            ("10.1.2._", "h", "10.1.2.3", true),
            ("10.1.2._", "h", "10.1.2.33", false),
            ("%.example", "db.example", "10.1.2.3", true),
            ("%.example", "example", "10.1.2.3", false),
            ("10.1.0.0/255.255.0.0", "h", "10.1.2.3", true),
            ("10.1.0.0/16", "h", "10.1.2.3", true),
            ("10.1.0.0/16", "h", "10.2.2.3", false),
            ("10.1.0.0/0", "h", "10.2.2.3", false),
            ("0.0.0.0/0", "h", "10.2.2.3", true),
            ("10.1.2.3/33", "h", "10.1.2.3", false),
            ("db\\_1", "db_1", "10.1.2.3", true),
            ("db\\_1", "dbx1", "10.1.2.3", false),
            ("::1", "h", "::1", true),
        ] {
            assert_eq!(matches_host(host, name, ip(address)), fits, "{host} {name} {address}");
        }
    }

    #[test]
    fn the_more_specific_host_comes_first() {
        let hosts = ["db.example", "10.0.0.0/24", "10.0.0.0/16", "10.0.0.%", "10.%", "%.example", "%", ""];
        // What is equally specific has no order of its own.
        assert!(hosts.windows(2).all(|pair| HostPattern::of(pair[0]) >= HostPattern::of(pair[1])));
    }

    proptest! {
        #[test]
        fn any_host_and_any_name_end(host in "[%_a\\\\]{0,30}", name in "[a_%\\\\]{0,60}", other in ".{0,30}") {
            matches_host(&host, &name, None);
            matches_host(&other, &name, "10.0.0.1".parse().ok());
            prop_assert!(wildcard("%", &other, true));
            prop_assert!(!name.contains('\\') || wildcard(&name.replace('\\', "\\\\"), &name, false) || name.contains(['%', '_']));
        }
    }
}
