//! [`Rule::from_schemars`]: converts schemas of the crate schemars to rules.
//!
//! The type's document is generated as JSON Schema and read here. Known
//! keywords are copied, and `$defs` become definitions. Anything else is a
//! configuration error.
//!
//! - here: the keywords.
//! - `union`: the schemas of `Option` and of enums.

mod union;

use std::panic::Location;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use stockade_errors::ConfigError;

use crate::build::is_standard;
use crate::inner::{InnerRule, Key, Reference};
use crate::rule::{Additional, Rule};
use crate::schema::Schema;

impl Schema {
    /// Returns the schema of a type that derives `schemars::JsonSchema`.
    ///
    /// ```
    /// use schemars::JsonSchema;
    /// use serde_json::json;
    /// use stockade_validation::{Schema, ValidationOptions};
    ///
    /// #[derive(JsonSchema)]
    /// struct User {
    ///     #[schemars(length(min = 2))]
    ///     name: String,
    ///     age: Option<u8>,
    /// }
    ///
    /// let schema = Schema::from_schemars::<User>()?;
    /// let data = json!({ "name": "A", "age": 300 });
    /// let errors = schema.check(&data, &ValidationOptions::new())?;
    /// let fields: Vec<_> = errors.iter().map(|error| error.field.as_str()).collect();
    /// assert_eq!(fields, ["name", "age"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the type uses a keyword that [`Rule`] does not support. The
    /// error lists every occurrence with its path, and the file and line of
    /// this call.
    #[track_caller]
    pub fn from_schemars<T: JsonSchema>() -> Result<Self, ConfigError> {
        Rule::from_schemars::<T>().build()
    }
}

impl Rule {
    /// Returns the rule of a type that derives `schemars::JsonSchema`; see
    /// [`Schema::from_schemars`].
    #[track_caller]
    pub fn from_schemars<T: JsonSchema>() -> Self {
        let generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
        let schema = generator.into_root_schema_for::<T>().to_value();
        read_document(schema, Location::caller())
    }
}

/// Reads a whole document.
fn read_document(schema: Value, location: &'static Location<'static>) -> Rule {
    let document = Document { root: Arc::new(schema), location };
    document.read(&document.root)
}

/// A document that rules refer to.
#[derive(Clone)]
struct Document {
    root: Arc<Value>,
    location: &'static Location<'static>,
}

impl Document {
    fn read(&self, schema: &Value) -> Rule {
        match schema {
            Value::Bool(flag) => Rule { boolean: Some(*flag), ..self.any() },
            Value::Object(map) => self.read_object(map),
            _ => self.issue("a schema must be an object or a boolean"),
        }
    }

    fn read_object(&self, map: &Map<String, Value>) -> Rule {
        if let Some(rule) = union::read(self, map) {
            return rule;
        }
        let mut rule = self.any();
        if let Some(Value::Array(elements)) = map.get("prefixItems") {
            let elements = elements.iter().map(|element| self.read(element)).collect();
            rule.inner = Some(InnerRule::Tuple(elements));
        }
        for (keyword, value) in map {
            self.keyword(&mut rule, keyword, value, map);
        }
        rule
    }

    fn keyword(&self, rule: &mut Rule, keyword: &str, value: &Value, map: &Map<String, Value>) {
        match (keyword, value) {
            // Read together with other keywords.
            ("$schema" | "$defs" | "prefixItems", _) => {}
            // No elements follow the positions of a tuple.
            ("items", _) if map.contains_key("prefixItems") => {}
            ("$ref", Value::String(pointer)) => self.reference(rule, pointer),
            ("items", _) => rule.items = Some(Box::new(self.read(value))),
            ("properties", Value::Object(properties)) => {
                let properties = properties.iter();
                let read = properties.map(|(name, schema)| (name.clone(), self.read(schema)));
                rule.properties = Some(read.collect());
            }
            ("additionalProperties", Value::Bool(flag)) => {
                rule.additional = Some(Additional::Allowed(*flag));
            }
            ("additionalProperties", _) => {
                rule.additional = Some(Additional::from(self.read(value)));
            }
            ("format", Value::String(format)) => number_format(rule, format, map),
            (name, _) if name.starts_with("x-") => {}
            _ if rule.read_part(keyword, value, &|_, value| self.read(value)) => {}
            (name, _) if is_standard(name) => {
                rule.keywords.entry(name).or_insert_with(|| value.clone());
            }
            (name, _) => {
                let message = format!("JSON Schema keyword `{name}` is not supported");
                rule.mistakes.push(message);
            }
        }
    }

    /// Reads a reference. Properties next to it are added to it.
    fn reference(&self, rule: &mut Rule, pointer: &str) {
        let Some(reference) = self.find(pointer) else {
            rule.mistakes.push(format!("`$ref` {pointer:?} does not exist"));
            return;
        };
        rule.inner = Some(InnerRule::Reference(reference));
    }

    fn find(&self, pointer: &str) -> Option<Reference> {
        let path = pointer.strip_prefix('#')?;
        self.root.pointer(path)?;
        let name = path.rsplit('/').next().filter(|name| !name.is_empty());
        let title = self.root.get("title").and_then(Value::as_str).unwrap_or("Root");
        let name = name.unwrap_or(title).to_owned();
        // The address identifies the document; the reference keeps it alive.
        let address = Arc::as_ptr(&self.root) as usize;
        let key = Key::Document(address, pointer.to_owned());
        let (document, path) = (self.clone(), path.to_owned());
        Some(Reference::new(key, name, move || match document.root.pointer(&path) {
            Some(schema) => document.read(schema),
            None => document.any(),
        }))
    }

    fn any(&self) -> Rule {
        Rule::at(self.location)
    }

    fn issue(&self, message: impl Into<String>) -> Rule {
        Rule { mistakes: vec![message.into()], ..self.any() }
    }
}

/// Converts number formats to bounds or ignores them. Other formats are left to
/// the compiler, which knows the supported ones.
fn number_format(rule: &mut Rule, format: &str, map: &Map<String, Value>) {
    let bounds: (i64, i64) = match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "int" | "int64" | "int128" | "uint" | "uint64" | "uint128" | "float" | "double" => return,
        text => {
            rule.keywords.insert("format".to_owned(), text.into());
            return;
        }
    };
    for (keyword, other, bound) in
        [("minimum", "exclusiveMinimum", bounds.0), ("maximum", "exclusiveMaximum", bounds.1)]
    {
        if !map.contains_key(keyword) && !map.contains_key(other) {
            rule.keywords.insert(keyword.to_owned(), bound.into());
        }
    }
}
