//! The tools of the main example.

use shop::{Role, Shop};
use stockade::auth::generate_jwt;
use stockade::prelude::*;
use stockade::testing::{TestAgent, TestClient};

use crate::block_on;

const SECRET: &str = "the shop's secret has thirty-two";

const ADMIN: u32 = 1;
const CUSTOMER: u32 = 2;
const CLERK: u32 = 3;

/// Returns a client for the shop with three users.
async fn shop() -> TestClient {
    let shop = Shop::open(":memory:", Secret::new(SECRET).unwrap()).await.unwrap();
    for (name, role) in [("dan", Role::Admin), ("ann", Role::Customer), ("cleo", Role::Clerk)] {
        shop.add_account(name, &format!("{name}@example.org"), role, "").await.unwrap();
    }
    TestClient::new(shop::router(shop))
}

/// Returns the agent of a user.
fn agent_of(client: &TestClient, user: u32) -> TestAgent {
    let claims = json!({ "sub": user.to_string() });
    let token = generate_jwt(claims, "1h", &Secret::new(SECRET).unwrap()).unwrap();
    client.mcp("/mcp").bearer(token)
}

#[test]
fn each_role_sees_its_tools() {
    block_on(async {
        let client = shop().await;
        let public = ["products_compare", "products_search"];
        client.mcp("/mcp").tools().await.assert_names(public);
        let mut tools = vec![
            "carts_add_item",
            "carts_check_out",
            "carts_open",
            "carts_remove_item",
            "carts_show",
            "orders_show",
            "products_compare",
            "products_search",
            "users_show",
        ];
        agent_of(&client, CUSTOMER).tools().await.assert_names(&tools);
        tools.insert(5, "orders_ship");
        agent_of(&client, CLERK).tools().await.assert_names(&tools);
        tools.extend(["report", "users_give_role", "users_list"]);
        tools.sort_unstable();
        agent_of(&client, ADMIN).tools().await.assert_names(&tools);
    });
}

#[test]
fn the_list_is_small_and_always_the_same() {
    block_on(async {
        let agent = agent_of(&shop().await, ADMIN);
        let first = agent.tools().await;
        let second = agent.tools().await;
        assert_eq!(first.response().bytes(), second.response().bytes());
        let length = first.response().bytes().len();
        assert!(length <= 18 * 1_024, "the list has {length} bytes");
        // The largest tool has less than 100 tokens, at about four bytes each.
        for tool in first.tools() {
            let length = tool.to_string().len();
            assert!(length <= 700, "{tool} has {length} bytes");
        }
    });
}

#[test]
fn an_agent_orders_a_teapot() {
    block_on(async {
        let client = shop().await;
        let agent = agent_of(&client, CUSTOMER);
        let found: Value = agent.call("products_search", json!({ "q": "pot" })).await.json();
        let teapot = &found["products"][0]["id"];
        let cart: Value = agent.call("carts_open", json!({})).await.json();
        let cart = &cart["cart"];
        let item = json!({ "cart": cart, "product": teapot, "count": 2 });
        agent.call("carts_add_item", item).await.assert_text("Done (HTTP 204).");
        let content: Value = agent.call("carts_show", json!({ "cart": cart })).await.json();
        assert_eq!(content["total_cents"], 5_800);
        let order: Value = agent.call("carts_check_out", json!({ "cart": cart })).await.json();
        let id = &order["order"];

        let ship = agent.call("orders_ship", json!({ "id": id })).await;
        ship.assert_error(-32602, "Unknown tool: orders_ship");
        let clerk = agent_of(&client, CLERK);
        clerk.call("orders_ship", json!({ "id": id })).await.assert_text("Done (HTTP 204).");
        let second = clerk.call("orders_ship", json!({ "id": id })).await;
        second.assert_failed("HTTP 409: ").assert_failed("was already shipped");
        let order: Value = agent.call("orders_show", json!({ "id": id })).await.json();
        assert_eq!(order["status"], "shipped");
    });
}

#[test]
fn users_see_only_their_own_data() {
    block_on(async {
        let client = shop().await;
        let agent = agent_of(&client, CUSTOMER);
        agent.call("users_show", json!({ "id": CUSTOMER })).await.assert_json(json!({
            "id": CUSTOMER, "name": "ann", "email": "ann@example.org", "role": "customer",
        }));
        agent.call("users_show", json!({ "id": ADMIN })).await.assert_failed("HTTP 403: ");
        let cart: Value = agent_of(&client, CLERK).call("carts_open", json!({})).await.json();
        let cart = json!({ "cart": cart["cart"] });
        agent.call("carts_show", cart).await.assert_failed("HTTP 404: ");
        client.mcp("/mcp").call("carts_open", json!({})).await.assert_login_required();
    });
}
