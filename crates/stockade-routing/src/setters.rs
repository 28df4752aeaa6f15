//! The setters of the settings, for each type that has settings.
//!
//! `route_settings` in `stockade-path` declares the settings in one place for
//! all types.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use stockade_core::completion::time_of;
use stockade_core::{
    Accepts, Authentication, ErrorHandler, IntoAuthentication, IntoErrorHandling, IntoSetting,
    RouteDocs, Setting, Tag,
};
use stockade_errors::ConfigError;
use stockade_path::__internal::route_settings;
use stockade_stages::{ConcurrencyLimit, CorsOptions, RateLimit, Timeout};
use stockade_validation::ValidationOptions;

use crate::docs::DocsSetting;
use crate::entry::{RouteEntry, RouteRef};
use crate::into_rate_limit::IntoRateLimit;
use crate::options::RouterOptions;
use crate::router::Router;
use crate::settings::{Placed, RouteSettings, reason_of};
use crate::tags::PlacedTag;
use crate::tree::RouteTree;

/// Generates the setters of the table for each type that has settings.
macro_rules! setters {
    (
        ()
        endpoint {$(
            $(#[$meta:meta])* [$($serde:tt)*]
            $name:ident($value:ident: $arg:ty) -> $field:ty $convert:block = $default:expr;
        )*}
        routing {$(
            $(#[$its_meta:meta])* [$($its_serde:tt)*]
            $its_name:ident $(<$generic:ident>)? ($its_value:ident: $its_arg:ty) -> $its_field:ty $its_convert:block
                = $its_default:expr;
        )*}
    ) => {
        setters! { @each
            $({
                [$(#[$meta])*] [endpoint.$name] $name [] ($value: $arg) $field, $convert
            })*
            $({
                [$(#[$its_meta])*] [$its_name] $its_name [$(<$generic>)?] ($its_value: $its_arg) $its_field, $its_convert
            })*
        }
    };
    (@each $({
        [$(#[$meta:meta])*] [$($path:tt)*] $name:ident [$($generics:tt)*]
            ($value:ident: $arg:ty) $field:ty, $convert:block
    })*) => {
        // Not generic, so a program does not compile them again for each of its
        // values.
        impl RouteSettings {
            $(
                fn $name(
                    &mut self,
                    value: Result<$field, ConfigError>,
                    place: &'static Location<'static>,
                ) {
                    self.$($path)* = self.checked(stringify!($name), value, place);
                }
            )*
        }

        impl RouterOptions {
            $(
                $(#[$meta])*
                #[must_use]
                #[track_caller]
                pub fn $name $($generics)* (mut self, $value: $arg) -> Self {
                    let value: Result<$field, ConfigError> = $convert;
                    self.settings.$name(value, Location::caller());
                    self.note_set(stringify!($name));
                    self
                }
            )*
        }

        /// The settings of all routes of the router, or of a group. They also
        /// apply to earlier routes.
        impl Router {
            $(
                $(#[$meta])*
                #[track_caller]
                pub fn $name $($generics)* (&mut self, $value: $arg) -> &mut Self {
                    let value: Result<$field, ConfigError> = $convert;
                    self.options.settings.$name(value, Location::caller());
                    self.options.note_set(stringify!($name));
                    self
                }
            )*
        }

        /// The settings of the routes at and below this node. An inner node or
        /// a route may have its own settings.
        impl RouteTree {
            $(
                $(#[$meta])*
                #[track_caller]
                pub fn $name $($generics)* (mut self, $value: $arg) -> Self {
                    let value: Result<$field, ConfigError> = $convert;
                    self.settings.$name(value, Location::caller());
                    self
                }
            )*
        }

        /// The settings that a router, a group and a node also have.
        impl RouteEntry {
            $(
                $(#[$meta])*
                #[track_caller]
                pub fn $name $($generics)* (mut self, $value: $arg) -> Self {
                    let value: Result<$field, ConfigError> = $convert;
                    self.settings.$name(value, self.location);
                    self
                }
            )*
        }

        /// The settings that a router, a group and a node also have.
        #[expect(
            clippy::return_self_not_must_use,
            reason = "the route is added already"
        )]
        impl RouteRef<'_> {
            $(
                $(#[$meta])*
                #[track_caller]
                pub fn $name $($generics)* (self, $value: $arg) -> Self {
                    let value: Result<$field, ConfigError> = $convert;
                    self.entry.settings.$name(value, self.entry.location);
                    self
                }
            )*
        }
    };
}

route_settings!(setters!);
