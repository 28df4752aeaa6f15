//! Request counters and durations for Prometheus, on a separate port that is
//! not public.

use std::time::Duration;

use stockade::middleware::Metrics;
use stockade::prelude::*;
use tokio::time::sleep;

fn main_app(metrics: &Metrics) -> Result<App, ConfigError> {
    let api = routes! {
        "fast": { GET: async || () },
        "slow": { GET: async || sleep(Duration::from_secs(1)).await },
    };
    create_router(api, RouterOptions::new().metrics(metrics)).build()
}

fn metrics_app(metrics: &Metrics) -> Result<App, ConfigError> {
    let api = routes! { "metrics": { GET: metrics.handler() } };
    create_router(api, RouterOptions::new()).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let metrics = Metrics::new();
    let (main, shown) = (main_app(&metrics)?, metrics_app(&metrics)?);
    tokio::try_join!(main.listen(3000), shown.listen(3001))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn one_app_shows_the_requests_of_the_other() {
        let metrics = Metrics::new();
        let main = TestClient::new(main_app(&metrics).unwrap());
        let shown = TestClient::new(metrics_app(&metrics).unwrap());
        main.get("/fast").await.assert_status(204);
        main.get("/fast").await.assert_status(204);
        main.get("/metrics").await.assert_status(404);
        let text = shown.get("/metrics").await;
        text.assert_status(200)
            .assert_text_contains(
                r#"http_requests_total{method="GET",route="/fast",status="204"} 2"#,
            )
            .assert_text_contains(
                r#"http_request_duration_seconds_count{method="GET",route="/fast"} 2"#,
            );
    }
}
