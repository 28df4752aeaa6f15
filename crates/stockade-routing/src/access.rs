//! [`Access`]: the slot that the settings `auth` and `public` share.

use std::sync::Arc;

use stockade_core::{Authentication, Setting};
use stockade_errors::ConfigIssue;

use crate::settings::{Placed, RouteSettings};

/// The settings `auth` and `public` of a level, including the levels around it.
///
/// The innermost level that sets either of them counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    /// `Off` if the level removes the authentication around it.
    auth: Setting<Arc<Placed<Authentication>>>,
    public: Setting<Arc<String>>,
    /// The nearest authentication that `public` removes. It counts if an inner
    /// level removes `public`.
    removed: Option<Arc<Placed<Authentication>>>,
}

impl Access {
    /// Returns the slot of a level without the levels around it.
    pub(crate) fn of(settings: &RouteSettings) -> Self {
        let RouteSettings { auth, public, removed_auth, .. } = settings;
        Self { auth: auth.clone(), public: public.clone(), removed: removed_auth.clone() }
    }

    /// Writes the slot to the settings of its level.
    pub(crate) fn put_into(self, settings: &mut RouteSettings) {
        settings.auth = self.auth;
        settings.public = self.public;
        settings.removed_auth = self.removed;
    }

    /// Inherits the slot of the outer level, unless this level sets its own.
    pub(crate) fn inherit(&mut self, outer: &Self) {
        let nearest = || outer.auth.value().or(outer.removed.as_ref()).cloned();
        match (&self.auth, &self.public) {
            (Setting::Inherit, Setting::Inherit) => *self = outer.clone(),
            // `public: false`: the authentication around the level counts.
            (Setting::Inherit, Setting::Off) => {
                self.auth = nearest().map_or(Setting::Inherit, Setting::Value);
            }
            (Setting::Inherit | Setting::Off, Setting::Value(_) | Setting::On) => {
                self.auth = Setting::Off;
                self.removed = self.removed.take().or_else(nearest);
            }
            (_, public) if public.is_inherited() => self.public = Setting::Off,
            _ => {}
        }
    }

    /// Converts the slot of a route to the slot of a method that its requests
    /// call. The route has already authenticated the request.
    pub(crate) fn of_calls(mut self, router: &Self) -> Self {
        self.inherit(router);
        Self { auth: Setting::Off, removed: None, ..self }
    }

    /// Returns the authentication that runs.
    pub(crate) fn authentication(&self) -> Option<&Authentication> {
        self.auth.value().map(|placed| &placed.value)
    }
}

impl RouteSettings {
    /// Returns the configuration error of a level that is public but requires a
    /// user.
    pub(crate) fn contradiction(&self) -> Option<ConfigIssue> {
        let auth = self.auth.value().filter(|placed| placed.value.is_required())?;
        self.public.value()?;
        let message = "`public` and a required `auth` are both set: remove one of them, or use \
                       an optional `auth`, as in `token.optional()`";
        Some(ConfigIssue::new(message).at(auth.place))
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use stockade_core::{Middleware, Request};

    use super::*;

    /// Parses a level: letters other than `p` and `f` are an authentication,
    /// `p` is `public`, and `f` is `public: false`.
    fn level(text: &str) -> Access {
        let mut access = Access::default();
        for letter in text.chars() {
            match letter {
                'p' => access.public = Setting::Value(Arc::new("p".to_owned())),
                'f' => access.public = Setting::Off,
                name => {
                    let middleware = Middleware::new(|_: &mut Request| ()).named(name.to_string());
                    let auth = Authentication::new(middleware, false);
                    let placed = Placed::new(auth, Location::caller());
                    access.auth = Setting::Value(Arc::new(placed));
                }
            }
        }
        access
    }

    fn text(access: &Access) -> String {
        let auth = access.authentication().map(|auth| auth.middleware().name().to_owned());
        let public = access.public.value().map(|reason| String::clone(reason));
        auth.into_iter().chain(public).collect()
    }

    /// Checks the slot of the innermost level, for levels joined from outside
    /// and from inside.
    #[track_caller]
    fn check(levels: &str, expected: &str) {
        let levels: Vec<Access> = levels.split(' ').map(level).collect();
        let join = |outer: Access, inner: &Access| {
            let mut inner = inner.clone();
            inner.inherit(&outer);
            inner
        };
        let from_outside = levels.iter().fold(Access::default(), join);
        assert_eq!(text(&from_outside), expected);
        let from_inside = levels.iter().rev().fold(Access::default(), |mut inner, outer| {
            inner.inherit(outer);
            inner
        });
        assert_eq!(text(&from_inside), expected);
    }

    #[test]
    fn the_innermost_setting_counts() {
        check("", "");
        check("a", "a");
        check("a  ", "a");
        check("a b", "b");
        check("a p", "p");
        check("p a", "a");
        check("a p b", "b");
        check("p  a ", "a");
        check("a bp", "bp");
        check("ap b", "b");
        check("ap  ", "ap");
        check("a p  ", "p");
    }

    #[test]
    fn the_nearest_authentication_counts_without_a_reason() {
        check("f", "");
        check("p f", "");
        check("a f", "a");
        check("a p f", "a");
        check("a p  f ", "a");
        check("a b p f", "b");
        check("a p b f", "b");
        check("a f p f", "a");
        check("a p f p", "p");
        check("a p q f", "q");
        check("a bp f", "b");
        check("a p cf", "c");
    }
}
