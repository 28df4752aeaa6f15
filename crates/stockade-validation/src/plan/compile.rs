//! From [`Compiled`] to [`Plan`].

use std::cmp::Ordering;

use serde_json::Value;

use super::tree::{
    Accept, Additional, ArrayPlan, Entry, Limit, MAX_ENTRIES, NumberPlan, ObjectPlan, Plan,
    TextPlan,
};
use crate::equal::equal;
use crate::function::Default;
use crate::node::{
    AdditionalRule, ArrayRules, Bound, Compiled, Definition, Inner, Literals, Node, ObjectRules,
    kind,
};
use crate::number::Num;

impl Plan {
    /// The plan of a schema; `None` when a function has to be called, or the
    /// schema says what a plan cannot.
    pub(crate) fn compile(schema: &Compiled) -> Option<Self> {
        let definitions = &schema.definitions;
        Compiler { definitions, open: Vec::new(), left: MAX_PLANS }.plan(&schema.root)
    }

    /// The plan of a node for scalars and for what contains scalars alone;
    /// `None` when the node says more of them than a plan can, or counts them,
    /// as a pattern does.
    pub(crate) fn of_flat(node: &Node) -> Option<Self> {
        let inner = |node: &Node| Some(Self::of_scalars(node).unwrap_or_else(Self::never));
        let has = |kinds: u8| !node.types.given() || node.types.has(kinds);
        let mut plan = Self::of_scalars(node)?;
        if has(kind::ARRAY) {
            plan.array = array(node, inner).unwrap_or(Accept::None);
        }
        if has(kind::OBJECT) {
            plan.object = object(node, inner).unwrap_or(Accept::None);
        }
        Some(plan)
    }

    fn of_scalars(node: &Node) -> Option<Self> {
        let says_more = node.never
            || node.inner.is_some()
            || node.transform.is_some()
            || node.custom.is_some()
            || node.text.as_deref().is_some_and(|rules| rules.pattern.is_some());
        (!says_more).then(|| Self::scalars(node, Accept::None, Accept::None))
    }

    fn scalars(node: &Node, array: Accept<ArrayPlan>, object: Accept<ObjectPlan>) -> Self {
        let literals = node.literals.as_deref();
        let has = |kinds: u8| !node.types.given() || node.types.has(kinds);
        let fits = |value: &Value| literals.is_none_or(|literals| allows(literals, value));
        let null_is_missing = node.required && !node.nullable && !node.types.has(kind::NULL);
        Self {
            any: false,
            null: !null_is_missing && (node.nullable || has(kind::NULL) && fits(&Value::Null)),
            yes: has(kind::BOOLEAN) && fits(&Value::Bool(true)),
            no: has(kind::BOOLEAN) && fits(&Value::Bool(false)),
            text: if node.types.take_text() { text(node) } else { Accept::None },
            number: if has(kind::NUMBER | kind::INTEGER) { number(node) } else { Accept::None },
            array,
            object,
        }
    }

    /// Refuses what counts as missing: null, and text that is empty in the end.
    fn require(&mut self) {
        self.any = false;
        self.null = false;
        match &mut self.text {
            Accept::All => self.text = Accept::If(Box::new(TextPlan::not_empty())),
            Accept::If(plan) => plan.min = plan.min.max(1),
            Accept::None => {}
        }
    }

    fn never() -> Self {
        Self {
            any: false,
            null: false,
            yes: false,
            no: false,
            text: Accept::None,
            number: Accept::None,
            array: Accept::None,
            object: Accept::None,
        }
    }
}

impl TextPlan {
    fn not_empty() -> Self {
        Self {
            trim: false,
            min: 1,
            max: usize::MAX,
            forms: Box::default(),
            format: None,
            pattern: None,
            only: None,
        }
    }
}

/// Definitions are copied to where they are used, each use its own plan.
struct Compiler<'s> {
    definitions: &'s [Definition],
    /// The definitions around the current node: one that comes again has no
    /// end.
    open: Vec<usize>,
    /// How many plans there may still be.
    left: usize,
}

impl Compiler<'_> {
    fn plan(&mut self, node: &Node) -> Option<Plan> {
        self.left = self.left.checked_sub(1)?;
        if node.transform.is_some() || node.custom.is_some() {
            return None;
        }
        match node.inner.as_deref() {
            Some(Inner::Definition(place)) => return self.definition(node, *place),
            Some(Inner::Tagged(_) | Inner::Variants(_)) => return None,
            Some(Inner::Tuple(_)) | None => {}
        }
        if node.is_any() {
            return Some(Plan::ANY);
        }
        if node.never {
            return Some(Plan::never());
        }
        let has = |kinds: u8| !node.types.given() || node.types.has(kinds);
        let mut inner = |node: &Node| self.plan(node);
        let array = if has(kind::ARRAY) { array(node, &mut inner)? } else { Accept::None };
        let object = if has(kind::OBJECT) { object(node, inner)? } else { Accept::None };
        Some(Plan::scalars(node, array, object))
    }

    /// The plan of a node that only refers to a definition.
    fn definition(&mut self, node: &Node, place: usize) -> Option<Plan> {
        if !node.only_refers() || self.open.contains(&place) {
            return None;
        }
        let definition = self.definitions.get(place)?;
        self.open.push(place);
        let plan = self.plan(&definition.node);
        self.open.pop();
        let mut plan = plan?;
        if node.required {
            plan.require();
        }
        plan.null |= node.nullable;
        Some(plan)
    }
}

/// Of arrays, with the plans of what they contain.
fn array(node: &Node, mut inner: impl FnMut(&Node) -> Option<Plan>) -> Option<Accept<ArrayPlan>> {
    if has_containers(node) {
        return None;
    }
    if node.literals.is_some() {
        return Some(Accept::None);
    }
    let rules = node.array.as_deref();
    let (min, max) = array_counts(node, rules)?;
    let items = rules.and_then(|rules| rules.items.as_ref());
    let items = items.map_or(Some(Plan::ANY), &mut inner)?;
    let unique = rules.is_some_and(|rules| rules.unique);
    let places = match node.inner.as_deref() {
        Some(Inner::Tuple(places)) => places.iter().map(inner).collect(),
        _ => Some(Box::default()),
    };
    let plan = ArrayPlan { min, max, unique, places: places?, items };
    let takes_all = plan.min == 0
        && plan.max == usize::MAX
        && !plan.unique
        && plan.places.is_empty()
        && plan.items.any;
    Some(if takes_all { Accept::All } else { Accept::If(Box::new(plan)) })
}

/// Of objects, with the plans of what they contain.
fn object(node: &Node, inner: impl FnMut(&Node) -> Option<Plan>) -> Option<Accept<ObjectPlan>> {
    if has_containers(node) {
        return None;
    }
    if node.literals.is_some() {
        return Some(Accept::None);
    }
    match node.object.as_deref() {
        None => Some(Accept::All),
        Some(rules) => object_plan(rules, inner).map(|plan| Accept::If(Box::new(plan))),
    }
}

fn object_plan(
    rules: &ObjectRules,
    mut inner: impl FnMut(&Node) -> Option<Plan>,
) -> Option<ObjectPlan> {
    let mut entries = Vec::new();
    let mut required = 0_u64;
    let mut defaulted = 0_u64;
    for (index, property) in rules.properties.iter().take(MAX_ENTRIES).enumerate() {
        let node = &property.node;
        let bit = 1_u64 << index;
        if node.default.is_some() {
            defaulted |= bit;
        } else if node.required || property.in_required_list {
            required |= bit;
        }
        let default = match &node.default {
            Some(Default::Value(value)) => Some(value.clone()),
            Some(Default::Function(_)) | None => None,
        };
        let plan = inner(node)?;
        entries.push(Entry { name: property.name.clone(), plan, default });
    }
    for name in rules.required.iter().filter(|name| name.index.is_none()) {
        required |= 1_u64.checked_shl(u32::try_from(entries.len()).ok()?).unwrap_or(0);
        entries.push(Entry { name: name.name.clone(), plan: Plan::ANY, default: None });
    }
    let listed = rules.properties.len();
    if listed > MAX_ENTRIES || entries.len() > MAX_ENTRIES {
        return None;
    }

    let mut by_name: Box<[usize]> = (0..entries.len()).collect();
    by_name.sort_by(|left, right| order(&entries[*left].name, &entries[*right].name));
    Some(ObjectPlan {
        entries: entries.into(),
        by_name,
        listed,
        lists_properties: rules.lists_properties,
        required,
        defaulted,
        additional: match &rules.additional {
            AdditionalRule::Unsaid => Additional::Unsaid,
            AdditionalRule::Allowed => Additional::Allowed,
            AdditionalRule::Refused => Additional::Refused,
            AdditionalRule::Node(node) => Additional::Plan(inner(node)?),
        },
        min: rules.min_properties.unwrap_or(0),
        // Without a rule there is no bound.
        max: rules.max_properties.unwrap_or(usize::MAX),
    })
}

fn allows(literals: &Literals, value: &Value) -> bool {
    literals.one_of.as_ref().is_none_or(|one_of| one_of.contains(value))
        && literals.constant.as_ref().is_none_or(|(constant, _)| equal(constant, value))
}

/// The literals of one kind that are allowed, sorted; `None` when all values
/// are.
fn only<T>(
    node: &Node,
    of_kind: impl Fn(&Value) -> Option<T>,
    order: impl Fn(&T, &T) -> Ordering,
) -> Option<Box<[T]>> {
    let literals = node.literals.as_deref()?;
    let listed = literals.one_of.iter().flat_map(|one_of| &one_of.values);
    let constant = literals.constant.iter().map(|(constant, _)| constant);
    let allowed = listed.chain(constant).filter(|value| allows(literals, value));
    let mut allowed: Box<[T]> = allowed.filter_map(of_kind).collect();
    allowed.sort_unstable_by(order);
    Some(allowed)
}

fn text(node: &Node) -> Accept<TextPlan> {
    let rules = node.text.as_deref();
    let size = node.size.as_deref();
    let size_max = size.and_then(|size| size.max.as_ref());
    if !is_count(size_max) {
        return Accept::None;
    }
    let (size_min, size_max) = counts(size.and_then(|size| size.min.as_ref()), size_max);
    let min_length = rules.and_then(|rules| rules.min_length).unwrap_or(0);
    // Without a rule there is no bound.
    let max_length = rules.and_then(|rules| rules.max_length).unwrap_or(usize::MAX);
    let takes_all = !node.types.given() || node.types.has(kind::STRING);
    let plan = TextPlan {
        trim: node.trim,
        // Empty text counts as missing.
        min: size_min.max(min_length).max(usize::from(node.required)),
        max: size_max.min(max_length),
        forms: if takes_all { Box::default() } else { node.types.formats.clone() },
        format: rules.and_then(|rules| rules.format),
        pattern: rules.and_then(|rules| rules.pattern.clone()),
        only: only(
            node,
            |value| value.as_str().map(Box::<str>::from),
            |left, right| order(left, right),
        ),
    };
    let takes_all = takes_all
        && !plan.trim
        && plan.min == 0
        && plan.max == usize::MAX
        && plan.format.is_none()
        && plan.pattern.is_none()
        && plan.only.is_none();
    if takes_all { Accept::All } else { Accept::If(Box::new(plan)) }
}

fn number(node: &Node) -> Accept<NumberPlan> {
    let rules = node.number.as_deref();
    let size = node.size.as_deref();
    let limit = |bound: Option<&Bound>, strict| bound.map(|it| Limit { num: it.num(), strict });
    let lows = [
        limit(size.and_then(|size| size.min.as_ref()), false),
        limit(rules.and_then(|rules| rules.minimum.as_ref()), false),
        limit(rules.and_then(|rules| rules.exclusive_minimum.as_ref()), true),
    ];
    let highs = [
        limit(size.and_then(|size| size.max.as_ref()), false),
        limit(rules.and_then(|rules| rules.maximum.as_ref()), false),
        limit(rules.and_then(|rules| rules.exclusive_maximum.as_ref()), true),
    ];
    let plan = NumberPlan {
        integer: node.types.given() && !node.types.has(kind::NUMBER),
        low: tightest(lows, Ordering::Greater),
        high: tightest(highs, Ordering::Less),
        only: only(
            node,
            |value| value.as_number().map(Num::of),
            |left, right| left.compare(*right),
        ),
    };
    let takes_all =
        !plan.integer && plan.low.is_none() && plan.high.is_none() && plan.only.is_none();
    if takes_all { Accept::All } else { Accept::If(Box::new(plan)) }
}

/// The limit that lies farthest in this direction.
fn tightest(limits: [Option<Limit>; 3], direction: Ordering) -> Option<Limit> {
    limits.into_iter().flatten().reduce(|tight, limit| {
        let order = limit.num.compare(tight.num);
        if order == direction || order == Ordering::Equal && limit.strict { limit } else { tight }
    })
}

/// Bounds as counts that mean the same; the maximum is not below zero.
fn counts(min: Option<&Bound>, max: Option<&Bound>) -> (usize, usize) {
    let min = min.map_or(0, |bound| match bound.num() {
        Num::Whole(whole) => clamp(whole),
        Num::Float(float) if float < 0.0 => 0,
        // A fraction, or beyond every count.
        Num::Float(float) => float_count(float.ceil()),
    });
    let max = max.map_or(usize::MAX, |bound| match bound.num() {
        Num::Whole(whole) => clamp(whole),
        Num::Float(float) => float_count(float.floor()),
    });
    (min, max)
}

fn clamp(whole: i128) -> usize {
    // What does not fit is beyond every count.
    usize::try_from(whole.max(0)).unwrap_or(usize::MAX)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float beyond the range becomes its nearer end"
)]
fn float_count(float: f64) -> usize {
    float as usize
}

fn array_counts(node: &Node, rules: Option<&ArrayRules>) -> Option<(usize, usize)> {
    let size = node.size.as_deref();
    let bound = size.and_then(|size| size.max.as_ref());
    is_count(bound).then_some(())?;
    let (min, max) = counts(size.and_then(|size| size.min.as_ref()), bound);
    Some((
        rules.and_then(|rules| rules.min_items).unwrap_or(min),
        rules.and_then(|rules| rules.max_items).unwrap_or(max),
    ))
}

/// Whether a maximum lets anything through at all.
fn is_count(max: Option<&Bound>) -> bool {
    max.is_none_or(|bound| bound.num().compare(Num::Whole(0)) != Ordering::Less)
}

/// Whether an array or an object is among the literals.
fn has_containers(node: &Node) -> bool {
    node.literals.as_deref().is_some_and(Literals::has_containers)
}

/// By length, then by letters: unequal lengths are told apart at once.
pub(super) fn order(left: &str, right: &str) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}

/// A schema that uses its definitions over and over again is judged without a
/// plan.
const MAX_PLANS: usize = 4_096;
