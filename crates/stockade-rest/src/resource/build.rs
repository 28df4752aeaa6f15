//! Checks a resource and creates its routes.

use std::panic::Location;
use std::sync::Arc;

use http::Method;
use stockade_core::description::SchemaOf;
use stockade_core::middleware::Level;
use stockade_core::{Handler, Middleware, RouteDocs};
use stockade_errors::{ConfigError, ConfigIssue};
use stockade_routing::__internal::{add_mistake, entry_of};
use stockade_routing::{RouteEntry, RouteTree};
use stockade_validation::__internal::did_you_mean;
use stockade_validation::marks::{Mark, Marks, View};
use stockade_validation::{HasSchema as _, Rule, Schema};

use super::Resource;
use super::bounds;
use super::fields::{Field, Fields, Kind, MAX_SORTED};
use super::page::{self, PageOf, SkippingPageOf};
use super::query::{RESERVED, cannot_filter, query_rule, sort_pattern, sort_rule};
use crate::Entity;
use crate::access::{Access, Operation};
use crate::canonical::Canonical;
use crate::core::{Answered, Core, FilterField, Input, Schemas, SortField};
use crate::handlers;
use crate::marked::Marked;
use crate::store::{Op, StoreDoc};

/// Creates the routes of a resource, or a tree with its configuration errors.
pub(super) fn routes<T: Entity>(resource: Resource<T>) -> RouteTree {
    let mut resource = resource;
    let operations = resource.only.clone().unwrap_or_else(|| Operation::ALL.to_vec());
    let access = std::mem::take(&mut resource.access);
    let (name, location) = (resource.name.clone(), resource.location);
    let mut check = Checker { name: &name, mistakes: Vec::new() };
    let rules = check.rules(&operations, &access);
    if resource.settings.put_creates {
        let validates =
            |(of, it): &(Operation, Access<T>)| *of == Operation::Replace && it.check.is_some();
        if rules.iter().any(validates) {
            check.issue("put_creates: `Access::check` does not check new items");
        }
    }
    let core = check.core(resource);
    let mistakes = check.mistakes;
    let mut tree = RouteTree::new();
    if let Some(core) = core.filter(|_| mistakes.is_empty()) {
        let core = Arc::new(core);
        let mut item = RouteTree::new();
        for (operation, access) in rules {
            let entry = entry(&core, &name, operation, access, location);
            let method = method(operation);
            if operation.has_item() {
                item = item.method(method, entry);
            } else {
                tree = tree.method(method, entry);
            }
        }
        return tree.segment(&format!(":{}", T::ID), item);
    }
    let mistakes = mistakes.into_iter();
    mistakes.for_each(|mistake| add_mistake(&mut tree, ConfigIssue::new(mistake).at(location)));
    tree
}

fn method(operation: Operation) -> Method {
    match operation {
        Operation::List | Operation::Get => Method::GET,
        Operation::Create => Method::POST,
        Operation::Replace => Method::PUT,
        Operation::Patch => Method::PATCH,
        Operation::Delete => Method::DELETE,
    }
}

/// Creates the route of an operation.
fn entry<T>(
    core: &Arc<Core>,
    name: &str,
    operation: Operation,
    access: Access<T>,
    location: &'static Location<'static>,
) -> RouteEntry {
    let Access { middleware, public, check, .. } = access;
    let handler: Handler = handlers::handler(core, operation, check, public.is_some());
    let placed = middleware.into_iter().map(|mut middleware: Middleware| {
        middleware.note_place(Level::Entry, location);
        middleware
    });
    let does = match operation {
        Operation::List => "Lists",
        Operation::Get => "Reads",
        Operation::Create => "Creates",
        Operation::Replace => "Replaces",
        Operation::Patch => "Changes",
        Operation::Delete => "Deletes",
    };
    let items = if operation == Operation::List { "items" } else { "item" };
    let mut entry = entry_of(handler, location)
        .middleware(placed.collect::<Vec<_>>())
        .docs(RouteDocs::new(format!("{does} {name} {items}")));
    if let Some(accepted) = handlers::accepted(operation) {
        entry = entry.accepts(accepted);
    }
    match public {
        Some(reason) => entry.public(reason),
        None => entry.own_access(),
    }
}

/// The kind of a response with items.
#[derive(Clone, Copy)]
enum ResponseKind {
    Item,
    Page,
    /// A page that may omit items.
    SkippingPage,
}

impl ResponseKind {
    fn page(store: &StoreDoc) -> Self {
        if store.may_skip_rows() { Self::SkippingPage } else { Self::Page }
    }
}

/// The check of a resource.
struct Checker<'n> {
    name: &'n str,
    /// Messages in lower case, without a full stop.
    mistakes: Vec<String>,
}

impl Checker<'_> {
    fn issue(&mut self, message: impl AsRef<str>) {
        self.mistakes.push(format!("resource {:?}: {}", self.name, message.as_ref()));
    }

    /// Returns the enabled operations, each with its access rule.
    fn rules<T: Entity>(
        &mut self,
        operations: &[Operation],
        access: &[(Operation, Access<T>)],
    ) -> Vec<(Operation, Access<T>)> {
        let mut rules = Vec::new();
        for operation in Operation::ALL.into_iter().filter(|it| operations.contains(it)) {
            match access.iter().rev().find(|(of, _)| *of == operation) {
                Some((_, access)) if access.check.is_some() && !operation.has_item() => {
                    self.issue(format!(
                        "{operation} does not have an item for `Access::check`: use a scope"
                    ));
                }
                Some((_, access)) => rules.push((operation, access.clone())),
                None => self.issue(format!(
                    "{operation} does not have an access rule: set one with `read`, `write` or \
                     `allow`, or exclude the operation with `only`"
                )),
            }
        }
        rules
    }

    /// Creates the parts that the request handlers share, if they have no
    /// configuration errors.
    fn core<T: Entity>(&mut self, mut resource: Resource<T>) -> Option<Core> {
        let written = self.compiled(T::rule().for_replies())?;
        let fields = Fields::of(&written.to_json_schema(), T::rule().property_names());
        let marks = Marks::of(&written);
        for mark in [Mark::ReadOnly, Mark::WriteOnly] {
            if let Some(pointer) = marks.ignored(mark) {
                self.issue(format!(
                    "the schema of the item has a mark without effect at `{pointer}`: alternatives \
                     and conditions cannot mark a place, so mark a property of the schema around \
                     them"
                ));
            }
        }
        resource.server_fields.extend(marks.names(Mark::ReadOnly));
        resource.hidden.extend(marks.names(Mark::WriteOnly));
        self.check_names::<T>(&fields, &resource);
        let filters = self.filters(&fields, &resource);
        let sorts = self.sorts(&fields, &resource);
        self.check_hooks(&resource);
        let store = self.check_store(&resource, &filters);

        let read = bounds::within(T::rule(), &self.compiled(T::rule())?, store.integers());
        let create = read.clone().without(&resource.server_fields);
        // The id of an item never changes.
        let change = create.clone().without(&[T::ID]);
        let counts = resource.settings.counts;
        let query = |sort| query_rule(&read, &filters, sort, counts);
        let sort = sort_rule(T::ID, &sorts);
        // Only documentation uses this pattern; validation functions return
        // better messages.
        let told_sort = sort.clone().map(|rule| rule.pattern(&sort_pattern(T::ID, &sorts)));
        let schemas = Schemas {
            params: self.compiled(Rule::object([(T::ID, T::Id::field_rule().required())]))?,
            id: self.compiled(T::Id::field_rule())?,
            query: self.compiled(query(sort))?,
            told_query: self.compiled(query(told_sort).additional_properties(false))?,
            create: self.input(create.viewed(View::Sent), &fields)?,
            patch: self.compiled(change.clone().merge_patch().viewed(View::Change))?,
            change: self.input(change.viewed(View::Sent), &fields)?,
            item: self.answered::<T>(&resource.hidden, ResponseKind::Item)?,
            page: self.answered::<T>(&resource.hidden, ResponseKind::page(&store))?,
        };
        let sorts = self.sort_fields(&fields, T::ID, sorts);
        let parameters = schemas.query.to_json_schema();
        let parameters = parameters.get("properties").and_then(|it| it.as_object());
        let parameters = parameters.into_iter().flatten().map(|(name, _)| name.clone()).collect();
        Some(Core {
            store: resource.store,
            id: T::ID,
            entity: SchemaOf::reply::<T>(),
            schemas,
            canonical: Canonical::of::<T>(),
            filters,
            sorts,
            parameters,
            marked: self.marked::<T>(&resource.server_fields, &resource.hidden)?,
            hidden: resource.hidden,
            scope: resource.scope,
            before: resource.before,
            after: resource.after,
            settings: resource.settings,
        })
    }

    fn compiled(&mut self, rule: Rule) -> Option<Schema> {
        let told = |error: ConfigError| {
            error.issues().iter().for_each(|mistake| self.issue(mistake.to_string()));
        };
        rule.build().map_err(told).ok()
    }

    fn input(&mut self, rule: Rule, all: &Fields) -> Option<Input> {
        let names = rule.property_names();
        let others = all.names().filter(|name| !names.iter().any(|known| known == name));
        let others = others.map(str::to_owned).collect();
        let fields = names.into();
        self.compiled(rule).map(|schema| Input { schema, fields, others })
    }

    /// Finds the marked positions inside the fields. Server fields count as
    /// read-only, and hidden fields as write-only.
    fn marked<T: Entity>(&mut self, server_fields: &[String], hidden: &[String]) -> Option<Marked> {
        let change = |rule: Rule, names: &[String], mark: fn(Rule) -> Rule| {
            names.iter().fold(rule, |rule, name| rule.change_property(name, &mark))
        };
        let rule = change(T::rule(), server_fields, Rule::read_only);
        let rule = change(rule, hidden, Rule::write_only);
        Some(Marked {
            keeps_inside: rule.has_inner_mark(Mark::ReadOnly),
            hides_inside: rule.has_inner_mark(Mark::WriteOnly),
            read: Marks::of(&self.compiled(rule.clone())?),
            written: Marks::of(&self.compiled(rule.for_replies())?),
        })
    }

    fn answered<T: Entity>(&mut self, hidden: &[String], kind: ResponseKind) -> Option<Answered> {
        if hidden.is_empty() && !T::rule().has_inner_mark(Mark::WriteOnly) {
            return Some(Answered::Of(match kind {
                ResponseKind::Item => SchemaOf::reply::<T>(),
                ResponseKind::Page => SchemaOf::reply::<PageOf<T>>(),
                ResponseKind::SkippingPage => SchemaOf::reply::<SkippingPageOf<T>>(),
            }));
        }
        let item = T::rule().without(hidden).viewed(View::Shown);
        let rule = match kind {
            ResponseKind::Item => item,
            ResponseKind::Page => page::rule(item),
            ResponseKind::SkippingPage => page::skipping_rule(item),
        };
        self.compiled(rule.for_replies()).map(Answered::Without)
    }

    /// Returns the field with this name. `by` is the option that refers to it.
    fn field<'f>(&mut self, fields: &'f Fields, name: &str, by: &str) -> Option<&'f Field> {
        let field = fields.find(name);
        // A field that serde does not serialize has a separate configuration
        // error.
        if field.is_none() && !fields.unwritten.iter().any(|known| known == name) {
            let hint = did_you_mean(name, fields.names());
            self.issue(format!("{by}: unknown field `{name}`{hint}"));
        }
        field
    }

    fn check_names<T: Entity>(&mut self, fields: &Fields, resource: &Resource<T>) {
        if fields.all.is_empty() {
            return self.issue("its type is not a struct with named fields");
        }
        for name in &fields.unwritten {
            // PATCH of another field would write null to this field.
            self.issue(format!(
                "serde reads `{name}` but does not write it under this name, so PATCH would lose \
                 it: remove `skip_serializing` or the second name, and use `hidden` to omit it \
                 from responses"
            ));
        }
        if let Some(id) = self.field(fields, T::ID, "`Entity::ID`") {
            if matches!(id.kind, Kind::Boolean | Kind::Other) || id.is_optional {
                self.issue("the id must be a number or a string, and must not be optional");
            }
            if resource.hidden.contains(&id.name) {
                self.issue("the id cannot be hidden, because the path of an item contains it");
            }
        }
        for name in &resource.server_fields {
            self.field(fields, name, "server_fields");
        }
        for name in &resource.hidden {
            self.field(fields, name, "hidden");
        }
    }

    /// Returns the filters, each with the name of its parameter.
    fn filters<T: Entity>(&mut self, fields: &Fields, resource: &Resource<T>) -> Vec<FilterField> {
        let mut filters: Vec<FilterField> = Vec::new();
        for (name, ops) in &resource.filters {
            let Some(field) = self.field(fields, name, "filter") else { continue };
            if resource.hidden.contains(name) {
                self.issue(format!("filter: `{name}` is hidden, but a filter would reveal it"));
            }
            let usual = || {
                let null = field.is_optional.then_some(Op::Null);
                [Op::Eq].into_iter().chain(null).collect()
            };
            for op in ops.clone().unwrap_or_else(usual) {
                if let Some(reason) = cannot_filter(field, op) {
                    self.issue(format!("filter: `{name}` by `{op}`: {reason}"));
                }
                let parameter = match op {
                    Op::Eq => name.clone(),
                    op => format!("{name}[{}]", op.name()),
                };
                if RESERVED.contains(&&*parameter) {
                    self.issue(format!("filter: the parameter name `{parameter}` is reserved"));
                } else if filters.iter().any(|known| known.parameter == parameter) {
                    self.issue(format!("filter: duplicate parameter `{parameter}`"));
                } else {
                    filters.push(FilterField { parameter, field: name.clone(), op });
                }
            }
        }
        filters
    }

    /// Returns the names of the sortable fields.
    fn sorts<T: Entity>(&mut self, fields: &Fields, resource: &Resource<T>) -> Vec<String> {
        for name in &resource.sorts {
            let Some(field) = self.field(fields, name, "sort") else { continue };
            if resource.hidden.contains(name) {
                self.issue(format!("sort: `{name}` is hidden, but an order would reveal it"));
            }
            if field.is_optional {
                self.issue(format!("sort: `{name}` is optional, but null cannot be sorted"));
            }
            if field.kind == Kind::Other {
                self.issue(format!("sort: the values of `{name}` cannot be sorted"));
            }
            if field.is_long {
                self.issue(format!(
                    "sort: `{name}` is too long for a cursor: set `max_length` to at most \
                     {MAX_SORTED}"
                ));
            }
        }
        resource.sorts.clone()
    }

    /// Returns the fields of a sort order, each with the schema of its keys.
    /// The schema checks only the type, because rows may be older than the
    /// other rules.
    fn sort_fields(&mut self, all: &Fields, id: &str, sorts: Vec<String>) -> Vec<SortField> {
        let id = Some(id.to_owned()).filter(|id| !sorts.contains(id));
        let mut fields = Vec::new();
        for field in sorts.into_iter().chain(id) {
            let rule = match all.find(&field).map(|field| field.kind) {
                Some(Kind::Text) => Rule::string(),
                Some(Kind::Number) => Rule::number(),
                Some(Kind::Boolean) => Rule::boolean(),
                // A configuration error was already reported.
                Some(Kind::Other) | None => Rule::any(),
            };
            fields.extend(self.compiled(rule).map(|schema| SortField { field, schema }));
        }
        fields
    }

    fn check_hooks<T: Entity>(&mut self, resource: &Resource<T>) {
        for (operation, _) in &resource.before {
            if !operation.has_draft() {
                self.issue(format!("before: {operation} does not have a draft"));
            }
        }
        if resource.after.iter().any(|(operation, _)| *operation == Operation::Delete) {
            self.issue("after: Delete does not have an item");
        }
    }

    /// Returns the store's description of its support for the resource.
    fn check_store<T: Entity>(
        &mut self,
        resource: &Resource<T>,
        filters: &[FilterField],
    ) -> StoreDoc {
        let mut by_field: Vec<(String, Vec<Op>)> = Vec::new();
        for filter in filters {
            match by_field.iter_mut().find(|(field, _)| *field == filter.field) {
                Some((_, ops)) => ops.push(filter.op),
                None => by_field.push((filter.field.clone(), vec![filter.op])),
            }
        }
        let mut doc = StoreDoc::new(by_field, resource.sorts.clone());
        if resource.scope.is_some() {
            doc = doc.with_scope();
        }
        resource.store.describe(&mut doc);
        doc.issues().iter().for_each(|mistake| self.issue(mistake));
        doc
    }
}
