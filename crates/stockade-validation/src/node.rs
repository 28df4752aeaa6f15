//! What a schema is compiled to: a tree of nodes with everything looked up,
//! parsed and sorted beforehand.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use crate::data::{Data, Kind};
use crate::equal::equal;
use crate::format::{Format, TextType};
use crate::function::{Custom, Default, Transform};
use crate::number::{Num, shown};
use crate::pattern::Pattern;
use crate::plan::{Plan, same};

/// A compiled schema: the rule of the whole, and what rules refer to.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) root: Node,
    /// The places that [`Inner::Definition`] holds.
    pub(crate) definitions: Box<[Definition]>,
    /// Whether data must be parsed before it is judged: there is a `transform`
    /// or a `custom`, or a rule compares whole containers at any depth.
    pub(crate) wants_parsed: bool,
}

/// A rule with a name.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Unique among the definitions of a schema.
    pub(crate) name: String,
    pub(crate) node: Node,
}

/// What a value has to be beside the keywords of its node.
#[derive(Debug)]
pub(crate) enum Inner {
    /// What the definition at this place says.
    Definition(usize),
    /// An object of the kind that its tag names.
    Tagged(Tagged),
    /// The name of a variant, or an object with this one key.
    Variants(Variants),
    /// An array with a rule for each place.
    Tuple(Box<[Node]>),
}

#[derive(Debug)]
pub(crate) struct Tagged {
    pub(crate) tag: Box<str>,
    /// Rules of the whole object, which list the tag.
    pub(crate) variants: Box<[(Box<str>, Node)]>,
    /// `Must be one of: …`.
    pub(crate) message: String,
}

#[derive(Debug)]
pub(crate) struct Variants {
    /// `None` is a variant without content.
    pub(crate) variants: Box<[(Box<str>, Option<Node>)]>,
    /// `Must be one of: …`.
    pub(crate) message: String,
}

/// One compiled rule.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a keyword of its own")]
pub(crate) struct Node {
    pub(crate) types: Types,
    /// `required: true`; false when there is a default, which excuses it.
    pub(crate) required: bool,
    /// `nullable`, for which every check is skipped.
    pub(crate) nullable: bool,
    pub(crate) trim: bool,
    /// The schema `false`.
    pub(crate) never: bool,
    pub(crate) literals: Option<Box<Literals>>,
    pub(crate) text: Option<Box<TextRules>>,
    pub(crate) number: Option<Box<NumberRules>>,
    /// `min` and `max`.
    pub(crate) size: Option<Box<Size>>,
    pub(crate) array: Option<Box<ArrayRules>>,
    pub(crate) object: Option<Box<ObjectRules>>,
    pub(crate) inner: Option<Box<Inner>>,
    pub(crate) transform: Option<Transform>,
    pub(crate) custom: Option<Custom>,
    pub(crate) default: Option<Default>,
    pub(crate) message: Option<Box<str>>,
    pub(crate) scalars: Scalars,
    /// Words for documents.
    pub(crate) notes: Map<String, Value>,
}

impl Node {
    /// Whether any value passes unchanged.
    pub(crate) fn is_any(&self) -> bool {
        !self.required && self.inner.is_none() && !self.has_keywords()
    }

    /// Whether it says nothing about a value that is there beside its `inner`.
    pub(crate) fn only_refers(&self) -> bool {
        !self.has_keywords()
    }

    /// True if it asks something of its value, lets objects through, and says
    /// nothing of their keys. A function asks for itself.
    pub(crate) fn takes_bare_objects(&self) -> bool {
        let asks_of_others = self.trim
            || self.text.is_some()
            || self.number.is_some()
            || self.size.is_some()
            || self.array.is_some();
        let takes_objects =
            if self.types.given() { self.types.has(kind::OBJECT) } else { asks_of_others };
        let says_more = self.never || self.inner.is_some() || self.literals.is_some();
        takes_objects && self.object.is_none() && !says_more
    }

    fn has_keywords(&self) -> bool {
        self.types.given()
            || self.trim
            || self.never
            || self.literals.is_some()
            || self.text.is_some()
            || self.number.is_some()
            || self.size.is_some()
            || self.array.is_some()
            || self.object.is_some()
            || self.transform.is_some()
            || self.custom.is_some()
    }
}

/// What says of most scalars that are right that they are, and stay as they
/// are.
#[derive(Debug, Default)]
pub(crate) enum Scalars {
    /// Nothing does.
    #[default]
    Unsaid,
    Plan(Box<Plan>),
    /// The node says nothing beside the definition at this place.
    Definition(usize),
}

impl Scalars {
    pub(crate) fn of(node: &Node) -> Self {
        match node.inner.as_deref() {
            Some(Inner::Definition(place)) if node.only_refers() => Self::Definition(*place),
            _ => Plan::of_flat(node).map_or(Self::Unsaid, |plan| Self::Plan(Box::new(plan))),
        }
    }

    pub(crate) fn plan(&self) -> Option<&Plan> {
        match self {
            Self::Plan(plan) => Some(plan),
            Self::Unsaid | Self::Definition(_) => None,
        }
    }
}

/// The keyword `type`.
#[derive(Debug, Default)]
pub(crate) struct Types {
    /// Bits of [`kind`]; 0 with no formats when no type is given.
    pub(crate) mask: u8,
    /// The string formats used as types.
    pub(crate) formats: Box<[TextType]>,
    /// `<a or b>` of the message.
    pub(crate) expected: Box<str>,
}

impl Types {
    pub(crate) fn given(&self) -> bool {
        self.mask != 0 || !self.formats.is_empty()
    }

    pub(crate) fn has(&self, kind: u8) -> bool {
        self.mask & kind != 0
    }

    /// The string format that is the only type.
    pub(crate) fn only_format(&self) -> Option<TextType> {
        match &*self.formats {
            [format] if self.mask == 0 => Some(*format),
            _ => None,
        }
    }

    /// Whether some string is allowed.
    pub(crate) fn take_text(&self) -> bool {
        !self.given() || self.has(kind::STRING) || !self.formats.is_empty()
    }
}

pub(crate) mod kind {
    pub(crate) const STRING: u8 = 1;
    pub(crate) const NUMBER: u8 = 1 << 1;
    pub(crate) const INTEGER: u8 = 1 << 2;
    pub(crate) const BOOLEAN: u8 = 1 << 3;
    pub(crate) const ARRAY: u8 = 1 << 4;
    pub(crate) const OBJECT: u8 = 1 << 5;
    pub(crate) const NULL: u8 = 1 << 6;

    /// The types of JSON, in the order of the specification.
    pub(crate) const NAMES: [(&str, u8); 7] = [
        ("string", STRING),
        ("number", NUMBER),
        ("boolean", BOOLEAN),
        ("object", OBJECT),
        ("array", ARRAY),
        ("integer", INTEGER),
        ("null", NULL),
    ];
}

/// `enum` and `const`.
#[derive(Debug)]
pub(crate) struct Literals {
    pub(crate) one_of: Option<OneOf>,
    pub(crate) constant: Option<(Value, String)>,
}

impl Literals {
    /// Whether an array or an object is among them.
    pub(crate) fn has_containers(&self) -> bool {
        let listed = self.one_of.iter().flat_map(|one_of| &one_of.values);
        let constant = self.constant.iter().map(|(constant, _)| constant);
        listed.chain(constant).any(|value| value.is_array() || value.is_object())
    }
}

/// The values of an `enum`, in a form for searching.
#[derive(Debug)]
pub(crate) struct OneOf {
    /// As given, for documents.
    pub(crate) values: Vec<Value>,
    /// Sorted.
    texts: Box<[Box<str>]>,
    /// Sorted.
    numbers: Box<[Num]>,
    others: Box<[Value]>,
    /// `Must be one of: …`.
    pub(crate) message: String,
}

impl OneOf {
    pub(crate) fn new(values: Vec<Value>) -> Self {
        let mut texts = Vec::new();
        let mut numbers = Vec::new();
        let mut others = Vec::new();
        for value in &values {
            match value {
                Value::String(text) => texts.push(text.as_str().into()),
                Value::Number(number) => numbers.push(Num::of(number)),
                other => others.push(other.clone()),
            }
        }
        texts.sort_unstable();
        numbers.sort_unstable_by(|left, right| left.compare(*right));
        let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
        Self {
            message: format!("Must be one of: {}", shown.join(", ")),
            values,
            texts: texts.into(),
            numbers: numbers.into(),
            others: others.into(),
        }
    }

    pub(crate) fn contains<'d>(&self, data: impl Data<'d>) -> bool {
        match data.kind() {
            Kind::Text(text) => self.texts.binary_search_by(|known| (**known).cmp(text)).is_ok(),
            Kind::Number(number) => {
                let num = Num::of(number);
                self.numbers.binary_search_by(|known| known.compare(num)).is_ok()
            }
            Kind::Null | Kind::Bool(_) | Kind::Array(_) | Kind::Object(_) => {
                !self.others.is_empty() && {
                    let value = data.to_value();
                    self.others.iter().any(|known| equal(known, &value))
                }
            }
        }
    }
}

/// Keywords for strings.
#[derive(Debug, Default)]
pub(crate) struct TextRules {
    pub(crate) min_length: Option<usize>,
    pub(crate) max_length: Option<usize>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) format: Option<Format>,
}

/// Keywords for numbers.
#[derive(Debug, Default)]
pub(crate) struct NumberRules {
    pub(crate) minimum: Option<Bound>,
    pub(crate) maximum: Option<Bound>,
    pub(crate) exclusive_minimum: Option<Bound>,
    pub(crate) exclusive_maximum: Option<Bound>,
}

/// `min` and `max`.
#[derive(Debug, Default)]
pub(crate) struct Size {
    pub(crate) min: Option<Bound>,
    pub(crate) max: Option<Bound>,
}

/// A bound, as given and as compared.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) number: Number,
    num: Num,
    /// As a message shows it.
    shown: Box<str>,
}

impl Bound {
    pub(crate) fn new(number: &Number) -> Self {
        let shown = shown(number).to_string().into();
        Self { number: number.clone(), num: Num::of(number), shown }
    }

    /// Where the bound lies, seen from `value`.
    pub(crate) fn seen_from(&self, value: Num) -> Ordering {
        value.compare(self.num)
    }

    pub(crate) fn num(&self) -> Num {
        self.num
    }

    /// As a message shows it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }
}

/// Keywords for arrays.
#[derive(Debug, Default)]
pub(crate) struct ArrayRules {
    pub(crate) min_items: Option<usize>,
    pub(crate) max_items: Option<usize>,
    pub(crate) unique: bool,
    pub(crate) items: Option<Node>,
}

/// Keywords for objects.
#[derive(Debug, Default)]
pub(crate) struct ObjectRules {
    /// Whether `properties` is there, even if it is empty.
    pub(crate) lists_properties: bool,
    /// In schema order.
    pub(crate) properties: Vec<Property>,
    /// Indices of `properties`, by length of the name, then by name.
    pub(crate) by_name: Box<[usize]>,
    /// The list form of `required`.
    pub(crate) required: Vec<RequiredName>,
    pub(crate) additional: AdditionalRule,
    pub(crate) min_properties: Option<usize>,
    pub(crate) max_properties: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: Box<str>,
    pub(crate) node: Node,
    /// Whether the list form of `required` reports its absence already.
    pub(crate) in_required_list: bool,
}

/// A name of the list form of `required`.
#[derive(Debug)]
pub(crate) struct RequiredName {
    pub(crate) name: Box<str>,
    /// Its place in `properties`.
    pub(crate) index: Option<usize>,
    /// It has a default.
    pub(crate) excused: bool,
}

/// The keyword `additionalProperties`.
#[derive(Debug, Default)]
pub(crate) enum AdditionalRule {
    /// The keyword is not there.
    #[default]
    Unsaid,
    Allowed,
    Refused,
    Node(Box<Node>),
}

impl ObjectRules {
    /// The place of a property, by its name.
    ///
    /// `hint` is where it is expected: properties mostly come in schema order,
    /// perhaps without one that may be left out.
    #[inline]
    pub(crate) fn find(&self, name: &str, hint: usize) -> Option<usize> {
        if self.properties.get(hint).is_some_and(|property| same(&property.name, name)) {
            return Some(hint);
        }
        self.search(name, hint + 1)
    }

    fn search(&self, name: &str, hint: usize) -> Option<usize> {
        if self.properties.get(hint).is_some_and(|property| same(&property.name, name)) {
            return Some(hint);
        }
        let order = |index: &usize| {
            let known: &str = &self.properties[*index].name;
            known.len().cmp(&name.len()).then_with(|| known.cmp(name))
        };
        self.by_name.binary_search_by(order).ok().map(|place| self.by_name[place])
    }
}
