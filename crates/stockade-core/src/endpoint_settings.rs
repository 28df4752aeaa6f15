//! `EndpointSettings`: the route settings that core reads.

use std::sync::Arc;
use std::time::Duration;

use stockade_path::__internal::route_settings;

use crate::Accepts;
use crate::limits::DEFAULT_MAX_JSON_VALUES;
use crate::setting::{Inherit as _, Setting};

/// Generates the struct from the `endpoint` rows of the table.
macro_rules! endpoint_settings {
    (
        ()
        endpoint {$(
            $(#[$meta:meta])* [$($serde:tt)*]
            $name:ident($value:ident: $arg:ty) -> $field:ty $convert:block = $default:expr;
        )*}
        routing $routing:tt
    ) => {
        /// The route settings that core reads while it handles a request.
        ///
        /// The table `route_settings` in `stockade-path` declares them, and the
        /// router's setters document them.
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

            /// Inherits the settings of the outer level that are not set here.
            pub fn inherit(&mut self, outer: &Self) {
                $(self.$name.inherit(&outer.$name);)*
            }
        }
    };
}

route_settings!(endpoint_settings!);
