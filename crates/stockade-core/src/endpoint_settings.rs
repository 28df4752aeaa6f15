//! `EndpointSettings`: the settings of a route that core reads.

use std::sync::Arc;
use std::time::Duration;

use stockade_path::__internal::route_settings;

use crate::Accepts;
use crate::limits::DEFAULT_MAX_JSON_VALUES;
use crate::setting::{Inherit as _, Setting};

/// Makes the struct of the rows `endpoint` of the table.
macro_rules! endpoint_settings {
    (
        ()
        endpoint {$(
            $(#[$meta:meta])* [$($serde:tt)*]
            $name:ident($value:ident: $arg:ty) -> $field:ty $convert:block = $default:expr;
        )*}
        routing $routing:tt
    ) => {
        /// The settings of a route that core reads while a request runs.
        ///
        /// The table `route_settings` of `stockade-path` declares them, and the setters of
        /// the router document them.
        #[derive(Clone, Debug, Default)]
        pub struct EndpointSettings {
            $(
                #[doc = concat!("The setting `", stringify!($name), "`.")]
                pub $name: $field,
            )*
        }

        impl EndpointSettings {
            /// Returns the defaults of a router.
            #[must_use]
            pub fn standard() -> Self {
                Self { $($name: $default),* }
            }

            /// Takes over the settings of the level around it that are not set here.
            pub fn inherit(&mut self, outer: &Self) {
                $(self.$name.inherit(&outer.$name);)*
            }
        }
    };
}

route_settings!(endpoint_settings!);
