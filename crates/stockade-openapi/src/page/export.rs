//! The page as one file: the head with everything inline.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::html::Html;
use super::{Contents, ICON, SCRIPT, policy};

/// Adds the icon, the style sheet and the script.
pub(super) fn head(html: &mut Html, contents: &Contents<'_>) {
    let style = contents.style();
    html.markup("<meta http-equiv=Content-Security-Policy content=\"");
    html.text(&policy::of_file(contents.options, &style, SCRIPT)).markup("\">");
    html.markup("<link rel=icon href=\"").text(&data("image/svg+xml", ICON.as_bytes()));
    html.markup("\"><style>").file(&style).markup("</style>");
}

/// Adds the script to the end of the page, where it finds the elements.
pub(super) fn script(html: &mut Html) {
    html.markup("<script>").file(SCRIPT).markup("</script>");
}

/// Returns a URL that contains a file.
pub(super) fn data(media_type: &str, content: &[u8]) -> String {
    format!("data:{media_type};base64,{}", STANDARD.encode(content))
}
