//! An [`ErrorHandler`] as middleware.

use super::{ErrorHandler, Form};
use crate::description::{ResponseDoc, StatusDoc};
use crate::endpoint::{ErrorContext, error_of};
use crate::middleware::form;
use crate::{IntoMiddleware, Middleware, Next, Request, RouteDescription};

impl IntoMiddleware<form::Ready> for ErrorHandler {
    fn into_middleware(self) -> Middleware {
        let described = self.clone();
        Middleware::new(move |mut req: Request, next: Next| {
            let handler = self.clone();
            async move {
                req.keep_head(Some(&handler));
                let context = ErrorContext::of(&req);
                let mut response = match next.try_run(req).await {
                    Ok(response) => handler.answer_again(response, &context),
                    Err(error) => handler.answer(error, &context),
                };
                if error_of(&response).is_some() {
                    response.extensions_mut().insert(Form { is_final: true });
                }
                response
            }
        })
        .named("with_error_handling")
        .describing(move |doc| described.describe(doc))
    }
}

impl ErrorHandler {
    /// Describes the errors of a route that this handler formats.
    pub fn describe(&self, doc: &mut RouteDescription) {
        if let Some(form) = self.form() {
            doc.writes_errors(form.schema);
        }
        if self.options.change.is_some() {
            let meaning = "An error with the status that the error handler sets";
            doc.responds(ResponseDoc::error(StatusDoc::Default).meaning(meaning));
        }
    }
}
