//! Describes the routes of a resource.

use stockade_core::description::{
    BodyDoc, Content, ContentSchema, HeaderDoc, InputFrom, ResponseDoc,
};
use stockade_core::reply::store_error::busy_store;
use stockade_core::{BodyKind, RouteDescription};
use stockade_validation::{Schema, ValidationOptions};

use super::Route;
use crate::access::Operation;
use crate::core::Answered;

impl Route {
    pub(super) fn describe(&self, doc: &mut RouteDescription) {
        let schemas = &self.core.schemas;
        let options = ValidationOptions::new();
        doc.stores(self.core.entity);
        if self.operation.has_item() {
            doc.checks(InputFrom::Params, &schemas.params, &options);
            doc.may_respond(404, "The item does not exist");
        }
        let mut takes = |schema: &Schema| {
            doc.reads_body(BodyKind::Typed);
            doc.checks(InputFrom::Body, schema, &options);
        };
        match self.operation {
            Operation::List => doc.checks(InputFrom::Query, &schemas.told_query, &options),
            Operation::Create => takes(&schemas.create.schema),
            Operation::Replace => takes(&schemas.change.schema),
            Operation::Patch => takes(&schemas.patch),
            Operation::Get | Operation::Delete => {}
        }
        let mut invalid = ResponseDoc::error(doc.validation_status());
        invalid.body = BodyDoc::ValidationError;
        doc.responds(invalid.meaning("A part of the request does not match its schema"));
        doc.may_respond(400, "The request cannot be read");
        self.describe_conditions(doc);
        self.describe_answers(doc);
        if self.check.is_some() {
            doc.may_respond(403, "The user must not access this item");
        }
    }

    fn describe_conditions(&self, doc: &mut RouteDescription) {
        let settings = self.core.settings;
        match self.operation {
            Operation::List | Operation::Create => {}
            Operation::Get => {
                doc.reads_header("If-None-Match", false);
                doc.reads_header("If-Match", false);
                doc.responds(precondition_failed());
                let known = ResponseDoc::new(304).meaning("The client has the current item");
                doc.responds(known.header(etag()).header(cache_control()));
            }
            Operation::Replace | Operation::Patch | Operation::Delete => {
                let creates = settings.put_creates && self.operation == Operation::Replace;
                doc.reads_header("If-Match", settings.requires_if_match && !creates);
                doc.reads_header("If-None-Match", false);
                doc.responds(precondition_failed());
                doc.may_respond(
                    409,
                    match self.operation {
                        Operation::Delete => "The item has changed, or other items refer to it",
                        _ => "The item has changed, or a value is already in use",
                    },
                );
                if settings.requires_if_match {
                    doc.may_respond(428, "The header If-Match is missing");
                }
            }
        }
        if self.operation == Operation::Create {
            doc.may_respond(409, "A value is already in use");
        }
        if self.core.scope.is_some() && self.operation.has_draft() {
            doc.may_respond(403, "The item would not belong to the user");
        }
        doc.responds(busy_store());
    }

    fn describe_answers(&self, doc: &mut RouteDescription) {
        let schemas = &self.core.schemas;
        let item = |status| {
            let answer = ResponseDoc::new(status).content(content(&schemas.item)).header(etag());
            answer.meaning("The item")
        };
        let location = || HeaderDoc::new("Location", "The path of the item");
        // The body is omitted if the client prefers that.
        let bare = || ResponseDoc::unknown(201).header(etag()).header(location());
        if self.operation.has_draft() {
            doc.reads_header("Prefer", false);
        }
        match self.operation {
            Operation::List => {
                let link = HeaderDoc::new("Link", "The adjacent pages").sometimes();
                let mut page = ResponseDoc::new(200).content(content(&schemas.page)).header(link);
                if self.core.settings.counts {
                    let total =
                        HeaderDoc::new("X-Total-Count", "The number of items, if requested");
                    page = page.header(total.sometimes());
                }
                doc.responds(page.meaning("A page of items").header(cache_control()));
            }
            Operation::Get => doc.responds(item(200).header(cache_control())),
            Operation::Create => {
                doc.responds(item(201).header(location()));
                doc.responds(bare());
            }
            Operation::Replace | Operation::Patch => {
                doc.responds(item(200));
                let minimal =
                    ResponseDoc::new(204).meaning("Written; the client does not request the item");
                doc.responds(minimal.header(etag()));
                if self.operation == Operation::Replace && self.core.settings.put_creates {
                    doc.responds(item(201).header(location()));
                    doc.responds(bare());
                }
            }
            Operation::Delete => {
                doc.responds(ResponseDoc::new(204).meaning("The item was deleted"))
            }
        }
    }
}

fn content(schema: &Answered) -> Content {
    let schema = match schema {
        Answered::Of(schema) => ContentSchema::Of(*schema),
        Answered::Without(schema) => ContentSchema::Made(schema.clone()),
    };
    Content::new("application/json", schema)
}

fn precondition_failed() -> ResponseDoc {
    let present = HeaderDoc::new("ETag", "The entity tag of the current version").sometimes();
    ResponseDoc::error(412).meaning("The item has a different version").header(present)
}

fn etag() -> HeaderDoc {
    HeaderDoc::new("ETag", "The version of the item")
}

fn cache_control() -> HeaderDoc {
    HeaderDoc::new("Cache-Control", "The caching rule")
}
