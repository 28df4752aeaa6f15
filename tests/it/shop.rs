//! The main example, in process: what its tree promises.

#[allow(dead_code, reason = "the example is a program; its `main` is not called here")]
#[path = "../../examples/shop.rs"]
mod example;

use crate::support::{app, check, header_of};

const JSON: &str = "content-type: application/json";

#[test]
fn products_are_searched_page_by_page() {
    let app = app(example::router());
    let teapot =
        r#"{"id":3,"name":"Teapot","category":"crockery","price_cents":2900,"image_bytes":0}"#;
    let found = format!(r#"200 {{"page":1,"pages":1,"products":[{teapot}]}}"#);
    check(&app, "GET /products?q=pot", &found);
    check(&app, "GET /products?q=pot&page=2", r#"200 {"page":2,"pages":1,"products":[]}"#);
    check(&app, "GET /products/3", &format!("200 {teapot}"));
    check(&app, "GET /products/9", r#"404 {"error":"there is no product 9"}"#);
    check(
        &app,
        "GET /products/compare/1-3",
        r#"200 {"left_cents":450,"right_cents":2900,"cheaper":"left"}"#,
    );
    check(&app, "GET /catalogue/crockery/2", r#"200 {"page":2,"pages":1,"products":[]}"#);
    assert_eq!(header_of(&app, "GET /products/3", "x-shop"), "stockade");
}

#[test]
fn users_come_and_go() {
    let app = app(example::router());
    let create =
        format!("POST /users\n{JSON}\n\n{{\"name\":\"Ada\",\"email\":\"ada@example.org\"}}");
    check(&app, &create, r#"201 {"id":6,"name":"Ada","email":"ada@example.org"}"#);
    let refused = r#"400 {"error":"Validation failed","details":{"errors":[{"field":"email","message":"Invalid email format","rule":"email"}]}}"#;
    check(&app, &format!("POST /users\n{JSON}\n\n{{\"name\":\"Ada\",\"email\":\"ada\"}}"), refused);
    check(
        &app,
        &format!("PATCH /users/6\n{JSON}\n\n{{\"name\":\"Eve\"}}"),
        r#"200 {"id":6,"name":"Eve","email":"ada@example.org"}"#,
    );
    check(&app, "DELETE /users/6", "204");
    check(&app, "GET /users/6", r#"404 {"error":"there is no user 6"}"#);
    check(&app, "GET /users/six", r#"404 {"error":"Not Found"}"#);
}

#[test]
fn a_cart_becomes_an_order() {
    let app = app(example::router());
    check(&app, "POST /carts", r#"201 {"cart":6}"#);
    check(&app, "POST /carts/6/checkout", r#"409 {"error":"the cart is empty"}"#);
    check(&app, &format!("POST /carts/6/items\n{JSON}\n\n{{\"product\":1,\"count\":2}}"), "204");
    check(&app, &format!("POST /carts/6/items\n{JSON}\n\n{{\"product\":5}}"), "204");
    check(&app, "DELETE /carts/6/items/5", "204");
    check(
        &app,
        "GET /carts/6",
        r#"200 {"cart":6,"lines":[{"product":1,"count":2,"cents":900}],"total_cents":900}"#,
    );
    check(&app, "POST /carts/6/checkout", r#"201 {"order":7}"#);
    check(&app, "POST /orders/7/ship", r#"403 {"error":"Only clerks may do this"}"#);
    check(&app, "POST /orders/7/ship\nx-clerk: 1", "204");
    check(
        &app,
        "POST /orders/7/ship\nx-clerk: 1",
        r#"409 {"error":"order 7 was shipped already"}"#,
    );
    check(&app, "GET /orders/7/events", "200 event: status\ndata: \"shipped\"\n\n");
}

#[test]
fn exports_uploads_and_the_rest() {
    let app = app(example::router());
    let csv = "200 id,name,category,price_cents\n1,Green tea,tea,450\n2,Black tea,tea,390\n\
               3,Teapot,crockery,2900\n4,Coffee,coffee,780\n5,Cup,crockery,600\n";
    check(&app, "GET /products/export.csv", csv);
    check(&app, "GET /products/export.xml", r#"404 {"error":"Not Found"}"#);
    check(&app, "GET /help/a/b", "200 No help on \"a/b\" yet, 192.0.2.7.\n");
    check(&app, "GET /old-about", "308");
    let upload = "POST /products/5/image\nx-clerk: 1\ncontent-type: multipart/form-data; boundary=B\n\n\
                  --B\r\nContent-Disposition: form-data; name=\"image\"; filename=\"c.png\"\r\n\r\n12345\r\n--B--\r\n";
    check(
        &app,
        upload,
        r#"200 {"id":5,"name":"Cup","category":"crockery","price_cents":600,"image_bytes":5}"#,
    );
    let form = "POST /products\nx-clerk: 1\ncontent-type: application/x-www-form-urlencoded\n\nname=Mug&category=crockery&price_cents=700";
    check(
        &app,
        form,
        r#"201 {"id":6,"name":"Mug","category":"crockery","price_cents":700,"image_bytes":0}"#,
    );
}
