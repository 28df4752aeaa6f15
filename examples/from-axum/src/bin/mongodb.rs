//! Members in MongoDB: create, read, update and delete.

use from_axum::stand_ins::mongodb::{
    Client, Collection, DeleteResult, Error, InsertOneResult, UpdateResult,
};
use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::validation::Unchecked;

#[derive(Serialize, Deserialize, Schema)]
struct Member {
    #[serde(rename = "_id")]
    id: u32,
    name: String,
    active: bool,
}

type Members = State<Collection<Member>>;

async fn create(
    members: Members,
    Body(member): Body<Member>,
) -> Result<Json<Unchecked<InsertOneResult>>, BoxError> {
    Ok(Json(Unchecked(members.insert_one(&member).await?)))
}

async fn read(members: Members, Path(id): Path<u32>) -> Result<Json<Option<Member>>, BoxError> {
    Ok(Json(members.find_one(id).await?))
}

async fn update(
    members: Members,
    Body(member): Body<Member>,
) -> Result<Json<Unchecked<UpdateResult>>, BoxError> {
    Ok(Json(Unchecked(members.replace_one(member.id, &member).await?)))
}

async fn delete(
    members: Members,
    Path(id): Path<u32>,
) -> Result<Json<Unchecked<DeleteResult>>, BoxError> {
    Ok(Json(Unchecked(members.delete_one(id).await?)))
}

fn app(client: &Client) -> Result<App, ConfigError> {
    let api = routes! {
        "create": { POST: create },
        "read": { ":id": { GET: read } },
        "update": { PUT: update },
        "delete": { ":id": { DELETE: delete } },
    };
    let members: Collection<Member> = client.collection("from-axum", "members");
    create_router(api, RouterOptions::new().access_log(true)).state(members).build()
}

async fn connect() -> Result<Client, Error> {
    let url = std::env::var("DATABASE_URL");
    let url = url.as_deref().unwrap_or("mongodb://admin:password@127.0.0.1:27017");
    Client::with_uri_str(url).await
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    app(&connect().await?)?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn a_member_is_created_and_deleted() {
        let client = TestClient::new(app(&connect().await.unwrap()).unwrap());
        let mut ada = json!({ "_id": 7, "name": "Ada", "active": true });
        let created = client.post("/create").json(&ada).await;
        created.assert_status(200).assert_json(json!({ "inserted_id": 7 }));
        client.post("/create").json(&ada).await.assert_status(500);
        client.get("/read/7").await.assert_status(200).assert_json(&ada);

        ada["active"] = json!(false);
        let updated = client.put("/update").json(&ada).await;
        updated.assert_status(200).assert_json(json!({ "modified_count": 1 }));
        client.get("/read/7").await.assert_json(&ada);

        let deleted = client.delete("/delete/7").await;
        deleted.assert_status(200).assert_json(json!({ "deleted_count": 1 }));
        client.get("/read/7").await.assert_status(200).assert_json(json!(null));
        client.get("/read/x").await.assert_status(400);
    }
}
