//! Accounts: registration, login, the current user.

use serde::{Deserialize, Serialize};
use stockade::auth::{PasswordHasher, generate_jwt, generate_token, verify_token_as};
use stockade::middleware::{hash_password_with_async, verify_password_async};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::rusqlite::{Connection, OptionalExtension as _, named_params, params};
use stockade::validation::{Optional, Patch};

use crate::db::{Db, read_json};
use crate::errors::{ConduitError, Result};

/// The authenticated user of a request: the claims of the token, and the token itself.
#[derive(Clone, Deserialize, Serialize)]
pub struct Viewer {
    pub id: i64,
    session: String,
    #[serde(default)]
    token: String,
}

/// The lifetime of a token. Users log in again after it.
const LIFETIME: &str = "7d";

impl Viewer {
    /// Signs a new token. `key` is the state of the router; a new key ends all tokens.
    fn new(id: i64, session: String, key: &Secret) -> Result<Self> {
        let claims = json!({ "id": id, "session": session });
        let token = generate_jwt(claims, LIFETIME, key).map_err(ApiError::internal)?;
        Ok(Self { id, session, token })
    }
}

/// Finds the user of a token. An error, unlike `None`, also ends requests that need no user.
pub async fn authenticate(token: String, key: State<Secret>, db: Db) -> Result<Option<Viewer>> {
    let Some(viewer) = verify_token_as::<Viewer>(&token, &*key) else { return Ok(None) };
    let viewer = Viewer { token, ..viewer };
    db.read(move |tx| current(tx, &viewer).map(|_| Some(viewer))).await
}

/// The object around a user in requests and responses.
#[derive(Deserialize, Serialize, Schema)]
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

/// A user name. Only ASCII, because letters of other scripts can look the same, and some
/// characters are invisible: nobody can impersonate another user.
const NAME: &str = "^[A-Za-z0-9]+([ ._-][A-Za-z0-9]+)*$";

#[derive(Deserialize, Schema)]
pub struct NewUser {
    #[schema(required, trim, max_length = 50, pattern = NAME)]
    username: String,
    #[schema(required, trim, kind = "email", max_length = 254)]
    email: String,
    #[schema(required, min_length = 8, max_length = 200)]
    password: String,
}

/// The address of an image, or nothing. Pages show it as an image and perhaps as a link: no
/// `javascript:`, no quotes that end an attribute, and no user before the host.
const IMAGE: &str = r"^(https?://[A-Za-z0-9.:-]+([/?#][!#-&(-;=?-\[\]^_a-~]*)?)?$";

#[derive(Deserialize, Schema)]
pub struct UserChange {
    #[schema(trim, min_length = 1, max_length = 50, pattern = NAME)]
    username: Optional<String>,
    #[schema(trim, kind = "email", max_length = 254)]
    email: Optional<String>,
    #[schema(min_length = 8, max_length = 200)]
    password: Optional<String>,
    #[schema(max_length = 2_000)]
    bio: Patch<String>,
    #[schema(max_length = 2_000, pattern = IMAGE)]
    image: Patch<String>,
}

#[derive(Deserialize, Serialize, Schema)]
pub struct CurrentUser {
    email: String,
    token: String,
    username: String,
    bio: Option<String>,
    image: Option<String>,
}

/// Reads the account of a token. The session ends with a new password, or with the account.
fn current(tx: &Connection, viewer: &Viewer) -> Result<UserBody<CurrentUser>> {
    let sql = "SELECT json_object('user', json_object('email', email, 'token', ?3,
                   'username', username, 'bio', bio, 'image', image))
               FROM users WHERE id = ?1 AND session = ?2";
    let params = params![viewer.id, viewer.session, viewer.token];
    read_json(tx, sql, params)?.ok_or(ConduitError::Ended("token"))
}

pub async fn register(
    db: Db,
    key: State<Secret>,
    Body(UserBody { user: new }): Body<UserBody<NewUser>>,
) -> Result<Created<UserBody<CurrentUser>>> {
    let hash = hash_password_with_async(new.password, PasswordHasher::argon2id()).await?;
    let session = generate_token(16).map_err(ApiError::internal)?;
    db.write(move |tx| {
        let sql = "INSERT INTO users (username, email, password_hash, session) VALUES (?, ?, ?, ?)";
        tx.execute(sql, params![new.username, new.email, hash, session])?;
        let viewer = Viewer::new(tx.last_insert_rowid(), session, &key)?;
        Ok(Created::new(current(tx, &viewer)?))
    })
    .await
}

/// The maximum number of passwords that are tried for an email address in an hour, by all
/// clients together. Anybody who knows the address can use them up, and then nobody can log
/// in with it for an hour; existing tokens stay valid.
const GUESSES: i64 = 100;

/// Counts a password for an email address. It counts before the password is verified, so
/// simultaneous requests count too, and so do addresses without an account.
fn count_guess(tx: &Connection, email: &str) -> Result<()> {
    // A time in the future is left by a wrong clock.
    let count = "INSERT INTO guesses (email, tried, since) VALUES (?, 1, unixepoch())
                 ON CONFLICT DO UPDATE SET (tried, since) = (
                     SELECT tried + 1, since WHERE since BETWEEN unixepoch() - 3599 AND unixepoch()
                     UNION ALL SELECT 1, unixepoch() LIMIT 1) RETURNING tried";
    let tried: i64 = tx.query_row(count, [email], |row| row.get(0))?;
    // Only some of them: an attack leaves more rows than one write can delete in its time.
    let forget = "DELETE FROM guesses WHERE email IN (SELECT email FROM guesses
                      WHERE since < unixepoch() - 3599 OR since > unixepoch() LIMIT 100)";
    tx.execute(forget, [])?;
    if tried <= GUESSES { Ok(()) } else { Err(ConduitError::Guessed("credentials")) }
}

/// A hash to verify if no account has the email address: the response takes as long as the
/// response to a wrong password, so it does not show who has an account.
pub const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$qA0G92YTc4fVhLUGLjjQEg$\
                          9TT8f1tqoTzKmnw7ykERZeXypjdYUCEzFi+FOp9C0Us";

pub async fn log_in(
    db: Db,
    key: State<Secret>,
    Body(UserBody { user: Credentials { email, password } }): Body<UserBody<Credentials>>,
) -> Result<UserBody<CurrentUser>> {
    let address = email.clone();
    let account = db.write(move |tx| {
        count_guess(tx, &address)?;
        let sql = "SELECT id, session, password_hash FROM users WHERE email = ?";
        Ok::<_, ConduitError>(tx.query_row(sql, [address], |row| row.try_into()).optional()?)
    });
    let account: Option<(i64, String, String)> = account.await?;
    let hash = account.as_ref().map_or(NOBODY, |(_, _, hash)| hash);
    let is_right = verify_password_async(password, hash).await?;
    let account = account.filter(|_| is_right);
    let (id, session, _) = account.ok_or(ConduitError::Wrong("credentials"))?;
    let viewer = Viewer::new(id, session, &key)?;
    db.write(move |tx| {
        tx.execute("DELETE FROM guesses WHERE email = ?", [email])?;
        current(tx, &viewer)
    })
    .await
}

pub async fn show_current(db: Db, User(viewer): User<Viewer>) -> Result<UserBody<CurrentUser>> {
    // The response contains the token of the request, so a stolen token cannot
    // be renewed forever.
    db.read(move |tx| current(tx, &viewer)).await
}

pub async fn update_current(
    db: Db,
    key: State<Secret>,
    User(old): User<Viewer>,
    Body(UserBody { user: change }): Body<UserBody<UserChange>>,
) -> Result<UserBody<CurrentUser>> {
    let (mut hash, mut viewer) = (None, old.clone());
    if let Some(password) = change.password.into_option() {
        hash = Some(hash_password_with_async(password, PasswordHasher::argon2id()).await?);
        // A new session ends all other tokens of the user.
        viewer = Viewer::new(old.id, generate_token(16).map_err(ApiError::internal)?, &key)?;
    }
    // The API accepts an empty text for no biography and no image.
    let text = |field: Patch<String>| field.into_option().map(Option::unwrap_or_default);
    let (bio, image) = (text(change.bio), text(change.image));
    db.write(move |tx| {
        // The session may have ended since the request was authenticated.
        current(tx, &old)?;
        let sql = "UPDATE users SET username = ifnull(:username, username),
                       email = ifnull(:email, email), session = :session,
                       password_hash = ifnull(:hash, password_hash),
                       bio = nullif(ifnull(:bio, bio), ''),
                       image = nullif(ifnull(:image, image), '') WHERE id = :id";
        let params = named_params! {
            ":username": change.username.value(), ":email": change.email.value(), ":hash": hash,
            ":session": viewer.session, ":bio": bio, ":image": image, ":id": viewer.id,
        };
        tx.execute(sql, params)?;
        current(tx, &viewer)
    })
    .await
}
