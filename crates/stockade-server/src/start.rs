//! The startup message of a server.

use std::io::{self, Write as _};

use log::LevelFilter;

use crate::LocalAddr;

/// The contents of the startup message.
pub(crate) struct Start {
    /// The path of the documentation page.
    pub(crate) documents: Option<String>,
    /// True if the message is printed to stderr when the program does not have
    /// a logger.
    pub(crate) prints: bool,
}

impl Start {
    /// Logs the addresses and the documentation page.
    pub(crate) fn announce(&self, scheme: &str, locals: &[&LocalAddr]) {
        for line in self.lines(scheme, locals) {
            log::info!(target: "stockade::server", "{line}");
            if self.prints && log::max_level() == LevelFilter::Off {
                // The program may have closed stderr.
                let _ = writeln!(io::stderr(), "{line}");
            }
        }
    }

    fn lines(&self, scheme: &str, locals: &[&LocalAddr]) -> Vec<String> {
        let address = |local: &&LocalAddr| match local {
            LocalAddr::Tcp(address) => format!("listening on {scheme}://{address}"),
            local => format!("listening on {local} ({scheme})"),
        };
        let mut lines: Vec<String> = locals.iter().map(address).collect();
        let tcp = locals.iter().find_map(|local| match local {
            LocalAddr::Tcp(address) => Some(address),
            _ => None,
        });
        if let Some((path, address)) = self.documents.as_ref().zip(tcp) {
            lines.push(format!("documents at {scheme}://{address}{path}"));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_each_address_and_the_documents() {
        let locals = [3000, 3001].map(|port| LocalAddr::Tcp(([127, 0, 0, 1], port).into()));
        let locals: Vec<&LocalAddr> = locals.iter().collect();
        let with = Start { documents: Some("/docs".to_owned()), prints: false };
        let expected = [
            "listening on http://127.0.0.1:3000",
            "listening on http://127.0.0.1:3001",
            "documents at http://127.0.0.1:3000/docs",
        ];
        assert_eq!(with.lines("http", &locals), expected);
        let without = Start { documents: None, prints: false };
        assert_eq!(without.lines("https", &locals[..1]), ["listening on https://127.0.0.1:3000"]);
    }
}
