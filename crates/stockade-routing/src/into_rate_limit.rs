//! [`IntoRateLimit`]: the values of the setting `rate_limit`.

use stockade_core::{IntoSetting, Setting};
use stockade_stages::rate_limit::Quota;
use stockade_stages::{RateLimit, RequestLimit};

use crate::entry::{RouteEntry, RouteRef};
use crate::tree::RouteTree;

/// A value of the setting `rate_limit` of a `Level`: a [`Quota`], a
/// [`RateLimit`], `false` or `true`.
///
/// A [`RequestLimit`] is only valid for nodes and routes. The limit of a router
/// runs before authentication.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate limit of `{Level}`",
    label = "expected a quota such as `10 / MINUTE`, a `RateLimit`, or `false`",
    note = "the router's rate limit runs before the user is known: set a limit that depends on \
            the request at the root of the tree, or pass it to `with_rate_limit`"
)]
pub trait IntoRateLimit<Level> {
    /// Converts the value to the setting.
    #[doc(hidden)]
    fn into_rate_limit(self) -> Setting<RateLimit>;
}

/// Implements the trait for values of [`IntoSetting`].
macro_rules! settings {
    ($($type:ty),*) => {$(
        impl<Level> IntoRateLimit<Level> for $type {
            fn into_rate_limit(self) -> Setting<RateLimit> {
                self.into_setting()
            }
        }
    )*};
}

settings!(Quota, RateLimit, Setting<RateLimit>, bool);

macro_rules! levels {
    ($($level:ty),*) => {$(
        impl IntoRateLimit<$level> for RequestLimit {
            fn into_rate_limit(self) -> Setting<RateLimit> {
                Setting::Value(self.into_rate_limit())
            }
        }
    )*};
}

levels!(RouteTree, RouteEntry, RouteRef<'_>);
