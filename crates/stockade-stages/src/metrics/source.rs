//! [`MetricsSource`]: metrics of another part of the program.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::{Arc, OnceLock};

/// A part of a program with its own metrics, which
/// [`Metrics::add_source`](super::Metrics::add_source) adds to the request
/// metrics.
///
/// ```
/// use stockade::middleware::Metrics;
/// use stockade::middleware::metrics::{MetricsSource, MetricsWriter};
///
/// struct Queue;
///
/// impl MetricsSource for Queue {
///     fn collect(&self, to: &mut MetricsWriter) {
///         to.gauge("queue_jobs", "Jobs that wait.", &[("queue", "mail")], 3.0);
///     }
/// }
///
/// let metrics = Metrics::new();
/// metrics.add_source(Queue);
/// assert!(metrics.text().contains("queue_jobs{queue=\"mail\"} 3\n"));
/// ```
pub trait MetricsSource: Send + Sync + 'static {
    /// Writes the current metrics. It is called for each scrape.
    fn collect(&self, to: &mut MetricsWriter);

    /// Returns the names of all metrics that it may write, so a dashboard can
    /// show them before the program runs. Default: none.
    #[must_use]
    fn families() -> &'static [&'static str]
    where
        Self: Sized,
    {
        &[]
    }
}

/// A shared source.
impl<S: MetricsSource> MetricsSource for Arc<S> {
    fn collect(&self, to: &mut MetricsWriter) {
        S::collect(self, to);
    }

    fn families() -> &'static [&'static str] {
        S::families()
    }
}

/// A source that the program opens later, such as a database. It does not
/// have metrics until then.
impl<S: MetricsSource> MetricsSource for OnceLock<S> {
    fn collect(&self, to: &mut MetricsWriter) {
        if let Some(source) = self.get() {
            source.collect(to);
        }
    }

    fn families() -> &'static [&'static str] {
        S::families()
    }
}

/// A writer that groups metrics by name: several sources may write the same
/// metric with different labels.
#[derive(Debug, Default)]
pub struct MetricsWriter {
    families: BTreeMap<&'static str, Family>,
}

/// The metrics with one name.
#[derive(Debug)]
struct Family {
    help: &'static str,
    kind: &'static str,
    lines: String,
}

/// A snapshot of a histogram.
#[derive(Clone, Copy, Debug)]
pub struct HistogramValue<'a> {
    /// The bounds in ascending order.
    pub bounds: &'a [f64],
    /// The number of values in each bucket, from the smallest bound to the
    /// values above all bounds.
    pub counts: &'a [u64],
    /// The sum of all values.
    pub sum: f64,
}

impl MetricsWriter {
    /// Writes a counter; its name ends in `_total`.
    pub fn counter(
        &mut self,
        name: &'static str,
        help: &'static str,
        labels: &[(&str, &str)],
        value: u64,
    ) {
        let lines = self.family(name, help, "counter");
        let _ = writeln!(lines, "{name}{} {value}", Labels(labels, None));
    }

    /// Writes a value that goes up and down.
    pub fn gauge(
        &mut self,
        name: &'static str,
        help: &'static str,
        labels: &[(&str, &str)],
        value: f64,
    ) {
        let lines = self.family(name, help, "gauge");
        let _ = writeln!(lines, "{name}{} {value}", Labels(labels, None));
    }

    /// Writes a histogram.
    pub fn histogram(
        &mut self,
        name: &'static str,
        help: &'static str,
        labels: &[(&str, &str)],
        value: HistogramValue<'_>,
    ) {
        let lines = self.family(name, help, "histogram");
        let mut all = 0;
        let bounds = value.bounds.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
        for (bound, count) in bounds.zip(value.counts) {
            all += count;
            let _ = writeln!(lines, "{name}_bucket{} {all}", Labels(labels, Some(&bound)));
        }
        let _ = writeln!(lines, "{name}_sum{} {}", Labels(labels, None), value.sum);
        let _ = writeln!(lines, "{name}_count{} {all}", Labels(labels, None));
    }

    fn family(
        &mut self,
        name: &'static str,
        help: &'static str,
        kind: &'static str,
    ) -> &mut String {
        let new = || Family { help, kind, lines: String::new() };
        &mut self.families.entry(name).or_insert_with(new).lines
    }

    /// Appends all metrics.
    pub(super) fn append_to(&self, text: &mut String) {
        for (name, Family { help, kind, lines }) in &self.families {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{lines}");
        }
    }
}

/// Labels in braces, including the bound of a bucket.
struct Labels<'a>(&'a [(&'a str, &'a str)], Option<&'a str>);

impl fmt::Display for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = self.1.map(|bound| ("le", bound));
        let mut separator = '{';
        for (name, value) in self.0.iter().copied().chain(bound) {
            write!(f, "{separator}{name}=\"")?;
            write_escaped(f, value)?;
            f.write_char('"')?;
            separator = ',';
        }
        if separator == ',' { f.write_char('}') } else { Ok(()) }
    }
}

/// Writes the escaped value of a label.
pub(super) fn write_escaped(f: &mut fmt::Formatter<'_>, value: &str) -> fmt::Result {
    for char in value.chars() {
        match char {
            '\\' => f.write_str("\\\\")?,
            '"' => f.write_str("\\\"")?,
            '\n' => f.write_str("\\n")?,
            char => f.write_char(char)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_source_announces_its_metrics() {
        struct Queue;
        impl MetricsSource for Queue {
            fn collect(&self, to: &mut MetricsWriter) {
                to.gauge("queue_jobs", "Jobs that wait.", &[], 3.0);
            }

            fn families() -> &'static [&'static str] {
                &["queue_jobs"]
            }
        }
        let metrics = crate::Metrics::new();
        let later = Arc::new(OnceLock::new());
        assert!(!metrics.announces("queue_jobs"));
        metrics.add_source(Arc::clone(&later));
        assert!(metrics.announces("queue_jobs"));
        assert!(!metrics.text().contains("queue_jobs"));
        assert!(later.set(Queue).is_ok());
        assert!(metrics.text().contains("queue_jobs 3\n"));
    }

    #[test]
    fn metrics_of_a_name_are_grouped() {
        let mut writer = MetricsWriter::default();
        for link in ["a", "b\"\n"] {
            let labels = [("link", link)];
            writer.counter("x_total", "Things.", &labels, 2);
            let value = HistogramValue { bounds: &[0.5, 1.0], counts: &[1, 0, 2], sum: 7.25 };
            writer.histogram("x_seconds", "Times.", &labels, value);
        }
        writer.gauge("up", "It is up.", &[], 1.0);
        let mut text = String::new();
        writer.append_to(&mut text);
        let histogram = |link: &str| {
            format!(
                "x_seconds_bucket{{link=\"{link}\",le=\"0.5\"}} 1\n\
                 x_seconds_bucket{{link=\"{link}\",le=\"1\"}} 1\n\
                 x_seconds_bucket{{link=\"{link}\",le=\"+Inf\"}} 3\n\
                 x_seconds_sum{{link=\"{link}\"}} 7.25\n\
                 x_seconds_count{{link=\"{link}\"}} 3\n"
            )
        };
        let expected = format!(
            "# HELP up It is up.\n# TYPE up gauge\nup 1\n\
             # HELP x_seconds Times.\n# TYPE x_seconds histogram\n{}{}\
             # HELP x_total Things.\n# TYPE x_total counter\n\
             x_total{{link=\"a\"}} 2\nx_total{{link=\"b\\\"\\n\"}} 2\n",
            histogram("a"),
            histogram("b\\\"\\n"),
        );
        assert_eq!(text, expected);
    }
}
