//! Structured logging: each log line is a JSON object, for log collectors.
//!
//! ```text
//! cargo run -p stockade-examples --bin json_logs
//! curl localhost:3000/hello/you
//! {"time":"2026-11-22T17:00:00.000Z","level":"INFO","target":"stockade::access",
//!  "message":"GET /hello/:name 200 0.041ms 127.0.0.1 [c0ff…]","method":"GET",
//!  "route":"/hello/:name","status":200,"duration_us":41,…}
//! ```
//!
//! The key-value pairs of a line become members of the object. Numbers stay
//! numbers, and keys without a value are left out. `RUST_LOG` selects the log
//! lines.

use std::io::{self, Write};

use env_logger::{Builder, Env};
use log::Record;
use log::kv::{Error, Key, Value as LogValue, VisitSource};
use stockade::middleware::with_request_id;
use stockade::prelude::*;
use stockade::serde_json::{Map, to_writer};

/// The members of an object, from the key-value pairs of a log line.
struct Members(Map<String, Value>);

impl<'kvs> VisitSource<'kvs> for Members {
    fn visit_pair(&mut self, key: Key<'kvs>, value: LogValue<'kvs>) -> Result<(), Error> {
        if let Some(value) = json_of(&value) {
            // The logger itself sets the level, target and message.
            self.0.entry(key.as_str()).or_insert(value);
        }
        Ok(())
    }
}

/// Returns the value as JSON; `None` if it is absent.
fn json_of(value: &LogValue<'_>) -> Option<Value> {
    let number = value.to_u64().map(Value::from).or_else(|| value.to_i64().map(Value::from));
    let text = || match value.to_borrowed_str() {
        Some(text) => Some(text.to_owned()),
        None => Some(value.to_string()).filter(|text| text != "None"),
    };
    let other = || value.to_f64().map(Value::from).or_else(|| text().map(Value::from));
    number.or_else(|| value.to_bool().map(Value::from)).or_else(other)
}

/// Writes a log record as one line of JSON.
fn write_line(mut out: impl Write, time: impl ToString, record: &Record<'_>) -> io::Result<()> {
    let own = [
        ("time", time.to_string()),
        ("level", record.level().to_string()),
        ("target", record.target().to_owned()),
        ("message", record.args().to_string()),
    ];
    let mut members =
        Members(own.map(|(name, text)| (name.to_owned(), text.into())).into_iter().collect());
    record.key_values().visit(&mut members).map_err(io::Error::other)?;
    to_writer(&mut out, &members.0)?;
    out.write_all(b"\n")
}

fn router() -> Router {
    let api = routes! {
        "hello": { ":name": { GET: async |Path(name): Path<String>| json!({ "hello": name }) } },
    };
    create_router(api, RouterOptions::new().request_id(with_request_id()).access_log(true))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    Builder::from_env(Env::default().default_filter_or("info"))
        .format(|out, record| {
            let time = out.timestamp_millis();
            write_line(out, time, record)
        })
        .init();
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use log::Level;

    use super::*;

    #[test]
    fn each_record_is_one_object() {
        let args = format_args!("GET /x 200\n\"quoted\"");
        let pairs = [
            ("status", LogValue::from(200_u16)),
            ("message", "not this one".into()),
            ("route", "/x".into()),
            ("client", LogValue::from_display(&"192.0.2.7")),
            ("trace_id", LogValue::null()),
            ("aborted", true.into()),
        ];
        let record = Record::builder()
            .level(Level::Info)
            .target("stockade::access")
            .key_values(&pairs)
            .args(args)
            .build();
        let mut line = Vec::new();
        write_line(&mut line, "now", &record).unwrap();
        let expected = concat!(
            r#"{"time":"now","level":"INFO","target":"stockade::access","#,
            r#""message":"GET /x 200\n\"quoted\"","status":200,"route":"/x","#,
            r#""client":"192.0.2.7","aborted":true}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }
}
