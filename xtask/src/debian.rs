//! Installs Debian packages for tests that need them.

use std::process::{Command, Stdio};

use crate::announce;

/// The timeout of an apt-get run, in seconds.
const APT_SECONDS: &str = "300";

/// Installs packages. Returns false on a different system or without root
/// privileges.
pub fn install(packages: &[&str]) -> Result<bool, String> {
    let user = Command::new("id").arg("-u").output();
    if !user.is_ok_and(|output| output.stdout.trim_ascii() == b"0") {
        return Ok(false);
    }
    let mut update = Command::new("timeout");
    update.args([APT_SECONDS, "apt-get", "update"]);
    announce(&update);
    if update.stdout(Stdio::null()).status().is_err() {
        return Ok(false);
    }
    let mut install = Command::new("timeout");
    install.args([APT_SECONDS, "apt-get", "install", "--yes", "--no-install-recommends"]);
    crate::run(install.args(packages).env("DEBIAN_FRONTEND", "noninteractive"))?;
    Ok(true)
}
