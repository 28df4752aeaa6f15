//! Generated types with marks at random depths, and their rules and values.

use serde_json::{Map, Value, json};
use stockade::validation::Rule;
use stockade_errors::random::Random;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mark {
    None,
    ReadOnly,
    WriteOnly,
}

impl Mark {
    fn random(random: &mut Random) -> Self {
        [Self::None, Self::None, Self::ReadOnly, Self::WriteOnly][random.index(4)]
    }

    fn on(self, rule: Rule) -> Rule {
        match self {
            Self::None => rule,
            Self::ReadOnly => rule.read_only(),
            Self::WriteOnly => rule.write_only(),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Shape {
    Text,
    Object(Vec<Prop>),
    List(Box<Shape>),
    /// A map from strings to values with a mark.
    Map(Box<Shape>, Mark),
    /// A string, and an element with a mark.
    Pair(Box<Shape>, Mark),
    Tagged(Vec<Vec<Prop>>),
    Content(Vec<Shape>),
    /// Variants named by their key, each with a mark for its content.
    Variants(Vec<(Shape, Mark)>),
    /// [`super::Branch`], which contains itself.
    Branch,
}

/// A property. The first property of each object is a string without a mark, so
/// every list element has a unique value.
#[derive(Clone, Debug)]
pub struct Prop {
    pub name: &'static str,
    pub shape: Shape,
    pub mark: Mark,
    pub is_required: bool,
    pub is_flattened: bool,
}

const NAMES: [&str; 5] = ["name", "a", "b", "c", "d"];

impl Prop {
    fn new(name: &'static str, shape: Shape, mark: Mark) -> Self {
        Self { name, shape, mark, is_required: false, is_flattened: false }
    }
}

/// Returns the properties of [`super::Branch`].
pub fn branch() -> Vec<Prop> {
    let mut name = Prop::new("name", Shape::Text, Mark::None);
    name.is_required = true;
    vec![
        name,
        Prop::new("role", Shape::Text, Mark::ReadOnly),
        Prop::new("key", Shape::Text, Mark::WriteOnly),
        Prop::new("below", Shape::List(Box::new(Shape::Branch)), Mark::None),
    ]
}

impl Shape {
    /// Creates an object.
    pub fn object(random: &mut Random, depth: usize, is_in_list: bool) -> Self {
        Self::Object(props(random, depth, is_in_list))
    }

    fn random(random: &mut Random, depth: usize, is_in_list: bool) -> Self {
        if depth == 0 {
            return Self::Text;
        }
        // In a list, marked places without an unmarked string are ambiguous.
        let mark = |random: &mut Random| {
            let mark = Mark::random(random);
            if is_in_list { Mark::None } else { mark }
        };
        let part = |random: &mut Random| Self::random(random, depth - 1, is_in_list);
        match random.index(12) {
            0 => Self::Text,
            1 | 2 => Self::List(Box::new(Self::random(random, depth - 1, true))),
            3 => Self::Map(Box::new(part(random)), mark(random)),
            4 => Self::Pair(Box::new(part(random)), Mark::random(random)),
            5 => Self::Tagged((0..2).map(|_| props(random, depth - 1, is_in_list)).collect()),
            6 => Self::Content(vec![part(random), Self::Text]),
            7 => Self::Variants(vec![(part(random), mark(random)), (Self::Text, mark(random))]),
            8 => Self::Branch,
            _ => Self::object(random, depth - 1, is_in_list),
        }
    }

    pub fn rule(&self) -> Rule {
        match self {
            Self::Text => Rule::string(),
            Self::Object(props) => object(props),
            Self::List(element) => Rule::array(element.rule()),
            Self::Map(value, mark) => {
                Rule::object::<String>([]).additional_properties(mark.on(value.rule()))
            }
            Self::Pair(part, mark) => {
                Rule::tuple([Rule::string(), mark.on(part.rule()).nullable()])
            }
            Self::Tagged(kinds) => {
                let kinds = kinds.iter().enumerate();
                Rule::tagged("kind", kinds.map(|(at, props)| (NAMES[at], object(props))))
            }
            Self::Content(kinds) => {
                let kinds = kinds.iter().enumerate();
                let kinds = kinds.map(|(at, kind)| (NAMES[at], Some(kind.rule())));
                Rule::tagged_content("kind", "content", kinds)
            }
            Self::Variants(kinds) => {
                let kinds = kinds.iter().enumerate();
                let kinds = kinds
                    .map(|(at, (kind, mark))| (NAMES[at], Some(mark.on(kind.rule()).nullable())));
                Rule::variants(kinds)
            }
            Self::Branch => Rule::of::<super::Branch>(),
        }
    }

    /// Creates a value with all places, marked or not.
    pub fn value(&self, random: &mut Random, texts: &mut u32, depth: usize) -> Value {
        let below = depth.saturating_sub(1);
        match self {
            Self::Text => {
                *texts += 1;
                json!(format!("text {texts}"))
            }
            Self::Object(props) => object_value(props, random, texts, depth),
            Self::Branch => object_value(&branch(), random, texts, depth),
            Self::List(element) => {
                let count = if depth == 0 { 0 } else { random.index(4) };
                (0..count).map(|_| element.value(random, texts, below)).collect()
            }
            Self::Map(value, _) => {
                let mut members = Map::new();
                for key in ["k", "l", "m"] {
                    if random.one_in(2) {
                        members.insert(key.to_owned(), value.value(random, texts, below));
                    }
                }
                Value::Object(members)
            }
            Self::Pair(part, _) => {
                let text = Self::Text.value(random, texts, below);
                json!([text, part.value(random, texts, below)])
            }
            Self::Tagged(kinds) => {
                let at = random.index(kinds.len());
                let mut value = object_value(&kinds[at], random, texts, depth);
                value["kind"] = json!(NAMES[at]);
                value
            }
            Self::Content(kinds) => {
                let at = random.index(kinds.len());
                json!({ "kind": NAMES[at], "content": kinds[at].value(random, texts, below) })
            }
            Self::Variants(kinds) => {
                let at = random.index(kinds.len());
                json!({ NAMES[at]: kinds[at].0.value(random, texts, below) })
            }
        }
    }

    /// Returns the parts of a value: the name or index, the shape and the mark
    /// of each.
    pub fn parts(&self, value: &Value) -> Vec<Part> {
        if value.is_null() {
            // A marked value that cannot be removed.
            return Vec::new();
        }
        let part = |step: &str, shape: &Self, mark, place| Part {
            step: step.to_owned(),
            shape: shape.clone(),
            mark,
            place,
        };
        let of_props = |props: &[Prop]| -> Vec<Part> {
            let there = props.iter().filter(|prop| value.get(prop.name).is_some());
            there
                .map(|prop| {
                    let place = if prop.is_required { Place::Fixed } else { Place::Member };
                    part(prop.name, &prop.shape, prop.mark, place)
                })
                .collect()
        };
        let members = || value.as_object().into_iter().flatten();
        let kind = || NAMES.iter().position(|name| value["kind"] == *name).unwrap();
        match self {
            Self::Text => Vec::new(),
            Self::Object(props) => of_props(props),
            Self::Branch => of_props(&branch()),
            Self::Tagged(kinds) => of_props(&kinds[kind()]),
            Self::List(element) => (0..value.as_array().unwrap().len())
                .map(|at| part(&at.to_string(), element, Mark::None, Place::Element))
                .collect(),
            Self::Map(shape, mark) => {
                members().map(|(key, _)| part(key, shape, *mark, Place::Member)).collect()
            }
            Self::Pair(second, mark) => vec![
                part("0", &Self::Text, Mark::None, Place::Fixed),
                part("1", second, *mark, Place::Fixed),
            ],
            Self::Content(kinds) => vec![part("content", &kinds[kind()], Mark::None, Place::Fixed)],
            Self::Variants(kinds) => {
                let (key, _) = members().next().unwrap();
                let at = NAMES.iter().position(|name| key == name).unwrap();
                vec![part(key, &kinds[at].0, kinds[at].1, Place::Fixed)]
            }
        }
    }
}

/// A part of a value.
#[derive(Clone, Debug)]
pub struct Part {
    pub step: String,
    pub shape: Shape,
    pub mark: Mark,
    pub place: Place,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// A member that may be absent.
    Member,
    /// A part that always exists; it becomes null instead of being removed.
    Fixed,
    Element,
}

/// Returns a part of a value.
pub fn at<'v>(value: &'v mut Value, step: &str) -> &'v mut Value {
    match value {
        Value::Array(items) => &mut items[step.parse::<usize>().unwrap()],
        value => value.get_mut(step).unwrap(),
    }
}

/// Removes the places with a mark, as a slow model.
pub fn without(shape: &Shape, mark: Mark, value: &mut Value) {
    for part in shape.parts(value) {
        if part.mark != mark {
            without(&part.shape, mark, at(value, &part.step));
        } else if part.place == Place::Member {
            value.as_object_mut().unwrap().remove(&part.step);
        } else {
            *at(value, &part.step) = Value::Null;
        }
    }
}

fn props(random: &mut Random, depth: usize, is_in_list: bool) -> Vec<Prop> {
    let mut props = vec![Prop::new("name", Shape::Text, Mark::None)];
    props[0].is_required = true;
    // Flattened properties share the mark of the flattened field.
    let flattened = Mark::random(random);
    for name in &NAMES[1..=random.index(4)] {
        let shape = Shape::random(random, depth, is_in_list);
        let is_flattened = random.one_in(4);
        let mark = if is_flattened { flattened } else { Mark::random(random) };
        let is_required = mark == Mark::None && random.one_in(3);
        props.push(Prop { name, shape, mark, is_required, is_flattened });
    }
    props
}

fn object(props: &[Prop]) -> Rule {
    let rules = |is_flattened: bool| {
        let own = props.iter().filter(move |prop| prop.is_flattened == is_flattened);
        Rule::object(own.map(move |prop| {
            let rule = prop.shape.rule();
            let rule = if is_flattened { rule } else { prop.mark.on(rule) };
            (prop.name, if prop.is_required { rule.required() } else { rule })
        }))
    };
    match props.iter().find(|prop| prop.is_flattened) {
        Some(prop) => rules(false).flatten(prop.mark.on(rules(true))),
        None => rules(false),
    }
}

fn object_value(props: &[Prop], random: &mut Random, texts: &mut u32, depth: usize) -> Value {
    let mut members = Map::new();
    for prop in props {
        if prop.is_required || !random.one_in(4) {
            let value = prop.shape.value(random, texts, depth.saturating_sub(1));
            members.insert(prop.name.to_owned(), value);
        }
    }
    Value::Object(members)
}
