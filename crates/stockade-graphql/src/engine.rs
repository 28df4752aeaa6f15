//! The interface to a GraphQL implementation ([`Engine`]), implemented for
//! async-graphql.
//!
//! Only this file, `document` and `graphql_error` depend on async-graphql's
//! documents and errors. The other files use only its variable values. To
//! support another implementation, replace these three files.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use async_graphql::extensions::{Extension, ExtensionContext, ExtensionFactory, NextValidation};
use async_graphql::{
    Name, ObjectType, PathSegment, Pos, Request, Response, Schema, SchemaBuilder, ServerError,
    SubscriptionType, UploadValue, ValidationResult, Value, Variables,
};
use futures_core::Stream;
use futures_core::stream::BoxStream;
use http::HeaderMap;
use stockade_core::BoxFuture;
use stockade_errors::panic::catch_panic_in_poll;

use crate::document::{Document, Kind};
use crate::limits::Limits;
use crate::request_context::RequestContext;

/// A GraphQL implementation with its schema.
pub(crate) trait Engine: Send + Sync {
    /// Runs a query or a mutation.
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Outcome>;

    /// Runs a subscription. Dropping the stream ends it. For other operations,
    /// the stream has one outcome.
    fn subscribe(&self, operation: Operation) -> BoxStream<'static, Outcome>;

    /// Returns the schema in the schema definition language.
    fn sdl(&self) -> String;
}

/// An operation within its limits.
#[derive(Debug)]
pub(crate) struct Operation {
    request: Request,
    kind: Kind,
    /// The number of requested fields.
    fields: usize,
}

impl Operation {
    /// Creates the operation of a document that a request names.
    pub(crate) fn new(
        document: Document,
        kind: Kind,
        name: Option<String>,
        variables: Variables,
    ) -> Self {
        let mut request = Request::new(document.text);
        request.operation_name = name;
        request.variables = variables;
        request.set_parsed_query(document.parsed);
        Self { request, kind, fields: document.fields }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn fields(&self) -> usize {
        self.fields
    }

    /// Replaces the value at a variable path with a file. The path was already
    /// checked.
    pub(crate) fn set_file(&mut self, path: &str, file: UploadValue) {
        self.request.set_upload(path, file);
    }

    /// Provides the request of the operation to resolvers.
    pub(crate) fn set_caller(&mut self, caller: RequestContext) {
        self.request.data.insert(caller);
    }

    /// Shares a complexity budget with other operations.
    pub(crate) fn set_budget(&mut self, budget: Budget) {
        self.request.data.insert(budget);
    }
}

/// Validates a document against the schema without running it. Returns the
/// errors.
///
/// The values of variables are unknown. If an extension of the schema waits or
/// panics without a request, the document is not validated.
pub(crate) fn validate(engine: &dyn Engine, document: Document) -> Vec<String> {
    // async-graphql validates before it looks up the operation. No operation
    // has this name.
    let name = Some("-".to_owned());
    let operation = Operation::new(document, Kind::Query, name, Variables::default());
    let polled = catch_panic_in_poll(|| {
        engine.execute(operation).as_mut().poll(&mut Context::from_waker(Waker::noop()))
    });
    let Poll::Ready(Ok(Outcome { mut errors, .. })) = polled else { return Vec::new() };
    errors.retain(is_of_document);
    // async-graphql visits operations and fragments in arbitrary order.
    errors.sort_by_key(|error| error.locations.first().map(|pos| (pos.line, pos.column)));
    errors.iter().map(with_place).collect()
}

/// Returns true if an error concerns the document itself. Errors from
/// extensions that need a request do not have a location.
fn is_of_document(error: &ServerError) -> bool {
    let needs_variable =
        error.message.starts_with("Variable ") && error.message.ends_with(" is not defined.");
    !needs_variable && (!error.locations.is_empty() || EXCESSES.contains(&&*error.message))
}

fn with_place(error: &ServerError) -> String {
    match error.locations.first() {
        Some(Pos { line, column }) => format!("{} (line {line}:{column})", error.message),
        None => error.message.clone(),
    }
}

/// The async-graphql errors for exceeded schema limits.
const EXCESSES: [&str; 2] = ["Query is too complex.", "Query is nested too deep."];

/// The remaining complexity for the operations of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: Arc<AtomicUsize>,
}

impl Budget {
    pub(crate) fn new(complexity: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(complexity)) }
    }

    /// Deducts a complexity. Returns false if not enough is left.
    pub(crate) fn take(&self, complexity: usize) -> bool {
        let take = |left: usize| left.checked_sub(complexity);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// The outcome of an operation.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The data, or `None` if the operation did not run.
    pub(crate) data: Option<Value>,
    pub(crate) errors: Vec<ServerError>,
    pub(crate) extensions: BTreeMap<String, Value>,
    /// The headers that resolvers have set.
    pub(crate) headers: HeaderMap,
    /// The value of `Cache-Control`, if the schema defines one for the
    /// requested fields.
    pub(crate) cache_control: Option<String>,
}

impl Outcome {
    fn of(response: Response) -> Self {
        let Response { mut data, errors, extensions, http_headers, cache_control, .. } = response;
        errors.iter().for_each(|error| fill(&mut data, &error.path));
        // A field error has a path, even if it makes all data null.
        let has_run = errors.is_empty() || data != Value::Null || {
            errors.iter().any(|error| !error.path.is_empty())
        };
        let cache_control = cache_control.value().filter(|_| errors.is_empty());
        // Null means failure, but async-graphql also returns it for an
        // operation without fields.
        let is_empty = errors.is_empty() && data == Value::Null;
        let data = if is_empty { Value::Object(Default::default()) } else { data };
        let data = has_run.then_some(data);
        Self { data, errors, extensions, headers: http_headers, cache_control }
    }
}

/// Inserts null for a failed field, which async-graphql omits.
///
/// Source: the specification of GraphQL, section 6.4.4 (handling execution
/// errors).
fn fill(data: &mut Value, path: &[PathSegment]) {
    let Some((PathSegment::Field(name), parents)) = path.split_last() else { return };
    let parent = parents.iter().try_fold(data, |value, step| match (value, step) {
        (Value::Object(fields), PathSegment::Field(name)) => fields.get_mut(name.as_str()),
        (Value::List(items), PathSegment::Index(index)) => items.get_mut(*index),
        _ => None,
    });
    if let Some(Value::Object(fields)) = parent {
        fields.entry(Name::new(name)).or_insert(Value::Null);
    }
}

/// A schema builder before the limits are set.
pub(crate) trait Unfinished: Send {
    /// Builds the schema.
    fn finish(self: Box<Self>, limits: &Limits) -> Arc<dyn Engine>;
}

impl<Q, M, S> Unfinished for SchemaBuilder<Q, M, S>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    fn finish(self: Box<Self>, limits: &Limits) -> Arc<dyn Engine> {
        // Depth and directives are measured before async-graphql validates.
        let schema = self.limit_complexity(limits.complexity);
        // Other schemas do not get the extension, which costs one more
        // allocation per field.
        let schema = if limits.batch > 0 { schema.extension(Budgets) } else { schema };
        Arc::new(schema.finish())
    }
}

impl<Q, M, S> Engine for Schema<Q, M, S>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Outcome> {
        Box::pin(async move { Outcome::of(Self::execute(self, operation.request).await) })
    }

    fn subscribe(&self, operation: Operation) -> BoxStream<'static, Outcome> {
        Box::pin(Outcomes { stream: self.execute_stream(operation.request) })
    }

    fn sdl(&self) -> String {
        Self::sdl(self)
    }
}

/// The outcomes of a subscription.
struct Outcomes {
    stream: BoxStream<'static, Response>,
}

impl Stream for Outcomes {
    type Item = Outcome;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Outcome>> {
        self.stream.as_mut().poll_next(cx).map(|it| it.map(Outcome::of))
    }
}

/// The extension that lets the operations of a batch share a [`Budget`].
struct Budgets;

impl ExtensionFactory for Budgets {
    fn create(&self) -> Arc<dyn Extension> {
        Arc::new(Self)
    }
}

#[async_graphql::async_trait::async_trait]
impl Extension for Budgets {
    async fn validation(
        &self,
        ctx: &ExtensionContext<'_>,
        next: NextValidation<'_>,
    ) -> Result<ValidationResult, Vec<ServerError>> {
        let result = next.run(ctx).await?;
        let budget = ctx.data_opt::<Budget>();
        if budget.is_none_or(|budget| budget.take(result.complexity)) {
            return Ok(result);
        }
        Err(vec![ServerError::new("The batch is too complex", None)])
    }
}
