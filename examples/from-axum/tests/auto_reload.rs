//! Tests of the program `auto-reload`, with and without an inherited listener.

#![cfg(unix)]

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use stockade::testing::TestClient;

/// The program, which is killed when the test ends.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may already have exited.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn an_inherited_listener_is_used() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TestClient::live(&format!("http://{}", listener.local_addr().unwrap()));
    // The first inherited descriptor is 3; the process id is the id of the
    // shell.
    let script = r#"exec 3<&0; LISTEN_FDS=1 LISTEN_PID=$$ exec "$1""#;
    let program = env!("CARGO_BIN_EXE_auto-reload");
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", program]).stdin(Stdio::from(OwnedFd::from(listener)));
    let _program = Program(command.spawn().unwrap());
    // The connection waits in the queue of the listener until the program runs.
    client.get("/").await.assert_status(200).assert_text("<h1>Hello, World!</h1>");
}
