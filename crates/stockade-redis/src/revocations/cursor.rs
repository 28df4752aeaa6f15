//! A process's read position in the revocation log.

use stockade_auth::Revocation;

/// A member of the log, with its number.
pub(super) type Member = (Vec<u8>, u64);

/// A position in a log, as data.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The number of the last member read. The next page starts with this
    /// number.
    last: u64,
    /// The name of the counter, which is different in each log.
    counter: Option<Vec<u8>>,
}

/// The position of a page in the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// More pages follow.
    Inside,
    /// This is the last page.
    End,
    /// The log was replaced, or has lost entries that were read before. Read it
    /// again from the start.
    Lost,
}

impl Cursor {
    /// Returns the first number of the next page.
    pub(super) fn next(&self) -> u64 {
        self.last
    }

    /// Returns true if the log has ever had an entry.
    pub(super) fn has_begun(&self) -> bool {
        self.counter.is_some()
    }

    /// Processes a page of at most `size` members and appends its entries to
    /// `entries`.
    pub(super) fn take(
        &mut self,
        page: &[Member],
        size: usize,
        entries: &mut Vec<Revocation>,
    ) -> Place {
        let counter = page.iter().find(|(member, _)| member.first() == Some(&COUNTER));
        if let (Some(known), Some((found, _))) = (&self.counter, counter)
            && known != found
        {
            return Place::Lost;
        }
        entries.extend(page.iter().filter_map(|(member, _)| Revocation::from_bytes(member)));
        let last = page.iter().map(|(_, number)| *number).max();
        match counter {
            Some((counter, number)) => {
                self.counter = Some(counter.clone());
                self.last = *number;
                Place::End
            }
            None if page.len() >= size => {
                self.last = last.unwrap_or_default();
                Place::Inside
            }
            None if self.counter.is_none() && self.last == 0 => Place::End,
            None => Place::Lost,
        }
    }
}

/// The first byte of the counter's name. It sorts after all entries.
pub(super) const COUNTER: u8 = 0xff;

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(log: u8, number: u64) -> Member {
        (vec![COUNTER, log], number)
    }

    fn entry(number: u64) -> Member {
        let mut bytes = vec![1; 25];
        bytes[1] = u8::try_from(number).unwrap();
        (bytes, number)
    }

    #[track_caller]
    fn check(cursor: &mut Cursor, page: &[Member], expected: Place, read: usize, next: u64) {
        let mut entries = Vec::new();
        assert_eq!(cursor.take(page, 3, &mut entries), expected);
        assert_eq!((entries.len(), cursor.next()), (read, next));
    }

    #[test]
    fn a_log_is_read_page_by_page() {
        let mut cursor = Cursor::default();
        check(&mut cursor, &[], Place::End, 0, 0);
        assert!(!cursor.has_begun());
        check(&mut cursor, &[entry(1), entry(2), entry(3)], Place::Inside, 3, 3);
        check(&mut cursor, &[entry(3), entry(4), counter(1, 4)], Place::End, 2, 4);
        assert!(cursor.has_begun());
        // Nothing new, then the last entry expires.
        check(&mut cursor, &[entry(4), counter(1, 4)], Place::End, 1, 4);
        check(&mut cursor, &[counter(1, 4)], Place::End, 0, 4);
        check(&mut cursor, &[entry(5), counter(1, 5)], Place::End, 1, 5);
    }

    #[test]
    fn detects_a_loss() {
        let read = || {
            let mut cursor = Cursor::default();
            check(&mut cursor, &[entry(1), counter(1, 1)], Place::End, 1, 1);
            cursor
        };
        // The log is empty, is a different log, or ends inside a page.
        check(&mut read(), &[], Place::Lost, 0, 1);
        check(&mut read(), &[entry(1), counter(2, 1)], Place::Lost, 0, 1);
        let mut inside = Cursor::default();
        check(&mut inside, &[entry(1), entry(2), entry(3)], Place::Inside, 3, 3);
        check(&mut inside, &[], Place::Lost, 0, 3);
    }
}
