//! [`Metadata`]: the document that names the authorization servers of the
//! endpoint.
//!
//! Source: RFC 9728 (OAuth 2.0 Protected Resource Metadata).

use std::panic::Location;

use http::{Method, Uri};
use serde_json::{Value, json};
use stockade_core::RouteDocs;
use stockade_core::reply::Json;
use stockade_errors::ConfigIssue;
use stockade_routing::__internal::add_mistake;
use stockade_routing::{RouteEntry, RouteTree};

use crate::guard::is_loopback;

/// The document, with the parts of the URL of the endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Metadata {
    document: Value,
    /// Its scheme and its authority, such as `https://api.example.com`.
    origin: String,
    /// Its path, such as `/mcp`; empty for the root.
    path: String,
}

impl Metadata {
    /// Creates the document for an endpoint with this URL.
    ///
    /// # Errors
    /// Fails with the configuration error if a URL is invalid.
    pub(crate) fn new(url: &str, servers: &[String]) -> Result<Self, String> {
        let (origin, path) = parts_of("url", url)?;
        let is_plain =
            |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '.' | '_' | '~');
        if !path.chars().all(is_plain) {
            return Err(format!(
                "url: the path of {url:?} has other characters than letters, \
                                digits, `/`, `-`, `.`, `_` and `~`"
            ));
        }
        for server in servers {
            parts_of("authorization_server", server)?;
        }
        let document = json!({
            "resource": url,
            "authorization_servers": servers,
            "bearer_methods_supported": ["header"],
        });
        Ok(Self { document, origin, path })
    }

    /// Returns the URL of the document.
    pub(crate) fn location(&self) -> String {
        format!("{}/.well-known/{NAME}{}", self.origin, self.path)
    }

    /// Creates the routes of the document, or a tree with a configuration
    /// error.
    pub(crate) fn routes(
        metadata: Result<Self, String>,
        location: &'static Location<'static>,
    ) -> RouteTree {
        let metadata = match metadata {
            Ok(metadata) => metadata,
            Err(fault) => {
                let mut tree = RouteTree::new();
                add_mistake(&mut tree, ConfigIssue::new(fault).at(location));
                return tree;
            }
        };
        // Clients try the path of the endpoint first, then the root.
        let tree = RouteTree::new().method(Method::GET, metadata.entry());
        let path = metadata.path.trim_matches('/');
        let tree = match path {
            "" => tree,
            path => tree.segment(path, RouteTree::new().method(Method::GET, metadata.entry())),
        };
        RouteTree::new().segment(".well-known", RouteTree::new().segment(NAME, tree))
    }

    fn entry(&self) -> RouteEntry {
        let document = self.document.clone();
        let docs = RouteDocs::new("Names the authorization servers of the MCP endpoint");
        RouteEntry::new(move || async move { Json(document) })
            .docs(docs)
            .public("clients read it before they log in")
    }
}

/// Returns the origin and the path of a URL.
///
/// # Errors
/// Fails with a configuration error for any other text.
fn parts_of(key: &str, url: &str) -> Result<(String, String), String> {
    let fault = || {
        format!(
            "{key}: {url:?} is not a URL such as \"https://api.example.com/mcp\", without a \
                 query and a fragment"
        )
    };
    let uri: Uri = url.parse().map_err(|_| fault())?;
    let (scheme, authority) = uri.scheme_str().zip(uri.authority()).ok_or_else(fault)?;
    let is_safe = scheme == "https" || scheme == "http" && is_loopback(authority.host());
    let has_more = url.contains(['?', '#', '"', '\\']) || authority.as_str().contains('@');
    let has_same_host = url.starts_with(&format!("{scheme}://{authority}"));
    if !is_safe || has_more || !has_same_host {
        return Err(fault());
    }
    let path = uri.path().trim_end_matches('/').to_owned();
    Ok((format!("{scheme}://{authority}"), path))
}

/// Returns true for an origin as browsers send it, such as
/// `https://app.example.com`.
pub(crate) fn is_origin(text: &str) -> bool {
    let uri: Option<Uri> = text.parse().ok();
    let parts = uri.as_ref().and_then(|uri| uri.scheme_str().zip(uri.authority()));
    parts.is_some_and(|(scheme, authority)| {
        let written = format!("{scheme}://{authority}");
        matches!(scheme, "http" | "https")
            && written == text
            && !text.contains('@')
            && written == written.to_ascii_lowercase()
    })
}

/// The name of the document below `/.well-known/`.
const NAME: &str = "oauth-protected-resource";

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: Option<&str>) {
        let location = Metadata::new(url, &[]).map(|it| it.location());
        assert_eq!(location.ok().as_deref(), expected, "{url}");
    }

    #[test]
    fn the_document_is_below_the_host_of_the_endpoint() {
        let root = "https://a.example/.well-known/oauth-protected-resource";
        check("https://a.example/mcp", Some(&format!("{root}/mcp")));
        check("https://a.example/v1/mcp/", Some(&format!("{root}/v1/mcp")));
        check("https://a.example", Some(root));
        check("https://a.example/", Some(root));
        let local = "http://localhost:3000/.well-known/oauth-protected-resource/mcp";
        check("http://localhost:3000/mcp", Some(local));
        for url in [
            "http://a.example/mcp",
            "https://a.example/mcp?a=1",
            "https://a.example/mcp#x",
            "https://u@a.example/mcp",
            "https://a.example/:id",
            "https://a.example/*",
            "a.example/mcp",
            "/mcp",
            "",
        ] {
            check(url, None);
        }
    }

    #[test]
    fn an_origin_ends_with_its_host() {
        for origin in ["https://a.example", "http://localhost:5173", "https://[::1]:8443"] {
            assert!(is_origin(origin), "{origin}");
        }
        for other in
            ["https://a.example/", "null", "*", "a.example", "ftp://a", "https://A.example"]
        {
            assert!(!is_origin(other), "{other}");
        }
    }
}
