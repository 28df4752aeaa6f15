//! [`RouteHost`]: the host of a router, a group or a node.

use std::panic::Location;
use std::sync::Arc;

use stockade_errors::ConfigIssue;
use stockade_path::host::HostPattern;

use crate::settings::Placed;

/// The host of some routes, and the source location that set it.
pub(crate) type RouteHost = Placed<Arc<HostPattern>>;

/// Parses a host.
///
/// # Errors
/// Fails if the text is not a host.
#[track_caller]
pub(crate) fn read(host: &str) -> Result<RouteHost, ConfigIssue> {
    let place = Location::caller();
    let pattern = HostPattern::parse(host);
    let pattern = pattern.map_err(|message| ConfigIssue::new(message).at(place))?;
    Ok(Placed::new(Arc::new(pattern), place))
}

/// Returns the host of routes within another level. Two hosts are a
/// configuration error.
pub(crate) fn within(
    outer: Option<&RouteHost>,
    inner: Option<RouteHost>,
    mistakes: &mut Vec<ConfigIssue>,
) -> Option<RouteHost> {
    let (Some(outer), Some(inner)) = (outer, &inner) else {
        return inner.or_else(|| outer.cloned());
    };
    let (file, line) = (outer.place.file(), outer.place.line());
    let message = format!(
        "`host` is {:?} here and {:?} around it ({file}:{line}): hosts cannot be nested",
        inner.value.as_str(),
        outer.value.as_str()
    );
    // Each route of the level would report it again.
    if !mistakes.iter().any(|it| it.location() == Some(inner.place) && it.message() == message) {
        mistakes.push(ConfigIssue::new(message).at(inner.place));
    }
    Some(inner.clone())
}
