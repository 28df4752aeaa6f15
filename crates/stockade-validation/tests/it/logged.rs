//! Log messages.

use std::sync::Mutex;
use std::time::Instant;

use log::{LevelFilter, Log, Metadata, Record};
use serde_json::json;
use stockade_validation::{Rule, ValidationOptions};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Recorder;

impl Log for Recorder {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let pattern = record.key_values().get("pattern".into());
        let pattern = pattern.map(|pattern| pattern.to_string()).unwrap_or_default();
        LINES.lock().unwrap().push(format!("{pattern}: {}", record.args()));
    }

    fn flush(&self) {}
}

#[test]
fn logs_an_exhausted_pattern_once_a_second() {
    log::set_logger(&Recorder).unwrap();
    log::set_max_level(LevelFilter::Warn);
    let text = "a".repeat(60);
    let many = json!(vec![text; 50]);
    let runs = |pattern: &str, times: usize| {
        let schema = Rule::array(Rule::string().pattern(pattern)).build().unwrap();
        let start = Instant::now();
        for _ in 0..times {
            let errors = schema.check(&many, &ValidationOptions::new()).unwrap();
            assert_eq!(errors.len(), 50);
        }
        let seconds = start.elapsed().as_secs() + 2;
        let lines = LINES.lock().unwrap();
        let own = lines.iter().filter(|line| line.starts_with(pattern)).count();
        (own, usize::try_from(seconds).unwrap())
    };
    // Each pattern logs independently of the log lines of other patterns in
    // this second.
    for pattern in [r"(a|aa)+\1c", r"(aa|a)+\1d"] {
        let (lines, most) = runs(pattern, 4);
        assert!((1..=most).contains(&lines), "{lines} lines, at most {most} are right");
    }
}
