//! [`RouteEntry`]: a handler with what belongs to it, and [`RouteRef`], the same
//! in the place where it was added.
//!
//! Spec: Route entry object.

use std::panic::Location;

use stockade_core::{
    Handler, IntoMiddlewareList, IntoSchema, Middleware, Shape, Signature, Validation,
};
use stockade_errors::{ConfigError, Mistake};
use stockade_validation::{Schema, ValidationOptions};

/// What a method holds: a handler, and what belongs to it.
///
/// Spec: Route entry object.
#[derive(Debug)]
#[must_use = "an entry does nothing until it stands in a tree"]
pub struct RouteEntry {
    pub(crate) handler: Handler,
    pub(crate) middleware: Vec<Middleware>,
    pub(crate) validation: Validation,
    pub(crate) name: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) max_body: Option<u64>,
    pub(crate) location: &'static Location<'static>,
    /// What is wrong with its schemas.
    pub(crate) mistakes: Vec<Mistake>,
}

impl RouteEntry {
    /// An entry of this handler and nothing else.
    #[track_caller]
    pub fn new<F, Args>(handler: F) -> Self
    where
        F: Shape<Args>,
        F::Signature: Signature<Args = Args, Output = F::Output>,
        F::Future: Send,
        Args: Send + 'static,
    {
        Self {
            handler: Handler::new(handler),
            middleware: Vec::new(),
            validation: Validation::new(),
            name: None,
            path: None,
            max_body: None,
            location: Location::caller(),
            mistakes: Vec::new(),
        }
    }

    /// Replaces the path that the tree gives it; the router's prefix still
    /// applies.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The schema; what is wrong with it is kept for the build of the router.
    fn schema(&mut self, key: &str, schema: Result<Schema, ConfigError>) -> Option<Schema> {
        let place = self.location;
        let mistakes = |error: ConfigError| {
            let mistakes = error.mistakes().iter().map(|mistake| {
                let message = format!("{key}: {}", mistake.message());
                Mistake::new(message).at(mistake.location().unwrap_or(place))
            });
            self.mistakes.extend(mistakes);
        };
        schema.map_err(mistakes).ok()
    }
}

/// A route that was just added, to say more about it.
#[derive(Debug)]
pub struct RouteRef<'r> {
    entry: &'r mut RouteEntry,
}

impl<'r> RouteRef<'r> {
    pub(crate) fn of(entry: &'r mut RouteEntry) -> Self {
        Self { entry }
    }

    /// Where the route was added.
    #[must_use]
    pub fn location(&self) -> &'static Location<'static> {
        self.entry.location
    }
}

/// Writes each setter twice: for an entry, and for a route in its place.
macro_rules! setters {
    ($(
        $(#[$doc:meta])*
        fn $name:ident $(<$M:ident>)? ($entry:ident, $value:ident: $type:ty) $set:block
    )*) => {
        impl RouteEntry {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name $(<$M>)? (mut self, $value: $type) -> Self {
                let $entry = &mut self;
                $set
                self
            })*
        }

        #[expect(
            clippy::return_self_not_must_use,
            reason = "the route is added already"
        )]
        impl RouteRef<'_> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name $(<$M>)? (self, $value: $type) -> Self {
                let $entry = &mut *self.entry;
                $set
                self
            })*
        }
    };
}

setters! {
    /// Adds middleware that runs after that of the router, its groups and the
    /// tree, in list order.
    fn middleware<M>(entry, list: impl IntoMiddlewareList<M>) {
        entry.middleware.extend(list.into_list());
    }

    /// Checks the body before the handler runs, and puts the outcome in its
    /// place; what fails is a 400.
    fn validation(entry, schema: impl IntoSchema) {
        entry.validation.body = entry.schema("validation", schema.into_schema());
    }

    /// Checks the query before the body. Text becomes numbers and booleans
    /// where the schema asks for them.
    fn query(entry, schema: impl IntoSchema) {
        entry.validation.query = entry.schema("query", schema.into_schema());
    }

    /// Checks the parameters of the path before the query. Text becomes numbers
    /// and booleans where the schema asks for them.
    fn params(entry, schema: impl IntoSchema) {
        entry.validation.params = entry.schema("params", schema.into_schema());
    }

    /// Says how the schemas of the route judge, those of the types that its
    /// handler takes included.
    fn validation_options(entry, options: ValidationOptions) {
        entry.validation.options = options;
    }

    /// Names the route for `generate_url`.
    fn name(entry, name: impl Into<String>) {
        entry.name = Some(name.into());
    }

    /// Limits the body of this route, in bytes, instead of the router's limit.
    fn max_body(entry, bytes: u64) {
        entry.max_body = Some(bytes);
    }
}
