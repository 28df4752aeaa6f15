//! Users: registration, login and the authenticated user of a request.
{%- if auth == "sessions" %}

use std::time::Duration;
{%- endif %}

use serde::{Deserialize, Serialize};
{%- if auth == "jwt" %}
use stockade::auth::{IssueError, PasswordError, PasswordHasher, TokenIssuer};
{%- else %}
use stockade::auth::{PasswordError, PasswordHasher, SessionId};
{%- if database == "none" %}
use stockade::middleware::sessions::{MemorySessionStore, Session, Sessions, SetSession};
{%- else %}
use stockade::middleware::sessions::{Session, Sessions, SetSession};
{%- endif %}
use stockade::middleware::{CurrentSession, SessionCookie};
{%- endif %}
use stockade::middleware::{hash_password_with_async, verify_password_async};
use stockade::prelude::*;
use stockade::reply::Created;
{%- if database != "none" %}
{%- if auth == "sessions" %}
use stockade::sql::{SqlError, SqlSessionStore};
{%- else %}
use stockade::sql::SqlError;
{%- endif %}
{%- endif %}

use crate::Store;

/// The authenticated user of a request.
#[derive(Deserialize{% if auth == "sessions" %}, Serialize{% endif %})]
pub struct Member {
    #[serde(rename = "sub")]
    pub name: String,
}

/// The body of a registration.
#[derive(Deserialize, Schema)]
pub struct NewUser {
    #[schema(pattern = "^[a-z0-9]+$", max_length = 30)]
    name: String,
    #[schema(min_length = 8, max_length = 200)]
    password: String,
}

/// The body of a login.
#[derive(Deserialize, Schema)]
pub struct Credentials {
    #[schema(max_length = 30)]
    name: String,
    #[schema(max_length = 200)]
    password: String,
}

/// The response to a registration{% if auth == "sessions" %} and to a login{% endif %}.
#[derive(Serialize, Schema)]
pub struct Account {
    name: String,
}
{%- if auth == "jwt" %}

/// The response to a login.
#[derive(Serialize, Schema)]
pub struct Token {
    token: String,
}
{%- endif %}

/// The errors of registration and login.
#[derive(ApiError, Debug)]
pub enum UserError {
    #[status(401, "wrong name or password")]
    WrongCredentials,
    #[status(409, "this name is taken")]
    NameTaken,
    #[status(transparent)]
    Password(#[from] PasswordError),
{%- if auth == "jwt" %}
    #[status(transparent)]
    Token(#[from] IssueError),
{%- else %}
    #[status(transparent)]
    Session(#[from] ApiError),
{%- endif %}
{%- if database != "none" %}
    #[status(transparent)]
    Database(SqlError),
{%- endif %}
}
{%- if database != "none" %}

impl From<SqlError> for UserError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Taken { .. } => Self::NameTaken,
            error => Self::Database(error),
        }
    }
}
{%- endif %}

pub async fn register(
    store: State<Store>,
    Body(new): Body<NewUser>,
) -> Result<Created<Account>, UserError> {
    let hash = hash_password_with_async(new.password, PasswordHasher::recommended()).await?;
    store.add_user(new.name.clone(), hash).await?;
    Ok(Created::new(Account { name: new.name }))
}

/// A hash that no password matches. It is verified if the name is unknown, so
/// the time of the response does not show which names exist.
const NO_USER: &str = "$pbkdf2-sha512$i=210000$qpyyinKS5U1zXrkpSXC4wA$\
    5g8O1f7ufyCLghSObzQVVOvhxf9NwAlwN5fw/6SU7gUm6++W6jF0Pclcd+GC/F7BrNFiAghHF8COLqunoKE5pg";

/// Returns an error if the name is unknown or the password is wrong.
async fn check(store: &Store, name: &str, password: String) -> Result<(), UserError> {
    let hash = store.password_hash(name.to_owned()).await?;
    let is_right = verify_password_async(password, hash.as_deref().unwrap_or(NO_USER)).await?;
    if hash.is_some() && is_right { Ok(()) } else { Err(UserError::WrongCredentials) }
}
{%- if auth == "jwt" %}

pub async fn log_in(
    store: State<Store>,
    secret: State<Secret>,
    Body(Credentials { name, password }): Body<Credentials>,
) -> Result<Token, UserError> {
    check(&store, &name, password).await?;
    let token = TokenIssuer::new().issue(json!({ "sub": name }), "1h", &*secret)?;
    Ok(Token { token })
}
{%- else %}

pub async fn log_in(
    store: State<Store>,
    sessions: State<Sessions<()>>,
    session: Option<Session<()>>,
    Body(Credentials { name, password }): Body<Credentials>,
) -> Result<(SetSession, Account), UserError> {
    check(&store, &name, password).await?;
    // A new id, because others may know the id of an existing session.
    let set = match session {
        Some(session) => sessions.renew(session.id(), Some(&name), |_| ()).await?,
        None => sessions.begin(Some(&name), &()).await?,
    };
    Ok((set, Account { name }))
}

pub async fn log_out(
    sessions: State<Sessions<()>>,
    CurrentSession(id): CurrentSession,
) -> Result<(SetSession, ()), ApiError> {
    Ok((sessions.end(&id).await?, ()))
}

/// The time until an unused session ends.
pub const IDLE: Duration = Duration::from_secs(30 * 60);

/// The time until each session ends, even if it is in use.
pub const LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Finds the user of a session.
pub async fn find(
    id: SessionId,
    sessions: State<Sessions<()>>,
) -> Result<Option<Member>, ApiError> {
    let session = sessions.load(&id).await?;
    let name = session.and_then(|session| session.subject().map(str::to_owned));
    Ok(name.map(|name| Member { name }))
}
{%- if database == "none" %}

/// Creates the sessions. A restart ends them.
pub fn sessions(cookie: SessionCookie) -> Sessions<()> {
    Sessions::new(MemorySessionStore::new(), cookie).idle(IDLE).lifetime(LIFETIME)
}
{%- else %}

/// Opens the sessions in the database. The store is open already.
pub async fn sessions(app: &App, cookie: SessionCookie) -> Result<Sessions<()>, BoxError> {
    let store = app.state::<Store>().ok_or("the store is not open")?;
    let sessions = SqlSessionStore::open(store.database()).await?;
    Ok(Sessions::new(sessions, cookie).idle(IDLE).lifetime(LIFETIME))
}
{%- endif %}
{%- endif %}
