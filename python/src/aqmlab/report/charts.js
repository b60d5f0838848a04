// Interactive charts in place of the drawn ones: point, drag to zoom, choose disciplines, groups and metrics.
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const hidden = new Set();
const charts = [];

function element(name, parent, attributes = {}, text = "") {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(text);
  parent.append(made);
  return made;
}

// A menu with its label; calls back when another place is chosen, and returns what tells the place.
function menu(parent, text, names, onChange) {
  if (names.length < 2) return () => 0;
  const label = element("label", parent, {}, text + " ");
  const select = element("select", label);
  names.forEach((name, place) => element("option", select, { value: place }, name));
  select.addEventListener("change", onChange);
  return Object.assign(() => Number(select.value), { label, select });
}

const short = (value) => (value == null ? "-" : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));

// A colour that an earlier discipline has: distinguished by the dash of lines and by hollow dots.
const isTwin = (place) => data.aqms.findIndex((one) => one.colour === data.aqms[place].colour) < place;
const border = (dash) => (dash.length === 0 ? "solid" : dash[0] > 2 ? "dashed" : "dotted");

function draw(chart, x, lines, options) {
  chart.plot?.destroy();
  chart.shown = { title: options.title, points: x.length, lines: lines.filter((line) => line && line.some((y) => y != null)).length };
  const axis = { stroke: "#24292f", grid: { stroke: "#d8dee4", width: 1 }, ticks: { stroke: "#d8dee4" }, font: "12px system-ui, sans-serif" };
  chart.plot = new uPlot(
    {
      width: Math.max(chart.box.clientWidth, 260),
      height: Math.min(400, Math.max(260, chart.box.clientWidth * 0.5)),
      cursor: { drag: { x: true, y: true, uni: 40 }, focus: { prox: 24 } },
      focus: { alpha: 0.35 },
      scales: { x: { time: false, distr: options.logX ? 3 : 1, range: options.rangeX ?? (options.logX ? (_, low, high) => [low, high] : undefined) }, y: { distr: options.logY ? 3 : 1, range: options.rangeY } },
      axes: [
        { ...axis, ...ticks(options.ticks), label: options.labelX, labelFont: axis.font },
        { ...axis, label: options.labelY, labelFont: axis.font, size: 58 },
      ],
      legend: { markers: { width: 3, dash: (_, place) => (place === 0 ? "solid" : border(data.aqms[place - 1].dash)) } },
      series: [
        { label: options.labelX, value: (_, value) => short(value) },
        ...data.aqms.map((aqm, place) => ({
          label: aqm.name,
          show: !hidden.has(place),
          stroke: aqm.colour,
          width: 2,
          dash: aqm.dash.map((part) => part * 2),
          points: options.dots || options.joined ? { show: true, size: 8, width: 2, fill: isTwin(place) ? "#ffffff" : aqm.colour } : { show: false },
          paths: options.dots ? () => null : undefined,
          value: (_, value) => short(value),
        })),
      ],
      hooks: { drawAxes: [(plot) => front(plot, options.front ?? [])], draw: [(plot) => whiskers(plot, options)] },
    },
    [x, ...lines.map((line) => line ?? x.map(() => null))],
    chart.box,
  );
}

// Texts at given places.
function ticks(given) {
  if (!given) return {};
  return { splits: () => given.places, values: () => given.values, filter: (_, splits) => splits };
}

// What no other beats, joined.
function front(plot, points) {
  plot.ctx.save();
  plot.ctx.strokeStyle = "#afb8c1";
  plot.ctx.lineWidth = 3 * devicePixelRatio;
  plot.ctx.beginPath();
  for (const [x, y] of points) plot.ctx.lineTo(plot.valToPos(x, "x", true), plot.valToPos(y, "y", true));
  plot.ctx.stroke();
  plot.ctx.restore();
}

// The intervals of points.
function whiskers(plot, { low, high }) {
  if (!low) return;
  const { left, top, width, height } = plot.bbox;
  plot.ctx.save();
  plot.ctx.beginPath();
  plot.ctx.rect(left, top, width, height);
  plot.ctx.clip();
  plot.ctx.lineWidth = devicePixelRatio;
  data.aqms.forEach((aqm, place) => {
    if (!plot.series[place + 1].show) return;
    plot.ctx.strokeStyle = aqm.colour;
    plot.ctx.beginPath();
    plot.data[0].forEach((x, at) => {
      const [from, to] = [low[place]?.[at], high[place]?.[at]];
      if (from == null || to == null) return;
      plot.ctx.moveTo(plot.valToPos(x, "x", true), plot.valToPos(from, "y", true));
      plot.ctx.lineTo(plot.valToPos(x, "x", true), plot.valToPos(to, "y", true));
    });
    plot.ctx.stroke();
  });
  plot.ctx.restore();
}

// Those points that no other is as good as in both and better in one, from left to right; better is higher or lower.
function best(points, x, y) {
  const sign = (way) => (way === "higher" ? 1 : -1);
  const beats = (one, other) => [one, other].every(Boolean) && (one[0] - other[0]) * sign(x) >= 0 && (one[1] - other[1]) * sign(y) >= 0 && (one[0] !== other[0] || one[1] !== other[1]);
  return points.filter((own) => !points.some((other) => beats(other, own))).sort((one, other) => one[0] - other[0]);
}

const mean = (values) => {
  const known = values.filter((value) => value != null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
};

// From zero to a little above the highest value, intervals included unless they would flatten everything.
function fromZero(lines, high) {
  const [top, ends] = [lines, high].map((all) => Math.max(0, ...all.flat().filter((value) => value != null)));
  const low = Math.min(0, ...lines.flat().filter((value) => value != null));
  return [low * 1.05, Math.max(top, Math.min(ends, top * 2)) * 1.05 || 1];
}

const padded = (log) => (_, low, high) => {
  const [room, ratio] = [(high - low) * 0.04 || 1, (high / low) ** 0.04 || 1];
  return log ? [low / ratio, high * ratio] : [low - room, high + room];
};

// Points of several runs share one axis: the values of all, in order, with gaps where a run has none.
function cloud(across, upwards) {
  const points = [];
  across.forEach((values, aqm) => values.forEach((value, run) => value != null && points.push([value, aqm, upwards[aqm][run]])));
  points.sort((one, other) => one[0] - other[0]);
  return [points.map((one) => one[0]), across.map((_, aqm) => points.map((one) => (one[1] === aqm ? one[2] : null)))];
}

// Shows the one with this name at first, if there is one and a choice.
function choose(which, all, name) {
  if (which.select) which.select.value = Math.max(all.findIndex((one) => one.name === name), 0);
}

const KINDS = {
  delays(chart, controls, redraw) {
    const point = scenario(controls, redraw);
    const of = () => data.points[point()].delays;
    const which = menu(controls, "Delay", of().map((one) => one.title), redraw);
    choose(which, of(), data.points[point()].first.delays);
    const way = menu(controls, "Show", ["share below", "share above"], redraw);
    return () => {
      const one = of()[Math.min(which(), of().length - 1)];
      const above = way() === 1;
      const lines = one.y.map((line) => line && (above ? line.map((share) => (share < 1 ? 1 - share : null)) : line));
      draw(chart, one.x, lines, {
        title: one.title, labelX: one.title, labelY: above ? "Share of packets above" : "Share of packets",
        logX: !above, logY: above, rangeY: above ? undefined : [0, 1.02],
      });
    };
  },
  series(chart, controls, redraw) {
    const point = scenario(controls, redraw);
    const of = () => data.points[point()].series;
    const which = menu(controls, "Series", of().map((one) => one.title), redraw);
    choose(which, of(), data.points[point()].first.series);
    return () => {
      const one = of()[Math.min(which(), of().length - 1)];
      draw(chart, one.x, one.y, { title: one.title, labelX: "Time (s)", labelY: one.title });
    };
  },
  runs(chart, controls, redraw) {
    const point = scenario(controls, redraw);
    const of = () => data.points[point()].runs;
    const titles = of().map((one) => one.title + (one.better ? `, ${one.better} is better` : ""));
    const across = menu(controls, "Across", titles, redraw);
    const upwards = menu(controls, "Up", titles, redraw);
    choose(across, of(), data.points[point()].first.runs);
    choose(upwards, of(), "goodput_mbit");
    const most = Math.max(...of()[0].y.map((values) => values.length));
    const way = menu(controls, "Show", most > 1 ? ["every run", "means, and those beaten in neither"] : ["every run"], redraw);
    return () => {
      const [x, y] = [of()[across()], of()[upwards()]];
      const isMeans = way() === 1;
      const [xs, ys] = [x, y].map((one) => (isMeans ? one.y.map((values) => [mean(values)]) : one.y));
      const [places, lines] = cloud(xs, ys);
      const shown = xs.map(([value], aqm) => [value, ys[aqm][0]]).filter((one, aqm) => !one.includes(null) && !hidden.has(aqm));
      draw(chart, places, lines, {
        title: `${y.title} by ${x.title}`, labelX: x.title, labelY: y.title, dots: true, rangeX: padded(false),
        front: isMeans && x.better && y.better ? best(shown, x.better, y.better) : [],
      });
    };
  },
  fairness(chart, controls, redraw) {
    const point = scenario(controls, redraw);
    return () => {
      const one = data.points[point()].fairness[0];
      draw(chart, one.x, one.y, {
        title: one.title, labelX: "Base round-trip time of the flow (ms)", labelY: one.title, low: one.low, high: one.high,
        joined: true, rangeX: padded(false), rangeY: fromZero(one.y, one.high), ticks: { places: one.x, values: one.x.map(short) },
      });
    };
  },
  // One swept name across, and a value of each other; a sample of scenarios is a cloud of all.
  sweep(chart, controls, redraw) {
    const { names, points, metrics, first, isGrid } = data.sweep;
    const which = menu(controls, "Metric", metrics.map((one) => one.title), redraw);
    const across = menu(controls, "Across", names.map((one) => one.name), redraw);
    const fixed = isGrid && names.length > 1 ? names.map((one) => menu(controls, one.name, one.values, redraw)) : [];
    choose(which, metrics, first);
    return () => {
      const [metric, name] = [metrics[which()], across()];
      const own = names[name];
      fixed.forEach(({ label }, at) => label && (label.hidden = at === name));
      const chosen = points.map((_, at) => at).filter((at) => fixed.every((value, other) => other === name || points[at][other] === value()));
      chosen.sort((one, other) => own.places[points[one][name]] - own.places[points[other][name]]);
      const pick = (lines) => lines.map((line) => chosen.map((at) => line[at]));
      const [y, low, high] = [metric.y, metric.low, metric.high].map(pick);
      draw(chart, chosen.map((at) => own.places[points[at][name]]), y, {
        title: metric.title, labelX: own.title, labelY: metric.title, logX: own.log, rangeX: padded(own.log),
        dots: !isGrid, joined: isGrid, low, high, rangeY: fromZero(y, high),
        ticks: own.values.length <= 12 || isGrid ? thinned(own) : undefined,
      });
    };
  },
};

// Of many values, so many that their texts have room.
function thinned({ places, values }) {
  const step = Math.ceil(values.length / 12);
  const kept = (all) => all.filter((_, at) => at % step === 0);
  return { places: kept(places), values: kept(values) };
}

function scenario(controls, redraw) {
  return menu(controls, "Scenario", data.points.map((one) => one.name), redraw);
}

for (const figure of document.querySelectorAll("figure[data-chart]")) {
  const kind = figure.dataset.chart;
  if (kind === "sweep" ? !data.sweep : !data.points.length || !data.points.every((one) => one[kind].length)) continue;
  const holder = element("div", figure, { class: "chart" });
  figure.insertBefore(holder, figure.querySelector("figcaption"));
  const controls = element("div", holder, { class: "controls" });
  const chart = { box: element("div", holder, { class: "plot" }) };
  const reset = document.createElement("button");
  const redraw = KINDS[kind](chart, controls, () => redraw());
  reset.textContent = "Whole range";
  reset.addEventListener("click", redraw);
  controls.append(reset);
  figure.hidden = false;
  figure.classList.add("live");
  for (const other of document.querySelectorAll(`figure[data-shown-by="${kind}"]`)) other.classList.add("covered");
  charts.push({ chart, redraw });
  redraw();
}

for (const box of document.querySelectorAll("input[data-aqm]")) {
  box.closest("fieldset").hidden = false;
  box.addEventListener("change", () => {
    const place = Number(box.dataset.aqm);
    box.checked ? hidden.delete(place) : hidden.add(place);
    for (const { redraw } of charts) redraw();
    for (const row of document.querySelectorAll("tr[data-aqm]")) if (row.dataset.aqm === box.value) row.hidden = !box.checked;
  });
}
document.getElementById("hint").hidden = charts.length === 0;
let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width) return;
  width = innerWidth;
  for (const { redraw } of charts) redraw();
});
