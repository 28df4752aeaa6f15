//! An API inside an actix-web application, which has its own pages, state and
//! middleware.
//!
//! ```text
//! cargo run -p in-actix
//! ```
//!
//! Below `/api` the whole application responds, with all its stages. Below
//! `/v1` the same routes belong to actix-web, and its middleware formats their
//! errors.

use std::sync::atomic::{AtomicU64, Ordering};

use actix_web::dev::{Service as _, ServiceResponse};
use actix_web::http::header::{CONTENT_TYPE, HeaderValue};
use actix_web::middleware::{DefaultHeaders, ErrorHandlerResponse, ErrorHandlers};
use actix_web::{App as TheirApp, HttpResponse, HttpServer, web};
use stockade::actix::{HostError, ToActix};
use stockade::middleware::with_rate_limit;
use stockade::prelude::*;

/// The state of the host: the number of requests.
#[derive(Default)]
struct Visits(AtomicU64);

#[derive(serde::Deserialize, Schema)]
struct NewNote {
    #[schema(trim, min_length = 1, max_length = 200)]
    text: String,
}

async fn create(Body(note): Body<NewNote>) -> (StatusCode, Value) {
    (StatusCode::CREATED, json!({ "text": note.text }))
}

async fn flight(req: Request) -> Value {
    json!({ "flight": req.param_values(), "client": req.client_ip().map(|ip| ip.to_string()) })
}

async fn broken() -> Result<(), ApiError> {
    Err(ApiError::new(500, "the disk of db-7 is full"))
}

async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(text) = socket.recv_text().await {
        socket.send(text?).await?;
    }
    Ok(())
}

fn api() -> Router {
    let routes = routes! {
        "flights/:from-:to": { GET: flight },
        "files/**": { GET: async |Path(splat): Path<String>| splat },
        "notes": { POST: create },
        "broken": { GET: broken },
        "login": { POST: { async || "in", middleware: [with_rate_limit(2 / MINUTE)] } },
        "echo": { ws: echo },
    };
    create_router(routes, RouterOptions::new().enable_web_sockets(true).max_body_size(1_024))
}

/// Formats stockade errors in the host's format, with the original status and
/// headers.
fn shape<B>(response: ServiceResponse<B>) -> actix_web::Result<ErrorHandlerResponse<B>> {
    let ours = response.response().error().and_then(|error| error.as_error::<HostError>());
    let Some(error) = ours else {
        return Ok(ErrorHandlerResponse::Response(response.map_into_left_body()));
    };
    let text = error.api_error().public_message(false).to_owned();
    let (request, response) = response.into_parts();
    let mut response = response.set_body(format!("sorry: {text}\n"));
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    let response = ServiceResponse::new(request, response).map_into_boxed_body();
    Ok(ErrorHandlerResponse::Response(response.map_into_right_body()))
}

async fn home(visits: web::Data<Visits>) -> String {
    format!("{} requests so far\n", visits.0.load(Ordering::Relaxed))
}

#[actix_web::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000_u16);
    // Built once, so all workers share one rate limit.
    let whole = api().to_actix_service()?;
    let routes = api().to_actix_routes()?;
    let visits = web::Data::new(Visits::default());
    let server = HttpServer::new(move || {
        let counted = visits.clone();
        TheirApp::new()
            .app_data(visits.clone())
            .wrap(DefaultHeaders::new().add(("x-host", "actix")))
            .wrap_fn(move |request, next| {
                counted.0.fetch_add(1, Ordering::Relaxed);
                next.call(request)
            })
            .route("/", web::get().to(home))
            .service(web::scope("/api").default_service(whole.clone()))
            .service(
                web::scope("/v1")
                    .wrap(ErrorHandlers::new().default_handler(shape))
                    .service(routes.clone()),
            )
            .default_service(web::to(async || HttpResponse::NotFound().body("no page\n")))
    });
    let server = server.bind(("127.0.0.1", port))?;
    for address in server.addrs() {
        println!("listening on http://{address}; Ctrl-C ends it");
    }
    server.run().await?;
    Ok(())
}
