//! Accounts: register, log in, the current user.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{OptionalExtension, Row, Transaction, params};
use serde::{Deserialize, Serialize};
use stockade::auth::{PasswordHasher, generate_jwt, generate_token};
use stockade::middleware::{hash_password_with_async, verify_password_async};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::validation::{Optional, Patch};

use crate::db::Db;
use crate::errors::{ConduitError, Result};

/// The user of a request, as handlers take it.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Viewer {
    pub id: i64,
}

/// The claims of a token, and so everything that is known of the user of a request.
#[derive(Debug, Deserialize)]
pub struct Claims {
    id: i64,
    session: String,
    exp: u64,
}

/// The time after which somebody has to log in again, in seconds: seven days.
const TOKEN_LIFETIME: u64 = 7 * 24 * 60 * 60;

/// The key that signs tokens. A new key ends all of them.
pub struct TokenKey(pub Secret);

impl TokenKey {
    /// Returns a token of an account that is valid for some seconds.
    fn sign(&self, account: &Account, seconds: u64) -> Result<String> {
        let claims = json!({ "id": account.id, "session": account.session });
        let lifetime = Duration::from_secs(seconds);
        Ok(generate_jwt(claims, lifetime, &self.0).map_err(ApiError::internal)?)
    }
}

/// Refuses a token whose session is over: its user has a new password, or is gone.
/// It runs after authentication.
pub async fn check_session(
    claims: Option<User<Claims>>,
    db: State<Db>,
    _req: &mut Request,
) -> Result<()> {
    let Some(User(Claims { id, session, .. })) = claims else { return Ok(()) };
    let current = move |tx: &Transaction<'_>| {
        let mut statement =
            tx.prepare_cached("SELECT 1 FROM users WHERE id = ? AND session = ?")?;
        Ok(statement.exists(params![id, session])?)
    };
    if db.read(current).await? { Ok(()) } else { Err(ConduitError::UnknownUser) }
}

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
    // Letters of other scripts look like these, and some signs like nothing at all:
    // nobody shall pass for somebody else.
    #[schema(required, trim, max_length = 50, pattern = "^[A-Za-z0-9]+([ ._-][A-Za-z0-9]+)*$")]
    username: String,
    #[schema(required, trim, kind = "email", max_length = 254)]
    email: String,
    #[schema(required, min_length = 8, max_length = 200)]
    password: String,
}

#[derive(Deserialize, Schema)]
pub struct UserChange {
    #[schema(
        trim,
        min_length = 1,
        max_length = 50,
        pattern = "^[A-Za-z0-9]+([ ._-][A-Za-z0-9]+)*$"
    )]
    username: Optional<String>,
    #[schema(trim, kind = "email", max_length = 254)]
    email: Optional<String>,
    #[schema(min_length = 8, max_length = 200)]
    password: Optional<String>,
    #[schema(max_length = 2_000)]
    bio: Patch<String>,
    // Pages show it as an image, and perhaps as a link: no `javascript:`, no quotes
    // that end an attribute, and no names in front of the host.
    #[schema(
        max_length = 2_000,
        pattern = r"^(https?://[A-Za-z0-9.:-]+([/?#][!#-&(-;=?-\[\]^_a-~]*)?)?$"
    )]
    image: Patch<String>,
}

/// A row of `users`.
struct Account {
    id: i64,
    password_hash: String,
    session: String,
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

#[derive(Serialize, Schema)]
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
        let (id, session) = (row.get("id")?, row.get("session")?);
        Ok(Self { id, password_hash: row.get("password_hash")?, session, user })
    }

    /// Returns the account with a token that is valid for some seconds.
    fn reply(self, key: &TokenKey, seconds: u64) -> Result<UserReply> {
        let token = key.sign(&self, seconds)?;
        Ok(UserReply { user: CurrentUser { token, ..self.user } })
    }
}

pub async fn register(
    db: State<Db>,
    key: State<TokenKey>,
    Body(UserBody { user: new }): Body<UserBody<NewUser>>,
) -> Result<Created<UserReply>> {
    let hash = hash_password_with_async(new.password, PasswordHasher::argon2id()).await?;
    let session = generate_token(16).map_err(ApiError::internal)?;
    let work = move |tx: &Transaction<'_>| {
        let sql = "INSERT INTO users (username, email, password_hash, session)
                   VALUES (?, ?, ?, ?) RETURNING *";
        Ok(tx.query_row(sql, [new.username, new.email, hash, session], Account::of)?)
    };
    Ok(Created::new(db.write(work).await?.reply(&key, TOKEN_LIFETIME)?))
}

/// The most passwords that are tried for an address in an hour, from wherever they
/// come. Who knows an address can use them up, and then nobody logs in with it for
/// an hour; tokens that are out remain valid.
const GUESSES: i64 = 100;

/// Counts a password that is tried for an address. It is counted before it is
/// verified, so that requests at the same time count too, and whoever has no
/// account is counted as everybody else.
fn count_guess(tx: &Transaction<'_>, email: &str) -> Result<()> {
    const HOUR: u64 = 60 * 60;
    let now = unix_time();
    let first = now.saturating_sub(HOUR - 1);
    // A time that is to come is that of a clock that was wrong.
    let own = "DELETE FROM guesses WHERE email = ? AND since NOT BETWEEN ? AND ?";
    tx.execute(own, params![email, first, now])?;
    // Of the others some go each time: an attack leaves more than one call can delete.
    let others = "DELETE FROM guesses WHERE email IN (
                      SELECT email FROM guesses WHERE since < ?
                      UNION ALL SELECT email FROM guesses WHERE since > ? LIMIT 100)";
    tx.execute(others, [first, now])?;
    let sql = "INSERT INTO guesses (email, tried, since) VALUES (?, 1, ?)
               ON CONFLICT DO UPDATE SET tried = tried + 1 RETURNING tried";
    let tried: i64 = tx.query_row(sql, params![email, now], |row| row.get(0))?;
    if tried <= GUESSES { Ok(()) } else { Err(ConduitError::Guesses) }
}

fn unix_time() -> u64 {
    // A clock before 1970 counts as 1970.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
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
    let account = {
        let email = email.clone();
        let work = move |tx: &Transaction<'_>| {
            count_guess(tx, &email)?;
            by_email(tx, &email)
        };
        db.write(work).await?
    };
    let stored = account.as_ref().map_or(NOBODY, |account| &account.password_hash);
    let is_right = verify_password_async(password, stored).await?;
    match account {
        Some(account) if is_right => {
            db.write(move |tx| Ok(tx.execute("DELETE FROM guesses WHERE email = ?", [email])?))
                .await?;
            account.reply(&key, TOKEN_LIFETIME)
        }
        _ => Err(ConduitError::Credentials),
    }
}

pub async fn show_current(
    db: State<Db>,
    key: State<TokenKey>,
    User(claims): User<Claims>,
) -> Result<UserReply> {
    // The token is a new one, and ends when the old one does: a stolen token cannot
    // be made to hold for ever.
    let seconds = claims.exp.saturating_sub(unix_time());
    db.read(move |tx| by_session(tx, &claims)).await?.reply(&key, seconds)
}

pub async fn update_current(
    db: State<Db>,
    key: State<TokenKey>,
    User(claims): User<Claims>,
    Body(UserBody { user: change }): Body<UserBody<UserChange>>,
) -> Result<UserReply> {
    let (mut new_hash, mut new_session) = (None, None);
    let mut seconds = claims.exp.saturating_sub(unix_time());
    if let Some(password) = change.password.value() {
        new_hash = Some(hash_password_with_async(password, PasswordHasher::argon2id()).await?);
        // All other tokens of the user are over.
        new_session = Some(generate_token(16).map_err(ApiError::internal)?);
        seconds = TOKEN_LIFETIME;
    }
    let work = move |tx: &Transaction<'_>| {
        let Account { mut password_hash, mut session, mut user, .. } = by_session(tx, &claims)?;
        change.username.apply(&mut user.username);
        change.email.apply(&mut user.email);
        change.bio.apply(&mut user.bio);
        change.image.apply(&mut user.image);
        Optional::from(new_hash).apply(&mut password_hash);
        Optional::from(new_session).apply(&mut session);
        // The API takes an empty text for no biography and no image.
        let sql = "UPDATE users SET username = ?, email = ?, password_hash = ?, session = ?,
                   bio = nullif(?, ''), image = nullif(?, '') WHERE id = ? RETURNING *";
        let CurrentUser { username, email, bio, image, .. } = user;
        let params = params![username, email, password_hash, session, bio, image, claims.id];
        Ok(tx.query_row(sql, params, Account::of)?)
    };
    db.write(work).await?.reply(&key, seconds)
}

/// Reads the account of a token, with its session once more: the body may have come
/// long after `check_session`, and the answer has a token of the session of now.
fn by_session(tx: &Transaction<'_>, claims: &Claims) -> Result<Account> {
    let mut statement = tx.prepare_cached("SELECT * FROM users WHERE id = ? AND session = ?")?;
    let account =
        statement.query_row(params![claims.id, claims.session], Account::of).optional()?;
    account.ok_or(ConduitError::UnknownUser)
}

fn by_email(tx: &Transaction<'_>, email: &str) -> Result<Option<Account>> {
    let mut statement = tx.prepare_cached("SELECT * FROM users WHERE email = ?")?;
    Ok(statement.query_row([email], Account::of).optional()?)
}
