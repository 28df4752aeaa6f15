//! The API version in the path, as a type. An unknown version is a 404.

use serde::Deserialize;
use stockade::prelude::*;

#[derive(Debug, Deserialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Version {
    V1,
    V2,
    V3,
}

async fn handler(Path(version): Path<Version>) -> String {
    format!("received request with version {version:?}")
}

fn router() -> Router {
    let api = routes! {
        ":version": { validation_status: 404, "foo": { GET: handler } },
    };
    create_router(api, RouterOptions::new())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn known_versions_are_served() {
        for (path, version) in [("/v1/foo", "V1"), ("/v2/foo", "V2"), ("/v3/foo", "V3")] {
            let response = TestClient::new(router()).get(path).await;
            let expected = format!("received request with version {version}");
            response.assert_status(200).assert_text(&expected);
        }
    }

    #[tokio::test]
    async fn others_are_not_found() {
        let response = TestClient::new(router()).get("/v4/foo").await;
        response.assert_status(404).assert_field_error("version", "enum");
    }
}
