//! Redirects of services mounted below a host path: they stay inside the mount.

use stockade::prelude::*;
use stockade::reply::Redirect;
use stockade::testing::TestClient;

use crate::serve::{actix, axum};

/// Returns an application that responds like a folder with `css/index.html`.
fn folder() -> App {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.get("/", async || Html("start"));
    router.get("/css", async |req: Request| {
        let query = req.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        Redirect::temporary(format!("/css/{query}"))
    });
    router.get("/css/", async || Html("css"));
    router.build().unwrap()
}

fn router() -> Router {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.mount("/assets", folder());
    router.group("/deep", (), |group| {
        group.mount("/er", folder());
    });
    let mut outer = Router::with_options(RouterOptions::new().rate_limit(false));
    outer.mount("/v1", router.build().unwrap());
    outer.mount("/assets", folder());
    outer
}

/// Checks the redirects of a host that adds `place` to all paths.
async fn check(address: &str, place: &str) {
    let client = TestClient::live(address);
    for mount in ["/assets", "/v1/assets", "/v1/deep/er"] {
        for query in ["", "?x=//1"] {
            let start = client.get(format!("{mount}{query}")).await;
            start.assert_status(308);
            start.assert_header("location", &format!("{place}{mount}/{query}"));
            client.get(format!("{mount}/{query}")).await.assert_status(200).assert_text("start");
            let css = client.get(format!("{mount}/css{query}")).await;
            css.assert_status(307);
            css.assert_header("location", &format!("{place}{mount}/css/{query}"));
            client.get(format!("{mount}/css/")).await.assert_status(200).assert_text("css");
        }
    }
}

#[tokio::test]
async fn redirects_stay_in_mounts_below_axum() {
    for place in ["", "/api"] {
        check(&axum::whole(router(), place).await, place).await;
        check(&axum::routes(router(), place).await, place).await;
    }
}

#[actix_web::test]
async fn redirects_stay_in_mounts_below_actix() {
    for place in ["", "/api"] {
        check(&actix::whole(router(), place), place).await;
        check(&actix::routes(router(), place), place).await;
    }
}
