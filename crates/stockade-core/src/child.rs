//! Requests for parts of a request, such as the calls of a batch.
//!
//! A part shares the head, the user, the client and the request id, but has its
//! own body. It runs within the future of the whole request, so it ends when
//! the client disconnects.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{Extensions, HeaderValue, Method, header};

use crate::error_settings::Settings;
use crate::read::Payload;
use crate::request::{Inner, Replaced};
use crate::route_context::RouteContext;
use crate::{HttpBody, LocalPeer, PeerAddr, PeerCredentials, Request};

impl Request {
    /// Creates a request with the same head, parameters, user, client and id,
    /// but without a body. Its extensions are clones.
    #[must_use]
    #[doc(hidden)]
    pub fn child(&self) -> Self {
        let whole = &*self.inner;
        let replaced = whole
            .replaced
            .as_deref()
            .map(|it| Box::new(Replaced { params: it.params.clone(), query: it.query.clone() }));
        let inner = Inner {
            head: whole.head.clone(),
            payload: Payload::Bytes(Bytes::new()),
            params: whole.params.clone(),
            route: whole.route.clone(),
            settings: whole.settings,
            max_body: whole.max_body,
            // A part must not write the response of the whole request.
            writer: None,
            replaced,
            user: whole.user.clone(),
            user_watch: whole.user_watch.clone(),
            taken_lifetime: None,
            peer: whole.peer,
            client: whole.client,
            id: whole.id.clone(),
            shared: whole.shared.clone(),
            is_framed: true,
            is_on_tls: whole.is_on_tls,
            has_listed_origin: whole.has_listed_origin,
            // A part may have another user and other headers.
            kept_head: None,
        };
        Self { inner: Box::new(inner) }
    }

    /// Creates a request within this one: another request of the same client,
    /// with the same peer, id and transport. It does not have the headers, the
    /// user or the extensions of this request.
    #[must_use]
    #[doc(hidden)]
    pub fn within(&self, head: Parts, body: Bytes) -> Self {
        let mut req = Self::new(head, HttpBody::empty());
        let (inner, outer) = (&mut *req.inner, &*self.inner);
        inner.payload = Payload::Bytes(body);
        inner.peer = outer.peer;
        inner.client = outer.client;
        inner.id.clone_from(&outer.id);
        inner.is_framed = true;
        inner.is_on_tls = outer.is_on_tls;
        let extensions = &mut inner.head.extensions;
        copy::<PeerAddr>(&outer.head.extensions, extensions);
        copy::<LocalPeer>(&outer.head.extensions, extensions);
        copy::<PeerCredentials>(&outer.head.extensions, extensions);
        req
    }

    /// Returns true if a body in memory is larger than the limit of the route.
    #[must_use]
    #[doc(hidden)]
    pub fn exceeds_body_limit(&self) -> bool {
        match &self.inner.payload {
            Payload::Bytes(bytes) => bytes.len() as u64 > self.inner.max_body,
            _ => false,
        }
    }

    /// Moves the request to the endpoint for one part of it, with JSON as its
    /// body. Its parameters, settings and limits stay the same.
    #[doc(hidden)]
    pub fn set_part(&mut self, route: Arc<RouteContext>, json: Bytes) {
        self.inner.route = Some(route);
        self.inner.payload = Payload::Bytes(json);
    }

    /// Sets the value that the request shares with its parts. Replaces an
    /// earlier value. Unlike extensions, it is not copied for each part.
    #[doc(hidden)]
    pub fn share<T: Any + Send + Sync>(&mut self, value: Arc<T>) {
        self.inner.shared = Some(value);
    }

    /// Returns the value that the request shares with its parts, if it is a `T`.
    #[doc(hidden)]
    #[must_use]
    pub fn shared<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        Arc::downcast(Arc::clone(self.inner.shared.as_ref()?)).ok()
    }

    /// Turns the request into a POST with JSON, for parts that do not arrive in
    /// its body, such as WebSocket messages.
    #[doc(hidden)]
    pub fn carry_json(&mut self) {
        self.inner.head.method = Method::POST;
        let headers = &mut self.inner.head.headers;
        headers.remove(header::CONTENT_ENCODING);
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }

    /// Returns the settings for error responses.
    #[doc(hidden)]
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.inner.settings
    }
}

/// Copies a fact about the peer.
fn copy<T: Copy + Send + Sync + 'static>(from: &Extensions, to: &mut Extensions) {
    if let Some(fact) = from.get::<T>() {
        to.insert(*fact);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::PeerAddr;

    fn route(label: &str) -> Arc<RouteContext> {
        let mut route = RouteContext::new("/rpc");
        route.label = Some(label.into());
        Arc::new(route)
    }

    #[tokio::test]
    async fn a_child_shares_everything_except_the_body() {
        let sent = http::Request::post("/rpc?a=1").header("x-tenant", "7").body("whole").unwrap();
        let mut whole = Request::from(sent).with_peer(PeerAddr(([192, 0, 2, 1], 80).into()));
        whole.set_user_json(json!({ "name": "ada" }).to_string(), None);
        whole.set_user_origin("[\"token\"]".into());
        whole.set_id("r-1");
        whole.extensions_mut().insert(7_u8);
        whole.share(Arc::new("shared"));
        whole.set_query(json!({ "a": 2 }).as_object().cloned().unwrap());

        let mut child = whole.child();
        child.set_part(route("rpc:add"), Bytes::from_static(b"[1]"));
        assert_eq!(
            (child.path(), child.id(), child.route()),
            ("/rpc", Some("r-1"), Some("rpc:add"))
        );
        assert_eq!(child.headers()["x-tenant"], "7");
        assert_eq!(child.user().unwrap()["name"], "ada");
        assert_eq!(child.user_origin(), whole.user_origin());
        assert_eq!(child.client_ip(), whole.client_ip());
        assert_eq!(child.extensions().get(), Some(&7_u8));
        assert_eq!(child.shared().as_deref(), Some(&"shared"));
        assert_eq!(child.shared::<u8>(), None);
        assert_eq!(child.query().unwrap()["a"], 2);
        assert_eq!(child.bytes().await.unwrap(), "[1]");

        child.set_user(None);
        assert_eq!(child.user_origin(), None);
        child.headers_mut().clear();
        assert!(whole.user().is_some() && whole.headers().contains_key("x-tenant"));
        assert_eq!(whole.bytes().await.unwrap(), "whole");
    }

    #[tokio::test]
    async fn a_request_within_another_has_only_the_same_client() {
        let sent = http::Request::post("/mcp").header("cookie", "a=1").extension(LocalPeer);
        let mut outer = Request::from(sent.extension(7_u8).body("outer").unwrap());
        outer = outer.with_peer(PeerAddr(([192, 0, 2, 1], 80).into()));
        outer.set_client_ip(Some([203, 0, 113, 9].into()));
        outer.set_user_json(json!({ "name": "ada" }).to_string(), None);
        outer.set_id("r-1");
        let (head, ()) = http::Request::get("/orders").body(()).unwrap().into_parts();
        let mut within = outer.within(head, Bytes::from_static(b"{}"));
        assert_eq!((within.path(), within.id()), ("/orders", Some("r-1")));
        assert_eq!((within.peer(), within.client_ip()), (outer.peer(), outer.client_ip()));
        assert!(within.headers().is_empty() && within.user().is_none());
        assert!(within.extensions().get::<LocalPeer>().is_some());
        assert!(within.extensions().get::<u8>().is_none());
        assert!(!within.exceeds_body_limit());
        assert_eq!(within.bytes().await.unwrap(), "{}");
    }

    #[tokio::test]
    async fn a_handshake_carries_json() {
        let sent =
            http::Request::get("/rpc").header("content-type", "text/plain").body(()).unwrap();
        let mut child = Request::from(sent).child();
        child.carry_json();
        child.set_part(route("rpc:add"), Bytes::from_static(b"{\"a\":1}"));
        assert_eq!(child.body().await.unwrap()["a"], 1);
    }
}
