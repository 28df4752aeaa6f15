//! How long validation takes, beside the crates that people compare with.
//!
//! One object of about 1 KB with 11 fields, in three groups: parsed data,
//! bytes to a typed value, and the same with two wrong fields.
//!
//! Run: `cargo bench -p stockade-validation --bench validation`.

#![expect(clippy::expect_used, reason = "a benchmark; clippy.toml knows only tests")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use garde::Validate as _;
use serde::Deserialize;
use serde_json::{Value, json};
use stockade_validation::format::Format;
use stockade_validation::{Schema, ValidationOptions};
use validator::Validate as _;

criterion_group!(benches, parsed, typed, wrong);
criterion_main!(benches);

fn parsed(criterion: &mut Criterion) {
    let schema = schema();
    let theirs = theirs(&schema);
    let options = ValidationOptions::new();
    let data: Value = serde_json::from_str(&text()).expect("JSON");
    let user: by_garde::User = serde_json::from_str(&text()).expect("a user");
    let other: by_validator::User = serde_json::from_str(&text()).expect("a user");
    assert!(schema.check(&data, &options).expect("no function").is_empty());
    assert!(theirs.is_valid(&data) && user.validate().is_ok() && other.validate().is_ok());

    let mut group = criterion.benchmark_group("parsed");
    bound(&mut group);
    group.bench_function("stockade", |bench| {
        bench.iter(|| schema.check(black_box(&data), &options));
    });
    group.bench_function("jsonschema", |bench| bench.iter(|| theirs.is_valid(black_box(&data))));
    group.bench_function("garde, typed", |bench| {
        bench.iter(|| black_box(&user).validate());
    });
    group.bench_function("validator, typed", |bench| {
        bench.iter(|| black_box(&other).validate());
    });
    group.finish();
}

fn typed(criterion: &mut Criterion) {
    let schema = schema();
    let options = ValidationOptions::new();
    let text = text();
    let bytes = text.as_bytes();
    let read = |bytes| schema.read_json::<by_garde::User>(bytes, &options);
    assert!(read(bytes).expect("a user").validate().is_ok());

    let mut group = criterion.benchmark_group("typed");
    bound(&mut group);
    group.bench_function("serde_json", |bench| {
        bench.iter(|| serde_json::from_slice::<by_garde::User>(black_box(bytes)));
    });
    group.bench_function("stockade", |bench| {
        bench.iter(|| read(black_box(bytes)));
    });
    group.bench_function("serde_json + garde", |bench| {
        bench.iter(|| {
            let user: by_garde::User = serde_json::from_slice(black_box(bytes)).expect("a user");
            user.validate().map(|()| user)
        });
    });
    group.bench_function("serde_json + validator", |bench| {
        bench.iter(|| {
            let user: by_validator::User =
                serde_json::from_slice(black_box(bytes)).expect("a user");
            user.validate().map(|()| user)
        });
    });
    group.bench_function("serde_json to Value", |bench| {
        bench.iter(|| serde_json::from_slice::<Value>(black_box(bytes)));
    });
    group.finish();
}

fn wrong(criterion: &mut Criterion) {
    let schema = schema();
    let theirs = theirs(&schema);
    let options = ValidationOptions::new();
    let text = text().replace("ada@example.com", "ada").replace("\"age\":36", "\"age\":360");
    let data: Value = serde_json::from_str(&text).expect("JSON");
    let user: by_garde::User = serde_json::from_str(&text).expect("a user");
    let other: by_validator::User = serde_json::from_str(&text).expect("a user");
    assert_eq!(schema.check(&data, &options).expect("no function").len(), 2);
    assert_eq!(theirs.iter_errors(&data).count(), 2);

    let mut group = criterion.benchmark_group("two wrong");
    bound(&mut group);
    group.bench_function("stockade", |bench| {
        bench.iter(|| schema.check(black_box(&data), &options));
    });
    group.bench_function("stockade, bytes to typed", |bench| {
        bench.iter(|| schema.read_json::<by_garde::User>(black_box(text.as_bytes()), &options));
    });
    group.bench_function("jsonschema", |bench| {
        bench.iter(|| theirs.iter_errors(black_box(&data)).count());
    });
    group.bench_function("garde, typed", |bench| {
        bench.iter(|| black_box(&user).validate());
    });
    group.bench_function("validator, typed", |bench| {
        bench.iter(|| black_box(&other).validate());
    });
    group.finish();
}

/// With formats, which it leaves out by default.
fn theirs(schema: &Schema) -> jsonschema::Validator {
    let options = jsonschema::options().should_validate_formats(true);
    options.build(&schema.to_json_schema()).expect("a schema")
}

fn bound(group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>) {
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
}

fn schema() -> Schema {
    Schema::rule(&json!({
        "type": "object",
        "required": ["id", "name", "email", "age", "role", "address"],
        "properties": {
            "id": { "type": "string", "format": "uuid" },
            "name": { "type": "string", "minLength": 2, "maxLength": 80 },
            "email": { "type": "string", "format": "email" },
            "site": { "type": "string", "format": "uri" },
            "age": { "type": "integer", "minimum": 0, "maximum": 150 },
            "score": { "type": "number", "minimum": 0, "exclusiveMaximum": 1000 },
            "role": { "enum": ["admin", "editor", "reader"] },
            "tags": {
                "type": "array",
                "maxItems": 10,
                "items": { "type": "string", "minLength": 1, "maxLength": 20 },
            },
            "address": {
                "type": "object",
                "required": ["street", "city"],
                "properties": {
                    "street": { "type": "string", "minLength": 1, "maxLength": 100 },
                    "city": { "type": "string", "minLength": 1, "maxLength": 60 },
                    "zip": { "type": "string", "minLength": 4, "maxLength": 10 },
                    "country": { "type": "string", "minLength": 2, "maxLength": 2 },
                },
            },
            "active": { "type": "boolean" },
            "born": { "type": "string", "format": "date" },
        },
    }))
    .expect("a schema")
}

/// About 1 KB, most of it in two longer texts, as in ordinary data.
fn text() -> String {
    let path = "a-page-about-the-analytical-engine/".repeat(6);
    let street = "12 St James's Square, second floor, the door on the left, ring twice";
    json!({
        "id": "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "name": "Augusta Ada King, Countess of Lovelace",
        "email": "ada@example.com",
        "site": format!("https://www.example.com/people/{path}?language=en#notes"),
        "age": 36,
        "score": 99.5,
        "role": "editor",
        "tags": ["mathematics", "engines", "poetical science", "bernoulli", "notes"],
        "address": {
            "street": street, "city": "London", "zip": "SW1Y 4JH", "country": "GB",
        },
        "active": true,
        "born": "1815-12-10",
    })
    .to_string()
}

/// The type, with the rules of garde.
mod by_garde {
    use serde::Deserialize;

    use super::{Role, is_date, is_uuid};

    #[derive(Debug, Deserialize, garde::Validate)]
    pub(super) struct User {
        #[garde(custom(uuid))]
        id: String,
        #[garde(length(chars, min = 2, max = 80))]
        name: String,
        #[garde(email)]
        email: String,
        #[garde(url)]
        site: Option<String>,
        #[garde(range(min = 0, max = 150))]
        age: u32,
        #[garde(range(min = 0.0, max = 1000.0))]
        score: Option<f64>,
        #[expect(dead_code, reason = "only read")]
        #[garde(skip)]
        role: Role,
        #[garde(length(max = 10), inner(inner(length(chars, min = 1, max = 20))))]
        tags: Option<Vec<String>>,
        #[garde(dive)]
        address: Address,
        #[expect(dead_code, reason = "only read")]
        #[garde(skip)]
        active: Option<bool>,
        #[garde(custom(date))]
        born: Option<String>,
    }

    #[derive(Debug, Deserialize, garde::Validate)]
    pub(super) struct Address {
        #[garde(length(chars, min = 1, max = 100))]
        street: String,
        #[garde(length(chars, min = 1, max = 60))]
        city: String,
        #[garde(length(chars, min = 4, max = 10))]
        zip: Option<String>,
        #[garde(length(chars, min = 2, max = 2))]
        country: Option<String>,
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "garde requires this signature")]
    fn uuid(text: &str, _context: &()) -> garde::Result {
        is_uuid(text).then_some(()).ok_or_else(|| garde::Error::new("not a UUID"))
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "garde requires this signature")]
    fn date(text: &Option<String>, _context: &()) -> garde::Result {
        let is_fine = text.as_deref().is_none_or(is_date);
        is_fine.then_some(()).ok_or_else(|| garde::Error::new("not a date"))
    }
}

/// The type, with the rules of validator.
mod by_validator {
    use serde::Deserialize;
    use validator::{Validate, ValidationError};

    use super::{Role, is_date, is_uuid};

    #[derive(Debug, Deserialize, Validate)]
    pub(super) struct User {
        #[validate(custom(function = uuid))]
        id: String,
        #[validate(length(min = 2, max = 80))]
        name: String,
        #[validate(email)]
        email: String,
        #[validate(url)]
        site: Option<String>,
        #[validate(range(min = 0, max = 150))]
        age: u32,
        #[validate(range(min = 0.0, exclusive_max = 1000.0))]
        score: Option<f64>,
        #[expect(dead_code, reason = "only read")]
        role: Role,
        #[validate(length(max = 10), custom(function = short))]
        tags: Option<Vec<String>>,
        #[validate(nested)]
        address: Address,
        #[expect(dead_code, reason = "only read")]
        active: Option<bool>,
        #[validate(custom(function = date))]
        born: Option<String>,
    }

    #[derive(Debug, Deserialize, Validate)]
    pub(super) struct Address {
        #[validate(length(min = 1, max = 100))]
        street: String,
        #[validate(length(min = 1, max = 60))]
        city: String,
        #[validate(length(min = 4, max = 10))]
        zip: Option<String>,
        #[validate(length(min = 2, max = 2))]
        country: Option<String>,
    }

    fn uuid(text: &str) -> Result<(), ValidationError> {
        is_uuid(text).then_some(()).ok_or_else(|| ValidationError::new("uuid"))
    }

    fn date(text: &str) -> Result<(), ValidationError> {
        is_date(text).then_some(()).ok_or_else(|| ValidationError::new("date"))
    }

    fn short(tags: &[String]) -> Result<(), ValidationError> {
        let is_fine = tags.iter().all(|tag| (1..=20).contains(&tag.chars().count()));
        is_fine.then_some(()).ok_or_else(|| ValidationError::new("tags"))
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Admin,
    Editor,
    Reader,
}

/// The other crates have no such rules: ours stand in, so that all judge alike.
fn is_uuid(text: &str) -> bool {
    Format::Uuid.check(text)
}

fn is_date(text: &str) -> bool {
    Format::Date.check(text)
}
