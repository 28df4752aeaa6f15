//! Concurrent duplicates.

use std::time::Duration;

use tokio::sync::Notify;

use super::*;
use crate::support::long_or;

const KEYS: usize = 1_000;
const LONG: Duration = Duration::from_secs(3_600);

/// Returns the number of concurrent requests with the same key.
fn duplicates() -> usize {
    long_or(20, 5)
}

/// Sends each key several times concurrently and counts its runs.
async fn race(options: Idempotency) -> (Vec<usize>, Vec<String>) {
    let runs: Arc<Vec<AtomicUsize>> = Arc::new((0..KEYS).map(|_| AtomicUsize::new(0)).collect());
    let counted = Arc::clone(&runs);
    // A busy machine can delay a task for longer than the default lease.
    let app = keyed!(options.lease(LONG), move |Body(key): Body<String>| {
        let counted = Arc::clone(&counted);
        async move {
            let key: usize = key.parse().unwrap();
            let number = counted[key].fetch_add(1, Ordering::SeqCst) + 1;
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
            format!("{key} {number}")
        }
    });
    let tasks = (0..KEYS * duplicates()).map(|index| {
        // Interleave the duplicates of ten keys.
        let key = (index / duplicates() / 10 * 10) + index % 10;
        let app = app.clone();
        tokio::spawn(async move {
            let answer = send(&app, &format!("key {key}"), &key.to_string()).await;
            (key, answer)
        })
    });
    let tasks: Vec<_> = tasks.collect();
    let mut answers = Vec::new();
    for task in tasks {
        let (key, answer) = task.await.unwrap();
        let body = format!("{key} 1");
        let expected = [format!("200 {body}"), format!("200 replayed {body}"), RUNNING.to_owned()];
        assert!(expected.contains(&answer), "{key}: {answer}");
        answers.push(answer);
    }
    for key in 0..KEYS {
        let again = send(&app, &format!("key {key}"), &key.to_string()).await;
        assert_eq!(again, format!("200 replayed {key} 1"));
    }
    (runs.iter().map(|runs| runs.load(Ordering::SeqCst)).collect(), answers)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_of_a_thousand_keys_runs_once() {
    let (runs, answers) = race(in_memory()).await;
    assert!(runs.iter().all(|runs| *runs == 1), "{runs:?}");
    let first = answers.iter().filter(|it| it.starts_with("200 ") && !it.contains("replayed"));
    assert_eq!((first.count(), answers.len()), (KEYS, KEYS * duplicates()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn waiting_duplicates_all_get_the_response() {
    let (runs, answers) = race(in_memory().wait(LONG)).await;
    assert!(runs.iter().all(|runs| *runs == 1), "{runs:?}");
    assert!(answers.iter().all(|answer| answer.starts_with("200 ")));
    let replayed = answers.iter().filter(|answer| answer.contains("replayed")).count();
    assert_eq!(replayed, KEYS * (duplicates() - 1));
}

#[tokio::test(start_paused = true)]
async fn a_running_request_is_409_and_another_fingerprint_422_first() {
    let go = Arc::new(Notify::new());
    let gate = Arc::clone(&go);
    let app = keyed!(in_memory(), move || {
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            "done"
        }
    });
    let first = tokio::spawn({
        let app = app.clone();
        async move { send(&app, "k", "chair").await }
    });
    tokio::task::yield_now().await;
    assert_eq!(send(&app, "k", "table").await, OTHER);
    let lines = "POST /x\nidempotency-key: \"k\"\ncontent-type: text/plain\n\nchair";
    let busy = app.handle(request(lines)).await;
    assert_eq!(busy.headers()["retry-after"], "1");
    assert_eq!(shown(busy).await, RUNNING);
    go.notify_one();
    assert_eq!(first.await.unwrap(), "200 done");
    assert_eq!(send(&app, "k", "table").await, OTHER);
    assert_eq!(send(&app, "k", "chair").await, "200 replayed done");
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_with_the_response_or_a_timeout() {
    let runs = Runs::default();
    let counted = runs.clone();
    let app =
        keyed!(in_memory().wait(Duration::from_secs(2)), move |Body(seconds): Body<String>| {
            counted.begin();
            async move {
                tokio::time::sleep(Duration::from_secs(seconds.parse().unwrap())).await;
                "done"
            }
        });
    for (seconds, expected) in [("1", "200 replayed done"), ("3", RUNNING)] {
        let first = tokio::spawn({
            let app = app.clone();
            async move { send(&app, seconds, seconds).await }
        });
        tokio::task::yield_now().await;
        let begin = tokio::time::Instant::now();
        assert_eq!(send(&app, seconds, seconds).await, expected);
        let waited = begin.elapsed().as_secs_f64();
        let wanted = if seconds == "1" { 1.0..1.3 } else { 2.0..2.1 };
        assert!(wanted.contains(&waited), "{waited}");
        assert_eq!(first.await.unwrap(), "200 done");
    }
    assert_eq!(runs.count(), 2);
}
