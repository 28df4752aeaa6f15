//! [`Service`]: the request handler that calls methods.
//!
//! Hot: a single call uses the request itself, and a batch uses children of it.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header;
use stockade_core::description::ResponseDoc;
use stockade_core::{BodyKind, BoxFuture, Request, Response, RouteDescription};
use stockade_errors::ApiError;
use stockade_routing::method_set::{MethodTable, RunningCall};

use crate::batch;
use crate::error_object::ErrorObject;
use crate::message::{self, Call, Entry, Message, Rules};
use crate::params::ParamsForm;
use crate::response_object::{self, Asked, Made, ResponseObject};

/// The methods of a route and their options.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) table: Arc<OnceLock<MethodTable>>,
    /// The parameter structures, by method index.
    pub(crate) forms: OnceLock<Box<[ParamsForm]>>,
    pub(crate) rules: Rules,
    /// The maximum number of concurrent calls in a batch.
    pub(crate) parallel: usize,
    /// The maximum response size in bytes.
    pub(crate) max_answer: u64,
}

/// The methods of a built route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Methods<'s> {
    table: &'s MethodTable,
    forms: &'s [ParamsForm],
}

impl Service {
    /// Responds to a request.
    pub(crate) async fn answer(self: Arc<Self>, mut req: Request) -> Result<Response, ApiError> {
        let bytes = req.bytes().await?;
        let content_type = req.headers().get(header::CONTENT_TYPE);
        if content_type.is_none_or(|value| value != "application/json") {
            // Parameter extractors depend on the content type.
            req.carry_json();
        }
        match message::read(&bytes, self.rules) {
            Ok(Message::One(entry)) => self.one(req, &bytes, entry).await,
            // Boxed to keep the future of a single call small.
            Ok(Message::Batch(entries)) => {
                Box::pin(batch::respond(&self, req, &bytes, entries)).await
            }
            Err(error) => {
                Ok(response_object::respond(ResponseObject::failed("null", false, &error)))
            }
        }
    }

    async fn one(
        &self,
        req: Request,
        bytes: &Bytes,
        entry: Entry<'_>,
    ) -> Result<Response, ApiError> {
        let object = RunningEntry::begin(self.methods()?, req, bytes, entry, self.max_answer).await;
        Ok(object.map_or_else(response_object::respond_nothing, response_object::respond))
    }

    /// Returns the methods, which exist once the router is built.
    pub(crate) fn methods(&self) -> Result<Methods<'_>, ApiError> {
        let table = self.table.get().ok_or_else(not_built)?;
        let forms = self
            .forms
            .get_or_init(|| table.endpoints().map(|endpoint| ParamsForm::of(endpoint)).collect());
        Ok(Methods { table, forms })
    }
}

/// A running call. Resolves to its response object, or `None` for a
/// notification.
///
/// It is written by hand and is `Unpin`. A batch can therefore poll it before
/// storing it, and can store it without a box. The future of an `async fn` was
/// too large for the fast lists of the allocator, which cost 1,100 instructions
/// per call.
#[must_use = "it does nothing until it is awaited"]
pub(crate) enum RunningEntry<'a> {
    /// The call failed before it reached its method.
    Answered(Option<ResponseObject>),
    Running {
        running: RunningCall,
        asked: Option<Asked<'a>>,
    },
    /// The result is a stream.
    Reading(BoxFuture<'a, ResponseObject>),
}

impl<'a> RunningEntry<'a> {
    /// Starts a call on its own request. The response object may have at most
    /// `room` bytes.
    pub(crate) fn begin(
        methods: Methods<'a>,
        req: Request,
        bytes: &Bytes,
        entry: Entry<'a>,
        room: u64,
    ) -> Self {
        let Entry { id, call, is_plain } = entry;
        // A call that omits `jsonrpc` always gets a response.
        let id = id.or_else(|| is_plain.then_some("null"));
        let settings = req.settings();
        match call.and_then(|call| methods.run(req, bytes, &call)) {
            Ok((method, running)) => {
                let asked = id.map(|id| Asked { id, is_plain, method, settings, room });
                Self::Running { running, asked }
            }
            Err(error) => Self::Answered(id.map(|id| ResponseObject::failed(id, is_plain, &error))),
        }
    }
}

impl Future for RunningEntry<'_> {
    type Output = Option<ResponseObject>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ResponseObject>> {
        loop {
            let made = match &mut *self {
                Self::Answered(object) => return Poll::Ready(object.take()),
                Self::Reading(object) => return object.as_mut().poll(cx).map(Some),
                Self::Running { running, asked } => {
                    let response = ready!(Pin::new(running).poll(cx));
                    let Some(asked) = *asked else { return Poll::Ready(None) };
                    ResponseObject::of(asked, response)
                }
            };
            match made {
                Made::Now(object) => return Poll::Ready(Some(object)),
                Made::Later(object) => *self = Self::Reading(object),
            }
        }
    }
}

impl<'s> Methods<'s> {
    /// Runs a method on a request. Also returns its name.
    fn run(
        self,
        req: Request,
        bytes: &Bytes,
        call: &Call<'_>,
    ) -> Result<(&'s str, RunningCall), ErrorObject> {
        let index = self.table.find(&call.method).ok_or(ErrorObject::METHOD)?;
        let form = self.forms.get(index).ok_or(ErrorObject::INTERNAL)?;
        let params = form.body(bytes, call.params)?;
        self.table.run(index, req, params).ok_or(ErrorObject::INTERNAL)
    }
}

#[cold]
fn not_built() -> ApiError {
    ApiError::new(500, "this is a bug in stockade: the methods of JSON-RPC were not compiled")
}

/// Describes the route; its methods add the details.
pub(crate) fn describe(doc: &mut RouteDescription) {
    doc.reads_body(BodyKind::Raw);
    doc.responds(ResponseDoc::any_json(200).meaning("The responses to the calls"));
    doc.responds(ResponseDoc::new(204).meaning("All calls were notifications"));
}
