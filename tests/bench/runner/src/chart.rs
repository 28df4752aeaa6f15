//! The chart: a group of bars for each workload, with the processor time per
//! request as a ratio to hyper.

use std::fmt::Write as _;

use crate::row::Row;

/// Returns the chart as SVG.
pub(crate) fn draw(rows: &[Row]) -> String {
    let mut body = String::new();
    let mut y = 40;
    let mut workload = "";
    for row in rows {
        if row.workload != workload {
            workload = &row.workload;
            y += 14;
            // Writing to a string cannot fail.
            let _ = writeln!(body, r#"<text x="10" y="{}" class="h">{workload}</text>"#, y + 12);
            y += 18;
        }
        body += &bar(row, y);
        y += BAR + 4;
    }
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">
<style>text {{ font: 12px sans-serif; fill: #24292f }} .h {{ font-weight: bold }} .o {{ fill: #0a6c74 }} .p {{ fill: #a9b4bf }}</style>
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="10" y="24" class="h">CPU time per request, hyper by hand = 1 (less is better)</text>
{body}</svg>
"##,
        height = y + 10,
    )
}

fn bar(row: &Row, y: u32) -> String {
    let ratio = row.ratio(|sample| sample.cpu);
    // Long bars are truncated; their numbers show the real value.
    let length = ratio.min(LONGEST) / LONGEST * f64::from(WIDTH - LEFT - 60);
    let class = if row.contestant.starts_with("stockade ") { "o" } else { "p" };
    let text = y + BAR - 3;
    format!(
        "<text x=\"20\" y=\"{text}\">{}</text>\
         <rect x=\"{LEFT}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR}\" class=\"{class}\"/>\
         <text x=\"{:.1}\" y=\"{text}\">{ratio:.2}</text>\n",
        row.contestant,
        f64::from(LEFT) + length + 6.0,
    )
}

const WIDTH: u32 = 720;
const LEFT: u32 = 170;
const BAR: u32 = 14;

/// The ratio that fills the chart.
const LONGEST: f64 = 4.0;
