//! The calls of a batch. Each is charged to the rate limits, several run
//! concurrently, and the response objects are in the order of the calls.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use stockade_core::error_settings::Settings;
use stockade_core::{Request, Response};
use stockade_errors::ApiError;
use stockade_stages::rate_limit::meter::Meter;

use crate::error_object::ErrorObject;
use crate::message::Entry;
use crate::response_object::{self, ResponseObject};
use crate::service::{Methods, RunningEntry, Service};

/// The response objects of a batch.
#[derive(Debug)]
pub(crate) struct BatchResponse {
    /// The response array; `None` if all calls were notifications.
    pub(crate) text: Option<Vec<u8>>,
    /// The cookies that methods set.
    cookies: Vec<HeaderValue>,
}

/// Runs the calls of a batch in one HTTP request, which was already charged for
/// the first call.
pub(crate) async fn respond(
    service: &Service,
    req: Request,
    bytes: &Bytes,
    mut entries: Vec<Entry<'_>>,
) -> Result<Response, ApiError> {
    if let Some(meter) = meter_of(&req) {
        charge(&meter, entries.iter_mut().skip(1), req.settings()).await;
    }
    let BatchResponse { text, cookies } = run(service, req, bytes, entries).await?;
    let Some(text) = text else { return Ok(response_object::respond_nothing()) };
    let mut headers = HeaderMap::new();
    for cookie in cookies {
        headers.append(header::SET_COOKIE, cookie);
    }
    Ok(response_object::respond(ResponseObject { text, headers }))
}

/// Runs the calls of a batch, which are already charged.
pub(crate) async fn run(
    service: &Service,
    req: Request,
    bytes: &Bytes,
    entries: Vec<Entry<'_>>,
) -> Result<BatchResponse, ApiError> {
    let mut batch = Batch {
        methods: service.methods()?,
        req,
        bytes,
        objects: entries.iter().map(|_| None).collect(),
        entries: entries.into_iter().enumerate(),
        waiting: Vec::new(),
        parallel: service.parallel,
        room: service.max_answer,
        cookies: Vec::new(),
    };
    poll_fn(|cx| batch.poll(cx)).await;
    Ok(batch.into_response())
}

/// Returns the rate limits that counted a request.
pub(crate) fn meter_of(req: &Request) -> Option<Arc<Meter>> {
    req.shared()
}

/// Charges all calls at once. Rejected calls fail.
pub(crate) async fn charge<'e, 't: 'e>(
    meter: &Meter,
    entries: impl ExactSizeIterator<Item = &'e mut Entry<'t>>,
    settings: Settings,
) {
    let (granted, refusal) = meter.charge_n(u32::try_from(entries.len()).unwrap_or(u32::MAX)).await;
    let Some(error) = refusal else { return };
    let error = error_object_of(&error, settings);
    for entry in entries.skip(usize::try_from(granted).unwrap_or(usize::MAX)) {
        entry.call = Err(error.clone());
    }
}

/// Charges one call.
///
/// # Errors
/// Returns the error object for the client if a rate limit rejects the call.
pub(crate) async fn charge_one(meter: &Meter, settings: Settings) -> Result<(), ErrorObject> {
    meter.charge().await.map_err(|error| error_object_of(&error, settings))
}

/// Returns the error object for a call that a rate limit rejects.
fn error_object_of(error: &ApiError, settings: Settings) -> ErrorObject {
    // The status of an error is between 400 and 599.
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    ErrorObject::of_error(error, status, settings)
}

/// A pending call of a batch.
struct Waiting<'a> {
    index: usize,
    id: Option<&'a str>,
    running: RunningEntry<'a>,
}

/// A batch with running calls.
struct Batch<'a, I> {
    methods: Methods<'a>,
    /// The request of the batch. Each call gets a child of it.
    req: Request,
    bytes: &'a Bytes,
    entries: I,
    waiting: Vec<Waiting<'a>>,
    parallel: usize,
    objects: Vec<Option<Vec<u8>>>,
    /// The remaining bytes for response objects.
    room: u64,
    cookies: Vec<HeaderValue>,
}

impl<'a, I: Iterator<Item = (usize, Entry<'a>)>> Batch<'a, I> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.retain_mut(|call| match Pin::new(&mut call.running).poll(cx) {
            Poll::Ready(object) => {
                self.keep(call.index, call.id, object);
                false
            }
            Poll::Pending => true,
        });
        self.waiting = waiting;
        self.start(cx);
        if self.waiting.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Starts calls up to the concurrency limit.
    fn start(&mut self, cx: &mut Context<'_>) {
        while self.waiting.len() < self.parallel {
            let Some((index, entry)) = self.entries.next() else { return };
            let id = entry.id;
            if self.room == 0 {
                let failed =
                    id.map(|id| ResponseObject::failed(id, false, &ErrorObject::too_large()));
                self.objects[index] = failed.map(|object| object.text);
                continue;
            }
            let (req, room) = (self.req.child(), self.room);
            let mut running = RunningEntry::begin(self.methods, req, self.bytes, entry, room);
            match Pin::new(&mut running).poll(cx) {
                Poll::Ready(object) => self.keep(index, id, object),
                Poll::Pending => self.waiting.push(Waiting { index, id, running }),
            }
        }
    }

    /// Stores a response object, or an error if it exceeds the remaining bytes.
    fn keep(&mut self, index: usize, id: Option<&str>, object: Option<ResponseObject>) {
        let Some(ResponseObject { text, headers }) = object else { return };
        self.cookies.extend(headers.get_all(header::SET_COOKIE).iter().cloned());
        let left = self.room.checked_sub(text.len() as u64);
        self.room = left.unwrap_or(0);
        self.objects[index] = match (left, id) {
            (None, Some(id)) => {
                Some(ResponseObject::failed(id, false, &ErrorObject::too_large()).text)
            }
            _ => Some(text),
        };
    }

    fn into_response(self) -> BatchResponse {
        let objects: Vec<Vec<u8>> = self.objects.into_iter().flatten().collect();
        let length: usize = objects.iter().map(|object| object.len() + 1).sum();
        let mut text = Vec::with_capacity(length + 1);
        for (index, object) in objects.iter().enumerate() {
            text.push(if index == 0 { b'[' } else { b',' });
            text.extend_from_slice(object);
        }
        text.push(b']');
        BatchResponse { text: (!objects.is_empty()).then_some(text), cookies: self.cookies }
    }
}
