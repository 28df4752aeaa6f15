//! [`Engine`]: the three methods of an engine of GraphQL, and async-graphql behind
//! them.
//!
//! The files `document` and `graphql_error` know its documents and errors, and no other file
//! more than the values of variables: another engine is these three files.

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

/// An engine with its schema.
pub(crate) trait Engine: Send + Sync {
    /// Runs a query or a mutation.
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Outcome>;

    /// Runs a subscription, whose stream ends when it is dropped; of another
    /// operation the stream is its one outcome.
    fn subscribe(&self, operation: Operation) -> BoxStream<'static, Outcome>;

    /// Returns the schema in the schema definition language.
    fn sdl(&self) -> String;
}

/// An operation that is within its limits.
#[derive(Debug)]
pub(crate) struct Operation {
    request: Request,
    kind: Kind,
    /// The number of fields that it asks for.
    fields: usize,
}

impl Operation {
    /// Makes the operation of a document that a request names.
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

    /// Puts a file in the place of a variable, which has been found already.
    pub(crate) fn set_file(&mut self, path: &str, file: UploadValue) {
        self.request.set_upload(path, file);
    }

    /// Gives resolvers the request that the operation came by.
    pub(crate) fn set_caller(&mut self, caller: RequestContext) {
        self.request.data.insert(caller);
    }

    /// Counts the complexity together with that of other operations.
    pub(crate) fn set_budget(&mut self, budget: Budget) {
        self.request.data.insert(budget);
    }
}

/// Validates a document against the schema without running it, and returns the errors.
///
/// Values of variables are not known, and an extension of the schema that waits or
/// panics without a request keeps its document from being validated.
pub(crate) fn validate(engine: &dyn Engine, document: Document) -> Vec<String> {
    // The engine validates before it looks for the operation, and no operation has this
    // name.
    let name = Some("-".to_owned());
    let operation = Operation::new(document, Kind::Query, name, Variables::default());
    let polled = catch_panic_in_poll(|| {
        engine.execute(operation).as_mut().poll(&mut Context::from_waker(Waker::noop()))
    });
    let Poll::Ready(Ok(Outcome { mut errors, .. })) = polled else { return Vec::new() };
    errors.retain(is_of_document);
    // The engine looks at operations and fragments in no order.
    errors.sort_by_key(|error| error.locations.first().map(|pos| (pos.line, pos.column)));
    errors.iter().map(with_place).collect()
}

/// Returns true for an error of the document itself. Those of extensions, which miss the
/// request, name no place.
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

/// The errors of the engine for what exceeds a limit of the schema.
const EXCESSES: [&str; 2] = ["Query is too complex.", "Query is nested too deep."];

/// The complexity that is left for the operations of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: Arc<AtomicUsize>,
}

impl Budget {
    pub(crate) fn new(complexity: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(complexity)) }
    }

    /// Takes a complexity from the rest; false if it is not there.
    pub(crate) fn take(&self, complexity: usize) -> bool {
        let take = |left: usize| left.checked_sub(complexity);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// The outcome of an operation.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// `None` where the operation did not run.
    pub(crate) data: Option<Value>,
    pub(crate) errors: Vec<ServerError>,
    pub(crate) extensions: BTreeMap<String, Value>,
    /// The headers that resolvers have set.
    pub(crate) headers: HeaderMap,
    /// The value of `Cache-Control`, if the schema has one for what was asked.
    pub(crate) cache_control: Option<String>,
}

impl Outcome {
    fn of(response: Response) -> Self {
        let Response { mut data, errors, extensions, http_headers, cache_control, .. } = response;
        errors.iter().for_each(|error| fill(&mut data, &error.path));
        // An error of a field has its path, also where it empties the whole.
        let has_run = errors.is_empty() || data != Value::Null || {
            errors.iter().any(|error| !error.path.is_empty())
        };
        let cache_control = cache_control.value().filter(|_| errors.is_empty());
        // Null says that something failed: of no fields at all the engine says it too.
        let is_empty = errors.is_empty() && data == Value::Null;
        let data = if is_empty { Value::Object(Default::default()) } else { data };
        let data = has_run.then_some(data);
        Self { data, errors, extensions, headers: http_headers, cache_control }
    }
}

/// Puts null in the place of a field that failed, which the engine leaves out.
///
/// Source: the specification of GraphQL, section 6.4.4 (handling execution errors).
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

/// A schema whose limits are still to be set.
pub(crate) trait Unfinished: Send {
    /// Makes the engine.
    fn finish(self: Box<Self>, limits: &Limits) -> Arc<dyn Engine>;
}

impl<Q, M, S> Unfinished for SchemaBuilder<Q, M, S>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    fn finish(self: Box<Self>, limits: &Limits) -> Arc<dyn Engine> {
        // Depth and directives are measured before the engine validates.
        let schema = self.limit_complexity(limits.complexity);
        // With an extension each field costs an allocation more.
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

/// The extension by which the operations of a batch share a [`Budget`].
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
