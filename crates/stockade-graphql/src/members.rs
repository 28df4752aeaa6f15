//! The members of a schema, for route introspection and lock files.

use std::collections::BTreeMap;

use async_graphql::Positioned;
use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{
    FieldDefinition, InputValueDefinition, TypeDefinition, TypeKind, TypeSystemDefinition,
};
use stockade_map::GraphQlInfo;

/// Returns a schema with its members, so lock files can compare each member.
///
/// # Errors
/// Returns an error if async-graphql writes a schema that it cannot parse.
pub(crate) fn schema_fact(sdl: String) -> Result<GraphQlInfo, String> {
    let document = parse_schema(&sdl).map_err(|error| error.to_string())?;
    let mut members = BTreeMap::new();
    for definition in document.definitions {
        if let TypeSystemDefinition::Type(definition) = definition {
            add_type(&mut members, &definition.node);
        }
    }
    Ok(GraphQlInfo::new(sdl, members))
}

type Members = BTreeMap<String, String>;

fn add_type(members: &mut Members, definition: &TypeDefinition) {
    let name = &definition.name.node;
    match &definition.kind {
        TypeKind::Scalar => drop(members.insert(format!("scalar {name}"), String::new())),
        TypeKind::Object(object) => {
            add_fields(members, name, &object.fields);
            for interface in &object.implements {
                members.insert(format!("{name} implements {}", interface.node), String::new());
            }
        }
        TypeKind::Interface(interface) => add_fields(members, name, &interface.fields),
        TypeKind::Union(union) => {
            for member in &union.members {
                members.insert(format!("union {name}.{}", member.node), String::new());
            }
        }
        TypeKind::Enum(values) => {
            for value in &values.values {
                members.insert(format!("enum {name}.{}", value.node.value.node), String::new());
            }
        }
        TypeKind::InputObject(input) => {
            for field in &input.fields {
                let field_name = &field.node.name.node;
                members.insert(format!("input {name}.{field_name}"), type_of(&field.node));
            }
        }
    }
}

fn add_fields(members: &mut Members, name: &str, fields: &[Positioned<FieldDefinition>]) {
    for field in fields {
        let field = &field.node;
        let place = format!("{name}.{}", field.name.node);
        for argument in &field.arguments {
            let argument_name = &argument.node.name.node;
            members.insert(format!("{place}({argument_name})"), type_of(&argument.node));
        }
        members.insert(place, field.ty.node.to_string());
    }
}

/// Returns the type of an input, with its default.
fn type_of(input: &InputValueDefinition) -> String {
    let default = input.default_value.as_ref();
    let default = default.map(|default| format!(" = {}", default.node)).unwrap_or_default();
    format!("{}{default}", input.ty.node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_member_has_its_type() {
        let sdl = r#"
            type Query implements Node & Named { add(a: Int! b: [Int!] = [1]): Int!  pet: Pet }
            interface Node { id: ID! }
            interface Named { name: String }
            union Pet = Dog | Cat
            enum Color { RED GREEN }
            scalar Date
            input Filter { text: String! = "x" or: Filter }
            "A text." directive @any(a: Int) on FIELD
            schema { query: Query }
        "#;
        let fact = schema_fact(sdl.to_owned()).unwrap();
        let expected = [
            ("Named.name", "String"),
            ("Node.id", "ID!"),
            ("Query implements Named", ""),
            ("Query implements Node", ""),
            ("Query.add", "Int!"),
            ("Query.add(a)", "Int!"),
            ("Query.add(b)", "[Int!] = [1]"),
            ("Query.pet", "Pet"),
            ("enum Color.GREEN", ""),
            ("enum Color.RED", ""),
            ("input Filter.or", "Filter"),
            ("input Filter.text", "String! = \"x\""),
            ("scalar Date", ""),
            ("union Pet.Cat", ""),
            ("union Pet.Dog", ""),
        ];
        let members = fact.members.iter().map(|(name, it)| (name.as_str(), it.as_str()));
        assert_eq!(members.collect::<Vec<_>>(), expected);
        assert!(schema_fact("type {".to_owned()).is_err());
    }
}
