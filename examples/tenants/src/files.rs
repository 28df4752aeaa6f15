//! Files of a project. Clients choose their content and their media type.

use serde::{Deserialize, Serialize};
use stockade::extract::{FilePart, Multipart};
use stockade::prelude::*;
use stockade::reply::{Created, Download};
use stockade::sql::Sqlite;
use stockade::sql::rusqlite::{OptionalExtension as _, params};

use crate::accounts::Member;
use crate::errors::TrackerError;
use crate::projects::Project;

pub fn routes() -> RouteTree {
    routes! {
        "projects": {
            ":project": { "files": { POST: { upload, docs: "Upload a file" } } },
        },
        "files": { ":file": { GET: { download, docs: "Download a file" } } },
    }
}

/// The form of an upload.
#[derive(Deserialize, Schema)]
pub struct NewFile {
    #[schema(max_bytes = 1_000_000)]
    file: FilePart,
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
    Multipart(NewFile { file }): Multipart<NewFile>,
) -> Result<Created<File>, TrackerError> {
    let name = file.file_name.unwrap_or_default();
    let media_type = file.content_type.unwrap_or_default();
    db.write(move |tx| {
        Project::find(tx, &me.tenant, project)?;
        let sql = "INSERT INTO files (tenant, project, name, media_type, content)
                   VALUES (?, ?, ?, ?, ?)";
        tx.execute(sql, params![me.tenant, project, name, media_type, &*file.bytes])?;
        let id = tx.last_insert_rowid();
        Ok(Created::new(File { id }).location(format!("/files/{id}")))
    })
    .await
}

/// Browsers save the file, and never run it as a page of this origin.
pub async fn download(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(file): Path<i64>,
) -> Result<Download, TrackerError> {
    db.read(move |tx| {
        let sql = "SELECT name, media_type, content FROM files WHERE tenant = ? AND id = ?";
        let found = tx.query_row(sql, params![me.tenant, file], |row| {
            let (name, media_type): (String, String) = (row.get(0)?, row.get(1)?);
            let content: Vec<u8> = row.get(2)?;
            Ok(Download::new(content).media_type(&media_type).named(&name))
        });
        found.optional()?.ok_or(TrackerError::Unknown("file"))
    })
    .await
}
