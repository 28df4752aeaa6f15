//! The map as a table for people: a line for each route.

use std::fmt;

use super::{Need, QuotaInfo, RouteAccess, RouteInfo, RouteMap};

/// Returns the columns of a route: method, path, access, limits, name and place.
fn route_line(route: &RouteInfo) -> [String; 6] {
    let name = route.name.clone().unwrap_or_else(|| "-".to_owned());
    [
        route.shown_method().to_owned(),
        route.path.clone(),
        access(&route.access),
        limits(route),
        name,
        route.location.to_string(),
    ]
}

fn access(access: &RouteAccess) -> String {
    let mut words = Vec::new();
    match access.user {
        Need::None => words.push("open".to_owned()),
        Need::Optional => words.push("user?".to_owned()),
        Need::Required => words.push("user".to_owned()),
    }
    words.extend(access.roles.iter().map(|roles| roles.join("|")));
    let permission =
        |name: &Option<String>| name.clone().unwrap_or_else(|| "permission".to_owned());
    words.extend(access.permissions.iter().map(permission));
    words.join("+")
}

/// Returns the rate limits of a route for people.
pub(crate) fn limits(route: &RouteInfo) -> String {
    let limits: Vec<String> = route.limits.rate.iter().map(quota).collect();
    if limits.is_empty() { "no limit".to_owned() } else { limits.join(" ") }
}

fn quota(quota: &QuotaInfo) -> String {
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
