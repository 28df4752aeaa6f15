//! [`RouteDescription`]: the description of a route at build time.
//!
//! Extractors, replies and middleware describe themselves here. The router
//! compares the description with the path and the provided state, which finds
//! configuration errors before the first request.

mod contradictions;
mod facts;
mod params;
mod reader;

pub use contradictions::contradictions;

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::sync::Arc;

use http::{Extensions, Method};
use stockade_errors::ConfigError;

use crate::States;
use crate::body_kind::BodyKind;
use crate::description::{DescribedRoute, SchemaOf};
use crate::type_check::TypeCheck;
use crate::validation::Input;

/// The name of the handler among the parts of a route.
const HANDLER: Cow<'static, str> = Cow::Borrowed("handler");

/// The description of a route, and its configuration errors.
#[derive(Debug)]
pub struct RouteDescription {
    method: Method,
    /// The name of each parameter, with true for an optional one.
    params: Vec<(String, bool)>,
    pub(crate) body: Option<BodyKind>,
    needs: Vec<(TypeId, &'static str)>,
    pub(crate) inputs: Vec<Input>,
    mistakes: Vec<String>,
    pub(crate) whole_requests: usize,
    pub(crate) writers: usize,
    pub(crate) upgrades: usize,
    /// True if an argument of the handler is the lifetime of the user.
    pub(crate) takes_lifetime: bool,
    /// True if the handler's return value is not sent.
    pub(crate) has_no_reply: bool,
    /// The middleware that is currently described. `None` for the handler.
    pub(crate) described: Option<String>,
    /// The first middleware that reads the body.
    body_reader: Option<String>,
    /// The first middleware that distinguishes users.
    user_reader: Option<String>,
    challenges: Vec<String>,
    guards_origin: bool,
    validation_status: Option<u16>,
    pub(crate) facts: DescribedRoute,
    /// True if the route is public and no part has required a user yet.
    is_public: bool,
    /// True if an earlier part authenticates users.
    finds_user: bool,
    /// True if the part that currently describes itself authenticates users.
    finds_user_now: bool,
    /// True if an argument of the handler is the user.
    takes_user: bool,
    /// The part that currently describes itself: `handler` or a middleware.
    describer: Cow<'static, str>,
    common: Extensions,
    /// The values that the application provides.
    states: States,
    /// The types of stored items. Responses may omit some of their properties.
    pub(crate) stored_types: Vec<SchemaOf>,
    type_checks: Vec<TypeCheck>,
    /// Values from parts of the route for the router, by type.
    pub(crate) parts: Extensions,
}

impl RouteDescription {
    /// Returns the method of the route.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the status of a failed validation. Default: 400.
    #[must_use]
    pub fn validation_status(&self) -> u16 {
        self.validation_status.unwrap_or(400)
    }

    /// Adds a configuration error: lower case, no full stop.
    pub fn issue(&mut self, message: impl Into<String>) {
        self.mistakes.push(message.into());
    }

    /// Adds the errors of a schema. `place` names its location.
    pub fn schema_issues(&mut self, place: &str, error: &ConfigError) {
        let mistakes = error.issues().iter().map(|mistake| format!("{place}: {mistake}"));
        self.mistakes.extend(mistakes);
    }

    /// Declares that the application must provide a value of type `T`.
    pub fn needs_state<T: 'static>(&mut self) {
        self.needs.push((TypeId::of::<T>(), type_name::<T>()));
    }

    /// Declares how the body is read. Several arguments may read it, unless one
    /// of them is a stream.
    pub fn reads_body(&mut self, kind: BodyKind) {
        let reads = matches!(kind, BodyKind::Typed | BodyKind::Multipart);
        if reads && (self.method == Method::GET || self.method == Method::HEAD) {
            let taker = match &self.described {
                Some(middleware) => format!("the function of `{middleware}`"),
                None => "the handler".to_owned(),
            };
            self.issue(format!("{taker} needs a body, but {} requests have no body", self.method));
        }
        self.body = Some(kind);
    }

    /// Declares that middleware `name` reads the body. Inner middleware must
    /// then not decode it.
    pub fn middleware_reads_body(&mut self, name: &str) {
        self.body_reader.get_or_insert_with(|| name.to_owned());
    }

    /// Declares that middleware `name` decodes the body. It is a configuration
    /// error inside middleware that reads the body, which would then see only
    /// the encoded bytes and have no effect.
    pub fn middleware_decodes_body(&mut self, name: &str) {
        if let Some(reader) = self.body_reader.clone() {
            self.issue(format!(
                "`{reader}` reads the body before `{name}` has decoded it: put `{name}` first"
            ));
        }
    }

    /// Declares that middleware `name` distinguishes users. Inner middleware
    /// that finds the user is a configuration error, because the user would not
    /// be known yet.
    pub fn middleware_reads_user(&mut self, name: &str) {
        self.user_reader.get_or_insert_with(|| name.to_owned());
    }
    /// Declares that middleware or the handler rejects requests from other
    /// origins. The router then checks whether CORS lists the origin:
    /// [`Request::has_listed_origin`](crate::Request::has_listed_origin).
    pub fn guards_origin(&mut self) {
        self.guards_origin = true;
    }

    /// Returns the value of type `T` that the application provides. Returns
    /// `None` before it is known: the router may provide it later, or create it
    /// when the application starts.
    #[doc(hidden)]
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.states.get()
    }

    /// Returns the values that the descriptions of all routes share, by type:
    /// the router's [`Clock`](crate::Clock), and values of middleware.
    #[must_use]
    pub fn common(&self) -> &Extensions {
        &self.common
    }

    /// Returns a mutable reference to the shared values. The router also uses
    /// it to move them to the next route.
    pub fn common_mut(&mut self) -> &mut Extensions {
        &mut self.common
    }

    /// Declares that the handler writes the response itself.
    pub fn writes_response(&mut self) {
        self.writers += 1;
        if self.writers == 2 {
            self.issue("two arguments of the handler write the response");
        }
    }

    /// Declares that a handler argument is the connection after an upgrade,
    /// such as a WebSocket.
    pub fn takes_upgrade(&mut self) {
        self.upgrades += 1;
    }

    /// Declares that the response does not depend on the handler's return
    /// value. The [`Reply`](crate::Reply) of that value then does not describe
    /// itself.
    pub fn sends_no_reply(&mut self) {
        self.has_no_reply = true;
    }
}
