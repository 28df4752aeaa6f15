//! Hostile texts in all places of a page. None of them becomes markup.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::json;
use stockade_core::{RouteDocs, extract};
use stockade_routing::{RouteTree, RouterOptions, create_router};

use super::{Pages, policy};
use crate::document::document;
use crate::options::{OpenApiOptions, Webhook};

const HOSTILE: [&str; 36] = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "--><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><img src=x onerror=alert(1)>",
    "'><img src=x onerror=alert(1)>",
    "x onmouseover=alert(1)",
    "\" onmouseover=\"alert(1)",
    "' onmouseover='alert(1)",
    "` onmouseover=`alert(1)",
    "<svg onload=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](https://a.example/\"onclick=\"alert(1))",
    "[<img src=x onerror=alert(1)>](https://a.example)",
    "[x](https://a.example/<script>)",
    "**<script>alert(1)</script>**",
    "`</code><script>alert(1)</script>`",
    "```\n</pre><script>alert(1)</script>\n```",
    "# <script>alert(1)</script>",
    "- <script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</textarea></select></details></section><script>alert(1)</script>",
    "<math><mtext></mtext><script>alert(1)</script></math>",
    "<template><script>alert(1)</script></template>",
    "<base href=https://evil.example>",
    "<meta http-equiv=refresh content=0;url=https://evil.example>",
    "<form action=https://evil.example><button>x",
    "\u{0}\u{1b}[31m\u{202e}<\u{0}script>",
    "&lt;script&gt;&#60;script&#62;",
];

/// The page with a text in all places that a program, or its types, can fill.
fn page_with(text: &str) -> (Pages, String) {
    let schema = json!({
        "type": "object",
        "title": text,
        "description": text,
        "required": [text],
        "properties": {
            text: { "type": "string", "pattern": text, "default": text, "format": text },
            "choice": { "enum": [text, "b"], "description": text },
            "one": { "oneOf": [
                { "title": text, "type": "object", "properties": { text: { "const": text } } },
                { "type": "object", "properties": { "kind": { "const": text } } },
            ] },
            "list": { "type": "array", "items": { "properties": { text: { "examples": [text] } } } },
        },
    });
    let mut router = create_router(RouteTree::new(), RouterOptions::new());
    let docs = RouteDocs::new(text)
        .description(text)
        .tags([text])
        .response(200, text)
        .reply_example(200, json!({ text: text }))
        .deprecated(true);
    router.post("/a", async |body: extract::Body<String>| body.0).public(text).docs(docs);
    let options = OpenApiOptions::new(text, text)
        .description(text)
        .license(text)
        .tag(text, text)
        .link(text, format!("https://a.example/{text}"))
        .webhook(text, Webhook::schema(schema.clone()).summary(text).description(text));
    let map = router.build().unwrap().route_map();
    let mut document = document(&map, &options).unwrap();
    // A schema and parameters as a type of the program could describe them.
    document["paths"]["/a"]["post"]["requestBody"] = json!({
        "content": { "application/json": { "schema": schema } },
    });
    document["paths"]["/a"]["post"]["parameters"] =
        json!([{ "name": text, "in": "query", "schema": { "enum": [text] }, "description": text }]);
    let pages = Pages::of(&map, &document, &options).unwrap();
    let single = Pages::single(&map, &document, &options).unwrap();
    (pages, single)
}

fn texts_of(text: &str) -> [String; 2] {
    let (pages, single) = page_with(text);
    [std::str::from_utf8(&pages.index().content).unwrap().to_owned(), single]
}

/// Returns the start tags of a page, without the content of its scripts and its
/// style sheet.
fn tags(html: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some((_, found)) = rest.split_once('<') {
        let mut quote = false;
        let end = found.find(|c| {
            quote ^= c == '"';
            c == '>' && !quote
        });
        let end = end.unwrap_or_else(|| panic!("no end: {found}"));
        let tag = &found[..end];
        rest = &found[end + 1..];
        for name in ["script", "style"] {
            if tag.split(' ').next() == Some(name) {
                rest = rest.split_once(&format!("</{name}>")).unwrap().1;
            }
        }
        tags.push(tag);
    }
    tags
}

/// Returns the names of elements and attributes.
fn names(html: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for tag in tags(html) {
        let mut quote = false;
        let parts = tag.split(|c| {
            quote ^= c == '"';
            c == ' ' && !quote
        });
        for part in parts {
            names.insert(part.split('=').next().unwrap_or_default().to_owned());
        }
    }
    names
}

#[test]
fn no_hostile_text_becomes_markup() {
    let usual: Vec<BTreeSet<String>> =
        texts_of("[x](https://a.example) **b** `c`").iter().map(|page| names(page)).collect();
    for text in HOSTILE {
        for (page, usual) in texts_of(text).iter().zip(&usual) {
            let lists = ["pre", "/pre", "ul", "/ul", "li"].map(str::to_owned);
            let more: Vec<String> =
                names(page).difference(usual).filter(|it| !lists.contains(it)).cloned().collect();
            assert!(more.is_empty(), "{text}: {more:?}");
            for tag in tags(page) {
                let url = tag.split_once("href=\"").map(|(_, rest)| rest.to_ascii_lowercase());
                let is_script = url.is_some_and(|url| {
                    url.starts_with("javascript:") || url.starts_with("data:text")
                });
                assert!(!is_script, "{text}: {tag}");
            }
        }
    }
}

/// Writes a page with its files.
fn write(pages: &Pages, folder: &Path) {
    fs::create_dir_all(folder.join("docs")).unwrap();
    fs::write(folder.join("docs.html"), &pages.index.content).unwrap();
    for (name, file) in &pages.files {
        fs::write(folder.join("docs").join(name), &file.content).unwrap();
    }
}

/// A page of 517 operations, as many as the largest application of the
/// benchmarks has.
fn many() -> Pages {
    let mut router = create_router(RouteTree::new(), RouterOptions::new());
    for number in 0..517 {
        let path = format!("/group{}/{number}/:id", number / 26);
        let docs = RouteDocs::new(format!("Operation {number} of many"))
            .description("It reads a thing and answers with the **same** thing.");
        router.get(&path, async |id: extract::Path<u32>| id.0.to_string()).docs(docs);
    }
    let options = OpenApiOptions::new("Many operations", "1");
    let map = router.build().unwrap().route_map();
    let document = document(&map, &options).unwrap();
    Pages::of(&map, &document, &options).unwrap()
}

#[test]
#[ignore = "needs Chromium: `cargo xtask api-page`"]
fn writes_pages_for_a_browser() {
    let folder = std::env::var_os("STOCKADE_PAGES").expect("STOCKADE_PAGES names a folder");
    let folder = Path::new(&folder);
    write(&many(), &folder.join("many"));
    let mut names = Vec::new();
    for (index, text) in HOSTILE.iter().enumerate() {
        let (pages, single) = page_with(text);
        write(&pages, &folder.join(format!("hostile{index}")));
        fs::write(folder.join(format!("hostile{index}.html")), single).unwrap();
        names.push(format!("hostile{index}/docs\nhostile{index}.html"));
    }
    fs::write(folder.join("hostile.txt"), names.join("\n")).unwrap();
    fs::write(folder.join("hostile.json"), json!(HOSTILE.as_slice()).to_string()).unwrap();
    fs::write(folder.join("policy.txt"), policy::OF_FILES).unwrap();
}
