//! The memory that requests gave back: what of it stays with the process.

use std::hint::black_box;

/// Lets the C library of Linux (glibc) keep up to twice [`KEPT`] of free memory at the
/// end of each heap, for the next request.
///
/// It keeps 128 KiB by default, and returns what is above to the system after each
/// request with 100 KB of JSON in and out. Such a request took 1.8 calls of `brk`, the
/// system cleared its pages again, and it took 1.13 to 1.36 times the processor time of
/// hyper by hand (64 connections); now 1.03.
/// Both limits grow once a block is freed that is larger than they are, so this asks
/// for such a block and gives it back: it costs two calls and no memory, because no
/// page of it is touched. Programs grow them themselves as soon as they fill one large
/// buffer by doubling; here most buffers are made with the size that they need.
///
/// Other allocators are not concerned, nor programs with limits of their own (such as
/// `MALLOC_TRIM_THRESHOLD_`): then glibc leaves them as they are.
///
/// Source: mallopt(3), `M_MMAP_THRESHOLD` and `M_TRIM_THRESHOLD`.
pub(crate) fn keep_freed_memory() {
    drop(black_box(Vec::<u8>::with_capacity(KEPT)));
}

/// Half of the free memory that stays, in bytes: 1 MiB, the default limit of a body.
const KEPT: usize = 1 << 20;

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Returns how often the system gave this thread a page so far.
    fn page_faults() -> u64 {
        let line = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        // The name of the program, in brackets, may hold blanks.
        let (_, fields) = line.rsplit_once(')').unwrap();
        fields.split_whitespace().nth(7).unwrap().parse().unwrap()
    }

    /// As a request does that has a large body, values of it and an answer.
    fn use_memory() {
        for _ in 0..200 {
            let parts: Vec<Vec<u8>> = (0..8).map(|part| vec![part; 100_000]).collect();
            black_box(parts);
        }
    }

    #[test]
    fn freed_memory_is_used_again() {
        keep_freed_memory();
        use_memory();
        let before = page_faults();
        use_memory();
        // Each round would take its 160 pages anew: 32,000.
        let taken = page_faults() - before;
        assert!(taken < 1_000, "{taken} pages were taken anew");
    }
}
