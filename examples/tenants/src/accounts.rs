//! Accounts: sign-in, sign-out and passwords.

use serde::{Deserialize, Serialize};
use stockade::auth::{PasswordError, PasswordHasher};
use stockade::middleware::sessions::{Sessions, SetSession};
use stockade::middleware::{
    CurrentSession, hash_password_with_async, verify_password_async, with_cross_origin_protection,
};
use stockade::prelude::*;
use stockade::sql::Sqlite;
use stockade::sql::rusqlite::{OptionalExtension as _, params};

use crate::errors::TrackerError;

pub fn routes() -> RouteTree {
    routes! {
        "sign-in": {
            POST: {
                sign_in,
                docs: "Sign in",
                public: "people sign in here",
                rate_limit: 10 / MINUTE,
                middleware: with_cross_origin_protection(),
            },
        },
        "sign-out": { POST: { sign_out, docs: "Sign out on this device" } },
        "sign-out-everywhere": { POST: { sign_out_everywhere, docs: "Sign out on all devices" } },
        "me": {
            GET: { me, docs: "Show the own account" },
            "password": {
                PUT: { change_password, docs: "Change the own password", rate_limit: 10 / MINUTE },
            },
        },
    }
}

/// The data of a session.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Visit {
    pub tenant: String,
    pub role: String,
}

/// The authenticated user of a request: the data of the session, and its
/// subject.
#[derive(Deserialize)]
pub struct Member {
    /// The id of the member.
    pub sub: String,
    /// The company.
    pub tenant: String,
    pub role: String,
}

/// The hasher of passwords.
#[derive(Clone)]
pub struct Passwords {
    pub hasher: PasswordHasher,
    /// A hash for unknown email addresses. They take as long as known ones, so
    /// the time of the response does not show which addresses exist.
    of_nobody: String,
}

impl Passwords {
    pub fn new(hasher: PasswordHasher) -> Result<Self, PasswordError> {
        Ok(Self { of_nobody: hasher.hash("")?, hasher })
    }

    pub async fn hash(&self, password: String) -> Result<String, PasswordError> {
        hash_password_with_async(password, self.hasher).await
    }
}

/// The body of a sign-in.
#[derive(Deserialize, Schema)]
pub struct SignIn {
    #[schema(kind = "email", max_length = 254)]
    pub email: String,
    #[schema(max_length = 200)]
    pub password: String,
}

/// The body of a new password.
#[derive(Deserialize, Schema)]
pub struct NewPassword {
    #[schema(max_length = 200)]
    pub current: String,
    #[schema(min_length = 8, max_length = 200)]
    pub password: String,
}

/// An account.
#[derive(Serialize, Schema)]
pub struct Account {
    pub id: i64,
    pub tenant: String,
    pub role: String,
}

/// A row of a member with the hash of the password.
struct Known {
    account: Account,
    hash: String,
}

impl Known {
    /// Finds a member by a column with unique values.
    async fn find(
        db: &Sqlite,
        column: &'static str,
        value: String,
    ) -> Result<Option<Self>, TrackerError> {
        db.read(move |tx| {
            let sql =
                format!("SELECT id, tenant, role, password_hash FROM members WHERE {column} = ?");
            let known = tx.query_row(&sql, [value], |row| {
                let account = Account { id: row.get(0)?, tenant: row.get(1)?, role: row.get(2)? };
                Ok(Self { account, hash: row.get(3)? })
            });
            Ok(known.optional()?)
        })
        .await
    }
}

pub async fn sign_in(
    db: State<Sqlite>,
    sessions: State<Sessions<Visit>>,
    State(passwords): State<Passwords>,
    Body(form): Body<SignIn>,
) -> Result<(SetSession, Account), TrackerError> {
    let known = Known::find(&db, "email", form.email).await?;
    let hash = known.as_ref().map_or(&passwords.of_nobody, |known| &known.hash);
    let is_right = verify_password_async(form.password, hash).await?;
    let account = known.filter(|_| is_right).ok_or(TrackerError::WrongPassword)?.account;
    let visit = Visit { tenant: account.tenant.clone(), role: account.role.clone() };
    // Each sign-in has a new session: others may know an earlier id.
    Ok((sessions.begin(Some(&account.id.to_string()), &visit).await?, account))
}

pub async fn sign_out(
    sessions: State<Sessions<Visit>>,
    CurrentSession(id): CurrentSession,
) -> Result<(SetSession, ()), ApiError> {
    Ok((sessions.end(&id).await?, ()))
}

pub async fn sign_out_everywhere(
    sessions: State<Sessions<Visit>>,
    User(me): User<Member>,
) -> Result<(), ApiError> {
    sessions.end_all(&me.sub).await?;
    Ok(())
}

pub async fn me(db: State<Sqlite>, User(me): User<Member>) -> Result<Account, TrackerError> {
    let known = Known::find(&db, "id", me.sub).await?;
    Ok(known.ok_or(TrackerError::Unknown("member"))?.account)
}

pub async fn change_password(
    db: State<Sqlite>,
    sessions: State<Sessions<Visit>>,
    State(passwords): State<Passwords>,
    User(me): User<Member>,
    Body(form): Body<NewPassword>,
) -> Result<(SetSession, ()), TrackerError> {
    let known = Known::find(&db, "id", me.sub.clone()).await?;
    let known = known.ok_or(TrackerError::Unknown("member"))?;
    if !verify_password_async(form.current, known.hash).await? {
        return Err(TrackerError::WrongPassword);
    }
    let hash = passwords.hash(form.password).await?;
    db.write(move |tx| {
        let sql = "UPDATE members SET password_hash = ? WHERE id = ?";
        Ok::<_, TrackerError>(tx.execute(sql, params![hash, known.account.id])?)
    })
    .await?;
    // The other devices sign in again.
    sessions.end_all(&me.sub).await?;
    let visit = Visit { tenant: me.tenant, role: me.role };
    Ok((sessions.begin(Some(&me.sub), &visit).await?, ()))
}
