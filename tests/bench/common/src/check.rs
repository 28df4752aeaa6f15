//! Checks of responses against the response that every contestant must send.

use std::collections::BTreeSet;

use crate::client::Answer;
use crate::workload::Workload;
use crate::{Mode, header};

impl Workload {
    /// Compares the status, the body byte for byte and, in full mode, the
    /// security headers.
    ///
    /// # Errors
    /// Returns a description of the difference.
    pub fn check(&self, mode: Mode, answer: &Answer) -> Result<(), String> {
        let body = String::from_utf8_lossy(&answer.body);
        if answer.status != self.status {
            return Err(format!("{} instead of {}: {body}", answer.status, self.status));
        }
        if body != self.body {
            return Err(format!("the body is {body:?} instead of {:?}", self.body));
        }
        let kind = answer.header("content-type").unwrap_or_default();
        if !kind.starts_with("application/json") {
            return Err(format!("the content type is {kind:?}"));
        }
        if mode == Mode::Full { self.check_protection(answer) } else { Ok(()) }
    }

    fn check_protection(&self, answer: &Answer) -> Result<(), String> {
        let cors = if self.full { &header::CORS[..] } else { &[] };
        for (name, value) in header::SECURITY.iter().chain(cors) {
            let found = answer.header(name).unwrap_or_default();
            // `Vary` may list more names, and helmet omits the spaces between
            // directives.
            let is_fine = match *name {
                "vary" => found.to_ascii_lowercase().contains("origin"),
                // It may also list the headers that the route documents.
                "access-control-expose-headers" => list(found).is_superset(&list(value)),
                "content-security-policy" => found.replace("; ", ";") == value.replace("; ", ";"),
                _ => found == *value,
            };
            if !is_fine {
                return Err(format!("{name} is {found:?} instead of {value:?}"));
            }
        }
        if !answer.headers.iter().any(|(name, _)| name.contains("ratelimit")) {
            return Err("nothing is said of the rate limit".to_owned());
        }
        let challenge = answer.header("www-authenticate").unwrap_or_default();
        if self.status == 401 && !challenge.starts_with("Bearer") {
            return Err(format!("the challenge is {challenge:?}"));
        }
        Ok(())
    }
}

/// Returns the names in a list; order and case do not matter.
fn list(value: &str) -> BTreeSet<String> {
    value.split(',').map(|name| name.trim().to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_names_ignore_order_and_case() {
        assert_eq!(list("RateLimit, Retry-After"), list("retry-after,ratelimit"));
        assert_ne!(list("RateLimit"), list("RateLimit, Retry-After"));
    }
}
