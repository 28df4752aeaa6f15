//! [`RouteSettings`]: the settings of a router, a group, a node, a route and a
//! host.
//!
//! `route_settings` in `stockade-path` declares the settings in one place for
//! all of them. An inner setting replaces an outer one; only rate limits and
//! concurrency limits add up. `auth` and `public` share one slot (`access.rs`).

use std::panic::Location;
use std::sync::Arc;

use stockade_core::boxed_or::BoxedOr;
use stockade_core::endpoint_settings::EndpointSettings;
use stockade_core::middleware::Level;
use stockade_core::setting_internals::Inherit as _;
use stockade_core::{Authentication, ErrorHandler, Middleware, RouteDocs, Setting};
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_path::__internal::route_settings;
use stockade_stages::__internal::LimitsConcurrency;
use stockade_stages::cors::policy_internals::Cors;
use stockade_stages::rate_limit::with_rate_limit_internals::CountsRequests;
use stockade_stages::{
    ConcurrencyLimit, CorsOptions, CorsOrigin, RateLimit, Timeout, TrustProxy, with_error_handling,
    with_rate_limit,
};
use stockade_validation::ValidationOptions;

use crate::access::Access;
use crate::docs::DocsSetting;
use crate::tags::PlacedTag;

/// A value and the source location that set it.
#[derive(Clone, Debug)]
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) place: &'static Location<'static>,
}

impl<T> Placed<T> {
    pub(crate) fn new(value: T, place: &'static Location<'static>) -> Self {
        Self { value, place }
    }

    /// Adds the source location to a setting.
    pub(crate) fn of(setting: Setting<T>, place: &'static Location<'static>) -> Setting<Self> {
        setting.map(|value| Self { value, place })
    }
}

/// The options that both a router and a host have. The options of the host
/// replace the options of its router.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostSettings {
    pub(crate) expose_errors: Option<bool>,
    pub(crate) trust_proxy: Option<TrustProxy>,
    pub(crate) cors_origin: Option<CorsOrigin>,
}

/// Checks the reason of the setting `name`. A missing reason is an error, so
/// the setting has no effect.
pub(crate) fn reason_of(
    name: &str,
    reason: Setting<String>,
) -> Result<Setting<Arc<String>>, ConfigError> {
    let is_missing = match &reason {
        Setting::Value(reason) => reason.trim().is_empty(),
        Setting::On => true,
        Setting::Off | Setting::Inherit => false,
    };
    if is_missing {
        return Err(ConfigIssue::new(format!("`{name}` requires a reason")).into());
    }
    Ok(reason.map(Arc::new))
}

/// Marks the rate limit of a group, a node or a route. `rate_limit: false` removes it.
#[derive(Debug)]
struct LimitsRate {
    /// True if the key is the address of the client.
    by_address: bool,
    /// True if it runs after the other middleware of its level and after authentication.
    is_late: bool,
}

/// Marks the error handler of a route.
#[derive(Debug)]
struct HandlesErrors;

/// Generates [`RouteSettings`] from the table.
macro_rules! define {
    (
        ()
        endpoint $endpoint:tt
        routing {$(
            $(#[$meta:meta])* [$($serde:tt)*]
            $name:ident $(<$generic:ident>)? ($value:ident: $arg:ty) -> $field:ty $convert:block = $default:expr;
        )*}
    ) => {
        /// The settings of a router, a group, a node, a route or a host.
        #[derive(Clone, Debug, Default)]
        pub(crate) struct RouteSettings {
            /// The settings that core reads.
            pub(crate) endpoint: EndpointSettings,
            $(pub(crate) $name: $field,)*
            /// The authentication that `public` removes.
            pub(crate) removed_auth: Option<Arc<Placed<Authentication>>>,
            /// The configuration errors in the values.
            pub(crate) mistakes: Vec<ConfigIssue>,
        }

        impl RouteSettings {
            /// Returns the defaults of a router.
            pub(crate) fn standard() -> Self {
                Self {
                    endpoint: EndpointSettings::standard(),
                    $($name: $default,)*
                    removed_auth: None,
                    mistakes: Vec::new(),
                }
            }

            /// Inherits the settings of the outer level that are not set here.
            /// Configuration errors stay with their level, which reports them.
            pub(crate) fn inherit(&mut self, outer: &Self) {
                let mut access = Access::of(self);
                access.inherit(&Access::of(outer));
                self.endpoint.inherit(&outer.endpoint);
                $(self.$name.inherit(&outer.$name);)*
                access.put_into(self);
            }
        }
    };
}

route_settings!(define!);

impl RouteSettings {
    /// Returns these settings merged with the settings of the outer level.
    pub(crate) fn or(mut self, outer: &Self) -> Self {
        self.inherit(outer);
        self
    }

    /// Returns a value, or stores its configuration errors for the build of the
    /// router.
    pub(crate) fn checked<T: Default>(
        &mut self,
        name: &str,
        value: Result<T, ConfigError>,
        place: &'static Location<'static>,
    ) -> T {
        value.unwrap_or_else(|error| {
            let mistakes = error.issues().iter().map(|mistake| {
                let message = mistake.message();
                let has_name = message.starts_with(&format!("`{name}`"));
                let message =
                    if has_name { message.to_owned() } else { format!("{name}: {message}") };
                ConfigIssue::new(message).at(mistake.location().unwrap_or(place))
            });
            self.mistakes.extend(mistakes);
            T::default()
        })
    }

    /// Ends a level: records the place of its authentication, and removes and
    /// returns its configuration errors.
    pub(crate) fn end_level(&mut self, level: Level) -> Vec<ConfigIssue> {
        let mut mistakes = std::mem::take(&mut self.mistakes);
        mistakes.extend(self.contradiction());
        if level != Level::Entry {
            mistakes.extend(self.docs.check_defaults());
        }
        if let Setting::Value(placed) = &mut self.auth {
            let placed = Arc::make_mut(placed);
            placed.value.note_place(level, placed.place);
        }
        mistakes
    }

    /// Creates the middleware of the limits that add up and run before the
    /// other middleware of the level, in the order of their execution.
    pub(crate) fn limits(&self, level: Level) -> Vec<Middleware> {
        let rate = self.rate_limit_middleware(level, false);
        let concurrency = self
            .concurrency_limit
            .value()
            .map(|limit| placed(Middleware::new(limit.value.clone()), level, limit.place));
        rate.into_iter().chain(concurrency).collect()
    }

    /// Creates the middleware of a rate limit that depends on the request. It
    /// runs after the other middleware of the level.
    pub(crate) fn late_limit(&self, level: Level) -> Option<Middleware> {
        self.rate_limit_middleware(level, true)
    }

    fn rate_limit_middleware(&self, level: Level, is_late: bool) -> Option<Middleware> {
        let limit = self.rate_limit.value()?;
        if limit.value.depends_on_request() != is_late {
            return None;
        }
        let made = Middleware::new(with_rate_limit(limit.value.clone()));
        let by_address = !is_late && !limit.value.has_key_generator();
        Some(placed(made.marked(LimitsRate { by_address, is_late }), level, limit.place))
    }

    /// Creates the middleware of the error handler of a route.
    pub(crate) fn own_error_handling(&self) -> Option<Middleware> {
        let handler = self.error_handling.value()?;
        let made = with_error_handling(handler.value.clone()).marked(HandlesErrors);
        Some(placed(made, Level::Entry, handler.place))
    }

    /// Creates the middleware of the timeout.
    pub(crate) fn own_timeout(&self) -> Option<Middleware> {
        let timeout = self.timeout.value()?;
        Some(placed(Middleware::new(timeout.value), Level::Entry, timeout.place))
    }

    /// Returns the error handler, without its place.
    pub(crate) fn error_handler(&self) -> Option<&ErrorHandler> {
        self.error_handling.value().map(|placed| &placed.value)
    }

    /// Adds the dates of deprecation to the documentation of a route that does
    /// not set them.
    pub(crate) fn date_docs(&self, docs: &mut BoxedOr<RouteDocs>) {
        if let Some(date) = self.deprecated_since.value()
            && docs.deprecated_since.is_none()
        {
            let docs = docs.make_mut();
            docs.deprecated = true;
            docs.deprecated_since = Some(String::clone(date));
        }
        if let Some(date) = self.sunset.value()
            && docs.sunset.is_none()
        {
            docs.make_mut().sunset = Some(String::clone(date));
        }
    }

    /// Removes the middleware of limits that are switched off.
    pub(crate) fn retain_limits(&self, middleware: &mut Vec<Middleware>) {
        if self.rate_limit.is_off() {
            middleware.retain(|it| it.mark::<LimitsRate>().is_none());
        }
        if self.concurrency_limit.is_off() {
            middleware.retain(|it| it.mark::<LimitsConcurrency>().is_none());
        }
    }
}

/// Returns true for middleware of groups, nodes and routes that runs before
/// authentication: rate limits by address, because attempts with wrong
/// passwords count; the error handler of a route, because it writes the 401;
/// and `with_cors`, because other origins must be able to read the 401.
pub(crate) fn runs_before_auth(middleware: &Middleware) -> bool {
    middleware.mark::<LimitsRate>().is_some_and(|limit| limit.by_address)
        || middleware.mark::<HandlesErrors>().is_some()
        || middleware.mark::<Arc<Cors>>().is_some()
}

/// Moves rate limits that depend on the request after the last middleware that
/// authenticates, as `finds_user` reports. The first `outer` items are ordered
/// separately, so no limit moves between the two parts.
pub(crate) fn place_late_limits(
    middleware: &mut Vec<Middleware>,
    outer: usize,
    mut finds_user: impl FnMut(&Middleware) -> bool,
) {
    let mut own = middleware.split_off(outer.min(middleware.len()));
    place_late(middleware, &mut finds_user);
    place_late(&mut own, &mut finds_user);
    middleware.append(&mut own);
}

fn place_late(middleware: &mut Vec<Middleware>, finds_user: &mut impl FnMut(&Middleware) -> bool) {
    let is_late = |it: &Middleware| it.mark().is_some_and(|limit: &LimitsRate| limit.is_late);
    let Some(first) = middleware.iter().position(is_late) else { return };
    let is_limit = |it: &Middleware| {
        it.mark::<LimitsRate>().is_some() || it.mark::<CountsRequests>().is_some()
    };
    let last = middleware[first..].iter().rposition(|it| !is_limit(it) && finds_user(it));
    let Some(last) = last else { return };
    let end = first + last + 1;
    let (late, others): (Vec<_>, Vec<_>) = middleware.drain(first..end).partition(is_late);
    middleware.splice(first..first, others.into_iter().chain(late));
}

fn placed(
    mut middleware: Middleware,
    level: Level,
    place: &'static Location<'static>,
) -> Middleware {
    middleware.note_place(level, place);
    middleware
}
