//! Text files of a project.

use serde::{Deserialize, Serialize};
use stockade::http::HeaderValue;
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::Sqlite;
use stockade::sql::rusqlite::{OptionalExtension as _, params};

use crate::projects::Project;
use crate::{Member, TrackerError};

/// The body of an upload.
#[derive(Deserialize, Schema)]
pub struct NewFile {
    #[schema(max_length = 10_000)]
    text: String,
}

/// An uploaded file.
#[derive(Serialize, Schema)]
pub struct File {
    id: i64,
}

pub async fn upload(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(project): Path<i64>,
    Body(new): Body<NewFile>,
) -> Result<Created<File>, TrackerError> {
    db.write(move |tx| {
        Project::find(tx, &me.tenant, project)?;
        let sql = "INSERT INTO files (tenant, project, text) VALUES (?, ?, ?)";
        tx.execute(sql, params![me.tenant, project, new.text])?;
        let id = tx.last_insert_rowid();
        Ok(Created::new(File { id }).location(format!("/files/{id}")))
    })
    .await
}

pub async fn download(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(file): Path<i64>,
) -> Result<Response, TrackerError> {
    let text: Option<String> = db
        .read(move |tx| {
            let sql = "SELECT text FROM files WHERE tenant = ? AND id = ?";
            let text = tx.query_row(sql, params![me.tenant, file], |row| row.get(0));
            Ok::<_, TrackerError>(text.optional()?)
        })
        .await?;
    let text = text.ok_or(TrackerError::Unknown("file"))?;
    let mut response = Response::new(text.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    Ok(response)
}
