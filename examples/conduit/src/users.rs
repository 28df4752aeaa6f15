//! Accounts: register, log in, the current user.

use rusqlite::{OptionalExtension, Row, ToSql, Transaction, params};
use serde::{Deserialize, Serialize};
use stockade::auth::{PasswordHasher, generate_jwt};
use stockade::middleware::{hash_password_with_async, verify_password_async};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::validation::{Optional, Patch};

use crate::db::Db;
use crate::errors::{ConduitError, Result};

/// The claims of a token, and so the user of a request.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Viewer {
    pub id: i64,
}

/// The key that signs tokens. A token holds for seven days, also where the
/// password changes: the API has no logout, and a token is judged without the
/// database. A new key ends all of them.
pub struct TokenKey(pub Secret);

/// The object that requests about users have around their fields.
#[derive(Deserialize, Schema)]
pub struct UserBody<T> {
    user: T,
}

#[derive(Deserialize, Schema)]
pub struct Credentials {
    #[schema(required, trim, max_length = 254)]
    email: String,
    #[schema(required, max_length = 200)]
    password: String,
}

#[derive(Deserialize, Schema)]
pub struct NewUser {
    #[schema(required, trim, max_length = 50, pattern = r"^[^\x00-\x1F\x7F]*$")]
    username: String,
    #[schema(required, trim, kind = "email", max_length = 254)]
    email: String,
    #[schema(required, min_length = 8, max_length = 200)]
    password: String,
}

#[derive(Deserialize, Schema)]
pub struct UserChange {
    #[schema(trim, min_length = 1, max_length = 50, pattern = r"^[^\x00-\x1F\x7F]*$")]
    username: Optional<String>,
    #[schema(trim, kind = "email", max_length = 254)]
    email: Optional<String>,
    #[schema(min_length = 8, max_length = 200)]
    password: Optional<String>,
    #[schema(max_length = 2_000)]
    bio: Patch<String>,
    // Pages show it as an image, and perhaps as a link: no `javascript:`.
    #[schema(max_length = 2_000, pattern = r"^(https?://[^\s]+)?$")]
    image: Patch<String>,
}

/// A row of `users`.
struct Account {
    id: i64,
    password_hash: String,
    user: CurrentUser,
}

#[derive(Serialize, Schema)]
struct CurrentUser {
    email: String,
    /// Put in when the account is sent.
    token: String,
    username: String,
    bio: Option<String>,
    image: Option<String>,
}

#[derive(Reply, Serialize, Schema)]
pub struct UserReply {
    user: CurrentUser,
}

impl Account {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let user = CurrentUser {
            email: row.get("email")?,
            token: String::new(),
            username: row.get("username")?,
            bio: row.get("bio")?,
            image: row.get("image")?,
        };
        Ok(Self { id: row.get("id")?, password_hash: row.get("password_hash")?, user })
    }

    fn reply(self, key: &TokenKey) -> Result<UserReply> {
        let token =
            generate_jwt(Viewer { id: self.id }, "7d", &key.0).map_err(ApiError::internal)?;
        Ok(UserReply { user: CurrentUser { token, ..self.user } })
    }
}

pub async fn register(
    db: State<Db>,
    key: State<TokenKey>,
    Body(UserBody { user: new }): Body<UserBody<NewUser>>,
) -> Result<Created<UserReply>> {
    let hash = hash_password_with_async(new.password, PasswordHasher::argon2id()).await?;
    let work = move |tx: &Transaction<'_>| {
        let sql = "INSERT INTO users (username, email, password_hash) VALUES (?, ?, ?) RETURNING *";
        Ok(tx.query_row(sql, [new.username, new.email, hash], Account::of)?)
    };
    Ok(Created::new(db.write(work).await?.reply(&key)?))
}

/// A hash to verify where nobody has the email: the answer takes as long as that
/// to a wrong password, so that nobody finds out by it who has an account.
pub const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$qA0G92YTc4fVhLUGLjjQEg$\
                          9TT8f1tqoTzKmnw7ykERZeXypjdYUCEzFi+FOp9C0Us";

pub async fn log_in(
    db: State<Db>,
    key: State<TokenKey>,
    Body(UserBody { user: Credentials { email, password } }): Body<UserBody<Credentials>>,
) -> Result<UserReply> {
    let account = db.read(move |tx| find(tx, "email", &email)).await?;
    let stored = account.as_ref().map_or(NOBODY, |account| &account.password_hash);
    let is_right = verify_password_async(password, stored).await?;
    match account {
        Some(account) if is_right => account.reply(&key),
        _ => Err(ConduitError::Credentials),
    }
}

pub async fn show_current(
    db: State<Db>,
    key: State<TokenKey>,
    User(viewer): User<Viewer>,
) -> Result<UserReply> {
    db.read(move |tx| by_id(tx, viewer)).await?.reply(&key)
}

pub async fn update_current(
    db: State<Db>,
    key: State<TokenKey>,
    User(viewer): User<Viewer>,
    Body(UserBody { user: change }): Body<UserBody<UserChange>>,
) -> Result<UserReply> {
    let new_hash = match change.password.value() {
        Some(password) => {
            Some(hash_password_with_async(password, PasswordHasher::argon2id()).await?)
        }
        None => None,
    };
    let work = move |tx: &Transaction<'_>| {
        let Account { mut password_hash, mut user, .. } = by_id(tx, viewer)?;
        change.username.apply(&mut user.username);
        change.email.apply(&mut user.email);
        change.bio.apply(&mut user.bio);
        change.image.apply(&mut user.image);
        Optional::from(new_hash).apply(&mut password_hash);
        // The API takes an empty text for no biography and no image.
        let sql = "UPDATE users SET username = ?, email = ?, password_hash = ?,
                   bio = nullif(?, ''), image = nullif(?, '') WHERE id = ? RETURNING *";
        let CurrentUser { username, email, bio, image, .. } = user;
        let params = params![username, email, password_hash, bio, image, viewer.id];
        Ok(tx.query_row(sql, params, Account::of)?)
    };
    db.write(work).await?.reply(&key)
}

fn by_id(tx: &Transaction<'_>, viewer: Viewer) -> Result<Account> {
    // The token outlived its user.
    find(tx, "id", viewer.id)?.ok_or(ConduitError::UnknownUser)
}

fn find(tx: &Transaction<'_>, column: &str, value: impl ToSql) -> Result<Option<Account>> {
    let sql = format!("SELECT * FROM users WHERE {column} = ?");
    Ok(tx.prepare_cached(&sql)?.query_row([value], Account::of).optional()?)
}
