//! Random sequences of requests, compared with a model of the rules.

use std::collections::HashMap;

use stockade_errors::random::Random;

use super::*;
use crate::support::block_on;

const ROUNDS: usize = 60;
const REQUESTS: usize = 120;

/// The first request of each key in its scope: its body and its response.
type Model = HashMap<(usize, usize), (usize, String)>;

#[test]
fn any_order_of_requests_matches_the_model() {
    block_on(async {
        let mut random = Random::new(1);
        for _ in 0..ROUNDS {
            round(&mut random).await;
        }
    });
}

async fn round(random: &mut Random) {
    let runs = Runs::default();
    let counted = runs.clone();
    // The request body contains the status.
    let app = keyed!(in_memory(), move |Body(text): Body<String>| {
        let number = counted.begin();
        async move {
            let status = StatusCode::from_u16(text[..3].parse().unwrap()).unwrap();
            (status, format!("{text} run {number}"))
        }
    });
    let mut model = Model::new();
    let mut expected_runs = 0;
    for _ in 0..REQUESTS {
        let mut next = |bound: usize| random.index(bound);
        let (user, key, body) = (next(3), next(4), next(3));
        let status = [200, 201, 409, 500, 503, 408][next(6)];
        let text = format!("{status} {body}");
        let fingerprint = status * 10 + body;
        let ran = format!("{status} {text} run {}", expected_runs + 1);
        let expected = match model.get(&(user, key)) {
            Some((known, _)) if *known != fingerprint => OTHER.to_owned(),
            Some((_, answer)) => answer.replacen(' ', " replayed ", 1),
            None => {
                expected_runs += 1;
                if !matches!(status, 408 | 503) {
                    model.insert((user, key), (fingerprint, ran.clone()));
                }
                ran
            }
        };
        let lines =
            format!("POST /x\nauthorization: Bearer user{user}\nidempotency-key: \"{key}\"");
        assert_eq!(send_lines(&app, &lines, &text).await, expected);
        assert_eq!(runs.count(), expected_runs);
    }
}
