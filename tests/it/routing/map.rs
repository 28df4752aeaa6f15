//! The route map and the explanations of a small API.

use std::time::Duration;

use stockade::description::ResponseDoc;
use stockade::errors::ConfigIssue;
use stockade::middleware::{InputRule, TrustProxy, with_input_validation, with_timeout};
use stockade::prelude::*;
use stockade::routing::map::{BodyDoc, ResponseInfo, RouteInfo, RouteKind, RouteMap};
use stockade::validation::{Unchecked, ValidationOptions, schema};
use stockade::websockets::{WebSocket, WebSocketOptions};
use stockade::{RouteDescription, RouteDocs};

#[derive(serde::Deserialize, Schema)]
struct Search {
    #[expect(dead_code, reason = "only its schema matters")]
    #[schema(max_length = 10)]
    q: String,
}

fn paid(_: &mut Request) -> Result<(), ApiError> {
    Ok(())
}

fn app() -> App {
    let has_credit =
        Middleware::new(paid).named("has_credit").describing(|doc: &mut RouteDescription| {
            doc.may_respond(402, "There is no credit left");
        });
    let api = routes! {
        "search": { GET: async |Query(_): Query<Search>| "found" },
        "users": {
            middleware: [paid],
            POST: {
                handler: async |Body(_): Body<Search>| (),
                middleware: [has_credit],
                name: "users.create",
                public: "anybody may join",
                max_body: 10,
                docs: RouteDocs::new("New user").tags(["users"]).response(409, "There is one"),
            },
            r":id(\d+)": { GET: { handler: async |Path(_): Path<u64>| (), rate_limit: false } },
        },
        "files": { "**": { GET: async |Path(name): Path<String>| name } },
    };
    let options = RouterOptions::new().rate_limit(50 / MINUTE).prefix("/api");
    create_router(api, options.middleware(with_timeout(Duration::from_secs(3)))).build().unwrap()
}

fn route<'m>(map: &'m RouteMap, path: &str) -> &'m RouteInfo {
    map.routes.iter().find(|route| route.path == path).unwrap()
}

fn statuses(route: &RouteInfo, part: &str) -> Vec<String> {
    let given = route.answers.iter().filter(|answer| answer.by == part);
    given.map(|answer| answer.status.to_string()).collect()
}

#[test]
fn a_mount_describes_the_responses_before_its_service() {
    let app = create_router(routes! { "old": { mount: app() } }, RouterOptions::new()).build();
    let map = app.unwrap().route_map();
    let mount = map.routes.iter().find(|route| route.kind == RouteKind::Mount).unwrap();
    let given = mount.answers.iter().filter(|answer| answer.by == "handler");
    let given: Vec<String> = given.map(|answer| answer.status.to_string()).collect();
    assert_eq!(given, ["400", "413", "default"]);
}

#[test]
fn a_map_contains_the_declarations_of_a_route() {
    let map = app().route_map();
    let create = route(&map, "/api/users");
    assert_eq!((create.kind, create.method.as_str()), (RouteKind::Http, "POST"));
    assert_eq!(create.operation_id, "users.create");
    assert!(create.location.file.ends_with("map.rs"));
    assert_eq!(create.access.public.as_deref(), Some("anybody may join"));
    assert_eq!(create.limits.max_body, 10);
    assert_eq!(create.docs.responses, [(409, "There is one".to_owned())]);
    let names: Vec<&str> = create.middleware.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names[0], "with_timeout");
    assert!(names[1].ends_with("paid"), "{names:?}");
    assert_eq!(names[2], "has_credit");
    let levels: Vec<_> = create.middleware.iter().map(|it| json!(it.level)).collect();
    assert_eq!(levels, ["router", "node", "entry"]);
    assert_eq!((create.middleware[1].is_opaque, create.middleware[2].is_opaque), (true, false));
    assert_eq!((create.middleware[1].is_named, create.middleware[2].is_named), (false, true));
    let lines: Vec<u32> =
        create.middleware.iter().map(|it| it.location.as_ref().unwrap().line).collect();
    assert!(lines[1] < lines[2] && lines[2] < lines[0], "{lines:?}");
}

#[test]
fn responses_name_their_source() {
    let map = app().route_map();
    let create = route(&map, "/api/users");
    assert_eq!(statuses(create, "has_credit"), ["402"]);
    assert_eq!(statuses(create, "rate limit"), ["429"]);
    assert_eq!(statuses(create, "validation"), ["400"]);
    assert_eq!(statuses(create, "body"), ["408", "413", "415"]);
    let show = route(&map, r"/api/users/:id(\d+)");
    assert_eq!(statuses(show, "rate limit"), [""; 0]);
    assert_eq!(statuses(show, "routing"), ["404"]);
    assert!(show.limits.rate_exempt && show.limits.rate.is_empty());
    let search = route(&map, "/api/search");
    assert_eq!(statuses(search, "body"), [""; 0]);
    assert_eq!(search.limits.rate[0].limit, Some(50));
}

#[test]
fn inputs_have_schemas() {
    let map = app().route_map();
    let search = route(&map, "/api/search").query.as_ref().unwrap();
    assert!(search.to_string().contains("\"maxLength\":10"), "{search}");
    let id = &route(&map, r"/api/users/:id(\d+)").params[0];
    assert_eq!((id.name.as_str(), id.constraint.as_deref()), ("id", Some(r"\d+")));
    assert_eq!(id.schema["type"], "integer");
    let splat = &route(&map, "/api/files/**").params[0];
    assert!(splat.is_rest && splat.name == "splat");
    let body = route(&map, "/api/users").body.as_ref().unwrap();
    let types: Vec<&str> = body.content.iter().map(|it| &*it.media_type).collect();
    assert_eq!(types, ["application/json", "application/x-www-form-urlencoded"]);
    assert!(body.required);
}

#[test]
fn maps_are_reproducible_and_round_trip() {
    let app = app();
    let map = app.route_map();
    assert_eq!(map, app.route_map());
    let text = serde_json::to_string(&map).unwrap();
    assert_eq!(serde_json::from_str::<RouteMap>(&text).unwrap(), map);
    let table = map.to_string();
    assert_eq!(table.lines().count(), 4);
    assert!(table.contains("POST  /api/users"), "{table}");
}

#[test]
fn an_explanation_names_the_steps() {
    let found = app().explain("POST /api/users?x=1").unwrap();
    let steps: Vec<&str> = found.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(steps[1], "rate limit default: 50 in 60s");
    assert_eq!(&steps[steps.len() - 3..], ["has_credit", "body", "handler"]);
    let text = found.to_string();
    assert!(text.contains("402      has_credit: There is no credit left"), "{text}");
    let found = app().explain("get /api/files/a/b").unwrap();
    assert_eq!((found.method.as_str(), found.route.is_some()), ("GET", true));
    let found = app().explain("HEAD /api/files/a/b").unwrap();
    assert_eq!(found.params, [("splat".to_owned(), "a/b".to_owned())]);
}

#[test]
fn an_explanation_names_near_matches() {
    let check = |line: &str, status: Option<u16>, reason: &str| {
        let missed = app().explain(line).unwrap();
        assert!(missed.route.is_none(), "{line}");
        assert_eq!(missed.status, status, "{line}");
        assert!(missed.misses[0].reason.contains(reason), "{line}: {missed}");
    };
    check("DELETE /api/users", Some(405), "its method is POST");
    check("GET /api/users/seven", Some(404), r"`seven` does not match `:id(\d+)`");
    check("GET /api/users/7/x", Some(404), "the path continues with `x`");
    check("GET /api/search/", Some(404), "an extra slash at the end");
    check("GET /api", Some(404), "the path ends before `search`");
    for line in ["", "GET", "GET users", "GET /a b", "G(T /users"] {
        let error = app().explain(line).unwrap_err();
        // `main` prints a returned error in this format.
        assert_eq!(format!("{error:?}"), error.to_string(), "{line}");
    }
}

#[test]
fn an_inspector_can_reject() {
    let mut router = Router::new();
    router.get("/a", async || "a");
    router.inspect(|map| {
        assert_eq!(map.routes.len(), 1);
        Err(ConfigError::from(ConfigIssue::new("the first rule")))
    });
    router.group("/g", (), |group| {
        group.inspect(|_| Err(ConfigError::from(ConfigIssue::new("the second rule"))));
    });
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains("the first rule") && error.contains("the second rule"), "{error}");
}

mod shop {
    use super::*;

    #[derive(serde::Deserialize, serde::Serialize, Schema)]
    pub struct Item {
        #[schema(trim, min_length = 2)]
        pub name: String,
        pub parts: Vec<Item>,
    }
}

mod stock {
    use super::*;

    #[derive(serde::Serialize, Schema)]
    pub struct Item {
        pub count: u32,
    }
}

#[test]
fn schemas_of_types_appear_once_with_unique_names() {
    async fn change(Body(item): Body<shop::Item>) -> String {
        item.name
    }
    let told = Middleware::new(paid).named("told").describing(|doc: &mut RouteDescription| {
        doc.responds(ResponseDoc::json::<shop::Item>(200));
        doc.responds(ResponseDoc::json::<Vec<stock::Item>>(203));
    });
    let api = routes! {
        "search": { GET: async |Query(_): Query<Search>| "found" },
        "items": { POST: { handler: change, middleware: [told] } },
    };
    let map = create_router(api, RouterOptions::new()).build().unwrap().route_map();
    assert_eq!(map.mistakes, [""; 0]);
    let names: Vec<&str> = map.schemas.keys().map(String::as_str).collect();
    // A query type does not need a schema name: its fields become parameters.
    assert_eq!(names, ["ShopItem", "ShopItemInput", "StockItem"]);
    let body = &route(&map, "/items").body.as_ref().unwrap().content[0].schema;
    assert_eq!(body["$ref"], "#/schemas/ShopItemInput");
    let read = &map.schemas["ShopItemInput"];
    assert_eq!(read["properties"]["parts"]["items"]["$ref"], "#/schemas/ShopItemInput");
    let search = route(&map, "/search").query.as_ref().unwrap();
    assert_eq!(search["properties"]["q"]["maxLength"], 10);
    let told: Vec<String> = route(&map, "/items").answers.iter().filter_map(schema_of).collect();
    assert_eq!(told[0], r##"{"$ref":"#/schemas/ShopItem"}"##);
    assert!(told[1].contains("#/schemas/StockItem"), "{told:?}");
}

fn schema_of(answer: &ResponseInfo) -> Option<String> {
    match &answer.body {
        BodyDoc::Content(content) if answer.by == "told" => Some(content[0].schema.to_string()),
        _ => None,
    }
}

#[test]
fn a_web_socket_has_the_rules_of_its_connections() {
    async fn listen(_socket: WebSocket) {}
    let message = || schema!({ "text": { "type": "string", "required": true } });
    let narrow = WebSocketOptions::new()
        .allowed_origins(["https://app.example"])
        .protocols(["chat.v2", "chat.v1"])
        .max_payload(1_000)
        .max_rate(Some(5));
    let api = routes! {
        "chat": {
            WS: { handler: listen, options: narrow, validation: message() },
            GET: async || "a page",
        },
        "closed": { WS: { handler: listen, allowed_origins: [""; 0] } },
        "own": { WS: listen },
    };
    let options = RouterOptions::new().enable_web_sockets(true).ws_max_payload(2_000);
    let map = create_router(api, options).build().unwrap().route_map();
    assert!(map.router.web_sockets && map.router.trust_proxy.is_empty());
    let of = |path: &str, kind: RouteKind| {
        let found = map.routes.iter().find(|route| route.path == path && route.kind == kind);
        found.unwrap().web_socket.as_ref()
    };
    let chat = of("/chat", RouteKind::WebSocket).unwrap();
    assert_eq!(chat.allowed_origins, ["https://app.example"]);
    assert_eq!((chat.max_payload, chat.max_rate), (1_000, Some(5)));
    assert_eq!(chat.subprotocols, ["chat.v2", "chat.v1"]);
    assert_eq!(chat.receives.as_ref().unwrap()["required"], json!(["text"]));
    assert!(chat.sends.is_none() && !chat.same_origin);
    assert!(of("/chat", RouteKind::Http).is_none());
    let (closed, own) = (of("/closed", RouteKind::WebSocket), of("/own", RouteKind::WebSocket));
    let (closed, own) = (closed.unwrap(), own.unwrap());
    // Neither has a list, but one of them lets no page connect.
    assert!(closed.allowed_origins.is_empty() && own.allowed_origins.is_empty());
    assert_eq!((closed.same_origin, own.same_origin), (false, true));
    assert_eq!((own.max_payload, own.max_rate), (2_000, None));
}

#[test]
fn a_map_lists_trusted_proxies() {
    let networks = TrustProxy::networks(["10.0.0.0/8", "::1", "unix:"]).unwrap();
    for (trust, expected) in [
        (TrustProxy::none(), &[] as &[&str]),
        (TrustProxy::hops(2), &["2"]),
        (networks, &["10.0.0.0/8", "::1/128", "unix:"]),
    ] {
        let options = RouterOptions::new().trust_proxy(trust);
        let map = create_router(routes! {}, options).build().unwrap().route_map();
        assert_eq!(map.router.trust_proxy, expected);
        assert!(!map.router.web_sockets);
    }
}

#[test]
fn schemas_of_strict_routes_reject_unknown_members() {
    #[derive(serde::Deserialize, Schema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Tag {
        name: String,
    }
    #[derive(serde::Deserialize, Schema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Note {
        text: String,
        tags: Vec<Tag>,
    }
    #[derive(serde::Deserialize, Schema)]
    #[expect(dead_code, reason = "only its schema matters")]
    struct Search {
        q: String,
    }
    let strict = || ValidationOptions::new().allow_unknown(false);
    let save = async |Body(_): Body<Note>| ();
    let api = routes! {
        "open": { POST: save },
        "strict": { POST: { handler: save, validation_options: strict() } },
        "search": {
            GET: { handler: async |Query(_): Query<Search>| (), validation_options: strict() },
        },
    };
    let map = create_router(api, RouterOptions::new()).build().unwrap().route_map();
    let body = |index: usize| map.routes[index].body.as_ref().unwrap().content[0].schema.clone();
    assert_eq!(body(0), json!({ "$ref": "#/schemas/Note" }));
    assert_eq!(body(1), json!({ "$ref": "#/schemas/NoteStrict" }));
    let strict = &map.schemas["NoteStrict"];
    assert_eq!(strict["additionalProperties"], false);
    assert_eq!(strict["properties"]["tags"]["items"]["$ref"], "#/schemas/TagStrict");
    assert_eq!(map.schemas["TagStrict"]["additionalProperties"], false);
    assert_eq!(map.schemas["Note"].get("additionalProperties"), None);
    assert_eq!(map.schemas["Tag"].get("additionalProperties"), None);
    assert_eq!(map.routes[2].query.as_ref().unwrap()["additionalProperties"], false);
}

#[test]
fn schemas_of_middleware_describe_an_untyped_body() {
    let rules = with_input_validation([("email", InputRule::new().required())]);
    let api = routes! {
        "letter": {
            POST: {
                handler: async |Body(_): Body<Unchecked<Value>>| (),
                middleware: [rules],
            },
        },
    };
    let map = create_router(api, RouterOptions::new()).build().unwrap().route_map();
    let body = map.routes[0].body.as_ref().unwrap();
    assert_eq!(body.content[0].schema["required"], json!(["email"]));
}
