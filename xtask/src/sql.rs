//! Tests the stores of `stockade-sql` with its own PostgreSQL server.
//!
//! A server does not run as root, so root starts it as another user. Its folder
//! is new for each run and is deleted with the task.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{
    Outcome, cargo_command, compiling_command, debian, is_part_of, root, run as started, skip,
};

/// Installation folders of Debian and other systems.
const FOLDERS: &[&str] = &["/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt"];

/// The test that kills the server.
const OUTAGE: &str = "postgres::outage";

/// The users to try if the current user is root.
const USERS: &[&str] = &["postgres", "nobody"];

pub fn run() -> Outcome {
    let Some(server) = server("sql")? else { return Ok(()) };
    server.test(&["postgres", "--skip", OUTAGE], &[])?;
    // This test runs by itself because it kills the server.
    server.test(&["--exact", OUTAGE], &[])?;
    if env::args().any(|argument| argument == "--long") || is_part_of("nightly") {
        // A test starts and kills the child process.
        let one_by_one = ["long::", "--skip", "long::child", "--nocapture", "--test-threads=1"];
        server.test(&one_by_one, &[("STOCKADE_SQL_LONG", "1")])?;
    }
    Ok(())
}

/// Tests the example with the sqlx pool.
pub fn sqlx() -> Outcome {
    let Some(server) = server("sqlx-postgres")? else { return Ok(()) };
    let mut test = cargo_command();
    test.args(["test", "--locked", "--", "--include-ignored"]).env("PGHOST", &server.folder);
    started(test.current_dir(root().join("examples/sqlx-postgres")))
}

/// Starts a server for a task. Without a server, the task fails if it was
/// started by name.
fn server(task: &str) -> Result<Option<Server>, String> {
    match optional_server()? {
        Some(server) => Ok(Some(server)),
        None if is_part_of(task) => {
            Err("PostgreSQL is missing (`apt-get install postgresql`)".to_owned())
        }
        None => {
            skip(&format!(
                "the tests of `{task}`: PostgreSQL is missing \
                (`apt-get install postgresql`, then `cargo xtask {task}`)"
            ));
            Ok(None)
        }
    }
}

/// Starts a server if PostgreSQL exists or can be installed.
pub(crate) fn optional_server() -> Result<Option<Server>, String> {
    find_programs()?.map(|programs| Server::start(&programs)).transpose()
}

/// Returns the folder of the server programs if they exist or can be installed.
fn find_programs() -> Result<Option<PathBuf>, String> {
    if let Some(found) = programs() {
        return Ok(Some(found));
    }
    let is_installed = debian::install(&["postgresql"]).unwrap_or(false);
    Ok(if is_installed { programs() } else { None })
}

fn programs() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = FOLDERS
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flat_map(|entries| entries.flatten())
        .map(|entry| entry.path().join("bin"))
        .chain([PathBuf::from("/usr/local/pgsql/bin"), PathBuf::from("/usr/bin")])
        .filter(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
        .collect();
    found.sort();
    found.pop()
}

/// A server in a separate folder, stopped on drop.
pub(crate) struct Server {
    folder: PathBuf,
    address: String,
    control: PathBuf,
}

impl Server {
    fn start(programs: &Path) -> Result<Self, String> {
        let folder = env::temp_dir().join(format!("stockade-sql-{}", std::process::id()));
        let user = other_user();
        let address = format!("host={} user=postgres dbname=postgres", folder.display());
        let control = folder.join("control");
        let server = Self { folder, address, control };
        let folder = server.folder.display();
        let owner = user.map(|user| format!("-o {user}")).unwrap_or_default();
        shell(&format!("install -d -m 700 {owner} {folder}"))?;
        let script = script(programs, &server.folder, user);
        fs::write(&server.control, script).map_err(|error| error.to_string())?;
        shell(&format!("chmod 755 {}", server.control.display()))?;
        server.control("init")?;
        server.control("start")?;
        Ok(server)
    }

    /// Returns the address as a URL.
    pub(crate) fn url(&self) -> String {
        let folder = self.folder.display().to_string();
        format!("postgres://postgres@{}/postgres", folder.replace('/', "%2F"))
    }

    /// Runs tests of the stores, optimized if they are long.
    fn test(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
        let is_long = variables.iter().any(|(name, _)| *name == "STOCKADE_SQL_LONG");
        let mut test = compiling_command();
        test.arg("test");
        if is_long {
            test.args(["--release", "-p", "stockade-sql"]);
        } else if is_part_of("sql") {
            test.args(["-p", "stockade-sql", "-p", "stockade-tests"]);
        } else {
            // Uses the same packages as the previous tests, so nothing is
            // compiled again.
            test.arg("--workspace");
        }
        // The tests are ignored without a server.
        test.args(["--all-features", "--test", "it", "--", "--include-ignored"]).args(arguments);
        test.envs(variables.iter().copied());
        test.env("STOCKADE_POSTGRES", &self.address);
        test.env("STOCKADE_POSTGRES_CONTROL", &self.control);
        started(&mut test)
    }

    fn control(&self, verb: &str) -> Outcome {
        started(Command::new(&self.control).arg(verb).stdout(Stdio::null()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test may have stopped it.
        let _ = self.control("kill");
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            println!("{}: {error}", self.folder.display());
        }
    }
}

/// Returns a user that may run a server, if the current user may not.
fn other_user() -> Option<&'static str> {
    let id = |argument: &[&str]| Command::new("id").args(argument).output();
    let is_root = id(&["-u"]).is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    let is_there = |user: &&str| id(&["-u", user]).is_ok_and(|output| output.status.success());
    if is_root { USERS.iter().copied().find(is_there) } else { None }
}

/// Returns a script that creates, starts and kills the server. Tests use it
/// too.
fn script(programs: &Path, folder: &Path, user: Option<&str>) -> String {
    let run = user.map(|user| format!("runuser -u {user} -- ")).unwrap_or_default();
    let (programs, folder) = (programs.display(), folder.display());
    format!(
        "#!/bin/sh\n\
        # init, start, or kill (as a crash does)\n\
        set -e\n\
        cd /\n\
        case \"$1\" in\n\
        init) {run}{programs}/initdb -D {folder}/data -U postgres -A trust -E UTF8 --locale=C \
            --no-sync ;;\n\
        start) {run}{programs}/pg_ctl -D {folder}/data -l {folder}/log -w -t 60 start -o \
            \"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=200\" ;;\n\
        kill) pid=$(head -1 {folder}/data/postmaster.pid) && kill -9 \"$pid\" \
            && rm -f {folder}/data/postmaster.pid {folder}/.s.PGSQL.5432* ;;\n\
        esac\n"
    )
}

fn shell(line: &str) -> Outcome {
    started(Command::new("sh").args(["-c", line]))
}
