//! An API on AWS Lambda, behind API Gateway or a function URL.
//!
//! ```text
//! cargo build --release --target x86_64-unknown-linux-musl
//! ```
//!
//! The Lambda runtime accepts any tower service, and an application is one. The
//! event contains the client address; behind your own proxy, use `trust_proxy`
//! instead.

use std::net::SocketAddr;

use lambda_http::request::RequestContext;
use lambda_http::tower::ServiceBuilder;
use lambda_http::{Error, Request as Event, RequestExt as _};
use stockade::PeerAddr;
use stockade::prelude::*;

fn app() -> Result<App, ConfigError> {
    let api = routes! {
        "hello": { ":name": { GET: async |Path(name): Path<String>| json!({ "hello": name }) } },
        "echo": { POST: async |Body(value): Body<Value>| value },
    };
    create_router(api, RouterOptions::new()).build()
}

/// Sets the client address of an event in stockade's type.
fn with_peer(mut event: Event) -> Event {
    let Some(RequestContext::ApiGatewayV2(context)) = event.request_context_ref() else {
        return event;
    };
    let address = context.http.source_ip.as_ref().and_then(|address| address.parse().ok());
    if let Some(address) = address {
        event.extensions_mut().insert(PeerAddr(SocketAddr::new(address, 0)));
    }
    event
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda_http::run(ServiceBuilder::new().map_request(with_peer).service(app()?)).await
}

#[cfg(test)]
mod tests {
    use lambda_http::tower::Service as _;

    use super::*;

    /// An event from API Gateway.
    const EVENT: &str = r#"{
        "version": "2.0", "routeKey": "$default", "rawPath": "/echo", "rawQueryString": "",
        "headers": { "content-type": "application/json", "host": "example.org" },
        "requestContext": {
            "accountId": "1", "apiId": "a", "domainName": "example.org", "domainPrefix": "a",
            "http": { "method": "POST", "path": "/echo", "protocol": "HTTP/1.1",
                      "sourceIp": "192.0.2.7", "userAgent": "test" },
            "requestId": "r", "routeKey": "$default", "stage": "$default",
            "time": "12/Mar/2026:19:03:58 +0000", "timeEpoch": 1583348638390
        },
        "body": "[1]", "isBase64Encoded": false
    }"#;

    #[tokio::test]
    async fn an_event_gets_a_response() {
        let event = with_peer(lambda_http::request::from_str(EVENT).unwrap());
        let peer = event.extensions().get::<PeerAddr>().map(|peer| peer.0.ip().to_string());
        assert_eq!(peer.as_deref(), Some("192.0.2.7"));
        let response = app().unwrap().call(event).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.body().as_bytes(), Some(&b"[1]"[..]));
    }
}
