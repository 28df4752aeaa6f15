//! Verifies and creates an HS256 token of about 150 bytes, compared with other
//! crates.
//!
//! All crates use the same token, secret and claims, and all check `exp`. Keys
//! and rules are prepared once, as in a server.
//!
//! See README.md in this folder for instructions and results.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use jsonwebtoken_9 as jwt9;
use jsonwebtoken_11 as jwt11;
use ring::hmac;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use stockade_auth::{ExpiresIn, Secret, generate_jwt, verify_token, verify_token_as};

const KEY: &[u8] = b"a secret of exactly 32 bytes ...";

#[derive(Deserialize)]
#[expect(dead_code, reason = "only the reading is measured")]
struct User {
    sub: String,
    role: String,
    iat: u64,
    exp: u64,
}

fn verify(criterion: &mut Criterion) {
    let secret = Secret::new(KEY).expect("it is not empty");
    let payload = json!({ "sub": "7", "role": "admin" });
    let token = generate_jwt(&payload, "30d", &secret).expect("it fits");
    let (message, signature) = token.rsplit_once('.').expect("three parts");
    println!("the token has {} bytes", token.len());
    let key = hmac::Key::new(hmac::HMAC_SHA256, KEY);
    let key9 = jwt9::DecodingKey::from_secret(KEY);
    let key11 = jwt11::DecodingKey::from_secret(KEY);
    let mut rules9 = jwt9::Validation::new(jwt9::Algorithm::HS256);
    rules9.leeway = 0;
    let mut rules11 = jwt11::Validation::new(jwt11::Algorithm::HS256);
    rules11.leeway = 0;
    // Changes the first character of the signature.
    let first = if signature.starts_with('A') { "B" } else { "A" };
    let forged = format!("{message}.{first}{}", &signature[1..]);

    let mut group = criterion.benchmark_group("verify");
    group.bench_function("bare HMAC", |bencher| {
        bencher.iter(|| hmac::sign(&key, black_box(message).as_bytes()));
    });
    // The claims are parsed on demand.
    group.bench_function("stockade, unread", |bencher| {
        bencher.iter(|| verify_token(black_box(&token), &secret).expect("valid"));
    });
    group.bench_function("stockade, claims", |bencher| {
        bencher.iter(|| verify_token(black_box(&token), &secret).expect("valid").into_value());
    });
    group.bench_function("jsonwebtoken 9, ring, claims", |bencher| {
        bencher.iter(|| {
            jwt9::decode::<Map<String, Value>>(black_box(&token), &key9, &rules9).expect("valid")
        });
    });
    group.bench_function("jsonwebtoken 11, aws-lc, claims", |bencher| {
        bencher.iter(|| {
            jwt11::decode::<Map<String, Value>>(black_box(&token), &key11, &rules11).expect("valid")
        });
    });
    group.bench_function("stockade, struct", |bencher| {
        bencher.iter(|| verify_token_as::<User>(black_box(&token), &secret).expect("valid"));
    });
    group.bench_function("jsonwebtoken 9, ring, struct", |bencher| {
        bencher.iter(|| jwt9::decode::<User>(black_box(&token), &key9, &rules9).expect("valid"));
    });
    group.bench_function("jsonwebtoken 11, aws-lc, struct", |bencher| {
        bencher.iter(|| jwt11::decode::<User>(black_box(&token), &key11, &rules11).expect("valid"));
    });
    group.bench_function("stockade, forged", |bencher| {
        bencher.iter(|| verify_token(black_box(&forged), &secret).is_none());
    });
    group.finish();
}

fn generate(criterion: &mut Criterion) {
    let secret = Secret::new(KEY).expect("it is not empty");
    let key9 = jwt9::EncodingKey::from_secret(KEY);
    let key11 = jwt11::EncodingKey::from_secret(KEY);
    let payload = json!({ "sub": "7", "role": "admin" });
    let complete = json!({ "sub": "7", "role": "admin", "iat": 1, "exp": 2_000_000_000 });

    let mut group = criterion.benchmark_group("generate");
    group.bench_function("stockade", |bencher| {
        bencher.iter(|| generate_jwt(black_box(&payload), ExpiresIn::default(), &secret));
    });
    group.bench_function("jsonwebtoken 9, ring", |bencher| {
        bencher.iter(|| jwt9::encode(&jwt9::Header::default(), black_box(&complete), &key9));
    });
    group.bench_function("jsonwebtoken 11, aws-lc", |bencher| {
        bencher.iter(|| jwt11::encode(&jwt11::Header::default(), black_box(&complete), &key11));
    });
    group.finish();
}

criterion_group!(benches, verify, generate);
criterion_main!(benches);
