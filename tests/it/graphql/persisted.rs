//! Persisted documents, which clients identify by a hash.

use std::any::TypeId;
use std::sync::Arc;

use stockade::graphql::{GraphQl, PersistedQueries, RequestContext, async_graphql as gql};
use stockade::prelude::*;
use stockade::testing::TestClient;

use super::{client, refused, router, schema, send};

const DOCUMENT: &str = "{ add(a: 2, b: 3) }";
/// The SHA-256 of the document.
const HASH: &str = "0b8bc50d31408d127d07287bad7f6ac12696f9a676be046872891ba8e2609af6";

fn by_hash(hash: &str) -> Value {
    json!({ "extensions": { "persistedQuery": { "version": 1, "sha256Hash": hash } } })
}

fn with_document(hash: &str, document: &str) -> Value {
    let mut body = by_hash(hash);
    body["query"] = json!(document);
    body
}

fn code(answer: &Value) -> &Value {
    &answer["errors"][0]["extensions"]["code"]
}

#[tokio::test]
async fn rejects_a_hash_if_persisted_queries_are_disabled() {
    let client = client(GraphQl::new(schema()));
    let answer: Value = send(&client, &by_hash(HASH)).await.json();
    assert_eq!(*code(&answer), "PERSISTED_QUERY_NOT_SUPPORTED");
    assert_eq!(answer["errors"][0]["message"], "PersistedQueryNotSupported");
    send(&client, &with_document(HASH, DOCUMENT))
        .await
        .assert_json(json!({ "data": { "add": 5 } }));
}

#[tokio::test]
async fn a_cache_learns_documents() {
    let client = client(GraphQl::new(schema()).persisted(PersistedQueries::cache(1)));
    let response = send(&client, &by_hash(HASH)).await;
    response.assert_status(200);
    let answer: Value = response.json();
    assert_eq!(*code(&answer), "PERSISTED_QUERY_NOT_FOUND");
    assert_eq!(answer["errors"][0]["message"], "PersistedQueryNotFound");

    let wrong = refused(&client, &with_document(HASH, "{ node { name } }")).await;
    assert_eq!(wrong, "The hash does not match the document");
    let expected = json!({ "data": { "add": 5 } });
    send(&client, &with_document(HASH, DOCUMENT)).await.assert_json(&expected);
    send(&client, &by_hash(HASH)).await.assert_json(&expected);
    send(&client, &json!({ "documentId": format!("sha256:{HASH}") })).await.assert_json(&expected);
    let get =
        client.get("/graphql").query([("extensions", by_hash(HASH)["extensions"].to_string())]);
    get.await.assert_json(&expected);
    // A document without a hash runs but is not stored.
    send(&client, &json!({ "query": "{ __typename }" })).await.assert_status(200);
    send(&client, &by_hash(HASH)).await.assert_json(&expected);
}

#[tokio::test]
async fn rejects_a_malformed_hash() {
    let client = client(GraphQl::new(schema()).persisted(PersistedQueries::cache(10)));
    for hash in ["", "ab", &"x".repeat(64)] {
        assert_eq!(refused(&client, &by_hash(hash)).await, "The hash of the document is malformed");
        let id = json!({ "documentId": hash });
        assert_eq!(refused(&client, &id).await, "The hash of the document is malformed");
    }
    for persisted in [json!({ "version": 2, "sha256Hash": HASH }), json!(7), json!({})] {
        let body = json!({ "extensions": { "persistedQuery": persisted } });
        assert_eq!(refused(&client, &body).await, "PersistedQueryNotSupported");
    }
    assert_eq!(refused(&client, &json!({})).await, "`query` is missing");
}

#[tokio::test]
async fn a_list_rejects_other_documents() {
    let persisted = PersistedQueries::only([DOCUMENT, "mutation { put(value: 1) }"]);
    let client = client(GraphQl::new(schema()).persisted(persisted));
    let expected = json!({ "data": { "add": 5 } });
    send(&client, &by_hash(HASH)).await.assert_json(&expected);
    send(&client, &json!({ "query": DOCUMENT })).await.assert_json(&expected);
    send(&client, &with_document(HASH, DOCUMENT)).await.assert_json(&expected);
    for body in [
        json!({ "query": "{ __typename }" }),
        with_document(HASH, "{ __typename }"),
        by_hash(&"0".repeat(64)),
    ] {
        assert_eq!(refused(&client, &body).await, "Unknown document");
    }
    assert_eq!(refused(&client, &json!({})).await, "`query` is missing");
}

#[test]
fn a_list_is_validated_when_the_router_is_built() {
    let deep = format!("{{ node {{ {} name {} }} }}", "child {".repeat(50), "}".repeat(50));
    let graphql = GraphQl::new(schema()).persisted(PersistedQueries::only(["{", &deep, DOCUMENT]));
    let error = TestClient::try_new(router(graphql)).unwrap_err().to_string();
    for part in ["PersistedQueries::only", "malformed", "nested deeper than 12", "POST /graphql"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let graphql = GraphQl::new(schema()).persisted(PersistedQueries::cache(0));
    let error = TestClient::try_new(router(graphql)).unwrap_err().to_string();
    assert!(error.contains("at least one document"), "{error}");
}

/// Returns the router's configuration errors for these documents.
#[track_caller]
fn mistakes(graphql: GraphQl, documents: &[&str]) -> String {
    let graphql = graphql.persisted(PersistedQueries::only(documents.iter().copied()));
    TestClient::try_new(router(graphql)).unwrap_err().to_string()
}

#[test]
fn a_list_must_match_the_schema() {
    let wrong = "query Sum { ad(a: 1, b: 1) } query Root { node { nam } add(a: true, b: 1) }";
    for graphql in [GraphQl::new(schema()), GraphQl::finished(schema().finish())] {
        let error = mistakes(graphql, &[wrong, DOCUMENT]);
        for part in [
            "`Root` `Sum` of `PersistedQueries::only`: Unknown field \"ad\" on type \"Query\"",
            "Unknown field \"nam\" on type \"Node\"",
            "Invalid value for argument \"a\"",
            "(line 1:13)",
        ] {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(!error.contains(HASH), "{error}");
    }
    let error = mistakes(GraphQl::new(schema()), &["{ node { children(first: 2000) { name } } }"]);
    assert!(error.contains("too complex"), "{error}");
}

/// Variables do not have values when the router is built.
#[test]
fn a_list_may_have_variables() {
    let persisted = PersistedQueries::only([
        "query A($a: Int!, $b: Int = 2) { add(a: $a, b: $b) }",
        "query B($first: Int!) { node { children(first: $first) { name } } }",
        "query C($f: Filter!) { search(filter: $f) } query D { add(a: 1, b: 1) }",
    ]);
    router(GraphQl::new(schema()).persisted(persisted)).build().unwrap();
    let error = mistakes(GraphQl::new(schema()), &["{ add(a: $a, b: 1) }"]);
    assert!(error.contains("Variable \"$a\" is not defined"), "{error}");
}

/// An extension that requires the caller before validation.
struct NeedsCaller;

impl gql::extensions::ExtensionFactory for NeedsCaller {
    fn create(&self) -> Arc<dyn gql::extensions::Extension> {
        Arc::new(Self)
    }
}

#[gql::async_trait::async_trait]
impl gql::extensions::Extension for NeedsCaller {
    async fn prepare_request(
        &self,
        ctx: &gql::extensions::ExtensionContext<'_>,
        request: gql::Request,
        next: gql::extensions::NextPrepareRequest<'_>,
    ) -> gql::ServerResult<gql::Request> {
        if !request.data.contains_key(&TypeId::of::<RequestContext>()) {
            return Err(gql::ServerError::new("There is no caller", None));
        }
        next.run(ctx, request).await
    }
}

#[tokio::test]
async fn accepts_an_extension_that_needs_a_request() {
    let graphql = GraphQl::new(schema().extension(NeedsCaller));
    let client = client(graphql.persisted(PersistedQueries::only([DOCUMENT])));
    send(&client, &by_hash(HASH)).await.assert_json(json!({ "data": { "add": 5 } }));
}
