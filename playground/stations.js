// The stations of a Wi-Fi: who has the air, and how long packets take, in a picture and in charts.

// Charts of more stations would bury the others.
const MOST_CHARTED = 4;
// Of a run that goes on, the picture shows so much.
const RECENT_S = 1;

class Stations {
  constructor(box, charts) {
    this.box = box;
    this.parent = charts;
    this.names = [];
    this.charts = [];
  }

  // Draws a run of these stations up to a time; there may be none.
  draw(names, run, styles, until) {
    this.box.hidden = names.length === 0;
    if (`${names}` !== `${this.names}`) this.build(names);
    for (const chart of this.charts) chart.draw(run, styles, until);
    if (names.length) this.paint(run, styles, until);
  }

  build(names) {
    this.names = names;
    for (const chart of this.charts) chart.figure.remove();
    const both = (name, column, scale) => SIDES.map((side) => [side, `station.${name}.${column}`, scale]);
    this.charts = names.slice(0, MOST_CHARTED).flatMap((name) => [
      new Chart(this.parent, `Delay of ${name}`, "ms, in the queues and on the air", both(name, "delay_total_ms"), { over: 10 }),
      new Chart(this.parent, `${name}'s share of the air`, "%", both(name, "airtime_share", 100), { over: 10 }),
    ]);
    this.parent.prepend(...this.charts.map((chart) => chart.figure));
    this.parent.scrollLeft = 0;
  }

  paint(run, styles, until) {
    const isWhole = run.isOver && until * 1e9 >= run.durationNs;
    const use = isWhole ? wholeUse : (run, side, name) => recentUse(run, side, name, until);
    const when = isWhole ? "After the warm-up" : "In the last second";
    const sides = SIDES.filter((side) => run.series[side]).map((side) => {
      const uses = this.names.map((name) => use(run, side, name));
      const bar = made("div", "bar");
      bar.setAttribute("aria-hidden", "true");
      bar.append(...uses.map(({ share }, at) => Object.assign(made("span", `station-${at % MOST_CHARTED}`), { style: `flex-grow: ${share || 0}` })));
      const list = document.createElement("ul");
      list.append(...uses.map(({ share, delay }, at) => {
        const item = document.createElement("li");
        item.append(made("span", `swatch station-${at % MOST_CHARTED}`), ` ${this.names[at]}: ${readable(100 * share)} % of the air, packets take ${readable(delay)} ms`);
        return item;
      }));
      return [Object.assign(document.createElement("h3"), { textContent: styles[side].label }), bar, list];
    });
    const heading = Object.assign(document.createElement("h2"), { textContent: `Who has the air? ${when}` });
    this.box.replaceChildren(heading, ...sides.flat());
  }
}

function made(tag, className) {
  return Object.assign(document.createElement(tag), { className });
}

// A station's share of the air and the delay of its packets, as a finished run reports them.
function wholeUse(run, side, name) {
  const metric = (column) => run.reports[side]?.metrics[`station.${name}.${column}`] ?? NaN;
  return { share: metric("airtime_share"), delay: metric("delay_total_ms") };
}

// The same in the time before `until`.
function recentUse(run, side, name, until) {
  const { time_s, columns } = run.series[side];
  const mean = (column) => {
    const values = (columns[`station.${name}.${column}`] ?? []).filter((value, at) => Number.isFinite(value) && time_s[at] <= until && time_s[at] > until - RECENT_S);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  return { share: mean("airtime_share"), delay: mean("delay_total_ms") };
}

// What the second discipline changes for the stations.
function stationsVerdict(names, run) {
  const [then, now] = SIDES.map((side) => names.map((name) => wholeUse(run, side, name)));
  const taken = names.flatMap((name, at) => (Number.isFinite(then[at].delay + now[at].delay) ? [`${readable(then[at].delay)} → ${readable(now[at].delay)} ms to ${name}`] : []));
  const most = then.reduce((most, { share }, at) => (share > then[most].share ? at : most), 0);
  const shares = [then, now].map((one) => readable(100 * one[most].share)).join(" → ");
  return [`packets take ${taken.join(" and ")}`, `${names[most]} has ${shares} % of the air`];
}
