//! Comments on articles.

use rusqlite::{OptionalExtension, Row, Transaction, named_params, params};
use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::reply::Created;

use crate::articles::store::ids;
use crate::db::Db;
use crate::errors::{ConduitError, Result};
use crate::profiles::Profile;
use crate::users::Viewer;

#[derive(Deserialize, Schema)]
pub struct NewComment {
    comment: CommentText,
}

#[derive(Deserialize, Schema)]
struct CommentText {
    #[schema(required, trim, max_length = 4_000)]
    body: String,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Comment {
    id: i64,
    created_at: String,
    updated_at: String,
    body: String,
    author: Profile,
}

#[derive(Serialize, Schema)]
pub struct CommentReply {
    comment: Comment,
}

#[derive(Serialize, Schema)]
pub struct Comments {
    #[schema(max_items = 100)]
    comments: Vec<Comment>,
}

impl Comment {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
            body: row.get("body")?,
            author: Profile::of(row)?,
        })
    }
}

/// The page of comments that is wanted.
#[derive(Deserialize, Schema)]
pub struct Page {
    /// The comments are older than this one.
    #[schema(minimum = 1)]
    before: Option<i64>,
}

/// Reads comments of an article with their authors: one of them, or a page. Who
/// asks for none, as the API does, gets the newest.
const SELECT: &str = "
    SELECT c.id, c.created_at, c.updated_at, c.body, u.username, u.bio, u.image, EXISTS (
        SELECT 1 FROM follows WHERE follower_id = :viewer AND followed_id = u.id
    ) AS following
    FROM comments c JOIN users u ON u.id = c.author_id
    WHERE c.article_id = :article AND c.id BETWEEN :first AND :last
    ORDER BY c.id DESC LIMIT 100";

pub async fn list(
    db: State<Db>,
    viewer: Option<User<Viewer>>,
    Path(slug): Path<String>,
    Query(page): Query<Page>,
) -> Result<Comments> {
    let viewer = viewer.map(|User(viewer)| viewer.id);
    let work = move |tx: &Transaction<'_>| {
        let (article, _) = ids(tx, &slug)?;
        let mut statement = tx.prepare_cached(SELECT)?;
        let last = page.before.map_or(i64::MAX, |before| before - 1);
        let params = named_params! {
            ":viewer": viewer, ":article": article, ":first": 0, ":last": last,
        };
        let comments = statement.query_map(params, Comment::of)?.collect::<Result<_, _>>()?;
        Ok(Comments { comments })
    };
    db.read(work).await
}

pub async fn create(
    db: State<Db>,
    User(viewer): User<Viewer>,
    Path(slug): Path<String>,
    Body(new): Body<NewComment>,
) -> Result<Created<CommentReply>> {
    let work = move |tx: &Transaction<'_>| {
        let (article, _) = ids(tx, &slug)?;
        tx.execute(
            "INSERT INTO comments (article_id, author_id, body) VALUES (?, ?, ?)",
            params![article, viewer.id, new.comment.body],
        )?;
        let id = tx.last_insert_rowid();
        let params = named_params! {
            ":viewer": viewer.id, ":article": article, ":first": id, ":last": id,
        };
        let comment = tx.prepare_cached(SELECT)?.query_row(params, Comment::of)?;
        Ok(Created::new(CommentReply { comment }))
    };
    db.write(work).await
}

pub async fn delete(
    db: State<Db>,
    User(viewer): User<Viewer>,
    Path((slug, id)): Path<(String, i64)>,
) -> Result<()> {
    let work = move |tx: &Transaction<'_>| {
        let (article, _) = ids(tx, &slug)?;
        let sql = "SELECT author_id FROM comments WHERE article_id = ? AND id = ?";
        let author: Option<i64> = tx.query_row(sql, [article, id], |row| row.get(0)).optional()?;
        if author.ok_or(ConduitError::NotFound("comment"))? != viewer.id {
            return Err(ConduitError::Forbidden("comment"));
        }
        tx.execute("DELETE FROM comments WHERE id = ?", [id])?;
        Ok(())
    };
    db.write(work).await
}
