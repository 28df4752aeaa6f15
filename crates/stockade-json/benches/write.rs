//! Benchmarks of JSON serialization, compared with serde_json.
//!
//! The values are a user of about 1 KB as a struct and as a `Value`, a text of
//! 1 KB with an escape in each line, and 200 numbers.
//!
//! Run: `cargo bench -p stockade-json --bench write`.

#![expect(clippy::expect_used, reason = "a benchmark; clippy.toml knows only tests")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use serde::Serialize;
use serde_json::Value;
use stockade_json::to_json;

criterion_group!(benches, all);
criterion_main!(benches);

fn all(criterion: &mut Criterion) {
    let user = user();
    let value: Value = serde_json::to_value(&user).expect("JSON");
    beside(criterion, "user", &user);
    beside(criterion, "user as a Value", &value);
    beside(criterion, "lines", &"and so he said \"yes\" once more,\n".repeat(32));
    beside(criterion, "numbers", &(0..200_i32).map(|it| it * it * 37).collect::<Vec<_>>());
    beside(criterion, "20 users", &vec![user; 20]);
}

fn beside<T: Serialize>(criterion: &mut Criterion, name: &str, value: &T) {
    assert_eq!(to_json(value).expect("JSON"), serde_json::to_vec(value).expect("JSON"));
    let mut group = criterion.benchmark_group(name);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group.bench_function("stockade", |bench| bench.iter(|| to_json(black_box(value))));
    group.bench_function("serde_json", |bench| {
        bench.iter(|| serde_json::to_vec(black_box(value)));
    });
    group.finish();
}

#[derive(Clone, Serialize)]
struct User {
    id: &'static str,
    name: &'static str,
    email: &'static str,
    site: Option<&'static str>,
    age: u8,
    score: f64,
    active: bool,
    role: Role,
    tags: Vec<&'static str>,
    address: Address,
    about: String,
    created_at: u64,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Admin,
}

#[derive(Clone, Serialize)]
struct Address {
    street: &'static str,
    city: &'static str,
    zip: &'static str,
    country: &'static str,
}

fn user() -> User {
    User {
        id: "2eb8aa08-aa98-41ea-b4aa-73b441d16380",
        name: "Ada Lovelace",
        email: "ada@example.com",
        site: Some("https://example.com/people/ada?tab=notes"),
        age: 36,
        score: 98.6,
        active: true,
        role: Role::Admin,
        tags: vec!["mathematics", "engines", "poetry"],
        address: Address {
            street: "12 St James's Square",
            city: "London",
            zip: "SW1Y 4JH",
            country: "GB",
        },
        about: "The engine weaves algebraic patterns as the loom weaves flowers and leaves. "
            .repeat(8),
        created_at: 1_709_211_296_789,
    }
}
