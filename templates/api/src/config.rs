//! The configuration of the program, from environment variables.

use std::env;

{% if auth != "none" -%}
use stockade::auth::generate_token;
{% endif -%}
use stockade::prelude::*;

/// The values that differ between machines.
pub struct Config {
    /// The address of the server: `LISTEN`.
    pub listen: String,
    /// The number of reverse proxies: `TRUSTED_PROXIES`.
    pub proxies: u8,
{%- if database == "sqlite" %}
    /// The path of the database: `DATABASE_PATH`.
    pub database: String,
{%- elsif database == "postgres" %}
    /// The address of the database: `DATABASE_URL`.
    pub database: String,
{%- endif %}
{%- if auth == "jwt" %}
    /// The secret that signs the tokens: `SECRET`.
    pub secret: Secret,
{%- elsif auth == "sessions" %}
    /// The secret that signs the session cookies: `SECRET`.
    pub secret: Secret,
{%- endif %}
}

impl Config {
    /// Reads the variables of the process.
    pub fn from_env() -> Result<Self, BoxError> {
        Self::from_variables(|name| env::var(name).ok())
    }

    /// Reads the variables with this function.
    pub fn from_variables(get: impl Fn(&str) -> Option<String>) -> Result<Self, BoxError> {
        let proxies = get("TRUSTED_PROXIES").unwrap_or_else(|| "0".to_owned());
        Ok(Self {
            listen: get("LISTEN").unwrap_or_else(|| "127.0.0.1:3000".to_owned()),
            proxies: proxies.parse().map_err(|_| "TRUSTED_PROXIES must be a number up to 255")?,
{%- if database == "sqlite" %}
            database: get("DATABASE_PATH").unwrap_or_else(|| "{{project-name}}.db".to_owned()),
{%- elsif database == "postgres" %}
            database: get("DATABASE_URL")
                .ok_or("set DATABASE_URL, such as postgres://user:password@localhost/name")?,
{%- endif %}
{%- if auth != "none" %}
            secret: secret(get("SECRET"))?,
{%- endif %}
        })
    }
}
{%- if auth != "none" %}

/// Returns the secret. A debug build without `SECRET` creates one for each
/// start, so a restart logs out all users.
fn secret(variable: Option<String>) -> Result<Secret, BoxError> {
    let secret = match variable {
        Some(secret) => secret,
        None if cfg!(debug_assertions) => {
            log::warn!("SECRET is not set, so a restart logs out all users");
            generate_token(32)?
        }
        None => return Err("set SECRET to the output of `openssl rand -base64 32`".into()),
    };
    if secret.len() < 32 {
        return Err("SECRET must have at least 32 bytes: use `openssl rand -base64 32`".into());
    }
    Ok(Secret::new(secret)?)
}
{%- endif %}
