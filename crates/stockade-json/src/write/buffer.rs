//! The output buffer for JSON.

/// A buffer with written bytes at the start.
///
/// The rest is zeros rather than spare capacity. In safe code, several writes
/// can share one bounds check only on a slice with a known length.
#[derive(Debug)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// Invariant: at most `bytes.len()`.
    written: usize,
}

impl Buffer {
    /// Creates an empty buffer from the bytes that
    /// [`into_scratch`](Self::into_scratch) returned.
    #[inline]
    pub(super) fn new(scratch: Vec<u8>) -> Self {
        Self { bytes: scratch, written: 0 }
    }

    #[inline]
    pub(super) fn written(&self) -> &[u8] {
        &self.bytes[..self.written]
    }

    /// Returns the written bytes without a copy.
    pub(super) fn into_written(mut self) -> Vec<u8> {
        self.bytes.truncate(self.written);
        self.bytes
    }

    pub(super) fn into_scratch(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the next `size` bytes if there is room. Call
    /// [`wrote`](Self::wrote) to mark them as written.
    #[inline]
    pub(super) fn place(&mut self, size: usize) -> Option<&mut [u8]> {
        self.bytes.get_mut(self.written..self.written.saturating_add(size))
    }

    #[inline]
    pub(super) fn wrote(&mut self, size: usize) {
        self.written += size;
    }

    /// Makes room for `size` bytes. Returns false if there is already enough
    /// room.
    #[cold]
    pub(super) fn grow(&mut self, size: usize) -> bool {
        let wanted = self.written + size;
        if wanted <= self.bytes.len() {
            return false;
        }
        self.bytes.resize(wanted.max(2 * self.bytes.len()).max(FIRST_SIZE), 0);
        true
    }

    #[inline]
    pub(super) fn push(&mut self, byte: u8) {
        self.array([byte]);
    }

    #[inline]
    pub(super) fn array<const SIZE: usize>(&mut self, bytes: [u8; SIZE]) {
        if let Some(place) = self.place(SIZE).and_then(|place| place.first_chunk_mut()) {
            *place = bytes;
            self.wrote(SIZE);
        } else {
            self.grow(SIZE);
            self.array(bytes);
        }
    }

    #[inline]
    pub(super) fn slice(&mut self, bytes: &[u8]) {
        if let Some(place) = self.place(bytes.len()) {
            place.copy_from_slice(bytes);
            self.wrote(bytes.len());
        } else {
            self.grow(bytes.len());
            self.slice(bytes);
        }
    }
}

/// Copies the first and the last `SIZE` bytes of a slice, which is the whole
/// slice if it has between `SIZE` and `2 * SIZE` bytes. Both slices must have
/// the same length.
#[inline]
pub(super) fn copy_ends<const SIZE: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(first)) = (to.first_chunk_mut::<SIZE>(), from.first_chunk()) {
        *to = *first;
    }
    copy_last::<SIZE>(to, from);
}

#[inline]
pub(super) fn copy_last<const SIZE: usize>(to: &mut [u8], from: &[u8]) {
    if let (Some(to), Some(last)) = (to.last_chunk_mut::<SIZE>(), from.last_chunk()) {
        *to = *last;
    }
}

const FIRST_SIZE: usize = 1_024;
