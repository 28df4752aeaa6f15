//! Passwords and tokens on the command line, using only `stockade-auth`.
//!
//! ```text
//! $ echo 'correct horse' | auth-only hash > stored
//! $ echo 'correct horse' | auth-only verify stored
//! $ export AUTH_SECRET_FILE=secret
//! $ auth-only random > secret
//! $ auth-only issue 15m sub=7 role=admin | auth-only check
//! ```
//!
//! Secrets, passwords, their hashes and tokens come from the environment, a
//! file or standard input. They are never arguments, which every user of the
//! machine can see; a stored hash would allow offline guessing.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use std::{env, fs, io};

use stockade_auth::{
    DEFAULT_TOKEN_BYTES, PasswordHasher, Secret, TokenVerifier, generate_jwt, generate_token,
};

const USAGE: &str = "usage: auth-only <command>

  hash                         hash the password on standard input
  verify <file>                is the password on standard input the one whose
                               hash is in the file?
  issue <lifetime> [name=value …]   a token, for 90m, 12h or 7d
  check                        verify the token on standard input, print its claims
  random                       64 random hex characters, good as a secret

The secret is in the file AUTH_SECRET_FILE, or in AUTH_SECRET.";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("auth-only: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<String, Box<dyn Error>> {
    match args {
        ["hash"] => Ok(PasswordHasher::recommended().hash(&line()?)?),
        ["verify", file] => verify(&line()?, &first_line(file)?),
        ["issue", lifetime, claims @ ..] => issue(lifetime, claims),
        ["check"] => {
            let claims = TokenVerifier::new().verify(&line()?, &secret()?)?;
            Ok(claims.into_value().to_string())
        }
        ["random"] => Ok(generate_token(DEFAULT_TOKEN_BYTES)?),
        _ => Err(USAGE.into()),
    }
}

fn verify(password: &str, stored: &str) -> Result<String, Box<dyn Error>> {
    let hasher = PasswordHasher::recommended();
    if !hasher.verify(password, stored) {
        return Err("wrong".into());
    }
    let weak = hasher.needs_rehash(stored);
    Ok(if weak { "correct, but hash it again" } else { "right" }.to_owned())
}

fn issue(lifetime: &str, claims: &[&str]) -> Result<String, Box<dyn Error>> {
    let claims: Option<BTreeMap<&str, &str>> =
        claims.iter().map(|claim| claim.split_once('=')).collect();
    let claims = claims.ok_or("expected a claim as name=value")?;
    Ok(generate_jwt(claims, lifetime, &secret()?)?)
}

/// Returns the secret, without the line ending that editors add.
fn secret() -> Result<Secret, Box<dyn Error>> {
    let text = match env::var("AUTH_SECRET_FILE") {
        Ok(file) => fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?,
        Err(_) => env::var("AUTH_SECRET").map_err(|_| "AUTH_SECRET_FILE is not set")?,
    };
    Ok(Secret::new(text.trim_end_matches(['\r', '\n']))?)
}

/// Returns the first line of a file.
///
/// Errors do not contain the name, which could be a hash passed by mistake.
fn first_line(file: &str) -> Result<String, Box<dyn Error>> {
    let text = fs::read_to_string(file)
        .map_err(|error| format!("cannot read the file of the stored hash: {error}"))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// Returns one line of standard input.
fn line() -> Result<String, io::Error> {
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
