//! Cross-origin requests: a page at <http://localhost:3000> may read
//! <http://localhost:4000/json>.

use stockade::middleware::CorsOptions;
use stockade::prelude::*;

const PAGE: &str = "<!doctype html>
<script>
    fetch('http://localhost:4000/json')
        .then(response => response.json())
        .then(list => document.body.append(list.join(', ')));
</script>";

/// Returns the page, with a policy that allows its script and request.
async fn html() -> impl Reply {
    let policy = "default-src 'none'; script-src 'unsafe-inline'; connect-src localhost:4000";
    ([("content-security-policy", policy)], Html(PAGE))
}

fn frontend() -> Router {
    create_router(routes! { GET: html }, RouterOptions::new())
}

fn backend() -> Router {
    let cors = CorsOptions::new("http://localhost:3000").methods(["GET"]);
    let api = routes! { "json": { GET: async || Json(["one", "two", "three"]) } };
    create_router(api, RouterOptions::new().cors(cors))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let (frontend, backend) = (frontend().create_server()?, backend().create_server()?);
    tokio::try_join!(frontend.listen(3000), backend.listen(4000))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn one_origin_can_read() {
        let client = TestClient::new(backend());
        let origin = "http://localhost:3000";
        let response = client.get("/json").header("origin", origin).await;
        response.assert_json(["one", "two", "three"]);
        response.assert_header("access-control-allow-origin", origin);
        // A browser compares the origins, so a page of another origin cannot
        // read the response.
        let other = client.get("/json").header("origin", "http://evil.example").await;
        other.assert_header("access-control-allow-origin", origin);
    }

    #[tokio::test]
    async fn one_method_is_allowed() {
        let preflight = TestClient::new(backend()).options("/json");
        let preflight = preflight.header("origin", "http://localhost:3000");
        let response = preflight.header("access-control-request-method", "GET").await;
        response.assert_header("access-control-allow-methods", "GET");
    }

    #[tokio::test]
    async fn the_page_can_send_requests() {
        let page = TestClient::new(frontend()).get("/").await;
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("connect-src localhost:4000"));
    }
}
