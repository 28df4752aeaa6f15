//! Accounts: signing up, logging in, and what owners and admins do with them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use stockade::auth::{IssueError, PasswordError, PasswordHasher, generate_jwt};
use stockade::middleware::{hash_password_with_async, verify_password_async};
use stockade::prelude::*;
use stockade::reply::Created;

use super::stock::{NoUser, Profile, Role, Shop};

pub async fn list_users(shop: State<Shop>) -> Json<Vec<Profile>> {
    let stock = shop.stock.read().await;
    Json(stock.users.values().map(|account| account.profile.clone()).collect())
}

/// The schema says more than the types: what does not follow it is a 400 that
/// names the field, and the handler never runs.
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
    #[status(409, "{0} has an account already")]
    Known(String),
    #[status(500, "the password could not be hashed")]
    Password(#[from] PasswordError),
}

/// Whoever signs up is a customer.
pub async fn sign_up(
    shop: State<Shop>,
    Body(new): Body<NewUser>,
) -> Result<Created<Profile>, SignUpError> {
    // A hash takes its time, so it is made before anything is locked.
    let password_hash = hash_password_with_async(new.password, hasher()).await?;
    let mut stock = shop.stock.write().await;
    if stock.users.values().any(|it| it.profile.email.eq_ignore_ascii_case(&new.email)) {
        return Err(SignUpError::Known(new.email));
    }
    let profile = stock.add_account(new.name, new.email, Role::Customer, password_hash);
    Ok(Created::new(profile))
}

#[derive(Deserialize, Schema)]
pub struct Login {
    pub email: String,
    #[schema(max_length = 200)]
    pub password: String,
}

#[derive(Serialize, Reply, Schema)]
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
}

pub async fn log_in(shop: State<Shop>, Body(login): Body<Login>) -> Result<Token, LoginError> {
    let found = {
        let stock = shop.stock.read().await;
        let account = stock.users.values().find(|account| account.profile.email == login.email);
        account.map(|account| (account.profile.clone(), account.password_hash.clone()))
    };
    // An unknown email takes as long as a wrong password.
    let (profile, stored) =
        found.map_or((None, DUMMY_HASH.into()), |(profile, stored)| (Some(profile), stored));
    let is_right = verify_password_async(&login.password, &stored).await?;
    let profile = profile.filter(|_| is_right).ok_or(LoginError::Wrong)?;
    if hasher().needs_rehash(&stored) {
        strengthen(&shop, profile.id, login.password, &stored).await?;
    }
    let claims = json!({ "sub": profile.id.to_string() });
    let token = generate_jwt(claims, HOUR, &shop.secret)?;
    Ok(Token { token })
}

/// The one place that says how passwords are hashed.
pub fn hasher() -> PasswordHasher {
    PasswordHasher::recommended()
}

/// Replaces a hash that is weak by the standards of today, as only a login can:
/// it knows the password.
async fn strengthen(
    shop: &Shop,
    id: u32,
    password: String,
    weak: &str,
) -> Result<(), PasswordError> {
    let strong = hash_password_with_async(password, hasher()).await?;
    let mut stock = shop.stock.write().await;
    // The password may have been changed meanwhile.
    if let Some(account) = stock.users.get_mut(&id).filter(|it| it.password_hash == weak) {
        account.password_hash = strong;
    }
    Ok(())
}

const HOUR: Duration = Duration::from_secs(3_600);

/// In the form and at the cost of a hash by [`hasher`], of no password.
const DUMMY_HASH: &str = concat!(
    "$pbkdf2-sha512$i=210000$AAAAAAAAAAAAAAAAAAAAAA$",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
);

/// `None` would be 204 and a missing user is 404, so this is a `Result`.
pub async fn show_user(shop: State<Shop>, Path(id): Path<u32>) -> Result<Profile, NoUser> {
    let stock = shop.stock.read().await;
    stock.users.get(&id).map(|account| account.profile.clone()).ok_or(NoUser(id))
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
) -> Result<Profile, NoUser> {
    let mut stock = shop.stock.write().await;
    let account = stock.users.get_mut(&id).ok_or(NoUser(id))?;
    account.profile.name = new.name;
    Ok(account.profile.clone())
}

#[derive(Deserialize, Schema)]
pub struct NewRole {
    pub role: Role,
}

/// It holds for the next request already.
pub async fn give_role(
    shop: State<Shop>,
    Path(id): Path<u32>,
    Body(new): Body<NewRole>,
) -> Result<Profile, NoUser> {
    let mut stock = shop.stock.write().await;
    let account = stock.users.get_mut(&id).ok_or(NoUser(id))?;
    account.profile.role = new.role;
    Ok(account.profile.clone())
}

/// Nothing is 204 No Content.
pub async fn delete_user(shop: State<Shop>, Path(id): Path<u32>) -> Result<(), NoUser> {
    let removed = shop.stock.write().await.users.remove(&id);
    removed.map(drop).ok_or(NoUser(id))
}
