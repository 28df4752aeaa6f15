//! Declares a schema with its limits and options.

use std::fmt;
use std::sync::Arc;

use async_graphql::{ObjectType, Schema, SchemaBuilder, SubscriptionType};
use http::Method;
use stockade_core::{Handler, RouteDescription, RouteDocs};
use stockade_routing::{RouteEntry, RouteTree};
use stockade_validation::HasSchema;

#[cfg(feature = "graphiql")]
use crate::describe::describe_page;
use crate::describe::{describe_get, describe_post};
use crate::engine::{Engine, Unfinished};
use crate::limits::Limits;
use crate::marked::MarkRules;
use crate::members::schema_fact;
use crate::persisted::{PersistedQueries, Store};
use crate::reader::Reader;
use crate::service::Service;
use crate::subscription_options::SubscriptionOptions;
use crate::upload::UploadOptions;
use crate::web_socket::web_socket;

/// A GraphQL schema with its limits and options.
///
/// The last 256 documents are cached in parsed form. Each has at most 4 KiB,
/// and together they have at most 64 KiB. Documents with string literals are
/// not cached: pass changing values as variables.
///
/// ```
/// use stockade::graphql::{GraphQl, async_graphql as gql};
/// use stockade::prelude::*;
/// use stockade::testing::TestClient;
///
/// struct Query;
///
/// #[gql::Object(crate = "gql")]
/// impl Query {
///     async fn add(&self, a: i32, b: i32) -> i32 {
///         a + b
///     }
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let schema = gql::Schema::build(Query, gql::EmptyMutation, gql::EmptySubscription);
/// let api = routes! { "graphql": { ..GraphQl::new(schema).routes() } };
/// let client = TestClient::new(create_router(api, RouterOptions::new()));
/// let answer = client.post("/graphql").json(&json!({ "query": "{ add(a: 2, b: 3) }" })).await;
/// answer.assert_json(&json!({ "data": { "add": 5 } }));
/// # }
/// ```
#[must_use = "a schema does nothing until its routes are in a tree"]
pub struct GraphQl {
    schema: Source,
    limits: Limits,
    /// The async-graphql limits that were set.
    set_for_engine: Vec<&'static str>,
    introspection: Option<bool>,
    persisted: Option<PersistedQueries>,
    uploads: Option<UploadOptions>,
    max_body: Option<u64>,
    public: Option<String>,
    outlives_user: Option<String>,
    marks: MarkRules,
    pub(crate) subscriptions: SubscriptionOptions,
    #[cfg(feature = "graphiql")]
    graphiql: bool,
}

enum Source {
    Unfinished(Box<dyn Unfinished>),
    Finished(Arc<dyn Engine>),
}

impl GraphQl {
    /// Creates the routes from a schema builder. The limits become part of the
    /// schema.
    ///
    /// [`max_complexity`](Self::max_complexity) replaces a complexity limit of
    /// the builder, because the builder does not expose it.
    #[track_caller]
    pub fn new<Q, M, S>(schema: SchemaBuilder<Q, M, S>) -> Self
    where
        Q: ObjectType + 'static,
        M: ObjectType + 'static,
        S: SubscriptionType + 'static,
    {
        Self::of(Source::Unfinished(Box::new(schema)))
    }

    /// Creates the routes from a finished schema. The schema's own limits for
    /// depth, complexity and directives apply, if it has any, and cannot be
    /// changed. All other limits still apply. The operations of a batch are
    /// counted together by their fields.
    #[track_caller]
    pub fn finished<Q, M, S>(schema: Schema<Q, M, S>) -> Self
    where
        Q: ObjectType + 'static,
        M: ObjectType + 'static,
        S: SubscriptionType + 'static,
    {
        Self::of(Source::Finished(Arc::new(schema)))
    }

    #[track_caller]
    fn of(schema: Source) -> Self {
        Self {
            schema,
            limits: Limits::default(),
            set_for_engine: Vec::new(),
            introspection: None,
            persisted: None,
            uploads: None,
            max_body: None,
            public: None,
            outlives_user: None,
            marks: MarkRules::default(),
            subscriptions: SubscriptionOptions::default(),
            #[cfg(feature = "graphiql")]
            graphiql: false,
        }
    }

    /// Sets the maximum nesting of fields. Default: 12.
    pub fn max_depth(mut self, fields: usize) -> Self {
        self.limits.depth = fields;
        self.set_for_engine.push("max_depth");
        self
    }

    /// Sets the maximum complexity of an operation, or of all operations in a
    /// batch together. A field with its selections counts 1 unless its
    /// `complexity` attribute says otherwise. A list also counts 1: set
    /// `complexity = "list_complexity(first, child_complexity)"` with
    /// [`list_complexity`](crate::list_complexity). Default: 1,000.
    ///
    /// The attribute does not apply to a field that is selected through an
    /// interface, so a list counts 1. Give its argument a
    /// `validator(maximum = …)`.
    pub fn max_complexity(mut self, complexity: usize) -> Self {
        self.limits.complexity = complexity;
        self.set_for_engine.push("max_complexity");
        self
    }

    /// Sets the maximum number of directives on one field, fragment or
    /// operation. Default: 5.
    pub fn max_directives(mut self, directives: usize) -> Self {
        self.limits.directives = directives;
        self.set_for_engine.push("max_directives");
        self
    }

    /// Sets the maximum number of aliases in an operation, including fragments
    /// at each spread. Default: 50.
    pub fn max_aliases(mut self, aliases: usize) -> Self {
        self.limits.aliases = aliases;
        self
    }

    /// Sets the maximum number of root fields in an operation. Default: 20.
    pub fn max_root_fields(mut self, fields: usize) -> Self {
        self.limits.root_fields = fields;
        self
    }

    /// Sets the maximum size of a document, in bytes. Default: 64 KiB.
    pub fn max_document(mut self, bytes: usize) -> Self {
        self.limits.document = bytes;
        self
    }

    /// Sets the maximum number of tokens in a document: names, numbers, strings
    /// and punctuation. They are counted before parsing. Default: 4,000.
    pub fn max_tokens(mut self, tokens: usize) -> Self {
        self.limits.tokens = tokens;
        self
    }

    /// Sets the maximum nesting of braces, brackets and parentheses in a
    /// document. It is checked before parsing. Default: 64, which is also the
    /// maximum of the parser.
    pub fn max_nesting(mut self, nesting: usize) -> Self {
        self.limits.nesting = nesting.min(Limits::default().nesting);
        self
    }

    /// Accepts batches: lists of at most this many requests. Each request
    /// counts against the rate limits, and their complexities are added. 0
    /// disables batches. Default: 0.
    pub fn batch(mut self, operations: usize) -> Self {
        self.limits.batch = operations;
        self
    }

    /// Sets whether clients can query the schema (introspection) and get
    /// suggestions for wrong names. Default: enabled if the router exposes
    /// errors (`expose_errors`).
    pub fn introspection(mut self, is_shown: bool) -> Self {
        self.introspection = Some(is_shown);
        self
    }

    /// Accepts documents by their hashes. Default: clients send complete
    /// documents.
    pub fn persisted(mut self, persisted: PersistedQueries) -> Self {
        self.persisted = Some(persisted);
        self
    }

    /// Accepts file uploads in forms. Default: forms get a 415.
    pub fn uploads(mut self, uploads: UploadOptions) -> Self {
        self.uploads = Some(uploads);
        self
    }

    /// Sets the maximum size of a POST body, in bytes. Default: the router's
    /// limit.
    pub fn max_body(mut self, bytes: u64) -> Self {
        self.max_body = Some(bytes);
        self
    }

    /// Sets the reason for public routes, like [`RouteEntry::public`].
    pub fn public(mut self, reason: impl Into<String>) -> Self {
        self.public = Some(reason.into());
        self
    }

    /// Lets subscriptions continue after the user logs out, and sets the
    /// reason, like [`RouteEntry::outlives_user`]. By default a WebSocket is
    /// closed with 4401, and an event stream ends with an error and `complete`.
    pub fn outlives_user(mut self, reason: impl Into<String>) -> Self {
        self.outlives_user = Some(reason.into());
        self
    }

    /// Compares the GraphQL type or input `name` with the marks of the Rust
    /// type `T`, including the types of its fields.
    ///
    /// Use it for a type that no route of the router uses, or that has another
    /// name in the schema. All other types are matched by name, as described in
    /// `book/src/how-to/graphql.md`. It is a configuration error if the schema exposes a
    /// `#[schema(write_only)]` field, or if an input contains a
    /// `#[schema(read_only)]` field.
    ///
    /// ```
    /// use stockade::graphql::{GraphQl, async_graphql as gql};
    /// use stockade::prelude::*;
    ///
    /// #[derive(Schema, gql::SimpleObject)]
    /// #[graphql(crate = "gql", name = "Member")]
    /// struct User {
    ///     name: String,
    ///     #[schema(write_only)]
    ///     password_hash: String,
    /// }
    ///
    /// struct Query;
    ///
    /// #[gql::Object(crate = "gql")]
    /// impl Query {
    ///     async fn me(&self) -> User {
    ///         User { name: "Ada".into(), password_hash: "…".into() }
    ///     }
    /// }
    ///
    /// let schema = gql::Schema::build(Query, gql::EmptyMutation, gql::EmptySubscription);
    /// let graphql = GraphQl::new(schema).check_marks::<User>("Member");
    /// let api = routes! { "graphql": { ..graphql.routes() } };
    /// let error = create_router(api, RouterOptions::new()).build().unwrap_err();
    /// assert!(error.to_string().contains("`Member.passwordHash`"), "{error}");
    /// ```
    pub fn check_marks<T: HasSchema>(mut self, name: impl Into<String>) -> Self {
        self.marks.describe::<T>(name.into());
        self
    }

    /// Allows a schema member that breaks a mark of its type, such as
    /// `User.email` or `input UserInput.role`, and sets the reason. An unknown
    /// member is a configuration error.
    pub fn allow_marked(mut self, member: impl Into<String>, reason: impl Into<String>) -> Self {
        self.marks.allow(member.into(), reason.into());
        self
    }

    /// Serves GraphiQL to browsers that open the path. The page is embedded in
    /// the program, and its content security policy allows no other hosts.
    /// GraphiQL needs [`introspection`](Self::introspection) to show the
    /// schema. It receives subscription events without a WebSocket. Default:
    /// false.
    #[cfg(feature = "graphiql")]
    pub fn graphiql(mut self, is_served: bool) -> Self {
        self.graphiql = is_served;
        self
    }

    /// Creates the routes. Spread them into the tree of an application:
    /// `"graphql": { ..graphql.routes() }`.
    #[track_caller]
    pub fn routes(mut self) -> RouteTree {
        let mut mistakes = Vec::new();
        let (engine, has_budgets) = match self.schema {
            Source::Unfinished(schema) => (schema.finish(&self.limits), true),
            Source::Finished(engine) => {
                mistakes.extend(
                    self.set_for_engine
                        .iter()
                        .map(|name| format!("`{name}` has no effect on a finished schema")),
                );
                self.limits.depth = usize::MAX;
                self.limits.directives = usize::MAX;
                (engine, false)
            }
        };
        let documents = self.persisted.map(|persisted| persisted.build(&self.limits, &*engine));
        let (documents, faults) = documents.unwrap_or_default();
        mistakes.extend(faults);
        let schema = match schema_fact(engine.sdl()) {
            Ok(schema) => Some(Arc::new(schema)),
            Err(error) => {
                mistakes.push(format!("the exported schema cannot be parsed: {error}"));
                None
            }
        };
        let types = ["application/json", "multipart/form-data"];
        let types = if self.uploads.is_some() { &types[..] } else { &types[..1] };
        let has_hashes = !matches!(documents, Store::Off);
        let service = Arc::new(Service {
            engine,
            limits: self.limits,
            has_budgets,
            introspection: self.introspection,
            reader: Reader::new(self.limits),
            documents,
            uploads: self.uploads,
            #[cfg(feature = "graphiql")]
            graphiql: self.graphiql,
        });
        let socket = self.subscriptions.web_socket.then(|| {
            let entry = web_socket(Arc::clone(&service), self.subscriptions);
            with_reasons(entry, self.public.as_deref(), self.outlives_user.as_deref())
        });
        let (of_get, of_post) = (Arc::clone(&service), service);
        #[cfg(feature = "graphiql")]
        let graphiql = self.graphiql;
        let describe = move |doc: &mut RouteDescription| {
            #[cfg(feature = "graphiql")]
            describe_page(doc, graphiql);
            describe_get(doc, has_hashes);
        };
        let get = Handler::erased(move |req| Box::pin(Arc::clone(&of_get).get(req)), describe);
        let check = schema.as_ref().map(|schema| self.marks.for_schema(schema));
        let (batch, has_uploads) = (self.limits.batch, self.uploads.is_some());
        let describe = move |doc: &mut RouteDescription| {
            describe_post(doc, batch, has_uploads, has_hashes);
            schema.iter().for_each(|schema| doc.serves_graphql(schema));
            check.iter().for_each(|check| doc.checks_types(check.clone()));
            mistakes.iter().for_each(|mistake| doc.issue(mistake));
        };
        let post = Handler::erased(move |req| Box::pin(Arc::clone(&of_post).post(req)), describe);
        let get = RouteEntry::of_handler(get).docs(RouteDocs::new("Runs a GraphQL query"));
        let post = RouteEntry::of_handler(post)
            .accepts(types)
            .docs(RouteDocs::new("Runs a GraphQL operation"));
        let post = if self.limits.batch > 0 { post.with_parts() } else { post };
        let post = self.max_body.into_iter().fold(post, RouteEntry::max_body);
        let get = with_reasons(get, self.public.as_deref(), None);
        let post = with_reasons(post, self.public.as_deref(), self.outlives_user.as_deref());
        let tree = RouteTree::new().method(Method::GET, get).method(Method::POST, post);
        socket.into_iter().fold(tree, RouteTree::web_socket)
    }
}

/// Adds the reasons for public access and for outliving the user.
fn with_reasons(entry: RouteEntry, public: Option<&str>, outlives: Option<&str>) -> RouteEntry {
    let entry = public.into_iter().fold(entry, RouteEntry::public);
    outlives.into_iter().fold(entry, RouteEntry::outlives_user)
}

impl fmt::Debug for GraphQl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GraphQl").field("limits", &self.limits).finish_non_exhaustive()
    }
}
