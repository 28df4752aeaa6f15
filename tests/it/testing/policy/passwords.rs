//! The policy rule about routes that read a password.

use stockade::middleware::rate_limit::HOUR;
use stockade::prelude::*;

use super::*;

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Login {
    user: Option<Credentials>,
}

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Credentials {
    #[serde(rename = "newPassword")]
    password: String,
}

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Pin {
    passphrase: String,
    again: Box<Option<Pin>>,
}

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Note {
    password_hint: String,
    replies: Vec<Note>,
}

fn tree() -> RouteTree {
    let log_in = async |Body(_): Body<Login>| ();
    routes! {
        "login": { POST: log_in },
        "slow": { POST: { handler: log_in, rate_limit: 100 / MINUTE } },
        "hourly": { POST: { handler: log_in, rate_limit: 6_001 / HOUR } },
        "pin": { PUT: async |Body(_): Body<Pin>| () },
        "notes": { POST: async |Body(_): Body<Note>| () },
    }
}

#[test]
fn password_routes_must_have_a_rate_limit() {
    // The default of the router is low enough.
    check("passwords-limited", tree(), &[]);
    let map = map_of(create_router(tree(), RouterOptions::new().rate_limit(101 / MINUTE)));
    check_map("passwords-limited", &map, &["POST /login", "POST /hourly", "PUT /pin"]);
    let told = texts("passwords-limited", &map);
    assert!(told[0].contains("body.user.newPassword"), "{told:?}");
    assert!(told[2].contains("body.passphrase"), "{told:?}");
    let map = map_of(create_router(tree(), RouterOptions::new().rate_limit(false)));
    check_map("passwords-limited", &map, &["POST /login", "POST /hourly", "PUT /pin"]);
}
