//! Configuration files: the map of an application under their values.

use std::path::Path;
use std::sync::{Arc, Weak};

use serde::Deserialize as _;
use serde_json::Value;
use stockade_core::Setting;
use stockade_errors::{BoxError, ConfigError};
use stockade_map::policy::{Configuration, ConfigurationError, ConfigurationFile};
use stockade_map::{RouteMap, WebSocketInfo};

use crate::app::{App, Resolved};
use crate::host_options::HostOptions;
use crate::options::RouterOptions;
use crate::router::Router;
use crate::stages::{StageRules, Stages};

/// Parses a file that does not have its own parser. Receives its name and text.
type Parse<'p> = &'p dyn Fn(&str, &str) -> Result<Value, BoxError>;

impl Router {
    /// Declares a configuration file of the program, such as
    /// `production.json`. Its values are then part of `routes.lock` and of the
    /// commands `lock` and `audit --html`. [`build`](Self::build) does not read
    /// the file. See [`Configuration`].
    ///
    /// ```
    /// use stockade::prelude::*;
    ///
    /// let api = routes! { "users": { GET: async || "all users" } };
    /// let router = create_router(api, RouterOptions::new())
    ///     .configuration("production.json")
    ///     .configuration("staging.json");
    /// assert!(router.build().is_ok());
    /// ```
    pub fn configuration(mut self, file: impl Into<Configuration>) -> Self {
        self.configurations.push(file.into());
        self
    }
}

impl App {
    /// Returns the map of the routes under a configuration file. Only the
    /// settings that a policy or a lock reads have the values of the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or has an invalid value or an unknown
    /// key.
    #[doc(hidden)]
    pub fn route_map_under(
        &self,
        configuration: &Configuration,
        folder: Option<&Path>,
        parse: Parse<'_>,
    ) -> Result<RouteMap, ConfigurationError> {
        let file = configuration.load(folder, parse)?;
        let wrong = |section: &str, error: &dyn std::fmt::Display| {
            ConfigurationError::new(format!("{}: {section}: {error}", file.info.name))
        };
        let options = RouterOptions::deserialize(Value::Object(file.router.clone()))
            .map_err(|error| wrong("values of the router", &error))?;
        let host = HostOptions::deserialize(Value::Object(file.host.clone()))
            .map_err(|error| wrong("values of the server", &error))?;
        let app = self
            .with_file(&options, &file)
            .and_then(|app| app.with_options(host))
            .map_err(|error| wrong("invalid value", &error))?;
        let mut map = app.route_map();
        self.put_web_sockets(&options, &file, &mut map);
        let mut info = file.info;
        info.router = map.router.clone();
        map.configuration = Some(info);
        Ok(map)
    }

    /// Returns the map of the routes, with the settings under each declared
    /// configuration file.
    ///
    /// # Errors
    /// Fails as [`route_map_under`](Self::route_map_under).
    #[doc(hidden)]
    pub fn route_map_with_files(
        &self,
        folder: Option<&Path>,
        parse: Parse<'_>,
    ) -> Result<RouteMap, ConfigurationError> {
        let mut map = self.route_map();
        for configuration in self.configurations() {
            let under = self.route_map_under(configuration, folder, parse)?;
            map.configurations.extend(under.configuration);
        }
        Ok(map)
    }

    /// Returns the configuration files of the router.
    #[doc(hidden)]
    #[must_use]
    pub fn configurations(&self) -> &[Configuration] {
        &self.resolved.routes.configurations
    }

    /// Returns this application with the values of a file in the stages.
    fn with_file(
        &self,
        options: &RouterOptions,
        file: &ConfigurationFile,
    ) -> Result<Self, ConfigError> {
        let keys = file.router_keys();
        let has = |names: &[&str]| names.iter().any(|name| keys.contains(*name));
        let old = &*self.resolved;
        let read = options.stage_rules(Arc::clone(&old.stages.pages))?;
        let mut rules = StageRules::clone(&old.stages);
        if has(&["cors", "cors_origin"]) {
            rules.cors = read.cors;
        }
        if has(&["rate_limit"]) {
            rules.limiter = read.limiter;
        }
        if has(&["security_headers", "enable_security_headers"]) {
            rules.security = read.security;
        }
        if has(&["trust_proxy"]) {
            rules.trust = read.trust;
        }
        // An option has precedence over the environment.
        let expose_errors = options.host.expose_errors.or(old.expose_errors);
        let expose_errors = expose_errors.or_else(|| file.info.is_development.then_some(true));
        let mut settings = old.settings;
        settings.expose_errors = expose_errors.unwrap_or(settings.expose_errors);
        let max_body =
            options.settings.endpoint.max_body.filter(|_| has(&["max_body", "max_body_size"]));
        let resolved = Resolved {
            routes: Arc::clone(&old.routes),
            settings,
            expose_errors,
            error_handler: old.error_handler.clone(),
            languages: old.languages.clone(),
            stages: Stages::new(rules),
            max_body: max_body.unwrap_or(old.max_body),
            this: Weak::new(),
        };
        Ok(Self { resolved: resolved.shared() })
    }

    /// Gives the WebSockets that inherit the origins or the largest message of
    /// the router the values of a file.
    fn put_web_sockets(
        &self,
        options: &RouterOptions,
        file: &ConfigurationFile,
        map: &mut RouteMap,
    ) {
        let keys = file.router_keys();
        let (old_origins, old_payload) = &self.resolved.routes.web_socket_defaults;
        let old_list = list(old_origins);
        let inherits = |socket: &WebSocketInfo| {
            socket.allowed_origins == old_list && (!old_list.is_empty() || socket.same_origin)
        };
        let sockets = map.routes.iter_mut().filter_map(|route| route.web_socket.as_mut());
        for socket in sockets {
            if keys.contains("ws_allowed_origins") && inherits(socket) {
                socket.allowed_origins = list(&options.ws_allowed_origins);
                socket.same_origin = options.ws_allowed_origins.value().is_none();
            }
            if keys.contains("ws_max_payload") && socket.max_payload == *old_payload {
                socket.max_payload = options.ws_max_payload;
            }
        }
    }
}

fn list(origins: &Setting<Vec<String>>) -> Vec<String> {
    origins.value().cloned().unwrap_or_default()
}
