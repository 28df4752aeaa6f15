//! A terminal as an SVG file. Its lines appear one after another.

use std::fmt::Write as _;

/// A line of the terminal.
pub enum Line {
    /// A command after the prompt.
    Command(&'static str),
    Output(String),
}

/// Draws the lines. The last state of the picture shows all lines, and so does
/// a reader who prefers reduced motion.
pub fn picture(lines: &[Line]) -> String {
    let height = TOP + lines.len() * LINE_HEIGHT + BOTTOM;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" xml:space=\"preserve\" role=\"img\" aria-label=\"{LABEL}\">\n{STYLE}\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" class=\"b\"/>\n"
    );
    let mut begins_at = 0;
    for (number, line) in lines.iter().enumerate() {
        // A reader needs time for the output before the next command.
        begins_at += match line {
            Line::Command(_) if number > 0 => 2_500,
            Line::Command(_) => 500,
            Line::Output(_) => match lines.get(number.wrapping_sub(1)) {
                Some(Line::Command(_)) => 1_000,
                _ => 40,
            },
        };
        let y = TOP + (number + 1) * LINE_HEIGHT;
        let _ = writeln!(
            svg,
            "<text x=\"20\" y=\"{y}\" style=\"animation-delay: {begins_at}ms\">{}</text>",
            content(line)
        );
    }
    svg + "</svg>\n"
}

/// Returns the content of a line, with the classes of its parts.
fn content(line: &Line) -> String {
    match line {
        Line::Command(text) => format!("<tspan class=\"p\">$</tspan> {}", escaped(text)),
        Line::Output(text) => {
            let is_marker = text.contains("^^");
            match text.split_once("error:").filter(|(before, _)| before.is_empty()) {
                Some((_, message)) => {
                    format!("<tspan class=\"e\">error</tspan>:{}", escaped(message))
                }
                None if is_marker => {
                    let (bar, marker) = text.split_at(text.find('^').unwrap_or_default());
                    format!("{}<tspan class=\"e\">{}</tspan>", escaped(bar), escaped(marker))
                }
                None => escaped(text),
            }
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const LABEL: &str = "A terminal: rustc rejects the key PSOT and suggests POST; then explain lists \
                     what runs before the handler of POST /notes";

const STYLE: &str = "<style>
text { font: 13px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; fill: #24292f; animation: show 1ms linear backwards }
.b { fill: #f6f8fa; stroke: #d0d7de } .p { fill: #0a6c74; font-weight: bold } .e { fill: #cf222e; font-weight: bold }
@keyframes show { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { text { animation: none } }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .b { fill: #0d1117; stroke: #30363d } .p { fill: #2aa7b0 } .e { fill: #ff7b72 }
}
</style>
";

const WIDTH: usize = 720;
const LINE_HEIGHT: usize = 18;
const TOP: usize = 10;
const BOTTOM: usize = 18;
