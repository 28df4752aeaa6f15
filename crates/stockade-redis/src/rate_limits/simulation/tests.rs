//! Tests the guarantees of rate limits over many processes and prints the
//! figures.

use super::*;

/// The seeds of each run, including seeds that once failed.
const SEEDS: [u64; 3] = [1, 7, 4_711];

fn is_long() -> bool {
    std::env::var("STOCKADE_REDIS_LONG").is_ok()
}

fn sizes() -> &'static [usize] {
    if is_long() { &[3, 30, 100, 1_000] } else { &[3, 30, 100] }
}

fn seeds(nodes: usize) -> Vec<u64> {
    match (is_long(), nodes) {
        (true, _) => SEEDS.into_iter().chain(100..117).collect(),
        (false, 100) => vec![SEEDS[0]],
        (false, _) => SEEDS.to_vec(),
    }
}

/// Returns a plan with a limit of twenty requests per process and twice the
/// demand.
fn plan(seed: u64, nodes: usize) -> Plan {
    let limit = u32::try_from(nodes).unwrap() * 20;
    Plan {
        seed,
        nodes,
        algorithm: Algorithm::FixedWindow,
        limit,
        demand: limit * 2,
        windows: 1,
        is_balanced: true,
        share: None,
        fault: Fault::None,
    }
}

/// Runs a plan with all seeds and sizes, validates the number of passed
/// requests, and prints the extremes.
fn validate(title: &str, make: impl Fn(u64, usize) -> Plan, validator: impl Fn(&Plan, u32)) {
    for &nodes in sizes() {
        let (mut least, mut most, mut limit) = (u32::MAX, 0, 0);
        for seed in seeds(nodes) {
            let plan = make(seed, nodes);
            let outcome = simulate(&plan);
            let windows = match plan.fault {
                Fault::None if plan.algorithm == Algorithm::FixedWindow => {
                    outcome.per_window(&plan)
                }
                // The server's windows differ from the windows of the local
                // shares.
                _ => vec![outcome.passed(Duration::ZERO)],
            };
            assert!(!windows.is_empty(), "{plan:?}");
            for passed in windows {
                validator(&plan, passed);
                (least, most, limit) = (least.min(passed), most.max(passed), plan.limit);
            }
        }
        eprintln!("{title}: {nodes} processes, limit {limit}: {least} to {most} passed");
    }
}

fn nodes(plan: &Plan) -> u32 {
    u32::try_from(plan.nodes).unwrap()
}

#[test]
fn exactly_the_limit_passes_in_each_window() {
    let make = |seed, nodes| Plan { windows: 3, is_balanced: false, ..plan(seed, nodes) };
    validate("exact", make, |plan, passed| assert_eq!(passed, plan.limit, "{plan:?}"));
}

#[test]
fn other_algorithms_pass_no_more_than_one_process() {
    for (algorithm, most) in [(Algorithm::SlidingWindow, 1), (Algorithm::Gcra, 2)] {
        let make = |seed, nodes| Plan { algorithm, is_balanced: false, ..plan(seed, nodes) };
        validate(&format!("{algorithm:?}"), make, |plan, passed| {
            // GCRA requests become available again one by one from the start.
            assert!((plan.limit..=plan.limit * most).contains(&passed), "{passed} by {plan:?}");
        });
    }
}

#[test]
fn a_key_without_an_expiry_starts_a_new_window() {
    let make = |seed, nodes| Plan { fault: Fault::ExpiryLost, ..plan(seed, nodes) };
    validate("expiry lost", make, |plan, passed| {
        assert!((plan.limit..=plan.limit * 2).contains(&passed), "{passed} by {plan:?}");
    });
}

#[test]
fn leases_never_exceed_the_limit() {
    let make = |seed, nodes| {
        let plan = plan(seed, nodes);
        Plan { windows: 3, is_balanced: false, share: Some(16), ..plan }
    };
    validate("leased", make, |plan, passed| {
        let held_back = nodes(plan) * (plan.limit / 16);
        let least = plan.limit.saturating_sub(held_back);
        assert!((least..=plan.limit).contains(&passed), "{passed} by {plan:?}");
    });
    // A few requests for each of many processes.
    validate(
        "leased, few",
        |seed, nodes| {
            let plan = make(seed, nodes);
            Plan { limit: 1_000, demand: plan.demand.max(2_000), ..plan }
        },
        |plan, passed| assert!(passed <= plan.limit, "{passed} by {plan:?}"),
    );
}

#[test]
fn shares_are_the_limit_if_redis_fails() {
    for (title, is_balanced) in [("killed, balanced", true), ("killed, random", false)] {
        let make = |seed, nodes| Plan { is_balanced, fault: Fault::Killed, ..plan(seed, nodes) };
        validate(title, make, |plan, passed| {
            // Unbalanced traffic makes some processes spend more than their
            // share.
            let most = if is_balanced { plan.limit + nodes(plan) - 1 } else { plan.limit * 2 };
            assert!(passed <= most, "{passed} by {plan:?}");
        });
    }
}

#[test]
fn shares_are_the_limit_if_half_of_the_processes_are_cut_off() {
    let make = |seed, nodes| Plan { fault: Fault::HalfIsCut, ..plan(seed, nodes) };
    validate("half is cut", make, |plan, passed| {
        let share = plan.limit.div_ceil(nodes(plan));
        let most = plan.limit + nodes(plan) / 2 * share;
        assert!(passed <= most, "{passed} by {plan:?}");
    });
}

#[test]
fn lost_counts_start_one_extra_window() {
    let make = |seed, nodes| Plan { fault: Fault::Restarted, ..plan(seed, nodes) };
    validate("restarted", make, |plan, passed| {
        let most = plan.limit * 2 + nodes(plan) - 1;
        assert!(passed <= most, "{passed} by {plan:?}");
    });
}
