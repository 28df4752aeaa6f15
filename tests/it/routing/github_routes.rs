//! A real table of routes: every one is matched, with its parameters.

use stockade::prelude::*;
use stockade::serde_json::Map;

use crate::support::{app, block_on, call};

const ROUTES: &str = include_str!("../../vectors/routes/github-routes.txt");

async fn echo(req: Request) -> Value {
    let params: Map<String, Value> =
        req.params().map(|(name, value)| (name.to_owned(), value.into())).collect();
    json!({ "route": req.route(), "params": params })
}

#[test]
fn all_514_routes_are_matched_with_their_parameters() {
    let routes: Vec<(&str, &str)> =
        ROUTES.lines().filter_map(|line| line.split_once(' ')).collect();
    assert_eq!(routes.len(), 514);
    let mut router = Router::with_options(RouterOptions::new().rate_limit(None));
    for (method, path) in &routes {
        router.route(method.parse().unwrap(), path, echo);
    }
    let app = app(router);

    block_on(async {
        for (index, (method, pattern)) in routes.iter().enumerate() {
            let mut params = Map::new();
            let mut path = String::new();
            for segment in pattern.split('/').skip(1) {
                path.push('/');
                match segment.strip_prefix(':') {
                    None => path += segment,
                    Some(name) => {
                        let value = format!("{name}-{index}");
                        path += &value;
                        params.insert(name.to_owned(), value.into());
                    }
                }
            }
            let expected = json!({ "route": pattern, "params": params });
            let actual = call(&app, &format!("{method} {path}")).await;
            assert_eq!(actual, format!("200 {expected}"), "{method} {path}");
        }
    });
}
