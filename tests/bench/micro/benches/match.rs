//! Route lookup compared with matchit and wayfind. It looks up every path of
//! GitHub's 514 routes once, by themselves and among 10,000 routes, and each of
//! the 10,000 routes once.
//!
//! stockade selects the method first, as the router does, and HEAD falls back
//! to GET. The other crates do not support methods and store each path once.
//! criterion prints the time for all paths and the lookups per second; `cargo
//! xtask bench` divides by the number of paths.
//!
//! `cargo bench --manifest-path tests/bench/Cargo.toml -p bench-micro`

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Duration;

use bench_common::route;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use http::Method;
use stockade_path::Pattern;
use stockade_routing::matcher::{Match, TableBuilder, Tables};

criterion_group!(benches, few, among, many);
criterion_main!(benches);

type Route = (Method, String);

fn few(criterion: &mut Criterion) {
    let routes = github();
    compare(group(criterion, "514 routes"), &routes, &routes);
}

/// Does the same work as [`few`], so the difference comes from the table size.
fn among(criterion: &mut Criterion) {
    let asked = github();
    let mut routes = asked.clone();
    routes.extend(things(10_000 - asked.len()));
    compare(group(criterion, "514 among 10,000 routes"), &routes, &asked);
}

/// Looks up routes that do not fit into a processor cache.
fn many(criterion: &mut Criterion) {
    let routes: Vec<Route> = things(10_000).collect();
    compare(group(criterion, "10,000 routes"), &routes, &routes);
}

fn github() -> Vec<Route> {
    route::github().map(|(method, path)| (method.parse().unwrap(), path.to_owned())).collect()
}

fn things(count: usize) -> impl Iterator<Item = Route> {
    let path = |number| format!("/api/v{}/things{number}/:id/parts/:part", number % 7);
    (0..count).map(move |number| (Method::GET, path(number)))
}

fn group<'c>(criterion: &'c mut Criterion, name: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    group
}

fn compare(mut group: BenchmarkGroup<'_, WallTime>, routes: &[Route], asked: &[Route]) {
    let tables = tables(routes);
    let asked: Vec<Route> =
        asked.iter().map(|(method, path)| (method.clone(), concrete(path))).collect();
    assert!(asked.iter().all(|(method, path)| find(&tables, method, path).is_some()));
    group.throughput(Throughput::Elements(asked.len() as u64));
    group.bench_function("stockade, with method", |bench| {
        bench.iter(|| {
            for (method, path) in &asked {
                black_box(find(&tables, method, black_box(path)));
            }
        });
    });
    let gets = asked.iter().filter(|(method, _)| *method == Method::GET);
    let gets: Vec<&str> = gets.map(|(_, path)| path.as_str()).collect();
    group.throughput(Throughput::Elements(gets.len() as u64));
    group.bench_function("stockade, HEAD to GET", |bench| {
        bench.iter(|| {
            for path in &gets {
                black_box(find(&tables, &Method::HEAD, black_box(path)));
            }
        });
    });
    let asked: BTreeSet<&str> = asked.iter().map(|(_, path)| path.as_str()).collect();
    others(group, routes, &asked);
}

fn others(mut group: BenchmarkGroup<'_, WallTime>, routes: &[Route], asked: &BTreeSet<&str>) {
    let paths: BTreeSet<&str> = routes.iter().map(|(_, path)| path.as_str()).collect();
    let mut matchit = matchit::Router::new();
    let mut wayfind = wayfind::RouterBuilder::new();
    for path in &paths {
        let braces = route::in_braces(path);
        wayfind.insert(&braces.replace('{', "<").replace('}', ">"), 0).unwrap();
        matchit.insert(braces, 0).unwrap();
    }
    let wayfind = wayfind.build();
    // Iterating over a set is slower than over a list.
    let asked: Vec<&str> = asked.iter().copied().collect();
    assert!(asked.iter().all(|path| matchit.at(path).is_ok() && wayfind.search(path).is_some()));
    group.throughput(Throughput::Elements(asked.len() as u64));
    group.bench_function("matchit, no method", |bench| {
        bench.iter(|| {
            for path in &asked {
                black_box(matchit.at(black_box(path)).ok());
            }
        });
    });
    group.bench_function("wayfind, no method", |bench| {
        bench.iter(|| {
            for path in &asked {
                black_box(wayfind.search(black_box(path)));
            }
        });
    });
    group.finish();
}

/// Creates one table per method, like the router.
fn tables(routes: &[Route]) -> Tables<usize> {
    let mut builders: Vec<(Method, TableBuilder<usize>)> = Vec::new();
    for (number, (method, path)) in routes.iter().enumerate() {
        let pattern = Pattern::parse(path).unwrap();
        let at = builders.iter().position(|(own, _)| own == method).unwrap_or_else(|| {
            builders.push((method.clone(), TableBuilder::new()));
            builders.len() - 1
        });
        builders[at].1.insert(&pattern, number).unwrap();
    }
    builders.into_iter().map(|(method, builder)| (method, builder.build())).collect()
}

fn find<'t>(tables: &'t Tables<usize>, method: &Method, path: &str) -> Option<Match<'t, usize>> {
    let exact = |wanted: &Method| tables.get(wanted)?.find(path);
    let found = exact(method);
    if found.is_none() && *method == Method::HEAD { exact(&Method::GET) } else { found }
}

/// Returns the path with a value for each parameter.
fn concrete(path: &str) -> String {
    let segments = path.split('/').map(|segment| match segment.strip_prefix(':') {
        Some(name) => format!("val{name}"),
        None => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}
