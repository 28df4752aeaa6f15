//! Profiles of users, and following them.

use rusqlite::{OptionalExtension, Row, Transaction, named_params, params};
use serde::Serialize;
use stockade::prelude::*;

use crate::db::Db;
use crate::errors::{ConduitError, Result};
use crate::users::Viewer;

/// A user, as others see it.
#[derive(Debug, Serialize, Schema)]
pub struct Profile {
    username: String,
    bio: Option<String>,
    image: Option<String>,
    following: bool,
}

#[derive(Serialize, Schema)]
pub struct ProfileReply {
    profile: Profile,
}

impl Profile {
    /// Reads the columns `username`, `bio`, `image` and `following`.
    pub fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            username: row.get("username")?,
            bio: row.get("bio")?,
            image: row.get("image")?,
            following: row.get("following")?,
        })
    }
}

pub async fn show(
    db: State<Db>,
    viewer: Option<User<Viewer>>,
    Path(username): Path<String>,
) -> Result<ProfileReply> {
    let viewer = viewer.map(|User(viewer)| viewer);
    db.read(move |tx| find(tx, viewer, &username)).await
}

pub async fn follow(
    db: State<Db>,
    User(viewer): User<Viewer>,
    Path(username): Path<String>,
) -> Result<ProfileReply> {
    const SQL: &str = "INSERT INTO follows SELECT ?, id FROM users WHERE username = ?
                       ON CONFLICT DO NOTHING";
    db.write(move |tx| {
        tx.execute(SQL, params![viewer.id, username])?;
        find(tx, Some(viewer), &username)
    })
    .await
}

pub async fn unfollow(
    db: State<Db>,
    User(viewer): User<Viewer>,
    Path(username): Path<String>,
) -> Result<ProfileReply> {
    const SQL: &str = "DELETE FROM follows WHERE follower_id = ?
                       AND followed_id = (SELECT id FROM users WHERE username = ?)";
    db.write(move |tx| {
        tx.execute(SQL, params![viewer.id, username])?;
        find(tx, Some(viewer), &username)
    })
    .await
}

fn find(tx: &Transaction<'_>, viewer: Option<Viewer>, username: &str) -> Result<ProfileReply> {
    let mut statement = tx.prepare_cached(
        "SELECT username, bio, image, EXISTS (
             SELECT 1 FROM follows WHERE follower_id = :viewer AND followed_id = users.id
         ) AS following FROM users WHERE username = :username",
    )?;
    let viewer = viewer.map(|viewer| viewer.id);
    let params = named_params! { ":viewer": viewer, ":username": username };
    let profile = statement.query_row(params, Profile::of).optional()?;
    Ok(ProfileReply { profile: profile.ok_or(ConduitError::NotFound("profile"))? })
}
