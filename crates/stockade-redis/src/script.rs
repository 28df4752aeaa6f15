//! [`Script`]: a Lua script, sent by its hash.

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
    pub(crate) fn by_hash(&self, key: &str, arguments: &[u64]) -> redis::Cmd {
        command("EVALSHA", &self.hash, key, arguments)
    }

    /// Makes the command that sends the script, for an engine that has lost it or
    /// never had it.
    pub(crate) fn by_code(&self, key: &str, arguments: &[u64]) -> redis::Cmd {
        command("EVAL", self.code, key, arguments)
    }
}

fn command(name: &str, script: &str, key: &str, arguments: &[u64]) -> redis::Cmd {
    let mut command = redis::cmd(name);
    command.arg(script).arg(1).arg(key).arg(arguments);
    command
}
