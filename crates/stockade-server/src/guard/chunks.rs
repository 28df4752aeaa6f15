//! [`Chunks`]: the grammar of a chunked body.

use self::ChunkState as At;

/// The state of a chunked body.
///
/// The grammar allows a size of at most 16 digits, extensions consisting of
/// names with optional values, and trailers. Each line ends with CRLF. A size
/// line has at most 1,024 bytes; all trailers together have at most 16,384.
///
/// Source: RFC 9112, section 7.1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    at: ChunkState,
    /// The remaining bytes of the chunk.
    left: u64,
    /// The length so far of the size line or of the trailers.
    count: u16,
}

// Ordered as in a body: the trailers are last.
#[derive(Clone, Copy, Debug, Eq, PartialEq, PartialOrd)]
enum ChunkState {
    Size,
    /// Whitespace that may only be followed by a `;`.
    Gap,
    /// After a `;` and optional whitespace.
    BeforeName,
    Name,
    /// Whitespace that may be followed by a `=` or a `;`.
    NameGap,
    /// After a `=` and optional whitespace.
    BeforeValue,
    Value,
    Quoted,
    /// After a backslash within quotes.
    Escaped,
    QuotedEnd,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// A trailer, or the empty line after the trailers.
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    LastLf,
    End,
}

impl Chunks {
    pub(super) fn new() -> Self {
        Self { at: At::Size, left: 0, count: 0 }
    }

    /// Reads the next bytes. If the body ends within them, returns the number
    /// of bytes that belong to it.
    ///
    /// # Errors
    /// The number of valid bytes before the first rejected one.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Option<usize>, usize> {
        let mut read = 0;
        while let Some(&byte) = bytes.get(read) {
            if self.at == At::Data {
                // A length above `usize` also exceeds the number of bytes here.
                let here =
                    (bytes.len() - read).min(usize::try_from(self.left).unwrap_or(usize::MAX));
                read += here;
                self.left -= here as u64;
                if self.left == 0 {
                    self.at = At::DataCr;
                }
                continue;
            }
            self.at = self.step(byte).ok_or(read)?;
            read += 1;
            if self.at == At::End {
                return Ok(Some(read));
            }
        }
        Ok(None)
    }

    fn step(&mut self, byte: u8) -> Option<ChunkState> {
        self.count += 1;
        let most = if self.at >= At::TrailerStart { MAX_TRAILERS } else { MAX_SIZE_LINE };
        if self.count > most {
            return None;
        }
        let next = match (self.at, byte) {
            (At::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16)?;
                self.left = self.left << 4 | u64::from(digit);
                (self.count <= MAX_DIGITS).then_some(At::Size)?
            }
            // The size must start with a digit.
            (At::Size, _) if self.count == 1 => return None,
            (At::Size | At::Value | At::QuotedEnd | At::Gap, b' ' | b'\t') => At::Gap,
            (At::Name | At::NameGap, b' ' | b'\t') => At::NameGap,
            (At::Size | At::Gap | At::Name | At::NameGap | At::Value | At::QuotedEnd, b';') => {
                At::BeforeName
            }
            (At::Size | At::Name | At::Value | At::QuotedEnd, b'\r') => At::SizeLf,
            (At::BeforeName, b' ' | b'\t') => At::BeforeName,
            (At::Name | At::NameGap, b'=') | (At::BeforeValue, b' ' | b'\t') => At::BeforeValue,
            (At::BeforeName | At::Name, _) if is_token(byte) => At::Name,
            (At::BeforeValue, b'"') => At::Quoted,
            (At::BeforeValue | At::Value, _) if is_token(byte) => At::Value,
            (At::Quoted, b'"') => At::QuotedEnd,
            (At::Quoted, b'\\') => At::Escaped,
            (At::Quoted | At::Escaped, _) if is_text(byte) => At::Quoted,
            (At::SizeLf, b'\n') => {
                self.count = 0;
                if self.left == 0 { At::TrailerStart } else { At::Data }
            }
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataLf, b'\n') => {
                self.count = 0;
                At::Size
            }
            (At::TrailerStart, b'\r') => At::LastLf,
            (At::TrailerName, b':') => At::TrailerValue,
            (At::TrailerStart | At::TrailerName, _) if is_token(byte) => At::TrailerName,
            (At::TrailerValue, b'\r') => At::TrailerLf,
            (At::TrailerValue, _) if is_text(byte) => At::TrailerValue,
            (At::TrailerLf, b'\n') => At::TrailerStart,
            (At::LastLf, b'\n') => At::End,
            _ => return None,
        };
        Some(next)
    }
}

/// Returns true if a byte may appear in a token.
///
/// Source: RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns true if a byte may appear in a header value, or quoted or escaped in
/// an extension value.
///
/// Source: RFC 9110, sections 5.5 and 5.6.4.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || !byte.is_ascii_control()
}

/// The digits of a 64-bit number.
const MAX_DIGITS: u16 = 16;

const MAX_SIZE_LINE: u16 = 1_024;

const MAX_TRAILERS: u16 = 16_384;
