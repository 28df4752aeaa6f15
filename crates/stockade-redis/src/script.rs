//! Lua scripts, sent by their hash.

use std::time::Duration;

use redis::ToRedisArgs;

/// A script that runs atomically on the server.
pub(crate) struct Script {
    code: &'static str,
    hash: String,
}

impl Script {
    pub(crate) fn new(code: &'static str) -> Self {
        Self { code, hash: redis::Script::new(code).get_hash().to_owned() }
    }

    /// Creates the command that names the script by its hash.
    pub(crate) fn by_hash(&self, keys: &[&str], arguments: &[impl ToRedisArgs]) -> redis::Cmd {
        command("EVALSHA", &self.hash, keys, arguments)
    }

    /// Creates the command that sends the source, for a server that does not
    /// have the script in its cache.
    pub(crate) fn by_code(&self, keys: &[&str], arguments: &[impl ToRedisArgs]) -> redis::Cmd {
        command("EVAL", self.code, keys, arguments)
    }
}

fn command(name: &str, script: &str, keys: &[&str], arguments: &[impl ToRedisArgs]) -> redis::Cmd {
    let mut command = redis::cmd(name);
    command.arg(script).arg(keys.len()).arg(keys).arg(arguments);
    command
}

/// Converts a duration to milliseconds for a script argument, rounded up. The
/// result is at least 1 and at most 100 years, which Lua represents exactly.
pub(crate) fn millis(time: Duration) -> String {
    time.as_nanos().div_ceil(1_000_000).clamp(1, MAX_MILLIS).to_string()
}

const MAX_MILLIS: u128 = 100 * 365 * 86_400_000;
