//! The fields of a GraphQL schema as operations.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use stockade_routing::map::GraphQlInfo;

use super::names::{is_reference, noun_of};
use super::operation::Member;

/// A field of the query or the mutation type, with its document.
#[derive(Clone, Debug)]
pub(super) struct GraphQlField {
    pub(super) name: String,
    /// True for a field of the query type.
    pub(super) is_query: bool,
    /// The document. Each argument is a variable with the same name.
    pub(super) document: String,
    /// Samples of the required arguments.
    pub(super) variables: Map<String, Value>,
    pub(super) arguments: Vec<Member>,
}

/// Returns the fields of the query and the mutation type.
pub(super) fn fields(info: &GraphQlInfo) -> Vec<GraphQlField> {
    let schema = Schema { members: &info.members };
    let roots = [("query", "Query"), ("mutation", "Mutation")];
    let fields = roots.into_iter().flat_map(|(kind, name)| {
        let root = declared_root(&info.sdl, kind).unwrap_or(name).to_owned();
        let fields = schema.fields(&root);
        fields.into_iter().map(move |(name, of_type)| schema.root_field(kind, &root, name, of_type))
    });
    fields.collect()
}

/// Returns the type of a root operation in `schema { query: Query }`.
fn declared_root<'s>(sdl: &'s str, kind: &str) -> Option<&'s str> {
    let (_, block) = sdl.split_once("schema {")?;
    let (block, _) = block.split_once('}')?;
    let line = block.lines().find_map(|line| line.trim().strip_prefix(kind)?.strip_prefix(':'));
    line.map(str::trim)
}

/// The members of a schema, as in [`GraphQlInfo::members`].
#[derive(Clone, Copy)]
struct Schema<'m> {
    members: &'m BTreeMap<String, String>,
}

impl<'m> Schema<'m> {
    /// Returns the members whose name begins with this text, without it.
    fn after(self, start: &str) -> Vec<(&'m str, &'m str)> {
        let length = start.len();
        let range = self.members.range(start.to_owned()..);
        let found = range.take_while(|(name, _)| name.starts_with(start));
        found.filter_map(|(name, of_type)| Some((name.get(length..)?, of_type.as_str()))).collect()
    }

    fn fields(self, of_type: &str) -> Vec<(&'m str, &'m str)> {
        let all = self.after(&format!("{of_type}."));
        all.into_iter().filter(|(name, _)| !name.contains('(')).collect()
    }

    fn arguments(self, of_type: &str, field: &str) -> Vec<(&'m str, &'m str)> {
        let all = self.after(&format!("{of_type}.{field}("));
        all.into_iter().map(|(name, of_type)| (name.trim_end_matches(')'), of_type)).collect()
    }

    fn inputs(self, of_type: &str) -> Vec<(&'m str, &'m str)> {
        self.after(&format!("input {of_type}."))
    }

    fn root_field(self, kind: &str, root: &str, name: &str, of_type: &str) -> GraphQlField {
        let arguments = self.arguments(root, name);
        let declared = arguments.iter().map(|(name, of_type)| format!("${name}: {of_type}"));
        let passed = arguments.iter().map(|(name, _)| format!("{name}: ${name}"));
        let in_parentheses = |texts: Vec<String>| match texts.is_empty() {
            true => String::new(),
            false => format!("({})", texts.join(", ")),
        };
        let selection = self.selection(named(of_type), &mut Vec::new());
        let document = format!(
            "{kind} Probe{} {{ {name}{}{selection} }}",
            in_parentheses(declared.collect()),
            in_parentheses(passed.collect()),
        );
        let required = arguments.iter().filter(|(_, of_type)| is_required(of_type));
        let samples = required
            .filter_map(|(name, of_type)| Some(((*name).to_owned(), self.sample(of_type, 0)?)));
        GraphQlField {
            name: name.to_owned(),
            is_query: kind == "query",
            document,
            variables: samples.collect(),
            arguments: self.members(&arguments, &[]),
        }
    }

    /// Returns the fields of a type that have no required argument. Empty for a
    /// scalar. `path` has the types around it, which are not selected again.
    fn selection(self, of_type: &'m str, path: &mut Vec<&'m str>) -> String {
        let variants = self.after(&format!("union {of_type}."));
        path.push(of_type);
        let mut parts: Vec<String> = Vec::new();
        for (variant, _) in &variants {
            parts.push(format!("... on {variant}{}", self.selection(variant, path)));
        }
        for (name, field_type) in self.fields(of_type) {
            let inner = named(field_type);
            let mut arguments = self.arguments(of_type, name).into_iter();
            let is_object = self.is_object(inner);
            let is_deep = is_object && (path.contains(&inner) || path.len() >= MAX_DEPTH);
            if arguments.any(|(_, of_type)| is_required(of_type)) || is_deep {
                continue;
            }
            let below = if is_object { self.selection(inner, path) } else { String::new() };
            parts.push(format!("{name}{below}"));
        }
        path.pop();
        if !self.is_object(of_type) {
            return String::new();
        }
        if parts.is_empty() || !variants.is_empty() {
            parts.push("__typename".to_owned());
        }
        format!(" {{ {} }}", parts.join(" "))
    }

    /// Returns true for objects, interfaces and unions.
    fn is_object(self, of_type: &str) -> bool {
        let starts = [format!("{of_type}."), format!("union {of_type}.")];
        starts.into_iter().any(|start| !self.after(&start).is_empty())
    }

    /// Returns a value of an input type; `None` for an unknown scalar.
    fn sample(self, of_type: &str, depth: usize) -> Option<Value> {
        let of_type = of_type.split(" = ").next().unwrap_or(of_type);
        let of_type = of_type.strip_suffix('!').unwrap_or(of_type);
        if let Some(item) = of_type.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return Some(Value::Array(vec![self.sample(item, depth)?]));
        }
        let inputs = self.inputs(of_type);
        if !inputs.is_empty() && depth < MAX_DEPTH {
            let required = inputs.into_iter().filter(|(_, of_type)| is_required(of_type));
            let members = required.filter_map(|(name, of_type)| {
                Some((name.to_owned(), self.sample(of_type, depth + 1)?))
            });
            return Some(Value::Object(members.collect()));
        }
        let values = self.after(&format!("enum {of_type}."));
        if let Some((value, _)) = values.first() {
            return Some((*value).into());
        }
        Some(match of_type {
            "Int" => json!(1),
            "Float" => json!(1.5),
            "Boolean" => json!(true),
            "ID" => json!("1"),
            "DateTime" => json!("2026-01-01T00:00:00Z"),
            "Date" | "NaiveDate" => json!("2026-01-01"),
            "UUID" | "Uuid" => json!("00000000-0000-4000-8000-000000000000"),
            "Upload" => return None,
            _ => json!("text"),
        })
    }

    /// Returns the members of arguments and of their input types.
    fn members(self, inputs: &[(&str, &str)], parents: &[String]) -> Vec<Member> {
        let mut found = Vec::new();
        for (name, of_type) in inputs {
            let inner = named(of_type);
            let nested = self.inputs(inner);
            if nested.is_empty() {
                found.push(Member {
                    parents: parents.to_vec(),
                    name: (*name).to_owned(),
                    schema: self.schema_of(name, inner),
                    is_required: is_required(of_type),
                    noun: match parents.last() {
                        Some(parent) if *name == "id" => noun_of(parent),
                        _ => noun_of(name),
                    },
                    is_list: of_type.starts_with('['),
                });
            } else if parents.len() < MAX_DEPTH {
                let parents = [parents, &[(*name).to_owned()]].concat();
                found.extend(self.members(&nested, &parents));
            }
        }
        found
    }

    /// Returns the JSON Schema of a scalar or an enum.
    fn schema_of(self, name: &str, of_type: &str) -> Map<String, Value> {
        let is_id = name == "id" || is_reference(name);
        let schema = match of_type {
            "Int" => json!({ "type": "integer" }),
            "Float" => json!({ "type": "number" }),
            "ID" | "String" => json!({ "type": "string" }),
            "UUID" | "Uuid" => json!({ "type": "string", "format": "uuid" }),
            _ if is_id => json!({ "type": "string" }),
            _ => json!({}),
        };
        let values = self.after(&format!("enum {of_type}."));
        let schema = match values.is_empty() {
            true => schema,
            false => json!({ "enum": values.iter().map(|(name, _)| *name).collect::<Vec<_>>() }),
        };
        schema.as_object().cloned().unwrap_or_default()
    }
}

/// Returns the name in a type, such as `Issue` for `[Issue!]!`.
fn named(of_type: &str) -> &str {
    let of_type = of_type.split(" = ").next().unwrap_or(of_type);
    of_type.trim_matches(|character| matches!(character, '[' | ']' | '!'))
}

/// Returns true if an argument of this type must be passed.
fn is_required(of_type: &str) -> bool {
    of_type.ends_with('!')
}

/// The maximum depth of selected objects, and of input objects.
const MAX_DEPTH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(lines: &[(&str, &str)]) -> GraphQlInfo {
        let members = lines.iter().map(|(name, of_type)| ((*name).into(), (*of_type).into()));
        GraphQlInfo::new("schema {\n\tquery: Root\n\tmutation: Mutation\n}", members.collect())
    }

    #[test]
    fn fields_have_documents_with_variables() {
        let info = schema(&[
            ("Root.issue", "Issue"),
            ("Root.issue(id)", "ID!"),
            ("Root.issues", "[Issue!]!"),
            ("Root.issues(first)", "Int = 10"),
            ("Issue.id", "ID!"),
            ("Issue.title", "String!"),
            ("Issue.project", "Project!"),
            ("Issue.history", "[String!]!"),
            ("Issue.history(year)", "Int!"),
            ("Project.id", "ID!"),
            ("Project.issues", "[Issue!]!"),
            ("Mutation.open", "Result!"),
            ("Mutation.open(new)", "NewIssue!"),
            ("union Result.Issue", ""),
            ("input NewIssue.projectId", "ID!"),
            ("input NewIssue.kind", "Kind!"),
            ("input NewIssue.tags", "[String!]"),
            ("enum Kind.BUG", ""),
        ]);
        let [issue, issues, open] = &fields(&info)[..] else { panic!() };
        let project = "project { id }";
        let expected =
            format!("query Probe($id: ID!) {{ issue(id: $id) {{ id {project} title }} }}");
        assert_eq!((issue.document.as_str(), issue.is_query), (expected.as_str(), true));
        assert_eq!(Value::Object(issue.variables.clone()), json!({ "id": "1" }));
        assert!(
            issues.document.starts_with("query Probe($first: Int = 10) { issues(first: $first")
        );
        assert!(issues.variables.is_empty());
        let expected = format!(
            "mutation Probe($new: NewIssue!) {{ open(new: $new) {{ ... on Issue {{ id {project} \
             title }} __typename }} }}"
        );
        assert_eq!(open.document, expected);
        let new = json!({ "new": { "projectId": "1", "kind": "BUG" } });
        assert_eq!(Value::Object(open.variables.clone()), new);
        let paths: Vec<String> = open.arguments.iter().map(Member::path).collect();
        assert_eq!(paths, ["new.kind", "new.projectId", "new.tags"]);
        assert!(open.arguments[1].is_required && open.arguments[2].is_list);
        assert_eq!(open.arguments[1].noun, "project");
    }
}
