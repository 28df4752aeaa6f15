//! The statements about articles. Each function takes the transaction that it is
//! a part of, so that a handler can put several of them together.

use rusqlite::types::FromSqlError;
use rusqlite::{OptionalExtension, Row, ToSql, Transaction, named_params, params};
use serde::{Deserialize, Serialize};
use stockade::auth::generate_token;
use stockade::prelude::*;

use super::{ArticleChange, Filter, NewArticle};
use crate::errors::{ConduitError, Result};
use crate::profiles::Profile;
use crate::users::Viewer;

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
struct Article {
    slug: String,
    title: String,
    description: String,
    /// Left out of lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    #[schema(max_items = 20)]
    tag_list: Vec<String>,
    created_at: String,
    updated_at: String,
    favorited: bool,
    favorites_count: i64,
    author: Profile,
}

#[derive(Serialize, Schema)]
pub struct ArticleReply {
    article: Article,
}

#[derive(Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Articles {
    #[schema(max_items = 100)]
    articles: Vec<Article>,
    articles_count: i64,
}

impl Article {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        let tags: Value = row.get("tags")?;
        Ok(Self {
            slug: row.get("slug")?,
            title: row.get("title")?,
            description: row.get("description")?,
            body: row.get("body")?,
            tag_list: Vec::deserialize(tags).map_err(FromSqlError::other)?,
            created_at: row.get("created_at")?,
            updated_at: row.get("updated_at")?,
            favorited: row.get("favorited")?,
            favorites_count: row.get("favorites_count")?,
            author: Profile::of(row)?,
        })
    }
}

/// Reads articles with everything that belongs to them, in one statement however
/// many they are.
const SELECT: &str = "
    SELECT a.slug, a.title, a.description, iif(:with_body, a.body, NULL) AS body,
        a.created_at, a.updated_at,
        (SELECT json_group_array(tag ORDER BY tag) FROM article_tags
            WHERE article_id = a.id) AS tags,
        a.favorites_count,
        EXISTS (SELECT 1 FROM favorites
            WHERE article_id = a.id AND user_id = :viewer) AS favorited,
        u.username, u.bio, u.image,
        EXISTS (SELECT 1 FROM follows
            WHERE follower_id = :viewer AND followed_id = u.id) AS following
    FROM articles a JOIN users u ON u.id = a.author_id";

/// The conditions of a list, each with the name of its parameter. One that is not
/// asked for is left out: with it, no index could be used for the others.
const TAGGED: (&str, &str) =
    (":tag", "a.id IN (SELECT article_id FROM article_tags WHERE tag = :tag)");
const WRITTEN: (&str, &str) =
    (":author", "a.author_id = (SELECT id FROM users WHERE username = :author)");
const FAVORITED: (&str, &str) = (
    ":favorited",
    "a.id IN (SELECT article_id FROM favorites
        WHERE user_id = (SELECT id FROM users WHERE username = :favorited))",
);
const FOLLOWED: (&str, &str) =
    (":follower", "a.author_id IN (SELECT followed_id FROM follows WHERE follower_id = :follower)");

/// Reads a page of a list: of all articles, or of those of users whom the viewer
/// follows.
pub fn list(
    tx: &Transaction<'_>,
    viewer: Option<Viewer>,
    is_feed: bool,
    filter: &Filter,
) -> Result<Articles> {
    let Filter { tag, author, favorited, limit, offset } = filter;
    let viewer = viewer.map(|viewer| viewer.id);
    let follower = viewer.filter(|_| is_feed);
    let mut ids = "SELECT a.id FROM articles a WHERE true".to_owned();
    let mut condition: Vec<(&str, &dyn ToSql)> = Vec::new();
    let asked: [(_, Option<&dyn ToSql>); 4] = [
        (TAGGED, tag.as_ref().map(|it| it as _)),
        (WRITTEN, author.as_ref().map(|it| it as _)),
        (FAVORITED, favorited.as_ref().map(|it| it as _)),
        (FOLLOWED, follower.as_ref().map(|it| it as _)),
    ];
    for ((name, text), value) in asked {
        if let Some(value) = value {
            ids = format!("{ids} AND {text}");
            condition.push((name, value));
        }
    }
    let articles_count = tx
        .prepare_cached(&format!("SELECT count(*) FROM ({ids})"))?
        .query_row(&*condition, |row| row.get(0))?;
    let page: &[_] = named_params! {
        ":with_body": false, ":viewer": viewer, ":limit": limit, ":offset": offset,
    };
    // What belongs to an article is read of those of the page alone.
    let articles = tx
        .prepare_cached(&format!(
            "{SELECT} WHERE a.id IN ({ids} ORDER BY a.id DESC LIMIT :limit OFFSET :offset)
             ORDER BY a.id DESC"
        ))?
        .query_map(&*[&condition, page].concat(), Article::of)?
        .collect::<Result<_, _>>()?;
    Ok(Articles { articles, articles_count })
}

pub fn find(tx: &Transaction<'_>, viewer: Option<Viewer>, slug: &str) -> Result<ArticleReply> {
    let viewer = viewer.map(|viewer| viewer.id);
    let params = named_params! { ":with_body": true, ":viewer": viewer, ":slug": slug };
    let mut statement = tx.prepare_cached(&format!("{SELECT} WHERE a.slug = :slug"))?;
    let article = statement.query_row(params, Article::of).optional()?;
    Ok(ArticleReply { article: article.ok_or(ConduitError::NotFound("article"))? })
}

/// Returns the id of an article and that of its author.
pub fn ids(tx: &Transaction<'_>, slug: &str) -> Result<(i64, i64)> {
    let mut statement = tx.prepare_cached("SELECT id, author_id FROM articles WHERE slug = ?")?;
    let ids = statement.query_row([slug], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    ids.ok_or(ConduitError::NotFound("article"))
}

/// Returns the id of an article, if the viewer may change it.
pub fn own(tx: &Transaction<'_>, viewer: Viewer, slug: &str) -> Result<i64> {
    let (id, author) = ids(tx, slug)?;
    if author == viewer.id { Ok(id) } else { Err(ConduitError::Forbidden("article")) }
}

/// The most bytes of a title in a slug. One sign of a title may become thirty of
/// them, and an address that is too long reaches no route.
const SLUG_MAX: usize = 200;

/// Makes a slug that no article has. It is free until the transaction ends.
pub fn free_slug(tx: &Transaction<'_>, title: &str) -> Result<String> {
    let mut slug = slug::slugify(title);
    // A slug has letters of ASCII, digits and hyphens alone.
    slug.truncate(SLUG_MAX);
    // `/articles/feed` is another route, and a title may have no letters at all.
    let is_usable = !matches!(slug.as_str(), "" | "feed");
    let mut statement = tx.prepare_cached("SELECT 1 FROM articles WHERE slug = ?")?;
    if is_usable && !statement.exists([&slug])? {
        return Ok(slug);
    }
    let suffix = generate_token(8).map_err(ApiError::internal)?;
    Ok(if slug.is_empty() { suffix } else { format!("{slug}-{suffix}") })
}

pub fn insert(tx: &Transaction<'_>, author: Viewer, slug: &str, new: &NewArticle) -> Result<i64> {
    let NewArticle { title, description, body, .. } = new;
    tx.execute(
        "INSERT INTO articles (slug, author_id, title, description, body) VALUES (?, ?, ?, ?, ?)",
        params![slug, author.id, title, description, body],
    )?;
    Ok(tx.last_insert_rowid())
}

/// Changes an article, and returns its slug from now on.
pub fn change(
    tx: &Transaction<'_>,
    id: i64,
    slug: String,
    change: &ArticleChange,
) -> Result<String> {
    let mut old_title = tx.prepare_cached("SELECT title FROM articles WHERE id = ?")?;
    let old_title: String = old_title.query_row([id], |row| row.get(0))?;
    // The address stays where the new title would have the same.
    let slug = match change.title.value() {
        Some(title) if slug::slugify(title) != slug::slugify(old_title) => free_slug(tx, title)?,
        _ => slug,
    };
    // Two changes within a millisecond are told apart by their times too.
    let mut statement = tx.prepare_cached(
        "UPDATE articles SET slug = :slug, title = ifnull(:title, title),
             description = ifnull(:description, description), body = ifnull(:body, body),
             updated_at = max(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
                 strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0.001 seconds'))
         WHERE id = :id",
    )?;
    statement.execute(named_params! {
        ":id": id, ":slug": slug, ":title": change.title.value(),
        ":description": change.description.value(), ":body": change.body.value(),
    })?;
    Ok(slug)
}

/// Replaces the tags of an article. A tag that is listed twice counts once.
pub fn set_tags(tx: &Transaction<'_>, id: i64, tags: &[String]) -> Result<()> {
    tx.execute("DELETE FROM article_tags WHERE article_id = ?", [id])?;
    let mut statement = tx.prepare_cached(
        "INSERT INTO article_tags (article_id, tag) VALUES (?, ?) ON CONFLICT DO NOTHING",
    )?;
    for tag in tags {
        statement.execute(params![id, tag])?;
    }
    Ok(())
}

/// Deletes an article, and returns true when it is gone. Comments and favorites go
/// before it, 5,000 in each call: others may have made more than one call has time for.
pub fn delete(tx: &Transaction<'_>, id: i64) -> Result<bool> {
    const PART: usize = 5_000;
    let comments = "DELETE FROM comments WHERE id IN
                    (SELECT id FROM comments WHERE article_id = ? LIMIT ?)";
    let favorites = "DELETE FROM favorites WHERE article_id = ?1 AND user_id IN
                     (SELECT user_id FROM favorites WHERE article_id = ?1 LIMIT ?2)";
    for sql in [comments, favorites] {
        if tx.execute(sql, params![id, PART])? == PART {
            return Ok(false);
        }
    }
    tx.execute("DELETE FROM articles WHERE id = ?", [id])?;
    Ok(true)
}

/// Adds or removes a row about the viewer and an article, by `sql`.
pub fn mark(tx: &Transaction<'_>, sql: &str, viewer: Viewer, slug: &str) -> Result<ArticleReply> {
    let (id, _) = ids(tx, slug)?;
    tx.execute(sql, [id, viewer.id])?;
    find(tx, Some(viewer), slug)
}

/// Returns the tags with the most articles among the 10,000 newest, at most 200.
pub fn tags(tx: &Transaction<'_>) -> Result<Vec<String>> {
    let mut statement = tx.prepare_cached(
        // The sign keeps the index of all tags from being read.
        "SELECT tag FROM article_tags
         WHERE article_id > (SELECT max(id) FROM articles) - 10000 GROUP BY +tag
         ORDER BY count(*) DESC, max(article_id) DESC, tag LIMIT 200",
    )?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}
