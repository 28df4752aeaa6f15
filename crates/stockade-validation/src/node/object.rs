//! The keywords of objects: fields, compilation, check and export.
//! [`ObjectState`] tracks the members of an object.

use std::ops::ControlFlow;

use serde_json::{Map, Value};
use stockade_errors::__internal::sort_by;

use super::Node;
use super::keywords::{Source, copy};
use super::limits::{Bound, Counts, Limit, Relation};
use super::violation::Violation;
use crate::data::{Data, Kind};
use crate::equal::{order, same, same_short};
use crate::options::ValidationOptions;
use crate::pattern::{Pattern, Search};

/// Keywords for objects.
#[derive(Debug)]
pub(crate) struct ObjectRules {
    /// True if `properties` is present, even if it is empty.
    pub(crate) lists_properties: bool,
    /// The listed properties in schema order, followed by names that are only
    /// required.
    pub(crate) entries: Box<[Property]>,
    /// The number of `entries` that are listed.
    pub(crate) listed: usize,
    /// Indices of `entries`, sorted by the length of the name, then by the
    /// name.
    by_name: Box<[usize]>,
    /// Aliases of listed properties, with the indices of the properties.
    pub(crate) aliases: Box<[(Box<str>, usize)]>,
    /// The list form of `required`, as indices of `entries`.
    pub(crate) required_list: Box<[usize]>,
    /// A bit for each required entry, if there are enough bits for all entries.
    pub(crate) required: u64,
    /// A bit for each entry with a default, if there are enough bits for all
    /// entries.
    pub(crate) defaulted: u64,
    /// The keyword `patternProperties`.
    pub(crate) patterns: Box<[PatternProperty]>,
    pub(crate) additional: AdditionalRule,
    counts: Counts,
}

/// The rule for the values of all keys that match a pattern.
#[derive(Debug)]
pub(crate) struct PatternProperty {
    pub(crate) pattern: Pattern,
    pub(crate) node: Node,
}

#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: Box<str>,
    pub(crate) node: Node,
    /// True if the list form of `required` already reports its absence.
    pub(crate) in_required_list: bool,
}

impl Property {
    /// Returns true if an object must have the property, and no default replaces it.
    pub(crate) fn must_be_present(&self) -> bool {
        (self.node.required || self.in_required_list) && self.node.default.is_none()
    }
}

/// The keyword `additionalProperties`.
#[derive(Debug, Default)]
pub(crate) enum AdditionalRule {
    /// The keyword is absent.
    #[default]
    Unsaid,
    /// The keyword is absent, and an alternative may list further keys. The
    /// options for unknown keys therefore apply after the alternatives are
    /// checked.
    Elsewhere,
    Allowed,
    Refused,
    Node(Box<Node>),
}

/// The number of names that the bits of [`ObjectRules`] can represent.
pub(crate) const MAX_BITS: usize = 64;

const COUNTS: &[Bound] =
    &[("minProperties", Relation::AtLeast), ("maxProperties", Relation::AtMost)];

impl ObjectRules {
    /// Returns the rules of objects, if the keywords or the other arguments
    /// contain any. `required` is the list form.
    pub(crate) fn compile(
        source: &mut Source<'_>,
        properties: Option<Vec<Property>>,
        patterns: Box<[PatternProperty]>,
        required: Vec<String>,
        additional: AdditionalRule,
    ) -> Option<Box<Self>> {
        let limits = Limit::all(source.keywords, COUNTS, ("Object must have", " properties"));
        let is_empty = properties.is_none()
            && patterns.is_empty()
            && required.is_empty()
            && matches!(additional, AdditionalRule::Unsaid | AdditionalRule::Elsewhere)
            && limits.is_empty();
        if is_empty {
            return None;
        }
        let rules = Self::new(properties, required, additional, Counts::new(limits));
        Some(Box::new(Self { patterns, ..rules }))
    }

    /// Returns the rules of an object without any keyword.
    /// `allow_unknown(false)` then treats every key as unlisted.
    pub(crate) fn bare() -> Self {
        Self::new(None, Vec::new(), AdditionalRule::Unsaid, Counts::new(Box::default()))
    }

    fn new(
        properties: Option<Vec<Property>>,
        required: Vec<String>,
        additional: AdditionalRule,
        counts: Counts,
    ) -> Self {
        let lists_properties = properties.is_some();
        // A missing list means an empty one.
        let mut entries = properties.unwrap_or_default();
        let listed = entries.len();
        let mut required_list = Vec::new();
        for name in required {
            let known = entries.iter().position(|entry| *entry.name == *name);
            required_list.push(known.unwrap_or(entries.len()));
            match known {
                Some(index) => entries[index].in_required_list = true,
                None => entries.push(Property {
                    name: name.into(),
                    node: Node::default(),
                    in_required_list: true,
                }),
            }
        }
        let bits = |is_set: &dyn Fn(&Property) -> bool| {
            let set = entries.iter().enumerate().filter(|(_, entry)| is_set(entry));
            set.fold(0, |bits, (index, _)| bits | bit(index))
        };
        let has_default = |entry: &Property| entry.node.default.is_some();
        let defaulted = bits(&has_default);
        let required = bits(&Property::must_be_present);
        let mut by_name: Box<[usize]> = (0..entries.len()).collect();
        sort_by(&mut by_name, |left, right| order(&entries[*left].name, &entries[*right].name));
        Self {
            lists_properties,
            entries: entries.into(),
            listed,
            by_name,
            aliases: Box::default(),
            required_list: required_list.into(),
            required,
            defaulted,
            patterns: Box::default(),
            additional,
            counts,
        }
    }

    /// Checks an object of `count` members as a whole, after its members.
    #[inline]
    pub(crate) fn validate<'d>(
        &self,
        object: impl Data<'d>,
        count: usize,
        no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        debug_assert!(matches!(object.kind(), Kind::Object(members) if members == count));
        self.counts.validate(count, no)
    }

    /// Writes the keywords of JSON Schema. `rule` exports the rule of a member.
    /// `closed` objects reject unlisted keys.
    pub(crate) fn export(
        rules: Option<&Self>,
        keywords: &Map<String, Value>,
        closed: bool,
        rule: impl Fn(&Node) -> Value,
        out: &mut Map<String, Value>,
    ) {
        if let Some(rules) = rules {
            rules.export_members(closed, rule, out);
        }
        copy(keywords, &["minProperties", "maxProperties"], out);
    }

    fn export_members(
        &self,
        closed: bool,
        rule: impl Fn(&Node) -> Value,
        out: &mut Map<String, Value>,
    ) {
        if self.lists_properties {
            let properties = self.properties().iter();
            let properties: Map<String, Value> = properties
                .map(|property| (property.name.to_string(), rule(&property.node)))
                .collect();
            out.insert("properties".to_owned(), properties.into());
        }
        let listed = self.required_list.iter().map(|index| &self.entries[*index]);
        let listed = listed.filter(|entry| entry.node.default.is_none());
        let properties = self.properties().iter();
        let own =
            properties.filter(|property| property.node.required && !property.in_required_list);
        let required: Vec<Value> = listed.chain(own).map(|entry| (&*entry.name).into()).collect();
        if !required.is_empty() {
            out.insert("required".to_owned(), required.into());
        }
        if !self.patterns.is_empty() {
            let patterns = self.patterns.iter();
            let patterns: Map<String, Value> =
                patterns.map(|it| (it.pattern.ecma().to_owned(), rule(&it.node))).collect();
            out.insert("patternProperties".to_owned(), patterns.into());
        }
        let additional = match &self.additional {
            AdditionalRule::Elsewhere => None,
            AdditionalRule::Unsaid => closed.then(|| false.into()),
            AdditionalRule::Allowed => Some(true.into()),
            AdditionalRule::Refused => Some(false.into()),
            AdditionalRule::Node(node) => Some(rule(node)),
        };
        if let Some(additional) = additional {
            out.insert("additionalProperties".to_owned(), additional);
        }
    }

    /// Returns the listed properties, in schema order.
    pub(crate) fn properties(&self) -> &[Property] {
        &self.entries[..self.listed]
    }

    /// Returns the index of a listed property by its name; see `find` for
    /// `hint`.
    pub(crate) fn find_listed(&self, name: &str, hint: usize) -> Option<usize> {
        self.find(name, hint).filter(|index| *index < self.listed).or_else(|| self.alias(name))
    }

    /// Returns the index of the property with this alias.
    fn alias(&self, name: &str) -> Option<usize> {
        let known = self.aliases.iter().find(|(known, _)| same(known, name));
        known.map(|(_, index)| *index)
    }

    /// Returns the names that an object uses for the property at this index.
    pub(crate) fn names_in<'d>(
        &self,
        object: impl Data<'d>,
        index: usize,
    ) -> impl Iterator<Item = &str> {
        let further = self.aliases.iter().filter(move |(_, of)| *of == index);
        let names = std::iter::once(&self.entries[index].name).chain(further.map(|(name, _)| name));
        names.map(|name| &**name).filter(move |name| object.member(name).is_some())
    }

    /// Returns the first property that an object has under two names.
    pub(crate) fn twice_in<'d>(&self, object: impl Data<'d>) -> Option<&Property> {
        let mut places = self.aliases.iter().map(|(_, index)| *index);
        let twice = places.find(|index| self.names_in(object, *index).nth(1).is_some());
        twice.map(|index| &self.entries[index])
    }

    /// Returns the index of an entry by its name.
    ///
    /// `hint` is the expected index. Properties usually arrive in schema order,
    /// perhaps without an optional property.
    fn find(&self, name: &str, hint: usize) -> Option<usize> {
        if self.entries.get(hint).is_some_and(|entry| same(&entry.name, name)) {
            return Some(hint);
        }
        let found = self.by_name.binary_search_by(|at| order(&self.entries[*at].name, name));
        found.ok().map(|place| self.by_name[place])
    }

    /// Returns the rule for an unlisted member with this name.
    pub(crate) fn unlisted(&self, name: &str, options: &ValidationOptions) -> Member<'_> {
        // The applicators check further matching patterns.
        if let Some(known) = self.patterns.iter().find(|it| it.has(name)) {
            return Member::Validator(&known.node);
        }
        if matches!(self.additional, AdditionalRule::Elsewhere) {
            return Member::Keep;
        }
        if let AdditionalRule::Node(node) = &self.additional {
            return Member::Validator(node);
        }
        if options.strip_unknown && self.lists_properties {
            return Member::Strip;
        }
        let refuse = match options.allow_unknown {
            Some(false) => !matches!(self.additional, AdditionalRule::Allowed),
            Some(true) => false,
            None => matches!(self.additional, AdditionalRule::Refused),
        };
        if refuse { Member::Refuse } else { Member::Keep }
    }
}

impl PatternProperty {
    /// Returns true if the key matches the pattern.
    pub(crate) fn has(&self, name: &str) -> bool {
        matches!(self.pattern.search(name), Search::Found)
    }
}

/// Returns the bit of an entry. Entries beyond [`MAX_BITS`] share a bit with
/// others.
#[inline]
fn bit(index: usize) -> u64 {
    1 << (index % MAX_BITS)
}

/// The treatment of an object member, determined by its name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Member<'s> {
    /// The property at this index, checked by its rule.
    Listed(usize, &'s Node),
    /// An unlisted member, checked by this rule.
    Validator(&'s Node),
    /// An unlisted member that remains unchecked.
    Keep,
    /// An unlisted member that is removed.
    Strip,
    /// An unlisted member that is not allowed.
    Refuse,
}

/// The members of an object so far. Text may contain duplicate names.
#[derive(Debug)]
pub(crate) struct ObjectState<'s> {
    pub(crate) rules: &'s ObjectRules,
    /// The expected index of the next listed name.
    hint: usize,
    /// A bit for each entry.
    seen: u64,
    count: usize,
    /// True if the listed names are not in schema order or not before all other
    /// remaining members.
    pub(crate) is_mixed: bool,
    /// True if a name is not listed, whether or not it is required.
    pub(crate) has_unlisted: bool,
    /// True if the object has a property under an alias.
    pub(crate) has_alias: bool,
    /// True if an unlisted member remains in the object.
    has_kept: bool,
    /// True if an unlisted name does not have a bit either.
    has_unseen: bool,
}

impl<'s> ObjectState<'s> {
    #[inline]
    pub(crate) fn new(rules: &'s ObjectRules) -> Self {
        Self {
            rules,
            hint: 0,
            seen: 0,
            count: 0,
            is_mixed: false,
            has_unlisted: false,
            has_alias: false,
            has_kept: false,
            has_unseen: false,
        }
    }

    /// Records a member and returns its treatment.
    ///
    /// Not inlined, because readers are compiled for each type that is read.
    pub(crate) fn member(&mut self, name: &str, options: &ValidationOptions) -> Member<'s> {
        self.member_inline(name, options)
    }

    /// Does the same as [`member`](Self::member), but inlined for a walk.
    /// There, a call per member would cost 5 % of the time for an object.
    #[expect(clippy::inline_always, reason = "measured")]
    #[inline(always)]
    pub(crate) fn member_inline(&mut self, name: &str, options: &ValidationOptions) -> Member<'s> {
        // Usually the expected member arrives.
        match self.rules.entries.get(self.hint) {
            Some(entry) if self.hint < self.rules.listed && same_short(&entry.name, name) => {
                self.listed(self.hint, &entry.node)
            }
            _ => self.other(name, options),
        }
    }

    #[inline]
    fn listed(&mut self, index: usize, node: &'s Node) -> Member<'s> {
        self.count += 1;
        self.seen |= bit(index);
        self.is_mixed |= index < self.hint || self.has_kept;
        self.hint = index + 1;
        Member::Listed(index, node)
    }

    /// Records any unexpected member. A separate function keeps the usual case
    /// short.
    #[inline(never)]
    fn other(&mut self, name: &str, options: &ValidationOptions) -> Member<'s> {
        let index = self.rules.find(name, self.hint);
        if let Some(index) = index.filter(|index| *index < self.rules.listed) {
            return self.listed(index, &self.rules.entries[index].node);
        }
        if !self.rules.aliases.is_empty()
            && let Some(index) = self.rules.alias(name)
        {
            return self.aliased(index);
        }
        self.count += 1;
        self.seen |= index.map_or(0, bit);
        self.has_unlisted = true;
        let member = self.rules.unlisted(name, options);
        if !matches!(member, Member::Strip) {
            self.has_kept = true;
            self.has_unseen |= index.is_none();
        }
        member
    }

    /// Notes a property under an alias. The changed value has the name of the schema, so the order
    /// of its members may change.
    fn aliased(&mut self, index: usize) -> Member<'s> {
        self.has_alias = true;
        self.is_mixed = true;
        self.listed(index, &self.rules.entries[index].node)
    }

    /// Returns true if a required entry is missing.
    #[inline]
    pub(crate) fn misses_required(&self) -> bool {
        self.rules.required & !self.seen != 0 || self.rules.entries.len() > MAX_BITS
    }

    /// Returns true if the recorded names are valid. Returns false for an
    /// object with a duplicate name that might have too few members.
    #[inline]
    pub(crate) fn is_fulfilled(&self) -> bool {
        let Counts { least, most, .. } = self.rules.counts;
        !self.misses_required()
            && (least == 0
                || self.seen.count_ones() as usize + usize::from(self.has_unseen) >= least)
            && self.count <= most
    }

    /// Returns the next missing property with a default, and records it as
    /// present.
    #[inline]
    pub(crate) fn next_default(&mut self) -> Option<&'s Property> {
        let absent = self.rules.defaulted & !self.seen;
        if absent == 0 {
            return None;
        }
        self.seen |= absent & absent.wrapping_neg();
        self.rules.entries.get(absent.trailing_zeros() as usize)
    }
}
