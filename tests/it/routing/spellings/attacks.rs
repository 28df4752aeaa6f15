//! Attacks on guarded paths below a mount.

use super::*;

#[test]
fn an_encoded_slash_at_the_end_reaches_no_guarded_file() {
    let root = Folder::new("slash");
    let app = guarded(ServeDir::new(&root.0));
    for path in [
        "/files/deep%2Fone%2Fsecret.txt%2F",
        "/files/deep/one%2fsecret.txt%2f%2f",
        "/files/deep%252Fone%252Fsecret.txt%252F",
        "/files/deep%5Cone%5Csecret.txt%5C",
        "/files/deep%c0%afone%c0%afsecret.txt%c0%af",
        "/files/%64eep%2Fone/secret.txt%2F",
        "/files/admin%2F",
    ] {
        check(&app, &format!("GET {path}"), BAD);
        check(&app, &format!("HEAD {path}"), "400");
    }
    check(&app, "GET /files/deep%2Fone%2Fsecret.txt/", "404");
    check(&app, "GET /files/open%2Etxt", "200 open");
}

#[test]
fn a_slash_at_the_end_is_compared_only_if_it_is_encoded() {
    let app =
        echo(&[("/w/**", false), ("/w/:id", false), ("/files", true), ("/files/a%20b", false)]);
    check(&app, "GET /w/a%20b/", "200 /w/**");
    check(&app, "GET /w/a/", "200 /w/**");
    check(&app, "GET /w/a%2Fb%2F", "200 /w/:id");
    check(&app, "GET /w/x/%2e%2e/a%2F", BAD);
    check(&app, "GET /w/a/b%2F", "200 /w/**");
    check(&app, "GET /w/%2Fa%2F", "200 /w/:id");
    check(&app, "GET /files/x%2F", "200 /files");
    check(&app, "GET /files/%2e", BAD);
}

/// Returns an application that mounts another one below a parameter, at the
/// root and in a group.
fn nested() -> App {
    let service = service_fn(|request: http::Request<HttpBody>| async move {
        Ok::<_, Infallible>(Response::new(HttpBody::from(format!("open {}", request.uri()))))
    });
    let mut inner = Router::with_options(RouterOptions::new().rate_limit(false));
    inner.mount("/f", service);
    inner.get("/f/admin/:id", async || "inner").middleware(guard());
    inner.get("/own/:id", async |Path(id): Path<String>| id);
    let inner = app(inner);
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.mount("/a", inner.clone());
    router.get("/a/f/outer/:id", async || "outer").middleware(guard());
    router.mount("/t/:tenant", inner.clone());
    router.get("/t/acme/f/**", async || "acme").middleware(guard());
    router.group("/g", guard(), |group| {
        group.mount("/x", inner.clone());
    });
    router.mount("/", inner);
    app(router)
}

#[test]
fn dot_segments_in_a_parameter_reach_no_guarded_route() {
    let app = nested();
    for path in [
        "/t/x%2F..%2Facme/f/x",
        "/t/.%2Facme/f/x",
        "/t/x%2F%2e%2e%2Facme%2Ff/y",
        "/t/%5c%5cacme/f/x",
        "/t/x%252F..%252Facme/f/x",
    ] {
        check(&app, &format!("GET {path}"), BAD);
    }
    check(&app, "GET /t/a%2Fb/f/x", "200 open /x");
}

#[test]
fn nested_mounts_keep_guarded_paths() {
    let app = nested();
    for path in [
        "/a/f/%61dmin/1",
        "/a/f/admin%2F1",
        "/a/f/%6futer/1",
        "/a/f/outer%2f1",
        "/t/%61cme/f/x",
        "/t/acme%2Ff/x",
        "/t/acme/%66/x",
        "/t/acme//f/x",
        "/t//acme/f/x",
        "/%67/x/f/y",
        "//g/x/f/y",
        "/g%2Fx/f/y",
        "/g/%78/f/y",
        "/g//x/f/y",
        "/g/%78",
        "/g/x%2F",
        "/f/%2e%2e/g/x",
        "/f/x/..%2f..%2fg%2fx%2ff",
        "/%2561/f/outer/1",
        "/own/../g/x/f/y",
        "/g/x%00/f/y",
        "http://h/%67/x/f/y",
    ] {
        check(&app, &format!("GET {path}"), BAD);
        check(&app, &format!("HEAD {path}"), "400");
    }
    for path in ["/a/f/admin/1", "/a/f/outer/1", "/t/acme/f/x", "/g/x/f/y", "/g/x", "/g/x/"] {
        check(&app, &format!("GET {path}"), r#"401 {"error":"guard"}"#);
    }
    check(&app, "GET /a/own/a%2Fb", "200 a/b");
    check(&app, "GET /own/a%2Fb", "200 a/b");
}
