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

// A menu with its label; calls back with the chosen place.
function menu(parent, label, names, onChange) {
  if (names.length < 2) return () => 0;
  const select = element("select", element("label", parent, {}, label + " "));
  names.forEach((name, place) => element("option", select, { value: place }, name));
  select.addEventListener("change", onChange);
  return () => Number(select.value);
}

const short = (value) => (value == null ? "-" : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3))));

// A colour that an earlier discipline has: told apart by the dash of lines and by hollow dots.
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
      scales: { x: { time: false, distr: options.logX ? 3 : 1, range: options.logX ? (_, low, high) => [low, high] : undefined }, y: { distr: options.logY ? 3 : 1, range: options.rangeY } },
      axes: [
        { ...axis, label: options.labelX, labelFont: axis.font },
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
          points: options.dots ? { show: true, size: 8, width: 2, fill: isTwin(place) ? "#ffffff" : aqm.colour } : { show: false },
          paths: options.dots ? () => null : undefined,
          value: (_, value) => short(value),
        })),
      ],
    },
    [x, ...lines.map((line) => line ?? x.map(() => null))],
    chart.box,
  );
}

// Points of several runs share one axis: the values of all, in order, with gaps where a run has none.
function cloud(across, upwards) {
  const points = [];
  across.forEach((values, aqm) => values.forEach((value, run) => value != null && points.push([value, aqm, upwards[aqm][run]])));
  points.sort((one, other) => one[0] - other[0]);
  return [points.map((one) => one[0]), across.map((_, aqm) => points.map((one) => (one[1] === aqm ? one[2] : null)))];
}

const KINDS = {
  delays(chart, controls, redraw) {
    const point = scenario(controls, redraw);
    const of = () => data.points[point()].delays;
    const which = menu(controls, "Delay", of().map((one) => one.title), redraw);
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
    return () => {
      const one = of()[Math.min(which(), of().length - 1)];
      draw(chart, one.x, one.y, { title: one.title, labelX: "Time (s)", labelY: one.title });
    };
  },
  runs(chart, controls, redraw) {
    const point = scenario(controls, redraw);
    const of = () => data.points[point()].runs;
    const place = (name) => Math.max(of().findIndex((one) => one.name === name), 0);
    const titles = of().map((one) => one.title + (one.better ? `, ${one.better} is better` : ""));
    const across = menu(controls, "Across", titles, redraw);
    const upwards = menu(controls, "Up", titles, redraw);
    const selects = controls.querySelectorAll("select");
    selects[selects.length - 2].value = place("qdelay_mean_ms");
    selects[selects.length - 1].value = place("goodput_mbit");
    return () => {
      const [x, y] = [of()[across()], of()[upwards()]];
      const [places, lines] = cloud(x.y, y.y);
      draw(chart, places, lines, { title: `${y.title} by ${x.title}`, labelX: x.title, labelY: y.title, dots: true });
    };
  },
};

function scenario(controls, redraw) {
  return menu(controls, "Scenario", data.points.map((one) => one.name), redraw);
}

for (const figure of document.querySelectorAll("figure[data-chart]")) {
  const kind = figure.dataset.chart;
  if (!data.points.every((one) => one[kind].length)) continue;
  const holder = element("div", figure, { class: "chart" });
  figure.insertBefore(holder, figure.querySelector("figcaption"));
  const controls = element("div", holder, { class: "controls" });
  const chart = { box: element("div", holder, { class: "plot" }) };
  const reset = document.createElement("button");
  const redraw = KINDS[kind](chart, controls, () => redraw());
  reset.textContent = "Whole range";
  reset.addEventListener("click", redraw);
  controls.append(reset);
  figure.classList.add("live");
  charts.push({ chart, redraw });
  redraw();
}

for (const box of document.querySelectorAll("input[data-aqm]")) {
  box.closest("fieldset").hidden = false;
  box.addEventListener("change", () => {
    const place = Number(box.dataset.aqm);
    box.checked ? hidden.delete(place) : hidden.add(place);
    for (const { chart } of charts) chart.plot.setSeries(place + 1, { show: box.checked });
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
