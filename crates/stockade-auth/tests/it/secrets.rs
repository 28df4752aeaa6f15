//! Warnings about secrets, and output that must not contain them.

use std::sync::{Mutex, Once};

use log::{Level, LevelFilter, Log, Metadata, Record};
use serde_json::json;
use stockade_auth::{ApiKey, BasicCredentials, KeyRing, Secret, SessionId, TokenIssuer};

const SHORT: &str = "hunter2-hunter2-hunter2-hunter2";

#[test]
fn warns_of_a_short_secret_without_showing_it() {
    listen();
    assert_eq!(SHORT.len(), 31);
    let line = line!() + 1;
    let short = Secret::new(SHORT).unwrap();
    let place = format!("{}:{line}", file!());
    let about_this = |lines: &[String]| lines.iter().filter(|text| text.contains(&place)).count();

    let lines = lines();
    assert_eq!(about_this(&lines), 1, "{lines:?}");
    assert!(lines.iter().all(|text| !text.contains("hunter2")), "{lines:?}");

    for shown in [
        format!("{short:?}"),
        format!("{:?}", KeyRing::new(short)),
        format!("{:?}", Secret::new("")),
    ] {
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn thirty_two_bytes_are_enough() {
    listen();
    let line = line!() + 1;
    Secret::new(format!("{SHORT}!")).unwrap();
    let place = format!("{}:{line} ", file!());
    assert!(lines().iter().all(|text| !text.contains(&place)));
}

#[test]
fn debug_output_hides_credentials() {
    let key = ApiKey::generate("shop").unwrap();
    let id = SessionId::generate().unwrap();
    let basic = BasicCredentials::parse("Basic YWRhOmh1bnRlcjI=").unwrap();
    assert_eq!(format!("{key:?} {id:?}"), "ApiKey(..) SessionId(..)");
    assert!(!format!("{basic:?}").contains("hunter2"));
    // An error contains the reason, but not the payload.
    let issuer = TokenIssuer::new().max_length(10);
    let error = issuer.issue(json!({ "a": "hunter2" }), "1h", &crate::support::secret());
    assert!(!format!("{error:?}").contains("hunter2"));
}

pub(crate) fn lines() -> Vec<String> {
    LINES.lock().unwrap().clone()
}

pub(crate) fn listen() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        log::set_logger(&Recorder).unwrap();
        log::set_max_level(LevelFilter::Trace);
    });
}

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Recorder;

impl Log for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        if record.level() == Level::Warn {
            assert_eq!(record.target(), "stockade::auth");
        }
        let mut lines = LINES.lock().unwrap();
        lines.push(record.args().to_string());
    }

    fn flush(&self) {}
}
