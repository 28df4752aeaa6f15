//! The request handlers of the routes.

use std::pin::pin;
use std::sync::Arc;

use futures_core::stream::BoxStream;
use http::{HeaderName, header};
use stockade_core::error_settings::Settings;
use stockade_core::extract::UserLifetime;
use stockade_core::{Request, Response};
use stockade_errors::ApiError;
use stockade_errors::panic::CatchPanic;
use stockade_stages::rate_limit::meter::Meter;

use crate::accept::{Accepted, Media};
use crate::document::Kind;
use crate::engine::{Budget, Engine, Operation, Outcome};
use crate::graphql_error::{GraphQlError, Shown};
use crate::graphql_response::{GraphQlResponse, respond_refused, respond_to_batch};
use crate::limits::Limits;
use crate::message::{Message, Params, Unreadable};
use crate::persisted::Store;
use crate::reader::Reader;
use crate::request_context::RequestContext;
use crate::sse;
use crate::upload::{self, File, UploadOptions};

/// A schema with its limits and options.
pub(crate) struct Service {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) limits: Limits,
    /// True if async-graphql counts the complexity of a batch together.
    /// Otherwise the fields are counted.
    pub(crate) has_budgets: bool,
    /// True if introspection is enabled. `None` follows the router's setting to
    /// expose errors.
    pub(crate) introspection: Option<bool>,
    pub(crate) reader: Reader,
    pub(crate) documents: Store,
    pub(crate) uploads: Option<UploadOptions>,
    #[cfg(feature = "graphiql")]
    pub(crate) graphiql: bool,
}

/// A request with an operation that does not run.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The request does not contain a document: its parameters are invalid.
    Parameters(GraphQlError),
    /// The document or its variables are invalid.
    Document(GraphQlError),
}

impl Refusal {
    pub(crate) fn into_error(self) -> GraphQlError {
        match self {
            Self::Parameters(error) | Self::Document(error) => error,
        }
    }
}

impl Service {
    /// Handles a POST request.
    pub(crate) async fn post(self: Arc<Self>, mut req: Request) -> Result<Response, ApiError> {
        let accepted = Accepted::of(req.headers());
        // A client that accepts only events still gets a JSON response to an
        // invalid request.
        let events_alone = accepted.media.is_none() && accepted.events;
        let events_media = events_alone.then_some(Media::GraphQl);
        let media = accepted.media.or(events_media).ok_or_else(not_acceptable)?;
        let settings = req.settings();
        let (message, files) = if is_form(&req) {
            let (params, files) = self.form(&mut req).await?;
            (Message::One(params), files)
        } else if req.has_readable_body() {
            let bytes = req.bytes().await?;
            match Message::read(&bytes, self.limits.batch, req.max_json_values()) {
                Ok(message) => (message, Vec::new()),
                Err(Unreadable { status, message }) => {
                    return respond_refused(status, GraphQlError::new(message), media);
                }
            }
        } else {
            // JSON with a charset other than UTF-8.
            return Err(ApiError::new(415, "Unsupported Media Type"));
        };
        match message {
            Message::One(params) => match self.open(params, &files, settings) {
                Ok(operation)
                    if events_alone
                        || accepted.events && operation.kind() == Kind::Subscription =>
                {
                    let lifetime = UserLifetime::of(&req);
                    let caller = RequestContext::of(req);
                    let outcomes = self.stream(operation, caller.clone());
                    sse::respond(outcomes, self.shown(settings), caller, lifetime)
                }
                Err(refusal) if events_alone => sse::refuse(refusal.into_error()),
                Ok(operation) if operation.kind() == Kind::Subscription => {
                    GraphQlResponse::refused(no_stream()).respond(media, false)
                }
                Ok(operation) => {
                    let response = self.run(operation, &RequestContext::of(req), settings).await;
                    response.respond(media, false)
                }
                Err(refusal) => refuse(refusal, media, false),
            },
            Message::Batch(batch) => {
                respond_to_batch(&self.run_batch(batch, req, settings).await, media)
            }
        }
    }

    /// Handles a GET request.
    pub(crate) async fn get(self: Arc<Self>, req: Request) -> Result<Response, ApiError> {
        #[cfg(feature = "graphiql")]
        if self.graphiql && req.uri().query().is_none() && Accepted::of(req.headers()).page {
            return crate::page::respond(req.headers());
        }
        check_site(&req)?;
        let media = Accepted::of(req.headers()).media.ok_or_else(not_acceptable)?;
        let params = match Params::of_query(&req) {
            Ok(params) => params,
            Err(error) => {
                return respond_refused(error.status(), GraphQlError::new(error.message()), media);
            }
        };
        let settings = req.settings();
        match self.open(params, &[], settings) {
            Ok(operation) if operation.kind() == Kind::Query => {
                let response = self.run(operation, &RequestContext::of(req), settings).await;
                response.respond(media, true)
            }
            Ok(_) => Err(ApiError::new(405, "GET requests can only run queries")
                .with_header("allow", "POST")),
            Err(refusal) => refuse(refusal, media, true),
        }
    }

    /// Reads a form with files.
    async fn form(&self, req: &mut Request) -> Result<(Params, Vec<File>), ApiError> {
        let uploads = self.uploads.ok_or_else(|| ApiError::new(415, "Unsupported Media Type"))?;
        let asks = |name| req.headers().get(name).is_some_and(|value| !value.is_empty());
        if !PREFLIGHTS.iter().any(asks) {
            let message = "A form must have the header `GraphQL-Require-Preflight`";
            return Err(ApiError::new(403, message));
        }
        let values = req.max_json_values();
        upload::read(req, uploads, values).await
    }

    /// Creates the operation of a request.
    ///
    /// # Errors
    /// Returns the error for the client if the operation cannot run.
    pub(crate) fn open(
        &self,
        mut params: Params,
        files: &[File],
        settings: Settings,
    ) -> Result<Operation, Refusal> {
        let document = self.documents.document(&mut params, &self.reader).map_err(|error| {
            let missing = || Refusal::Parameters(GraphQlError::new("`query` is missing"));
            error.map_or_else(missing, Refusal::Document)
        })?;
        let Params { operation_name, variables, .. } = params;
        let kind =
            document.operation(operation_name.as_deref(), &variables).map_err(Refusal::Document)?;
        if document.asks_for_schema && !self.shown(settings).schema {
            let error = GraphQlError::new("Introspection is disabled");
            return Err(Refusal::Document(error.with_code("INTROSPECTION_DISABLED")));
        }
        let mut operation = Operation::new(document, kind, operation_name, variables);
        for file in files {
            file.paths.iter().for_each(|path| operation.set_file(path, file.value()));
        }
        Ok(operation)
    }

    /// Runs a query or a mutation.
    pub(crate) async fn run(
        &self,
        mut operation: Operation,
        caller: &RequestContext,
        settings: Settings,
    ) -> GraphQlResponse {
        operation.set_caller(caller.clone());
        let outcome = self.engine.execute(operation).await;
        GraphQlResponse::of(outcome, self.shown(settings), caller)
    }

    /// Runs an operation and returns its outcomes. A query or mutation has one.
    ///
    /// # Errors
    /// Returns the error for the client if the operation cannot run.
    pub(crate) fn subscribe(
        &self,
        params: Params,
        caller: RequestContext,
        settings: Settings,
    ) -> Result<BoxStream<'static, Outcome>, Refusal> {
        Ok(self.stream(self.open(params, &[], settings)?, caller))
    }

    fn stream(
        &self,
        mut operation: Operation,
        caller: RequestContext,
    ) -> BoxStream<'static, Outcome> {
        operation.set_caller(caller);
        self.engine.subscribe(operation)
    }

    /// Runs the operations of a batch sequentially, so a mutation ends before
    /// the next one starts. The rate limiter has already charged the first
    /// operation.
    async fn run_batch(
        &self,
        batch: Vec<Params>,
        req: Request,
        settings: Settings,
    ) -> Vec<GraphQlResponse> {
        let meter = req.shared::<Meter>();
        let caller = RequestContext::of(req);
        let budget = Budget::new(self.limits.complexity);
        let (mut granted, mut refusal) = (u32::MAX, None);
        if let Some(meter) = meter {
            let others = batch.len().saturating_sub(1);
            (granted, refusal) = meter.charge_n(u32::try_from(others).unwrap_or(u32::MAX)).await;
        }
        let mut responses = Vec::with_capacity(batch.len());
        for (index, params) in batch.into_iter().enumerate() {
            let is_refused = u32::try_from(index).is_ok_and(|index| index > granted);
            if let Some(error) = refusal.as_ref().filter(|_| is_refused) {
                let error = GraphQlError::of_error(error, settings);
                responses.push(GraphQlResponse::refused(error));
                continue;
            }
            let opened = self.open(params, &[], settings).map_err(Refusal::into_error);
            responses.push(match opened.and_then(|it| self.in_budget(it, &budget)) {
                Ok(operation) => self.run_alone(operation, &caller, settings).await,
                Err(error) => GraphQlResponse::refused(error),
            });
        }
        responses
    }

    /// Runs an operation and catches panics. Earlier operations have already
    /// run, and the client must receive their results.
    async fn run_alone(
        &self,
        operation: Operation,
        caller: &RequestContext,
        settings: Settings,
    ) -> GraphQlResponse {
        let running = pin!(self.run(operation, caller, settings));
        CatchPanic::new(running).await.unwrap_or_else(|panic| {
            caller.context().log(&panic);
            GraphQlResponse::refused(GraphQlError::of_error(&panic, settings))
        })
    }

    /// Adds an operation of a batch to the shared budget.
    fn in_budget(
        &self,
        mut operation: Operation,
        budget: &Budget,
    ) -> Result<Operation, GraphQlError> {
        if operation.kind() == Kind::Subscription {
            return Err(no_stream());
        }
        if self.has_budgets {
            operation.set_budget(budget.clone());
        } else if !budget.take(operation.fields()) {
            return Err(GraphQlError::new("The batch is too complex"));
        }
        Ok(operation)
    }

    pub(crate) fn shown(&self, settings: Settings) -> Shown {
        Shown { settings, schema: self.introspection.unwrap_or(settings.expose_errors) }
    }
}

fn refuse(refusal: Refusal, media: Media, is_get: bool) -> Result<Response, ApiError> {
    match refusal {
        Refusal::Parameters(error) => respond_refused(400, error, media),
        Refusal::Document(error) => GraphQlResponse::refused(error).respond(media, is_get),
    }
}

#[cold]
fn no_stream() -> GraphQlError {
    GraphQlError::new("A subscription needs server-sent events or a WebSocket")
}

#[cold]
fn not_acceptable() -> ApiError {
    ApiError::new(406, "Not Acceptable")
}

/// Returns true for `multipart/form-data`, which the route accepts only with
/// uploads.
fn is_form(req: &Request) -> bool {
    let content_type = req.headers().get(header::CONTENT_TYPE).map_or(&[][..], |it| it.as_bytes());
    content_type.get(..FORM.len()).is_some_and(|start| start.eq_ignore_ascii_case(FORM))
}

/// Rejects a request from a page on another site, unless CORS allows the page's
/// origin. The page cannot read the response, but it could measure the response
/// time.
///
/// Source: Fetch Metadata Request Headers, section 2.3.
fn check_site(req: &Request) -> Result<(), ApiError> {
    let mut sites = req.headers().get_all("sec-fetch-site").iter();
    if sites.any(|site| site == "cross-site") && !req.has_listed_origin() {
        return Err(ApiError::new(403, "The request comes from another site"));
    }
    Ok(())
}

const FORM: &[u8] = b"multipart/form-data";

/// Headers that a cross-origin page can send only after a CORS preflight.
const PREFLIGHTS: [HeaderName; 2] = [
    HeaderName::from_static("graphql-require-preflight"),
    HeaderName::from_static("apollo-require-preflight"),
];
