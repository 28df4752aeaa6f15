//! Tests of the CORS table, row by row.

use super::*;

const EXPOSED: &str =
    "access-control-expose-headers: RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";
const LISTED: [&str; 2] = ["https://a.example", "https://b.example"];

fn lines_of(headers: &HeaderMap) -> Vec<String> {
    let mut lines: Vec<_> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    lines.sort();
    lines
}

#[track_caller]
fn check(origin: impl Into<CorsOrigin>, asking: Option<&'static str>, expected: &[&str]) {
    let cors = Cors::new(&CorsOptions::new(origin));
    let mut headers = HeaderMap::new();
    cors.apply(asking.map(HeaderValue::from_static).as_ref(), &mut headers, None);
    assert_eq!(lines_of(&headers), expected, "{asking:?}");
}

/// Checks that every request gets the same response.
#[track_caller]
fn check_always(origin: impl Into<CorsOrigin>, expected: &[&str]) {
    let origin = origin.into();
    for asking in [None, Some("https://a.example"), Some("null"), Some("")] {
        check(origin.clone(), asking, expected);
    }
}

const DEVELOPMENT: [&str; 2] = ["access-control-allow-origin: http://localhost:3000", EXPOSED];

#[test]
fn unset_origin_allows_development_without_credentials() {
    check_always(CorsOrigin::Unset, &DEVELOPMENT);
}

#[test]
fn any_origin_never_has_credentials() {
    let expected = ["access-control-allow-origin: *", EXPOSED];
    check_always("*", &expected);
    check_always(["*"], &expected);
    check_always(["https://a.example", "*"], &expected);
}

#[test]
fn a_single_origin_is_sent_unchanged() {
    check_always(
        "https://b.example",
        &[
            "access-control-allow-credentials: true",
            "access-control-allow-origin: https://b.example",
            EXPOSED,
        ],
    );
}

#[test]
fn a_list_allows_its_origins() {
    let answer = |origin| {
        [
            "access-control-allow-credentials: true".to_owned(),
            format!("access-control-allow-origin: {origin}"),
            EXPOSED.to_owned(),
            "vary: Origin".to_owned(),
        ]
    };
    for origin in LISTED {
        let expected = answer(origin);
        check(LISTED, Some(origin), &expected.each_ref().map(String::as_str));
    }
    let expected = answer(LISTED[0]);
    check([LISTED[0]], Some(LISTED[0]), &expected.each_ref().map(String::as_str));
}

#[test]
fn a_list_rejects_other_origins() {
    for asking in [
        None,
        Some("null"),
        Some(""),
        Some("*"),
        Some("https://A.example"),
        Some("https://a.example/"),
        Some("https://a.example:443"),
        Some("https://a.example.evil"),
        Some("http://a.example"),
        Some("https://a.example, https://b.example"),
    ] {
        check(LISTED, asking, &["vary: Origin"]);
    }
}

#[test]
fn ignores_duplicate_origins() {
    let mut request = HeaderMap::new();
    assert_eq!(origin_of(&request), None);
    for (origin, is_believed) in [(LISTED[0], true), (LISTED[1], false)] {
        request.append(ORIGIN, HeaderValue::from_static(origin));
        assert_eq!(origin_of(&request).is_some(), is_believed);
    }
    request.insert(ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("GET"));
    request.append(ORIGIN, HeaderValue::from_static(LISTED[0]));
    let mut headers = HeaderMap::new();
    Cors::new(&CorsOptions::new(LISTED)).preflight(&request, &mut headers, None);
    assert_eq!(lines_of(&headers), ["vary: Origin"]);
}

#[test]
fn removes_cors_headers_of_a_response() {
    for (origin, expected) in [
        (CorsOrigin::from(LISTED), &["vary: Origin"][..]),
        (CorsOrigin::from("*"), &["access-control-allow-origin: *", EXPOSED]),
    ] {
        let mut headers = HeaderMap::new();
        for value in ["https://evil.example", "*"] {
            headers.append(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static(value));
        }
        headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, TRUE.clone());
        Cors::new(&CorsOptions::new(origin)).apply(None, &mut headers, None);
        assert_eq!(lines_of(&headers), expected);
    }
}

#[test]
fn malformed_values_count_as_unset() {
    for origin in ["", " ", "null", "a.example", "https://a.example/", "https://a\n.example", "**"]
    {
        check_always(origin, &DEVELOPMENT);
        check_always(["https://a.example", origin], &DEVELOPMENT);
    }
    check_always(Vec::<String>::new(), &DEVELOPMENT);
    check_always(["https://a.example/", "*"], &DEVELOPMENT);
}

#[test]
fn vary_is_appended_once() {
    let cors = Cors::new(&CorsOptions::new(LISTED));
    for (own, expected) in [
        (&["Accept-Encoding"][..], &["Accept-Encoding", "Origin"][..]),
        (&["Accept, origin"], &["Accept, origin"]),
        (&["Accept", "Origin"], &["Accept", "Origin"]),
        (&["*"], &["*"]),
        (&["X-Origin"], &["X-Origin", "Origin"]),
    ] {
        let mut headers = HeaderMap::new();
        own.iter().for_each(|line| {
            headers.append(VARY, HeaderValue::from_static(line));
        });
        cors.apply(None, &mut headers, None);
        cors.apply(None, &mut headers, None);
        assert_eq!(headers.get_all(VARY).into_iter().collect::<Vec<_>>(), expected);
    }
}

#[track_caller]
fn check_preflight(
    options: &CorsOptions,
    asking: &[(&'static str, &'static str)],
    expected: &[&str],
) {
    let mut request = HeaderMap::new();
    for (name, value) in asking {
        request.insert(*name, HeaderValue::from_static(value));
    }
    let mut headers = HeaderMap::new();
    Cors::new(options).preflight(&request, &mut headers, None);
    assert_eq!(lines_of(&headers), expected, "{asking:?}");
}

#[test]
fn a_preflight_lists_allowed_methods_and_headers() {
    check_preflight(
        &CorsOptions::new(LISTED),
        &[("origin", LISTED[1])],
        &[
            "access-control-allow-credentials: true",
            "access-control-allow-headers: Content-Type, Authorization",
            "access-control-allow-methods: GET, POST, PUT, DELETE, PATCH, OPTIONS",
            "access-control-allow-origin: https://b.example",
            "access-control-max-age: 600",
            "vary: Origin",
        ],
    );
    let options = CorsOptions::new("*").methods(["GET"]).allowed_headers(["X-A", "X-B"]).max_age(0);
    check_preflight(
        &options,
        &[("origin", "https://x.example")],
        &[
            "access-control-allow-headers: X-A, X-B",
            "access-control-allow-methods: GET",
            "access-control-allow-origin: *",
            "access-control-max-age: 0",
        ],
    );
}

#[test]
fn a_rejected_preflight_lists_nothing() {
    check_preflight(&CorsOptions::new(LISTED), &[("origin", "null")], &["vary: Origin"]);
}

#[test]
fn private_networks_are_rejected_unless_allowed() {
    let private = ("access-control-request-private-network", "true");
    let options = CorsOptions::new("https://a.example").allowed_headers(Vec::<String>::new());
    let asking = [("origin", "https://a.example"), private];
    check_preflight(&options, &asking, &[]);
    check_preflight(&CorsOptions::new(LISTED), &asking, &["vary: Origin"]);
    check_preflight(
        &options.allow_private_network(true),
        &asking,
        &[
            "access-control-allow-credentials: true",
            "access-control-allow-methods: GET, POST, PUT, DELETE, PATCH, OPTIONS",
            "access-control-allow-origin: https://a.example",
            "access-control-allow-private-network: true",
            "access-control-max-age: 600",
        ],
    );
}

#[test]
fn malformed_lists_fall_back_and_empty_ones_add_no_header() {
    let cors = |options: &CorsOptions| {
        let mut headers = HeaderMap::new();
        Cors::new(options).apply(None, &mut headers, None);
        headers.get(ACCESS_CONTROL_EXPOSE_HEADERS).map(|value| value.to_str().unwrap().to_owned())
    };
    let options = CorsOptions::new("*").exposed_headers(["X-A", "a b"]);
    assert!(cors(&options).unwrap().starts_with("RateLimit,"));
    assert_eq!(cors(&options.exposed_headers(["X-A"])).unwrap(), "X-A");
    assert_eq!(cors(&CorsOptions::new("*").exposed_headers(Vec::<String>::new())), None);
    assert_eq!(cors(&CorsOptions::new("*").exposed_headers(["*"])).unwrap(), "*");
}

#[test]
fn a_preflight_is_options_with_both_headers() {
    let mut headers = HeaderMap::new();
    assert!(!is_preflight(&Method::OPTIONS, &headers));
    headers.insert(ORIGIN, HeaderValue::from_static("https://a.example"));
    assert!(!is_preflight(&Method::OPTIONS, &headers));
    headers.insert(ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("PUT"));
    assert!(is_preflight(&Method::OPTIONS, &headers));
    assert!(!is_preflight(&Method::GET, &headers));
}

#[test]
fn a_map_with_room_costs_no_allocation() {
    let cors = Cors::new(&CorsOptions::new(LISTED));
    let origin = HeaderValue::from_static(LISTED[0]);
    // The first clone of a value may make it shareable.
    cors.apply(Some(&origin), &mut HeaderMap::new(), None);
    let mut headers = HeaderMap::with_capacity(8);
    let counted = allocation_counter::measure(|| cors.apply(Some(&origin), &mut headers, None));
    assert_eq!((counted.count_total, headers.len()), (0, 4));
}

#[test]
fn keeps_headers_that_a_response_exposes() {
    let expose = |own: &'static str, options: &CorsOptions| {
        let mut response = HeaderMap::new();
        response.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(own));
        Cors::new(options).apply(None, &mut response, None);
        response.remove(ACCESS_CONTROL_EXPOSE_HEADERS)
    };
    let options = CorsOptions::new("*").exposed_headers(["X-A"]);
    assert_eq!(expose("ETag", &options).unwrap(), "X-A, ETag");
    let none = CorsOptions::new("*").exposed_headers(Vec::<String>::new());
    assert_eq!(expose("ETag, Link", &none).unwrap(), "ETag, Link");
}
