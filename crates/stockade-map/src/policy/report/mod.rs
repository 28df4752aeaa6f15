//! The report of an audit for readers: one HTML file without scripts.

mod owasp;

use super::audit::{Audit, Exception};
use super::finding::Finding;
use super::rule::{BuiltIn, all_routes};
use super::rules::{RECOMMENDED, STRICT};
use crate::{CorsInfo, RouteMap, RouterInfo, text};
use owasp::{RISKS, Risk};

/// A map with its audit: first of the routes, then under each configuration
/// file.
type Part = (RouteMap, Audit);

const HEAD: &str = concat!(
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
    "<meta http-equiv=\"Content-Security-Policy\" ",
    "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n",
    "<title>Security audit</title>\n<style>\n",
    include_str!("style.css"),
    "</style>\n</head>\n<body>\n<main>\n<h1>Security audit</h1>\n",
);

/// Returns the report. The same parts always produce the same text.
#[must_use]
pub fn html(parts: &[Part]) -> String {
    let mut out = HEAD.to_owned();
    if let Some(first) = parts.first() {
        summary(&mut out, parts, first);
        settings(&mut out, parts);
        findings(&mut out, parts);
        reasons(&mut out, parts, first);
        risks(&mut out, parts, first);
        routes(&mut out, first);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// Returns the numbers of the open findings and of the exceptions.
#[must_use]
pub fn numbers(parts: &[Part]) -> (usize, usize) {
    (all_findings(parts).len(), exceptions(parts).len())
}

/// Returns a text that is neither markup nor able to change the direction of
/// other texts.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Marks that change the direction of the text after them.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

/// Returns a message with the parts between backquotes as code.
fn message(text: &str) -> String {
    let escaped = escape(text);
    if escaped.matches('`').count() % 2 == 1 {
        return escaped;
    }
    let parts = escaped.split('`').enumerate();
    let parts = parts.map(|(number, part)| match number % 2 {
        0 => part.to_owned(),
        _ => format!("<code>{part}</code>"),
    });
    parts.collect()
}

fn heading(out: &mut String, title: &str) {
    *out += &format!("<h2>{title}</h2>\n");
}

/// Writes a table. The cells are markup.
fn table(out: &mut String, titles: &[String], rows: impl Iterator<Item = Vec<String>>) {
    out.push_str("<table>\n<thead><tr>");
    for title in titles {
        *out += &format!("<th scope=\"col\">{}</th>", escape(title));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (title, cell) in titles.iter().zip(&row) {
            *out += &format!("<td data-label=\"{}\"><div>{cell}</div></td>", escape(title));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
}

/// Writes a list of markup, or a sentence if it is empty.
fn list(out: &mut String, items: &[String], if_empty: &str) {
    if items.is_empty() {
        *out += &format!("<p>{if_empty}</p>\n");
        return;
    }
    out.push_str("<ul>\n");
    for item in items {
        *out += &format!("<li>{item}</li>\n");
    }
    out.push_str("</ul>\n");
}

/// Returns the name of a part: the configuration file, or `code`.
fn name_of(map: &RouteMap) -> &str {
    map.configuration.as_ref().map_or("code", |file| &file.name)
}

/// Returns the exceptions of the code, then the exceptions that only a
/// configuration file needs.
fn exceptions<'p>(parts: &'p [Part]) -> Vec<&'p Exception> {
    let mut all: Vec<&'p Exception> = Vec::new();
    for exception in parts.iter().flat_map(|(_, audit)| audit.allowed.iter().chain(&audit.left_out))
    {
        if !all.contains(&exception) {
            all.push(exception);
        }
    }
    all
}

/// Returns the findings of the code, then the findings that only a
/// configuration file has, each with the name of its part.
fn all_findings(parts: &[Part]) -> Vec<(&str, &Finding)> {
    let mut all: Vec<(&str, &Finding)> = Vec::new();
    for (map, audit) in parts {
        for finding in &audit.findings {
            if all.iter().all(|(_, known)| *known != finding) {
                all.push((name_of(map), finding));
            }
        }
    }
    all
}

fn summary(out: &mut String, parts: &[Part], (map, audit): &Part) {
    let open = all_routes(map).filter(|route| route.is_open()).count();
    let found = all_findings(parts).len();
    let class = if found == 0 { "good" } else { "bad" };
    let numbers = [
        format!("{} routes", all_routes(map).count()),
        format!("{open} without a user"),
        format!("{} rules", audit.rules.len()),
        format!("<b class=\"{class}\">{found} open findings</b>"),
        format!("{} exceptions", exceptions(parts).len()),
        format!("{} configuration files", parts.len() - 1),
    ];
    out.push_str("<ul class=\"sum\">");
    for number in numbers {
        *out += &format!("<li>{number}</li>");
    }
    out.push_str("</ul>\n");
}

fn settings(out: &mut String, parts: &[Part]) {
    type Show = fn(&RouterInfo) -> String;
    let rows: [(&str, Show); 8] = [
        ("origins (CORS)", |router| origins(router.cors.as_ref())),
        ("rate limit of a client", |router| {
            let limit = router.rate_limit.as_ref();
            limit.map_or_else(|| "none".to_owned(), text::quota)
        }),
        ("largest body", |router| format!("{} bytes", router.max_body)),
        ("trusted proxies", |router| or_none(&router.trust_proxy)),
        ("messages of 5xx errors", |router| {
            let sent = router.exposes_errors_always;
            if sent { "sent to clients" } else { "only in the log" }.to_owned()
        }),
        ("security headers", |router| {
            let names = router.security_headers.iter().map(|(name, _)| name.clone());
            or_none(&names.collect::<Vec<_>>())
        }),
        ("problem details", |router| on_off(router.problem_details)),
        ("WebSockets", |router| on_off(router.web_sockets)),
    ];
    heading(out, "Settings");
    let names = parts.iter().map(|(map, _)| name_of(map).to_owned());
    let titles: Vec<String> = ["setting".to_owned()].into_iter().chain(names).collect();
    let rows = rows.iter().map(|(title, show)| {
        let values = parts.iter().map(|(map, _)| escape(&show(&map.router)));
        [(*title).to_owned()].into_iter().chain(values).collect()
    });
    table(out, &titles, rows);
    for info in parts.iter().filter_map(|(map, _)| map.configuration.as_ref()) {
        let values = info.settings.iter();
        let values: Vec<String> =
            values.map(|(key, value)| code(&format!("{key} = {value}"))).collect();
        let secrets = info.secrets.iter().map(|secret| {
            let size = match secret.bytes {
                Some(bytes) => format!("{bytes} bytes"),
                None => "outside of the file, not checked".to_owned(),
            };
            format!(
                "{}: {size}, {} needs {}",
                code(&secret.key),
                escape(&secret.algorithm),
                secret.needed
            )
        });
        let all: Vec<String> = values.into_iter().chain(secrets).collect();
        if !all.is_empty() {
            *out += &format!("<h3>Other values of {}</h3>\n", escape(&info.name));
            list(out, &all, "");
        }
    }
}

fn origins(cors: Option<&CorsInfo>) -> String {
    match cors {
        None => "none".to_owned(),
        Some(cors) if cors.credentials => format!("{}, with credentials", or_none(&cors.origins)),
        Some(cors) => or_none(&cors.origins),
    }
}

fn or_none(texts: &[String]) -> String {
    if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
}

fn on_off(is_on: bool) -> String {
    if is_on { "on" } else { "off" }.to_owned()
}

fn findings(out: &mut String, parts: &[Part]) {
    heading(out, "Open findings");
    let found = all_findings(parts);
    if found.is_empty() {
        out.push_str("<p class=\"good\">No rule is violated.</p>\n");
        return;
    }
    let titles = ["where", "rule", "finding", "fix", "place"].map(str::to_owned);
    let rows = found.into_iter().map(|(part, finding)| {
        let subject = match part {
            "code" => code(&finding.subject),
            file if file == finding.subject => code(file),
            file => format!("{} under {}", code(&finding.subject), code(file)),
        };
        let place = finding.location.as_ref().map(|place| code(&place.to_string()));
        vec![
            subject,
            format!("<b class=\"bad\">{}</b>", code(&finding.rule)),
            message(&finding.message),
            message(finding.mend.as_deref().unwrap_or_default()),
            place.unwrap_or_default(),
        ]
    });
    table(out, &titles, rows);
}

fn reasons(out: &mut String, parts: &[Part], (map, audit): &Part) {
    heading(out, "Accepted reasons");
    let titles = ["where", "exception", "reason", "place"].map(str::to_owned);
    let allowed = exceptions(parts).into_iter().map(|it| {
        let rule = code(&it.rule);
        vec![
            it.subject.as_deref().map_or_else(|| "all routes".to_owned(), code),
            if it.subject.is_none() { format!("{rule} is disabled") } else { rule },
            escape(&it.reason),
            code(&it.location.to_string()),
        ]
    });
    let of_routes = audit.routes.iter().flat_map(|route| {
        let public = route.public.as_ref().map(|reason| ("public", reason));
        let outlives = route.outlives_user.as_ref().map(|reason| ("outlives its user", reason));
        let rows = public.into_iter().chain(outlives);
        rows.map(move |(what, reason)| {
            vec![
                code(&route.route),
                what.to_owned(),
                escape(reason),
                code(&route.location.to_string()),
            ]
        })
    });
    let exempt = all_routes(map).filter_map(|route| {
        let reason = route.limits.rate_exempt_reason.as_ref()?;
        let place = code(&route.location.to_string());
        Some(vec![code(&route.label()), "no rate limit".to_owned(), escape(reason), place])
    });
    let rows: Vec<Vec<String>> = allowed.chain(of_routes).chain(exempt).collect();
    match rows.is_empty() {
        true => out.push_str("<p>There are none.</p>\n"),
        false => table(out, &titles, rows.into_iter()),
    }
}

fn risks(out: &mut String, parts: &[Part], (_, audit): &Part) {
    heading(out, "OWASP API Security Top 10 (2023)");
    for risk in &RISKS {
        *out += &format!("<section class=\"risk\">\n<h3>{} {}</h3>\n<dl>\n", risk.id, risk.title);
        let of_risk = RECOMMENDED.iter().chain(STRICT).filter(|rule| rule.owasp == risk.id);
        let rules: Vec<String> = of_risk.map(|rule| state(rule, parts)).collect();
        term(out, "rules", &rules);
        let codes = |names: &[&str]| names.iter().map(|name| code(name)).collect::<Vec<_>>();
        term(out, "routes.lock", &codes(risk.lock));
        let Risk { probes, unseen, .. } = risk;
        let attacks = probes.iter().map(|name| format!("attacks on {name}"));
        term(out, "tests", &attacks.chain(codes(risk.tests)).collect::<Vec<_>>());
        term(out, "no tool sees", &[message(unseen)]);
        out.push_str("</dl>\n</section>\n");
    }
    let own = audit.rules.iter().filter(|rule| rule.owasp.is_none());
    let own: Vec<String> =
        own.map(|rule| format!("{}: {}", code(&rule.id), escape(&rule.text))).collect();
    if !own.is_empty() {
        out.push_str("<h3>Rules of the program</h3>\n");
        list(out, &own, "");
    }
}

fn term(out: &mut String, name: &str, items: &[String]) {
    let items = if items.is_empty() { "none".to_owned() } else { items.join(", ") };
    *out += &format!("<dt>{name}</dt><dd>{items}</dd>\n");
}

/// Returns a rule with its state: followed, violated, accepted or disabled.
fn state(rule: &BuiltIn, parts: &[Part]) -> String {
    let is_in_force = |(_, audit): &Part| audit.rules.iter().any(|it| it.id == rule.id);
    let found = all_findings(parts).iter().filter(|(_, finding)| finding.rule == rule.id).count();
    let accepted = exceptions(parts);
    let accepted = accepted.iter().filter(|it| it.rule == rule.id).count();
    let (class, state) = match (parts.first().is_some_and(is_in_force), found, accepted) {
        (false, _, 0) => ("wait", "not in the policy".to_owned()),
        (false, ..) => ("wait", "disabled".to_owned()),
        (true, 0, 0) => ("good", "followed".to_owned()),
        (true, 0, accepted) => ("wait", format!("{accepted} accepted")),
        (true, found, _) => ("bad", format!("{found} open")),
    };
    format!("{} <b class=\"{class}\">({state})</b>", code(rule.id))
}

fn routes(out: &mut String, (_, audit): &Part) {
    heading(out, "Routes");
    let titles =
        ["route", "callers", "roles", "limits", "origins", "findings", "place"].map(str::to_owned);
    let rows = audit.routes.iter().map(|route| {
        let [label, who, roles, limits, origins, findings] = route.columns().map(|it| escape(&it));
        let place = code(&route.location.to_string());
        vec![format!("<code>{label}</code>"), who, roles, limits, origins, findings, place]
    });
    table(out, &titles, rows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;

    #[test]
    fn texts_are_escaped() {
        let cases = [
            ("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"),
            ("a\nb\u{202e}c", "a b\u{fffd}c"),
            ("größer", "größer"),
        ];
        for (text, expected) in cases {
            assert_eq!(escape(text), expected);
        }
        assert_eq!(message("a `<b>` c"), "a <code>&lt;b&gt;</code> c");
        assert_eq!(message("a ` b"), "a ` b");
    }

    #[test]
    fn each_risk_has_a_section_and_each_rule_a_state() {
        let map = RouteMap::default();
        let policy = Policy::recommended().without("rate-limited", "<a proxy>");
        let html = html(&[(map.clone(), policy.audit(&map))]);
        for number in 1..=10 {
            assert!(html.contains(&format!("<h3>API{number} ")), "API{number}");
        }
        assert!(html.contains("<code>errors-hidden</code> <b class=\"good\">(followed)</b>"));
        assert!(html.contains("<code>rate-limited</code> <b class=\"wait\">(disabled)</b>"));
        assert!(html.contains("<code>no-basic</code> <b class=\"wait\">(not in the policy)</b>"));
        assert!(html.contains("&lt;a proxy&gt;") && !html.contains("<a proxy>"));
        assert!(!html.contains("<script") && !html.contains("src="));
    }
}
