//! [`PartHeaders`]: a bound for the headers of the parts of a multipart body.
//!
//! multer keeps the header of a part until it has ended, and the text before
//! the first boundary until the boundary has come, without a limit. So the
//! bytes are followed here before multer gets them, by the same framing.
//!
//! Source: RFC 2046, section 5.1.1 (framing); RFC 7578 (`multipart/form-data`).

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_core::Stream;
use stockade_errors::BoxError;

/// The pieces of a multipart body, until a header in them is too long.
pub(super) struct BoundedHeaders<S> {
    pieces: S,
    headers: PartHeaders,
}

impl<S> BoundedHeaders<S> {
    pub(super) fn new(pieces: S, boundary: &str) -> Self {
        Self { pieces, headers: PartHeaders::new(boundary) }
    }
}

impl<S> Stream for BoundedHeaders<S>
where
    S: Stream<Item = Result<Bytes, BoxError>> + Unpin,
{
    type Item = Result<Bytes, BoxError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let piece = ready!(Pin::new(&mut this.pieces).poll_next(cx));
        Poll::Ready(piece.map(|piece| {
            let piece = piece?;
            this.headers.follow(&piece)?;
            Ok(piece)
        }))
    }
}

/// The error for a header of a part, or for text before the first part, that is
/// longer than [`MAX_PART_HEADER`](super::MultipartLimits::MAX_PART_HEADER).
#[derive(Debug)]
pub(super) struct HeaderTooLong;

impl fmt::Display for HeaderTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the header of a part of a multipart body is too long")
    }
}

impl std::error::Error for HeaderTooLong {}

/// Follows the framing of a multipart body, piece by piece.
struct PartHeaders {
    place: Place,
    /// Bytes of the current header, or before the first boundary.
    length: usize,
    opening: Search,
    blank_line: Search,
    delimiter: Search,
}

#[derive(Clone, Copy)]
enum Place {
    /// Before the first boundary.
    Preamble,
    /// Behind a boundary, after the byte in it, if that tells something.
    Line(Option<u8>),
    Header,
    Content,
    /// After the last part, or where multer refuses the body.
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
        }
    }

    fn follow(&mut self, mut piece: &[u8]) -> Result<(), HeaderTooLong> {
        while let Some((&byte, rest)) = piece.split_first() {
            piece = match self.place {
                Place::Preamble => {
                    let end = self.opening.find(piece);
                    self.bounded(piece, end, Place::Line(None))?
                }
                Place::Header => {
                    let end = self.blank_line.find(piece);
                    self.bounded(piece, end, Place::Content)?
                }
                Place::Content => match self.delimiter.find(piece) {
                    Some(end) => {
                        self.place = Place::Line(None);
                        &piece[end..]
                    }
                    None => return Ok(()),
                },
                Place::Line(before) => {
                    self.line(before, byte);
                    rest
                }
                Place::End => return Ok(()),
            };
        }
        Ok(())
    }

    /// Counts the bytes up to an end that was found or not; gives the rest.
    fn bounded<'p>(
        &mut self,
        piece: &'p [u8],
        end: Option<usize>,
        next: Place,
    ) -> Result<&'p [u8], HeaderTooLong> {
        let counted = end.unwrap_or(piece.len());
        self.length = self.length.saturating_add(counted);
        if self.length > super::MultipartLimits::MAX_PART_HEADER {
            return Err(HeaderTooLong);
        }
        if end.is_some() {
            self.place = next;
        }
        Ok(&piece[counted..])
    }

    /// Follows one byte behind a boundary. `--` is the end of the body; after
    /// blanks and the end of the line a part follows.
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

/// The search for a text in pieces, after Knuth, Morris and Pratt.
struct Search {
    text: Vec<u8>,
    /// For each length of a match, the longest one that may still be a match
    /// when the next byte does not fit.
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

    /// Returns the index behind the text, if it ends in this piece.
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
