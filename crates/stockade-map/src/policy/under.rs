//! Findings about the values of a configuration file.

use super::finding::{Finding, ROUTER};
use crate::ConfigurationInfo;

/// The rules about settings of the router, each with the keys of its values in
/// a file.
const KEYS: [(&str, &[&str]); 7] = [
    ("body-bounded", &["max_body", "max_body_size"]),
    ("cors-development-origin", &["cors_origin", "cors"]),
    ("cors-open-with-user", &["cors_origin", "cors"]),
    ("errors-hidden", &["expose_errors"]),
    ("proxies-known", &["trust_proxy"]),
    ("rate-limited", &["rate_limit"]),
    ("ws-origin-open", &["ws_allowed_origins"]),
];

/// Adds the file and the line of a value that breaks a rule. A value that the
/// program sets in code stays a finding about the router.
pub(super) fn placed(mut finding: Finding, info: &ConfigurationInfo) -> Finding {
    let is_in_file = finding.location.as_ref().is_some_and(|place| place.file == info.name);
    let known = KEYS.iter().find(|(rule, _)| *rule == finding.rule);
    let place = known.and_then(|(_, keys)| info.place_of(keys));
    match place {
        // The route inherits the origins of the file.
        Some(place) if finding.rule == "ws-origin-open" => finding.location = Some(place),
        Some(place) if finding.subject == ROUTER => {
            finding.subject.clone_from(&info.name);
            finding.location = Some(place);
        }
        None if is_in_file => finding.subject.clone_from(&info.name),
        _ => {}
    }
    finding
}

/// Returns true for the name of a configuration file, as the target of an
/// exception. A route has a method before its path.
pub(super) fn is_file(target: &str) -> bool {
    !target.contains(' ') && target.contains('.')
}
