//! Validates documents against the official OpenAPI 3.1 schema.

mod generated;
pub mod validate;

use std::{env, fs};

use stockade::prelude::*;
use stockade::testing::TestClient;

use self::validate::validate;

/// The committed document of the shop example.
const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/shop/openapi.json");

/// Run `DOCUMENTS=overwrite cargo test -p stockade-tests official` to write the
/// file, then review the diff.
#[tokio::test]
async fn the_document_of_the_shop_is_up_to_date() {
    let text = shop_document().await;
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(validate(&document), Ok(()));
    assert_eq!(text, shop_document().await, "another build gives other bytes");
    let pretty = serde_json::to_string_pretty(&document).unwrap() + "\n";
    if env::var("DOCUMENTS").is_ok_and(|wish| wish == "overwrite") {
        fs::write(SHOP, pretty).unwrap();
        return;
    }
    let committed = fs::read_to_string(SHOP).unwrap();
    let differing = committed.lines().zip(pretty.lines()).find(|(old, new)| old != new);
    assert!(
        committed == pretty,
        "the document of the shop is not the committed one, first at {differing:?}; \
         DOCUMENTS=overwrite writes it"
    );
}

async fn shop_document() -> String {
    let secret = Secret::new("the shop's secret has thirty-two").unwrap();
    let shop = shop::Shop::open(":memory:", secret).await.unwrap();
    let client = TestClient::new(shop::router(shop));
    client.get("/openapi.json").await.assert_status(200).text().to_owned()
}
