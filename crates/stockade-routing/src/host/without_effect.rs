//! The router options without effect on the routes of another host.

use stockade_stages::{CorsOptions, SecurityHeaders};

use crate::options::RouterOptions;
use crate::router::Router;

/// Returns the set options that another host ignores, as text.
pub(super) fn without_effect(router: &Router) -> Option<String> {
    let options = &router.options;
    let defaults = RouterOptions::default();
    let cors = options.cors_rules();
    let is_limited = options.limit().is_some_and(|limit| !limit.is_default());
    let mut entries = router.routes.iter().map(|route| &route.entry);
    let own_cors = entries
        .any(|entry| !entry.settings.cors.is_inherited() || !entry.inherited.cors.is_inherited());
    let set = [
        ("`rate_limit`", is_limited),
        ("`cors_origin`", cors.is_some() && options.host.cors_origin.is_some()),
        ("`cors`", cors.is_some_and(|cors| cors != CorsOptions::default())),
        ("a route's `cors`", own_cors),
        (
            "`security_headers`",
            options.security_headers.value().is_some_and(|it| *it != SecurityHeaders::default()),
        ),
        ("`fallback`", options.fallback.is_some()),
        ("`request_id`", options.request_id.enabled().is_some()),
        ("`access_log`", options.access_log != defaults.access_log),
        #[cfg(feature = "metrics")]
        ("`metrics`", options.metrics.is_some()),
        #[cfg(feature = "tracing")]
        ("`tracing`", options.tracing.enabled().is_some()),
        (
            "`max_body_size` for bodies that no route reads",
            options.settings.endpoint.max_body != defaults.settings.endpoint.max_body,
        ),
    ];
    let names: Vec<&str> =
        set.iter().filter(|(_, is_set)| *is_set).map(|(name, _)| *name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use stockade_stages::rate_limit::{MINUTE, RateLimit};
    use stockade_stages::with_request_id;

    use super::*;
    use crate::host::HostRoutes;

    /// Stores the logged lines.
    struct Watch;

    static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

    impl log::Log for Watch {
        fn enabled(&self, _metadata: &log::Metadata<'_>) -> bool {
            true
        }

        fn log(&self, record: &log::Record<'_>) {
            LINES.lock().unwrap().push(record.args().to_string());
        }

        fn flush(&self) {}
    }

    // No other test of this crate checks the log.
    #[test]
    fn options_without_effect_cause_one_warning() {
        log::set_logger(&Watch).unwrap();
        log::set_max_level(log::LevelFilter::Warn);
        let build = |options| HostRoutes::build(Router::with_options(options)).map(drop).unwrap();
        build(RouterOptions::new().prefix("/api"));
        build(RouterOptions::new().access_log(true).rate_limit(5 / MINUTE));
        let lines = LINES.lock().unwrap();
        let ours: Vec<_> = lines.iter().filter(|line| line.contains("another host")).collect();
        assert_eq!(ours, ["routes of another host ignore `rate_limit`, `access_log`"]);
    }

    #[track_caller]
    fn check(options: RouterOptions, expected: &str) {
        let router = Router::with_options(options);
        assert_eq!(without_effect(&router).unwrap_or_default(), expected);
    }

    #[test]
    fn names_options_without_effect() {
        let options = RouterOptions::new;
        check(options(), "");
        check(options().prefix("/api").expose_errors(true).trust_proxy(1), "");
        // An option that is off has the same effect in a host.
        check(options().rate_limit(false).cors(false).enable_security_headers(false), "");
        check(options().rate_limit(5 / MINUTE), "`rate_limit`");
        check(
            options().rate_limit(RateLimit::new().key_generator(|_| Ok(String::new()))),
            "`rate_limit`",
        );
        check(options().cors_origin("*"), "`cors_origin`");
        check(options().cors(CorsOptions::default().max_age(5)), "`cors`");
        check(options().cors_origin("*").cors(false), "");
        check(options().security_headers(SecurityHeaders::none()), "`security_headers`");
        check(
            options()
                .cors_origin("*")
                .max_body_size(5)
                .access_log(true)
                .request_id(with_request_id()),
            "`cors_origin`, `request_id`, `access_log`, `max_body_size` for bodies that no \
             route reads",
        );
        let mut router = Router::new();
        router.get("/x", async || "x").cors("*");
        assert_eq!(without_effect(&router).as_deref(), Some("a route's `cors`"));
    }
}
