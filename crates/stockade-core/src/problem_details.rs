//! [`ProblemDetails`]: the value of the option `problem_details`.

use crate::{IntoSetting, Setting};

/// Errors as problem details (RFC 9457).
///
/// `RouterOptions::problem_details` accepts it, `true`, or the base as text.
///
/// ```
/// use stockade::{ProblemDetails, RouterOptions};
///
/// let options = RouterOptions::new().problem_details("https://shop.example/problems/");
/// let same = ProblemDetails::new().base("https://shop.example/problems/");
/// let app = stockade::Router::with_options(options.problem_details(same)).build()?;
/// assert_eq!(
///     app.route_map().router.problem_base.as_deref(),
///     Some("https://shop.example/problems/"),
/// );
///
/// // A base must end with `/`, else a relative type would replace its last part.
/// let options = RouterOptions::new().problem_details("https://shop.example/problems");
/// assert!(stockade::Router::with_options(options).build().is_err());
/// # Ok::<(), stockade::ConfigError>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProblemDetails {
    /// The base of relative problem types. Default: none.
    pub base: Option<String>,
}

impl ProblemDetails {
    /// Creates problem details without a base. An error without an absolute
    /// type is then `about:blank`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`base`](Self#structfield.base), such as
    /// `https://shop.example/problems/`. The framework's errors then have types
    /// relative to this base too, such as `validation-failed`.
    #[must_use]
    pub fn base(mut self, base: impl Into<String>) -> Self {
        self.base = Some(base.into());
        self
    }
}

impl IntoSetting<Self> for ProblemDetails {
    fn into_setting(self) -> Setting<Self> {
        Setting::Value(self)
    }
}

impl IntoSetting<ProblemDetails> for &str {
    fn into_setting(self) -> Setting<ProblemDetails> {
        Setting::Value(ProblemDetails::new().base(self))
    }
}

impl IntoSetting<ProblemDetails> for String {
    fn into_setting(self) -> Setting<ProblemDetails> {
        Setting::Value(ProblemDetails::new().base(self))
    }
}
