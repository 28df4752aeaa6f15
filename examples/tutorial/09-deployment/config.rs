//! The configuration of the program, from environment variables.

use std::env;

use stockade::prelude::*;

/// The values that differ between machines.
#[derive(Debug)]
pub struct Config {
    /// The address of the server: `NOTES_ADDRESS`.
    pub address: String,
    /// The path of the database: `NOTES_DB`.
    pub database: String,
    /// The secret that signs the tokens: `NOTES_SECRET`.
    pub secret: Secret,
    /// The number of reverse proxies: `NOTES_PROXIES`.
    pub proxies: u8,
}

impl Config {
    /// Reads the variables of the process.
    pub fn from_env() -> Result<Self, BoxError> {
        Self::from_variables(|name| env::var(name).ok())
    }

    /// Reads the variables with this function.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, BoxError> {
        let secret = get("NOTES_SECRET").ok_or("set NOTES_SECRET to 32 random bytes or more")?;
        if secret.len() < 32 {
            return Err("NOTES_SECRET needs 32 bytes or more".into());
        }
        let proxies = get("NOTES_PROXIES").unwrap_or_else(|| "0".to_owned());
        let proxies = proxies.parse().map_err(|_| "NOTES_PROXIES must be a number")?;
        Ok(Self {
            address: get("NOTES_ADDRESS").unwrap_or_else(|| "127.0.0.1:3000".to_owned()),
            database: get("NOTES_DB").unwrap_or_else(|| "notes.db".to_owned()),
            secret: Secret::new(secret)?,
            proxies,
        })
    }
}
