//! [`Script`]: a Lua script, sent by its hash.

use std::time::Duration;

use redis::ToRedisArgs;

/// A script that runs in one step in the engine.
pub(crate) struct Script {
    code: &'static str,
    hash: String,
}

impl Script {
    pub(crate) fn new(code: &'static str) -> Self {
        Self { code, hash: redis::Script::new(code).get_hash().to_owned() }
    }

    /// Makes the command that names the script.
    pub(crate) fn by_hash(&self, keys: &[&str], arguments: &[impl ToRedisArgs]) -> redis::Cmd {
        command("EVALSHA", &self.hash, keys, arguments)
    }

    /// Makes the command that sends the script, for an engine that has lost it or
    /// never had it.
    pub(crate) fn by_code(&self, keys: &[&str], arguments: &[impl ToRedisArgs]) -> redis::Cmd {
        command("EVAL", self.code, keys, arguments)
    }
}

fn command(name: &str, script: &str, keys: &[&str], arguments: &[impl ToRedisArgs]) -> redis::Cmd {
    let mut command = redis::cmd(name);
    command.arg(script).arg(keys.len()).arg(keys).arg(arguments);
    command
}

/// Returns a time in milliseconds, rounded up, as the argument of a script: at least 1,
/// and at most a hundred years, which Lua counts exactly.
pub(crate) fn millis(time: Duration) -> String {
    time.as_nanos().div_ceil(1_000_000).clamp(1, MAX_MILLIS).to_string()
}

const MAX_MILLIS: u128 = 100 * 365 * 86_400_000;
