//! Where the routes are handed over one by one, some rows have another answer
//! than that of the own server. `differences.md` is the list, and this pins it.

use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::hosts::table::{self, HandedOver, Row};
use crate::hosts::{api, ask};
use crate::serve::{actix, axum};

#[actix_web::test]
async fn the_list_of_differences_is_what_the_hosts_do() {
    let server = api::router().create_server().unwrap().bind("127.0.0.1:0").await.unwrap();
    let own = format!("http://{}", server.local_addr());
    actix_web::rt::spawn(server.serve());
    let hosts = [
        TestClient::live(&own),
        TestClient::live(&axum::routes(api::router(), "/api").await),
        TestClient::live(&actix::routes(api::router(), "/api")),
    ];
    let mut list = String::new();
    for (index, row) in table::rows().iter().enumerate() {
        if matches!(row.handed_over, HandedOver::Same) {
            continue;
        }
        list += &format!("| {} |", row.about);
        for host in &hosts {
            list += &format!(" {} |", last_answer(host, index, row).await);
        }
        list += "\n";
    }
    let (_, known) = LIST.split_once("|---|---|---|---|\n").unwrap();
    assert!(known == list, "the list is now:\n\n{list}");
}

/// The last answer to a row, as `status body` or the status alone, and with
/// what it says of a limit.
async fn last_answer(host: &TestClient, index: usize, row: &Row) -> String {
    let mut answer = ask(host, row.request(index)).await;
    for _ in 1..row.times {
        answer = ask(host, row.request(index)).await;
    }
    let body = String::from_utf8(answer.body().to_vec()).unwrap();
    let mut line = answer.status().as_u16().to_string();
    if !body.is_empty() {
        line += &format!(" `{body}`");
    }
    if let Some(policy) = answer.headers().get("ratelimit-policy").filter(|_| row.times > 1) {
        line += &format!(", limited by `{}`", policy.to_str().unwrap());
    }
    line
}

const LIST: &str = include_str!("differences.md");
