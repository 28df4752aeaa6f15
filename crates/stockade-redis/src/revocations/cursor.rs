//! [`Cursor`]: the place in the log up to which a process has read.

use stockade_auth::Revocation;

/// A member of the log, with its number.
pub(super) type Member = (Vec<u8>, u64);

/// The place in a log, as data.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    /// The number of the last member that was read; a page begins with it.
    last: u64,
    /// The name of the counter, which is another one in another log.
    counter: Option<Vec<u8>>,
}

/// The meaning of a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// There is more.
    Inside,
    /// It was the last one.
    End,
    /// The log is another one, or has lost what was read before: it has to be read from
    /// its beginning.
    Lost,
}

impl Cursor {
    /// Returns the number from which the next page begins.
    pub(super) fn next(&self) -> u64 {
        self.last
    }

    /// Returns true if there was an entry once.
    pub(super) fn has_begun(&self) -> bool {
        self.counter.is_some()
    }

    /// Takes a page of at most `size` members, and adds its entries to `entries`.
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

/// The first byte of the counter's name, behind that of all entries.
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
        // Nothing new, and the last entry has expired.
        check(&mut cursor, &[entry(4), counter(1, 4)], Place::End, 1, 4);
        check(&mut cursor, &[counter(1, 4)], Place::End, 0, 4);
        check(&mut cursor, &[entry(5), counter(1, 5)], Place::End, 1, 5);
    }

    #[test]
    fn a_loss_is_seen() {
        let read = || {
            let mut cursor = Cursor::default();
            check(&mut cursor, &[entry(1), counter(1, 1)], Place::End, 1, 1);
            cursor
        };
        // Everything is gone; or it is behind; or another one has begun.
        check(&mut read(), &[], Place::Lost, 0, 1);
        check(&mut read(), &[entry(1), counter(2, 1)], Place::Lost, 0, 1);
        let mut inside = Cursor::default();
        check(&mut inside, &[entry(1), entry(2), entry(3)], Place::Inside, 3, 3);
        check(&mut inside, &[], Place::Lost, 0, 3);
    }
}
