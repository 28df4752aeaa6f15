//! `KnownTypes`: the types that the routes of a router use, for checks of other
//! descriptions of these types, such as a GraphQL schema.

use std::any::TypeId;
use std::collections::HashSet;

use http::Extensions;
use stockade_validation::marks::Marks;

use crate::RouteDescription;
use crate::description::{BodyDoc, ContentSchema, SchemaOf};
use crate::extract::taken_schemas;
use crate::type_check::MarkedTypes;

/// The types of responses that the routes of a router have described.
#[derive(Debug, Default)]
pub struct KnownTypes {
    schemas: Vec<SchemaOf>,
    seen: HashSet<TypeId>,
}

impl KnownTypes {
    /// Adds the types that a route has described.
    pub fn add(&mut self, doc: &RouteDescription) {
        let contents = doc.facts.answers.iter().flat_map(|answer| match &answer.body {
            BodyDoc::Content(contents) => contents.as_slice(),
            _ => &[],
        });
        for content in contents {
            if let ContentSchema::Of(schema) = &content.schema {
                self.add_one(*schema);
            }
        }
        for schema in &doc.stored_types {
            self.add_one(*schema);
        }
    }

    fn add_one(&mut self, schema: SchemaOf) {
        if self.seen.insert(schema.type_id()) {
            self.schemas.push(schema);
        }
    }

    /// Returns these types with the types that routes take, which `common` has.
    #[must_use]
    pub fn marked(&self, common: &Extensions) -> MarkedTypes {
        let mut types = MarkedTypes::new();
        taken_schemas(common).for_each(|schema| Marks::of(schema).add_types(&mut types));
        let replied = self.schemas.iter().flat_map(SchemaOf::marks);
        replied.for_each(|marks| marks.add_types(&mut types));
        types
    }
}
