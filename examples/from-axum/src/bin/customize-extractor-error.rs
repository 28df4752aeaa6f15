//! Three ways to customize the error for an invalid body: for a route, for a
//! part of the tree, and in an extractor.

use serde::de::DeserializeOwned;
use stockade::prelude::*;
use stockade::validation::HasSchema;
use stockade::{ErrorReply, FromRequest, RouteDescription};

/// Returns the error format of a route, or of all routes below a node.
fn form(origin: &'static str) -> impl Fn(&mut ErrorReply) {
    move |reply| {
        let body = json!({ "message": reply.message(), "origin": origin });
        reply.set_json(body);
    }
}

/// A body, with errors that name the route.
struct OurBody<T>(T);

impl<T: HasSchema + DeserializeOwned + Send> FromRequest for OurBody<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        match Body::from_request(req).await {
            Ok(Body(value)) => Ok(Self(value)),
            Err(error) => {
                Err(error.with_member("origin", "extractor").with_member("path", req.route()))
            }
        }
    }

    fn describe(doc: &mut RouteDescription) {
        Body::<T>::describe(doc);
    }
}

async fn echo(Body(value): Body<Value>) -> Value {
    value
}

async fn echo_ours(OurBody(value): OurBody<Value>) -> Value {
    value
}

fn router() -> Router {
    let api = routes! {
        "route": { POST: { echo, error_handling: form("route") } },
        "node": { error_handling: form("node"), "deep": { POST: echo } },
        "extractor": { POST: echo_ours },
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
    use stockade::testing::{TestClient, TestResponse};

    use super::*;

    async fn broken(path: &str) -> TestResponse {
        let request = TestClient::new(router()).post(path).body(r#"{"name": "#);
        let response = request.header("content-type", "application/json").await;
        response.assert_status(400);
        response
    }

    #[tokio::test]
    async fn each_origin_has_its_format() {
        broken("/route")
            .await
            .assert_json(json!({ "message": "Invalid JSON body", "origin": "route" }));
        let node = json!({ "message": "Invalid JSON body", "origin": "node" });
        broken("/node/deep").await.assert_json(node);
        let extractor =
            json!({ "error": "Invalid JSON body", "origin": "extractor", "path": "/extractor" });
        broken("/extractor").await.assert_json(extractor);
    }

    #[tokio::test]
    async fn valid_input_is_returned() {
        for path in ["/route", "/node/deep", "/extractor"] {
            let response = TestClient::new(router()).post(path).json(json!({ "a": 1 })).await;
            response.assert_status(200).assert_json(json!({ "a": 1 }));
        }
    }
}
