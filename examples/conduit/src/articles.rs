//! Articles, their tags, and favorites.

use serde::{Deserialize, Serialize};
use stockade::auth::generate_token;
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::rusqlite::{Connection, OptionalExtension as _, named_params, params};
use stockade::validation::Optional;

use crate::db::{Db, read_json};
use crate::errors::{ConduitError, Result};
use crate::profiles::{PROFILE, Profile};
use crate::users::Viewer;

/// The object around an article in requests and responses.
#[derive(Deserialize, Serialize, Schema)]
pub struct ArticleBody<T> {
    article: T,
}

#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Article {
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

#[derive(Deserialize, Serialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct Articles {
    #[schema(max_items = 100)]
    articles: Vec<Article>,
    articles_count: i64,
}

/// Text without characters that are invisible or change the direction of text.
const VISIBLE: &str =
    r"^[^\x00-\x1F\x7F-\x9F\u{200B}\u{200E}\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{FEFF}]*$";

#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct NewArticle {
    #[schema(required, trim, max_length = 200, pattern = VISIBLE)]
    title: String,
    #[schema(required, trim, max_length = 1_000)]
    description: String,
    #[schema(required, max_length = 200_000)]
    body: String,
    #[serde(default)]
    #[schema(max_items = 20, items(trim, min_length = 1, max_length = 50, pattern = VISIBLE))]
    tag_list: Vec<String>,
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ArticleChange {
    #[schema(trim, min_length = 1, max_length = 200, pattern = VISIBLE)]
    title: Optional<String>,
    #[schema(trim, min_length = 1, max_length = 1_000)]
    description: Optional<String>,
    #[schema(min_length = 1, max_length = 200_000)]
    body: Optional<String>,
    #[schema(max_items = 20, items(trim, min_length = 1, max_length = 50, pattern = VISIBLE))]
    tag_list: Optional<Vec<String>>,
}

#[derive(Deserialize, Schema)]
pub struct Filter {
    #[schema(max_length = 50)]
    tag: Option<String>,
    #[schema(max_length = 50)]
    author: Option<String>,
    #[schema(max_length = 50)]
    favorited: Option<String>,
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: i64,
    // Skipped rows are read too.
    #[schema(minimum = 0, maximum = 10_000, default = 0)]
    offset: i64,
}

#[derive(Deserialize, Serialize, Schema)]
pub struct Tags {
    #[schema(max_items = 200)]
    tags: Vec<String>,
}

pub async fn list(
    db: Db,
    viewer: Option<User<Viewer>>,
    Query(filter): Query<Filter>,
) -> Result<Articles> {
    db.read(move |tx| page(tx, viewer.map(|User(viewer)| viewer.id), false, &filter)).await
}

pub async fn feed(
    db: Db,
    User(viewer): User<Viewer>,
    Query(filter): Query<Filter>,
) -> Result<Articles> {
    db.read(move |tx| page(tx, Some(viewer.id), true, &filter)).await
}

pub async fn show(
    db: Db,
    viewer: Option<User<Viewer>>,
    Path(slug): Path<String>,
) -> Result<ArticleBody<Article>> {
    db.read(move |tx| find(tx, viewer.map(|User(viewer)| viewer.id), &slug)).await
}

pub async fn create(
    db: Db,
    User(viewer): User<Viewer>,
    Body(ArticleBody { article: new }): Body<ArticleBody<NewArticle>>,
) -> Result<Created<ArticleBody<Article>>> {
    db.write(move |tx| {
        let slug = free_slug(tx, &new.title)?;
        let sql = "INSERT INTO articles (slug, author_id, title, description, body)
                   VALUES (?, ?, ?, ?, ?)";
        tx.execute(sql, params![slug, viewer.id, new.title, new.description, new.body])?;
        set_tags(tx, tx.last_insert_rowid(), &new.tag_list)?;
        Ok(Created::new(find(tx, Some(viewer.id), &slug)?))
    })
    .await
}

pub async fn update(
    db: Db,
    User(viewer): User<Viewer>,
    Path(slug): Path<String>,
    Body(ArticleBody { article: change }): Body<ArticleBody<ArticleChange>>,
) -> Result<ArticleBody<Article>> {
    db.write(move |tx| {
        let id = own(tx, &viewer, &slug)?;
        let sql = "SELECT title FROM articles WHERE id = ?";
        let old_title: String = tx.query_row(sql, [id], |row| row.get(0))?;
        // The slug stays if the new title has the same one.
        let slug = match change.title.value() {
            Some(title) if slug::slugify(title) != slug::slugify(old_title) => {
                free_slug(tx, title)?
            }
            _ => slug,
        };
        // Two changes within a millisecond still have different times.
        let sql = "UPDATE articles SET slug = :slug, title = ifnull(:title, title),
                       description = ifnull(:description, description), body = ifnull(:body, body),
                       updated_at = max(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),
                           strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0.001 seconds'))
                   WHERE id = :id";
        let params = named_params! {
            ":id": id, ":slug": slug, ":title": change.title.value(),
            ":description": change.description.value(), ":body": change.body.value(),
        };
        tx.execute(sql, params)?;
        if let Some(tags) = change.tag_list.value() {
            set_tags(tx, id, tags)?;
        }
        find(tx, Some(viewer.id), &slug)
    })
    .await
}

pub async fn delete(db: Db, User(viewer): User<Viewer>, Path(slug): Path<String>) -> Result<()> {
    // Other users may have added more comments and favorites than one write can delete in
    // its time, so each write deletes some of them.
    let part = move |tx: &Connection| {
        let id = own(tx, &viewer, &slug)?;
        let comments = "DELETE FROM comments WHERE id IN
                        (SELECT id FROM comments WHERE article_id = ? LIMIT 5000)";
        let favorites = "DELETE FROM favorites WHERE article_id = ?1 AND user_id IN
                         (SELECT user_id FROM favorites WHERE article_id = ?1 LIMIT 5000)";
        if tx.execute(comments, [id])? + tx.execute(favorites, [id])? > 0 {
            return Ok(false);
        }
        tx.execute("DELETE FROM articles WHERE id = ?", [id])?;
        Ok::<_, ConduitError>(true)
    };
    while !db.write(part.clone()).await? {}
    Ok(())
}

pub async fn favorite(
    db: Db,
    User(viewer): User<Viewer>,
    Path(slug): Path<String>,
) -> Result<ArticleBody<Article>> {
    let sql = "INSERT INTO favorites (article_id, user_id) VALUES (?, ?) ON CONFLICT DO NOTHING";
    db.write(move |tx| mark(tx, sql, viewer.id, &slug)).await
}

pub async fn unfavorite(
    db: Db,
    User(viewer): User<Viewer>,
    Path(slug): Path<String>,
) -> Result<ArticleBody<Article>> {
    let sql = "DELETE FROM favorites WHERE article_id = ? AND user_id = ?";
    db.write(move |tx| mark(tx, sql, viewer.id, &slug)).await
}

/// Returns up to 200 tags: the most used ones among the newest 10,000.
pub async fn tags(db: Db) -> Result<Tags> {
    // The sign in `+tag` keeps SQLite from reading the index of all tags.
    let sql = "SELECT json_object('tags', json_group_array(tag)) FROM (SELECT tag FROM article_tags
                   WHERE article_id > (SELECT max(id) FROM articles) - 10000 GROUP BY +tag
                   ORDER BY count(*) DESC, max(article_id) DESC, tag LIMIT 200)";
    let tags: Option<_> = db.read(move |tx| read_json(tx, sql, [])).await?;
    tags.ok_or(ConduitError::NotFound("tags"))
}

/// Returns the JSON of an article `a` and its author `u`, without the body. `?1` is the id
/// of the viewer.
fn article_json() -> String {
    format!(
        "json_object('slug', a.slug, 'title', a.title, 'description', a.description,
            'createdAt', a.created_at, 'updatedAt', a.updated_at,
            'tagList', json((SELECT json_group_array(tag ORDER BY tag) FROM article_tags
                WHERE article_id = a.id)),
            'favorited', json(iif(EXISTS (SELECT 1 FROM favorites
                WHERE article_id = a.id AND user_id = ?1), 'true', 'false')),
            'favoritesCount', a.favorites_count, 'author', {PROFILE})"
    )
}

/// Reads a page of all articles, or of the articles of users whom the viewer follows.
fn page(tx: &Connection, viewer: Option<i64>, is_feed: bool, filter: &Filter) -> Result<Articles> {
    let Filter { tag, author, favorited, limit, offset } = filter;
    let followed = "a.author_id IN (SELECT followed_id FROM follows WHERE follower_id = ?1)";
    let tagged = "a.id IN (SELECT article_id FROM article_tags WHERE tag = ?2)";
    let written = "a.author_id = (SELECT id FROM users WHERE username = ?3)";
    let liked = "a.id IN (SELECT article_id FROM favorites
                     WHERE user_id = (SELECT id FROM users WHERE username = ?4))";
    let mut ids = "SELECT a.id FROM articles a WHERE true".to_owned();
    // An unused condition is left out: SQLite could not use an index for the others.
    for (is_used, condition) in [
        (is_feed, followed),
        (tag.is_some(), tagged),
        (author.is_some(), written),
        (favorited.is_some(), liked),
    ] {
        if is_used {
            ids = format!("{ids} AND {condition}");
        }
    }
    // Related data is only read for the articles of the page.
    let sql = format!(
        "SELECT json_object('articlesCount', (SELECT count(*) FROM ({ids})),
             'articles', json_group_array({} ORDER BY a.id DESC))
         FROM articles a JOIN users u ON u.id = a.author_id
         WHERE a.id IN ({ids} ORDER BY a.id DESC LIMIT ?5 OFFSET ?6)",
        article_json()
    );
    let params = params![viewer, tag, author, favorited, limit, offset];
    read_json(tx, &sql, params)?.ok_or(ConduitError::NotFound("articles"))
}

fn find(tx: &Connection, viewer: Option<i64>, slug: &str) -> Result<ArticleBody<Article>> {
    let sql = format!(
        "SELECT json_object('article', json_set({}, '$.body', a.body))
         FROM articles a JOIN users u ON u.id = a.author_id WHERE a.slug = ?2",
        article_json()
    );
    read_json(tx, &sql, params![viewer, slug])?.ok_or(ConduitError::NotFound("article"))
}

/// Returns the id of an article and the id of its author.
pub fn ids(tx: &Connection, slug: &str) -> Result<(i64, i64)> {
    let mut statement = tx.prepare_cached("SELECT id, author_id FROM articles WHERE slug = ?")?;
    let ids = statement.query_row([slug], |row| row.try_into()).optional()?;
    ids.ok_or(ConduitError::NotFound("article"))
}

/// Returns the id of an article, if the viewer is its author.
fn own(tx: &Connection, viewer: &Viewer, slug: &str) -> Result<i64> {
    let (id, author) = ids(tx, slug)?;
    authored("article", Some(author), viewer)?;
    Ok(id)
}

/// Checks that an object exists and that the viewer is its author.
pub fn authored(kind: &'static str, author: Option<i64>, viewer: &Viewer) -> Result<()> {
    match author {
        Some(author) if author == viewer.id => Ok(()),
        Some(_) => Err(ConduitError::Forbidden(kind)),
        None => Err(ConduitError::NotFound(kind)),
    }
}

/// The maximum number of bytes of a title in a slug. One character of a title can become
/// thirty, and a path that is too long reaches no route.
const SLUG_MAX: usize = 200;

/// Returns a slug that no article has. It stays free until the transaction ends.
fn free_slug(tx: &Connection, title: &str) -> Result<String> {
    let mut slug = slug::slugify(title);
    // A slug only has ASCII letters, digits and hyphens.
    slug.truncate(SLUG_MAX);
    // `/articles/feed` is another route, and a title may have no letters.
    let is_usable = !matches!(slug.as_str(), "" | "feed");
    let mut statement = tx.prepare_cached("SELECT 1 FROM articles WHERE slug = ?")?;
    if is_usable && !statement.exists([&slug])? {
        return Ok(slug);
    }
    let suffix = generate_token(8).map_err(ApiError::internal)?;
    Ok(if slug.is_empty() { suffix } else { format!("{slug}-{suffix}") })
}

/// Replaces the tags of an article. A duplicate tag counts once.
fn set_tags(tx: &Connection, article: i64, tags: &[String]) -> Result<()> {
    tx.execute("DELETE FROM article_tags WHERE article_id = ?", [article])?;
    let sql = "INSERT INTO article_tags SELECT DISTINCT ?, value FROM json_each(?)";
    tx.execute(sql, params![article, json!(tags).to_string()])?;
    Ok(())
}

/// Runs a statement about an article and the viewer, and returns the article.
fn mark(tx: &Connection, sql: &str, viewer: i64, slug: &str) -> Result<ArticleBody<Article>> {
    let (id, _) = ids(tx, slug)?;
    tx.execute(sql, [id, viewer])?;
    find(tx, Some(viewer), slug)
}
