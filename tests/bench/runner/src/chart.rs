//! The charts: a group of bars for each workload, with the processor time per
//! request as a ratio to hyper.

use std::fmt::Write as _;

use crate::row::Row;

/// Returns a chart as SVG. The date and the machine are part of the picture.
///
/// A ratio above [`LONGEST`] is a line of text below its group, because a bar
/// would have to be cut.
pub(crate) fn draw<'r>(rows: impl IntoIterator<Item = &'r Row>, about: &str) -> String {
    let mut chart = Chart { body: String::new(), y: 56, above: Vec::new() };
    let mut workload = "";
    for row in rows {
        if row.workload != workload {
            chart.end_group();
            workload = &row.workload;
            chart.heading(workload);
        }
        chart.row(row);
    }
    chart.end_group();
    let (body, height) = (chart.body, chart.y + 10);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">
<style>
text {{ font: 12px sans-serif; fill: #24292f }} .h {{ font-weight: bold }} .b {{ fill: #ffffff }} .o {{ fill: #0a6c74 }} .p {{ fill: #a9b4bf }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #e6edf3 }} .b {{ fill: #0d1117 }} .o {{ fill: #2aa7b0 }} .p {{ fill: #6e7681 }} }}
</style>
<rect width="100%" height="100%" class="b"/>
<text x="10" y="24" class="h">CPU time per request; hand-written hyper is 1, less is better</text>
<text x="10" y="42">{about}</text>
{body}</svg>
"##
    )
}

struct Chart {
    body: String,
    /// The next free line, in pixels from the top.
    y: u32,
    /// Rows of this group without a bar.
    above: Vec<String>,
}

impl Chart {
    fn heading(&mut self, workload: &str) {
        self.y += 14;
        self.text(10, workload, " class=\"h\"");
        self.y += BAR + 4;
    }

    fn row(&mut self, row: &Row) {
        let ratio = row.ratio(|sample| sample.cpu);
        if ratio > LONGEST {
            self.above.push(format!("{} {ratio:.2}", row.contestant));
            return;
        }
        let length = ratio / LONGEST * f64::from(WIDTH - LEFT - 60);
        let class = if row.contestant.starts_with("stockade ") { "o" } else { "p" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            self.body,
            "<text x=\"20\" y=\"{text}\">{}</text>\
             <rect x=\"{LEFT}\" y=\"{}\" width=\"{length:.1}\" height=\"{BAR}\" class=\"{class}\"/>\
             <text x=\"{:.1}\" y=\"{text}\">{ratio:.2}</text>",
            row.contestant,
            self.y,
            f64::from(LEFT) + length + 6.0,
            text = self.y + BAR - 3,
        );
        self.y += BAR + 4;
    }

    /// Writes the rows without a bar.
    fn end_group(&mut self) {
        if !self.above.is_empty() {
            let text = format!("above {LONGEST}: {}", self.above.join(", "));
            self.text(20, &text, "");
            self.y += BAR + 4;
            self.above.clear();
        }
    }

    fn text(&mut self, x: u32, text: &str, attributes: &str) {
        let y = self.y + BAR - 3;
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\"{attributes}>{text}</text>");
    }
}

const WIDTH: u32 = 720;
const LEFT: u32 = 170;
const BAR: u32 = 14;

/// The ratio that fills the chart.
const LONGEST: f64 = 2.5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row;

    #[test]
    fn draws_bars_to_scale_and_lists_longer_ones() {
        let rows = row::example("json", None);
        let chart = draw(&rows, "today");
        let drawn = rows.iter().filter(|row| row.ratio(|sample| sample.cpu) <= LONGEST).count();
        assert_eq!(chart.matches("<rect x=").count(), drawn, "{chart}");
        assert_eq!(chart.contains("above 2.5"), drawn < rows.len(), "{chart}");
        assert!(chart.contains("today"), "{chart}");
    }
}
