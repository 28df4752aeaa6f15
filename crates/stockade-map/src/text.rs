//! The map as a table, with a line for each route.

use std::fmt;

use super::{Need, QuotaInfo, RouteAccess, RouteInfo, RouteMap};

/// Returns the columns of a route: method, path, access, limits, name and place.
fn route_line(route: &RouteInfo) -> [String; 6] {
    let name = route.name.clone().unwrap_or_else(|| "-".to_owned());
    [
        route.shown_method().to_owned(),
        route.shown_path(),
        access(route),
        limits(route),
        name,
        route.location.to_string(),
    ]
}

/// Returns the access to a route; `signed` if its requests must have a
/// signature.
fn access(route: &RouteInfo) -> String {
    match (&route.signature, route.access.user) {
        (None, _) => route.access.to_string(),
        (Some(_), Need::None) => "signed".to_owned(),
        (Some(_), _) => format!("{}+signed", route.access),
    }
}

/// Shows the access to a route: `open`, `user?` if a user is optional, or
/// `user` with the required roles and permissions, such as `user+admin|clerk`.
impl fmt::Display for RouteAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.user {
            Need::None => "open",
            Need::Optional => "user?",
            Need::Required => "user",
        })?;
        for roles in &self.roles {
            write!(f, "+{}", roles.join("|"))?;
        }
        for name in &self.permissions {
            write!(f, "+{}", name.as_deref().unwrap_or("permission"))?;
        }
        Ok(())
    }
}

/// Returns the rate limits of a route as text.
pub(crate) fn limits(route: &RouteInfo) -> String {
    let limits: Vec<String> = route.limits.rate.iter().map(quota).collect();
    if limits.is_empty() { "no limit".to_owned() } else { limits.join(" ") }
}

pub(crate) fn quota(quota: &QuotaInfo) -> String {
    match (quota.limit, quota.window_ms) {
        (Some(limit), Some(window)) if window % 1_000 == 0 => {
            format!("{limit}/{}s", window / 1_000)
        }
        (Some(limit), Some(window)) => format!("{limit}/{window}ms"),
        _ => quota.name.clone(),
    }
}

/// Shows a line for each route: method, path, access, rate limits, name, place.
impl fmt::Display for RouteMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<[String; 6]> = self.routes.iter().map(route_line).collect();
        let width = |column: usize| {
            lines.iter().map(|line| line[column].chars().count()).max().unwrap_or_default()
        };
        let widths: [usize; 5] = std::array::from_fn(width);
        for line in &lines {
            for (text, width) in line.iter().zip(widths) {
                write!(f, "{text:<width$}  ")?;
            }
            writeln!(f, "{}", line[5])?;
        }
        Ok(())
    }
}
