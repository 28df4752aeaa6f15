//! Tests inherited sockets, and processes that end abruptly.
//!
//! Each test starts itself again as another process, with its role in the
//! environment.

use std::env;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stockade_routing::Router;

use crate::{CreateServer as _, InheritedSockets, UnixSocket};

/// The variable that names the role of the other process.
const ROLE: &str = "STOCKADE_TEST_ROLE";

/// The variable with the path of its Unix socket.
const PATH: &str = "STOCKADE_TEST_PATH";

/// A process that is killed on drop.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a command that runs this test again, from a shell script.
fn again(test: &str, role: &str, script: &str) -> Command {
    let mut command = Command::new("sh");
    let program = env::current_exe().unwrap();
    command.args(["-c", script]).arg(program).args(["--exact", test, "--nocapture"]);
    command.env(ROLE, role).stderr(Stdio::null());
    command
}

/// Responds with its role on the configured listeners.
fn answer_as(role: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut router = Router::new();
        router.get("/", async || env::var(ROLE).unwrap());
        let app = router.build().unwrap();
        if let Some(path) = env::var_os(PATH) {
            let socket = UnixSocket::new(path);
            return app.create_server().unwrap().listen(socket).await.unwrap();
        }
        let mut inherited = InheritedSockets::from_env().unwrap();
        assert!(InheritedSockets::from_env().unwrap().is_empty(), "they are taken once");
        if role == "named" {
            let named = inherited.take("second");
            assert_eq!((named.len(), inherited.len()), (1, 1));
            assert!(inherited.take("second").is_empty());
            inherited = named;
        }
        app.create_server().unwrap().listen(inherited).await.unwrap();
    });
}

/// Requests `/` and returns the response, or an error if there is none yet.
fn ask(mut stream: impl std::io::Read + std::io::Write) -> std::io::Result<String> {
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Retries until it succeeds.
fn soon<T>(mut ask: impl FnMut() -> std::io::Result<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        match ask() {
            Ok(found) => return found,
            Err(error) if Instant::now() > deadline => panic!("{error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn path(name: &str) -> PathBuf {
    let path = env::temp_dir().join(format!("stockade-{name}-{}", std::process::id()));
    let _ = fs::remove_file(&path);
    path
}

/// Makes the shell pass two listeners to a process as its files 3 and 4.
fn pass(command: &mut Command, first: OwnedFd, second: OwnedFd) -> Process {
    Process(command.stdin(Stdio::from(first)).stdout(Stdio::from(second)).spawn().unwrap())
}

const BOTH: &str = r#"exec 3<&0 4>&1 0</dev/null 1>/dev/null
    LISTEN_FDS=2 LISTEN_PID=$$ exec "$0" "$@""#;

#[test]
fn inherited_listeners_of_both_kinds_are_served() {
    const NAME: &str = "tests::inherited::inherited_listeners_of_both_kinds_are_served";
    if let Ok(role) = env::var(ROLE) {
        return answer_as(&role);
    }
    let path = path("inherited");
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap();
    let unix = UnixListener::bind(&path).unwrap();
    let first = pass(
        &mut again(NAME, "first", BOTH),
        tcp.try_clone().unwrap().into(),
        unix.try_clone().unwrap().into(),
    );
    let answer = soon(|| ask(TcpStream::connect(address)?));
    assert!(answer.ends_with("\r\nfirst"), "{answer}");
    let answer = soon(|| ask(UnixStream::connect(&path)?));
    assert!(answer.ends_with("\r\nfirst"), "{answer}");
    drop(first);

    // No process serves, and the client waits instead of being refused.
    let waiting = TcpStream::connect(address).unwrap();
    let _second = pass(&mut again(NAME, "second", BOTH), tcp.into(), unix.into());
    let answer = ask(waiting).unwrap();
    assert!(answer.ends_with("\r\nsecond"), "{answer}");
    // The file belongs to the parent.
    assert!(path.exists());
    fs::remove_file(&path).unwrap();
}

#[test]
fn selects_a_listener_by_name() {
    const NAME: &str = "tests::inherited::selects_a_listener_by_name";
    if let Ok(role) = env::var(ROLE) {
        return answer_as(&role);
    }
    let [first, second] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let address = second.local_addr().unwrap();
    let mut command = again(NAME, "named", BOTH);
    command.env("LISTEN_FDNAMES", "first:second");
    let _process = pass(&mut command, first.into(), second.into());
    let answer = soon(|| ask(TcpStream::connect(address)?));
    assert!(answer.ends_with("\r\nnamed"), "{answer}");
}

/// Runs the test with only one passed file, and returns its output.
fn outcome(test: &str, passed: OwnedFd, script: &str) -> String {
    let mut command = again(test, "error", script);
    let mut child = command.stdin(passed).stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    text
}

#[test]
fn rejects_non_listeners_and_ignores_sockets_of_other_processes() {
    const NAME: &str =
        "tests::inherited::rejects_non_listeners_and_ignores_sockets_of_other_processes";
    if env::var(ROLE).is_ok() {
        let found = InheritedSockets::from_env();
        let found = found.map_or_else(|error| error.to_string(), |it| it.len().to_string());
        writeln!(std::io::stdout(), "found {found}").unwrap();
        return;
    }
    let mine = r#"exec 3<&0 0</dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@""#;
    let named = r#"exec 3<&0 0</dev/null
        LISTEN_FDNAMES=a:b LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@""#;
    let others = r#"exec 3<&0 0</dev/null; LISTEN_FDS=1 LISTEN_PID=1 exec "$0" "$@""#;
    let no_count = r#"exec 3<&0 0</dev/null; LISTEN_FDS=abc LISTEN_PID=$$ exec "$0" "$@""#;
    let negative = r#"exec 3<&0 0</dev/null; LISTEN_FDS=-1 exec "$0" "$@""#;
    let no_pid = r#"exec 3<&0 0</dev/null; LISTEN_FDS=1 LISTEN_PID=me exec "$0" "$@""#;
    let others_none = r#"exec 3<&0 0</dev/null; LISTEN_FDS=abc LISTEN_PID=1 exec "$0" "$@""#;
    let one_name = r#"exec 3<&0 0</dev/null
        LISTEN_FDNAMES=web LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" "$@""#;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connected = || OwnedFd::from(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
    let file = OwnedFd::from(fs::File::open("/dev/null").unwrap());
    let datagrams = OwnedFd::from(std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
    let cannot = "cannot use inherited sockets: ";
    for (passed, script, expected) in [
        (file, mine, format!("found {cannot}fd 3 is not a socket")),
        (datagrams, mine, format!("found {cannot}fd 3 is not a valid unix stream socket")),
        (
            connected(),
            mine,
            format!("found {cannot}socket 1 of 1, which does not have a name, does not listen: "),
        ),
        (connected(), one_name, format!(r#"found {cannot}the socket "web" does not listen: "#)),
        (connected(), named, format!("found {cannot}LISTEN_FDNAMES has 2 names for 1 sockets")),
        (connected(), others, "found 0".to_owned()),
        (connected(), others_none, "found 0".to_owned()),
        (
            connected(),
            no_count,
            format!(r#"found {cannot}LISTEN_FDS is "abc", which is not a number of sockets"#),
        ),
        (
            connected(),
            negative,
            format!(r#"found {cannot}LISTEN_FDS is "-1", which is not a number of sockets"#),
        ),
        (
            connected(),
            no_pid,
            format!(r#"found {cannot}LISTEN_PID is "me", which is not a process id"#),
        ),
    ] {
        let text = outcome(NAME, passed, script);
        assert!(text.contains(&expected), "{expected}: {text}");
    }
}

#[tokio::test]
async fn reports_an_unknown_socket_name() {
    let missing = InheritedSockets::default().take("web");
    let server = Router::new().create_server().unwrap();
    let error = server.listen(missing).await.unwrap_err().to_string();
    let expected = "cannot use inherited sockets: no socket with the name \"web\" was passed; set \
                    `FileDescriptorName=web` in the systemd unit";
    assert_eq!(error, expected);
}

fn serve_at(test: &str, role: &str, path: &Path) -> Process {
    let mut command = again(test, role, r#"exec "$0" "$@""#);
    Process(command.env(PATH, path).stdout(Stdio::null()).spawn().unwrap())
}

#[test]
fn the_next_process_reuses_the_path_of_a_killed_one() {
    const NAME: &str = "tests::inherited::the_next_process_reuses_the_path_of_a_killed_one";
    if let Ok(role) = env::var(ROLE) {
        return answer_as(&role);
    }
    let path = path("killed");
    for role in ["first", "second"] {
        let process = serve_at(NAME, role, &path);
        let answer = soon(|| ask(UnixStream::connect(&path)?));
        assert!(answer.ends_with(&format!("\r\n{role}")), "{answer}");
        // No other process can take the path while this one listens.
        let mut other = serve_at(NAME, "other", &path);
        assert!(!other.0.wait().unwrap().success());
        let answer = ask(UnixStream::connect(&path).unwrap()).unwrap();
        assert!(answer.ends_with(&format!("\r\n{role}")), "{answer}");
        // SIGKILL prevents any cleanup.
        drop(process);
        assert!(path.exists());
    }
    // A graceful end removes the file.
    let mut process = serve_at(NAME, "third", &path);
    let answer = soon(|| ask(UnixStream::connect(&path)?));
    assert!(answer.ends_with("\r\nthird"), "{answer}");
    let kill = format!("kill -TERM {}", process.0.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert!(process.0.wait().unwrap().success());
    assert!(!path.exists());
}
