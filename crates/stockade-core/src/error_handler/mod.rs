//! `ErrorHandler`: custom error responses of an application.
// Spec: Errors › Response rules, rule 4.

mod middleware;
mod reply;
mod with_head;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use serde_json::Value;
use stockade_errors::__internal::setters;
use stockade_errors::ApiError;
use stockade_errors::panic::catch_panic;
use stockade_validation::HasSchema;

pub use self::reply::ErrorReply;
use crate::description::{ErrorForm, SchemaOf};
use crate::endpoint::{ErrorContext, error_of, respond_with};
use crate::{HttpBody, IntoSetting as _, Response, Setting};

/// The options of an [`ErrorHandler`].
// Spec: Errors › Response rules, rule 4.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ErrorHandlerOptions {
    /// Sends the real message of a 5xx if true. Default: the setting of the
    /// router or the call.
    #[doc(alias = "exposeErrors")]
    pub expose_errors: Option<bool>,
    /// Adds the texts of the error and its causes to the body as `stack`, if
    /// errors are exposed. Default: false.
    #[doc(alias = "includeStack")]
    pub include_stack: bool,
    logger: Option<Arc<Logger>>,
    transform: Option<Arc<Transform>>,
    change: Option<Change>,
    form: Option<SchemaOf>,
}

type Logger = dyn Fn(&ApiError, &ErrorContext) + Send + Sync;
type Transform = dyn Fn(&ApiError, Value) -> Value + Send + Sync;

type ChangeWithHead = dyn Fn(&mut ErrorReply, &ErrorContext) + Send + Sync;

/// The function that changes a response.
#[derive(Clone)]
enum Change {
    Reply(Arc<dyn Fn(&mut ErrorReply) + Send + Sync>),
    WithHead(Arc<ChangeWithHead>),
}

impl ErrorHandlerOptions {
    /// Creates options with the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets [`expose_errors`](Self#structfield.expose_errors).
        expose_errors: some bool;

        /// Sets [`include_stack`](Self#structfield.include_stack).
        include_stack: bool;
    }

    /// Sets a function that receives each error with its request. It replaces
    /// the log.
    ///
    /// It also receives errors that inner middleware has already converted to a
    /// response and logged.
    #[must_use]
    pub fn logger(
        mut self,
        logger: impl Fn(&ApiError, &ErrorContext) + Send + Sync + 'static,
    ) -> Self {
        self.logger = Some(Arc::new(logger));
        self
    }

    /// Sets a function that creates the response body. It receives the error
    /// and the default body.
    ///
    /// The status remains the status of the error. The error contains its real
    /// message, even if the client must not see it.
    #[must_use]
    pub fn transform(
        mut self,
        transform: impl Fn(&ApiError, Value) -> Value + Send + Sync + 'static,
    ) -> Self {
        self.transform = Some(Arc::new(transform));
        self
    }

    /// Declares that each response body is a `T` as JSON, for generated
    /// documents. Otherwise, a custom error body is documented as unknown.
    ///
    /// ```
    /// use stockade::prelude::*;
    /// use stockade::middleware::{ErrorHandlerOptions, ErrorReply};
    /// use stockade::serde_json::json;
    ///
    /// #[derive(serde::Serialize, Schema)]
    /// struct Failed {
    ///     reason: String,
    /// }
    ///
    /// let errors = ErrorHandlerOptions::new()
    ///     .reply(|error: &mut ErrorReply| {
    ///         error.set_json(Failed { reason: error.message().to_owned() });
    ///     })
    ///     .form::<Failed>();
    /// let options = RouterOptions::new().error_handling(errors);
    /// let api = routes! { "a": { GET: async || "a" } };
    /// let map = create_router(api, options).build()?.route_map();
    /// assert!(map.schemas.contains_key("Failed"));
    /// # Ok::<(), ConfigError>(())
    /// ```
    #[must_use]
    pub fn form<T: HasSchema>(mut self) -> Self {
        self.form = Some(SchemaOf::reply::<T>());
        self
    }

    /// Sets a function that changes the body, the headers and the status of the
    /// response. It runs after [`transform`](Self::transform).
    ///
    /// The function itself is also an [`ErrorHandler`]; see [`ErrorReply`].
    #[must_use]
    pub fn reply(mut self, change: impl Fn(&mut ErrorReply) + Send + Sync + 'static) -> Self {
        self.change = Some(Change::Reply(Arc::new(change)));
        self
    }
}

impl fmt::Debug for ErrorHandlerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorHandlerOptions")
            .field("expose_errors", &self.expose_errors)
            .field("include_stack", &self.include_stack)
            .finish_non_exhaustive()
    }
}

/// Creates error responses. Clones share the same options, and a handler is
/// also middleware.
///
/// Create it from [options](ErrorHandlerOptions), or from a function that
/// changes an [`ErrorReply`].
#[derive(Clone, Debug, Default)]
pub struct ErrorHandler {
    options: Arc<ErrorHandlerOptions>,
}

/// A value for `error_handling` and `with_error_handling`: a function that
/// changes an [`ErrorReply`], the options of an [`ErrorHandler`], or a handler.
///
/// The function may also take a [`RequestHead`](crate::RequestHead). Only this
/// form copies the headers of each request.
///
/// `Marker` distinguishes the forms; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error handler",
    label = "not a synchronous function of `&mut ErrorReply`",
    note = "an error handler is `fn(&mut ErrorReply)` or `fn(&mut ErrorReply, &RequestHead)`",
    note = "a closure must name the types: `|error: &mut ErrorReply| error.set_json(…)`",
    note = "`ErrorHandlerOptions` and the result of `create_error_handler` are error handlers too"
)]
pub trait IntoErrorHandler<Marker> {
    /// Converts the value to an error handler.
    fn into_error_handler(self) -> ErrorHandler;
}

impl IntoErrorHandler<()> for ErrorHandler {
    fn into_error_handler(self) -> ErrorHandler {
        self
    }
}

impl IntoErrorHandler<()> for ErrorHandlerOptions {
    fn into_error_handler(self) -> ErrorHandler {
        self.into()
    }
}

// The trait's own message is more helpful than a message about an `Fn` bound.
#[diagnostic::do_not_recommend]
impl<F: Fn(&mut ErrorReply) + Send + Sync + 'static> IntoErrorHandler<fn(&mut ErrorReply)> for F {
    fn into_error_handler(self) -> ErrorHandler {
        self.into()
    }
}

/// A value for the setting `error_handling`: an [`IntoErrorHandler`], or
/// `false` to disable error handling.
///
/// Pass a [`Setting`] if the program computes the value. `Marker` distinguishes
/// the forms; the compiler infers it.
///
/// ```
/// use stockade::middleware::ErrorReply;
/// use stockade::prelude::*;
/// use stockade::testing::TestClient;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let own = |error: &mut ErrorReply| error.set_json(json!({ "failed": error.message() }));
/// let api = routes! {
///     "orders": { GET: async || Err::<(), _>(ApiError::new(409, "sold out")) },
///     "partner": {
///         error_handling: false,
///         GET: async || Err::<(), _>(ApiError::new(409, "sold out")),
///     },
/// };
/// let client = TestClient::new(create_router(api, RouterOptions::new().error_handling(own)));
/// client.get("/orders").await.assert_status(409).assert_json(json!({ "failed": "sold out" }));
/// client.get("/partner").await.assert_status(409).assert_json(json!({ "error": "sold out" }));
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error handler",
    label = "not a synchronous function of `&mut ErrorReply`, and not `false`",
    note = "an error handler is `fn(&mut ErrorReply)` or `fn(&mut ErrorReply, &RequestHead)`",
    note = "a closure must name the types: `|error: &mut ErrorReply| error.set_json(…)`",
    note = "`ErrorHandlerOptions` and the result of `create_error_handler` are error handlers too"
)]
pub trait IntoErrorHandling<Marker> {
    /// Converts the value to a setting.
    fn into_error_handling(self) -> Setting<ErrorHandler>;
}

impl<Marker, H: IntoErrorHandler<Marker>> IntoErrorHandling<(Marker,)> for H {
    fn into_error_handling(self) -> Setting<ErrorHandler> {
        Setting::Value(self.into_error_handler())
    }
}

impl IntoErrorHandling<Self> for bool {
    fn into_error_handling(self) -> Setting<ErrorHandler> {
        self.into_setting()
    }
}

impl IntoErrorHandling<()> for Setting<ErrorHandler> {
    fn into_error_handling(self) -> Setting<ErrorHandler> {
        self
    }
}

impl From<ErrorHandlerOptions> for ErrorHandler {
    fn from(options: ErrorHandlerOptions) -> Self {
        Self { options: Arc::new(options) }
    }
}

impl<F: Fn(&mut ErrorReply) + Send + Sync + 'static> From<F> for ErrorHandler {
    fn from(change: F) -> Self {
        ErrorHandlerOptions::new().reply(change).into()
    }
}

/// Marks the response of an error handler. An outer handler does not change a
/// final form, so the innermost handler wins.
#[derive(Clone, Copy)]
struct Form {
    /// False for the form of a router, a group or a node. Inner middleware sees
    /// it before the form of the route replaces it.
    is_final: bool,
}

/// Makes the form of an error response final, when it leaves the application
/// that created it.
#[inline]
pub fn keep_form(response: &mut Response) {
    if let Some(form) = response.extensions_mut().get_mut::<Form>() {
        form.is_final = true;
    }
}

/// Makes the form of a response final. Middleware that stores responses calls
/// it, because a replayed response must be identical.
pub fn finish_form(response: &mut Response) {
    response.extensions_mut().insert(Form { is_final: true });
}

impl ErrorHandler {
    /// Returns the form of the errors, if it differs from the router's form.
    #[must_use]
    pub fn form(&self) -> Option<ErrorForm> {
        let options = &self.options;
        let is_own =
            options.transform.is_some() || options.change.is_some() || options.include_stack;
        (is_own || options.form.is_some()).then(|| ErrorForm::new(options.form))
    }

    /// Returns true if its function takes the head of the request.
    #[inline]
    pub(crate) fn takes_head(&self) -> bool {
        matches!(self.options.change, Some(Change::WithHead(_)))
    }

    /// Logs an error, and creates its response.
    ///
    /// A panic in a function of the handler is logged. It becomes the 500 that
    /// the router sends without a handler.
    #[must_use]
    #[cold]
    pub fn answer(&self, error: ApiError, context: &ErrorContext) -> Response {
        let error = context.with_own_status(error);
        let response = catch_panic(|| {
            match &self.options.logger {
                Some(logger) => logger(&error, context),
                None => context.log(&error),
            }
            let error = context.translate(error.clone());
            let mut start = respond_with(context.settings(), error.clone(), HttpBody::empty());
            context.add_language(&mut start);
            start.extensions_mut().insert(Form { is_final: false });
            self.change(start, error, context)
        });
        response.and_then(|made| made).unwrap_or_else(|failure| context.answer_plainly(failure))
    }

    /// Applies the handler's form to an error response from inner middleware.
    fn answer_again(&self, mut response: Response, context: &ErrorContext) -> Response {
        let Some(error) = error_of(&response).cloned() else {
            return response;
        };
        // Inner middleware has replaced the response with its own.
        let is_replaced = error.status() != response.status().as_u16() || !is_error_body(&response);
        if is_replaced || response.extensions().get::<Form>().is_some_and(|form| form.is_final) {
            return response;
        }
        for gone in [CONTENT_LENGTH, CONTENT_ENCODING, ETAG] {
            response.headers_mut().remove(gone);
        }
        let response = catch_panic(|| {
            if let Some(logger) = &self.options.logger {
                logger(&error, context);
            }
            self.change(response, error, context)
        });
        response.and_then(|made| made).unwrap_or_else(|failure| context.answer_plainly(failure))
    }

    /// Sets the handler's body on an error response, and calls the handler's
    /// function.
    fn change(
        &self,
        mut response: Response,
        error: ApiError,
        context: &ErrorContext,
    ) -> Result<Response, ApiError> {
        let options = &self.options;
        let mut settings = context.settings();
        settings.expose_errors = options.expose_errors.unwrap_or(settings.expose_errors);
        let mut body = context.clone().with_settings(settings).body(&error);
        if options.include_stack && settings.expose_errors {
            body["stack"] = stack(&error).into();
        }
        if let Some(transform) = &options.transform {
            body = transform(&error, body);
        }
        *response.body_mut() = HttpBody::from(body.to_string());
        let Some(change) = &options.change else { return Ok(response) };
        let mut reply = ErrorReply::new(error, context, settings, body, response);
        match change {
            Change::Reply(change) => change(&mut reply),
            Change::WithHead(change) => change(&mut reply, context),
        }
        reply.finish()
    }
}

/// Returns true if a response has the content type of an error.
fn is_error_body(response: &Response) -> bool {
    let content_type = response.headers().get(CONTENT_TYPE);
    content_type
        .is_some_and(|value| value == "application/json" || value == "application/problem+json")
}

/// Returns the texts of an error and its causes, without repetition.
fn stack(error: &ApiError) -> Vec<String> {
    let mut texts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // An error that wraps its cause has the same text.
        if texts.last() != Some(&text) {
            texts.push(text);
        }
        cause = error.source();
    }
    texts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Request;
    use crate::error_settings::Settings;

    fn broken() -> ApiError {
        let cause = std::io::Error::other("connection reset");
        ApiError::new(500, "no database").with_source(ApiError::internal(cause))
    }

    fn context(expose: bool) -> ErrorContext {
        let req = Request::from(http::Request::get("/x?token=secret").body(()).unwrap());
        let settings = Settings { expose_errors: expose, ..Settings::default() };
        ErrorContext::of(&req).with_settings(settings)
    }

    #[track_caller]
    fn check(options: ErrorHandlerOptions, expose: bool, expected: &str) {
        let response = ErrorHandler::from(options).answer(broken(), &context(expose));
        let body = response.body().as_bytes().map(|bytes| String::from_utf8_lossy(bytes));
        assert_eq!((response.status().as_u16(), body.as_deref()), (500, Some(expected)));
        assert_eq!(error_of(&response).map(ApiError::message), Some("no database"));
    }

    const HIDDEN: &str = r#"{"error":"Internal Server Error"}"#;
    const SHOWN: &str = r#"{"error":"no database"}"#;
    const WITH_STACK: &str =
        r#"{"error":"no database","stack":["no database","connection reset"]}"#;

    #[test]
    fn an_explicit_option_controls_exposure() {
        let options = ErrorHandlerOptions::new;
        check(options(), false, HIDDEN);
        check(options(), true, SHOWN);
        check(options().expose_errors(true), false, SHOWN);
        check(options().expose_errors(false), true, HIDDEN);
    }

    #[test]
    fn the_stack_is_only_in_exposed_bodies() {
        let options = || ErrorHandlerOptions::new().include_stack(true);
        check(options(), false, HIDDEN);
        check(options(), true, WITH_STACK);
        check(options().expose_errors(true), false, WITH_STACK);
    }

    #[test]
    fn transform_replaces_only_the_body() {
        let wrap = ErrorHandlerOptions::new()
            .transform(|error, body| json!({ "status": 200, "of": error.status(), "body": body }));
        let expected = r#"{"status":200,"of":500,"body":{"error":"Internal Server Error"}}"#;
        check(wrap, false, expected);
    }

    #[test]
    fn the_logger_receives_the_error_and_the_request() {
        let (sender, lines) = std::sync::mpsc::channel();
        let options = ErrorHandlerOptions::new().logger(move |error, context| {
            let line = format!("{} {:?} {error}", context.method(), context.path());
            sender.send(line).unwrap();
        });
        check(options, false, HIDDEN);
        assert_eq!(lines.iter().collect::<Vec<_>>(), [r#"GET Some("/x") no database"#]);
    }
}
