//! The figure of a run: queue delay, goodput of each group, window of each flow over time, as SVG.

use aqm_sim::report::Report;
use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 170.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 30.0;
/// From one panel to the next, and what of it is title and axis.
const STEP: f64 = 230.0;
const COLOURS: &[&str] = &["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// A panel: what it shows, and which columns of the series, in which unit.
const PANELS: [(&str, &str, &str, f64); 3] = [
    ("Queue delay, ms", "", "qdelay_ms", 1.0),
    ("Goodput, Mbit/s", "class.", ".goodput_mbit", 1.0),
    ("Congestion window, kB", "flow.", ".cwnd_bytes", 1e-3),
];

pub(crate) fn draw(title: &str, report: &Report) -> String {
    let series = &report.series;
    let (width, height) = (LEFT + WIDTH + 20.0, TOP + 3.0 * STEP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"20\">{}</text>\n",
        escaped(title)
    );
    for (number, (name, prefix, suffix, scale)) in PANELS.iter().enumerate() {
        let lines: Vec<(String, Vec<f64>)> = series
            .columns
            .iter()
            .filter_map(|(column, values)| {
                let label = column.strip_prefix(prefix)?.strip_suffix(suffix)?;
                Some((named(label, report), values.iter().map(|value| value * scale).collect()))
            })
            .collect();
        panel(&mut svg, name, &lines, &series.time_s, TOP + number as f64 * STEP + 30.0);
    }
    svg + "</svg>\n"
}

/// A flow is called by its group and its number, all else as it is.
fn named(label: &str, report: &Report) -> String {
    let flow = label.parse().ok().and_then(|number: usize| report.flows.get(number));
    flow.map_or_else(|| label.to_owned(), |flow| format!("{} {label}", flow.group))
}

fn panel(svg: &mut String, name: &str, lines: &[(String, Vec<f64>)], times: &[f64], top: f64) {
    let finite =
        |values: &[f64]| values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f64::max);
    let highest = lines.iter().map(|(_, values)| finite(values)).fold(1e-9, f64::max);
    let last = times.last().copied().unwrap_or(1.0);
    let bottom = top + HEIGHT;
    // Writing into a string cannot fail.
    let mut put = |text: String| writeln!(svg, "{text}").expect("it is a string");
    put(format!("<text x=\"{LEFT}\" y=\"{}\">{name}</text>", top - 6.0));
    put(format!(
        "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#999\"/>"
    ));
    for (value, y) in [(0.0, bottom), (highest, top + 10.0)] {
        put(format!("<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{value:.1}</text>", LEFT - 6.0));
    }
    put(format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{last:.1} s</text>",
        LEFT + WIDTH,
        bottom + 16.0
    ));
    for (number, (label, values)) in lines.iter().enumerate() {
        let points: Vec<String> = times
            .iter()
            .zip(values)
            .filter(|(_, value)| value.is_finite())
            .map(|(time, value)| {
                format!("{:.1},{:.1}", LEFT + WIDTH * time / last, bottom - HEIGHT * value / highest)
            })
            .collect();
        let colour = COLOURS[number % COLOURS.len()];
        put(format!("<polyline fill=\"none\" stroke=\"{colour}\" points=\"{}\"/>", points.join(" ")));
        // More labels than this find no place.
        if number < COLOURS.len() {
            let x = LEFT + 150.0 + 100.0 * number as f64;
            put(format!("<text x=\"{x}\" y=\"{}\" fill=\"{colour}\">{}</text>", top - 6.0, escaped(label)));
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
