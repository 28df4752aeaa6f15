//! The groups of the JSON-Schema-Test-Suite with a different result, each with
//! its reason. A passing group must not be listed.

/// A file, the description of a group, and the reason.
pub(crate) type Exception = (&'static str, &'static str, &'static str);

const REMOTE: &str = "no other documents are loaded: `$ref` is an error that names the pointer";
const DYNAMIC: &str = "`$dynamicRef` is not supported: an error that names the pointer";
const FORMAT: &str = "each `format` is checked, and not only an annotation";
const VOCABULARY: &str = "no other metaschema is loaded, so all keywords are checked";
const LIST_OF_ITEMS: &str = "draft 7: `prefixItems` is the list form of `items` now";
const BIDI: &str = "the order of right-to-left text (RFC 5893) is not checked";

pub(crate) const DRAFT_2020_12: &[Exception] = &[
    ("defs", "validate definition against metaschema", REMOTE),
    (
        "dynamicRef",
        "A $dynamicRef to a $dynamicAnchor in the same schema resource behaves like a normal $ref to an $anchor",
        DYNAMIC,
    ),
    (
        "dynamicRef",
        "A $dynamicRef to an $anchor in the same schema resource behaves like a normal $ref to an $anchor",
        DYNAMIC,
    ),
    (
        "dynamicRef",
        "A $dynamicRef resolves to the first $dynamicAnchor still in scope that is encountered when the schema is evaluated",
        DYNAMIC,
    ),
    ("dynamicRef", "A $dynamicRef without anchor in fragment behaves identical to $ref", DYNAMIC),
    (
        "dynamicRef",
        "A $dynamicRef with intermediate scopes that don't include a matching $dynamicAnchor does not affect dynamic scope resolution",
        DYNAMIC,
    ),
    (
        "dynamicRef",
        "An $anchor with the same name as a $dynamicAnchor is not used for dynamic scope resolution",
        DYNAMIC,
    ),
    (
        "dynamicRef",
        "A $dynamicRef without a matching $dynamicAnchor in the same schema resource behaves like a normal $ref to $anchor",
        DYNAMIC,
    ),
    (
        "dynamicRef",
        "A $dynamicRef with a non-matching $dynamicAnchor in the same schema resource behaves like a normal $ref to $anchor",
        DYNAMIC,
    ),
    (
        "dynamicRef",
        "A $dynamicRef that initially resolves to a schema with a matching $dynamicAnchor resolves to the first $dynamicAnchor in the dynamic scope",
        DYNAMIC,
    ),
    (
        "dynamicRef",
        "A $dynamicRef that initially resolves to a schema without a matching $dynamicAnchor behaves like a normal $ref to $anchor",
        DYNAMIC,
    ),
    ("dynamicRef", "multiple dynamic paths to the $dynamicRef keyword", DYNAMIC),
    ("dynamicRef", "after leaving a dynamic scope, it is not used by a $dynamicRef", DYNAMIC),
    ("dynamicRef", "strict-tree schema, guards against misspelled properties", REMOTE),
    ("dynamicRef", "tests for implementation dynamic anchor and reference link", REMOTE),
    ("dynamicRef", "$ref and $dynamicAnchor are independent of order - $defs first", REMOTE),
    ("dynamicRef", "$ref and $dynamicAnchor are independent of order - $ref first", REMOTE),
    ("dynamicRef", "$ref to $dynamicRef finds detached $dynamicAnchor", REMOTE),
    ("dynamicRef", "$dynamicRef points to a boolean schema", DYNAMIC),
    ("dynamicRef", "$dynamicRef skips over intermediate resources - direct reference", DYNAMIC),
    (
        "dynamicRef",
        "$dynamicRef avoids the root of each schema, but scopes are still registered",
        DYNAMIC,
    ),
    ("format", "email format", FORMAT),
    ("format", "idn-email format", FORMAT),
    ("format", "regex format", FORMAT),
    ("format", "ipv4 format", FORMAT),
    ("format", "ipv6 format", FORMAT),
    ("format", "idn-hostname format", FORMAT),
    ("format", "hostname format", FORMAT),
    ("format", "date format", FORMAT),
    ("format", "date-time format", FORMAT),
    ("format", "time format", FORMAT),
    ("format", "json-pointer format", FORMAT),
    ("format", "relative-json-pointer format", FORMAT),
    ("format", "iri format", FORMAT),
    ("format", "iri-reference format", FORMAT),
    ("format", "uri format", FORMAT),
    ("format", "uri-reference format", FORMAT),
    ("format", "uri-template format", FORMAT),
    ("format", "uuid format", FORMAT),
    ("format", "duration format", FORMAT),
    ("ref", "remote ref, containing refs itself", REMOTE),
    ("refRemote", "remote ref", REMOTE),
    ("refRemote", "fragment within remote ref", REMOTE),
    ("refRemote", "anchor within remote ref", REMOTE),
    ("refRemote", "ref within remote ref", REMOTE),
    ("refRemote", "base URI change", REMOTE),
    ("refRemote", "base URI change - change folder", REMOTE),
    ("refRemote", "base URI change - change folder in subschema", REMOTE),
    ("refRemote", "root ref in remote ref", REMOTE),
    ("refRemote", "remote ref with ref to defs", REMOTE),
    ("refRemote", "Location-independent identifier in remote ref", REMOTE),
    ("refRemote", "retrieved nested refs resolve relative to their URI not $id", REMOTE),
    ("refRemote", "remote HTTP ref with different $id", REMOTE),
    ("refRemote", "remote HTTP ref with different URN $id", REMOTE),
    ("refRemote", "remote HTTP ref with nested absolute ref", REMOTE),
    ("refRemote", "$ref to $ref finds detached $anchor", REMOTE),
    ("unevaluatedItems", "unevaluatedItems with $dynamicRef", DYNAMIC),
    ("unevaluatedProperties", "unevaluatedProperties with $dynamicRef", DYNAMIC),
    (
        "vocabulary",
        "schema that uses custom metaschema with with no validation vocabulary",
        VOCABULARY,
    ),
];

pub(crate) const DRAFT_7: &[Exception] = &[
    ("items", "an array of schemas for items", LIST_OF_ITEMS),
    ("items", "items with boolean schemas", LIST_OF_ITEMS),
    ("items", "items and subitems", LIST_OF_ITEMS),
    ("items", "array-form items with null instance elements", LIST_OF_ITEMS),
];

pub(crate) const FORMATS: &[Exception] =
    &[("idn-hostname", "validation of internationalized host names", BIDI)];
