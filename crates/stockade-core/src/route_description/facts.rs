//! The notes of a [`RouteDoc`] that documents are made of.

use std::borrow::Cow;
use std::time::Duration;

use super::HANDLER;
use crate::RouteDoc;
use crate::description::{
    Answer, MiddlewareFact, Permission, QuotaFact, ReadField, ReadFrom, SecurityScheme,
    TimeoutFact, UserFact,
};

/// Notes for those who read the description of a route, such as a map of all
/// routes. They have no effect on the route.
impl RouteDoc {
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
}
