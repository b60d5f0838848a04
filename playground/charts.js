// The charts: time series of both sides up to the moment shown.

const LABELS = { a: "first", b: "second" };
// On a phone the controls have room below.
const HEIGHT = matchMedia("(max-width: 36rem)").matches ? 140 : 190;

class Chart {
  // `lines` are [side, name of the column, scale]; a column that a run does not have is left out. What is `rare` is shown
  // only where there is some. What leaps is drawn as the mean of the last `over` points.
  constructor(parent, title, unit, lines, { rare = false, over = 1 } = {}) {
    this.lines = lines;
    this.rare = rare;
    this.over = over;
    this.figure = document.createElement("figure");
    this.figure.hidden = true;
    this.caption = document.createElement("figcaption");
    this.caption.textContent = unit ? `${title} (${unit})` : title;
    this.box = document.createElement("div");
    this.figure.append(this.caption, this.box);
    parent.append(this.figure);
    this.plot = null;
    new ResizeObserver(() => this.plot?.setSize({ width: this.width(), height: HEIGHT })).observe(this.box);
  }

  // Draws what a run has of it so far, up to `until`; the axis is as long as the whole run.
  draw(run, styles, until) {
    const column = ([side, name]) => run.series[side]?.columns[name];
    const kept = this.lines.filter(column);
    // It does not go away before the run has none to its end.
    const isMissed = this.rare && (run.isOver || this.figure.hidden);
    this.figure.hidden = kept.length === 0 || (isMissed && !kept.some((line) => column(line).some((value) => value > 0)));
    if (this.figure.hidden) return;
    const scaled = (line) => column(line).map((value) => (value === null ? null : value * (line[2] ?? 1)));
    const values = kept.map((line) => smoothed(scaled(line), this.over));
    const known = values.flat().filter(Number.isFinite);
    this.range = [known.reduce((a, b) => Math.min(a, b), 0) * 1.05, known.reduce((a, b) => Math.max(a, b), 0) * 1.05 || 1];
    const seconds = run.durationNs / 1e9;
    const key = JSON.stringify([kept, styles, seconds]);
    if (key !== this.key || !this.plot) this.build(kept, styles, seconds);
    this.key = key;
    const times = (run.series.a ?? run.series.b).time_s;
    const shown = times.findLastIndex((time) => time <= until) + 1;
    this.plot.setData([times, ...values].map((column) => column.slice(0, shown)));
  }

  build(lines, styles, seconds) {
    this.plot?.destroy();
    const style = getComputedStyle(document.body);
    const grid = { stroke: style.getPropertyValue("--line"), width: 1 };
    const axis = { stroke: style.getPropertyValue("--ink"), grid, ticks: grid, font: "12px sans-serif" };
    const series = lines.map(([side]) => ({
      label: styles[side].label, stroke: styles[side].colour, dash: styles[side].dash, width: 2, points: { show: false },
      value: (_, value) => readable(value),
    }));
    this.plot = new uPlot({
      width: this.width(),
      height: HEIGHT,
      legend: { live: true },
      cursor: { sync: { key: "time" }, drag: { x: true, y: false } },
      scales: { x: { time: false, range: [0, seconds] }, y: { range: () => this.range } },
      axes: [{ ...axis, size: 32, values: (_, ticks) => ticks.map((tick) => `${tick} s`) }, { ...axis, size: 58, values: (_, ticks) => ticks.map(readable) }],
      series: [{ label: "time", value: (_, at) => (at === null ? "" : `${at.toFixed(2)} s`) }, ...series],
    }, null, this.box);
  }

  width() {
    return Math.max(this.box.clientWidth, 200);
  }
}

// A number with three digits; a dash where there is none.
function readable(value) {
  if (Number.isFinite(value) && value !== 0 && Math.abs(value) < 1e-3) return value.toExponential(1);
  return Number.isFinite(value) ? Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 }) : "–";
}

// Means of the last `over` values.
function smoothed(values, over) {
  if (over === 1) return values;
  let sum = 0;
  return values.map((value, at) => (sum += value - (values[at - over] ?? 0)) / Math.min(at + 1, over));
}

// Units of probes that are too large or too small to read, and what is shown instead.
const READABLE = { s: ["ms", 1e3], "bit/s": ["Mbit/s", 1e-6], fraction: ["%", 100] };

// A chart of one of a discipline's own variables, to choose from.
class OwnChart extends Chart {
  constructor(parent, side) {
    super(parent, `Variables of the ${LABELS[side]} discipline`, "", []);
    this.side = side;
    this.select = document.createElement("select");
    this.select.setAttribute("aria-label", `Variable of the ${LABELS[side]} discipline`);
    this.select.addEventListener("change", () => this.draw(...this.last));
    this.help = document.createElement("p");
    this.help.className = "summary";
    this.caption.append(" ", this.select);
    this.caption.after(this.help);
  }

  draw(run, styles, until) {
    this.last = [run, styles, until];
    const { name, probes } = styles[this.side];
    const shown = ({ unit }) => READABLE[unit] ?? [unit, 1];
    if (this.select.dataset.of !== name) {
      this.select.replaceChildren(...probes.map((probe) => new Option(`${probe.name} (${shown(probe)[0]})`, probe.name)));
      this.select.dataset.of = name;
    }
    const probe = probes.find((probe) => probe.name === this.select.value);
    this.help.textContent = probe?.help ?? "";
    this.lines = probe ? [[this.side, `probe.${probe.name}`, shown(probe)[1]]] : [];
    super.draw(run, styles, until);
  }
}
