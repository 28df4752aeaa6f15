//! The parts of a [`RouteDescription`] for generated documents.

use std::any::type_name;
use std::borrow::Cow;
use std::time::Duration;

use serde_json::Value;
use stockade_map::__internal::millis;
use stockade_map::{
    CrossOriginInfo, FieldInfo, GraphQlInfo, IdempotencyInfo, MethodInfo, MiddlewareInfo, Need,
    QuotaInfo, RouteAccess, RouteInfo, SchemeInfo, SignatureInfo, WebSocketInfo,
};
use stockade_validation::{Schema, ValidationOptions};

use super::HANDLER;
use crate::RouteDescription;
use crate::description::{
    AddedHeader, ErrorForm, HeaderDoc, InputFact, InputFrom, ResponseDoc, SchemaOf, StatusDoc,
    UserMethod,
};

/// Information for readers of a route's description, such as a map of all
/// routes. It does not affect the route.
impl RouteDescription {
    /// Adds a response of the part that currently describes itself. A status
    /// may have several responses with different bodies or meanings.
    pub fn responds(&mut self, answer: ResponseDoc) {
        let mut answer = answer;
        answer.by = self.describer.clone();
        self.facts.answers.push(answer);
    }

    /// Adds a response with an error body, such as 402 with "There is no credit
    /// left".
    pub fn may_respond(&mut self, status: u16, meaning: impl Into<Cow<'static, str>>) {
        self.responds(ResponseDoc::error(status).meaning(meaning));
    }

    /// Adds responses with an error body, each with its status and meaning.
    pub fn may_fail(&mut self, failures: &[(u16, &'static str)]) {
        for (status, meaning) in failures {
            self.may_respond(*status, *meaning);
        }
    }

    /// Lets a part describe itself with `describe`, and passes each added
    /// response to `change`. For example, `Created` changes the status of its
    /// reply to 201.
    ///
    /// [Errors](ResponseDoc::is_error) are not passed, because an error within
    /// a reply is sent as it is.
    pub fn responses_changed(
        &mut self,
        describe: impl FnOnce(&mut Self),
        change: impl FnMut(&mut ResponseDoc),
    ) {
        let before = self.facts.answers.len();
        describe(self);
        let noted = self.facts.answers[before..].iter_mut();
        noted.filter(|answer| !answer.is_error()).for_each(change);
    }

    /// Adds a request header that is read. If it is `required`, a request
    /// without it is rejected.
    pub fn reads_header(&mut self, name: impl Into<Cow<'static, str>>, required: bool) {
        self.reads(|route| &mut route.headers, name.into(), required, None);
    }

    /// Adds a request header like [`reads_header`](Self::reads_header). Its
    /// text must match a JSON Schema.
    pub fn reads_header_as(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        required: bool,
        schema: Value,
    ) {
        self.reads(|route| &mut route.headers, name.into(), required, Some(schema));
    }

    /// Adds a request cookie that is read. If it is `required`, a request
    /// without it is rejected.
    pub fn reads_cookie(&mut self, name: impl Into<Cow<'static, str>>, required: bool) {
        self.reads(|route| &mut route.cookies, name.into(), required, None);
    }

    fn reads(
        &mut self,
        list: fn(&mut RouteInfo) -> &mut Vec<FieldInfo>,
        name: Cow<'static, str>,
        required: bool,
        schema: Option<Value>,
    ) {
        let fields = list(&mut self.facts.route);
        if let Some(known) = fields.iter_mut().find(|it| it.name.eq_ignore_ascii_case(&name)) {
            known.required |= required;
            known.schema = known.schema.take().or(schema);
            return;
        }
        let mut field = FieldInfo::default();
        field.name = name.into_owned();
        field.required = required;
        field.schema = schema;
        field.by = self.describer.to_string();
        fields.push(field);
    }

    /// Declares that middleware finds the user with any of `methods`. If a user
    /// is `required`, it responds with a 401 that contains their challenges.
    /// They replace the methods of earlier middleware, because this middleware
    /// replaces the user.
    pub fn finds_user<M: Into<UserMethod>>(
        &mut self,
        methods: impl IntoIterator<Item = M>,
        required: bool,
    ) {
        let by = self.describer.clone();
        if let Some(reader) = self.user_reader.clone() {
            self.issue(format!(
                "`{reader}` distinguishes users, but runs before `{by}` authenticates them: put \
                 `{by}` first. If `{by}` is the setting `auth`, which runs after the middleware \
                 of the router, move `{reader}` to a node"
            ));
        }
        if required && std::mem::take(&mut self.is_public) {
            self.issue(format!(
                "the route is `public`, but `{by}` requires a user: remove `public`, or \
                 authenticate with `auth`, which `public` removes"
            ));
        }
        let (mut schemes, mut infos) = (Vec::new(), Vec::new());
        self.challenges.clear();
        for UserMethod { scheme, challenge, mut info, .. } in methods.into_iter().map(Into::into) {
            let scheme = SchemeInfo::from(scheme);
            scheme.name().clone_into(&mut info.name);
            schemes.push(scheme);
            infos.push(info);
            self.challenges.push(challenge.into_owned());
        }
        self.finds_user = true;
        self.finds_user_now = true;
        let access = &mut self.facts.route.access;
        let is_validated =
            self.takes_user || !access.roles.is_empty() || !access.permissions.is_empty();
        access.judges_earlier_user |= is_validated;
        access.methods = infos;
        let earlier = std::mem::replace(&mut access.schemes, schemes);
        self.facts.earlier_schemes.extend(earlier);
        // Each authentication with a required user rejects requests itself.
        access.user = match access.user {
            Need::Required => Need::Required,
            _ if required => Need::Required,
            _ => Need::Optional,
        };
    }

    /// Declares that an argument of the handler reads a session. Omits a session
    /// whose cookie also authenticates the user.
    #[doc(hidden)]
    pub fn reads_session(&mut self, mut session: MethodInfo) {
        let access = &mut self.facts.route.access;
        let name = session.cookie.as_ref().map(|cookie| &cookie.name);
        let is_known = |it: &MethodInfo| it.cookie.as_ref().map(|cookie| &cookie.name) == name;
        if !access.methods_and_sessions().any(is_known) {
            session.name = name.cloned().unwrap_or_default();
            access.sessions.push(session);
        }
    }

    /// Declares that middleware rejects requests of other origins, except these
    /// trusted ones. After several calls, all of them must trust an origin.
    pub fn rejects_other_origins(&mut self, protection: CrossOriginInfo) {
        let known = &mut self.facts.route.access.cross_origin;
        *known = Some(match known.take() {
            Some(known) => known.and(&protection),
            None => protection,
        });
    }

    /// Declares that the user must have one of these roles. After several
    /// calls, the user must have one role from each list.
    pub fn needs_role(&mut self, any_of: &[String]) {
        self.asks_user().roles.push(any_of.to_vec());
    }

    /// Declares that the user must have a permission, with an optional name.
    pub fn needs_permission(&mut self, name: Option<&str>) {
        self.asks_user().permissions.push(name.map(str::to_owned));
    }

    /// Declares that an argument is the user. A request without a user gets a
    /// 401.
    pub fn takes_user(&mut self) {
        self.asks_user();
        self.takes_user = true;
    }

    /// Declares that the route needs a user. Returns a mutable reference to its
    /// access requirements.
    ///
    /// It is a configuration error if no earlier part can authenticate a user:
    /// the route could only respond with 401.
    fn asks_user(&mut self) -> &mut RouteAccess {
        // The last middleware describes itself now, unless the handler does.
        let own = usize::from(self.describer != HANDLER);
        let middleware = &self.facts.route.middleware;
        let before = &middleware[..middleware.len().saturating_sub(own)];
        // Middleware without a description may set the user.
        let may_have_user = self.finds_user || before.iter().any(|it| it.is_opaque);
        if std::mem::take(&mut self.is_public) {
            self.issue(self.public_with_user());
        } else if !may_have_user {
            self.issue(self.no_user());
        }
        let access = &mut self.facts.route.access;
        access.user = Need::Required;
        access
    }

    fn no_user(&self) -> String {
        let part = match &*self.describer {
            "handler" => "the handler takes the user".to_owned(),
            name => format!("`{name}` needs the user"),
        };
        format!(
            "{part}, but nothing before it authenticates the request, so every response is 401: \
             add `auth` to the route, its node or the router"
        )
    }

    fn public_with_user(&self) -> String {
        match &*self.describer {
            "handler" => "the route is `public`, but the handler takes the user: remove `public`, \
                          or take `Option<User<T>>` and add an optional `auth`"
                .to_owned(),
            name => format!(
                "the route is `public`, but `{name}` needs the user: remove `public` or `{name}`"
            ),
        }
    }

    /// Declares an argument of this type without a description: it may reject a
    /// request with any status.
    /// [`FromRequest::describe`](crate::FromRequest::describe) does this by
    /// default.
    pub fn takes_opaque_argument<A>(&mut self) {
        self.facts.route.opaque_arguments.push(type_name::<A>().to_owned());
        let refusal = ResponseDoc::error(StatusDoc::Default).meaning("The request is rejected");
        let by = &self.describer;
        let is_told = |it: &ResponseDoc| it.by == *by && it.meaning == refusal.meaning;
        if !self.facts.answers.iter().any(is_told) {
            self.responds(refusal);
        }
    }

    /// Adds a rate limit for requests to the route. Two limits with the same
    /// name are a configuration error, because they would be indistinguishable.
    pub fn counted(&mut self, quota: QuotaInfo) {
        let rate = &mut self.facts.route.limits.rate;
        let is_duplicate = rate.iter().any(|known| known.name == quota.name);
        let mistake = is_duplicate.then(|| format!("duplicate rate limit name {:?}", quota.name));
        rate.push(quota);
        self.mistakes.extend(mistake);
    }

    /// Declares that a request gets `status` if it takes longer than `after`.
    /// The shortest time applies.
    pub fn times_out(&mut self, after: Duration, status: u16) {
        let after = millis(after);
        let timeout = &mut self.facts.route.limits.timeout;
        if timeout.is_none_or(|(known, _)| after < known) {
            *timeout = Some((after, status));
        }
    }

    /// Declares that requests with the same idempotency key run once. A second
    /// declaration on a route is a configuration error: the inner one would
    /// find the key in use by the outer one.
    pub fn runs_once(&mut self, keys: IdempotencyInfo) {
        if self.facts.route.idempotency.replace(keys).is_some() {
            self.issue("two middlewares handle the idempotency key of its requests: remove one");
        }
    }

    /// Declares that requests must have a valid signature. The route is then
    /// not open to everybody: policies and locks treat the signature as its
    /// authentication, and the attacks of a `Hardening` send it wrong.
    ///
    /// A second declaration on a route is a configuration error, because the
    /// map has one signature for each route.
    pub fn verifies_signature(&mut self, signature: SignatureInfo) {
        if self.facts.route.signature.replace(signature).is_some() {
            self.issue("two parts verify a signature of its requests: remove one");
        }
    }

    /// Declares that middleware adds a header to all responses of the inner
    /// parts, or to responses with one status.
    ///
    /// The middleware's own responses have the headers in their own
    /// descriptions.
    pub fn adds_header(&mut self, header: HeaderDoc, to: Option<StatusDoc>) {
        let (by, from_answer) = (self.describer.clone(), self.facts.answers.len());
        self.facts.added_headers.push(AddedHeader::new(header, to, from_answer, by));
    }

    /// Declares that middleware validates a part of the request with a schema.
    pub fn checks(&mut self, from: InputFrom, schema: &Schema, options: &ValidationOptions) {
        let (by, schema, options) = (self.describer.clone(), schema.clone(), options.clone());
        self.facts.inputs.push(InputFact::new(from, schema, options, by));
    }

    /// Declares that middleware formats the errors of the inner parts: JSON
    /// with a schema, if it is known.
    pub fn writes_errors(&mut self, schema: Option<SchemaOf>) {
        let mut form = ErrorForm::new(schema);
        form.from_answer = self.facts.answers.len();
        self.facts.error_forms.push(form);
    }

    /// Declares a GraphQL schema for the requests, which route maps and lock
    /// files contain.
    pub fn serves_graphql(&mut self, schema: &GraphQlInfo) {
        self.facts.route.graphql = Some(schema.clone());
    }

    /// Returns a mutable reference to the description of a WebSocket route's
    /// connections. By default, only pages of the same origin may connect.
    pub fn web_socket(&mut self) -> &mut WebSocketInfo {
        self.facts.route.web_socket.get_or_insert_with(|| {
            let mut info = WebSocketInfo::default();
            info.same_origin = true;
            info
        })
    }

    /// Sets the schema of received WebSocket messages, which are read as JSON.
    pub fn receives(&mut self, schema: Option<Schema>) {
        self.facts.receives = schema;
    }

    /// Sets the schema of sent WebSocket messages, which are JSON.
    pub fn sends(&mut self, schema: SchemaOf) {
        self.facts.sends = Some(schema);
    }

    /// Lets a middleware describe itself.
    pub(crate) fn middleware(&mut self, info: MiddlewareInfo, describe: impl FnOnce(&mut Self)) {
        let name = Cow::Owned(info.name.clone());
        self.facts.route.middleware.push(info);
        self.finds_user_now = false;
        self.describe_as(name, describe);
        if std::mem::take(&mut self.finds_user_now)
            && let Some(info) = self.facts.route.middleware.last_mut()
        {
            info.may_set_user = false;
        }
    }

    /// Lets a part with this name describe itself.
    pub(super) fn describe_as(
        &mut self,
        name: Cow<'static, str>,
        describe: impl FnOnce(&mut Self),
    ) {
        self.describer = name;
        describe(self);
        self.describer = HANDLER;
    }
}
