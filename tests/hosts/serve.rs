//! Real servers of the host frameworks, each on a free port, for both
//! integrations.

/// Hosts with axum.
pub mod axum {
    use std::net::SocketAddr;

    use axum::Router as Host;
    use stockade::axum::ToAxum;
    use stockade::prelude::*;

    /// Serves the whole application, below a path or as the fallback. Returns
    /// the address with the path.
    pub async fn whole(router: Router, place: &str) -> String {
        let service = router.to_axum_service().unwrap();
        let host = match place {
            "" => Host::new().fallback_service(service),
            _ => Host::new().nest_service(place, service),
        };
        serve(host, place).await
    }

    /// Serves the routes, below a path or next to the routes of the host.
    pub async fn routes(router: Router, place: &str) -> String {
        let routes = router.to_host_router().unwrap();
        let host = match place {
            "" => Host::new().merge(routes),
            _ => Host::new().nest(place, routes),
        };
        serve(host, place).await
    }

    async fn serve(host: Host, place: &str) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let service = host.into_make_service_with_connect_info::<SocketAddr>();
        tokio::spawn(async move { axum::serve(listener, service).await });
        format!("http://{address}{place}")
    }
}

/// Hosts with actix-web, which need its runtime.
pub mod actix {
    use actix_web::web::{self, ServiceConfig};
    use actix_web::{App as Host, HttpServer};
    use stockade::actix::ToActix;
    use stockade::prelude::*;

    /// Serves the whole application, below a path or as the default service.
    /// Returns the address with the path.
    pub fn whole(router: Router, place: &'static str) -> String {
        let service = router.to_actix_service().unwrap();
        serve(place, move |config| {
            match place {
                "" => config.default_service(service.clone()),
                _ => config.service(web::scope(place).default_service(service.clone())),
            };
        })
    }

    /// Serves the routes, below a path or next to the routes of the host.
    pub fn routes(router: Router, place: &'static str) -> String {
        let routes = router.to_actix_routes().unwrap();
        serve(place, move |config| {
            match place {
                "" => config.service(routes.clone()),
                _ => config.service(web::scope(place).service(routes.clone())),
            };
        })
    }

    fn serve(
        place: &str,
        configure: impl Fn(&mut ServiceConfig) + Clone + Send + 'static,
    ) -> String {
        let server = HttpServer::new(move || Host::new().configure(configure.clone()));
        let server = server.workers(1).disable_signals().bind("127.0.0.1:0").unwrap();
        let address = server.addrs()[0];
        actix_web::rt::spawn(server.run());
        format!("http://{address}{place}")
    }
}
