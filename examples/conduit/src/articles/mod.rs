//! Articles: their handlers. What they ask of the database is in [`store`].

pub mod store;

use rusqlite::Transaction;
use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::validation::Optional;

use self::store::{ArticleReply, Articles};
use crate::db::Db;
use crate::errors::Result;
use crate::users::Viewer;

/// The object that requests about articles have around their fields.
#[derive(Deserialize, Schema)]
pub struct ArticleBody<T> {
    article: T,
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct NewArticle {
    // No signs that are invisible, or that turn the text around them.
    #[schema(
        required,
        trim,
        max_length = 200,
        pattern = r"^[^\x00-\x1F\x7F-\x9F\u{200B}\u{200E}\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{FEFF}]*$"
    )]
    pub title: String,
    #[schema(required, trim, max_length = 1_000)]
    pub description: String,
    #[schema(required, max_length = 200_000)]
    pub body: String,
    #[serde(default)]
    #[schema(
        max_items = 20,
        items(
            trim,
            min_length = 1,
            max_length = 50,
            pattern = r"^[^\x00-\x1F\x7F-\x9F\u{200B}\u{200E}\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{FEFF}]*$"
        )
    )]
    pub tag_list: Vec<String>,
}

#[derive(Deserialize, Schema)]
#[serde(rename_all = "camelCase")]
pub struct ArticleChange {
    #[schema(
        trim,
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1F\x7F-\x9F\u{200B}\u{200E}\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{FEFF}]*$"
    )]
    pub title: Optional<String>,
    #[schema(trim, min_length = 1, max_length = 1_000)]
    pub description: Optional<String>,
    #[schema(min_length = 1, max_length = 200_000)]
    pub body: Optional<String>,
    #[schema(
        max_items = 20,
        items(
            trim,
            min_length = 1,
            max_length = 50,
            pattern = r"^[^\x00-\x1F\x7F-\x9F\u{200B}\u{200E}\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}\u{FEFF}]*$"
        )
    )]
    pub tag_list: Optional<Vec<String>>,
}

/// The choice of articles of a list, and the page of it that is wanted.
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
    // What is skipped is read too.
    #[schema(minimum = 0, maximum = 10_000, default = 0)]
    offset: i64,
}

pub async fn list(
    db: State<Db>,
    viewer: Option<User<Viewer>>,
    Query(filter): Query<Filter>,
) -> Result<Articles> {
    let viewer = viewer.map(|User(viewer)| viewer);
    db.read(move |tx| store::list(tx, viewer, false, &filter)).await
}

pub async fn feed(
    db: State<Db>,
    User(viewer): User<Viewer>,
    Query(filter): Query<Filter>,
) -> Result<Articles> {
    db.read(move |tx| store::list(tx, Some(viewer), true, &filter)).await
}

pub async fn show(
    db: State<Db>,
    viewer: Option<User<Viewer>>,
    Path(slug): Path<String>,
) -> Result<ArticleReply> {
    let viewer = viewer.map(|User(viewer)| viewer);
    db.read(move |tx| store::find(tx, viewer, &slug)).await
}

/// Creates an article with its tags: both, or nothing.
pub async fn create(
    db: State<Db>,
    User(viewer): User<Viewer>,
    Body(ArticleBody { article: new }): Body<ArticleBody<NewArticle>>,
) -> Result<Created<ArticleReply>> {
    let work = move |tx: &Transaction<'_>| {
        let slug = store::free_slug(tx, &new.title)?;
        let id = store::insert(tx, viewer, &slug, &new)?;
        store::set_tags(tx, id, &new.tag_list)?;
        store::find(tx, Some(viewer), &slug)
    };
    Ok(Created::new(db.write(work).await?))
}

pub async fn update(
    db: State<Db>,
    User(viewer): User<Viewer>,
    Path(slug): Path<String>,
    Body(ArticleBody { article: change }): Body<ArticleBody<ArticleChange>>,
) -> Result<ArticleReply> {
    let work = move |tx: &Transaction<'_>| {
        let id = store::own(tx, viewer, &slug)?;
        let slug = store::change(tx, id, slug, &change)?;
        if let Some(tags) = change.tag_list.value() {
            store::set_tags(tx, id, tags)?;
        }
        store::find(tx, Some(viewer), &slug)
    };
    db.write(work).await
}

pub async fn delete(
    db: State<Db>,
    User(viewer): User<Viewer>,
    Path(slug): Path<String>,
) -> Result<()> {
    let mut is_gone = false;
    while !is_gone {
        let slug = slug.clone();
        let work = move |tx: &Transaction<'_>| {
            let id = store::own(tx, viewer, &slug)?;
            store::delete(tx, id)
        };
        is_gone = db.write(work).await?;
    }
    Ok(())
}

pub async fn favorite(
    db: State<Db>,
    User(viewer): User<Viewer>,
    Path(slug): Path<String>,
) -> Result<ArticleReply> {
    const SQL: &str = "INSERT INTO favorites (article_id, user_id) VALUES (?, ?)
                       ON CONFLICT DO NOTHING";
    db.write(move |tx| store::mark(tx, SQL, viewer, &slug)).await
}

pub async fn unfavorite(
    db: State<Db>,
    User(viewer): User<Viewer>,
    Path(slug): Path<String>,
) -> Result<ArticleReply> {
    const SQL: &str = "DELETE FROM favorites WHERE article_id = ? AND user_id = ?";
    db.write(move |tx| store::mark(tx, SQL, viewer, &slug)).await
}

#[derive(Serialize, Schema)]
pub struct Tags {
    #[schema(max_items = 200)]
    tags: Vec<String>,
}

pub async fn tags(db: State<Db>) -> Result<Tags> {
    Ok(Tags { tags: db.read(store::tags).await? })
}
