//! Shared responses in the components of a document, and middleware that
//! documents itself.

use stockade::RouteDocs;
use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;

use crate::support::{app, check};

#[derive(Debug, ApiError)]
enum OrgError {
    #[status(409, "the organization is closed")]
    Closed,
    #[status(418, "never")]
    #[expect(dead_code, reason = "only documented")]
    Teapot,
}

/// Rejects users outside the organization.
#[stockade::middleware(may_respond(404, "No such organization"))]
async fn in_org(Path(org): Path<String>, _req: &mut Request) -> Result<(), ApiError> {
    if org == "acme" { Ok(()) } else { Err(ApiError::new(404, "No such organization")) }
}

/// Documents the statuses of its error type.
#[stockade::middleware]
fn open(req: &mut Request) -> Result<(), OrgError> {
    if req.headers().contains_key("x-closed") { Err(OrgError::Closed) } else { Ok(()) }
}

trait Name: Send + Sync + 'static {
    const NAME: &'static str;
}

struct Header;

impl Name for Header {
    const NAME: &'static str = "x-limit";
}

#[stockade::middleware(may_respond(402, "No credit"), may_respond(503, "Busy"))]
async fn limited<N>(req: Request, next: Next) -> Result<Response, ApiError>
where
    N: Name,
{
    if req.headers().contains_key(N::NAME) {
        return Err(ApiError::new(402, "No credit"));
    }
    Ok(next.run(req).await)
}

async fn nothing(_: Path<String>) {}

async fn missing(_: Path<String>) -> Result<(), ApiError> {
    Err(ApiError::not_found())
}

fn document_of(tree: RouteTree) -> Value {
    let app = app(create_router(tree, RouterOptions::new().rate_limit(false)));
    open_api(&app, &OpenApiOptions::new("a", "1")).unwrap()
}

fn response<'d>(document: &'d Value, path: &str, status: &str) -> (&'d str, &'d str) {
    let written = &document["paths"][path]["get"]["responses"][status]["$ref"];
    let name = written.as_str().unwrap().strip_prefix("#/components/responses/").unwrap();
    let component = &document["components"]["responses"][name];
    (name, component["description"].as_str().unwrap())
}

#[test]
fn middleware_documents_itself_at_its_definition() {
    let made: Middleware = in_org();
    assert!(made.name().ends_with("::components::in_org"), "{}", made.name());
    let tree = || {
        routes! {
            ":org": {
                middleware: [in_org, open, limited::<Header>],
                "a": { GET: nothing },
                "b": { GET: nothing },
            },
        }
    };
    let app = app(create_router(tree(), RouterOptions::new().rate_limit(false)));
    check(&app, "GET /acme/a", "204");
    check(&app, "GET /other/a", r#"404 {"error":"No such organization"}"#);
    check(&app, "GET /acme/a\nx-closed: 1", r#"409 {"error":"the organization is closed"}"#);
    check(&app, "GET /acme/a\nx-limit: 1", r#"402 {"error":"No credit"}"#);
    let document = document_of(tree());
    for path in ["/{org}/a", "/{org}/b"] {
        let found = |status| response(&document, path, status);
        assert_eq!(found("404"), ("in_org.404", "No such organization"));
        assert_eq!(found("409"), ("open.409", "the organization is closed"));
        assert_eq!(found("418"), ("open.418", "never"));
        assert_eq!(found("402"), ("limited.402", "No credit"));
        assert_eq!(found("503"), ("limited.503", "Busy"));
    }
}

#[test]
fn names_do_not_depend_on_the_order_of_routes() {
    let docs = |text: &'static str| RouteDocs::new("x").response(404, text);
    let there = document_of(routes! {
        "a/:id": { GET: { missing, docs: docs("No such order") } },
        "b/:id": { GET: { missing, docs: docs("No such cart") } },
        "c/:id": { GET: { missing, docs: docs("No such order") } },
    });
    let back = document_of(routes! {
        "c/:id": { GET: { missing, docs: docs("No such order") } },
        "b/:id": { GET: { missing, docs: docs("No such cart") } },
        "a/:id": { GET: { missing, docs: docs("No such order") } },
    });
    assert_eq!(there["components"], back["components"]);
    for document in [&there, &back] {
        assert_eq!(response(document, "/b/{id}", "404"), ("NotFound", "No such cart"));
        assert_eq!(response(document, "/a/{id}", "404"), ("NotFound_2", "No such order"));
        assert_eq!(response(document, "/c/{id}", "404"), ("NotFound_2", "No such order"));
    }
    for (path, operations) in there["paths"].as_object().unwrap() {
        assert_eq!(operations, &back["paths"][path]);
    }
}
