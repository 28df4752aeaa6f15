//! Freed memory that the process retains for later requests.

use std::hint::black_box;

/// Lets the C library of Linux (glibc) retain up to twice [`KEPT`] of free
/// memory at the end of each heap, for the next request.
///
/// By default glibc retains 128 KiB and returns the rest to the system after
/// each request with 100 KB of JSON in and out. Such a request made 1.8 `brk`
/// calls, and the system had to clear its pages again. It took 1.13 to 1.36
/// times the CPU time of a plain hyper server (64 connections); now it takes
/// 1.03 times.
///
/// Freeing a block larger than both limits raises them. This function therefore
/// allocates such a block and frees it. That costs two calls and no memory,
/// because no page of the block is touched. Programs raise the limits
/// themselves when they first fill a large buffer by doubling; here most
/// buffers are created with the required size.
///
/// Other allocators are not affected. glibc does not change limits that the
/// program sets itself (such as `MALLOC_TRIM_THRESHOLD_`).
///
/// Source: mallopt(3), `M_MMAP_THRESHOLD` and `M_TRIM_THRESHOLD`.
pub(crate) fn keep_freed_memory() {
    drop(black_box(Vec::<u8>::with_capacity(KEPT)));
}

/// Half of the retained memory, in bytes: 1 MiB, the default body limit.
const KEPT: usize = 1 << 20;

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Returns the number of pages that the system has mapped for this thread
    /// so far.
    fn page_faults() -> u64 {
        let line = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        // The name of the program, in brackets, may contain spaces.
        let (_, fields) = line.rsplit_once(')').unwrap();
        fields.split_whitespace().nth(7).unwrap().parse().unwrap()
    }

    /// Allocates like a request with a large body, its values and a response.
    fn use_memory() {
        for _ in 0..200 {
            let parts: Vec<Vec<u8>> = (0..8).map(|part| vec![part; 100_000]).collect();
            black_box(parts);
        }
    }

    #[test]
    fn freed_memory_is_reused() {
        keep_freed_memory();
        use_memory();
        let before = page_faults();
        use_memory();
        // If each round had to map its 160 pages again, there would be 32,000.
        let taken = page_faults() - before;
        assert!(taken < 1_000, "{taken} pages were taken anew");
    }
}
