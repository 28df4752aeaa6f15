//! [`Tool`]: the declaration of a route as a tool for AI agents.

use std::panic::Location;

use stockade_errors::__internal::setters;

/// The declaration of a route as a tool for AI agents.
///
/// The key `tool` of a route has the description as text, or a `Tool` with
/// further options:
///
/// ```
/// use stockade::mcp::{Mcp, Tool};
/// use stockade::prelude::*;
///
/// let api = routes! {
///     "mcp": { public: "every caller may see the tools", ..Mcp::new("Shop", "1.0.0").routes() },
///     "prices": {
///         GET: { async || "all prices", name: "prices.list", tool: "Lists the prices." },
///         DELETE: {
///             async || "no price",
///             tool: Tool::new("Deletes all prices for good.").name("prices_clear"),
///         },
///     },
/// };
/// let map = create_router(api, RouterOptions::new()).build()?.route_map();
/// let names = map.routes.iter().filter_map(|route| Some(route.tool.as_ref()?.name.as_str()));
/// assert_eq!(names.collect::<Vec<_>>(), ["prices_list", "prices_clear"]);
/// # Ok::<(), ConfigError>(())
/// ```
///
/// The hints of a tool follow its method: GET only reads; PUT and DELETE are
/// destructive and idempotent; POST and PATCH are destructive. Every tool is
/// open-world.
///
/// # Beyond the spec
///
/// The specification does not have tools.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[must_use = "a declaration does nothing until it is in the key `tool` of a route"]
pub struct Tool {
    /// The text that a model reads to select the tool.
    pub description: String,
    /// Its name. Default: the name of the route, with `_` for characters that
    /// tools cannot have.
    pub name: Option<String>,
    /// Its name for people. Default: none.
    pub title: Option<String>,
    /// True if a call does not change anything. Default: the method decides.
    pub read_only: Option<bool>,
    /// True if a call may delete or overwrite data. Default: the method
    /// decides.
    pub destructive: Option<bool>,
    /// True if a repeated call does not have an additional effect. Default: the
    /// method decides.
    pub idempotent: Option<bool>,
    /// True if a call may reach systems outside of the application. Default:
    /// true.
    pub open_world: Option<bool>,
    /// The names of arguments, each after the name in the request. Default:
    /// none.
    pub renames: Vec<(String, String)>,
    /// The headers that are arguments. Default: none.
    pub headers: Vec<String>,
    /// True if agents receive the schema of the response, and structured
    /// results. Default: false.
    pub output_schema: bool,
    /// The place of the key `tool`.
    #[doc(hidden)]
    pub location: Option<&'static Location<'static>>,
}

impl Tool {
    /// Creates a tool with this description, which a model reads to select it.
    /// It may have up to 1,024 characters.
    pub fn new(description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            name: None,
            title: None,
            read_only: None,
            destructive: None,
            idempotent: None,
            open_world: None,
            renames: Vec::new(),
            headers: Vec::new(),
            output_schema: false,
            location: None,
        }
    }

    setters! {
        /// Sets the name: a letter, then up to 47 letters, digits, `_` and `-`.
        /// Default: the name of the route, with `_` for other characters.
        name: some into String;

        /// Sets the name for people. Default: none.
        title: some into String;

        /// Sets whether a call does not change anything. `true` also means that
        /// it is not destructive and that it is idempotent, unless the tool
        /// declares these hints. Default: true for GET.
        read_only: some bool;

        /// Sets whether a call may delete or overwrite data. Default: false for
        /// GET, true for other methods.
        destructive: some bool;

        /// Sets whether a repeated call does not have an additional effect.
        /// Default: true for GET, PUT and DELETE.
        idempotent: some bool;

        /// Sets whether a call may reach systems outside of the application.
        /// Default: true.
        open_world: some bool;

        /// Sets whether agents receive the schema of the response, and its body
        /// as a structured result in addition to text. The response must be a
        /// JSON object. Default: false, because some clients then show a model
        /// only the structured result.
        output_schema: bool;
    }

    /// Renames the argument for a parameter, a key of the query, a header or a
    /// member of the body, because an argument may only have letters, digits
    /// and `_`.
    pub fn rename(mut self, original: impl Into<String>, name: impl Into<String>) -> Self {
        self.renames.push((original.into(), name.into()));
        self
    }

    /// Makes a request header an argument. The argument has the name of the
    /// header in lower case, with `_` for `-`. Default: no header is an
    /// argument.
    pub fn header(mut self, name: impl Into<String>) -> Self {
        self.headers.push(name.into().to_ascii_lowercase());
        self
    }

    /// Sets the place of the key `tool`, for configuration errors.
    #[doc(hidden)]
    pub fn at(mut self, location: &'static Location<'static>) -> Self {
        self.location = Some(location);
        self
    }
}
