//! Comments on articles.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::rusqlite::{Connection, OptionalExtension as _, params};

use crate::articles::{authored, ids};
use crate::db::{Db, read_json};
use crate::errors::{ConduitError, Result};
use crate::profiles::{PROFILE, Profile};
use crate::users::Viewer;

/// The object around a comment in requests and responses.
#[derive(Deserialize, Serialize, Schema)]
pub struct CommentBody<T> {
    comment: T,
}

#[derive(Deserialize, Schema)]
pub struct NewComment {
    #[schema(required, trim, max_length = 4_000)]
    body: String,
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    id: i64,
    created_at: String,
    updated_at: String,
    body: String,
    author: Profile,
}

#[derive(Deserialize, Serialize, Schema)]
pub struct Comments {
    #[schema(max_items = 100)]
    comments: Vec<Comment>,
}

#[derive(Deserialize, Schema)]
pub struct Page {
    /// Only comments older than this one.
    #[schema(minimum = 1)]
    before: Option<i64>,
}

pub async fn list(
    db: Db,
    viewer: Option<User<Viewer>>,
    Path(slug): Path<String>,
    Query(page): Query<Page>,
) -> Result<Comments> {
    db.read(move |tx| {
        let (article, _) = ids(tx, &slug)?;
        let last = page.before.map_or(i64::MAX, |before| before - 1);
        read(tx, viewer.map(|User(viewer)| viewer.id), article, 0, last)
    })
    .await
}

pub async fn create(
    db: Db,
    User(viewer): User<Viewer>,
    Path(slug): Path<String>,
    Body(CommentBody { comment: new }): Body<CommentBody<NewComment>>,
) -> Result<Created<CommentBody<Comment>>> {
    db.write(move |tx| {
        let (article, _) = ids(tx, &slug)?;
        let sql = "INSERT INTO comments (article_id, author_id, body) VALUES (?, ?, ?)";
        tx.execute(sql, params![article, viewer.id, new.body])?;
        let id = tx.last_insert_rowid();
        let comment = read(tx, Some(viewer.id), article, id, id)?.comments.pop();
        let comment = comment.ok_or(ConduitError::NotFound("comment"))?;
        Ok(Created::new(CommentBody { comment }))
    })
    .await
}

pub async fn delete(
    db: Db,
    User(viewer): User<Viewer>,
    Path((slug, id)): Path<(String, i64)>,
) -> Result<()> {
    db.write(move |tx| {
        let (article, _) = ids(tx, &slug)?;
        let sql = "DELETE FROM comments WHERE article_id = ? AND id = ? RETURNING author_id";
        let author = tx.query_row(sql, [article, id], |row| row.get(0)).optional()?;
        // An error rolls the deletion back.
        authored("comment", author, &viewer)
    })
    .await
}

/// Reads up to 100 comments of an article, with ids from `first` to `last`, newest first.
fn read(
    tx: &Connection,
    viewer: Option<i64>,
    article: i64,
    first: i64,
    last: i64,
) -> Result<Comments> {
    let sql = format!(
        "SELECT json_object('comments', json_group_array(json_object('id', c.id,
             'createdAt', c.created_at, 'updatedAt', c.updated_at, 'body', c.body,
             'author', {PROFILE}) ORDER BY c.id DESC))
         FROM (SELECT * FROM comments WHERE article_id = ?2 AND id BETWEEN ?3 AND ?4
             ORDER BY id DESC LIMIT 100) c JOIN users u ON u.id = c.author_id"
    );
    let comments = read_json(tx, &sql, params![viewer, article, first, last])?;
    comments.ok_or(ConduitError::NotFound("article"))
}
