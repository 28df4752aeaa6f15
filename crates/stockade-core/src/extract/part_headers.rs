//! [`PartHeaders`]: limits and unfolds the headers of multipart parts.
//!
//! multer buffers the header of a part, and the text before the first boundary,
//! without a limit. It also rejects a header line that continues on the next
//! line. This code therefore follows the same framing and processes the bytes
//! before multer receives them.
//!
//! Source: RFC 2046, section 5.1.1 (framing); RFC 5322, section 2.2.3
//! (folding);
//! RFC 7578 (`multipart/form-data`).

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use stockade_errors::BoxError;

/// The chunks of a multipart body, up to a header that is too long.
pub(super) struct BoundedHeaders<S> {
    pieces: S,
    headers: PartHeaders,
    /// The chunks that are ready.
    ready: VecDeque<Bytes>,
}

impl<S> BoundedHeaders<S> {
    pub(super) fn new(pieces: S, boundary: &str) -> Self {
        Self { pieces, headers: PartHeaders::new(boundary), ready: VecDeque::new() }
    }
}

impl<S> Stream for BoundedHeaders<S>
where
    S: Stream<Item = Result<Bytes, BoxError>> + Unpin,
{
    type Item = Result<Bytes, BoxError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(piece) = this.ready.pop_front() {
                return Poll::Ready(Some(Ok(piece)));
            }
            // A header without an end is not forwarded.
            let Some(piece) = ready!(Pin::new(&mut this.pieces).poll_next(cx)) else {
                return Poll::Ready(None);
            };
            this.headers.follow(&piece?, &mut this.ready)?;
        }
    }
}

/// The error for a header of a part, or text before the first part, that is
/// longer than [`MAX_PART_HEADER`](super::MultipartLimits::MAX_PART_HEADER).
#[derive(Debug)]
pub(super) struct HeaderTooLong;

impl fmt::Display for HeaderTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the header of a part of a multipart body is too long")
    }
}

impl std::error::Error for HeaderTooLong {}

/// Follows the framing of a multipart body, chunk by chunk.
struct PartHeaders {
    place: Place,
    /// The length of the current header, or of the text before the first
    /// boundary, in bytes.
    length: usize,
    opening: Search,
    blank_line: Search,
    delimiter: Search,
    /// The start of a header from earlier chunks.
    held: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Place {
    /// Before the first boundary.
    Preamble,
    /// After a boundary, on the same line. Contains the previous byte if it
    /// matters.
    Line(Option<u8>),
    Header,
    Content,
    /// After the last part, or after an invalid boundary line, which multer
    /// rejects.
    End,
}

impl PartHeaders {
    fn new(boundary: &str) -> Self {
        Self {
            place: Place::Preamble,
            length: 0,
            opening: Search::new(format!("--{boundary}")),
            blank_line: Search::new("\r\n\r\n"),
            delimiter: Search::new(format!("\r\n--{boundary}")),
            held: Vec::new(),
        }
    }

    /// Follows a chunk, and adds the bytes for multer to `ready`. These are all
    /// bytes except an unfinished header; the lines of each header are
    /// unfolded.
    fn follow(&mut self, piece: &Bytes, ready: &mut VecDeque<Bytes>) -> Result<(), HeaderTooLong> {
        // The bytes before `from` are ready, and the bytes before `at` are
        // processed.
        let (mut from, mut at) = (0, 0);
        while let Some(&byte) = piece.get(at) {
            let rest = &piece[at..];
            at = match self.place {
                Place::Preamble => {
                    let end = self.opening.find(rest);
                    at + self.bounded(rest, end, Place::Line(None))?
                }
                Place::Header => {
                    let end = self.blank_line.find(rest);
                    let length = self.bounded(rest, end, Place::Content)?;
                    from = self.header(piece, (from, at, at + length), end.is_some(), ready);
                    at + length
                }
                Place::Content => match self.delimiter.find(rest) {
                    Some(end) => {
                        self.place = Place::Line(None);
                        at + end
                    }
                    None => piece.len(),
                },
                Place::Line(before) => {
                    self.line(before, byte);
                    at + 1
                }
                Place::End => piece.len(),
            };
        }
        push(ready, piece.slice(from..));
        Ok(())
    }

    /// Forwards the bytes before `start`, and the header from `start` to `end`
    /// if it has ended. Holds an unfinished header back. Returns the position
    /// of the first byte that is neither forwarded nor held back.
    fn header(
        &mut self,
        piece: &Bytes,
        (from, start, end): (usize, usize, usize),
        has_ended: bool,
        ready: &mut VecDeque<Bytes>,
    ) -> usize {
        let header = &piece[start..end];
        if has_ended && self.held.is_empty() && !is_folded(header) {
            // The common case: the header is forwarded together with the
            // surrounding bytes.
            return from;
        }
        push(ready, piece.slice(from..start));
        self.held.extend_from_slice(header);
        if has_ended {
            let mut header = std::mem::take(&mut self.held);
            unfold(&mut header);
            push(ready, header.into());
        }
        end
    }

    /// Counts the bytes up to `end`, or all bytes of the chunk if there is no
    /// end. Returns their number.
    fn bounded(
        &mut self,
        piece: &[u8],
        end: Option<usize>,
        next: Place,
    ) -> Result<usize, HeaderTooLong> {
        let counted = end.unwrap_or(piece.len());
        self.length = self.length.saturating_add(counted);
        if self.length > super::MultipartLimits::MAX_PART_HEADER {
            return Err(HeaderTooLong);
        }
        if end.is_some() {
            self.place = next;
        }
        Ok(counted)
    }

    /// Processes one byte after a boundary. `--` ends the body. Optional blanks
    /// and a line end start a part.
    fn line(&mut self, before: Option<u8>, byte: u8) {
        self.place = match (before, byte) {
            (None | Some(b' '), b' ' | b'\t') => Place::Line(Some(b' ')),
            (None, b'-') | (None | Some(b' '), b'\r') => Place::Line(Some(byte)),
            (Some(b'\r'), b'\n') => {
                self.length = 0;
                Place::Header
            }
            _ => Place::End,
        };
    }
}

fn push(ready: &mut VecDeque<Bytes>, piece: Bytes) {
    if !piece.is_empty() {
        ready.push_back(piece);
    }
}

/// Returns the positions of line ends inside folded header lines.
fn folds(header: &[u8]) -> impl Iterator<Item = usize> {
    let is_fold = |bytes: &[u8]| matches!(bytes, b"\r\n " | b"\r\n\t");
    let folds = header.windows(3).enumerate().filter(move |(_, bytes)| is_fold(bytes));
    folds.map(|(place, _)| place)
}

fn is_folded(header: &[u8]) -> bool {
    folds(header).next().is_some()
}

/// Replaces each line end within a continued line with two spaces.
fn unfold(header: &mut [u8]) {
    for place in folds(header).collect::<Vec<_>>() {
        header[place..place + 2].fill(b' ');
    }
}

/// A text search across chunks with the Knuth–Morris–Pratt algorithm.
struct Search {
    text: Vec<u8>,
    /// For each match length, the longest shorter match that may continue after
    /// a mismatch.
    shorter: Vec<usize>,
    matched: usize,
}

impl Search {
    fn new(text: impl Into<Vec<u8>>) -> Self {
        let text = text.into();
        let mut shorter = vec![0; text.len()];
        let mut length = 0;
        for at in 1..text.len() {
            while length > 0 && text[at] != text[length] {
                length = shorter[length - 1];
            }
            length += usize::from(text[at] == text[length]);
            shorter[at] = length;
        }
        Self { text, shorter, matched: 0 }
    }

    /// Returns the index after the text if it ends in this chunk.
    fn find(&mut self, piece: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < piece.len() {
            if self.matched == 0 {
                at += memchr::memchr(self.text[0], &piece[at..])?;
            }
            while self.matched > 0 && piece[at] != self.text[self.matched] {
                self.matched = self.shorter[self.matched - 1];
            }
            self.matched += usize::from(piece[at] == self.text[self.matched]);
            at += 1;
            if self.matched == self.text.len() {
                self.matched = 0;
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
