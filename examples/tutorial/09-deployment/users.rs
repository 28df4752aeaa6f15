//! Users: registration, login and the authenticated user of a request.

use serde::{Deserialize, Serialize};
use stockade::auth::{IssueError, PasswordError, PasswordHasher, TokenIssuer};
use stockade::middleware::{hash_password_with_async, verify_password_async};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::rusqlite::OptionalExtension as _;
use stockade::sql::{SqlError, Sqlite};

/// The authenticated user of a request: the claims of the token.
#[derive(Deserialize)]
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

/// The response to a registration.
#[derive(Serialize, Schema)]
pub struct Account {
    name: String,
}

/// The response to a login.
#[derive(Serialize, Schema)]
pub struct Session {
    token: String,
}

/// The errors of registration and login.
#[derive(ApiError, Debug)]
pub enum UserError {
    #[status(401, "wrong name or password")]
    WrongCredentials,
    #[status(409, "this name is taken", type = "name-taken")]
    NameTaken,
    #[status(transparent)]
    Password(#[from] PasswordError),
    #[status(transparent)]
    Token(#[from] IssueError),
    #[status(transparent)]
    Database(SqlError),
}

impl From<SqlError> for UserError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Taken { .. } => Self::NameTaken,
            error => Self::Database(error),
        }
    }
}

pub async fn register(
    db: State<Sqlite>,
    Body(new): Body<NewUser>,
) -> Result<Created<Account>, UserError> {
    let hash = hash_password_with_async(new.password, PasswordHasher::recommended()).await?;
    db.write(move |tx| {
        let sql = "INSERT INTO users (name, password_hash) VALUES (?, ?)";
        tx.execute(sql, [&new.name, &hash]).map_err(SqlError::from)?;
        Ok(Created::new(Account { name: new.name }))
    })
    .await
}

/// A hash that no password matches. It is verified if the name is unknown, so
/// the time of the response does not show which names exist.
const NO_USER: &str = "$pbkdf2-sha512$i=210000$qpyyinKS5U1zXrkpSXC4wA$\
    5g8O1f7ufyCLghSObzQVVOvhxf9NwAlwN5fw/6SU7gUm6++W6jF0Pclcd+GC/F7BrNFiAghHF8COLqunoKE5pg";

pub async fn log_in(
    db: State<Sqlite>,
    secret: State<Secret>,
    Body(Credentials { name, password }): Body<Credentials>,
) -> Result<Session, UserError> {
    let wanted = name.clone();
    let hash: Option<String> = db
        .read(move |tx| {
            let sql = "SELECT password_hash FROM users WHERE name = ?";
            Ok::<_, SqlError>(tx.query_row(sql, [wanted], |row| row.get(0)).optional()?)
        })
        .await?;
    let is_right = verify_password_async(password, hash.as_deref().unwrap_or(NO_USER)).await?;
    if hash.is_none() || !is_right {
        return Err(UserError::WrongCredentials);
    }
    let token = TokenIssuer::new().issue(json!({ "sub": name }), "1h", &*secret)?;
    Ok(Session { token })
}
