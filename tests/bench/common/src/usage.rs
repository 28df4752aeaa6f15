//! [`Usage`]: the processor time of a process.

use std::fs;
use std::io;
use std::ops::Sub;

/// Processor time since the start of a process, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// The time of all threads, exact.
    pub cpu: f64,
    /// The time outside the kernel, in steps of 10 ms.
    pub user: f64,
    /// The time inside the kernel, in steps of 10 ms.
    pub system: f64,
}

impl Usage {
    /// Reads the processor time of a process from `/proc`.
    ///
    /// # Errors
    /// Returns an error if the process does not exist.
    pub fn of(process: u32) -> io::Result<Self> {
        let mut nanos = 0;
        for task in fs::read_dir(format!("/proc/{process}/task"))? {
            let text = fs::read_to_string(task?.path().join("schedstat"))?;
            nanos += number(text.split(' ').next())?;
        }
        let stat = fs::read_to_string(format!("/proc/{process}/stat"))?;
        // The program name in parentheses may contain spaces.
        let (_, rest) = stat.rsplit_once(") ").ok_or(io::ErrorKind::InvalidData)?;
        let mut words = rest.split(' ').skip(11);
        let user = number(words.next())? as f64 * TICK;
        let system = number(words.next())? as f64 * TICK;
        Ok(Self { cpu: nanos as f64 / 1_000.0, user, system })
    }
}

impl Sub for Usage {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            cpu: self.cpu - before.cpu,
            user: self.user - before.user,
            system: self.system - before.system,
        }
    }
}

fn number(word: Option<&str>) -> io::Result<u64> {
    word.and_then(|word| word.trim().parse().ok()).ok_or(io::ErrorKind::InvalidData.into())
}

/// The unit of these Linux counters: 1/100 s, in microseconds.
const TICK: f64 = 10_000.0;
