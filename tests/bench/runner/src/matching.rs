//! [`Lookups`]: the cost of a route lookup, from the benchmark `bench-micro`.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::place::SERVER;
use crate::{Outcome, place};

/// Nanoseconds per path in one run, from criterion's medians.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Lookups {
    /// GitHub's 514 routes, including the method.
    pub(crate) own: f64,
    /// The paths of the GET routes, looked up with HEAD.
    pub(crate) head: f64,
    /// The times of matchit and wayfind, which do not support methods.
    pub(crate) matchit: f64,
    pub(crate) wayfind: f64,
    /// The 514 paths among 10,000 routes.
    pub(crate) among_many: f64,
    /// All of the 10,000 routes once, which do not fit into a processor cache.
    pub(crate) all: f64,
    pub(crate) all_matchit: f64,
}

/// Runs the benchmark and reads criterion's output.
pub(crate) fn measure() -> Outcome<Lookups> {
    let mut command = place::cargo()?;
    command.args(["bench", "--quiet", "--locked", "-p", "bench-micro", "--bench", "match"]);
    command.args(["--", "--noplot"]);
    place::on(SERVER, || place::run(&mut command))??;
    let folder = place::target()?.join("criterion");
    let each = |group: &str, name: &str| each(&folder.join(group).join(name).join("new"));
    Ok(Lookups {
        own: each(FEW, OWN)?,
        head: each(FEW, "stockade, HEAD to GET")?,
        matchit: each(FEW, MATCHIT)?,
        wayfind: each(FEW, "wayfind, no method")?,
        among_many: each("514 among 10,000 routes", OWN)?,
        all: each(MANY, OWN)?,
        all_matchit: each(MANY, MATCHIT)?,
    })
}

const FEW: &str = "514 routes";
const MANY: &str = "10,000 routes";
const OWN: &str = "stockade, with method";
const MATCHIT: &str = "matchit, no method";

/// Returns the median of an estimate, divided by the number of paths.
fn each(folder: &Path) -> Outcome<f64> {
    let read = |name: &str| -> Outcome<Value> {
        let path = folder.join(name);
        let failed = |error: String| format!("{}: {error}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
    };
    let time = read("estimates.json")?["median"]["point_estimate"].as_f64();
    let paths = read("benchmark.json")?["throughput"]["Elements"].as_f64();
    let each = time.zip(paths).map(|(time, paths)| time / paths);
    each.ok_or(format!("{} has no median", folder.display()))
}
