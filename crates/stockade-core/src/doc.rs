//! [`RouteDoc`]: what a route says of itself while the router is built.
//!
//! Extractors, replies and middleware describe themselves here. The router
//! checks the description against the path and the provided state, so that a
//! mistake is found before the first request.

use std::any::{TypeId, type_name};

use http::Method;

use crate::{FromRequest, States};

/// The description of one route, and the mistakes found while it was made.
#[derive(Debug)]
pub struct RouteDoc {
    method: Method,
    /// Name, and whether it is optional.
    params: Vec<(String, bool)>,
    body: Option<BodyKind>,
    needs: Vec<(TypeId, &'static str)>,
    mistakes: Vec<String>,
    whole_requests: usize,
}

/// What the handler takes the body as.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum BodyKind {
    /// The raw bytes or the stream.
    Raw,
    /// Parts of `multipart/form-data`.
    Multipart,
    /// A typed value that must be there.
    Typed,
    /// A typed value that may be absent.
    Optional,
}

/// Which parameters a type wants to be read from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ParamShape {
    /// One value: the path must have exactly one parameter.
    Single,
    /// A tuple: as many parameters, in the order of the path.
    Tuple(usize),
    /// A struct: parameters by name.
    Fields(&'static [&'static str]),
    /// A map or something that cannot be told: anything goes.
    Any,
}

impl RouteDoc {
    /// An empty description of a route with this method and these parameters,
    /// each with whether it is optional.
    #[must_use]
    pub fn new(method: Method, params: Vec<(String, bool)>) -> Self {
        Self {
            method,
            params,
            body: None,
            needs: Vec::new(),
            mistakes: Vec::new(),
            whole_requests: 0,
        }
    }

    /// The method of the route.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// What the handler takes the body as, if it takes it.
    #[must_use]
    pub fn body(&self) -> Option<BodyKind> {
        self.body
    }

    /// Notes a mistake: lower case, no full stop.
    pub fn mistake(&mut self, message: impl Into<String>) {
        self.mistakes.push(message.into());
    }

    /// Says that a value of type `T` must be provided.
    pub fn needs_state<T: 'static>(&mut self) {
        self.needs.push((TypeId::of::<T>(), type_name::<T>()));
    }

    /// Says what the body is taken as. Several arguments may read it, unless
    /// one of them is a stream.
    pub fn reads_body(&mut self, kind: BodyKind) {
        let reads = matches!(kind, BodyKind::Typed | BodyKind::Multipart);
        if reads && (self.method == Method::GET || self.method == Method::HEAD) {
            self.mistake(format!("the handler needs a body, which {} has not", self.method));
        }
        self.body = Some(kind);
    }

    /// Says which parameters a `Path<T>` is read from.
    pub fn reads_params(&mut self, type_name: &str, shape: ParamShape) {
        let count = self.params.len();
        match shape {
            ParamShape::Any => {}
            ParamShape::Single if count == 1 => {}
            ParamShape::Single => self
                .mistake(format!("`Path<{type_name}>` takes one parameter, the path has {count}")),
            ParamShape::Tuple(length) if length == count => {}
            ParamShape::Tuple(length) => self.mistake(format!(
                "`Path<{type_name}>` takes {length} parameters, the path has {count}"
            )),
            ParamShape::Fields(fields) => {
                for field in fields {
                    if !self.params.iter().any(|(name, _)| name == field) {
                        self.mistake(format!(
                            "`Path<{type_name}>` reads `{field}`, which the path does not have"
                        ));
                    }
                }
            }
        }
    }

    /// Lets an argument of a handler describe itself.
    pub(crate) fn argument<A: FromRequest>(&mut self) {
        if A::TAKES_REQUEST {
            self.whole_requests += 1;
            if self.whole_requests == 2 {
                self.mistake("two arguments of the handler take the request away");
            }
        }
        A::describe(self);
    }

    /// Everything that is wrong, given what the application provides.
    #[must_use]
    pub fn mistakes(&self, states: &States) -> Vec<String> {
        let missing = self.needs.iter().filter(|(id, _)| !states.has(*id));
        let missing = missing.map(|(_, name)| {
            format!("`State<{name}>` was not provided: add `.state(…)` to the router's options")
        });
        self.mistakes.iter().cloned().chain(missing).collect()
    }
}
