//! Whatever our routes match, axum hands over; and it never panics.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use stockade_core::Request;
use stockade_routing::{App, Router};

use super::*;

/// All forms of paths.
const PATTERNS: &[&str] = &[
    "/",
    "/a",
    "/a/",
    "/a/b",
    "/:id",
    "/:id?",
    "/a/:id",
    "/a/:id?",
    "/:one/b",
    "/:from-:to",
    "/:a-:b/c",
    r"/a/:id(\d+)",
    r"/:q?/:page(\d+)?",
    "/x:id?",
    "/*",
    "/*/b",
    "/a/*/c",
    "/**",
    "/a/**",
    "/:x/**",
    "/$b/:$b",
];

const SEGMENTS: &[&str] = &["", "a", "b", "c", "7", "a-b", "x", "x7", "$b", "%61"];

fn built(patterns: &[&str]) -> Option<App> {
    let mut router = Router::new();
    for pattern in patterns {
        router.get(pattern, async || "ours");
    }
    // Some pairs are the same path.
    router.build().ok()
}

/// All paths of up to three segments.
fn all_paths() -> Vec<String> {
    let mut paths = vec![String::new()];
    let mut longest = paths.clone();
    for _ in 0..3 {
        let longer = |path: &String| {
            let path = path.clone();
            SEGMENTS.iter().map(move |segment| format!("{path}/{segment}"))
        };
        longest = longest.iter().flat_map(longer).collect();
        paths.extend(longest.clone());
    }
    paths.retain(|path| !path.is_empty() && path.parse::<http::Uri>().is_ok());
    paths
}

fn status(router: &mut axum::Router, path: &str) -> u16 {
    let request = http::Request::get(path).body(axum::body::Body::empty()).unwrap();
    let answer = pin!(router.call(request));
    let Poll::Ready(Ok(response)) = answer.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("nothing here waits");
    };
    response.status().as_u16()
}

#[track_caller]
fn check(patterns: &[&str], paths: &[String]) {
    let Some(app) = built(patterns) else { return };
    let routes = HostRoutes::new(&app);
    let mut router: axum::Router = of(&routes);
    for path in paths {
        let known = routes.routes().iter().any(|route| route.has_path(path));
        let expected = if known { 200 } else { 404 };
        assert_eq!(status(&mut router, path), expected, "{path:?} on {patterns:?}");
    }
}

#[test]
fn axum_hands_over_whatever_one_route_matches() {
    let paths = all_paths();
    for pattern in PATTERNS {
        assert!(built(&[pattern]).is_some(), "{pattern:?}");
        check(&[pattern], &paths);
    }
}

#[test]
fn axum_hands_over_whatever_two_routes_match() {
    let mut paths = all_paths();
    // Every path of two segments, and some of three.
    let mut index = 0;
    paths.retain(|path| {
        index += 1;
        path.matches('/').count() < 3 || index % 29 == 0
    });
    for (index, one) in PATTERNS.iter().enumerate() {
        for other in &PATTERNS[index + 1..] {
            check(&[one, other], &paths);
        }
    }
}

#[test]
fn axum_hands_over_whatever_all_routes_match() {
    assert!(built(PATTERNS).is_some());
    check(PATTERNS, &all_paths());
}

#[track_caller]
fn shown(pattern: &str, expected: &[&str]) {
    let routes = HostRoutes::new(&built(&[pattern]).unwrap());
    let paths: Vec<String> = paths(&routes.routes()).into_iter().map(|path| path.text).collect();
    assert_eq!(paths, expected, "{pattern:?}");
}

#[test]
fn paths_of_axum_have_our_names() {
    shown("/users/:id", &["/users/{id}"]);
    shown("/flights/:from-:to", &["/flights/{from_to}"]);
    shown("/opt/:id?", &["/opt/{id}", "/opt"]);
    shown("/files/**", &["/files/{*splat}", "/files/"]);
    shown("/*/x", &["/{splat}/x"]);
    shown("/$b/:$b", &["/$b/{p0}"]);
}

#[test]
fn a_path_that_axum_reads_otherwise_is_ours_to_refuse() {
    let app = built(&["/:from-:to"]).unwrap();
    let request = Request::from(http::Request::get("/nothing").body(()).unwrap());
    let answer = pin!(HostRoutes::new(&app).handle(request));
    let Poll::Ready(response) = answer.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("nothing here waits");
    };
    assert_eq!(response.status(), 404);
}

#[test]
fn where_one_has_a_rest_parameters_are_part_of_it() {
    let routes = HostRoutes::new(&built(&["/f/:id", "/f/**", "/f/:id/x", "/f/a", "/:b"]).unwrap());
    let paths: Vec<String> = paths(&routes.routes()).into_iter().map(|path| path.text).collect();
    assert_eq!(paths, ["/f/{*splat}", "/f/", "/f/a", "/{b}"]);
}
