//! [`assert_routes_lock`]: compares the routes of an application with a
//! committed file.

use std::env::{self, VarError};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use stockade_errors::BoxError;
use stockade_map::RouteMap;
use stockade_map::lock::{CommittedLock, Lock, LockError, RouterLocks};
use stockade_routing::App;

use crate::IntoRouters;
use crate::fail::{built, or_fail};
use crate::posture::parse;

/// The environment variable that allows writing the file.
const VARIABLE: &str = "STOCKADE_LOCK";

/// Fails if the routes of an application differ from a file. Lists the
/// differences: changes that weaken protection, changes that break clients,
/// other changes, and text changes. Each entry has its consequences, its source
/// location, and a fix.
///
/// `path` is relative to the package of the test (`CARGO_MANIFEST_DIR`), or to
/// the current directory if cargo does not set the variable.
///
/// | `STOCKADE_LOCK` | |
/// |---|---|
/// | not set | compares |
/// | `write` | writes the file if it does not exist, or if no change breaks clients or weakens protection |
/// | `accept` | writes the file, whatever has changed |
///
/// Nothing is written if `CI` is set: both values are a failure there. For the
/// rules, see `stockade::openapi::lock`.
///
/// ```no_run
/// use stockade::prelude::*;
/// use stockade::testing::assert_routes_lock;
///
/// fn router() -> Router {
///     create_router(routes! { "users": { GET: async || "all" } }, RouterOptions::new())
/// }
///
/// // #[test]
/// fn routes_are_as_locked() {
///     assert_routes_lock(router(), "routes.lock");
/// }
/// ```
///
/// The lock also contains the settings under each configuration file that a
/// router declares by `Router::configuration`. A file is JSON, or TOML if its
/// name ends with `.toml`.
///
/// Several routers of one program share a file and a report. Give each a name:
///
/// ```no_run
/// # use stockade::prelude::*;
/// # use stockade::testing::assert_routes_lock;
/// # fn router() -> Router { Router::new() }
/// # fn admin_router() -> Router { Router::new() }
/// assert_routes_lock([("public", router()), ("admin", admin_router())], "routes.lock");
/// ```
///
/// # Panics
/// Panics if the routes differ, if the file is missing or not a lock file, if a
/// declared configuration file is missing or invalid, and if the router has
/// configuration errors.
#[track_caller]
pub fn assert_routes_lock(routers: impl IntoRouters, path: impl AsRef<Path>) {
    let lock = or_fail(Locked::of(&built(routers.into_routers())));
    let mode = or_fail(Mode::of(variable(VARIABLE).as_deref(), variable("CI").as_deref()));
    or_fail(compare(&lock, &in_package(path.as_ref()), mode, SystemTime::now()));
}

/// The lock of one router, or of several.
enum Locked {
    One(Box<Lock>),
    Several(RouterLocks),
}

impl Locked {
    fn of(routers: &[(String, App)]) -> Result<Self, BoxError> {
        if let [(name, app)] = routers
            && name.is_empty()
        {
            return Ok(Self::One(Box::new(Lock::of(&map_of(app)?)?)));
        }
        let maps: Vec<(&str, RouteMap)> = routers
            .iter()
            .map(|(name, app)| Ok((name.as_str(), map_of(app)?)))
            .collect::<Result<_, BoxError>>()?;
        Ok(Self::Several(RouterLocks::of(maps.iter().map(|(name, map)| (*name, map)))?))
    }

    fn compare_file(&self, path: &Path, now: SystemTime) -> Result<CommittedLock, LockError> {
        match self {
            Self::One(lock) => lock.compare_file(path, now),
            Self::Several(locks) => locks.compare_file(path, now),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::One(lock) => lock.to_string(),
            Self::Several(locks) => locks.to_string(),
        }
    }
}

/// Returns the value of an environment variable, unless it is empty.
fn variable(name: &str) -> Option<String> {
    match env::var(name) {
        Ok(value) => Some(value).filter(|value| !value.is_empty()),
        Err(VarError::NotPresent) => None,
        // It is an invalid value, and the message shows it.
        Err(VarError::NotUnicode(value)) => Some(value.to_string_lossy().into_owned()),
    }
}

/// Returns the map of an application, with the settings under its configuration
/// files.
fn map_of(app: &App) -> Result<RouteMap, BoxError> {
    Ok(app.route_map_with_files(package().as_deref(), &parse)?)
}

/// Returns the folder of the package under test.
pub(crate) fn package() -> Option<PathBuf> {
    env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from)
}

fn in_package(path: &Path) -> PathBuf {
    package().map_or_else(|| path.to_owned(), |package| package.join(path))
}

/// The changes that may be written to the file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    None,
    Harmless,
    All,
}

impl Mode {
    fn of(value: Option<&str>, ci: Option<&str>) -> Result<Self, String> {
        let mode = match value {
            None => return Ok(Self::None),
            Some("write") => Self::Harmless,
            Some("accept") => Self::All,
            Some(other) => {
                return Err(format!(
                    "expected {VARIABLE} to be `write` or `accept`, found {other:?}"
                ));
            }
        };
        match ci {
            None | Some("false" | "0") => Ok(mode),
            Some(_) => Err(format!(
                "{VARIABLE} and CI are both set: remove {VARIABLE}, because the file is never \
                 written in CI"
            )),
        }
    }
}

fn compare(lock: &Locked, path: &Path, mode: Mode, now: SystemTime) -> Result<(), String> {
    let shown = path.display();
    let write =
        || fs::write(path, lock.text()).map_err(|error| format!("cannot write {shown}: {error}"));
    let committed = lock.compare_file(path, now).map_err(|error| error.to_string())?;
    let changes = match committed {
        CommittedLock::Same => return Ok(()),
        CommittedLock::Missing | CommittedLock::OtherForm if mode != Mode::None => return write(),
        CommittedLock::Missing => {
            return Err(format!(
                "{shown} does not exist: run `{VARIABLE}=write cargo test` to write it"
            ));
        }
        CommittedLock::OtherForm => {
            return Err(format!(
                "{shown} has the same routes in a different format: run `{VARIABLE}=write cargo \
                 test` to write it again"
            ));
        }
        CommittedLock::Changed(changes) => changes,
    };
    let is_harmless = !changes.is_breaking() && !changes.is_weakening();
    match mode {
        Mode::All => write(),
        Mode::Harmless if is_harmless => write(),
        _ => {
            let word = if is_harmless { "write" } else { "accept" };
            let nothing = if mode == Mode::None { "" } else { "; nothing was written" };
            Err(format!(
                "the routes do not match {shown}{nothing}\n\n{changes}\n\
                 fix the change as shown; if it is intended, run `{VARIABLE}={word} cargo test`"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use stockade_core::description::SecurityScheme;
    use stockade_core::{Middleware, Request, RouteDescription, RouteDocs};
    use stockade_errors::ApiError;
    use stockade_routing::Router;

    use super::*;

    /// The name of the middleware of these tests.
    const USER: &str = "user";

    /// A new route without a user is a weakening.
    fn user() -> Middleware {
        fn pass(_: &mut Request) -> Result<(), ApiError> {
            Ok(())
        }
        Middleware::new(pass).named(USER).describing(|doc: &mut RouteDescription| {
            doc.finds_user([SecurityScheme::bearer()], true);
        })
    }

    fn lock(paths: &[&str]) -> Locked {
        let mut router = Router::new();
        for path in paths {
            let docs = RouteDocs::new("x").deprecated_since("2020-01-01").sunset("2021-01-01");
            router.get(path, async || "x").docs(docs).middleware(user());
        }
        Locked::One(Box::new(Lock::of(&router.build().unwrap().route_map()).unwrap()))
    }

    /// Returns a path that only this test uses.
    fn path(name: &str) -> PathBuf {
        let path = env::temp_dir().join(format!("stockade-{}-{name}.lock", std::process::id()));
        drop(fs::remove_file(&path));
        path
    }

    #[test]
    fn the_variable_has_two_values_and_is_ignored_in_ci() {
        fn check(value: Option<&str>, ci: Option<&str>, expected: Result<Mode, &str>) {
            let mode = Mode::of(value, ci);
            match expected {
                Ok(expected) => assert_eq!(mode, Ok(expected)),
                Err(part) => assert!(mode.clone().unwrap_err().contains(part), "{mode:?}"),
            }
        }
        check(None, Some("true"), Ok(Mode::None));
        check(Some("write"), None, Ok(Mode::Harmless));
        check(Some("accept"), Some("false"), Ok(Mode::All));
        check(Some("write"), Some("true"), Err("CI are both set"));
        check(Some("ACCEPT"), None, Err("`write` or `accept`, found \"ACCEPT\""));
    }

    #[test]
    fn writes_a_missing_file_only_on_request() {
        let path = path("missing");
        let error = compare(&lock(&["/a"]), &path, Mode::None, SystemTime::now()).unwrap_err();
        assert!(error.contains("STOCKADE_LOCK=write cargo test"), "{error}");
        assert!(!path.exists());
        compare(&lock(&["/a"]), &path, Mode::Harmless, SystemTime::now()).unwrap();
        assert_eq!(compare(&lock(&["/a"]), &path, Mode::None, SystemTime::now()), Ok(()));
        fs::write(&path, lock(&["/a"]).text().replace('\n', "\r\n")).unwrap();
        assert_eq!(compare(&lock(&["/a"]), &path, Mode::None, SystemTime::now()), Ok(()));
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn only_accept_writes_breaking_changes() {
        let path = path("accept");
        let (two, one) = (lock(&["/a", "/b"]), lock(&["/a"]));
        // Long before the sunset.
        let now = SystemTime::UNIX_EPOCH;
        fs::write(&path, two.text()).unwrap();
        for mode in [Mode::None, Mode::Harmless] {
            let error = compare(&one, &path, mode, now).unwrap_err();
            assert!(error.contains("[breaking] route-removed"), "{error}");
            assert!(error.contains("STOCKADE_LOCK=accept"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), two.text());
        }
        compare(&one, &path, Mode::All, now).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), one.text());
        let error = compare(&two, &path, Mode::None, now).unwrap_err();
        assert!(error.contains("STOCKADE_LOCK=write"), "{error}");
        compare(&two, &path, Mode::Harmless, now).unwrap();
        // A route may be removed after its sunset.
        let late = now + Duration::from_secs(1_700_000_000);
        compare(&one, &path, Mode::Harmless, late).unwrap();
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn never_overwrites_an_unreadable_file() {
        let path = path("broken");
        let good = lock(&["/a"]).text();
        let newer = good.replace("\"format\": 1", "\"format\": 2");
        let merged = format!("<<<<<<< HEAD\n{good}");
        let unknown = good.replace("\"routes\": {", "\"other\": 1,\n  \"routes\": {");
        let cases = [
            ("", "it is not JSON"),
            ("{}", "`format` is missing or unknown"),
            (newer.as_str(), "a newer version wrote it"),
            (merged.as_str(), "conflict markers"),
            (unknown.as_str(), "unknown field `other`"),
        ];
        for (text, expected) in cases {
            fs::write(&path, text).unwrap();
            let now = SystemTime::now();
            let error = compare(&lock(&["/a"]), &path, Mode::All, now).unwrap_err();
            assert!(error.contains(expected), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::write(&path, good.replace(": ", ":  ")).unwrap();
        let error = compare(&lock(&["/a"]), &path, Mode::None, SystemTime::now()).unwrap_err();
        assert!(error.contains("the same routes in a different format"), "{error}");
        fs::remove_file(path).unwrap();
    }
}
