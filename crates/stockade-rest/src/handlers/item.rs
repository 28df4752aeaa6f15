//! Handles GET and DELETE of one item.

use http::{StatusCode, header};
use stockade_core::{HttpBody, Request, Response};
use stockade_errors::{ApiError, StoreError};

use super::Route;
use super::answer::etag;
use super::conditions::{Conditions, is_known};
use super::write::ItemRequest;
use crate::access::Operation;
use crate::erased::BoxItem;
use crate::failure::precondition_failed;
use crate::store::VersionCheck;

/// The number of retries for a write without a version condition when the item
/// changes meanwhile.
pub(super) const REPEATED: usize = 3;

impl Route {
    pub(super) async fn get(&self, req: Request) -> Result<Response, ApiError> {
        let core = &self.core;
        let id = core.id_of(&req)?;
        let scope = core.scope_of(&req)?;
        let item = core.store.get(&id, &scope).await;
        let item = item.map_err(|error| core.failure(error, false))?;
        let item = item.ok_or_else(ApiError::not_found)?;
        self.check(req.user(), &*item)?;
        // This runs first: if the hook rejects the item, its version must not
        // be revealed either.
        let item = core.after(Operation::Get, req.user(), item).await?;
        if is_known(&req, item.version())? {
            let mut response = Response::new(HttpBody::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response.headers_mut().insert(header::ETAG, etag(item.version())?);
            response.headers_mut().insert(header::CACHE_CONTROL, self.cache_control());
            return Ok(response);
        }
        self.item(StatusCode::OK, &*item)
    }

    pub(super) async fn delete(&self, req: Request) -> Result<Response, ApiError> {
        let core = &self.core;
        let conditions = Conditions::of(self, &req)?;
        let (id, scope) = (core.id_of(&req)?, core.scope_of(&req)?);
        let request =
            ItemRequest { user: req.user(), id: &id, scope: &scope, conditions: &conditions };
        let mut repeated = 0;
        loop {
            let expected = self.expected(&request).await?.ok_or_else(ApiError::not_found)?;
            match core.store.delete(&id, expected, &scope).await {
                Ok(()) => break,
                Err(StoreError::Changed) if !conditions.are_given() && repeated < REPEATED => {
                    repeated += 1;
                }
                Err(error) => return Err(self.refused(error, &request).await),
            }
        }
        let mut response = Response::new(HttpBody::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        Ok(response)
    }

    /// Loads the item of a request and checks the access rule.
    pub(super) async fn load(&self, request: &ItemRequest<'_>) -> Result<BoxItem, ApiError> {
        self.find(request).await?.ok_or_else(ApiError::not_found)
    }

    pub(super) async fn find(
        &self,
        request: &ItemRequest<'_>,
    ) -> Result<Option<BoxItem>, ApiError> {
        let item = self.core.store.get(request.id, request.scope).await;
        let item = item.map_err(|error| self.core.failure(error, false))?;
        if let Some(item) = &item {
            self.check(request.user, &**item)?;
        }
        Ok(item)
    }

    /// Returns the version check for a write. Loads the item if the conditions
    /// or the access rule require it. Returns `None` if the item is missing.
    pub(super) async fn expected(
        &self,
        request: &ItemRequest<'_>,
    ) -> Result<Option<VersionCheck>, ApiError> {
        if let Some(expected) = request.conditions.expected()
            && self.check.is_none()
        {
            return Ok(Some(expected));
        }
        let Some(item) = self.find(request).await? else { return Ok(None) };
        request.conditions.validate(Some(item.version()))?;
        Ok(Some(VersionCheck::Version(item.version())))
    }

    /// Returns the response to a failed write: a 412 with the current entity
    /// tag if the version does not match.
    pub(super) async fn refused(&self, error: StoreError, request: &ItemRequest<'_>) -> ApiError {
        let is_bound = request.conditions.are_given();
        if !matches!(error, StoreError::Changed) || !is_bound {
            return self.core.failure(error, is_bound);
        }
        match self.core.store.get(request.id, request.scope).await {
            Ok(item) => precondition_failed(item.map(|item| item.version())),
            Err(error) => self.core.failure(error, is_bound),
        }
    }
}
