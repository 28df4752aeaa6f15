//! Tests with tables of chains, and with generated chains that contain spoofed
//! entries.

use proptest::prelude::*;

use super::*;

const PEER: &str = "10.0.0.1";

fn headers_of(name: &'static str, lines: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(name, HeaderValue::from_str(line).unwrap());
    }
    headers
}

fn shown(address: Option<IpAddr>) -> String {
    address.map_or_else(|| "-".into(), |address| address.to_string())
}

#[track_caller]
fn check(trust: impl Into<TrustProxy>, lines: &[&str], expected: &str) {
    let headers = headers_of("x-forwarded-for", lines);
    let client = client_address(PEER.parse().ok(), &headers, &trust.into());
    assert_eq!(shown(client), expected, "{lines:?}");
}

#[track_caller]
fn check_forwarded(hops: u8, lines: &[&str], expected: &str) {
    let headers = headers_of("forwarded", lines);
    let trust = TrustProxy::hops(hops).forwarded();
    assert_eq!(shown(client_address(PEER.parse().ok(), &headers, &trust)), expected, "{lines:?}");
}

#[test]
fn the_client_is_the_peer_if_nobody_is_trusted() {
    check(false, &["203.0.113.7"], PEER);
    check(0, &["203.0.113.7"], PEER);
    let mapped = "::ffff:10.0.0.1".parse().ok();
    assert_eq!(shown(client_address(mapped, &HeaderMap::new(), &TrustProxy::none())), PEER);
    assert_eq!(client_address(None, &HeaderMap::new(), &TrustProxy::none()), None);
}

/// Checks the client of a peer on a Unix socket.
#[track_caller]
fn check_local(trust: &TrustProxy, lines: &[&str], expected: &str) {
    let headers = headers_of("x-forwarded-for", lines);
    assert_eq!(shown(client_behind_local_peer(&headers, trust)), expected, "{trust:?} {lines:?}");
}

#[test]
fn a_peer_without_an_address_is_trusted_on_request() {
    let networks = |list: &[&str]| TrustProxy::networks(list).unwrap();
    check_local(&TrustProxy::none(), &["203.0.113.7"], "-");
    check_local(&TrustProxy::hops(1), &["1.1.1.1, 203.0.113.7"], "203.0.113.7");
    check_local(&TrustProxy::hops(2), &["1.1.1.1, 203.0.113.7"], "1.1.1.1");
    check_local(&TrustProxy::hops(2), &["203.0.113.7"], "-");
    check_local(&TrustProxy::hops(1), &[], "-");
    check_local(&TrustProxy::hops(1), &["unknown"], "-");
    check_local(&networks(&["0.0.0.0/0", "::/0"]), &["203.0.113.7"], "-");
    let trust = networks(&["unix:", "10.0.0.0/8"]);
    check_local(&trust, &["1.1.1.1, 203.0.113.7"], "203.0.113.7");
    check_local(&trust, &["1.1.1.1, 203.0.113.7, 10.0.0.9"], "203.0.113.7");
    check_local(&trust, &["10.0.0.8, 10.0.0.9"], "10.0.0.8");
    check_local(&trust, &["203.0.113.7, x, 10.0.0.9"], "-");
    check_local(&trust, &[], "-");
    let forwarded = headers_of("forwarded", &["for=1.1.1.1", "for=203.0.113.7"]);
    for trust in [TrustProxy::hops(1), networks(&["unix:"])] {
        let found = client_behind_local_peer(&forwarded, &trust.forwarded());
        assert_eq!(shown(found), "203.0.113.7");
    }
}

#[test]
fn a_peer_with_an_address_is_not_a_local_one() {
    let trust = TrustProxy::networks(["unix:"]).unwrap();
    check(trust, &["203.0.113.7"], PEER);
}

#[test]
fn counts_proxies_from_the_right() {
    check(true, &["203.0.113.7"], "203.0.113.7");
    check(1, &["1.1.1.1, 203.0.113.7"], "203.0.113.7");
    check(2, &["1.1.1.1, 203.0.113.7"], "1.1.1.1");
    check(2, &["9.9.9.9", "1.1.1.1 ,, 203.0.113.7 ,"], "1.1.1.1");
    check(3, &["9.9.9.9", "", " , 1.1.1.1", "203.0.113.7"], "9.9.9.9");
    check(1, &["1.1.1.1, [2001:db8::1%eth0]:4711"], "2001:db8::1");
    check(1, &["::ffff:203.0.113.7"], "203.0.113.7");
}

#[test]
fn a_short_chain_or_missing_address_gives_the_peer() {
    check(1, &[], PEER);
    check(1, &[" , "], PEER);
    check(2, &["203.0.113.7"], PEER);
    check(255, &["203.0.113.7, 1.1.1.1"], PEER);
    check(1, &["203.0.113.7, unknown"], PEER);
    check(1, &["203.0.113.7, a b"], PEER);
}

#[test]
fn finds_the_first_address_outside_of_trusted_networks() {
    let trust = || TrustProxy::networks(["10.0.0.0/8", "192.168.0.0/16", "fd00::/8"]).unwrap();
    check(trust(), &["1.1.1.1, 203.0.113.7, 192.168.1.1, fd00::1"], "203.0.113.7");
    check(trust(), &["1.1.1.1, 203.0.113.7"], "203.0.113.7");
    check(trust(), &["192.168.3.3, 192.168.1.1"], "192.168.3.3");
    check(trust(), &["203.0.113.7, unknown, 192.168.1.1"], PEER);
    check(trust(), &[], PEER);
    check(TrustProxy::networks(["172.16.0.0/12"]).unwrap(), &["203.0.113.7"], PEER);
    let headers = headers_of("x-forwarded-for", &["203.0.113.7"]);
    assert_eq!(client_address(None, &headers, &trust()), None);
}

#[test]
fn forwarded_is_read_on_demand() {
    check_forwarded(1, &["for=203.0.113.7;proto=https"], "203.0.113.7");
    check_forwarded(1, &[r#"by=1.1.1.1; FOR="[2001:db8::1]:4711" ;host="a,b;c""#], "2001:db8::1");
    check_forwarded(2, &["for=203.0.113.7", "for=1.1.1.1"], "203.0.113.7");
    check_forwarded(1, &["for=203.0.113.7, proto=https"], PEER);
    check_forwarded(1, &["for=_hidden"], PEER);
    check_forwarded(1, &["for=\"203.0.113.7"], PEER);
    check_forwarded(1, &["for=\", for=203.0.113.7"], "203.0.113.7");
    check_forwarded(1, &[], PEER);
    check(TrustProxy::hops(1).forwarded(), &["203.0.113.7"], PEER);
    check_forwarded(0, &["for=203.0.113.7"], PEER);
}

#[test]
fn trusts_no_header_without_a_peer() {
    let headers = headers_of("x-forwarded-for", &["1.1.1.1, 203.0.113.7"]);
    assert_eq!(shown(client_address(None, &headers, &TrustProxy::hops(1))), "-");
}

#[test]
fn warns_once() {
    let (warned, through) = (AtomicBool::new(false), headers_of("x-forwarded-for", &["1.1.1.1"]));
    let warn = |headers: &HeaderMap, trust: u8| warn_untrusted(headers, &trust.into(), &warned);
    assert!(!warn(&HeaderMap::new(), 0));
    assert!(!warn(&through, 1));
    assert!(warn(&through, 0));
    assert!(!warn(&through, 0));
}

#[test]
fn nothing_is_allocated() {
    let headers = headers_of("x-forwarded-for", &["1.1.1.1, 203.0.113.7", "2001:db8::1"]);
    let trust = TrustProxy::hops(2);
    let counted = allocation_counter::measure(|| {
        assert!(client_address(Some(IpAddr::from([10, 0, 0, 1])), &headers, &trust).is_some());
    });
    assert_eq!(counted.count_total, 0);
}

/// Lists that a client may send: addresses, garbage, quotes and commas.
fn spoofed() -> impl Strategy<Value = Vec<String>> {
    let entry = prop_oneof![
        any::<[u8; 4]>().prop_map(|bytes| IpAddr::from(bytes).to_string()),
        any::<[u8; 16]>().prop_map(|bytes| format!("[{}]:80", IpAddr::from(bytes))),
        "[ -~]{0,12}",
        Just("for=\"".to_owned()),
        Just(String::new()),
    ];
    proptest::collection::vec(entry, 0..=6)
}

proptest! {
    #[test]
    fn spoofed_entries_never_change_the_client(
        left in spoofed(),
        right in proptest::collection::vec(any::<[u8; 4]>(), 0..=6),
        hops in 0_u8..=4,
        one_line in any::<bool>(),
    ) {
        // If there are as many appended entries as trusted hops, the client
        // wrote everything left of them.
        prop_assume!(right.len() >= usize::from(hops));
        let right: Vec<_> = right.into_iter().map(IpAddr::from).collect();
        let expected = right.len().checked_sub(usize::from(hops)).and_then(|at| right.get(at));
        let expected = expected.copied().filter(|_| hops > 0).or_else(|| PEER.parse().ok());

        for (name, prefix) in [("x-forwarded-for", ""), ("forwarded", "for=")] {
            let own = right.iter().map(|ip| format!("{prefix}{ip}"));
            let lines: Vec<String> = left.iter().cloned().chain(own).collect();
            let lines = if one_line { vec![lines.join(", ")] } else { lines };
            let lines: Vec<_> = lines.iter().map(String::as_str).collect();
            let mut trust = TrustProxy::hops(hops);
            if name == "forwarded" {
                trust = trust.forwarded();
            }
            let client = client_address(PEER.parse().ok(), &headers_of(name, &lines), &trust);
            prop_assert_eq!(client, expected);
        }
    }

    #[test]
    fn a_number_of_hops_selects_the_entry_left_of_the_peer(
        chain in proptest::collection::vec(any::<[u8; 4]>(), 0..=6),
        hops in 0_u8..=4,
    ) {
        let mut model: Vec<_> = chain.into_iter().map(IpAddr::from).collect();
        let text: Vec<_> = model.iter().map(IpAddr::to_string).collect();
        let headers = headers_of("x-forwarded-for", &[&text.join(", ")]);
        let peer: IpAddr = PEER.parse().unwrap();
        model.push(peer);
        let expected = model.iter().rev().nth(usize::from(hops)).copied().unwrap_or(peer);
        let client = client_address(Some(peer), &headers, &TrustProxy::hops(hops));
        prop_assert_eq!(client, Some(expected));
    }
}
