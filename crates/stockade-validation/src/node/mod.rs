//! The compiled form of a schema: a tree of nodes with all lookups, parsing and
//! sorting done in advance.
//!
//! - here: [`Node`], the rule of a value.
//! - `number`, `text`, `array`, `object`: the keywords of one value type, from
//!   compilation to export. [`ObjectState`] tracks the members of an object.
//! - `applicators`: alternatives, conditions and rules for some parts of a value.
//! - `limits`: bounds of numbers and counts; `literals`: `enum` and `const`.
//! - `validate`: the rules in order, and [`Validator`] for readers, which check
//!   data while they read it; `violation`: [`Violation`], a rule that a value
//!   breaks.
//! - `keywords`: access to the keywords of a rule, also during compilation;
//!   `kind`: the JSON types.

mod applicators;
mod array;
mod keywords;
pub(crate) mod kind;
mod limits;
mod literals;
mod number;
mod object;
mod text;
mod validate;
mod violation;

use std::panic::Location;

use serde_json::{Map, Value};

pub(crate) use self::applicators::{Applicators, Condition, Contains, Dependency};
pub(crate) use self::array::ArrayRules;
pub(crate) use self::keywords::{Source, flag, text_of};
pub(crate) use self::limits::count_bounds;
pub(crate) use self::literals::Literals;
pub(crate) use self::number::NumberRules;
pub(crate) use self::object::{
    AdditionalRule, MAX_BITS, Member, ObjectRules, ObjectState, PatternProperty, Property,
};
pub(crate) use self::text::TextRules;
pub(crate) use self::validate::{Accept, Validator};
pub(crate) use self::violation::{SEVERAL, Violation, unknown_field};
use crate::data::Data;
use crate::direction::Direction;
use crate::format::TextType;
use crate::function::{Custom, Default, Transform};
use crate::inner::{Choice, Reference};

/// A compiled schema: the root rule, and the rules that other rules refer to.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) root: Node,
    /// The definitions, in the order of the indices in [`Inner::Definition`].
    pub(crate) definitions: Box<[Definition]>,
    pub(crate) needs: Needs,
}

/// Work that some ways of validation cannot do.
#[derive(Clone, Copy, Debug, std::default::Default)]
pub(crate) struct Needs {
    /// True if a rule has a `transform` or a `custom`.
    pub(crate) functions: bool,
    /// True if a rule has alternatives, conditions or rules for some parts of a
    /// value.
    pub(crate) applicators: bool,
    /// True if a rule compares whole arrays or objects.
    pub(crate) comparing: bool,
    /// True if one look at each value in text order cannot decide a rule: a
    /// function, a union, an alternative, a listed array or object, keywords in
    /// addition to a reference, or more names than there are bits.
    pub(crate) second_look: bool,
    /// True if a rule sets the representation of its value in a query string.
    pub(crate) text_styles: bool,
}

impl Compiled {
    /// Returns true if data must be parsed before validation.
    pub(crate) fn wants_parsed(&self) -> bool {
        // The rules bound the number of comparisons per value if there are no
        // definitions.
        self.needs.functions || self.needs.comparing && !self.definitions.is_empty()
    }
}

/// A named rule.
#[derive(Debug)]
pub(crate) struct Definition {
    /// Unique among the definitions of a schema.
    pub(crate) name: String,
    pub(crate) node: Node,
    pub(crate) reference: Reference,
    pub(crate) direction: Direction,
    /// The source location of the rule.
    pub(crate) location: &'static Location<'static>,
}

/// A rule for a value in addition to the keywords of its node.
#[derive(Debug)]
pub(crate) enum Inner {
    /// The definition at this index.
    Definition(usize),
    /// An object with a tag that names its variant.
    Tagged(Tagged),
    /// The name of a variant, or an object with this name as its only key.
    Variants(Variants),
    /// A value of the first variant that matches.
    FirstOf(FirstOf),
}

#[derive(Debug)]
pub(crate) struct Tagged {
    pub(crate) tag: Box<str>,
    /// Rules for the whole object, including the tag.
    pub(crate) variants: Box<[(Box<str>, Node)]>,
    /// The rule of an object with any other tag.
    pub(crate) other: Option<Box<Node>>,
    /// The rule of an object without the tag.
    pub(crate) absent: Option<Box<Node>>,
    /// `Must be one of: …`.
    pub(crate) message: String,
}

impl Tagged {
    /// Returns all rules.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        let named = self.variants.iter().map(|(_, node)| node);
        named.chain(self.other.as_deref()).chain(self.absent.as_deref())
    }

    /// Returns the rule of an object with this tag.
    pub(crate) fn variant(&self, tag: Option<&str>) -> Option<&Node> {
        let tag = tag?;
        let named = self.variants.iter().find(|(name, _)| **name == *tag).map(|(_, node)| node);
        named.or(self.other.as_deref())
    }

    /// Returns the rule of an object, by its tag or the lack of one.
    pub(crate) fn variant_of<'d>(&self, object: impl Data<'d>) -> Option<&Node> {
        match object.member(&self.tag) {
            Some(tag) => self.variant(tag.text()),
            None => self.absent.as_deref(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Variants {
    /// `None` is a variant without content.
    pub(crate) variants: Box<[(Box<str>, Option<Node>)]>,
    /// True if any other name is a variant without content.
    pub(crate) has_other: bool,
    /// `Must be one of: …`.
    pub(crate) message: String,
}

/// A list of variants. The first variant with matching types and required properties applies.
#[derive(Debug)]
pub(crate) struct FirstOf {
    pub(crate) variants: Box<[Node]>,
    /// The variant that serde builds.
    pub(crate) choice: Option<Choice>,
    /// Sorted names of properties. An object has at most one of them.
    pub(crate) keys: Box<[Box<str>]>,
    /// `Must have only one of: …`.
    pub(crate) message: String,
}

/// One compiled rule.
#[derive(Debug, std::default::Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate keyword or response")]
pub(crate) struct Node {
    pub(crate) types: Types,
    /// True for `required: true`, except if a default replaces a missing value.
    pub(crate) required: bool,
    /// True for `nullable`: null then skips every check.
    pub(crate) nullable: bool,
    pub(crate) trim: bool,
    /// True for the schema `false`.
    pub(crate) never: bool,
    /// True if null is valid. Precomputed, like the next two fields.
    pub(crate) accepts_null: bool,
    pub(crate) takes_true: bool,
    pub(crate) takes_false: bool,
    /// True if the keywords decide scalars without functions, applicators or
    /// `inner`.
    pub(crate) is_plain: bool,
    /// True if this also applies to texts. False for a rule with a pattern.
    pub(crate) settles_texts: bool,
    /// A range of valid whole numbers, inclusive. Numbers outside the range may
    /// also be valid.
    pub(crate) wholes: Option<(u64, u64)>,
    /// `enum` and `const`.
    pub(crate) literals: Box<[Literals]>,
    pub(crate) text: Option<Box<TextRules>>,
    pub(crate) number: NumberRules,
    pub(crate) array: Option<Box<ArrayRules>>,
    pub(crate) object: Option<Box<ObjectRules>>,
    pub(crate) inner: Option<Box<Inner>>,
    pub(crate) applicators: Option<Box<Applicators>>,
    /// The rule of the type, without the keywords that the application added.
    pub(crate) typed: Option<Box<Self>>,
    pub(crate) transform: Option<Transform>,
    pub(crate) custom: Option<Custom>,
    pub(crate) default: Option<Default>,
    pub(crate) message: Option<Box<str>>,
    /// The original keywords with plain values, for documents.
    pub(crate) keywords: Map<String, Value>,
    /// Keywords that appear only in documents.
    pub(crate) documented: Map<String, Value>,
}

impl Node {
    /// Follows references to definitions.
    pub(crate) fn resolved<'s>(&'s self, definitions: &'s [Definition]) -> Option<&'s Self> {
        let mut node = self;
        // A cycle of references is reported when the schema is built.
        for _ in 0..=definitions.len() {
            let Some(Inner::Definition(place)) = node.inner.as_deref() else {
                return Some(node);
            };
            node = &definitions.get(*place)?.node;
        }
        None
    }

    /// Returns true if any value passes unchanged.
    pub(crate) fn is_any(&self) -> bool {
        !self.required && self.inner.is_none() && self.only_refers()
    }

    /// Returns true if a present value is checked only by `inner`.
    pub(crate) fn only_refers(&self) -> bool {
        !self.types.given()
            && self.applicators.is_none()
            && !self.trim
            && !self.never
            && self.literals.is_empty()
            && self.text.is_none()
            && self.number.is_empty()
            && self.array.is_none()
            && self.object.is_none()
            && self.transform.is_none()
            && self.custom.is_none()
    }

    /// Returns true if the node constrains its value, accepts objects and has
    /// no rule for their keys. Functions do not count as constraints.
    pub(crate) fn accepts_bare_objects(&self) -> bool {
        let asks_of_others =
            self.trim || self.text.is_some() || !self.number.is_empty() || self.array.is_some();
        let takes_objects =
            if self.types.given() { self.types.has(kind::OBJECT) } else { asks_of_others };
        let is_tuple = self.array.as_deref().is_some_and(|rules| !rules.places.is_empty());
        let says_more = self.never
            || self.inner.is_some()
            || self.applicators.is_some()
            || is_tuple
            || !self.literals.is_empty();
        takes_objects && self.object.is_none() && !says_more
    }

    /// Precomputes the results for null, booleans and scalars.
    pub(crate) fn settle(&mut self) {
        let fits = |kind, value: Value| {
            self.types.take(kind) && self.literals.iter().all(|listed| listed.has(&value))
        };
        let is_missing = self.required && self.null_is_missing();
        let accepts_null =
            !is_missing && (self.nullable || fits(kind::NULL, Value::Null)) && !self.never;
        let takes_true = fits(kind::BOOLEAN, true.into());
        let takes_false = fits(kind::BOOLEAN, false.into());
        (self.accepts_null, self.takes_true, self.takes_false) =
            (accepts_null, takes_true, takes_false);
        self.is_plain = !self.never
            && self.inner.is_none()
            && self.applicators.is_none()
            && self.transform.is_none()
            && self.custom.is_none();
        let has_pattern = self.text.as_deref().is_some_and(|rules| rules.pattern.is_some());
        self.settles_texts = self.is_plain && !has_pattern;
        self.wholes = self.right_wholes();
    }

    /// Returns the range of whole numbers that limits prove valid.
    fn right_wholes(&self) -> Option<(u64, u64)> {
        let takes_them = self.types.take(kind::NUMBER | kind::INTEGER);
        if self.never || !takes_them || !self.literals.is_empty() || self.applicators.is_some() {
            return None;
        }
        self.number.range()
    }

    /// Returns true if null counts as a missing required value.
    pub(crate) fn null_is_missing(&self) -> bool {
        !self.nullable && !self.types.has(kind::NULL)
    }

    /// Returns the default for an absent property, unless the default is a
    /// function.
    pub(crate) fn plain_default(&self) -> Option<&Value> {
        match &self.default {
            Some(Default::Value(value)) => Some(value),
            Some(Default::Function(_)) | None => None,
        }
    }
}

/// The keyword `type`.
#[derive(Debug, std::default::Default)]
pub(crate) struct Types {
    /// Bits of [`kind`]; 0 without formats if the rule does not set a type.
    pub(crate) mask: u8,
    /// The string formats used as types.
    pub(crate) formats: Box<[TextType]>,
    /// The text `<a or b>` in the message.
    pub(crate) expected: Box<str>,
}

impl Types {
    #[inline]
    pub(crate) fn given(&self) -> bool {
        self.mask != 0 || !self.formats.is_empty()
    }

    /// Returns true if one of these kinds is listed.
    #[inline]
    pub(crate) fn has(&self, kinds: u8) -> bool {
        self.mask & kinds != 0
    }

    /// Returns true if one of these kinds is listed, or if no type is listed.
    #[inline]
    pub(crate) fn take(&self, kinds: u8) -> bool {
        self.has(kinds) || !self.given()
    }

    /// Returns the string format that is the only type.
    pub(crate) fn only_format(&self) -> Option<TextType> {
        match &*self.formats {
            [format] if self.mask == 0 => Some(*format),
            _ => None,
        }
    }

    /// Returns true if any string is allowed.
    #[inline]
    pub(crate) fn take_text(&self) -> bool {
        self.take(kind::STRING) || !self.formats.is_empty()
    }

    /// Returns true if numbers must be integers. Typed code can read integers
    /// only from integers.
    #[inline]
    pub(crate) fn want_whole(&self) -> bool {
        self.mask & (kind::INTEGER | kind::NUMBER) == kind::INTEGER
    }
}
