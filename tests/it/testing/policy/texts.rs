//! Policy rules about texts that other users see.

use stockade::prelude::*;

use super::*;

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Careless {
    #[schema(trim, required, min_length = 8, pattern = r"^[^\x00-\x1F]*$")]
    user_name: String,
    avatar: Option<String>,
}

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Careful {
    #[schema(trim, required, pattern = "^[a-z0-9]+$")]
    username: String,
    #[schema(format = "email")]
    login: String,
    #[schema(pattern = r#"^https://[^\s"'<>]+$"#)]
    image: Option<Link>,
    /// A number rather than text.
    link: Option<u64>,
    /// The name does not suggest a special format.
    text: String,
}

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Link(String);

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Quotes {
    #[serde(rename = "homepageUrl")]
    #[schema(pattern = r"^https?://[^\s]+$")]
    homepage: String,
}

fn tree() -> RouteTree {
    routes! {
        "careless": { POST: async |Body(_): Body<Vec<Careless>>| () },
        "careful": { POST: async |Body(_): Body<Careful>| () },
        "quotes": { PUT: async |Body(_): Body<Quotes>| () },
        ":username": { GET: async |Path(_): Path<String>| () },
    }
}

#[test]
fn user_names_must_reject_invisible_characters() {
    check("names-visible", tree(), &["POST /careless"]);
    let told = texts("names-visible", &map_of_tree(tree()));
    assert!(told[0].contains("body[].user_name"), "{told:?}");
}

#[test]
fn links_must_not_run_scripts() {
    check("links-safe", tree(), &["POST /careless", "PUT /quotes"]);
    let told = texts("links-safe", &map_of_tree(tree()));
    assert!(told[0].contains("body[].avatar") && told[1].contains("body.homepageUrl"), "{told:?}");
}
