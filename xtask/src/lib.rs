//! `cargo xtask <task>`: all tasks of this repository, in Rust. Tasks that are
//! packages below this folder use it as a library.
//!
//! Rules: it does not have dependencies. It prints every command before it runs
//! it. Without a task, it prints the table of tasks. The exit code is 2 for
//! wrong usage and 1 for a failure.

mod api_page;
mod audit;
mod autobahn;
mod bench;
mod bench_websockets;
mod book;
mod book_page;
pub mod browser;
mod check;
mod citations;
pub mod clippy;
mod command;
pub mod debian;
mod docs_page;
pub mod examples;
mod floods;
mod flows;
mod graphiql;
mod graphql;
mod graphql_clients;
mod home_page;
mod http;
mod hyper;
mod jwt_features;
mod keys;
mod kills;
mod lengths;
pub mod live_page;
mod lock_diff;
mod mcp;
mod msrv;
mod names;
mod nginx;
pub mod openapi;
mod package;
mod patterns;
mod pipelines;
mod portable;
mod prelude;
mod prometheus;
mod public_api;
mod quickstart;
mod readme;
pub mod redis;
mod reference;
mod report;
mod rpc;
pub mod running;
pub mod semver;
mod separate;
mod specification;
mod sql;
mod swagger_ui;
mod template;
mod test_alone;
mod tidy;
mod untested;
mod updated;

use std::env;
use std::fs;
use std::process::ExitCode;
use std::time::Instant;

use When::{Asked, Ci, CiAndNightly, Nightly};
pub use audit::crates;
pub use command::{announce, cargo, cargo_command, cargo_output, root, run, target_directory};
use command::{compiling_command, target_directory_of};
use report::report;
pub use report::skip;

const TASKS: &[Task] = &[
    Task {
        name: "ci",
        about: "all checks before a merge; `--from TASK` continues a run",
        when: Asked,
        run: ci,
    },
    Task {
        name: "check",
        about: "format, clippy and tests of the changed crates; `--since main`",
        when: Asked,
        run: check::run,
    },
    Task {
        name: "nightly",
        about: "the long checks that ci skips or shortens",
        when: Asked,
        run: nightly,
    },
    Task { name: "fmt", about: "check the formatting; `fmt --fix` applies it", when: Ci, run: fmt },
    Task {
        name: "tidy",
        about: "check documents, names, links and citations; a part of lint",
        when: Asked,
        run: tidy::run,
    },
    Task {
        name: "lint",
        about: "clippy, tidiness of the files; in ci without the benchmarks",
        when: CiAndNightly,
        run: lint,
    },
    Task { name: "test", about: "unit, integration and documentation tests", when: Ci, run: test },
    Task {
        name: "cases",
        about: "the tests of generated cases, with all of their cases",
        when: Nightly,
        run: cases,
    },
    Task {
        name: "arbitrary-precision",
        about: "tests with a feature of serde_json that other crates may enable",
        when: Nightly,
        run: separate::arbitrary_precision,
    },
    Task {
        name: "test-alone",
        about: "each crate with only its own features, each facade feature separately",
        when: Nightly,
        run: test_alone::run,
    },
    Task {
        name: "doc",
        about: "build the documentation; in ci only its data; `doc --open` shows it",
        when: CiAndNightly,
        run: doc,
    },
    // Installs mdBook if it is missing.
    Task {
        name: "book",
        about: "check the links of the book, build it into target/book, try its search",
        when: Nightly,
        run: book::run,
    },
    Task {
        name: "circles",
        about: "the largest circle of files in each crate; `-v` lists them",
        when: Asked,
        run: package::circles,
    },
    Task {
        name: "prose",
        about: "phrases of stilted English, against the record; `--save`, `--where ROW`",
        when: Ci,
        run: package::prose,
    },
    Task {
        name: "public-api",
        about: "the public items of each crate, against the lists; `--save` writes them",
        when: Ci,
        run: public_api::run,
    },
    Task {
        name: "examples",
        about: "build and run the examples, send the shop the lines of its README",
        when: Ci,
        run: examples::run,
    },
    Task {
        name: "kills",
        about: "kill the shop during writes, and check that acknowledged writes remain; `--long`",
        when: CiAndNightly,
        run: kills::run,
    },
    Task {
        name: "floods",
        about: "flood examples, and measure memory and waiting times; `--seconds`, `--idle`, \
                `--crowd`",
        when: CiAndNightly,
        run: floods::run,
    },
    // Compiles the server with optimization.
    Task {
        name: "pipelines",
        about: "200,000 generated connections against a model; `--connections`, `--seed`",
        when: Nightly,
        run: pipelines::run,
    },
    // Compiles a program with several versions of hyper.
    Task {
        name: "hyper",
        about: "other versions of hyper, and the plain path; `--patched`, `--newest`, `--plain`",
        when: Nightly,
        run: hyper::run,
    },
    Task {
        name: "keys",
        about: "a million clients against the rate limit of an example; in ci fewer",
        when: CiAndNightly,
        run: keys::run,
    },
    Task {
        name: "sql",
        about: "stores in PostgreSQL, against a temporary server; `--long`",
        when: CiAndNightly,
        run: sql::run,
    },
    Task {
        name: "redis",
        about: "shared state in Redis, with servers that are killed; `--long`",
        when: CiAndNightly,
        run: redis::run,
    },
    Task {
        name: "cluster",
        about: "three processes behind HAProxy, with Redis failures; `--long`, `--page`",
        when: CiAndNightly,
        run: package::cluster,
    },
    Task {
        name: "template",
        about: "generate programs from the template, and test them; `--save` writes its lock",
        when: CiAndNightly,
        run: template::run,
    },
    Task {
        name: "patterns",
        about: "compare recorded results of patterns with the JavaScript engine of Node",
        when: Ci,
        run: patterns::run,
    },
    Task {
        name: "counts",
        about: "instructions and allocations per request, against the record",
        when: CiAndNightly,
        run: bench::counts,
    },
    Task {
        name: "compile-cost",
        about: "compile cost of a program, compared with axum; `--modules`, `--short`, `--save`",
        when: CiAndNightly,
        run: package::compile_cost,
    },
    Task {
        name: "first-minute",
        about: "compile cost of the first programs of a newcomer, compared with axum; `--save`",
        when: Nightly,
        run: package::first_minute,
    },
    Task {
        name: "audit",
        about: "dependencies between crates, licenses, advisories",
        when: Ci,
        run: audit::run,
    },
    Task {
        name: "package",
        about: "build the published packages, and compile each",
        when: Nightly,
        run: package,
    },
    Task {
        name: "release",
        about: "check the parts of a release, and print a checklist; `--dry-run`, `--no-verify`",
        when: Asked,
        run: package::release,
    },
    Task {
        name: "semver",
        about: "compare the public API with the last release; `--baseline REVISION`",
        when: Nightly,
        run: semver::run,
    },
    // Compiles all dependencies twice.
    Task {
        name: "updated",
        about: "test with the newest and the lowest dependencies; `--newest`, `--lowest`, `--check`",
        when: Nightly,
        run: updated::run,
    },
    // Needs two older toolchains.
    Task {
        name: "msrv",
        about: "compile the facade with the oldest supported versions of Rust",
        when: Asked,
        run: msrv::run,
    },
    Task {
        name: "portable",
        about: "compile for the other installed targets; on macOS and Windows run the tests",
        when: Nightly,
        run: portable::run,
    },
    // Installs a package.
    Task {
        name: "quickstart",
        about: "run the quick start of the README in an empty folder",
        when: Nightly,
        run: quickstart::run,
    },
    // Installs a package.
    Task {
        name: "nginx",
        about: "run the tutorial, a WebSocket, events and uploads behind nginx",
        when: Nightly,
        run: nginx::run,
    },
    // Installs a package.
    Task {
        name: "prometheus",
        about: "check the dashboard and the alert rules of the shop with a Prometheus",
        when: Nightly,
        run: prometheus::run,
    },
    Task {
        name: "browser",
        about: "check cross-origin requests and pages in Chromium; `--pictures`",
        when: Nightly,
        run: browser::run,
    },
    // Installs packages.
    Task {
        name: "api-page",
        about: "check the page of the API in Chromium, and its script; `--pictures`",
        when: Nightly,
        run: api_page::run,
    },
    // Installs a package.
    Task {
        name: "lock-diff",
        about: "compare the lock's classes of changes with redocly",
        when: Nightly,
        run: lock_diff::task,
    },
    // Compiles aws-lc for minutes.
    Task {
        name: "jwt-features",
        about: "tokens under each set of features of jsonwebtoken",
        when: Nightly,
        run: jwt_features::run,
    },
    // Compiles a separate runtime.
    Task {
        name: "lambda",
        about: "build and test the example for AWS Lambda",
        when: Nightly,
        run: separate::lambda,
    },
    // Compiles SQLite.
    Task {
        name: "conduit",
        about: "build and test the example with a database",
        when: Nightly,
        run: separate::conduit,
    },
    // Compiles sqlx.
    Task {
        name: "sqlx-postgres",
        about: "build and test the example with the pool of sqlx, on a PostgreSQL",
        when: Nightly,
        run: sql::sqlx,
    },
    // Links dozens of programs.
    Task {
        name: "from-axum",
        about: "build and test the examples of axum, written with stockade",
        when: Nightly,
        run: separate::from_axum,
    },
    // Compiles the OpenTelemetry crates and an HTTP client.
    Task {
        name: "opentelemetry",
        about: "build and test the example that sends spans to a collector",
        when: Nightly,
        run: separate::opentelemetry,
    },
    // Installs tools from npm and PyPI.
    Task {
        name: "openapi",
        about: "check the documents of two examples with third-party tools",
        when: Nightly,
        run: openapi::run,
    },
    // Installs clients from npm, PyPI and crates.io.
    Task {
        name: "rpc",
        about: "call JSON-RPC methods with third-party clients",
        when: Nightly,
        run: rpc::run,
    },
    // Installs an npm package.
    Task {
        name: "graphql",
        about: "check GraphQL over HTTP with the audits of npm's graphql-http",
        when: Nightly,
        run: graphql::run,
    },
    // Installs clients from npm and runs a browser.
    Task {
        name: "graphql-clients",
        about: "run GraphQL operations with third-party clients and GraphiQL, also in the shop",
        when: Nightly,
        run: graphql_clients::run,
    },
    // Installs tools and clients from npm, PyPI and crates.io.
    Task {
        name: "mcp",
        about: "check MCP with its conformance suite and third-party clients; `--hosts`",
        when: Nightly,
        run: mcp::run,
    },
    // Needs npm.
    Task {
        name: "swagger-ui",
        about: "download the files of Swagger UI from npm",
        when: Asked,
        run: swagger_ui::refresh,
    },
    // Needs npm.
    Task {
        name: "graphiql",
        about: "build the GraphiQL page from npm packages",
        when: Asked,
        run: graphiql::refresh,
    },
    // Needs CPython 2.7.
    Task {
        name: "autobahn",
        about: "run the Autobahn test suite against the echo example",
        when: Asked,
        run: autobahn::run,
    },
    // Compiles the peers, and the figures need an idle machine.
    Task {
        name: "bench-websockets",
        about: "CPU of a WebSocket echo, compared with its peers",
        when: Asked,
        run: bench_websockets::run,
    },
    // Needs a dedicated machine.
    Task {
        name: "bench",
        about: "measure and compare with peers: `--peers`, `--rounds`, `--resume`, `--save`",
        when: Asked,
        run: bench::run,
    },
];

struct Task {
    name: &'static str,
    about: &'static str,
    when: When,
    run: fn() -> Outcome,
}

/// The runs that include a task.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum When {
    Asked,
    Ci,
    Nightly,
    /// Included in `ci` in a short form.
    CiAndNightly,
}

/// The reason why a task fails.
pub type Outcome = Result<(), String>;

/// Runs the task in the first argument.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = public_api::as_rustdoc() {
        return code;
    }
    let name = env::args().nth(1).unwrap_or_default();
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprintln!("usage: cargo xtask <task>\n");
        for task in TASKS {
            eprintln!("  {:<19} {}", task.name, task.about);
        }
        return ExitCode::from(2);
    };
    end_of((task.run)())
}

/// Prints the error of a task and returns the exit code.
#[must_use]
pub fn end_of(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask {}: {error}", env::args().nth(1).unwrap_or_default());
            ExitCode::FAILURE
        }
    }
}

/// Runs the tasks of `ci` in order until one fails. The variable `CI_FROM` names
/// the first task, to continue a run that failed. It is not an argument, because
/// the tasks read the arguments.
fn ci() -> Outcome {
    let in_ci = |task: &&Task| matches!(task.when, Ci | CiAndNightly);
    let position = |name: &str| {
        let found = TASKS.iter().position(|task| task.name == name && in_ci(&task));
        found.ok_or(format!("`ci` does not have the task {name}"))
    };
    let from = env::var("CI_FROM").map_or(Ok(0), |name| position(&name))?;
    let first_wait = position(FIRST_WAIT)?.max(from);
    let (busy, waiting) = (&TASKS[from..first_wait], &TASKS[first_wait..]);
    let mut summary = run_all("ci", busy.iter().filter(in_ci))?;
    let _ahead = bench::compile_ahead()?;
    summary += &run_all("ci", waiting.iter().filter(in_ci))?;
    for task in TASKS.iter().filter(|task| task.when == Nightly) {
        skip(&format!("{} (`cargo xtask {}`, a part of `nightly`)", task.about, task.name));
    }
    report("ci", &summary);
    Ok(())
}

/// The first task of the group that mostly waits for databases, timers and
/// programs.
const FIRST_WAIT: &str = "examples";

/// Runs the tasks that `ci` omits, and the long form of the tasks that `ci`
/// shortens.
fn nightly() -> Outcome {
    let in_nightly = |task: &&Task| matches!(task.when, Nightly | CiAndNightly);
    let summary = run_all("nightly", TASKS.iter().filter(in_nightly))?;
    report("nightly", &summary);
    Ok(())
}

/// Runs tasks in order until one fails. Returns a line for each.
fn run_all<'a>(run: &str, tasks: impl Iterator<Item = &'a Task>) -> Result<String, String> {
    let mut summary = String::new();
    for task in tasks {
        let start = Instant::now();
        (task.run)().map_err(|error| {
            format!("{run}: {error}\nrun this step again with: cargo xtask {}", task.name)
        })?;
        let line = format!("  {:<12} ok, {} s\n", task.name, start.elapsed().as_secs());
        // The line is also printed now, because a failing task later omits the
        // summary.
        print!("{line}");
        summary += &line;
    }
    Ok(summary)
}

/// Returns true if the current run includes this task.
#[must_use]
pub fn is_part_of(name: &str) -> bool {
    env::args().nth(1).is_some_and(|task| task == name)
}

fn fmt() -> Outcome {
    if env::args().any(|arg| arg == "--fix") {
        return cargo(&["fmt", "--all"]);
    }
    cargo(&["fmt", "--all", "--check"])
}

fn lint() -> Outcome {
    tidy::run()?;
    if is_part_of("ci") {
        clippy::refuses_warnings()?;
        // Uses the command of `test`, because any other command, even `build`,
        // compiles other variants.
        cargo(&["test", "--workspace", "--all-features", "--no-run"])?;
    } else {
        cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-Dwarnings"])?;
    }
    Ok(())
}

fn test() -> Outcome {
    cargo(&["test", "--workspace", "--all-features"])?;
    // Tests the server again without the optimizations that depend on hyper's
    // internals. The command and the packages are the same as in the previous
    // run, otherwise cargo would compile them again.
    let mut plain = compiling_command();
    plain.args(["test", "--workspace", "--all-features", "--lib", "--"]).args(server_tests()?);
    run(plain.env(hyper::PLAIN_TESTS, "1").current_dir(root()))
}

/// Runs the tests that use fewer cases in `test`.
fn cases() -> Outcome {
    let mut tests = cargo_command();
    tests.args(["test", "-p", "stockade-tests", "--all-features", "--"]);
    tests.args(["routing::spellings", "rest::nested"]);
    tests.args(["rest::concurrent_patches", "idempotency::races"]);
    run(tests.env("LONG", "1").current_dir(root()))?;
    let mut unions = cargo_command();
    unions.args(["test", "-p", "stockade-validation", "--all-features", "--lib", "--"]);
    run(unions.arg("check::first_of").env("LONG", "1").current_dir(root()))
}

/// Returns the names of the server's tests on sockets, which depend on its path.
fn server_tests() -> Result<Vec<String>, String> {
    let folder = root().join("crates/stockade-server/src/tests");
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if let Some(name) = path.file_stem().and_then(|name| name.to_str()) {
            names.push(format!("tests::{name}::"));
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Packages the crates with additional arguments of `cargo package`. Rejects
/// uncommitted changes, as cargo does.
pub fn package_crates(arguments: &[&str]) -> Outcome {
    let mut args = [&["package"], arguments].concat();
    audit::crates().for_each(|krate| args.extend(["-p", krate]));
    cargo(&args)
}

/// Packages the crates, and compiles each from its archive.
fn package() -> Outcome {
    package_crates(&[])?;
    let manifest =
        fs::read_to_string(root().join("Cargo.toml")).map_err(|error| error.to_string())?;
    for key in tidy::ADDRESSES {
        if manifest.contains(&format!("\n{key} = \"\"\n")) {
            skip(&format!("the address `{key}`: set it in `[workspace.package]` of Cargo.toml"));
        }
    }
    Ok(())
}

fn doc() -> Outcome {
    if is_part_of("ci") {
        return public_api::document();
    }
    let mut args = vec!["doc", "--all-features", "--no-deps"];
    // Examples and tests add other crates and do not have pages.
    audit::crates().for_each(|krate| args.extend(["-p", krate]));
    if env::args().any(|arg| arg == "--open") {
        args.push("--open");
    }
    run(cargo_command().args(args).env("RUSTDOCFLAGS", "-Dwarnings").current_dir(root()))
}
