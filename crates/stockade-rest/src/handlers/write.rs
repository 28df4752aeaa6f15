//! Handles writes of an item: POST, PUT and PATCH.

use http::{StatusCode, header};
use serde_json::Value;
use stockade_core::{Request, Response};
use stockade_errors::{ApiError, ErrorText, StoreError};
use stockade_json::repeated_name;

use super::Route;
use super::answer::{header_value, place_of};
use super::conditions::Conditions;
use super::item::REPEATED;
use super::patch::{Changed, Patch};
use crate::access::Operation;
use crate::core::{Core, Input};
use crate::erased::{BoxItem, Item};
use crate::failure::invalid;
use crate::store::{RawDraft, RowFilter, VersionCheck};

/// A request for one item, with its scope and conditions.
pub(super) struct ItemRequest<'r> {
    pub(super) user: Option<&'r Value>,
    pub(super) id: &'r Value,
    pub(super) scope: &'r RowFilter,
    pub(super) conditions: &'r Conditions,
}

impl Route {
    pub(super) async fn create(&self, mut req: Request) -> Result<Response, ApiError> {
        let core = &self.core;
        let scope = core.scope_of(&req)?;
        let draft = core.schemas.create.draft_of(&core.marked, self.body(&mut req).await?)?;
        if let Some(id) = draft.values.get(core.id) {
            check_place(core.id, id)?;
        }
        let draft = self.placed(draft, req.user(), &scope).await?;
        let item = core.store.create(draft).await;
        let item = item.map_err(|error| core.failure(error, false))?;
        let item = core.after(Operation::Create, req.user(), item).await?;
        let id = item.keys(&[core.id])?;
        let id = id.first().ok_or_else(|| ApiError::internal("an item has no id"))?;
        let place = place_of(req.path(), id);
        self.created(&req, &*item, place)
    }

    pub(super) async fn replace(&self, mut req: Request) -> Result<Response, ApiError> {
        let core = &self.core;
        let (id, scope) = (core.id_of(&req)?, core.scope_of(&req)?);
        let sent = self.body(&mut req).await?;
        // The read-only values that a client sends back help to find the stored
        // ones.
        let echo = core.marked.keeps_inside.then(|| sent.clone());
        let mut draft = core.schemas.change.draft_of(&core.marked, sent)?;
        let conditions = Conditions::of(self, &req)?;
        if echo.is_none() {
            draft = self.placed(draft, req.user(), &scope).await?;
        }
        let request =
            ItemRequest { user: req.user(), id: &id, scope: &scope, conditions: &conditions };
        let mut repeated = 0;
        loop {
            match self.replace_at_present(&request, draft.clone(), echo.as_ref()).await? {
                Ok(item) => {
                    let item = core.after(Operation::Replace, req.user(), item).await?;
                    return self.written(&req, StatusCode::OK, &*item);
                }
                Err(StoreError::Missing) if core.settings.put_creates && repeated <= REPEATED => {
                    conditions.validate(None)?;
                    let mut draft = draft.clone();
                    if echo.is_some() {
                        draft = self.placed(draft, req.user(), &scope).await?;
                    }
                    let Some(item) = self.create_at(&request, draft).await? else {
                        repeated += 1;
                        continue;
                    };
                    let item = core.after(Operation::Replace, req.user(), item).await?;
                    return self.created(&req, &*item, self.place_at(&req, &id));
                }
                Err(StoreError::Changed) if !conditions.are_given() && repeated < REPEATED => {
                    repeated += 1;
                }
                Err(error) => return Err(self.refused(error, &request).await),
            }
        }
    }

    pub(super) async fn patch(&self, mut req: Request) -> Result<Response, ApiError> {
        let core = &self.core;
        let (id, scope) = (core.id_of(&req)?, core.scope_of(&req)?);
        let sent = self.body(&mut req).await?;
        let patch = Patch::of(core, &req, sent)?;
        let conditions = Conditions::of(self, &req)?;
        let request =
            ItemRequest { user: req.user(), id: &id, scope: &scope, conditions: &conditions };
        let mut repeated = 0;
        loop {
            let item = self.load(&request).await?;
            conditions.validate(Some(item.version()))?;
            let draft = self.patched(&*item, &patch)?;
            let draft = self.placed(draft, req.user(), &scope).await?;
            let expected = VersionCheck::Version(item.version());
            match core.store.replace(&id, draft, expected, &scope).await {
                Ok(item) => {
                    let item = core.after(Operation::Patch, req.user(), item).await?;
                    return self.written(&req, StatusCode::OK, &*item);
                }
                Err(StoreError::Changed) if !conditions.are_given() && repeated < REPEATED => {
                    repeated += 1;
                }
                Err(error) => return Err(self.refused(error, &request).await),
            }
        }
    }

    /// Applies the scope to a draft and runs the hooks before the write.
    async fn placed(
        &self,
        mut draft: RawDraft,
        user: Option<&Value>,
        scope: &RowFilter,
    ) -> Result<RawDraft, ApiError> {
        self.core.canonical.change(&mut draft.values);
        Core::place(&mut draft, scope)?;
        let draft = self.core.before(self.operation, user, draft).await?;
        self.core.marked.check(&draft)?;
        Ok(draft)
    }

    /// Replaces the current item. `echo` is the value that the client sent. If
    /// it is set, the draft gets the read-only values of the current item
    /// before the hooks run.
    async fn replace_at_present(
        &self,
        request: &ItemRequest<'_>,
        mut draft: RawDraft,
        echo: Option<&Value>,
    ) -> Result<Result<BoxItem, StoreError>, ApiError> {
        if let Some(echo) = echo {
            let Some(item) = self.find(request).await? else {
                return Ok(Err(StoreError::Missing));
            };
            request.conditions.validate(Some(item.version()))?;
            let marked = &self.core.marked;
            let aligned = marked.read.aligned(&item.value()?, echo);
            marked.keep_read_only(&aligned, &mut draft.values);
            let draft = self.placed(draft, request.user, request.scope).await?;
            let expected = VersionCheck::Version(item.version());
            return Ok(self.core.store.replace(request.id, draft, expected, request.scope).await);
        }
        let Some(expected) = self.expected(request).await? else {
            return Ok(Err(StoreError::Missing));
        };
        Ok(self.core.store.replace(request.id, draft, expected, request.scope).await)
    }

    /// Creates an item with an unused id. Returns `None` if the item was
    /// created meanwhile and must be replaced.
    async fn create_at(
        &self,
        request: &ItemRequest<'_>,
        mut draft: RawDraft,
    ) -> Result<Option<BoxItem>, ApiError> {
        let core = &self.core;
        let id = request.id;
        draft.values.insert(core.id.to_owned(), id.clone());
        check_place(core.id, id)?;
        match core.store.create(draft).await {
            Err(StoreError::Taken { field }) if field == core.id => {
                // An item outside the scope does not exist for this user.
                let present = core.store.get(id, request.scope).await;
                let present = present.map_err(|error| core.failure(error, false))?;
                if present.is_some() { Ok(None) } else { Err(ApiError::not_found()) }
            }
            outcome => outcome.map(Some).map_err(|error| core.failure(error, false)),
        }
    }

    /// Applies a patch to an item and validates the result.
    fn patched(&self, item: &dyn Item, patch: &Patch) -> Result<RawDraft, ApiError> {
        let (core, mut present) = (&self.core, item.value()?);
        let Changed { value: mut changed, aligned } = patch.applied(core, &present)?;
        let change: &Input = &core.schemas.change;
        core.marked.drop_read_only(&mut present);
        core.marked.drop_read_only(&mut changed);
        let sent = |changed: &Value, name: &str| {
            let value = changed.get(name).unwrap_or(&Value::Null);
            value != present.get(name).unwrap_or(&Value::Null)
        };
        let sent: Vec<String> =
            change.fields.iter().filter(|name| sent(&changed, name)).cloned().collect();
        let mut draft = change.draft_of(&core.marked, changed)?;
        core.marked.keep_read_only(&aligned, &mut draft.values);
        Ok(RawDraft { sent, ..draft })
    }

    /// Returns the path of a new item: the path of the request with the
    /// canonical id.
    fn place_at(&self, req: &Request, id: &Value) -> String {
        let path = req.path();
        match (id, path.rsplit_once('/')) {
            (Value::String(text), Some((collection, _)))
                if req.param(self.core.id).is_none_or(|sent| sent != *text) =>
            {
                place_of(collection, id)
            }
            _ => path.to_owned(),
        }
    }

    /// Returns the body of a request. The body is required.
    async fn body(&self, req: &mut Request) -> Result<Value, ApiError> {
        let mut body = body(req).await?;
        self.core.marked.remove_origins(&mut body);
        Ok(body)
    }

    fn created(&self, req: &Request, item: &dyn Item, place: String) -> Result<Response, ApiError> {
        let mut response = self.written(req, StatusCode::CREATED, item)?;
        response.headers_mut().insert(header::LOCATION, header_value(place)?);
        Ok(response)
    }
}

/// Rejects a new id that cannot be used in a path. Clients resolve `.` and `..`
/// before they send a path, and routers reject control characters. Also rejects
/// ids that are too long for a path or a cursor.
///
/// Source: RFC 3986, section 6.2.2.3.
fn check_place(name: &str, id: &Value) -> Result<(), ApiError> {
    let Value::String(id) = id else { return Ok(()) };
    if id.is_empty() || id == "." || id == ".." || id.chars().any(|it| it.is_ascii_control()) {
        let text = ErrorText::new("id-path", "A path cannot contain this id");
        return Err(invalid(name, text, "pattern"));
    }
    if id.len() > MAX_ID {
        let text = ErrorText::new("id-length", format!("An id must have at most {MAX_ID} bytes"));
        return Err(invalid(name, text.param("limit", MAX_ID), "maxLength"));
    }
    Ok(())
}

/// The maximum length of a new text id, in bytes.
const MAX_ID: usize = 1_000;

/// Returns the body of a request as the client sent it.
async fn body(req: &mut Request) -> Result<Value, ApiError> {
    // Parse first, so a client need not send a body that is not read.
    req.body().await?;
    let bytes = req.bytes().await?;
    if bytes.is_empty() {
        return Err(ApiError::new(400, "Request body is required"));
    }
    let body = req.body().await?.take();
    // Programs before this one may have used the other of the two values.
    match repeated_name(&bytes) {
        Some(name) => {
            let message = format!("Duplicate field '{name}'");
            Err(invalid(name, ErrorText::new("duplicate", message), "type"))
        }
        None => Ok(body),
    }
}
