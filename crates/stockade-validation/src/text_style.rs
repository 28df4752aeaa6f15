//! [`TextStyle`]: the keywords `separator` and `style`, which set the
//! representation of lists and objects in a query string.

use serde_json::{Map, Value};

use crate::Schema;
use crate::node::{Compiled, Inner, Node, ObjectRules, Property, kind};

/// The representation of a property's value in a query string.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TextStyle {
    /// One text with a character between the elements: `ids=1,2`.
    Separated(Separator),
    /// A pair for each property of the object: `filter[state]=open`.
    DeepObject,
}

/// The character between the elements of a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Separator {
    /// `,`, but not `%2C`.
    Comma,
    /// `|` or `%7C`: URLs contain it only in escaped form (RFC 3986, section
    /// 2).
    Pipe,
    /// `+` or `%20`.
    Space,
}

impl Separator {
    fn of(text: &str) -> Option<Self> {
        match text {
            "," => Some(Self::Comma),
            "|" => Some(Self::Pipe),
            " " => Some(Self::Space),
            _ => None,
        }
    }

    /// Returns the spellings that separate elements in an undecoded text.
    #[must_use]
    pub fn encoded(self) -> &'static [&'static str] {
        match self {
            Self::Comma => &[","],
            Self::Pipe => &["|", "%7C", "%7c"],
            Self::Space => &["+", "%20"],
        }
    }
}

const DEEP_OBJECT: &str = "deepObject";

impl TextStyle {
    /// Returns the style that the keywords of a property set.
    fn of(keywords: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| keywords.get(name).and_then(Value::as_str);
        let separated = || text("separator").and_then(Separator::of).map(Self::Separated);
        let deep = || text("style").filter(|style| *style == DEEP_OBJECT).map(|_| Self::DeepObject);
        separated().or_else(deep)
    }
}

/// Returns true if the keywords set a style.
pub(crate) fn has_style(keywords: &Map<String, Value>) -> bool {
    TextStyle::of(keywords).is_some()
}

/// Returns the reasons why the value of a keyword is invalid.
pub(crate) fn mistakes(keywords: &Map<String, Value>) -> impl Iterator<Item = String> {
    let text = |name: &str| keywords.get(name).and_then(Value::as_str);
    let separator = text("separator").filter(|text| Separator::of(text).is_none());
    let style = text("style").filter(|text| *text != DEEP_OBJECT);
    let separator = separator.map(|text| {
        format!("`separator` is {text:?}: OpenAPI has a style only for `,`, `|` and a space")
    });
    let style = style.map(|text| format!("`style` is {text:?}: the only style is `deepObject`"));
    separator.into_iter().chain(style)
}

impl Schema {
    /// Returns true if a property has a style.
    #[doc(hidden)]
    #[must_use]
    pub fn has_text_styles(&self) -> bool {
        self.compiled().needs.text_styles
    }

    /// Returns the style of a property of the whole value.
    #[doc(hidden)]
    #[must_use]
    pub fn text_style(&self, property: &str) -> Option<TextStyle> {
        let rules = roots(self.compiled());
        let mut found = rules.into_iter().filter_map(|rules| listed(rules, property));
        found.find_map(|property| TextStyle::of(&property.node.keywords))
    }

    /// Returns the reasons why a query string cannot contain the value that the schema
    /// describes. A query string contains texts, lists of texts, and objects with the style
    /// `deepObject`.
    #[doc(hidden)]
    #[must_use]
    pub fn query_mistakes(&self) -> Vec<String> {
        let compiled = self.compiled();
        let properties = roots(compiled).into_iter().flat_map(ObjectRules::properties);
        let mut mistakes: Vec<String> =
            properties.filter_map(|property| mistake(property, compiled)).collect();
        mistakes.dedup();
        mistakes
    }
}

fn listed<'s>(rules: &'s ObjectRules, name: &str) -> Option<&'s Property> {
    rules.find_listed(name, 0).and_then(|index| rules.properties().get(index))
}

fn mistake(property: &Property, compiled: &Compiled) -> Option<String> {
    let name = &property.name;
    let node = property.node.resolved(&compiled.definitions)?;
    let is_deep = TextStyle::of(&property.node.keywords) == Some(TextStyle::DeepObject);
    if !is_deep && takes_only(node, kind::OBJECT) {
        return Some(format!(
            "field `{name}`: a query string cannot contain objects. Add `#[schema(style = \
             \"deepObject\")]` to read `?{name}[key]=value`"
        ));
    }
    if is_deep && !takes_only(node, kind::OBJECT) {
        return Some(format!("field `{name}`: `style` is only for objects"));
    }
    if is_deep {
        let rules = node.object.as_deref()?;
        let nested = rules.properties().iter().find(|inner| is_nested(inner, compiled))?;
        let inner = &nested.name;
        return Some(format!(
            "field `{name}.{inner}`: an object with the style `deepObject` can contain only \
             strings, numbers and booleans"
        ));
    }
    let items = node.array.as_deref().and_then(|rules| rules.items.as_ref())?;
    let items = items.resolved(&compiled.definitions)?;
    takes_only(items, kind::OBJECT | kind::ARRAY).then(|| {
        format!("field `{name}`: a list in a query string cannot contain objects or lists")
    })
}

fn is_nested(property: &Property, compiled: &Compiled) -> bool {
    let node = property.node.resolved(&compiled.definitions);
    node.is_some_and(|node| takes_only(node, kind::OBJECT | kind::ARRAY))
}

/// Returns true if all values of a rule, except null, are of these kinds.
fn takes_only(node: &Node, kinds: u8) -> bool {
    let mask = node.types.mask & !kind::NULL;
    mask != 0 && mask & !kinds == 0 && node.types.formats.is_empty()
}

/// Returns the rules of the whole object: one, or one for each variant of a
/// union.
fn roots(compiled: &Compiled) -> Vec<&ObjectRules> {
    let mut found = Vec::new();
    let mut nodes = vec![(&compiled.root, 0)];
    while let Some((node, depth)) = nodes.pop() {
        let Some(node) = node.resolved(&compiled.definitions) else { continue };
        found.extend(node.object.as_deref());
        if let Some(Inner::Tagged(tagged)) = node.inner.as_deref()
            && depth <= compiled.definitions.len()
        {
            nodes.extend(tagged.variants.iter().map(|(_, variant)| (variant, depth + 1)));
        }
    }
    found
}
