//! A request as a command of curl.

use std::fmt::Write as _;

use http::header;

use super::Who;
use crate::exchange::SentRequest;
use crate::redact;

/// Returns the command that sends a request. Credentials are variables of the
/// shell, such as `$B_AUTHORIZATION`.
pub(super) fn command(request: &SentRequest, who: Who) -> String {
    let host = request.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let url = format!("http://{}{}", host.unwrap_or("localhost"), request.target);
    let mut command = format!("curl -X {} {}", request.method, quoted(&url));
    for (name, value) in &request.headers {
        if name == header::HOST || name == header::CONTENT_LENGTH {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = if value.is_sensitive() || redact::hides(name) {
            let variable = name.as_str().to_ascii_uppercase().replace('-', "_");
            write!(command, " -H \"{name}: ${}_{variable}\"", who.letter())
        } else {
            let value = String::from_utf8_lossy(value.as_bytes());
            write!(command, " -H {}", quoted(&format!("{name}: {value}")))
        };
    }
    match &request.body {
        Some(body) if !body.is_empty() => match std::str::from_utf8(body) {
            Ok(text) => {
                let _ = write!(command, " --data-binary {}", quoted(text));
            }
            Err(_) => command.push_str(" --data-binary @BODY"),
        },
        _ => {}
    }
    command
}

/// Quotes a text for a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use http::Method;

    use super::*;
    use crate::Credentials;
    use crate::shot::Shot;

    #[test]
    fn credentials_are_variables_of_the_shell() {
        let shot = Shot::new(Method::PUT, "/notes/1?a=b").of(&Credentials::bearer("secret"));
        let shot = shot.body("application/json", "{\"a\":\"it's\"}");
        let command = command(&shot.sent(Location::caller()), Who::B);
        assert_eq!(
            command,
            "curl -X PUT 'http://localhost/notes/1?a=b' -H \"authorization: $B_AUTHORIZATION\" \
             -H 'content-type: application/json' --data-binary '{\"a\":\"it'\\''s\"}'"
        );
    }
}
