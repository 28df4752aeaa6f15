//! Routes by host and subdomain: `host` of a router, a group and a node.
//!
//! Source: RFC 9110, section 7.2; RFC 9112, section 3.2; RFC 9113, section 8.3.1.

use std::net::SocketAddr;

use stockade::PeerAddr;
use stockade::middleware::TrustProxy;
use stockade::openapi::{OpenApiOptions, open_api};
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::routing::health_routes;
use stockade::testing::TestClient;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{app, app_of, block_on, call, header_of, request, show};

async fn echo(req: Request) -> String {
    let params: Vec<String> = req.params().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {}", req.route().unwrap_or("-"), params.join(","))
}

fn tenant_site() -> RouteTree {
    routes! {
        host: ":tenant.example.com",
        GET: echo,
        "users": { GET: echo, ":id": { GET: echo, DELETE: echo } },
    }
}

fn api() -> RouteTree {
    routes! {
        ..tenant_site(),
        "admin": { host: "admin.example.com", GET: echo },
        "users": { GET: echo, POST: echo },
        "status": { GET: echo },
    }
}

/// Returns the response to a request for `host target`.
fn at(app: &App, line: &str) -> String {
    let (host, line) = line.split_once(' ').unwrap();
    let answer = block_on(call(app, &format!("{line}\nhost: {host}")));
    if answer.starts_with("200") { answer } else { answer[..3].to_owned() }
}

#[test]
fn routes_of_the_host_come_first() {
    let app = app_of(api());
    for (line, expected) in [
        ("acme.example.com GET /", "200 :tenant.example.com/ tenant=acme"),
        ("acme.example.com GET /users", "200 :tenant.example.com/users tenant=acme"),
        ("acme.example.com GET /users/7", "200 :tenant.example.com/users/:id tenant=acme,id=7"),
        ("acme.example.com GET /status", "200 /status "),
        ("acme.example.com POST /users", "200 /users "),
        ("acme.example.com PUT /users", "405"),
        ("acme.example.com GET /admin", "404"),
        ("admin.example.com GET /admin", "200 admin.example.com/admin "),
        // The best match applies, so this host is not a tenant.
        ("admin.example.com GET /", "404"),
        ("admin.example.com GET /users", "200 /users "),
        ("other.example GET /", "404"),
        ("other.example GET /users", "200 /users "),
        ("other.example GET /users/7", "404"),
        ("other.example DELETE /users", "405"),
        ("a.b.example.com GET /", "404"),
        ("example.com GET /", "404"),
    ] {
        assert_eq!(at(&app, line), expected, "{line}");
    }
    let allow = |host: &str| header_of(&app, &format!("PUT /users\nhost: {host}"), "allow");
    assert_eq!(allow("acme.example.com"), "GET, HEAD, POST, OPTIONS");
    assert_eq!(
        header_of(&app, "OPTIONS /users/7\nhost: x.example.com", "allow"),
        "GET, HEAD, DELETE, OPTIONS"
    );
}

#[test]
fn case_port_and_final_dot_do_not_matter() {
    let mut router = Router::new();
    router.group("/", (), |group| {
        group.host("[2001:DB8::0:1]");
        group.get("/six", echo);
    });
    router.routes(tenant_site());
    let app = app(router);
    for host in [
        "acme.example.com",
        "ACME.Example.COM",
        "acme.example.com:8080",
        "acme.example.com.",
        "acme.example.com.:80",
    ] {
        assert_eq!(
            at(&app, &format!("{host} GET /")),
            "200 :tenant.example.com/ tenant=acme",
            "{host}"
        );
    }
    for host in ["[2001:db8::1]", "[2001:DB8:0:0::1]:443"] {
        assert_eq!(at(&app, &format!("{host} GET /six")), "200 [2001:db8::1]/six ", "{host}");
    }
}

#[test]
fn hostile_hosts_reach_no_host() {
    let app = app_of(api());
    let long = format!("{}.example.com", "a".repeat(64));
    for host in [
        "",
        ".example.com",
        "..example.com",
        "a..example.com",
        "a%2eexample.com",
        "%61.example.com",
        "a/b.example.com",
        "u@a.example.com",
        "a.example.com@evil",
        "a.example.com/",
        "a b.example.com",
        "a.example.com,b.example.com",
        "a\\b.example.com",
        "[::1",
        "a.example.com:80:80",
        &long,
    ] {
        let found = block_on(call(&app, &format!("GET /\nhost: {host}")));
        assert!(found.starts_with("404"), "{host}: {found}");
        assert_eq!(
            at(&app, &format!("{} GET /status", host.replace(' ', "_"))),
            "200 /status ",
            "{host}"
        );
    }
    let no_host = block_on(call(&app, "GET /"));
    assert!(no_host.starts_with("404"), "{no_host}");
}

#[test]
fn the_authority_of_the_target_counts_and_must_not_contradict_host() {
    let app = app_of(api());
    let found = |text: &str| block_on(call(&app, text))[..3].to_owned();
    assert_eq!(found("GET http://acme.example.com/"), "200");
    assert_eq!(found("GET http://acme.example.com:80/\nhost: ACME.example.com"), "200");
    assert_eq!(found("GET http://other.example/\nhost: other.example"), "404");
    for text in [
        "GET http://acme.example.com/\nhost: other.example",
        "GET http://other.example/status\nhost: acme.example.com",
        "GET /status\nhost: acme.example.com\nhost: acme.example.com",
        "GET http://u@acme.example.com/status\nhost: acme.example.com",
    ] {
        assert_eq!(found(text), "400", "{text}");
    }
    // Without host routes, the host is never read.
    let plain = app_of(routes! { "status": { GET: echo } });
    assert!(
        block_on(call(&plain, "GET http://a.example/status\nhost: b.example")).starts_with("200")
    );
}

#[test]
fn forwarded_hosts_count_only_behind_trusted_proxies() {
    let router = |trust: TrustProxy| {
        create_router(api(), RouterOptions::new().rate_limit(false).trust_proxy(trust))
    };
    let asked = |app: &App, peer: Option<&str>, headers: &str| {
        let mut request = request(&format!("GET /\nhost: internal\n{headers}"));
        if let Some(peer) = peer {
            request = request.with_peer(PeerAddr(SocketAddr::new(peer.parse().unwrap(), 80)));
        }
        block_on(show(block_on(app.handle(request))))
    };
    let acme = "200 :tenant.example.com/ tenant=acme";
    let header = "x-forwarded-host: acme.example.com";
    let nobody = app(router(TrustProxy::none()));
    assert!(asked(&nobody, None, header).starts_with("404"));
    let one = app(router(TrustProxy::hops(1)));
    assert_eq!(asked(&one, None, header), acme);
    // The client can forge the values further left.
    assert_eq!(
        asked(&one, None, "x-forwarded-host: admin.example.com, acme.example.com:443"),
        acme
    );
    let lines = "x-forwarded-host: admin.example.com\nx-forwarded-host: acme.example.com";
    assert_eq!(asked(&one, None, lines), acme);
    assert!(asked(&one, None, "x-forwarded-host: ").starts_with("404"));
    assert!(asked(&one, None, "forwarded: host=acme.example.com").starts_with("404"));
    let networks = app(router(TrustProxy::networks(["10.0.0.0/8"]).unwrap()));
    assert_eq!(asked(&networks, Some("10.1.2.3"), header), acme);
    assert!(asked(&networks, Some("192.0.2.1"), header).starts_with("404"));
    let forwarded = app(router(TrustProxy::hops(1).forwarded()));
    assert_eq!(
        asked(&forwarded, None, "forwarded: host=evil, for=1.2.3.4;host=\"acme.example.com\""),
        acme
    );
    assert!(asked(&forwarded, None, header).starts_with("404"));
}

#[test]
fn parameters_of_the_host_come_first() {
    #[derive(serde::Deserialize, Schema)]
    struct Place {
        tenant: String,
        id: u64,
    }

    async fn pair(Path((tenant, id)): Path<(String, u64)>) -> String {
        format!("{tenant} {id}")
    }
    async fn named(Path(place): Path<Place>) -> String {
        format!("{} {}", place.tenant, place.id)
    }
    async fn number(Path(shard): Path<u8>) -> String {
        format!("shard {shard}")
    }

    let mut router = Router::new();
    router.group("/", (), |site| {
        site.host(":tenant.example.com");
        site.get("/pairs/:id", pair);
        site.get("/named/:id", named);
    });
    // An equal host pattern may use its own parameter names.
    router.group("/", (), |site| {
        site.host(":org.example.com");
        site.get("/orgs", echo);
    });
    router.group("/", (), |site| {
        site.host("s:shard(x).example.com");
    });
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains("not allowed in hosts"), "{error}");

    let mut router = Router::new();
    router.group("/", (), |site| {
        site.host(":tenant.example.com");
        site.get("/pairs/:id", pair);
        site.get("/named/:id", named);
    });
    router.group("/", (), |site| {
        site.host(":org.example.com");
        site.get("/orgs", echo);
    });
    router.group("/", (), |site| {
        site.host("shard-:shard.example.com");
        site.get("/", number);
    });
    let app = app(router);
    assert_eq!(at(&app, "acme.example.com GET /pairs/7"), "200 acme 7");
    assert_eq!(at(&app, "acme.example.com GET /named/7"), "200 acme 7");
    assert_eq!(at(&app, "acme.example.com GET /named/x"), "400");
    assert_eq!(at(&app, "acme.example.com GET /orgs"), "200 :org.example.com/orgs org=acme");
    assert_eq!(at(&app, "shard-12.example.com GET /"), "200 shard 12");
    assert_eq!(at(&app, "shard-x.example.com GET /"), "400");
}

#[test]
fn the_build_reports_errors_in_hosts() {
    let error = |tree: RouteTree| {
        create_router(tree, RouterOptions::new()).build().unwrap_err().to_string()
    };
    async fn two(Path((a, b)): Path<(String, String)>) -> String {
        a + &b
    }

    let inner = RouteTree::new().host("b.example").key("GET", echo);
    let nested = RouteTree::new().host("a.example").segment("x", inner);
    let message = error(nested);
    assert!(message.contains("hosts cannot be nested"), "{message}");
    assert!(message.contains("by_host.rs:"), "{message}");
    let spread = RouteTree::new().host("a.example").spread(tenant_site());
    assert_eq!(error(spread).matches("hosts cannot be nested").count(), 1);
    let mut router = Router::with_options(RouterOptions::new().host("a.example"));
    router.group("/", (), |group| {
        group.host("b.example").get("/", echo);
    });
    assert!(router.build().unwrap_err().to_string().contains("hosts cannot be nested"));

    let wrong = RouteTree::new().host("https://a.example").key("GET", echo);
    assert!(error(wrong).contains("remove the scheme, path and user"));
    let twice =
        RouteTree::new().host(":id.example").segment(":id", RouteTree::new().key("GET", echo));
    assert!(
        error(twice)
            .contains("the host and the path both have a parameter \"id\": rename one of them")
    );
    let few = RouteTree::new().host(":id.example").key("GET", two);
    assert!(error(few).contains("GET :id.example/"));
    let same = RouteTree::new().spread(tenant_site()).spread(
        RouteTree::new()
            .host(":other.Example.com")
            .segment("users", RouteTree::new().key("GET", echo)),
    );
    assert!(
        error(same)
            .contains("duplicate route: same method and path as GET :tenant.example.com/users")
    );
}

#[test]
fn a_router_has_a_host_except_for_its_health_routes() {
    let tree = || routes! { GET: echo, ..health_routes() };
    let readiness = || stockade::middleware::health::Readiness::new();
    let in_file: RouterOptions = serde_json::from_str(r#"{ "host": "Api.example.com" }"#).unwrap();
    for options in [RouterOptions::new().host("api.example.com"), in_file] {
        let app = app(create_router(tree(), options).state(readiness()));
        assert_eq!(at(&app, "api.example.com GET /"), "200 api.example.com/ ");
        assert_eq!(at(&app, "10.0.0.7 GET /"), "404");
        assert_eq!(at(&app, "10.0.0.7 GET /health/live")[..3], *"200");
    }
    let wrong = serde_json::from_str::<RouterOptions>(r#"{ "host": "a b" }"#).unwrap_err();
    assert!(wrong.to_string().contains("host \"a b\""), "{wrong}");
}

#[test]
fn guards_and_rules_of_the_host_apply() {
    let guard = |_: &mut Request| Err::<(), _>(ApiError::new(401, "Unauthorized"));
    let site = routes! {
        host: "admin.example.com",
        cors: "https://admin.example.com",
        middleware: guard,
        "x/:id": { GET: echo },
    };
    let app = app_of(routes! { ..site, "x/:id": { GET: echo } });
    assert_eq!(at(&app, "admin.example.com GET /x/1"), "401");
    assert_eq!(at(&app, "other.example GET /x/1"), "200 /x/:id id=1");
    let preflight = |host: &str| {
        let text = format!(
            "OPTIONS /x/1\nhost: {host}\norigin: https://admin.example.com\naccess-control-request-method: GET"
        );
        header_of(&app, &text, "access-control-allow-origin")
    };
    assert_eq!(preflight("admin.example.com"), "https://admin.example.com");
    assert_ne!(preflight("other.example"), "https://admin.example.com");

    // An encoded path cannot bypass the routes of the host.
    let site = routes! { host: "a.example", "admin": { GET: { echo, middleware: guard } } };
    let app = app_of(routes! { ..site, ":any": { GET: echo } });
    assert_eq!(at(&app, "a.example GET /admin"), "401");
    assert_eq!(at(&app, "a.example GET /%61dmin"), "400");
    assert_eq!(at(&app, "b.example GET /%61dmin"), "200 /:any any=admin");
}

#[test]
fn slashes_and_encoded_text_work_on_hosts() {
    let options = RouterOptions::new().trailing_slash(stockade::TrailingSlash::Redirect);
    let site = routes! { host: "a.example", "caf\u{e9}": { GET: echo } };
    let app = app(create_router(routes! { ..site, "caf\u{e9}/": { GET: echo } }, options));
    assert_eq!(at(&app, "a.example GET /caf%c3%a9"), "200 a.example/caf\u{e9} ");
    assert_eq!(at(&app, "a.example GET /caf%C3%A9/"), "200 /caf\u{e9}/ ");
    let location = header_of(&app, "GET /caf%C3%A9\nhost: b.example", "location");
    assert_eq!(location, "/caf%C3%A9/");
}

#[test]
fn the_map_the_lock_and_explanations_show_the_host() {
    let app = app_of(api());
    let map = app.route_map();
    let host = map.routes[1].host.as_ref().unwrap();
    assert_eq!((&*host.pattern, &*host.template), (":tenant.example.com", "{tenant}.example.com"));
    assert_eq!(host.params[0].name, "tenant");
    assert!(map.to_string().contains(":tenant.example.com/users"), "{map}");
    let lock = stockade::openapi::lock::Lock::of(&map).unwrap().to_string();
    assert!(lock.contains("\"GET :tenant.example.com/users/:id\""), "{lock}");
    assert_eq!(app.routes()[0].host(), Some(":tenant.example.com"));

    let explained = app.explain("GET https://acme.example.com/users/7").unwrap();
    assert_eq!(explained.params[0], ("tenant".to_owned(), "acme".to_owned()));
    assert!(explained.to_string().contains("GET :tenant.example.com/users/:id"), "{explained}");
    let missed = app.explain("GET /users/7").unwrap();
    assert_eq!(missed.status, Some(404));
    assert!(missed.to_string().contains("the host is not `:tenant.example.com`"), "{missed}");

    let findings = Policy::recommended().check(&map);
    assert!(
        findings.iter().any(|it| it.subject == "GET :tenant.example.com/users"),
        "{findings:?}"
    );
}

#[test]
fn documents_have_a_server_for_the_host() {
    let app = app_of(api());
    let error = open_api(&app, &OpenApiOptions::new("Shop", "1")).unwrap_err().to_string();
    assert!(
        error.contains("create a document for each host with `OpenApiOptions::host`"),
        "{error}"
    );
    let app = app_of(tenant_site());
    let options = OpenApiOptions::new("Shop", "1").server("http://localhost:3000/api/");
    let document = open_api(&app, &options).unwrap();
    let servers = &document["paths"]["/users/{id}"]["get"]["servers"];
    let expected = json!([{
        "url": "http://{tenant}.example.com/api",
        "variables": { "tenant": { "default": "tenant" } },
    }]);
    assert_eq!(*servers, expected);
    let parameters = &document["paths"]["/users/{id}"]["get"]["parameters"];
    assert_eq!(parameters.as_array().map(Vec::len), Some(1), "{parameters}");
}

#[test]
fn a_document_of_one_host_lists_its_routes_and_the_routes_of_any_host() {
    let app = app_of(api());
    let options = || OpenApiOptions::new("Shop", "1");
    let document = open_api(&app, &options().host(":tenant.example.com")).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let names: Vec<&str> = paths.keys().map(String::as_str).collect();
    assert_eq!(names, ["/", "/users", "/users/{id}", "/status"]);
    // The tenant's route replaces `GET /users` of any host, but not `POST`.
    assert_eq!(paths["/users"]["get"]["servers"][0]["url"], "https://{tenant}.example.com");
    assert_eq!(paths["/users"]["post"].get("servers"), None);
    let admin = open_api(&app, &options().host("admin.example.com")).unwrap();
    let names: Vec<&String> = admin["paths"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["/admin", "/users", "/status"]);
    let error = open_api(&app, &options().host("admin.example.org")).unwrap_err().to_string();
    assert!(error.contains("no route has the host \"admin.example.org\""), "{error}");
}

#[tokio::test]
async fn hosts_work_on_a_socket() {
    let router = create_router(api(), RouterOptions::new().rate_limit(false));
    let server = router.create_server().unwrap().bind(0).await.unwrap();
    let (address, handle) = (server.local_addr(), server.handle());
    let served = tokio::spawn(async { server.serve().await.unwrap() });

    let acme =
        TestClient::live(&format!("http://{address}")).with_header("host", "acme.example.com");
    acme.get("/users/7").await.assert_text(":tenant.example.com/users/:id tenant=acme,id=7");
    TestClient::live(&format!("http://{address}")).get("/users/7").await.assert_status(404);
    for (head, expected) in [
        ("GET / HTTP/1.1\r\nHost: ACME.example.com.:80\r\n", "200"),
        ("GET http://acme.example.com/ HTTP/1.1\r\nHost: acme.example.com\r\n", "200"),
        ("GET http://acme.example.com/ HTTP/1.1\r\nHost: b.example.com\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: a.example.com\r\nHost: b.example.com\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: a/b.example.com\r\n", "400"),
        ("GET / HTTP/1.1\r\nHost: a%2eexample.com\r\n", "404"),
        ("GET / HTTP/1.0\r\n", "404"),
        ("GET /status HTTP/1.0\r\n", "200"),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).await.unwrap();
        let mut read = Vec::new();
        let _ = stream.read_to_end(&mut read).await;
        let read = String::from_utf8_lossy(&read).into_owned();
        assert_eq!(read.get(9..12), Some(expected), "{head} {read}");
    }
    handle.shutdown();
    served.await.unwrap();
}
