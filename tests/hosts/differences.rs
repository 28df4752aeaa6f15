//! Hosts with individual routes respond to some rows differently from the
//! built-in server. `differences.md` lists these rows, and this test pins the
//! list.

use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::hosts::table::{self, HandedOver, Row};
use crate::hosts::{api, ask};
use crate::serve::{actix, axum};

#[actix_web::test]
async fn the_list_of_differences_matches_the_hosts() {
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

/// Returns the last response to a row as `status body` or only the status, with
/// its rate limit headers.
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
