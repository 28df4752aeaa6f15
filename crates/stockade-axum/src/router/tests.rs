//! Tests that axum passes on everything that the stockade routes match, and
//! never panics.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use stockade_core::{HttpBody, Request};
use stockade_routing::{App, Router, RouterOptions};

use super::*;

/// All kinds of path syntax.
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
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    for pattern in patterns {
        router.get(pattern, async || "ours");
    }
    // Some pairs are the same path.
    router.build().ok()
}

/// Returns all paths with up to three segments.
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

fn status(router: &mut axum::Router, method: &Method, path: &str) -> u16 {
    let request = http::Request::builder().method(method).uri(path);
    let request = request.body(axum::body::Body::empty()).unwrap();
    let answer = pin!(router.call(request));
    let Poll::Ready(Ok(response)) = answer.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("nothing here waits");
    };
    response.status().as_u16()
}

/// Returns the status of the application without axum.
fn own_status(app: &App, path: &str) -> u16 {
    let (head, ()) = http::Request::get(path).body(()).unwrap().into_parts();
    let response = pin!(app.handle(Request::new(head, HttpBody::empty())));
    let Poll::Ready(response) = response.poll(&mut Context::from_waker(Waker::noop())) else {
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
        let expected = match known {
            // An encoded path may also match another route.
            true if path.contains('%') => own_status(&app, path),
            true => 200,
            false => 404,
        };
        assert_eq!(status(&mut router, &Method::GET, path), expected, "{path:?} on {patterns:?}");
    }
}

#[test]
fn axum_passes_on_all_matches_of_one_route() {
    let paths = all_paths();
    for pattern in PATTERNS {
        assert!(built(&[pattern]).is_some(), "{pattern:?}");
        check(&[pattern], &paths);
    }
}

#[test]
fn axum_passes_on_all_matches_of_two_routes() {
    let mut paths = all_paths();
    // All paths with two segments, and some with three.
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
fn axum_passes_on_all_matches_of_all_routes() {
    assert!(built(PATTERNS).is_some());
    check(PATTERNS, &all_paths());
}

/// Compares axum with the stockade router for routes with different methods.
#[track_caller]
fn check_methods(routes: &[(Method, &str)], paths: &[String]) {
    let mut router = Router::new();
    for (method, pattern) in routes {
        match *method {
            Method::GET => router.get(pattern, async || "ours"),
            Method::POST => router.post(pattern, async || "ours"),
            _ => router.put(pattern, async || "ours"),
        };
    }
    let Ok(app) = router.build() else { return };
    let hosted = HostRoutes::new(&app);
    let mut router: axum::Router = of(&hosted);
    for path in paths {
        let known = hosted.routes();
        for method in [Method::GET, Method::POST, Method::PUT] {
            let has_both = |it: &HostRoute| *it.endpoint().method() == method && it.has_path(path);
            let is_ours = known.iter().any(has_both);
            // axum's 404 and 405 depend on its own paths.
            let is_answered = status(&mut router, &method, path) == 200;
            assert_eq!(is_answered, is_ours, "{method} {path:?} on {routes:?}");
        }
    }
}

#[test]
fn more_specific_axum_path_hides_no_method() {
    let mut paths = all_paths();
    let mut index = 0;
    paths.retain(|path| {
        index += 1;
        path.matches('/').count() < 3 || index % 29 == 0
    });
    for (index, one) in PATTERNS.iter().enumerate() {
        for (distance, other) in PATTERNS[index + 1..].iter().enumerate() {
            check_methods(&[(Method::GET, one), (Method::POST, other)], &paths);
            check_methods(&[(Method::POST, one), (Method::GET, other)], &paths);
            let third = PATTERNS[(index + 3 * distance) % PATTERNS.len()];
            let routes = [(Method::PUT, third), (Method::GET, other), (Method::POST, *one)];
            check_methods(&routes, &paths);
        }
    }
}

#[track_caller]
fn shown(pattern: &str, expected: &[&str]) {
    let routes = HostRoutes::new(&built(&[pattern]).unwrap());
    let paths: Vec<String> = paths(&routes.routes()).into_iter().map(|path| path.text).collect();
    assert_eq!(paths, expected, "{pattern:?}");
}

#[test]
fn axum_paths_use_our_parameter_names() {
    shown("/users/:id", &["/users/{id}"]);
    shown("/flights/:from-:to", &["/flights/{from_to}"]);
    shown("/opt/:id?", &["/opt/{id}", "/opt"]);
    shown("/files/**", &["/files/{*splat}", "/files/"]);
    shown("/*/x", &["/{splat}/x"]);
    shown("/$b/:$b", &["/$b/{p0}"]);
}

#[test]
fn unmatched_path_gets_our_404() {
    let app = built(&["/:from-:to"]).unwrap();
    let request = Request::from(http::Request::get("/nothing").body(()).unwrap());
    let answer = pin!(HostRoutes::new(&app).handle(request));
    let Poll::Ready(response) = answer.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("nothing here waits");
    };
    assert_eq!(response.status(), 404);
}

#[test]
fn a_rest_covers_parameters_at_the_same_position() {
    let routes = HostRoutes::new(&built(&["/f/:id", "/f/**", "/f/:id/x", "/f/a", "/:b"]).unwrap());
    let paths: Vec<String> = paths(&routes.routes()).into_iter().map(|path| path.text).collect();
    assert_eq!(paths, ["/f/{*splat}", "/f/", "/f/a", "/{b}"]);
}
