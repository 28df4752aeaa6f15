//! The commands of [`Redis`]: scripts with deadlines, and connections.

use std::time::Duration;
#[cfg(feature = "metrics")]
use std::time::Instant;

use redis::aio::{MultiplexedConnection, PubSub};
use redis::{Cmd, FromRedisValue, ToRedisArgs};
use tokio::time::timeout;

use super::{Redis, State};
use crate::cluster::CommandPrefix;
use crate::error::LinkError;
use crate::script::Script;

impl Redis {
    /// Runs a script on one key.
    pub(crate) async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        key: &str,
        arguments: &[u64],
        deadline: Duration,
    ) -> Result<T, LinkError> {
        self.run_on(script, &[key], arguments, deadline).await
    }

    /// Runs a script on keys that share a hash tag.
    pub(crate) async fn run_on<T: FromRedisValue>(
        &self,
        script: &Script,
        keys: &[&str],
        arguments: &[impl ToRedisArgs],
        deadline: Duration,
    ) -> Result<T, LinkError> {
        #[cfg(feature = "metrics")]
        let begin = Instant::now();
        let outcome = match self.0.0.connector.nodes() {
            Some(cluster) => {
                self.0.0.keep();
                cluster.run(self, script, keys, arguments, deadline).await
            }
            None => self.run_here(script, keys, arguments, CommandPrefix::None, deadline).await,
        };
        #[cfg(feature = "metrics")]
        if let Some(key) = keys.first() {
            self.0.0.counts.note(self.prefix(), key, outcome.as_ref().err(), begin.elapsed());
        }
        outcome
    }

    /// Runs a script on this server, without routing to a cluster node.
    pub(crate) async fn run_here<T: FromRedisValue>(
        &self,
        script: &Script,
        keys: &[&str],
        arguments: &[impl ToRedisArgs],
        prefix: CommandPrefix,
        deadline: Duration,
    ) -> Result<T, LinkError> {
        match self.send_as(&script.by_hash(keys, arguments), prefix, deadline).await {
            Err(error) if error.is_unknown_script() => {
                self.send_as(&script.by_code(keys, arguments), prefix, deadline).await
            }
            outcome => outcome,
        }
    }

    /// Opens a connection for subscriptions. Returns `None` on failure.
    pub(crate) async fn subscriber(&self) -> Option<PubSub> {
        self.0.0.keep();
        self.0.0.connector.subscriber().await.ok()
    }

    /// Returns the server's run ID, which changes after a restart or a
    /// failover. For a cluster, returns the run IDs of all masters.
    pub(crate) async fn engine_run(&self) -> Option<String> {
        match self.0.0.connector.nodes() {
            Some(cluster) => {
                // The map is loaded together with the connection.
                self.wait_for_connection(Duration::from_millis(500)).await.ok()?;
                cluster.engine_runs().await
            }
            None => self.engine_run_here().await,
        }
    }

    /// Returns the run ID of this server only.
    pub(crate) async fn engine_run_here(&self) -> Option<String> {
        let mut info = redis::cmd("INFO");
        info.arg("server");
        let deadline = Duration::from_millis(500);
        let info: String = self.send_as(&info, CommandPrefix::None, deadline).await.ok()?;
        let run = info.lines().find_map(|line| line.strip_prefix("run_id:"))?;
        Some(run.trim_end().to_owned())
    }

    /// Sends a command with a deadline. Dropping the future does not affect the
    /// connection.
    async fn send_as<T: FromRedisValue>(
        &self,
        cmd: &Cmd,
        prefix: CommandPrefix,
        deadline: Duration,
    ) -> Result<T, LinkError> {
        let link = &*self.0.0;
        self.0.0.keep();
        let _permit = link.in_flight.try_acquire().map_err(|_| LinkError::Full)?;
        let mut sent_on = None;
        let outcome = timeout(deadline, async {
            let (mut connection, number) = link.connection().await?;
            sent_on = Some(number);
            let answer = match prefix {
                CommandPrefix::None => cmd.query_async(&mut connection).await,
                CommandPrefix::Asking => {
                    let mut both = redis::pipe();
                    both.cmd("ASKING").ignore().add_command(cmd.clone());
                    both.query_async(&mut connection).await.map(|(answer,)| answer)
                }
            };
            answer.map_err(LinkError::Failed)
        });
        let outcome = outcome.await.unwrap_or(Err(LinkError::Late(deadline)));
        if let Some(number) = sent_on {
            link.validate(number, outcome.as_ref().err());
        }
        outcome
    }

    /// Waits for the connection while the link is connecting.
    pub(crate) async fn wait_for_connection(&self, deadline: Duration) -> Result<(), LinkError> {
        let connection = timeout(deadline, self.0.0.connection()).await;
        connection.unwrap_or(Err(LinkError::Late(deadline))).map(|_| ())
    }

    /// Returns the current connection, if the link is up.
    pub(crate) fn current(&self) -> Option<MultiplexedConnection> {
        match &*self.0.0.state.borrow() {
            State::Up(connection, _) => Some(connection.clone()),
            State::Connecting | State::Down(_) => None,
        }
    }
}
