//! Path to route, beside matchit and wayfind: every path of GitHub's 514 routes
//! once, and 10,000 routes.
//!
//! Ours finds the method first, as the router does, and for HEAD falls back to
//! GET; the others know no methods and have each path once. What criterion
//! prints is the time for all paths, and how many it finds in a second.
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
use stockade_routing::{Match, Table, TableBuilder};

criterion_group!(benches, github, many);
criterion_main!(benches);

fn github(criterion: &mut Criterion) {
    let routes: Vec<(Method, String)> =
        route::github().map(|(method, path)| (method.parse().unwrap(), path.to_owned())).collect();
    compare(criterion.benchmark_group("514 routes"), &routes);
}

fn many(criterion: &mut Criterion) {
    let routes: Vec<(Method, String)> = (0..10_000)
        .map(|number| (Method::GET, format!("/api/v{}/things{number}/:id/parts/:part", number % 7)))
        .collect();
    compare(criterion.benchmark_group("10,000 routes"), &routes);
}

fn compare(mut group: BenchmarkGroup<'_, WallTime>, routes: &[(Method, String)]) {
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    let tables = tables(routes);
    let asked: Vec<(Method, String)> =
        routes.iter().map(|(method, path)| (method.clone(), concrete(path))).collect();
    group.throughput(Throughput::Elements(asked.len() as u64));
    assert!(asked.iter().all(|(method, path)| find(&tables, method, path).is_some()));
    group.bench_function("stockade, with method", |bench| {
        bench.iter(|| {
            for (method, path) in &asked {
                black_box(find(&tables, method, black_box(path)));
            }
        });
    });
    let gets: Vec<&str> = asked
        .iter()
        .filter(|(method, _)| *method == Method::GET)
        .map(|(_, path)| path.as_str())
        .collect();
    group.throughput(Throughput::Elements(gets.len() as u64));
    group.bench_function("stockade, HEAD to GET", |bench| {
        bench.iter(|| {
            for path in &gets {
                black_box(find(&tables, &Method::HEAD, black_box(path)));
            }
        });
    });
    others(group, routes);
}

fn others(mut group: BenchmarkGroup<'_, WallTime>, routes: &[(Method, String)]) {
    let paths: BTreeSet<&str> = routes.iter().map(|(_, path)| path.as_str()).collect();
    let asked: Vec<String> = paths.iter().map(|path| concrete(path)).collect();
    let mut matchit = matchit::Router::new();
    let mut wayfind = wayfind::RouterBuilder::new();
    for path in &paths {
        let braces = route::in_braces(path);
        wayfind.insert(&braces.replace('{', "<").replace('}', ">"), 0).unwrap();
        matchit.insert(braces, 0).unwrap();
    }
    let wayfind = wayfind.build();
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

/// One table for each method, as the router has them.
fn tables(routes: &[(Method, String)]) -> Vec<(Method, Table<usize>)> {
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

fn find<'t>(
    tables: &'t [(Method, Table<usize>)],
    method: &Method,
    path: &str,
) -> Option<Match<'t, usize>> {
    let exact = |wanted: &Method| {
        let (_, table) = tables.iter().find(|(own, _)| own == wanted)?;
        table.find(path)
    };
    let found = exact(method);
    if found.is_none() && *method == Method::HEAD { exact(&Method::GET) } else { found }
}

/// The path with something in the place of each parameter.
fn concrete(path: &str) -> String {
    let segments = path.split('/').map(|segment| match segment.strip_prefix(':') {
        Some(name) => format!("val{name}"),
        None => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}
