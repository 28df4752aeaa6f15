//! A GET handler that does less work for HEAD requests, which only need
//! headers.

use stockade::prelude::*;

async fn handler(method: Method) -> impl Reply {
    if method == Method::HEAD {
        return ([("x-some-header", "header from HEAD")], "");
    }
    do_some_computing_task();
    ([("x-some-header", "header from GET")], "body from GET")
}

fn do_some_computing_task() {}

fn router() -> Router {
    create_router(routes! { "get-head": { GET: handler } }, RouterOptions::new())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn get_has_a_body() {
        let response = TestClient::new(router()).get("/get-head").await;
        response.assert_status(200).assert_header("x-some-header", "header from GET");
        response.assert_text("body from GET");
    }

    #[tokio::test]
    async fn head_has_separate_headers() {
        let response = TestClient::new(router()).head("/get-head").await;
        response.assert_status(200).assert_header("x-some-header", "header from HEAD");
        response.assert_empty();
    }
}
