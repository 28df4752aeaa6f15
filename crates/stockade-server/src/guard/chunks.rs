//! [`Chunks`]: the grammar of a chunked body.

use self::ChunkState as At;

/// The state of a chunked body.
///
/// The grammar allows a size of at most 16 digits, extensions that are names with
/// or without a value, and trailers. Each line ends with CRLF. A line with a size
/// has at most 1,024 bytes, all trailers together have at most 16,384.
///
/// Source: RFC 9112, section 7.1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    at: ChunkState,
    /// The bytes of the chunk that are left.
    left: u64,
    /// The length so far of the line with the size, or of the trailers.
    count: u16,
}

// In the order of a body: the trailers come last.
#[derive(Clone, Copy, Debug, Eq, PartialEq, PartialOrd)]
enum ChunkState {
    Size,
    /// White space that only a `;` may follow.
    Gap,
    /// A `;` has come, and maybe white space.
    BeforeName,
    Name,
    /// White space that a `=` or a `;` may follow.
    NameGap,
    /// A `=` has come, and maybe white space.
    BeforeValue,
    Value,
    Quoted,
    /// A backslash within quotes has come.
    Escaped,
    QuotedEnd,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// A trailer, or the empty line behind them.
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

    /// Reads the next bytes. If the body ends among them, returns the number of bytes
    /// that belong to it.
    ///
    /// # Errors
    /// The number of good bytes before the first refused one.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Option<usize>, usize> {
        let mut read = 0;
        while let Some(&byte) = bytes.get(read) {
            if self.at == At::Data {
                // A length above `usize` is above the number of bytes here, too.
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
            // A digit has to come first.
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

/// Returns true if a byte may stand in a token.
///
/// Source: RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns true if a byte may stand in the value of a header, or quoted or escaped
/// in the value of an extension.
///
/// Source: RFC 9110, sections 5.5 and 5.6.4.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || !byte.is_ascii_control()
}

/// The digits of a 64-bit number.
const MAX_DIGITS: u16 = 16;

const MAX_SIZE_LINE: u16 = 1_024;

const MAX_TRAILERS: u16 = 16_384;
