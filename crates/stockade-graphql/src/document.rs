//! A parsed document and its size.
//!
//! async-graphql follows a fragment at each spread, so a few fragments that
//! spread each other twice can take a long time. Here each fragment is measured
//! once.

use std::collections::HashMap;

use async_graphql::parser::parse_query;
use async_graphql::parser::types::{
    Directive, DocumentOperations, ExecutableDocument, Field, OperationDefinition, OperationType,
    Selection, SelectionSet,
};
use async_graphql::{Name, Pos, Positioned, Variables};
use async_graphql_value::{ConstValue, Value as InputValue};

use crate::graphql_error::GraphQlError;
use crate::limits::Limits;
use crate::scan::{Excess, scan};

/// The kind of an operation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Query,
    Mutation,
    Subscription,
}

/// A document within its limits.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) text: String,
    pub(crate) parsed: ExecutableDocument,
    /// The number of fields of an operation, including its fragments. For
    /// several operations, the maximum.
    pub(crate) fields: usize,
    /// The number of uses of variables.
    variables: usize,
    /// True if the document queries the schema.
    pub(crate) asks_for_schema: bool,
}

impl Document {
    /// Parses and measures a document.
    ///
    /// # Errors
    /// Returns the error for the client: the exceeded limit, or the position of
    /// the syntax error.
    pub(crate) fn read(text: String, limits: &Limits) -> Result<Self, GraphQlError> {
        let Limits { document, tokens, nesting, aliases, directives, .. } = *limits;
        if text.len() > document {
            return Err(GraphQlError::new(format!("The document has more than {document} bytes")));
        }
        scan(&text, limits).map_err(|excess| {
            GraphQlError::new(match excess {
                Excess::Tokens => format!("The document has more than {tokens} tokens"),
                Excess::Nesting => format!("The document is nested deeper than {nesting}"),
                Excess::Aliases => format!("More than {aliases} aliases"),
                Excess::Directives => format!("More than {directives} directives in one place"),
            })
        })?;
        let parsed = parse_query(&text).map_err(GraphQlError::of_syntax)?;
        let mut measuring =
            Measuring { parsed: &parsed, limits, fragments: HashMap::new(), within: 0 };
        let Size { fields, variables, asks_for_schema, .. } = measuring.document()?;
        Ok(Self { text, fields, variables, asks_for_schema, parsed })
    }

    /// Returns the named operation, or the only one, and checks its variables.
    ///
    /// # Errors
    /// Returns an error if the name is unknown, or missing although there are
    /// several operations. Also fails if a required variable is missing or the
    /// variables are too large.
    pub(crate) fn operation(
        &self,
        name: Option<&str>,
        variables: &Variables,
    ) -> Result<Kind, GraphQlError> {
        let operation = self.find(name)?;
        let missing = operation.node.variable_definitions.iter().find(|definition| {
            let is_required =
                !definition.node.var_type.node.nullable && definition.node.default_value.is_none();
            let value = variables.get(&definition.node.name.node);
            is_required && value.is_none_or(|value| *value == ConstValue::Null)
        });
        if let Some(missing) = missing {
            let (name, of_type) = (&missing.node.name.node, &missing.node.var_type.node);
            let message = format!("The variable ${name} of the type {of_type} is missing");
            return Err(GraphQlError::at(message, missing.pos));
        }
        let mut values = 0_usize;
        for value in variables.values() {
            values += count(value, operation.pos)?;
        }
        // async-graphql copies a variable for each use.
        if values.saturating_mul(self.variables) > VARIABLE_VALUES {
            return Err(GraphQlError::at(
                "The variables are too large for an operation",
                operation.pos,
            ));
        }
        Ok(match operation.node.ty {
            OperationType::Query => Kind::Query,
            OperationType::Mutation => Kind::Mutation,
            OperationType::Subscription => Kind::Subscription,
        })
    }

    /// Returns the names of the operations, formatted to follow the document's
    /// hash.
    pub(crate) fn names(&self) -> String {
        let names = self.parsed.operations.iter().filter_map(|(name, _)| name);
        let mut names: Vec<String> = names.map(|name| format!(" `{name}`")).collect();
        names.sort_unstable();
        names.concat()
    }

    fn find(&self, name: Option<&str>) -> Result<&Positioned<OperationDefinition>, GraphQlError> {
        let unknown =
            || GraphQlError::new("The document does not have an operation with this name");
        match (&self.parsed.operations, name) {
            (DocumentOperations::Single(one), None) => Ok(one),
            (DocumentOperations::Single(_), Some(_)) => Err(unknown()),
            (DocumentOperations::Multiple(several), Some(name)) => {
                several.get(name).ok_or_else(unknown)
            }
            (DocumentOperations::Multiple(several), None) => {
                let mut several = several.values();
                match (several.next(), several.next()) {
                    (Some(one), None) => Ok(one),
                    _ => Err(GraphQlError::new(
                        "The document has several operations: set `operationName`",
                    )),
                }
            }
        }
    }
}

/// The maximum number of values of all variables, counted for each use.
const VARIABLE_VALUES: usize = 1_000_000;

/// The size of a selection set, including its fragments.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    /// Fields, fragments, spreads, arguments and their values.
    parts: usize,
    fields: usize,
    /// The fields at the top level of the set.
    own_fields: usize,
    aliases: usize,
    depth: usize,
    /// The uses of variables.
    variables: usize,
    /// The nesting of schema lists: `fields { type { fields … } }`.
    schema_lists: usize,
    asks_for_schema: bool,
}

impl Size {
    fn add(&mut self, other: Self) {
        self.parts = self.parts.saturating_add(other.parts);
        self.fields = self.fields.saturating_add(other.fields);
        self.own_fields = self.own_fields.saturating_add(other.own_fields);
        self.aliases = self.aliases.saturating_add(other.aliases);
        self.depth = self.depth.max(other.depth);
        self.variables = self.variables.saturating_add(other.variables);
        self.schema_lists = self.schema_lists.max(other.schema_lists);
        self.asks_for_schema |= other.asks_for_schema;
    }
}

/// Walks a document and measures it.
struct Measuring<'d> {
    parsed: &'d ExecutableDocument,
    limits: &'d Limits,
    /// The sizes of the fragments. `None` while a fragment is being measured.
    fragments: HashMap<&'d Name, Option<Size>>,
    /// The current nesting of fragments.
    within: usize,
}

impl<'d> Measuring<'d> {
    /// Measures all operations and returns the maximum sizes.
    fn document(&mut self) -> Result<Size, GraphQlError> {
        let mut largest = Size::default();
        // async-graphql follows unused fragments too before it rejects them.
        for (name, fragment) in &self.parsed.fragments {
            let size = self.fragment(name, fragment.pos)?;
            check_parts(size, fragment.pos)?;
        }
        for (_, operation) in self.parsed.operations.iter() {
            let size = self.operation(operation)?;
            largest.fields = largest.fields.max(size.fields);
            largest.variables = largest.variables.max(size.variables);
            largest.asks_for_schema |= size.asks_for_schema;
        }
        Ok(largest)
    }

    fn operation(
        &mut self,
        operation: &'d Positioned<OperationDefinition>,
    ) -> Result<Size, GraphQlError> {
        let OperationDefinition { directives, variable_definitions, selection_set, .. } =
            &operation.node;
        let mut size = self.directives(directives, operation.pos)?;
        for variable in variable_definitions {
            size.add(self.directives(&variable.node.directives, variable.pos)?);
            if let Some(default) = &variable.node.default_value {
                size.parts = size.parts.saturating_add(count(&default.node, default.pos)?);
            }
        }
        size.add(self.selections(&selection_set.node)?);
        check_parts(size, operation.pos)?;
        let Limits { depth, aliases, root_fields, .. } = *self.limits;
        let message = if size.depth > depth {
            format!("Fields are nested deeper than {depth}")
        } else if size.aliases > aliases {
            format!("More than {aliases} aliases")
        } else if size.own_fields > root_fields {
            format!("More than {root_fields} fields at the root")
        } else {
            return Ok(size);
        };
        Err(GraphQlError::at(message, operation.pos))
    }

    fn selections(&mut self, set: &'d SelectionSet) -> Result<Size, GraphQlError> {
        let mut size = Size::default();
        for selection in &set.items {
            size.parts = size.parts.saturating_add(1);
            size.add(self.directives(selection.node.directives(), selection.pos)?);
            size.add(match &selection.node {
                Selection::Field(field) => self.field(field)?,
                Selection::InlineFragment(inline) => {
                    self.selections(&inline.node.selection_set.node)?
                }
                Selection::FragmentSpread(spread) => {
                    self.fragment(&spread.node.fragment_name.node, selection.pos)?
                }
            });
        }
        Ok(size)
    }

    fn field(&mut self, field: &'d Positioned<Field>) -> Result<Size, GraphQlError> {
        let Positioned { node: field, pos } = field;
        let inner = self.selections(&field.selection_set.node)?;
        let is_schema = matches!(&*field.name.node, "__schema" | "__type" | "_service");
        if is_schema && inner.schema_lists > SCHEMA_LISTS {
            return Err(GraphQlError::at("The introspection query is cyclic", *pos));
        }
        let is_list =
            matches!(&*field.name.node, "fields" | "inputFields" | "interfaces" | "possibleTypes");
        let mut size = Size {
            fields: inner.fields.saturating_add(1),
            own_fields: 1,
            aliases: inner.aliases.saturating_add(usize::from(field.alias.is_some())),
            // Introspection of a type uses ten nested fields.
            depth: if is_schema { 1 } else { inner.depth + 1 },
            schema_lists: inner.schema_lists + usize::from(is_list),
            asks_for_schema: inner.asks_for_schema || is_schema,
            ..inner
        };
        for (_, value) in &field.arguments {
            add_value(&mut size, &value.node, value.pos)?;
        }
        Ok(size)
    }

    /// Returns the size of a fragment. Each fragment is measured once.
    fn fragment(&mut self, name: &'d Name, pos: Pos) -> Result<Size, GraphQlError> {
        // async-graphql rejects unknown fragments.
        let Some(fragment) = self.parsed.fragments.get(name) else { return Ok(Size::default()) };
        match self.fragments.get(name) {
            Some(Some(size)) => return Ok(*size),
            Some(None) => {
                return Err(GraphQlError::at(format!("The fragment {name} spreads itself"), pos));
            }
            None => {}
        }
        if self.within == SPREADS {
            let message = format!("Fragments are spread deeper than {SPREADS}");
            return Err(GraphQlError::at(message, pos));
        }
        self.within += 1;
        self.fragments.insert(name, None);
        let mut size = self.directives(&fragment.node.directives, fragment.pos)?;
        size.add(self.selections(&fragment.node.selection_set.node)?);
        self.fragments.insert(name, Some(size));
        self.within -= 1;
        Ok(size)
    }

    /// Measures the directives at one location.
    fn directives(
        &self,
        directives: &[Positioned<Directive>],
        pos: Pos,
    ) -> Result<Size, GraphQlError> {
        let most = self.limits.directives;
        if directives.len() > most {
            return Err(GraphQlError::at(format!("More than {most} directives in one place"), pos));
        }
        let mut size = Size::default();
        for (_, value) in directives.iter().flat_map(|directive| &directive.node.arguments) {
            add_value(&mut size, &value.node, value.pos)?;
        }
        Ok(size)
    }
}

fn check_parts(size: Size, pos: Pos) -> Result<(), GraphQlError> {
    if size.parts <= PARTS {
        return Ok(());
    }
    Err(GraphQlError::at(format!("More than {PARTS} fields and values, including fragments"), pos))
}

/// Adds the value of an argument.
fn add_value(size: &mut Size, value: &InputValue, pos: Pos) -> Result<(), GraphQlError> {
    size.parts = size.parts.saturating_add(1);
    match value {
        InputValue::Variable(_) => size.variables = size.variables.saturating_add(1),
        InputValue::String(text) => check_text(text, pos)?,
        InputValue::List(items) => items.iter().try_for_each(|item| add_value(size, item, pos))?,
        InputValue::Object(fields) => {
            fields.values().try_for_each(|field| add_value(size, field, pos))?;
        }
        _ => {}
    }
    Ok(())
}

/// Counts a value without variables, including nested values.
pub(crate) fn count(value: &ConstValue, pos: Pos) -> Result<usize, GraphQlError> {
    let within = match value {
        ConstValue::String(text) => check_text(text, pos).map(|()| 0)?,
        ConstValue::List(items) => {
            items.iter().try_fold(0, |sum, item| Ok(sum + count(item, pos)?))?
        }
        ConstValue::Object(fields) => {
            fields.values().try_fold(0, |sum, field| Ok(sum + count(field, pos)?))?
        }
        _ => 0,
    };
    Ok(within + 1)
}

/// Returns an error for a text that async-graphql treats as a file number. It
/// would look up the file without a check.
fn check_text(text: &str, pos: Pos) -> Result<(), GraphQlError> {
    if text.starts_with(FILE) {
        return Err(GraphQlError::at("A file must be sent in a form", pos));
    }
    Ok(())
}

/// The prefix of a text that refers to a file.
const FILE: &str = "#__graphql_file__:";

/// The maximum number of fields and values in an operation, including fragments
/// at each spread.
const PARTS: usize = 10_000;

/// The maximum nesting of fragment spreads.
const SPREADS: usize = 32;

/// The maximum nesting of schema lists, as in the graphql-js rule
/// `MaxIntrospectionDepth`.
const SCHEMA_LISTS: usize = 3;
