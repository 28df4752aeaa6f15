//! File upload: a multipart form that is streamed.
//!
//! ```text
//! cargo run -p stockade-examples --bin multipart_form
//! curl localhost:3000 -F file=@README.md
//! ```

use stockade::extract::Multipart;
use stockade::prelude::*;

const FORM: &str = r#"<!doctype html>
<form action="/" method="post" enctype="multipart/form-data">
    <label>Files: <input type="file" name="file" multiple></label>
    <button>Upload</button>
</form>"#;

/// Returns the page, with a policy that allows its form.
async fn show_form() -> impl Reply {
    ([("content-security-policy", "default-src 'none'; form-action 'self'")], Html(FORM))
}

/// Returns a line for each part of the form.
async fn accept_form(mut form: Multipart) -> Result<String, ApiError> {
    let mut lines = String::new();
    while let Some(mut part) = form.next().await? {
        let mut length = 0;
        while let Some(piece) = part.chunk().await? {
            length += piece.len();
        }
        let [name, file, media] =
            [part.name(), part.file_name(), part.content_type()].map(|it| it.unwrap_or("-"));
        lines += &format!("`{name}` (`{file}`: `{media}`) has {length} bytes\n");
    }
    Ok(lines)
}

fn router() -> Router {
    let api = routes! { GET: show_form, POST: { accept_form, max_body: 250 << 20 } };
    create_router(api, RouterOptions::new().access_log(true))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::{MultipartForm, TestClient};

    use super::*;

    #[tokio::test]
    async fn accepts_files_of_many_megabytes() {
        let large = vec![b'x'; 5 << 20];
        let form = MultipartForm::new().file("file", "tea.txt", "text/plain", "green").file(
            "file",
            "large.bin",
            "application/octet-stream",
            large,
        );
        let response = TestClient::new(router()).post("/").multipart(form).await;
        response.assert_status(200).assert_text(
            "`file` (`tea.txt`: `text/plain`) has 5 bytes\n\
             `file` (`large.bin`: `application/octet-stream`) has 5242880 bytes\n",
        );
    }

    #[tokio::test]
    async fn shows_a_form() {
        let page = TestClient::new(router()).get("/").await;
        page.assert_status(200).assert_text_contains("multipart/form-data");
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("form-action 'self'"));
        TestClient::new(router()).post("/").json(json!({})).await.assert_status(415);
    }
}
