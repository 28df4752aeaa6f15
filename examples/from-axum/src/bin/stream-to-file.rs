//! Uploads streamed to files: a body, and the files of a form.

use std::path::PathBuf;
use std::pin::pin;

use futures_util::{Stream, TryStreamExt as _};
use stockade::HttpBody;
use stockade::extract::{FileName, Multipart};
use stockade::prelude::*;
use stockade::reply::Redirect;
use tokio::fs::{File, create_dir_all};
use tokio::io::AsyncWriteExt as _;

/// The folder of the uploads.
struct UploadFolder(PathBuf);

/// Saves a body: `POST /file/notes.txt` creates the file `notes.txt`.
async fn save_body(
    folder: State<UploadFolder>,
    Path(name): Path<FileName>,
    body: HttpBody,
) -> Result<(), BoxError> {
    folder.save(&name, body).await
}

async fn save_files(
    folder: State<UploadFolder>,
    mut form: Multipart,
) -> Result<Redirect, BoxError> {
    while let Some(part) = form.next().await? {
        let Some(name) = part.file_name() else { continue };
        let name: FileName =
            name.parse().map_err(|error| ApiError::new(400, format!("{error}")))?;
        folder.save(&name, part).await?;
    }
    Ok(Redirect::to("/"))
}

impl UploadFolder {
    async fn save(
        &self,
        name: &FileName,
        content: impl Stream<Item = Result<Bytes, ApiError>>,
    ) -> Result<(), BoxError> {
        let mut file = File::create(self.0.join(name)).await?;
        let mut content = pin!(content);
        while let Some(piece) = content.try_next().await? {
            file.write_all(&piece).await?;
        }
        Ok(file.flush().await?)
    }
}

const FORM: &str = r#"<!doctype html>
<title>Uploads</title>
<form action="/" method="post" enctype="multipart/form-data">
  <label>Files: <input type="file" name="file" multiple></label>
  <button>Upload</button>
</form>
"#;

async fn form() -> ([(&'static str, &'static str); 1], Html<&'static str>) {
    // The default policy does not allow pages to send forms.
    ([("content-security-policy", "default-src 'none'; form-action 'self'")], Html(FORM))
}

fn app(folder: PathBuf) -> Result<App, ConfigError> {
    let api = routes! {
        GET: form,
        POST: { save_files, max_body: 1 << 30 },
        "file": { ":name": { POST: { save_body, max_body: 1 << 30 } } },
    };
    create_router(api, RouterOptions::new()).state(UploadFolder(folder)).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let folder = PathBuf::from("uploads");
    create_dir_all(&folder).await?;
    app(folder)?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use stockade::testing::{MultipartForm, TestClient};

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("from-axum-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[tokio::test]
    async fn a_body_becomes_a_file() {
        let folder = folder("body");
        let client = TestClient::new(app(folder.clone()).unwrap());
        let large = vec![b'x'; 3 << 20];
        client.post("/file/large.bin").body(large.clone()).await.assert_status(204);
        assert_eq!(fs::read(folder.join("large.bin")).unwrap(), large);
        client.post("/file/..%2Fescaped").body("x").await.assert_status(400);
        assert!(!folder.join("../escaped").exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn each_file_of_a_form_becomes_a_file() {
        let folder = folder("form");
        let client = TestClient::new(app(folder.clone()).unwrap());
        client.get("/").await.assert_status(200).assert_text_contains("multipart/form-data");
        let form = MultipartForm::new()
            .text("comment", "no file")
            .file("file", "a.txt", "text/plain", "first")
            .file("file", "b.txt", "text/plain", "second");
        client.post("/").multipart(form).await.assert_status(303).assert_header("location", "/");
        assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "first");
        assert_eq!(fs::read_to_string(folder.join("b.txt")).unwrap(), "second");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);

        let hostile = MultipartForm::new().file("file", "../c.txt", "text/plain", "third");
        client.post("/").multipart(hostile).await.assert_status(400);
        fs::remove_dir_all(folder).unwrap();
    }
}
