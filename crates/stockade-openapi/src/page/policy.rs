//! The content security policy of the page: only its own files, and nothing
//! inline.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};

use crate::options::OpenApiOptions;

/// The policy of files, which never load anything.
pub(super) const OF_FILES: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Returns the policy of a served page. Its script may send requests to this
/// server and to the servers of the options.
pub(super) fn of_page(options: &OpenApiOptions) -> String {
    let mut policy = OF_FILES.to_owned();
    let more = targets(options);
    if !more.is_empty() {
        policy = policy.replace("connect-src 'self'", &format!("connect-src 'self'{more}"));
    }
    policy
}

/// Returns the policy of a page in one file, which a `meta` element contains.
pub(super) fn of_file(options: &OpenApiOptions, style: &str, script: &str) -> String {
    let targets = targets(options);
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src{}; img-src data:; \
         base-uri 'none'; form-action 'none'",
        hash(script),
        hash(style),
        if targets.is_empty() { " 'none'" } else { &targets }
    )
}

/// Returns the hash of an inline element.
///
/// Source: Content Security Policy Level 3, section 2.3.1.
fn hash(content: &str) -> String {
    format!("sha256-{}", STANDARD.encode(digest(&SHA256, content.as_bytes())))
}

/// Returns the origins of the servers, each after a space.
fn targets(options: &OpenApiOptions) -> String {
    if !options.try_it {
        return String::new();
    }
    let origins = options.servers.iter().filter_map(|url| origin(url));
    origins.map(|origin| format!(" {origin}")).collect()
}

/// Returns the origin of a URL, if a policy can contain it.
pub(super) fn origin(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let is_sound = host.bytes().all(|it| it.is_ascii_alphanumeric() || b".-:[]".contains(&it));
    let is_web = matches!(scheme, "http" | "https");
    (is_web && is_sound && !host.is_empty()).then(|| &url[..scheme.len() + 3 + host.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_origins_of_servers_may_be_called() {
        let options = OpenApiOptions::new("Shop", "1")
            .server("https://api.shop.example/v1")
            .server("https://{tenant}.example")
            .server("/v1")
            .server("https://a.example;script-src *");
        let policy = of_page(&options);
        assert!(policy.contains("connect-src 'self' https://api.shop.example;"), "{policy}");
        assert!(!policy.contains("script-src *"), "{policy}");
        assert_eq!(of_page(&options.try_it(false)), OF_FILES);
    }

    #[test]
    fn an_inline_element_has_its_hash() {
        // The example of Content Security Policy Level 3, section 8.2.
        let expected = "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=";
        assert_eq!(hash("alert('Hello, world.');"), expected);
    }
}
