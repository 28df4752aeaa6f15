//! A login service (OAuth 2, authorization code) from the perspective of its
//! client: the URL of its page, and two requests that the server sends.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::reply::Redirect;

/// A client of the service.
#[derive(Debug)]
pub struct OAuthClient {
    client_id: String,
    redirect_url: String,
    /// The users of unused codes and of tokens.
    codes: Mutex<HashMap<String, Profile>>,
    tokens: Mutex<HashMap<String, Profile>>,
}

/// The data of a user at the service.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Profile {
    /// The id of the user.
    pub id: String,
    /// The name of the user.
    pub username: String,
}

/// A token for requests on behalf of a user.
#[derive(Debug)]
pub struct AccessToken(String);

/// An error of the service.
#[derive(Debug)]
pub struct OAuthError(&'static str);

impl OAuthClient {
    /// Creates a client for the application `client_id`. The service redirects
    /// users to `redirect_url`.
    #[must_use]
    pub fn new(client_id: &str, redirect_url: &str) -> Self {
        Self {
            client_id: client_id.to_owned(),
            redirect_url: redirect_url.to_owned(),
            codes: Mutex::default(),
            tokens: Mutex::default(),
        }
    }

    /// Returns the URL of the consent page. The service returns `state`, which
    /// proves to the application that it sent the user.
    #[must_use]
    pub fn authorize_url(&self, state: &str) -> String {
        format!("/service/authorize?client_id={}&scope=identify&state={state}", self.client_id)
    }

    /// Exchanges a code for a token. A code works only once.
    ///
    /// # Errors
    /// Fails for an unknown or used code.
    pub async fn exchange_code(&self, code: &str) -> Result<AccessToken, OAuthError> {
        let user = locked(&self.codes).remove(code).ok_or(OAuthError("no such code"))?;
        let token = format!("token-of-{}", user.username);
        locked(&self.tokens).insert(token.clone(), user);
        Ok(AccessToken(token))
    }

    /// Requests the user of a token from the service.
    ///
    /// # Errors
    /// Fails for an unknown token.
    pub async fn profile(&self, token: &AccessToken) -> Result<Profile, OAuthError> {
        locked(&self.tokens).get(&token.0).cloned().ok_or(OAuthError("no such token"))
    }
}

#[derive(Deserialize, Schema)]
struct Asked {
    state: String,
}

/// Returns the consent page of the service, where Ada agrees immediately and is
/// redirected back.
///
/// It is a route of the application, so the program runs without a network.
pub fn routes() -> RouteTree {
    async fn authorize(Query(asked): Query<Asked>, client: State<OAuthClient>) -> Redirect {
        let ada = Profile { id: "7".to_owned(), username: "ada".to_owned() };
        let mut codes = locked(&client.codes);
        let code = format!("code-{}", codes.len());
        codes.insert(code.clone(), ada);
        Redirect::to(format!("{}?code={code}&state={}", client.redirect_url, asked.state))
    }

    routes! { "service/authorize": { GET: authorize } }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the service rejects it: {}", self.0)
    }
}

impl Error for OAuthError {}
