//! `KnownTypes`: the types in the routes of a router, to validate other
//! descriptions of them, such as a GraphQL schema.

use std::any::TypeId;
use std::collections::HashSet;

use http::Extensions;
use stockade_validation::marks::Marks;

use crate::RouteDescription;
use crate::description::{BodyDoc, ContentSchema, SchemaOf};
use crate::extract::taken_schemas;
use crate::type_check::MarkedTypes;

/// The response types that the routes of a router described.
#[derive(Debug, Default)]
pub struct KnownTypes {
    schemas: Vec<SchemaOf>,
    seen: HashSet<TypeId>,
}

impl KnownTypes {
    /// Adds the types that a route described.
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

    /// Returns these types together with the argument types of routes, from
    /// `common`.
    #[must_use]
    pub fn marked(&self, common: &Extensions) -> MarkedTypes {
        let mut types = MarkedTypes::new();
        taken_schemas(common).for_each(|schema| Marks::of(schema).add_types(&mut types));
        let replied = self.schemas.iter().flat_map(SchemaOf::marks);
        replied.for_each(|marks| marks.add_types(&mut types));
        types
    }
}
