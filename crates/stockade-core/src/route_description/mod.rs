//! [`RouteDescription`]: the description of a route while the router is built.
//!
//! Extractors, replies and middleware describe themselves here. The router
//! checks the description against the path and the provided state, so that a
//! mistake is found before the first request.

mod contradictions;
mod facts;
mod params;
mod reader;

pub use contradictions::contradictions;

use std::any::{TypeId, type_name};
use std::borrow::Cow;

use http::{Extensions, Method};
use stockade_errors::ConfigError;

use crate::body_kind::BodyKind;
use crate::description::{DescribedRoute, SchemaOf};
use crate::type_check::TypeCheck;
use crate::validation::Input;

/// The name of the handler, where the parts of a route are named.
const HANDLER: Cow<'static, str> = Cow::Borrowed("handler");

/// The description of one route, and the mistakes found while it was made.
#[derive(Debug)]
pub struct RouteDescription {
    method: Method,
    /// The name of each parameter; true for an optional one.
    params: Vec<(String, bool)>,
    pub(crate) body: Option<BodyKind>,
    needs: Vec<(TypeId, &'static str)>,
    pub(crate) inputs: Vec<Input>,
    mistakes: Vec<String>,
    pub(crate) whole_requests: usize,
    pub(crate) writers: usize,
    pub(crate) upgrades: usize,
    /// True if the value that the handler returns is not sent.
    pub(crate) has_no_reply: bool,
    /// The middleware whose arguments describe themselves now; none for those of
    /// the handler.
    pub(crate) described: Option<String>,
    /// The first middleware that reads the body.
    body_reader: Option<String>,
    /// The first middleware that tells users apart.
    user_reader: Option<String>,
    challenges: Vec<String>,
    guards_origin: bool,
    validation_status: Option<u16>,
    pub(crate) facts: DescribedRoute,
    /// True if the route is public, and no part that requires a user was noted yet.
    is_public: bool,
    /// True if a part before this one authenticates users.
    finds_user: bool,
    /// True if an argument of the handler is the user.
    takes_user: bool,
    /// The part that describes itself now: `handler`, or a middleware.
    describer: Cow<'static, str>,
    common: Extensions,
    /// The types of stored items, whose responses may lack some of their properties.
    pub(crate) stored_types: Vec<SchemaOf>,
    type_checks: Vec<TypeCheck>,
    /// Values that parts of the route leave for the router, by type.
    pub(crate) parts: Extensions,
}

impl RouteDescription {
    /// Returns the method of the route.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// Returns the status of a failed validation: 400, unless the application has
    /// set another.
    #[must_use]
    pub fn validation_status(&self) -> u16 {
        self.validation_status.unwrap_or(400)
    }

    /// Notes a mistake: lower case, no full stop.
    pub fn issue(&mut self, message: impl Into<String>) {
        self.mistakes.push(message.into());
    }

    /// Notes the mistakes of a schema; `place` says where it stands.
    pub fn schema_issues(&mut self, place: &str, error: &ConfigError) {
        let mistakes = error.issues().iter().map(|mistake| format!("{place}: {mistake}"));
        self.mistakes.extend(mistakes);
    }

    /// Notes that a value of type `T` must be provided.
    pub fn needs_state<T: 'static>(&mut self) {
        self.needs.push((TypeId::of::<T>(), type_name::<T>()));
    }

    /// Notes the form in which the body is taken. Several arguments may read
    /// it, unless one of them is a stream.
    pub fn reads_body(&mut self, kind: BodyKind) {
        let reads = matches!(kind, BodyKind::Typed | BodyKind::Multipart);
        if reads && (self.method == Method::GET || self.method == Method::HEAD) {
            let taker = match &self.described {
                Some(middleware) => format!("the function of `{middleware}`"),
                None => "the handler".to_owned(),
            };
            self.issue(format!("{taker} needs a body, which {} has not", self.method));
        }
        self.body = Some(kind);
    }

    /// Notes that middleware called `name` reads the body, which middleware
    /// behind it may therefore no longer decode.
    pub fn middleware_reads_body(&mut self, name: &str) {
        self.body_reader.get_or_insert_with(|| name.to_owned());
    }

    /// Notes that middleware called `name` decodes the body. It is a mistake
    /// behind middleware that reads it: that would see, check and clean
    /// nothing.
    pub fn middleware_decodes_body(&mut self, name: &str) {
        if let Some(reader) = self.body_reader.clone() {
            self.issue(format!(
                "`{reader}` reads the body before `{name}` has decoded it: put `{name}` first"
            ));
        }
    }

    /// Notes that middleware called `name` tells users apart. Middleware behind it
    /// that finds the user is a mistake: nobody would be known yet.
    pub fn middleware_reads_user(&mut self, name: &str) {
        self.user_reader.get_or_insert_with(|| name.to_owned());
    }
    /// Notes that middleware or the handler refuses requests of other origins. Then the
    /// router finds out if CORS lists the origin:
    /// [`Request::has_listed_origin`](crate::Request::has_listed_origin).
    pub fn guards_origin(&mut self) {
        self.guards_origin = true;
    }

    /// Returns the values that the descriptions of all routes of a router
    /// share, by type: the router's [`Clock`](crate::Clock), and notes of
    /// middleware.
    #[must_use]
    pub fn common(&self) -> &Extensions {
        &self.common
    }

    /// Returns the shared values, to add to them, or to hand them from one
    /// route to the next.
    pub fn common_mut(&mut self) -> &mut Extensions {
        &mut self.common
    }

    /// Notes that the handler writes the response itself.
    pub fn writes_response(&mut self) {
        self.writers += 1;
        if self.writers == 2 {
            self.issue("two arguments of the handler write the response");
        }
    }

    /// Notes that an argument of the handler is the connection after an
    /// upgrade, such as a WebSocket.
    pub fn takes_upgrade(&mut self) {
        self.upgrades += 1;
    }

    /// Notes that the answer does not depend on the value which the handler
    /// returns: the [`Reply`](crate::Reply) of that value does not describe itself then.
    pub fn sends_no_reply(&mut self) {
        self.has_no_reply = true;
    }
}
