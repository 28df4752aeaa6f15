//! The document, validated by the official schema of OpenAPI 3.1.

#[path = "../../../../tests/it/openapi/official/validate.rs"]
mod validate;

use stockade::prelude::*;

use super::Conduit;

#[tokio::test]
async fn the_document_follows_the_official_schema() {
    let conduit = Conduit::new().await;
    let document: Value = conduit.client.get("/openapi.json").await.assert_status(200).json();
    assert_eq!(validate::validate(&document), Ok(()));
    assert!(document["paths"]["/api/articles/{slug}"]["get"].is_object(), "{document}");
}
