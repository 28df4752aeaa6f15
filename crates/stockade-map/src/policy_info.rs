//! [`PolicyInfo`]: the policy of a router in a map.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Place;

/// The policy of a router: its rules, and its exceptions with their reasons.
///
/// `routes.lock` contains it, so a removed rule or a new exception is a change.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PolicyInfo {
    /// The sorted ids of the rules, without the disabled rules. `public-routes`
    /// is the list of the public routes.
    #[serde(default)]
    pub rules: Vec<String>,
    /// The reason of each exception, by rule and place, such as
    /// `body-bounded POST /report` or `summary below /internal`. The id of a
    /// disabled rule is the whole key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exceptions: BTreeMap<String, String>,
    /// The fields that are not secrets, although their names suggest it. Each
    /// has a reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_secret: BTreeMap<String, String>,
    /// The place of its last rule, or of its creation.
    #[serde(skip)]
    pub location: Option<Place>,
}
