//! [`Guard`]: a state machine that checks the framing of HTTP/1 requests before
//! hyper reads them.
//!
//! hyper accepts some malformed requests that an intermediary may read
//! differently: a line ending with a bare LF, a malformed chunk extension, a
//! size with endless zeros. Two servers that disagree on the end of a request
//! allow request smuggling: the bytes in between are a request that one server
//! has not seen. The guard therefore follows every byte, through a head line by
//! line and through a body to its end. It rejects:
//!
//! - in a head: a line that does not end with CRLF, a second empty line before
//!   the head, a fragment in the target;
//! - `Content-Length` together with `Transfer-Encoding`, two different lengths,
//!   a length that is not a number or has leading zeros, a body with a last
//!   coding other than `chunked`, and the names `Content_Length` and
//!   `Transfer_Encoding`, which some programs treat like the names with a
//!   hyphen;
//! - in a chunked body: all bytes that its grammar does not allow (see
//!   [`Chunks`]).
//!
//! Hot: most bytes are skipped, line by line or body by body. hyper validates
//! the bytes that pass, so the guard does not repeat hyper's rules.
//!
//! Source: RFC 9112, sections 2.2, 3, 6 and 7.1.

mod chunks;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

use self::chunks::Chunks;
use crate::fast_path::exchanges::Part;

/// The state of a connection's requests, and the framing of the current head.
#[derive(Debug)]
pub(crate) struct Guard {
    at: State,
    /// True if the previous read ended with a CR.
    cr: bool,
    /// True if the method of the request line was already read.
    in_target: bool,
    /// The value of `Content-Length` while it is read, then the remaining bytes
    /// of the body.
    left: u64,
    /// The `Content-Length` of the current head.
    length: Option<u64>,
    /// True if the last transfer coding of the current head is `chunked`;
    /// `None` without a coding.
    chunked: Option<bool>,
    /// The number of completed requests.
    ended: u64,
}

/// The part of a request that the next byte belongs to.
#[derive(Clone, Copy, Debug)]
enum State {
    /// The start of a request; `blank` is true after an empty line.
    Start {
        blank: bool,
    },
    StartLf,
    RequestLine,
    /// A header line, or the empty line at the end of the head.
    LineStart,
    /// A possible framing header name, after `length` matching bytes.
    Name {
        field: Field,
        length: usize,
        /// True if the name contained a `_` instead of the hyphen.
        shadow: bool,
    },
    /// A header line without framing information.
    Line,
    Length(Length),
    Coding(Coding),
    CodingLf {
        chunked: bool,
    },
    HeadLf,
    Body,
    Chunks(Chunks),
}

#[derive(Clone, Copy, Debug)]
enum Field {
    ContentLength,
    TransferEncoding,
}

impl Field {
    fn name(self) -> &'static [u8] {
        match self {
            Self::ContentLength => b"content-length",
            Self::TransferEncoding => b"transfer-encoding",
        }
    }
}

/// The part of the value of `Content-Length` that the next byte belongs to.
#[derive(Clone, Copy, Debug)]
enum Length {
    Before,
    Digits,
    /// After a number that is too large. Its further digits are blanked.
    Excess,
    After,
    Lf,
}

/// The last item of `Transfer-Encoding`, as read so far.
#[derive(Clone, Copy, Debug)]
enum Coding {
    /// This many bytes of `chunked`.
    Chunked(usize),
    /// All bytes of `chunked`, followed by whitespace.
    Spaced,
    Other,
}

impl Guard {
    /// Creates a guard at the start of a connection.
    #[cfg(test)]
    pub(crate) fn new() -> Self {
        Self::resume(0, false)
    }

    /// Creates a guard between two requests: after `ended` requests, and after
    /// an empty line if `is_after_blank` is true.
    pub(crate) fn resume(ended: u64, is_after_blank: bool) -> Self {
        Self {
            at: State::Start { blank: is_after_blank },
            cr: false,
            in_target: false,
            left: 0,
            length: None,
            chunked: None,
            ended,
        }
    }

    /// Reads the next bytes of the connection.
    ///
    /// # Errors
    /// The number of valid bytes before the first rejected one. The guard must
    /// not read after that.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), usize> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let read = match self.at {
                State::Start { .. } if !matches!(rest[0], b'\r' | b'\n') => {
                    if is_plain_head(rest) {
                        self.end_request();
                        return Ok(());
                    }
                    self.lines(rest, true)
                }
                State::LineStart => self.lines(rest, false),
                _ => self.step(rest),
            };
            at += read.map_err(|good| at + good)?;
        }
        Ok(())
    }

    /// Returns the number of requests that have ended, including their bodies.
    #[inline]
    pub(crate) fn ended(&self) -> u64 {
        self.ended
    }

    /// Returns the part of a request that the next byte belongs to.
    #[inline]
    pub(crate) fn part(&self) -> Part {
        match self.at {
            State::Start { .. } => Part::Start,
            State::Body | State::Chunks(_) => Part::Body,
            _ => Part::Head,
        }
    }

    /// Returns true after an empty line between two requests.
    pub(crate) fn is_after_blank(&self) -> bool {
        matches!(self.at, State::Start { blank: true })
    }

    #[inline]
    fn end_request(&mut self) {
        self.at = START;
        self.ended += 1;
    }

    /// Returns true if the byte just rejected is a digit of a length above
    /// [`MAX_LENGTH`]. The caller then replaces the digit with a space, and the
    /// guard continues after it. The request thus reaches its route and gets a
    /// 413.
    pub(crate) fn is_length_excess(&self) -> bool {
        matches!(self.at, State::Length(Length::Excess))
    }

    /// Reads the complete lines of a head, starting at the beginning of a line.
    /// [`step`](Self::step) reads the rest.
    #[inline]
    fn lines(&mut self, bytes: &[u8], mut is_first: bool) -> Result<usize, usize> {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            // `step` locates the first rejected byte.
            if end == start || bytes[end - 1] != b'\r' {
                break;
            }
            match bytes[start] {
                _ if is_first => {
                    if memchr::memchr(b'#', &bytes[..end]).is_some() {
                        break;
                    }
                    is_first = false;
                }
                b'\r' if end == start + 1 => {
                    return self.head_end().map(|()| end + 1).ok_or(end);
                }
                b'\r' => break,
                b'c' | b'C' | b't' | b'T' if has_name(bytes, start) => {
                    self.framing_line(&bytes[start..=end]).map_err(|good| start + good)?;
                }
                _ => {}
            }
            start = end + 1;
        }
        if !is_first {
            self.at = State::LineStart;
        }
        match bytes.get(start..) {
            Some(rest) if !rest.is_empty() => {
                self.step(rest).map(|read| start + read).map_err(|good| start + good)
            }
            _ => Ok(start),
        }
    }

    /// Reads a complete line that may be a framing header.
    fn framing_line(&mut self, line: &[u8]) -> Result<(), usize> {
        // The usual spellings.
        let usual = [b"content-length: ", b"Content-Length: "];
        if let Some(name) = usual.iter().find(|name| line.starts_with(&name[..])) {
            self.left = 0;
            let value = &line[name.len()..];
            return self.length(Length::Before, value).map(drop).map_err(|good| name.len() + good);
        }
        self.at = State::LineStart;
        let mut read = 0;
        while read < line.len() {
            read += self.step(&line[read..]).map_err(|good| read + good)?;
        }
        Ok(())
    }

    /// Ends the head and begins its body. Returns `None` if the end of the body
    /// is unknown.
    fn head_end(&mut self) -> Option<()> {
        let length = self.length.take().unwrap_or(0);
        match self.chunked.take() {
            Some(true) => self.at = State::Chunks(Chunks::new()),
            Some(false) => return None,
            None if length == 0 => self.end_request(),
            None => {
                self.left = length;
                self.at = State::Body;
            }
        }
        Some(())
    }

    /// Reads some of the bytes, which must not be empty. Returns their number;
    /// the error is the number of valid bytes.
    #[inline]
    fn step(&mut self, bytes: &[u8]) -> Result<usize, usize> {
        match self.at {
            State::Line => return self.line(bytes),
            State::LineStart => return self.line_start(bytes),
            State::Name { field, length, shadow } => {
                return self.name(field, length, shadow, bytes);
            }
            State::RequestLine => return self.request_line(bytes),
            State::Length(at) => return self.length(at, bytes),
            State::Body => return Ok(self.body(bytes)),
            State::Chunks(mut chunks) => {
                let Some(end) = chunks.read(bytes)? else {
                    self.at = State::Chunks(chunks);
                    return Ok(bytes.len());
                };
                self.end_request();
                return Ok(end);
            }
            State::Start { .. }
            | State::StartLf
            | State::Coding(_)
            | State::CodingLf { .. }
            | State::HeadLf => {}
        }
        self.byte(bytes[0])
    }

    /// Reads one byte in a state that checks every byte.
    fn byte(&mut self, byte: u8) -> Result<usize, usize> {
        let next = match (self.at, byte) {
            (State::Start { blank: false }, b'\r') => State::StartLf,
            (State::Start { .. }, b'\r' | b'\n') | (State::Coding(_), b'\n') => {
                return Err(0);
            }
            (State::Start { .. }, _) => {
                self.cr = false;
                self.in_target = false;
                self.at = State::RequestLine;
                return Ok(0);
            }
            (State::StartLf, b'\n') => State::Start { blank: true },
            (State::Coding(coding), b'\r') => State::CodingLf { chunked: coding.is_chunked() },
            (State::Coding(coding), byte) => State::Coding(coding.then(byte)),
            (State::CodingLf { chunked }, b'\n') if self.length.is_none() => {
                // The last line counts, as in hyper.
                self.chunked = Some(chunked);
                State::LineStart
            }
            (State::HeadLf, b'\n') => return self.head_end().map(|()| 1).ok_or(0),
            _ => return Err(0),
        };
        self.at = next;
        Ok(1)
    }

    /// Reads a request line. A `#` after the method is a fragment and rejected;
    /// a `#` in the method is left to hyper.
    fn request_line(&mut self, bytes: &[u8]) -> Result<usize, usize> {
        let mut from = 0;
        while let Some(found) = memchr::memchr2(b'\n', b'#', &bytes[from..]) {
            let found = from + found;
            if bytes[found] == b'\n' {
                return self.line_end(bytes, found);
            }
            if self.in_target || bytes[..found].contains(&b' ') {
                return Err(found);
            }
            from = found + 1;
        }
        self.in_target |= bytes.contains(&b' ');
        Ok(self.no_line_end(bytes))
    }

    #[inline]
    fn line(&mut self, bytes: &[u8]) -> Result<usize, usize> {
        match memchr::memchr(b'\n', bytes) {
            Some(end) => self.line_end(bytes, end),
            None => Ok(self.no_line_end(bytes)),
        }
    }

    /// Ends a line at the LF at `end`, which must follow a CR. hyper rejects a
    /// CR elsewhere.
    #[inline]
    fn line_end(&mut self, bytes: &[u8], end: usize) -> Result<usize, usize> {
        let cr = end.checked_sub(1).map_or(self.cr, |before| bytes[before] == b'\r');
        if !cr {
            return Err(end);
        }
        self.at = State::LineStart;
        Ok(end + 1)
    }

    #[cold]
    fn no_line_end(&mut self, bytes: &[u8]) -> usize {
        self.cr = bytes.last() == Some(&b'\r');
        bytes.len()
    }

    #[inline]
    fn line_start(&mut self, bytes: &[u8]) -> Result<usize, usize> {
        let field = match bytes[0] {
            b'\r' => {
                self.at = State::HeadLf;
                return Ok(1);
            }
            b'\n' => return Err(0),
            b'c' | b'C' => Field::ContentLength,
            b't' | b'T' => Field::TransferEncoding,
            _ => {
                self.cr = false;
                self.at = State::Line;
                return self.line(bytes);
            }
        };
        self.name(field, 0, false, bytes)
    }

    /// Compares the name of a header line with the name of `field`.
    fn name(
        &mut self,
        field: Field,
        mut length: usize,
        mut shadow: bool,
        bytes: &[u8],
    ) -> Result<usize, usize> {
        let name = field.name();
        for (read, &byte) in bytes.iter().enumerate() {
            match name.get(length) {
                Some(b'-') if byte == b'_' => shadow = true,
                Some(wanted) if byte.eq_ignore_ascii_case(wanted) => {}
                None if byte == b':' && shadow => return Err(read),
                None if byte == b':' => {
                    self.left = 0;
                    self.at = match field {
                        Field::ContentLength => State::Length(Length::Before),
                        Field::TransferEncoding => State::Coding(Coding::Chunked(0)),
                    };
                    return Ok(read + 1);
                }
                _ => {
                    self.cr = false;
                    self.at = State::Line;
                    return Ok(read);
                }
            }
            length += 1;
        }
        self.at = State::Name { field, length, shadow };
        Ok(bytes.len())
    }

    /// Reads the value of `Content-Length` to the end of its line.
    fn length(&mut self, mut at: Length, bytes: &[u8]) -> Result<usize, usize> {
        for (read, &byte) in bytes.iter().enumerate() {
            at = match (at, byte) {
                (Length::Lf, b'\n') => {
                    let differs = self.length.is_some_and(|other| other != self.left);
                    if differs || self.chunked.is_some() {
                        return Err(read);
                    }
                    self.length = Some(self.left);
                    self.at = State::LineStart;
                    return Ok(read + 1);
                }
                (Length::Before, b' ' | b'\t') => Length::Before,
                (Length::Digits | Length::Excess | Length::After, b' ' | b'\t') => Length::After,
                (Length::Digits | Length::Excess | Length::After, b'\r') => Length::Lf,
                // Other programs may parse a number with a leading zero as
                // octal.
                (Length::Digits, _) if self.left == 0 => return Err(read),
                (Length::Before | Length::Digits, b'0'..=b'9') => {
                    let left = self.left * 10 + u64::from(byte - b'0');
                    if left > MAX_LENGTH {
                        self.at = State::Length(Length::Excess);
                        return Err(read);
                    }
                    self.left = left;
                    Length::Digits
                }
                (Length::Excess, b'0'..=b'9') => {
                    self.at = State::Length(Length::Excess);
                    return Err(read);
                }
                _ => {
                    self.at = State::Line;
                    return Err(read);
                }
            };
        }
        self.at = State::Length(at);
        Ok(bytes.len())
    }

    fn body(&mut self, bytes: &[u8]) -> usize {
        // A length above `usize` also exceeds the number of bytes here.
        let here = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.left -= here as u64;
        if self.left == 0 {
            self.end_request();
        }
        here
    }
}

impl Coding {
    fn is_chunked(self) -> bool {
        matches!(self, Self::Chunked(7) | Self::Spaced)
    }

    fn then(self, byte: u8) -> Self {
        match (self, byte) {
            (_, b',') | (Self::Chunked(0), b' ' | b'\t') => Self::Chunked(0),
            (Self::Chunked(7) | Self::Spaced, b' ' | b'\t') => Self::Spaced,
            (Self::Chunked(length), byte)
                if b"chunked".get(length).is_some_and(|it| byte.eq_ignore_ascii_case(it)) =>
            {
                Self::Chunked(length + 1)
            }
            _ => Self::Other,
        }
    }
}

/// Returns true if the line at `start` has its colon at the same position as a
/// framing header.
#[inline]
fn has_name(bytes: &[u8], start: usize) -> bool {
    let has_colon = |field: Field| bytes.get(start + field.name().len()) == Some(&b':');
    has_colon(Field::ContentLength) || has_colon(Field::TransferEncoding)
}

/// Returns true only if the bytes are one complete valid head that announces no
/// body. Returns false for a few such heads.
///
/// This is the usual case, and checks many bytes at a time.
#[inline]
fn is_plain_head(bytes: &[u8]) -> bool {
    let Some(head) = bytes.strip_suffix(b"\n\r\n") else { return false };
    let Some(last) = head.len().checked_sub(BLOCK) else { return false };
    let mut start = 0;
    while start < head.len() {
        // The last block may overlap the previous one.
        let at = start.min(last);
        let (bytes, behind) = (bytes[at..].first_chunk(), bytes[at + 1..].first_chunk());
        if bytes.zip(behind).is_none_or(|(bytes, behind)| is_odd(bytes, behind)) {
            return false;
        }
        start = at + BLOCK;
    }
    true
}

/// Returns true if one of the bytes, together with the next one, does not
/// belong to a plain head: an LF without CR, an empty line, a `#`, the `h:` of
/// `Content-Length:` or the `sf` of `Transfer-Encoding`.
#[inline]
fn is_odd(bytes: &[u8; BLOCK], behind: &[u8; BLOCK]) -> bool {
    bytes.iter().zip(behind).fold(false, |odd, (byte, behind)| {
        let (lower, lower_behind) = (byte | 0x20, behind | 0x20);
        odd | ((*byte != b'\r') & (*behind == b'\n'))
            | ((*byte == b'\n') & (*behind == b'\r'))
            | (*byte == b'#')
            | ((lower == b'h') & (*behind == b':'))
            | ((lower == b's') & (lower_behind == b'f'))
    })
}

/// The number of bytes checked together.
const BLOCK: usize = 16;

/// The largest length that is read exactly: 10^18, more than any body has. One
/// more digit therefore fits a `u64`.
const MAX_LENGTH: u64 = 1_000_000_000_000_000_000;

const START: State = State::Start { blank: false };
