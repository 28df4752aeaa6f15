//! The notes of a [`RouteDoc`] that documents are made of.

use std::any::type_name;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use stockade_validation::{Schema, ValidationOptions};

use super::HANDLER;
use crate::RouteDoc;
use crate::description::{
    AddedHeader, Answer, AnswerStatus, ErrorForm, GraphQlFact, HeaderDoc, IdempotencyFact,
    InputFact, InputFrom, MiddlewareFact, Permission, QuotaFact, ReadField, ReadFrom, RouteFacts,
    SchemaOf, TimeoutFact, UserFact, UserMethod, WebSocketFact,
};

/// Notes for those who read the description of a route, such as a map of all
/// routes. They have no effect on the route.
impl RouteDoc {
    /// Notes an answer of the part that describes itself now. A status may be
    /// noted several times, each time with another body or meaning.
    pub fn answers(&mut self, answer: Answer) {
        let by = self.describer.clone();
        self.facts.answers.push(Answer { by, ..answer });
    }

    /// Notes an answer with the body of an error, such as 402 with "There is no
    /// credit left".
    pub fn may_answer(&mut self, status: u16, meaning: impl Into<Cow<'static, str>>) {
        self.answers(Answer::error(status).meaning(meaning));
    }

    /// Notes answers with the body of an error, each a status and its meaning.
    pub fn may_fail(&mut self, failures: &[(u16, &'static str)]) {
        for (status, meaning) in failures {
            self.may_answer(*status, *meaning);
        }
    }

    /// Lets a part describe itself by `describe`, and hands each answer that it
    /// notes to `change`: `Created` makes a 201 of its reply.
    ///
    /// [Errors](Answer::is_error) are left alone, because an error within a reply
    /// is answered as it is.
    pub fn answers_changed(
        &mut self,
        describe: impl FnOnce(&mut Self),
        change: impl FnMut(&mut Answer),
    ) {
        let before = self.facts.answers.len();
        describe(self);
        let noted = self.facts.answers[before..].iter_mut();
        noted.filter(|answer| !answer.is_error()).for_each(change);
    }

    /// Notes that a header of the request is read, and that a request without it
    /// is refused if it is `required`.
    pub fn reads_header(&mut self, name: impl Into<Cow<'static, str>>, required: bool) {
        self.reads(ReadFrom::Header, name.into(), required, None);
    }

    /// Notes that a header of the request is read, as [`reads_header`](Self::reads_header)
    /// does, and that its text must fit a JSON Schema.
    pub fn reads_header_as(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        required: bool,
        schema: Value,
    ) {
        self.reads(ReadFrom::Header, name.into(), required, Some(schema));
    }

    /// Notes that a cookie of the request is read, and that a request without it
    /// is refused if it is `required`.
    pub fn reads_cookie(&mut self, name: impl Into<Cow<'static, str>>, required: bool) {
        self.reads(ReadFrom::Cookie, name.into(), required, None);
    }

    fn reads(
        &mut self,
        from: ReadFrom,
        name: Cow<'static, str>,
        required: bool,
        schema: Option<Value>,
    ) {
        let by = self.describer.clone();
        self.facts.reads.push(ReadField { from, name, required, schema, by });
    }

    /// Notes that middleware finds the user by any of `methods`, and answers 401
    /// with their challenges if one is `required`. They replace those of
    /// earlier middleware, because the user is found anew.
    pub fn finds_user<M: Into<UserMethod>>(
        &mut self,
        methods: impl IntoIterator<Item = M>,
        required: bool,
    ) {
        let by = self.describer.clone();
        if let Some(reader) = self.user_reader.clone() {
            self.mistake(format!(
                "`{reader}` tells users apart before `{by}` has found them: put `{by}` first"
            ));
        }
        let mut schemes = Vec::new();
        self.challenges.clear();
        for UserMethod { scheme, challenge } in methods.into_iter().map(Into::into) {
            schemes.push(scheme);
            self.challenges.push(challenge.into_owned());
        }
        let RouteFacts { roles, permissions, takes_user, .. } = &self.facts;
        let is_judged = *takes_user || !roles.is_empty() || !permissions.is_empty();
        self.facts.judges_earlier_user |= is_judged;
        let earlier = self.facts.user.replace(UserFact { schemes, required, by });
        self.facts.earlier_users.extend(earlier);
    }

    /// Notes that the user must have one of these roles. Several calls ask for
    /// one of each list.
    pub fn needs_role(&mut self, any_of: &[String]) {
        self.asks_user();
        self.facts.roles.push(any_of.to_vec());
    }

    /// Notes that the user must have a permission, with its name if it has one.
    pub fn needs_permission(&mut self, name: Option<&str>) {
        self.asks_user();
        let permission = name.map_or(Permission::Opaque, |name| Permission::Named(name.to_owned()));
        self.facts.permissions.push(permission);
    }

    /// Notes that an argument is the user, without whom the answer is 401.
    pub fn takes_user(&mut self) {
        self.asks_user();
        self.facts.takes_user = true;
    }

    /// Finds the mistake of a part that needs a user where nothing before it can
    /// have found one: such a route could only answer 401.
    fn asks_user(&mut self) {
        // The last one describes itself now, unless the handler does.
        let own = usize::from(self.describer != HANDLER);
        let before = self.facts.middleware.len().saturating_sub(own);
        let mut before = self.facts.middleware[..before].iter();
        // Middleware that does not describe itself may set the user.
        if self.facts.user.is_some() || before.any(|middleware| middleware.is_opaque) {
            return;
        }
        let part = match &*self.describer {
            "handler" => "the handler takes the user, whom".to_owned(),
            name => format!("`{name}` needs the user, whom"),
        };
        self.mistake(format!(
            "{part} no middleware before it finds, so that it can only answer 401: add `with_auth`"
        ));
    }

    /// Notes an argument of this type that does not describe itself: it may refuse a
    /// request with any status. [`FromRequest::describe`](crate::FromRequest::describe)
    /// does so by default.
    pub fn takes_opaque_argument<A>(&mut self) {
        self.facts.opaque_arguments.push(type_name::<A>());
        let refusal = Answer::error(AnswerStatus::Default).meaning("The request is refused");
        let by = &self.describer;
        let is_told = |it: &Answer| it.by == *by && it.meaning == refusal.meaning;
        if !self.facts.answers.iter().any(is_told) {
            self.answers(refusal);
        }
    }

    /// Notes a rate limit that counts the requests to the route. Two limits of
    /// the same name are a mistake, because they could not be told apart.
    pub fn counted(&mut self, quota: QuotaFact) {
        if self.facts.quotas.iter().any(|known| known.name == quota.name) {
            self.mistake(format!("two rate limits are called {:?}", quota.name));
        }
        self.facts.quotas.push(quota);
    }

    /// Notes that a request is answered with `status` when it takes longer than
    /// `after`. The shortest time counts.
    pub fn times_out(&mut self, after: Duration, status: u16) {
        if self.facts.timeout.is_none_or(|known| after < known.after) {
            self.facts.timeout = Some(TimeoutFact { after, status });
        }
    }

    /// Notes that requests run once by their idempotency keys. Twice on a route is a
    /// mistake: the inner one would find the key taken by the outer one.
    pub fn runs_once(&mut self, keys: IdempotencyFact) {
        if self.facts.idempotency.replace(keys).is_some() {
            self.mistake("two middlewares take the idempotency key of its requests: keep one");
        }
    }

    /// Notes that middleware adds a header to the answers of what comes behind
    /// it: to those of a status, or to all.
    ///
    /// An answer that the middleware gives itself has the headers that are noted
    /// with it.
    pub fn adds_header(&mut self, header: HeaderDoc, to: Option<AnswerStatus>) {
        let (by, from_answer) = (self.describer.clone(), self.facts.answers.len());
        self.facts.added_headers.push(AddedHeader { header, to, from_answer, by });
    }

    /// Notes that middleware checks a part of the request by a schema.
    pub fn checks(&mut self, from: InputFrom, schema: &Schema, options: &ValidationOptions) {
        let (by, schema, options) = (self.describer.clone(), schema.clone(), options.clone());
        self.facts.inputs.push(InputFact { from, schema, options, by });
    }

    /// Notes that middleware writes the errors of what comes behind it in a form
    /// of its own: JSON by a schema, if it is known.
    pub fn writes_errors(&mut self, schema: Option<SchemaOf>) {
        let from_answer = self.facts.answers.len();
        self.facts.error_forms.push(ErrorForm { schema, from_answer });
    }

    /// Notes that requests ask by a schema of GraphQL, which maps and locks have.
    pub fn serves_graphql(&mut self, schema: Arc<GraphQlFact>) {
        self.facts.graphql = Some(schema);
    }

    /// Returns the facts of a WebSocket route, to add to them.
    pub fn web_socket(&mut self) -> &mut WebSocketFact {
        self.facts.web_socket.get_or_insert_default()
    }

    /// Lets a middleware describe itself.
    pub(crate) fn middleware(&mut self, fact: MiddlewareFact, describe: impl FnOnce(&mut Self)) {
        let name = Cow::Owned(fact.name.clone());
        self.facts.middleware.push(fact);
        self.describe_as(name, describe);
    }

    /// Lets a part of this name describe itself.
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
