//! Swagger UI, which sends requests from a page.

use bytes::Bytes;

use super::html::Html;
use super::{File, html_file, to_document};
use crate::options::OpenApiOptions;

/// The content security policy of the page: the policy of the other pages, plus
/// the inline images of the Swagger UI style sheet.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Returns the page and its files, by the last segments of their paths.
pub(super) fn files(options: &OpenApiOptions) -> [(String, File); 4] {
    let gzip = |media_type, content: &'static [u8]| {
        let file = File::new(media_type, Bytes::from_static(content));
        File { is_gzip: true, ..file }
    };
    let page = html_file(page(options), POLICY.to_owned());
    [
        ("try".to_owned(), page),
        ("swagger-ui-bundle.js".to_owned(), gzip(SCRIPT, stockade_swagger_ui::BUNDLE)),
        ("swagger-ui.css".to_owned(), gzip("text/css; charset=utf-8", stockade_swagger_ui::STYLE)),
        ("swagger-ui-start.js".to_owned(), File::new(SCRIPT, stockade_swagger_ui::START)),
    ]
}

fn page(options: &OpenApiOptions) -> String {
    let up = if options.docs_path.ends_with('/') { "" } else { "../" };
    let mut html = Html::default();
    html.markup("<!doctype html><html lang=en><head><meta charset=utf-8>");
    html.markup("<meta name=viewport content=\"width=device-width,initial-scale=1\"><title>");
    html.text(&options.info.title).markup(" – Swagger UI</title>");
    html.markup("<link rel=icon href=icon.svg><link rel=stylesheet href=swagger-ui.css>");
    html.markup("<script defer src=swagger-ui-bundle.js></script>");
    html.markup("<script defer src=swagger-ui-start.js></script></head>\n<body>");
    html.markup("<noscript>Swagger UI requires JavaScript.</noscript>");
    html.markup("<main id=swagger-ui data-document=\"").text(&to_document(options, up));
    html.markup("\"></main></body></html>\n");
    html.into_string()
}
