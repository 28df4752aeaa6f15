//! [`TestEvent`] and the parser of server-sent events.
//!
//! Source: WHATWG HTML, section 9.2.6 (Interpreting an event stream).

use serde::de::DeserializeOwned;

use stockade_hardening::fail::fail;

/// A server-sent event.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TestEvent {
    /// The name, or `message` if the event has none, as in browsers.
    pub name: String,
    /// The data, with lines joined by a line feed.
    pub data: String,
    /// The id of this event. `None` if the event does not have one, although a
    /// browser would remember the previous id.
    pub id: Option<String>,
    /// The reconnection time for the client, in milliseconds.
    pub retry_ms: Option<u64>,
}

impl TestEvent {
    /// Deserializes the data from JSON.
    ///
    /// # Panics
    /// Panics if the data is not JSON of this type.
    #[track_caller]
    #[must_use]
    pub fn json<T: DeserializeOwned>(&self) -> T {
        serde_json::from_str(&self.data)
            .unwrap_or_else(|error| fail(format_args!("cannot parse {self:?}: {error}")))
    }
}

/// An incremental parser of server-sent events.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    unread: Vec<u8>,
    /// True after the first line.
    begun: bool,
    /// True if a carriage return has just ended a line. A following line feed
    /// belongs to it.
    after_return: bool,
    name: String,
    data: Option<String>,
    id: Option<String>,
    retry_ms: Option<u64>,
}

impl EventReader {
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.unread.extend_from_slice(piece);
    }

    /// Returns the next complete event.
    pub(crate) fn next(&mut self) -> Option<TestEvent> {
        while let Some(line) = self.line() {
            if !line.is_empty() {
                self.read(&line);
            } else if let Some(event) = self.dispatch() {
                return Some(event);
            }
        }
        None
    }

    fn line(&mut self) -> Option<String> {
        if self.after_return && !self.unread.is_empty() {
            self.after_return = false;
            if self.unread[0] == b'\n' {
                self.unread.remove(0);
            }
        }
        let end = self.unread.iter().position(|byte| matches!(byte, b'\n' | b'\r'))?;
        self.after_return = self.unread[end] == b'\r';
        let mut line: Vec<u8> = self.unread.drain(..=end).collect();
        line.pop();
        let mut line = String::from_utf8_lossy(&line).into_owned();
        if !std::mem::replace(&mut self.begun, true)
            && let Some(rest) = line.strip_prefix('\u{feff}')
        {
            line = rest.to_owned();
        }
        Some(line)
    }

    fn read(&mut self, line: &str) {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "retry" => self.retry_ms = value.parse().ok().or(self.retry_ms),
            // Comments and unknown fields are ignored.
            _ => {}
        }
    }

    /// Returns the event that an empty line ends, or `None` if it does not have
    /// data.
    fn dispatch(&mut self) -> Option<TestEvent> {
        let name = std::mem::take(&mut self.name);
        let (id, retry_ms) = (self.id.take(), self.retry_ms.take());
        let data = self.data.take()?;
        let name = if name.is_empty() { "message".to_owned() } else { name };
        Some(TestEvent { name, data, id, retry_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[&str], expected: &[(&str, &str, Option<&str>)]) {
        let mut reader = EventReader::default();
        let mut seen = Vec::new();
        for piece in pieces {
            reader.push(piece.as_bytes());
            seen.extend(std::iter::from_fn(|| reader.next()));
        }
        let seen: Vec<_> = seen
            .iter()
            .map(|event| (event.name.as_str(), event.data.as_str(), event.id.as_deref()))
            .collect();
        assert_eq!(seen, expected, "{pieces:?}");
    }

    #[test]
    fn reads_events_like_browsers() {
        check(&["data: a\n\n"], &[("message", "a", None)]);
        check(&["data:a\n\n", "data:  b\n\n"], &[("message", "a", None), ("message", " b", None)]);
        check(&["event: n\nid: 7\ndata: 1\ndata: 2\n\n"], &[("n", "1\n2", Some("7"))]);
        check(&["da", "ta: a", "\n", "\n"], &[("message", "a", None)]);
        check(
            &["data: a\r\n\r\ndata: b\r\rdata"],
            &[("message", "a", None), ("message", "b", None)],
        );
        check(&["data: a\r", "\n\r", "\n"], &[("message", "a", None)]);
        check(&["\u{feff}data: a\n\n"], &[("message", "a", None)]);
        check(&[": a comment\n\nid: 1\n\ndata\n\n"], &[("message", "", None)]);
        check(&["data: not ended\n"], &[]);
    }
}
