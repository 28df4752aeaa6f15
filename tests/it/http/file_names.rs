//! The `FileName` type in paths and bodies.

use stockade::extract::FileName;
use stockade::prelude::*;

use crate::support::{app_of, check};

#[derive(serde::Deserialize, Schema)]
struct Place {
    folder: u32,
    name: FileName,
}

#[derive(serde::Deserialize, Schema)]
struct Renamed {
    to: FileName,
    also: Option<FileName>,
}

fn files() -> App {
    app_of(routes! {
        "one": { ":name": { GET: async |Path(name): Path<FileName>| name.to_string() } },
        "two": {
            ":folder": {
                ":name": {
                    GET: async |Path((folder, name)): Path<(u32, FileName)>| format!("{folder} {name}"),
                    PUT: async |Path(place): Path<Place>| format!("{} {}", place.folder, place.name),
                },
            },
        },
        "rest": { "**": { GET: async |Path(name): Path<FileName>| name.to_string() } },
        "maybe": { ":name?": { GET: async |Path(name): Path<Option<FileName>>| json!(name) } },
        "rename": {
            POST: async |Body(it): Body<Renamed>| json!([it.to, it.also]),
            GET: async |Query(it): Query<Renamed>| json!([it.to, it.also]),
        },
    })
}

fn refused(field: &str, message: &str) -> String {
    let error = json!({ "field": field, "message": message, "rule": "custom" });
    let body = json!({ "error": "Validation failed", "details": { "errors": [error] } });
    format!("400 {body}")
}

const SEPARATOR: &str = "A file name must not contain separators or control characters";
const DOT: &str = "A file name must not begin with a dot";

#[test]
fn a_parameter_can_be_a_file_name() {
    let app = files();
    check(&app, "GET /one/a.txt", "200 a.txt");
    check(&app, "GET /one/a%20b.txt", "200 a b.txt");
    check(&app, "GET /two/7/a.txt", "200 7 a.txt");
    check(&app, "PUT /two/7/a.txt", "200 7 a.txt");
    check(&app, "GET /rest/a.txt", "200 a.txt");
    check(&app, "GET /maybe/a.txt", "200 \"a.txt\"");
    check(&app, "GET /maybe", "200 null");
}

#[test]
fn rejects_path_traversal_and_names_the_parameter() {
    let app = files();
    for sent in ["..%2Fsecret", "%2Fetc%2Fpasswd", "a%2F..%2Fb", "C:", "a%5Cb"] {
        check(&app, &format!("GET /one/{sent}"), &refused("name", SEPARATOR));
        check(&app, &format!("GET /two/7/{sent}"), &refused("name", SEPARATOR));
        check(&app, &format!("PUT /two/7/{sent}"), &refused("name", SEPARATOR));
        check(&app, &format!("GET /maybe/{sent}"), &refused("name", SEPARATOR));
    }
    for sent in ["..", "%2E%2E", ".", ".env"] {
        check(&app, &format!("GET /one/{sent}"), &refused("name", DOT));
        check(&app, &format!("PUT /two/7/{sent}"), &refused("name", DOT));
    }
    check(&app, "GET /rest/", &refused("splat", "A file name must not be empty"));
    check(&app, "GET /rest/a/b", &refused("splat", SEPARATOR));
    check(&app, "GET /one/NUL.txt", &refused("name", "The file name is reserved"));
}

#[test]
fn bodies_and_queries_can_have_file_names() {
    let app = files();
    let json = "content-type: application/json\n\n";
    check(
        &app,
        &format!("POST /rename\n{json}{{\"to\":\"a\",\"also\":\"b\"}}"),
        r#"200 ["a","b"]"#,
    );
    check(&app, &format!("POST /rename\n{json}{{\"to\":\"a/b\"}}"), &refused("to", SEPARATOR));
    check(&app, "GET /rename?to=a&also=.b", &refused("also", DOT));
    check(&app, "GET /rename?to=a", r#"200 ["a",null]"#);
}
