//! [`RouteDoc`]: the description of a route while the router is built.
//!
//! Extractors, replies and middleware describe themselves here. The router
//! checks the description against the path and the provided state, so that a
//! mistake is found before the first request.

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::time::Duration;

use http::{Extensions, Method};
use serde::de::DeserializeOwned;
use stockade_errors::ConfigError;
use stockade_validation::__internal::{
    Fit, ParamShape, SchemaExt, Slot, fit_of, read_nothing, shape_of,
};
use stockade_validation::HasSchema;

use crate::description::{
    Answer, MiddlewareFact, Permission, QuotaFact, ReadField, ReadFrom, RouteFacts, SecurityScheme,
    TimeoutFact, UserFact,
};
use crate::extract::TypeInfo;
use crate::validation::Input;
use crate::{Arguments, FromRequest, States};

/// The name of the handler, where the parts of a route are named.
const HANDLER: Cow<'static, str> = Cow::Borrowed("handler");

/// The description of one route, and the mistakes found while it was made.
#[derive(Debug)]
pub struct RouteDoc {
    method: Method,
    /// The name of each parameter; true for an optional one.
    params: Vec<(String, bool)>,
    body: Option<BodyKind>,
    needs: Vec<(TypeId, &'static str)>,
    pub(crate) inputs: Vec<Input>,
    mistakes: Vec<String>,
    whole_requests: usize,
    writers: usize,
    upgrades: usize,
    /// The middleware whose arguments describe themselves now; none for those of
    /// the handler.
    described: Option<String>,
    /// The first middleware that reads the body.
    body_reader: Option<String>,
    limits: Vec<String>,
    challenges: Vec<String>,
    guards_origin: bool,
    validation_status: Option<u16>,
    facts: RouteFacts,
    /// The part that describes itself now: `handler`, or a middleware.
    describer: Cow<'static, str>,
    common: Extensions,
}

/// The form in which a handler takes the body.
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

impl RouteDoc {
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
    pub fn mistake(&mut self, message: impl Into<String>) {
        self.mistakes.push(message.into());
    }

    /// Notes the mistakes of a schema; `place` says where it stands.
    pub fn schema_mistakes(&mut self, place: &str, error: &ConfigError) {
        let mistakes = error.mistakes().iter().map(|mistake| format!("{place}: {mistake}"));
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
            self.mistake(format!("{taker} needs a body, which {} has not", self.method));
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
            self.mistake(format!(
                "`{reader}` reads the body before `{name}` has decoded it: put `{name}` first"
            ));
        }
    }

    /// Notes that a rate limit of this name counts the requests to the route.
    /// Two limits of the same name are a mistake, because they could not be
    /// told apart.
    pub fn limited(&mut self, name: &str) {
        if self.limits.iter().any(|known| known == name) {
            self.mistake(format!("two rate limits are called {name:?}"));
        }
        self.limits.push(name.to_owned());
    }

    /// Notes the ways by which middleware finds the user, each a challenge such
    /// as `Bearer`. They replace those of earlier middleware, because the user
    /// is found anew.
    pub fn authenticates<C: Into<String>>(&mut self, challenges: impl IntoIterator<Item = C>) {
        self.challenges = challenges.into_iter().map(Into::into).collect();
    }

    /// Notes an answer of the part that describes itself now.
    pub fn answers(&mut self, answer: Answer) {
        let by = self.describer.clone();
        self.facts.answers.push(Answer { by, ..answer });
    }

    /// Notes an answer with the body of an error, such as 402 with "There is no
    /// credit left".
    pub fn may_answer(&mut self, status: u16, meaning: impl Into<Cow<'static, str>>) {
        self.answers(Answer::error(status).meaning(meaning));
    }

    /// Lets a part describe itself by `describe`, and hands each answer that it
    /// notes to `change`: `Created` makes a 201 of what its reply says.
    pub fn answers_changed(
        &mut self,
        describe: impl FnOnce(&mut Self),
        change: impl FnMut(&mut Answer),
    ) {
        let before = self.facts.answers.len();
        describe(self);
        self.facts.answers[before..].iter_mut().for_each(change);
    }

    /// Notes that a header of the request is read, and that a request without it
    /// is refused if it is `required`.
    pub fn reads_header(&mut self, name: impl Into<Cow<'static, str>>, required: bool) {
        self.reads(ReadFrom::Header, name.into(), required);
    }

    /// Notes that a cookie of the request is read, and that a request without it
    /// is refused if it is `required`.
    pub fn reads_cookie(&mut self, name: impl Into<Cow<'static, str>>, required: bool) {
        self.reads(ReadFrom::Cookie, name.into(), required);
    }

    fn reads(&mut self, from: ReadFrom, name: Cow<'static, str>, required: bool) {
        let by = self.describer.clone();
        self.facts.reads.push(ReadField { from, name, required, by });
    }

    /// Notes that middleware finds the user by any of `schemes`, and answers 401
    /// without one if it is `required`. It replaces what earlier middleware
    /// said, because the user is found anew.
    pub fn finds_user(
        &mut self,
        schemes: impl IntoIterator<Item = SecurityScheme>,
        required: bool,
    ) {
        let by = self.describer.clone();
        let schemes = schemes.into_iter().collect();
        self.facts.user = Some(UserFact { schemes, required, by });
    }

    /// Notes that the user must have one of these roles. Several calls ask for
    /// one of each list.
    pub fn needs_role(&mut self, any_of: &[String]) {
        self.facts.roles.push(any_of.to_vec());
    }

    /// Notes that the user must have a permission, with its name if it has one.
    pub fn needs_permission(&mut self, name: Option<&str>) {
        let permission = name.map_or(Permission::Opaque, |name| Permission::Named(name.to_owned()));
        self.facts.permissions.push(permission);
    }

    /// Notes that an argument is the user, without whom the answer is 401.
    pub fn takes_user(&mut self) {
        self.facts.takes_user = true;
    }

    /// Notes the quota of a rate limit that counts the requests to the route.
    pub fn counted(&mut self, quota: QuotaFact) {
        self.facts.quotas.push(quota);
    }

    /// Notes that a request is answered with `status` when it takes longer than
    /// `after`. The shortest time counts.
    pub fn times_out(&mut self, after: Duration, status: u16) {
        if self.facts.timeout.is_none_or(|known| after < known.after) {
            self.facts.timeout = Some(TimeoutFact { after, status });
        }
    }

    /// Lets a middleware describe itself.
    pub(crate) fn middleware(
        &mut self,
        name: &str,
        is_opaque: bool,
        describe: impl FnOnce(&mut Self),
    ) {
        self.facts.middleware.push(MiddlewareFact { name: name.to_owned(), is_opaque });
        self.describer = Cow::Owned(name.to_owned());
        describe(self);
        self.describer = HANDLER;
    }

    /// Notes that middleware refuses requests of other origins. Then the router
    /// finds out if CORS lists the origin:
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
            self.mistake("two arguments of the handler write the response");
        }
    }

    /// Notes that an argument of the handler is the connection after an
    /// upgrade, such as a WebSocket.
    pub fn takes_upgrade(&mut self) {
        self.upgrades += 1;
    }

    /// Notes the type that the parameters of the path are read into: `T` of a
    /// `Path<T>`.
    pub fn reads_params<T: HasSchema + DeserializeOwned>(&mut self) {
        self.reads_type(TypeInfo::of::<T>(&mut Slot::new()), type_name::<T>());
    }

    fn reads_type(&mut self, mut info: TypeInfo<'_>, type_name: &str) {
        let count = self.params.len();
        let optional = self.params.iter().find(|(_, optional)| *optional);
        let optional = optional.map(|(name, _)| name.clone());
        match (shape_of(info.target), optional) {
            (ParamShape::Single, _) if count != 1 => self
                .mistake(format!("`Path<{type_name}>` takes one parameter, the path has {count}")),
            (ParamShape::Single, Some(name)) if !read_nothing(info.target) => self.mistake(
                format!("`{name}` is optional in the path: write `Path<Option<{type_name}>>`"),
            ),
            (ParamShape::Tuple(length), _) if length != count => self.mistake(format!(
                "`Path<{type_name}>` takes {length} parameters, the path has {count}"
            )),
            (ParamShape::Tuple(_), Some(name)) => self.mistake(format!(
                "`{name}` is optional in the path, and a tuple cannot say which value is \
                 missing: use a struct"
            )),
            (ParamShape::Fields(fields), optional) => {
                self.reads_fields(&mut info, type_name, fields, optional.is_some());
            }
            _ => {}
        }
    }

    fn reads_fields(
        &mut self,
        info: &mut TypeInfo<'_>,
        type_name: &str,
        fields: &[&str],
        some_optional: bool,
    ) {
        let names: Vec<&str> = self.params.iter().map(|(name, _)| name.as_str()).collect();
        let mut mistakes = Vec::new();
        for field in fields.iter().filter(|field| !names.contains(field)) {
            // serde lists the other names of a field too. One is told by its
            // being there twice.
            let fit = fit_of(info.target, &[names.as_slice(), &[*field]].concat());
            if fit != Fit::Duplicate {
                mistakes.push(format!(
                    "`Path<{type_name}>` reads `{field}`, which the path does not have"
                ));
            }
        }
        if some_optional && mistakes.is_empty() {
            let required = self.params.iter().filter(|(_, optional)| !optional);
            let required: Vec<&str> = required.map(|(name, _)| name.as_str()).collect();
            if let Fit::Missing(field) = fit_of(info.target, &required)
                && !(info.schema)().is_ok_and(|schema| schema.fills(field))
            {
                mistakes.push(format!(
                    "`{field}` is optional in the path: in `{type_name}` it must be an `Option`, or have a default"
                ));
            }
        }
        self.mistakes.extend(mistakes);
    }

    /// Lets the arguments of a function of middleware describe themselves.
    /// `middleware` is the name in a mistake.
    ///
    /// They are those that leave the request to the handler: an argument that
    /// takes the request, the response or the connection is a mistake.
    pub fn middleware_arguments<A: Arguments>(&mut self, middleware: &str) {
        let handler = (self.body, self.whole_requests, self.writers, self.upgrades);
        (self.body, self.whole_requests, self.writers, self.upgrades) = (None, 0, 0, 0);
        self.described = Some(middleware.to_owned());
        A::describe(self);
        self.described = None;
        if self.body.is_some() {
            self.middleware_reads_body(middleware);
        }
        if self.whole_requests + self.writers + self.upgrades > 0 {
            self.mistake(format!(
                "the function of `{middleware}` takes what belongs to the handler: the request, \
                 the stream of its body, or the response"
            ));
        }
        (self.body, self.whole_requests, self.writers, self.upgrades) = handler;
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
}

/// The methods of [`RouteDoc`] for the router.
pub trait RouteDocExt: Sized {
    /// Returns an empty description of a route with this method and these
    /// parameters, each with true if it is optional.
    fn new(method: Method, params: Vec<(String, bool)>) -> Self;

    /// Sets the status of a failed validation; `None` for the default.
    fn set_validation_status(&mut self, status: Option<u16>);

    /// Returns the form in which the handler takes the body, if it takes it.
    fn body(&self) -> Option<BodyKind>;

    /// Returns the challenges of a 401 of this route; empty where no middleware
    /// names a way.
    fn challenges(&self) -> &[String];

    /// Returns true if middleware refuses requests of other origins.
    fn has_origin_guard(&self) -> bool;

    /// Returns true if an argument of the handler writes the response itself.
    fn has_writer(&self) -> bool;

    /// Returns the number of arguments of the handler that are the connection
    /// after an upgrade.
    fn upgrades(&self) -> usize;

    /// Returns what the parts of the route have said about it.
    fn facts(&self) -> &RouteFacts;

    /// Returns every mistake, given the values that the application provides.
    fn mistakes(&self, states: &States) -> Vec<String>;
}

impl RouteDocExt for RouteDoc {
    fn new(method: Method, params: Vec<(String, bool)>) -> Self {
        Self {
            method,
            params,
            body: None,
            needs: Vec::new(),
            inputs: Vec::new(),
            mistakes: Vec::new(),
            whole_requests: 0,
            writers: 0,
            upgrades: 0,
            described: None,
            body_reader: None,
            limits: Vec::new(),
            challenges: Vec::new(),
            guards_origin: false,
            validation_status: None,
            facts: RouteFacts::default(),
            describer: HANDLER,
            common: Extensions::new(),
        }
    }

    fn set_validation_status(&mut self, status: Option<u16>) {
        self.validation_status = status;
    }

    fn body(&self) -> Option<BodyKind> {
        self.body
    }

    fn challenges(&self) -> &[String] {
        &self.challenges
    }

    fn has_origin_guard(&self) -> bool {
        self.guards_origin
    }

    fn has_writer(&self) -> bool {
        self.writers > 0
    }

    fn upgrades(&self) -> usize {
        self.upgrades
    }

    fn facts(&self) -> &RouteFacts {
        &self.facts
    }

    fn mistakes(&self, states: &States) -> Vec<String> {
        let missing = self.needs.iter().filter(|(id, _)| !states.has(*id));
        let missing = missing.map(|(_, name)| {
            format!("`State<{name}>` was not provided: add `.state(…)` to the router's options")
        });
        self.mistakes.iter().cloned().chain(missing).collect()
    }
}
