//! Requests that try to set a nested read-only value or to read a nested
//! write-only value.

use super::examples::{JSON_PATCH, of_ada, stored};
use super::*;

/// Sends JSON Patch operations and returns the status.
async fn patch(client: &TestClient, operations: &str) -> u16 {
    let request = client.patch("/teams/1").body(operations.to_owned());
    request.header(JSON_PATCH.0, JSON_PATCH.1).await.status().as_u16()
}

/// The stored members are bob, a user, and eve, a guest.
fn role_of<'v>(team: &'v Value, name: &str) -> Option<&'v str> {
    let members = team["members"].as_array()?;
    members.iter().find(|member| member["name"] == name)?["role"].as_str()
}

#[test]
fn a_role_stays_with_its_list_element() {
    block_on(async {
        let user = |name: &str| json!({ "name": name, "role": "user" });
        let guest = |name: &str| json!({ "name": name, "role": "guest" });
        for (members, expected) in [
            (json!([guest("bob"), user("eve")]), "guest"),
            (json!([user("eve"), guest("bob")]), "guest"),
            (json!([user("eve")]), "guest"),
            (json!([user("bob"), user("eve")]), "guest"),
            (json!([user("eve"), user("eve"), user("bob")]), "guest"),
        ] {
            for is_put in [false, true] {
                let (store, client) = of_ada();
                let body = json!({ "owner": { "name": "ada" }, "members": members });
                let request =
                    if is_put { client.put("/teams/1") } else { client.patch("/teams/1") };
                request.json(&body).await.assert_status(200);
                let team = stored(&store).await;
                assert_eq!(role_of(&team, "eve"), Some(expected), "{members} {is_put}");
                for member in team["members"].as_array().unwrap() {
                    let is_own = member["name"] == "bob" || member["role"] == "guest";
                    assert!(is_own, "{members} {is_put}: {team}");
                }
            }
        }
        // A new element never inherits the values of a removed one.
        for operations in [
            r#"[{"op":"remove","path":"/members/0"},
                {"op":"add","path":"/members/-","value":{"name":"mal","role":"user"}}]"#,
            r#"[{"op":"move","from":"/members/1","path":"/members/0"},{"op":"remove","path":"/members/1"},
                {"op":"add","path":"/members/1","value":{"name":"mal","role":"user"}}]"#,
            r#"[{"op":"copy","from":"/members/0","path":"/members/-"},
                {"op":"replace","path":"/members/2/name","value":"mal"}]"#,
            r#"[{"op":"add","path":"/members/-","value":
                {"name":"mal","role":"user","\u0000origin":0,"\u0000orig\u0069n":0}}]"#,
            r#"[{"op":"add","path":"/members/-","value":{"name":"mal"}},
                {"op":"add","path":"/members/2/\u0000origin","value":0}]"#,
            r#"[{"op":"add","path":"/members/-","value":{"name":"mal"}},
                {"op":"add","path":"/members/2/role","value":"user"},
                {"op":"add","path":"/members/2/r\u006fle","value":"user"}]"#,
        ] {
            let (store, client) = of_ada();
            let status = patch(&client, operations).await;
            let team = stored(&store).await;
            assert!(status == 200 || status == 400, "{operations}: {status}");
            let role = role_of(&team, "mal");
            assert!(role.is_none() || role == Some("guest"), "{operations}: {team}");
        }
    });
}

#[test]
fn marks_apply_below_every_map_key() {
    block_on(async {
        for key in ["role", "password", "kind", "a.b", "a/b", "~0", "~1", "", "\0origin", "0"] {
            let (store, client) = of_ada();
            let mal = json!({ "name": "mal", "role": "admin", "password": "known" });
            let body = json!({ "owner": { "name": "ada" }, "by_desk": { key: mal } });
            let pointer = key.replace('~', "~0").replace('/', "~1");
            let add = json!([
                { "op": "add", "path": format!("/by_desk/{pointer}"), "value": mal },
                { "op": "add", "path": "/by_desk/z", "value": { "name": "z", "password": "known" } },
                { "op": "copy", "from": "/by_desk", "path": "/members/0/extra" },
            ]);
            let mut texts = vec![
                client.post("/teams").json(&body).await.text().to_owned(),
                client.patch("/teams/1").json(&body).await.text().to_owned(),
                client.put("/teams/1").json(&body).await.text().to_owned(),
            ];
            patch(&client, &add.to_string()).await;
            texts.push(client.get("/teams").await.text().to_owned());
            for text in texts {
                assert!(!text.contains("known"), "{key:?}: {text}");
            }
            let team = stored(&store).await;
            for (key, person) in team["by_desk"].as_object().unwrap() {
                let is_own = key == "a" && person["role"] == "user" || person["role"] == "guest";
                assert!(is_own, "{key:?}: {team}");
            }
        }
    });
}

#[test]
fn no_query_patch_or_error_depends_on_a_nested_hidden_value() {
    block_on(async {
        let (_, client) = of_ada();
        for query in [
            "sort=owner.password",
            "owner.password=password+of+ada",
            "owner[password]=x",
            "sort=owner",
            "owner=x",
            "members=x",
            "fields=owner.password",
            "q=password",
        ] {
            let right = client.get(format!("/teams?{query}")).await;
            let wrong = client.get(format!("/teams?{}", query.replace("ada", "eve"))).await;
            assert_eq!(right.text(), wrong.text(), "{query}");
            assert!(!right.text().contains("password of"), "{query}: {}", right.text());
        }
        let guess = |value: &str| {
            [
                json!([{ "op": "test", "path": "/owner/password", "value": value }]),
                json!([{ "op": "test", "path": "/owner", "value":
                    { "name": "ada", "role": "admin", "password": value } }]),
                json!([{ "op": "copy", "from": "/owner/password", "path": "/owner/name" }]),
                json!([{ "op": "move", "from": "/owner/password", "path": "/owner/name" }]),
                json!([{ "op": "test", "path": "/owner/p~0assword", "value": value }]),
                json!([{ "op": "test", "path": "/access/secret", "value": value }]),
                json!([{ "op": "replace", "path": "/access/kind", "value": "public" },
                    { "op": "test", "path": "/access/secret", "value": value }]),
                json!([{ "op": "move", "from": "/owner", "path": "/members/-" },
                    { "op": "test", "path": "/members/2/password", "value": value }]),
            ]
        };
        for (right, wrong) in guess("password of ada").into_iter().zip(guess("other")) {
            let right_status = patch(&client, &right.to_string()).await;
            assert_eq!(right_status, patch(&client, &wrong.to_string()).await, "{right}");
            assert!(right_status >= 400, "{right}");
        }
        // The error does not contain the overlong value.
        let long = "x1y2".repeat(9);
        let answer = client.patch("/teams/1").json(json!({ "owner": { "password": long } })).await;
        assert!(!answer.assert_status(400).text().contains("x1y2"));
    });
}

#[test]
fn ambiguous_names_of_a_body_do_not_change_a_role() {
    block_on(async {
        let (store, client) = of_ada();
        for body in [
            r#"{"owner":{"name":"ada"},"owner":{"name":"ada","role":"root"}}"#,
            r#"{"owner":{"name":"ada","role":"x","r\u006fle":"root"}}"#,
            r#"{"owner":{"name":"ada","role":null,"Role":"root"}}"#,
            r#"{"owner":{"name":"ada","role":{"role":"root"}}}"#,
            r#"{"owner":null}"#,
        ] {
            let request = client.patch("/teams/1").body(body.to_owned());
            request.header("content-type", "application/json").await;
            assert_eq!(stored(&store).await["owner"]["role"], "admin", "{body}");
        }
    });
}
