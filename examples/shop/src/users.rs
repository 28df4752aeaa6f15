//! Accounts: registration, login, and changes by owners and admins.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use stockade::auth::{IssueError, PasswordError, PasswordHasher, generate_jwt};
use stockade::middleware::{hash_password_with_async, verify_password_async};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::rest::{NewRow, RowFilter, Store as _, StoreError, VersionCheck};

use crate::stock::{Account, NoData, Profile, Role, Shop, UserError, all};

pub async fn list_users(shop: State<Shop>) -> Result<Json<Vec<Profile>>, NoData> {
    let users = all(&shop.users, Vec::new(), |user| user.id).await?;
    Ok(Json(users.into_iter().map(Profile::from).collect()))
}

/// The schema is stricter than the types. Invalid input gets a 400.
#[derive(Deserialize, Schema)]
pub struct NewUser {
    #[schema(trim, required, max_length = 100)]
    pub name: String,
    #[schema(kind = "email")]
    pub email: String,
    #[schema(min_length = 8, max_length = 200)]
    pub password: String,
}

#[derive(Debug, ApiError)]
pub enum SignUpError {
    #[status(409, "{0} already has an account")]
    Known(String),
    #[status(500, "the password could not be hashed")]
    Password(#[from] PasswordError),
    #[status(503, "the shop cannot access its data")]
    NoData(StoreError),
}

/// New accounts are customers.
pub async fn sign_up(
    shop: State<Shop>,
    Body(new): Body<NewUser>,
) -> Result<Created<Profile>, SignUpError> {
    let hash = hash_password_with_async(new.password, hasher()).await?;
    // No lookup is needed first, because email addresses are unique in the
    // table.
    match shop.add_account(&new.name, &new.email, Role::Customer, &hash).await {
        Ok(account) => Ok(Created::new(account.into())),
        Err(StoreError::Taken { .. }) => Err(SignUpError::Known(new.email)),
        Err(error) => Err(SignUpError::NoData(error)),
    }
}

#[derive(Deserialize, Schema)]
pub struct Login {
    pub email: String,
    #[schema(max_length = 200)]
    pub password: String,
}

#[derive(Serialize, Schema)]
pub struct Token {
    pub token: String,
}

#[derive(Debug, ApiError)]
pub enum LoginError {
    #[status(401, "the email or the password is wrong")]
    Wrong,
    #[status(500, "the password could not be checked")]
    Password(#[from] PasswordError),
    #[status(500, "the token could not be signed")]
    Token(#[from] IssueError),
    #[status(503, "the shop cannot access its data")]
    NoData(#[from] StoreError),
}

pub async fn log_in(shop: State<Shop>, Body(login): Body<Login>) -> Result<Token, LoginError> {
    let found = shop.find_account(&login.email).await?;
    // An unknown email address takes as long as a wrong password.
    let stored = found.as_ref().map_or(DUMMY_HASH, |account| &account.password_hash);
    let is_right = verify_password_async(&login.password, stored).await?;
    let account = found.filter(|_| is_right).ok_or(LoginError::Wrong)?;
    if hasher().needs_rehash(&account.password_hash) {
        strengthen(&shop, &account, login.password).await?;
    }
    let claims = json!({ "sub": account.id.to_string() });
    let token = generate_jwt(claims, HOUR, &shop.secret)?;
    Ok(Token { token })
}

/// Returns the only hasher for passwords.
pub fn hasher() -> PasswordHasher {
    PasswordHasher::recommended()
}

/// Replaces a weak hash. Only a login can do this, because it has the password.
async fn strengthen(shop: &Shop, account: &Account, password: String) -> Result<(), LoginError> {
    let strong = hash_password_with_async(password, hasher()).await?;
    // The password may have changed in the meantime, so only the weak hash is
    // replaced.
    let weak = RowFilter::eq("password_hash", &*account.password_hash);
    let strong = NewRow::new([("password_hash", json!(strong))]);
    match shop.users.replace(&account.id, strong, VersionCheck::Any, &weak).await {
        Ok(_) | Err(StoreError::Missing) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

const HOUR: Duration = Duration::from_secs(3_600);

/// A hash that matches no password, with the format and the cost of [`hasher`].
const DUMMY_HASH: &str = concat!(
    "$pbkdf2-sha512$i=210000$AAAAAAAAAAAAAAAAAAAAAA$",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
);

/// Returns a profile. `None` would be a 204, but a missing user is a 404, so
/// this is a `Result`.
pub async fn show_user(shop: State<Shop>, Path(id): Path<u32>) -> Result<Profile, UserError> {
    let account = shop.users.get(&id, &RowFilter::all()).await?;
    Ok(account.ok_or(UserError::Missing(id))?.value.into())
}

#[derive(Deserialize, Schema)]
pub struct NewName {
    #[schema(trim, required, max_length = 100)]
    pub name: String,
}

pub async fn rename_user(
    shop: State<Shop>,
    Path(id): Path<u32>,
    Body(new): Body<NewName>,
) -> Result<Profile, UserError> {
    change(&shop, id, NewRow::new([("name", json!(new.name))])).await
}

#[derive(Deserialize, Schema)]
pub struct NewRole {
    pub role: Role,
}

/// Sets a role, which already applies to the next request.
pub async fn give_role(
    shop: State<Shop>,
    Path(id): Path<u32>,
    Body(new): Body<NewRole>,
) -> Result<Profile, UserError> {
    change(&shop, id, NewRow::new([("role", json!(new.role))])).await
}

/// Writes only the fields of the draft, so concurrent changes do not overwrite
/// each other.
async fn change(shop: &Shop, id: u32, draft: NewRow<Account>) -> Result<Profile, UserError> {
    match shop.users.replace(&id, draft, VersionCheck::Any, &RowFilter::all()).await {
        Err(StoreError::Missing) => Err(UserError::Missing(id)),
        changed => Ok(changed?.value.into()),
    }
}

/// Deletes an account. `()` becomes 204 No Content.
pub async fn delete_user(shop: State<Shop>, Path(id): Path<u32>) -> Result<(), UserError> {
    match shop.users.delete(&id, VersionCheck::Any, &RowFilter::all()).await {
        Err(StoreError::Missing) => Err(UserError::Missing(id)),
        outcome => Ok(outcome?),
    }
}
