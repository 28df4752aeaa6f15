//! Profiles of users, and following them.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::sql::rusqlite::{Connection, params};

use crate::db::{Db, read_json};
use crate::errors::{ConduitError, Result};
use crate::users::Viewer;

/// A user, as others see it.
#[derive(Debug, Deserialize, Serialize, Schema)]
pub struct Profile {
    username: String,
    bio: Option<String>,
    image: Option<String>,
    following: bool,
}

#[derive(Deserialize, Serialize, Schema)]
pub struct ProfileReply {
    profile: Profile,
}

/// The JSON of the user `u` as a [`Profile`]. `?1` is the id of the viewer.
pub const PROFILE: &str = "json_object('username', u.username, 'bio', u.bio, 'image', u.image,
    'following', json(iif(EXISTS (SELECT 1 FROM follows
        WHERE follower_id = ?1 AND followed_id = u.id), 'true', 'false')))";

pub async fn show(
    db: Db,
    viewer: Option<User<Viewer>>,
    Path(username): Path<String>,
) -> Result<ProfileReply> {
    db.read(move |tx| find(tx, viewer.map(|User(viewer)| viewer.id), &username)).await
}

pub async fn follow(
    db: Db,
    User(viewer): User<Viewer>,
    Path(username): Path<String>,
) -> Result<ProfileReply> {
    let sql = "INSERT INTO follows SELECT ?, id FROM users WHERE username = ?
               ON CONFLICT DO NOTHING";
    db.write(move |tx| change(tx, sql, viewer.id, &username)).await
}

pub async fn unfollow(
    db: Db,
    User(viewer): User<Viewer>,
    Path(username): Path<String>,
) -> Result<ProfileReply> {
    let sql = "DELETE FROM follows WHERE follower_id = ?
               AND followed_id = (SELECT id FROM users WHERE username = ?)";
    db.write(move |tx| change(tx, sql, viewer.id, &username)).await
}

/// Runs a statement about the viewer and a user, and returns the profile of the user.
fn change(tx: &Connection, sql: &str, viewer: i64, username: &str) -> Result<ProfileReply> {
    tx.execute(sql, params![viewer, username])?;
    find(tx, Some(viewer), username)
}

fn find(tx: &Connection, viewer: Option<i64>, username: &str) -> Result<ProfileReply> {
    let sql = format!("SELECT json_object('profile', {PROFILE}) FROM users u WHERE username = ?2");
    read_json(tx, &sql, params![viewer, username])?.ok_or(ConduitError::NotFound("profile"))
}
