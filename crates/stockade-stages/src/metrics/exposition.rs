//! The Prometheus text format.
//!
//! Source: Prometheus, Exposition formats, version 0.0.4.

use std::fmt::{self, Write as _};
use std::sync::atomic::Ordering;

use super::series::{BUCKETS, Series, Status};
use super::source::write_escaped;

/// Writes all metrics. `series` is in output order.
pub(super) fn write(series: &[&Series]) -> String {
    let mut text = String::with_capacity(1_024 + series.len() * 1_024);
    // Writing into a String cannot fail.
    let _ = write_to(&mut text, series);
    text
}

fn write_to(text: &mut String, series: &[&Series]) -> fmt::Result {
    text.push_str("# HELP http_requests_total Requests that were answered.\n");
    text.push_str("# TYPE http_requests_total counter\n");
    for one in series {
        for (status, count) in one.statuses() {
            let labels = Labels(one);
            writeln!(text, "http_requests_total{{{labels},status=\"{status}\"}} {count}")?;
        }
    }
    text.push_str("# HELP http_rejections_total Requests that were rejected, by reason.\n");
    text.push_str("# TYPE http_rejections_total counter\n");
    series.iter().try_for_each(|one| rejections(text, one))?;
    text.push_str("# HELP http_request_duration_seconds Time until the head of the response.\n");
    text.push_str("# TYPE http_request_duration_seconds histogram\n");
    series.iter().try_for_each(|one| durations(text, one))?;
    text.push_str("# HELP http_requests_in_flight Requests in progress.\n");
    text.push_str("# TYPE http_requests_in_flight gauge\n");
    for one in series.iter().filter(|one| is_known(one)) {
        let count = one.in_flight.load(Ordering::Relaxed);
        writeln!(text, "http_requests_in_flight{{{}}} {count}", Labels(one))?;
    }
    Ok(())
}

/// Returns true if the series has counted a request.
fn is_known(series: &Series) -> bool {
    series.in_flight.load(Ordering::Relaxed) > 0 || series.statuses().next().is_some()
}

/// Writes a line for each reason.
fn rejections(text: &mut String, series: &Series) -> fmt::Result {
    for (reason, count) in series.rejections() {
        let (labels, reason) = (Labels(series), reason.label());
        writeln!(text, "http_rejections_total{{{labels},reason=\"{reason}\"}} {count}")?;
    }
    Ok(())
}

fn durations(text: &mut String, series: &Series) -> fmt::Result {
    const NAME: &str = "http_request_duration_seconds";
    let labels = Labels(series);
    let cumulated = series.cumulated();
    let [.., all] = cumulated;
    if all == 0 {
        return Ok(());
    }
    for ((_, bound), count) in BUCKETS.iter().zip(cumulated) {
        writeln!(text, "{NAME}_bucket{{{labels},le=\"{bound}\"}} {count}")?;
    }
    let micros = series.sum_micros();
    let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
    writeln!(text, "{NAME}_bucket{{{labels},le=\"+Inf\"}} {all}")?;
    writeln!(text, "{NAME}_sum{{{labels}}} {seconds}.{rest:06}")?;
    writeln!(text, "{NAME}_count{{{labels}}} {all}")
}

/// Method, route and tool as labels.
struct Labels<'s>(&'s Series);

impl fmt::Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (route, tool) = self.0.route_and_tool();
        write!(f, "method=\"{}\",route=\"", self.0.method)?;
        write_escaped(f, route)?;
        f.write_char('"')?;
        match tool {
            // A tool's name is never escaped.
            Some(tool) => write!(f, ",tool=\"{tool}\""),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "{code}"),
            Self::Class(class) => write!(f, "{class}xx"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::StatusCode;

    use super::super::reason::Reason;
    use super::super::series::tool_series;
    use super::*;

    #[test]
    fn the_text_matches_the_format() {
        let series = Series::new("GET", "/a\\\"b\n");
        for (status, millis) in [(200, 1), (429, 30), (503, 20_000), (500, 2)] {
            let status = StatusCode::from_u16(status).unwrap();
            series.record(status, Reason::of_status(status), Duration::from_millis(millis));
        }
        let labels = r#"method="GET",route="/a\\\"b\n""#;
        let buckets = [1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3];
        let buckets: String = BUCKETS
            .iter()
            .zip(buckets)
            .map(|((_, bound), count)| {
                format!("http_request_duration_seconds_bucket{{{labels},le=\"{bound}\"}} {count}\n")
            })
            .collect();
        let expected = format!(
            "# HELP http_requests_total Requests that were answered.\n\
             # TYPE http_requests_total counter\n\
             http_requests_total{{{labels},status=\"200\"}} 1\n\
             http_requests_total{{{labels},status=\"429\"}} 1\n\
             http_requests_total{{{labels},status=\"500\"}} 1\n\
             http_requests_total{{{labels},status=\"503\"}} 1\n\
             # HELP http_rejections_total Requests that were rejected, by reason.\n\
             # TYPE http_rejections_total counter\n\
             http_rejections_total{{{labels},reason=\"rate_limit\"}} 1\n\
             http_rejections_total{{{labels},reason=\"server_error\"}} 2\n\
             # HELP http_request_duration_seconds Time until the head of the response.\n\
             # TYPE http_request_duration_seconds histogram\n\
             {buckets}\
             http_request_duration_seconds_bucket{{{labels},le=\"+Inf\"}} 4\n\
             http_request_duration_seconds_sum{{{labels}}} 20.033000\n\
             http_request_duration_seconds_count{{{labels}}} 4\n\
             # HELP http_requests_in_flight Requests in progress.\n\
             # TYPE http_requests_in_flight gauge\n\
             http_requests_in_flight{{{labels}}} 0\n"
        );
        assert_eq!(write(&[&series]), expected);
    }

    #[test]
    fn the_calls_of_a_tool_have_its_label() {
        let series = Series::new("GET", &tool_series(Some("/orders/:id"), "orders_show"));
        series.record(StatusCode::OK, None, Duration::from_millis(1));
        let text = write(&[&series]);
        let labels = r#"method="GET",route="/orders/:id",tool="orders_show""#;
        assert!(text.contains(&format!("http_requests_total{{{labels},status=\"200\"}} 1\n")));
        assert!(text.contains(&format!("http_requests_in_flight{{{labels}}} 0\n")), "{text}");
    }

    #[test]
    fn omits_series_without_requests() {
        let series = Series::new("GET", "(other)");
        assert!(!write(&[&series]).contains("(other)"));
    }
}
