//! Profiles and followers.

use stockade::prelude::*;

use super::{Conduit, ConduitErrors};

#[tokio::test]
async fn a_profile_shows_whether_the_viewer_follows() {
    let conduit = Conduit::new().await;
    let (ada, eve) = (conduit.register("ada").await, conduit.register("eve").await);
    let profile = |following: bool| {
        let (bio, image) = (None::<String>, None::<String>);
        json!({ "profile": { "username": "eve", "bio": bio, "image": image, "following": following } })
    };
    conduit.get("/profiles/eve", "").await.assert_json(profile(false));
    conduit.get("/profiles/eve", &ada).await.assert_json(profile(false));
    for _ in 0..2 {
        let followed = conduit.request(Method::POST, "/profiles/eve/follow", &ada).await;
        followed.assert_status(200).assert_json(profile(true));
    }
    conduit.get("/profiles/EVE", &ada).await.assert_json(profile(true));
    conduit.get("/profiles/eve", "").await.assert_json(profile(false));
    conduit.get("/profiles/eve", &eve).await.assert_json(profile(false));
    for _ in 0..2 {
        let left = conduit.delete("/profiles/eve/follow", &ada).await;
        left.assert_status(200).assert_json(profile(false));
    }
    conduit.get("/profiles/eve", &ada).await.assert_json(profile(false));
}

#[tokio::test]
async fn unknown_profiles_are_not_found() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let missing = json!({ "profile": ["not found"] });
    conduit.get("/profiles/nobody", "").await.assert_errors(404, missing.clone());
    // A name is not a pattern and not SQL.
    for name in ["%25", "_da", "'%20OR%201=1%20--", "ada%00"] {
        let response = conduit.get(&format!("/profiles/{name}"), &ada).await;
        assert!([400, 404].contains(&response.status().as_u16()), "{name}");
    }
    let follow = conduit.request(Method::POST, "/profiles/nobody/follow", &ada).await;
    follow.assert_errors(404, missing.clone());
    conduit.delete("/profiles/nobody/follow", &ada).await.assert_errors(404, missing);
}
