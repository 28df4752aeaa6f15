//! [`Service`]: the handler of the route by which methods are called.
//!
//! Hot: a single call is run on the request itself, a batch on children of it.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header;
use stockade_core::__internal::ChildExt as _;
use stockade_core::description::Answer as AnswerDoc;
use stockade_core::{BodyKind, Request, Response, RouteDoc};
use stockade_errors::ApiError;
use stockade_routing::__internal::CallTable;

use crate::answer::{self, Answer, Asked};
use crate::batch;
use crate::failure::Failure;
use crate::message::{self, Call, Entry, Message, Rules};
use crate::params::ParamsForm;

/// The methods of a route, and the rules by which they are called.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) table: Arc<OnceLock<CallTable>>,
    /// The forms of the parameters, by the indexes of the methods.
    pub(crate) forms: OnceLock<Box<[ParamsForm]>>,
    pub(crate) rules: Rules,
    /// The number of calls of a batch that run at a time.
    pub(crate) parallel: usize,
    /// In bytes.
    pub(crate) max_answer: u64,
}

/// The methods of a built route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Methods<'s> {
    table: &'s CallTable,
    forms: &'s [ParamsForm],
}

impl Service {
    /// Answers a request.
    pub(crate) async fn answer(self: Arc<Self>, mut req: Request) -> Result<Response, ApiError> {
        let bytes = req.bytes().await?;
        let content_type = req.headers().get(header::CONTENT_TYPE);
        if content_type.is_none_or(|value| value != "application/json") {
            // The readers of parameters go by it.
            req.carry_json();
        }
        match message::read(&bytes, self.rules) {
            Ok(Message::One(entry)) => self.one(req, &bytes, entry).await,
            Ok(Message::Batch(entries)) => batch::respond(&self, req, &bytes, entries).await,
            Err(failure) => Ok(answer::respond(Answer::failed("null", false, &failure))),
        }
    }

    async fn one(
        &self,
        req: Request,
        bytes: &Bytes,
        entry: Entry<'_>,
    ) -> Result<Response, ApiError> {
        let answer = call(self.methods()?, req, bytes, entry, self.max_answer).await;
        Ok(answer.map_or_else(answer::respond_nothing, answer::respond))
    }

    /// Returns the methods, which are there once the router is built.
    pub(crate) fn methods(&self) -> Result<Methods<'_>, ApiError> {
        let table = self.table.get().ok_or_else(not_built)?;
        let forms = self
            .forms
            .get_or_init(|| table.endpoints().map(|endpoint| ParamsForm::of(endpoint)).collect());
        Ok(Methods { table, forms })
    }
}

/// Runs one call on a request of its own; `None` for a notification, which has no
/// answer.
pub(crate) async fn call(
    methods: Methods<'_>,
    req: Request,
    bytes: &Bytes,
    entry: Entry<'_>,
    room: u64,
) -> Option<Answer> {
    let Entry { id, call, is_plain } = entry;
    // In the old form each call has an answer.
    let id = id.or_else(|| is_plain.then_some("null"));
    let failed = |failure: &Failure| id.map(|id| Answer::failed(id, is_plain, failure));
    let Call { method, params } = match call {
        Ok(call) => call,
        Err(failure) => return failed(&failure),
    };
    let Some(index) = methods.table.find(&method) else { return failed(&Failure::METHOD) };
    let params = match methods.forms.get(index).map(|form| form.body(bytes, params)) {
        Some(Ok(params)) => params,
        Some(Err(failure)) => return failed(&failure),
        None => return failed(&Failure::INTERNAL),
    };
    let settings = req.settings();
    let Some(running) = methods.table.run(index, req, params) else {
        return failed(&Failure::INTERNAL);
    };
    let response = running.response().await;
    let asked = Asked { id: id?, is_plain, method: &method, settings, room };
    Some(Answer::of(asked, response).await)
}

#[cold]
fn not_built() -> ApiError {
    ApiError::new(500, "this is a bug in stockade: the methods of JSON-RPC are not compiled")
}

/// Describes the route; its methods say the rest.
pub(crate) fn describe(doc: &mut RouteDoc) {
    doc.reads_body(BodyKind::Raw);
    doc.answers(AnswerDoc::any_json(200).meaning("The answers to the calls"));
    doc.answers(AnswerDoc::new(204).meaning("All calls were notifications"));
}
