// The charts: time series of both sides up to the moment shown.

const LABELS = { a: "first", b: "second" };

class Chart {
  // `lines` are [side, name of the column, scale]; a column that a run does not have is left out. What is `rare` is shown
  // only where there is some.
  constructor(parent, title, unit, lines, { rare = false } = {}) {
    this.lines = lines;
    this.rare = rare;
    this.figure = document.createElement("figure");
    this.caption = document.createElement("figcaption");
    this.caption.textContent = unit ? `${title} (${unit})` : title;
    this.box = document.createElement("div");
    this.figure.append(this.caption, this.box);
    parent.append(this.figure);
    this.plot = null;
  }

  // Draws it anew for results, with an axis for the whole run.
  show(results, looks, seconds) {
    this.plot?.destroy();
    const column = ([side, name]) => results[side]?.series.columns[name];
    const kept = this.lines.filter((line) => column(line) && (!this.rare || column(line).some((value) => value > 0)));
    this.figure.hidden = kept.length === 0;
    if (this.figure.hidden) {
      this.plot = null;
      return;
    }
    this.times = (results.a ?? results.b).series.time_s;
    this.values = kept.map((line) => column(line).map((value) => (value === null ? null : value * (line[2] ?? 1))));
    const largest = Math.max(0, ...this.values.flat().filter(Number.isFinite));
    const ink = getComputedStyle(document.body).getPropertyValue("--ink");
    const grid = { stroke: getComputedStyle(document.body).getPropertyValue("--line"), width: 1 };
    const axis = { stroke: ink, grid, ticks: grid, font: "12px sans-serif" };
    const series = kept.map(([side]) => ({
      label: looks[side].label, stroke: looks[side].colour, dash: looks[side].dash, width: 2, points: { show: false },
    }));
    this.plot = new uPlot({
      width: Math.max(this.box.clientWidth, 200),
      height: 190,
      legend: { live: true },
      cursor: { sync: { key: "time" }, drag: { x: true, y: false } },
      scales: { x: { time: false, range: [0, seconds] }, y: { range: [0, largest > 0 ? largest * 1.05 : 1] } },
      axes: [{ ...axis, values: (_, ticks) => ticks.map((tick) => `${tick} s`) }, { ...axis, size: 58 }],
      series: [{ label: "time", value: (_, at) => (at === null ? "" : `${at.toFixed(2)} s`) }, ...series],
    }, [this.times, ...this.values], this.box);
  }

  // Shows what is known at a moment.
  until(seconds) {
    if (!this.plot) return;
    const shown = this.times.filter((time) => time <= seconds).length;
    this.plot.setData([this.times.slice(0, shown), ...this.values.map((values) => values.slice(0, shown))], false);
    this.plot.redraw();
  }

  fit() {
    this.plot?.setSize({ width: Math.max(this.box.clientWidth, 200), height: 190 });
  }
}

// A chart of one of a discipline's own variables, to choose from.
class OwnChart extends Chart {
  constructor(parent, side) {
    super(parent, `Variables of the ${LABELS[side]} discipline`, "", []);
    this.side = side;
    this.select = document.createElement("select");
    this.select.setAttribute("aria-label", `Variable of the ${LABELS[side]} discipline`);
    this.select.addEventListener("change", () => this.redraw());
    this.caption.append(" ", this.select);
  }

  show(results, looks, seconds) {
    this.last = [results, looks, seconds];
    const probes = results[this.side] ? looks[this.side].probes : [];
    if (this.select.dataset.of !== looks[this.side].name) {
      this.select.replaceChildren(...probes.map((probe) => new Option(probe.unit ? `${probe.name} (${probe.unit})` : probe.name, probe.name)));
      this.select.dataset.of = looks[this.side].name;
    }
    this.select.title = probes.find((probe) => probe.name === this.select.value)?.help ?? "";
    this.lines = [[this.side, `probe.${this.select.value}`]];
    super.show(results, looks, seconds);
  }

  redraw() {
    this.show(...this.last);
    this.until(shownUntil());
  }
}
