//! Runs the commands as a user would.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a command; returns its output or its error message.
fn run(args: &[&str], input: &str, secret: Option<&str>) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_auth-only"));
    command.args(args).env_remove("AUTH_SECRET").env_remove("AUTH_SECRET_FILE");
    if let Some(secret) = secret {
        command.env("AUTH_SECRET", secret);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // A command that does not read its input may already have exited.
    let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

#[test]
fn a_password_is_hashed_and_verified() {
    let stored = run(&["hash"], "correct horse\n", None).unwrap();
    assert!(stored.starts_with("$pbkdf2-sha512$i=210000$"), "{stored}");
    let file = file("stored", &format!("{stored}\n"));
    assert_eq!(run(&["verify", &file], "correct horse\n", None), Ok("right".to_owned()));
    let wrong = run(&["verify", &file], "wrong horse\n", None);
    assert_eq!(wrong, Err("auth-only: wrong".to_owned()));
}

#[test]
fn a_stored_hash_is_not_an_argument() {
    let stored = run(&["hash"], "correct horse\n", None).unwrap();
    let refused = run(&["verify", &stored], "correct horse\n", None).unwrap_err();
    assert!(refused.contains("cannot read the file of the stored hash"), "{refused}");
    assert!(!refused.contains(&stored), "{refused}");
    let empty = file("empty", "");
    let wrong = run(&["verify", &empty], "correct horse\n", None);
    assert_eq!(wrong, Err("auth-only: wrong".to_owned()));
}

/// Creates a file with this text and returns its name.
fn file(name: &str, text: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("it is written");
    path.to_str().expect("its name is UTF-8").to_owned()
}

#[test]
fn issues_and_verifies_a_token() {
    let secret = run(&["random"], "", None).unwrap();
    assert_eq!(secret.len(), 64);
    let token = run(&["issue", "15m", "sub=7", "role=admin"], "", Some(&secret)).unwrap();
    let claims = run(&["check"], &format!("Bearer {token}\n"), Some(&secret)).unwrap();
    assert!(claims.starts_with(r#"{"role":"admin","sub":"7","iat":"#), "{claims}");
    let forged = run(&["check"], &token, Some("another secret, of 32 bytes or more"));
    assert_eq!(forged, Err("auth-only: the token signature is invalid".to_owned()));
}

#[test]
fn reports_errors() {
    assert!(run(&[], "", None).unwrap_err().contains("usage"));
    assert!(run(&["issue", "1h", "sub"], "", Some("x")).unwrap_err().contains("name=value"));
    let without = run(&["issue", "1h"], "", None).unwrap_err();
    assert_eq!(without, "auth-only: AUTH_SECRET_FILE is not set");
    let empty = run(&["issue", "1h"], "", Some("")).unwrap_err();
    assert!(empty.contains("the secret is empty"), "{empty}");
}
