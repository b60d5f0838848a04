// The page: controls change the setting, the setting is run for both sides, the results are drawn.

const $ = (id) => document.getElementById(id);
// What the ends of a slider mean; between them it is logarithmic.
const SLIDERS = {
  rate: { low: 5e5, high: 5e8, value: () => setting.scenario.capacity.rate_bps, write: (value) => write("rate", value) },
  rtt: { low: 1e6, high: 5e8, value: () => setting.scenario.rtt_ns, write: (value) => write("rtt", value) },
  buffer: { low: 5, high: 5000, value: () => setting.buffer_bytes / setup.fullPacketBytes, write: (value) => `${Math.round(Number(value.toPrecision(2)))}p` },
};

let setting = null;
let module = null;
let run = null;

const charts = [
  new Chart($("charts"), "Queueing delay", "ms, mean of the period", [["a", "qdelay_ms"], ["b", "qdelay_ms"]]),
  new Chart($("charts"), "Queue", "packets", [["a", "queue_packets"], ["b", "queue_packets"]]),
  new Chart($("charts"), "Goodput", "Mbit/s, mean of ten periods; above the link's rate where packets that waited behind a lost one are delivered at once", [["a", "goodput_mbit"], ["b", "goodput_mbit"]], { over: 10 }),
  new Chart($("charts"), "Drops", "packets in the period", [["a", "drops"], ["b", "drops"]]),
  new Chart($("charts"), "Marks", "packets in the period", [["a", "marks"], ["b", "marks"]], { rare: true }),
  new Chart($("charts"), "Congestion window of the first flow", "kB", [["a", "flow.0.cwnd_bytes", 1e-3], ["b", "flow.0.cwnd_bytes", 1e-3]]),
  new OwnChart($("charts"), "a"),
  new OwnChart($("charts"), "b"),
];
const air = new Stations($("stations"), $("charts"));

// Simulated time on show, seconds.
function shownUntil() {
  return (Number($("time").value) / 1000) * (run.durationNs / 1e9);
}

// Colours and dashes of disciplines are those of all figures, but of two with the same dash the second has another.
function styles() {
  const names = Object.fromEntries(SIDES.map((side) => [side, setting[side].split(" ")[0]]));
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const isAlike = `${disciplines.get(names.a).styles[0].dash}` === `${disciplines.get(names.b).styles[0].dash}`;
  return Object.fromEntries(SIDES.map((side) => {
    const discipline = disciplines.get(names[side]);
    const style = discipline.styles[side === "b" && isAlike ? 1 : 0];
    const colour = dark ? style.colour_dark : style.colour;
    const label = names.a === names.b ? `${names[side]} (${LABELS[side]})` : names[side];
    return [side, { colour, dash: style.dash.map((part) => 2 * part), label, name: names[side], probes: discipline.probes }];
  }));
}

function change(part) {
  put(part);
  simulate();
}

function put(part) {
  setting = checked({ ...setting, ...part });
  history.replaceState(null, "", toLink(setting));
  showSetting();
}

function showSetting() {
  for (const [name, slider] of Object.entries(SLIDERS)) {
    const place = Math.log(slider.value() / slider.low) / Math.log(slider.high / slider.low);
    if (document.activeElement !== $(name)) $(name).value = Math.round(100 * place);
    const text = name === "rate" && setting.kind.has_rate ? `${readable(slider.value() / 1e6)} Mbit/s, of the link` : setting[name];
    $(`${name}-value`).value = text;
    $(name).setAttribute("aria-valuetext", text);
  }
  showLink();
  $("buffer-value").value += ` = ${write("rtt", bufferNs())}`;
  $("duration").value = setting.duration;
  $("speed").value = setting.speed;
  if (document.activeElement !== $("seed")) $("seed").value = setting.seed;
  showFlows();
  for (const side of SIDES) showDiscipline(side);
  for (const key of document.querySelectorAll(".key")) key.style.background = styles()[key.dataset.side].colour;
}

// The command, unless the simulator refuses a discipline: then `aqmlab` does so too.
function showCommand() {
  $("command").textContent = SIDES.some((side) => run.errors[side]) ? "# None: a discipline is refused." : command(setting);
}

// How long the full buffer takes to leave.
function bufferNs() {
  return (setting.buffer_bytes * 8e9) / setting.scenario.capacity.rate_bps;
}

function showFlows() {
  const kinds = setting.flows.map(kindOf);
  const rows = setting.flows.map((flow, at) => {
    const row = document.createElement("div");
    row.className = "flow";
    const label = document.createElement("label");
    label.htmlFor = `flow-${at}`;
    label.textContent = `${kindOf(flow)} `;
    label.append(Object.assign(document.createElement("output"), { value: setting.counts[at] }));
    const slider = Object.assign(document.createElement("input"), { type: "range", id: `flow-${at}`, min: 1, max: setup.mostFlows, value: setting.counts[at] });
    slider.addEventListener("input", () => {
      label.querySelector("output").value = slider.value;
      later(() => change({ flows: setting.flows.with(at, `${slider.value}*${kindOf(flow)}`) }));
    });
    const remove = Object.assign(document.createElement("button"), { type: "button", textContent: "×" });
    remove.setAttribute("aria-label", `Remove ${kindOf(flow)}`);
    remove.disabled = setting.flows.length === 1;
    remove.addEventListener("click", () => change({ flows: setting.flows.toSpliced(at, 1) }));
    row.append(label, slider, remove);
    return row;
  });
  // A slider that is being dragged stays.
  const same = [...$("flows").querySelectorAll("label")].map((label) => label.firstChild.data.trim()).join() === kinds.join();
  if (!same || !$("flows").contains(document.activeElement)) $("flows").replaceChildren(...rows);
  const free = setup.flows.filter((kind) => !kinds.includes(kind));
  $("add").replaceChildren(new Option("a kind of flow …", ""), ...free.map((kind) => new Option(kind, kind)));
}

function showDiscipline(side) {
  const [name, ...given] = setting[side].split(" ");
  const discipline = disciplines.get(name);
  $(`${side}-name`).value = name;
  $(`${side}-summary`).textContent = discipline.summary;
  const box = $(`${side}-params`);
  if (box.dataset.of === name && box.contains(document.activeElement)) return;
  box.dataset.of = name;
  box.replaceChildren(...discipline.params.filter((param) => param.name !== "limit").flatMap((param) => {
    const at = given.indexOf(param.name);
    const input = param.words.length ? document.createElement("select") : document.createElement("input");
    // The default may be none of the words: what the law finds itself.
    if (param.words.length) input.append(...[...new Set([param.default, ...param.words])].map((word) => new Option(word, word)));
    else input.placeholder = param.default;
    input.value = at < 0 ? (param.words.length ? param.default : "") : given[at + 1];
    input.id = `${side}-${param.name}`;
    input.title = `${param.help}. Allowed: ${param.allowed}. Default: ${param.default}. ${param.reference}`;
    input.addEventListener("change", () => change({ [side]: spec(side, name) }));
    const label = Object.assign(document.createElement("label"), { htmlFor: input.id, textContent: param.name, title: input.title });
    return [label, input];
  }));
}

// The discipline of a side with the parameters that differ from their defaults.
function spec(side, name) {
  const given = disciplines.get(name).params.flatMap((param) => {
    const value = $(`${side}-${param.name}`)?.value.trim();
    return value && value !== param.default ? [param.name, value] : [];
  });
  return [name, ...given].join(" ");
}

let waiting = 0;

// Does it once nothing has changed for a moment.
function later(action) {
  clearTimeout(waiting);
  waiting = setTimeout(action, 80);
}

// Runs the setting from its beginning.
function simulate() {
  run?.stop();
  const scenarios = Object.fromEntries(SIDES.map((side) => [side, scenario(setting, side)]));
  run = new Run({ module, scenarios, seed: Number(setting.seed), speed: setup.speeds[setting.speed], onFrame: showFrame });
  for (const cell of $("numbers").querySelectorAll("td.value")) cell.textContent = "…";
  $("verdict").textContent = "…";
  showCommand();
  showPlayer();
  say(`Simulating twice ${setting.duration} …`);
}

// Draws how far the run has come.
function showFrame() {
  $("time").value = (1000 * run.reachedNs) / run.durationNs;
  showUntil();
  showCommand();
  showPlayer();
  if (!run.isOver) return;
  showNumbers();
  showVerdict();
  const events = SIDES.reduce((sum, side) => sum + (run.reports[side]?.events ?? 0), 0);
  say(`Twice ${setting.duration} simulated in ${Math.round(run.tookMs)} ms: ${events.toLocaleString("en")} events.`);
  dispatchEvent(new CustomEvent("simulated", { detail: run }));
}

// Says how it is, and what is wrong.
function say(text) {
  const failed = SIDES.filter((side) => run?.errors[side]).map((side) => `${LABELS[side]} discipline: ${run.errors[side]}`);
  const wrong = [...setting.problems, ...failed];
  $("status").textContent = wrong.length ? `${wrong.join("; ")}. ${text}` : text;
  $("status").className = wrong.length ? "problem" : "";
}

// Draws the run up to the time on show.
function showUntil() {
  const style = styles();
  const until = Math.min(shownUntil(), run.reachedNs / 1e9);
  for (const chart of charts) chart.draw(run, style, until);
  air.draw(setting.kind.stations, run, style, until);
  $("time-value").value = `${until.toFixed(1)} s`;
}

function showPlayer() {
  $("play").textContent = run.isOver ? "Again" : run.isPaused ? "Go on" : "Pause";
}

// What the second discipline changes, the largest part first.
function showVerdict() {
  const names = SIDES.map((side) => styles()[side].label);
  const stations = SIDES.every((side) => run.reports[side]) ? setting.kind.stations : [];
  // A queue's mean says little where each station waits for itself.
  const compared = [...(stations.length ? [] : [["qdelay_mean_ms", "queue delay", "ms"]]), ["goodput_mbit", "goodput", "Mbit/s"]];
  const changes = compared.flatMap(([name, what, unit]) => {
    const [then, now] = SIDES.map((side) => run.reports[side]?.metrics[name]);
    if (!(then > 0) || !Number.isFinite(now)) return [];
    const share = now / then - 1;
    const size = Math.abs(100 * share);
    const how = share > 1 ? `${readable(now / then)} times the ${what}` : size < 0.05 ? `the same ${what}` : `${size >= 10 ? Math.round(size) : size.toFixed(1)} % ${share < 0 ? "less" : "more"} ${what}`;
    return [{ size, text: `${how} (${size < 0.05 ? "" : `${readable(then)} → `}${readable(now)} ${unit})` }];
  });
  const parts = changes.toSorted((one, other) => other.size - one.size).map(({ text }) => text);
  if (stations.length) parts.unshift(...stationsVerdict(stations, run));
  $("verdict").textContent = parts.length ? `${names[1]} against ${names[0]}: ${parts.join(", ")}. One run; another seed may differ.` : "";
}

function showNumbers() {
  const style = styles();
  const cell = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const head = document.createElement("tr");
  head.append(cell("td", ""), ...SIDES.map((side) => cell("th", style[side].label)));
  $("numbers").tHead.replaceChildren(head);
  $("numbers").hidden = false;
  // Jain's index says something only among several flows that want the same.
  const count = setting.counts.reduce((sum, one) => sum + one);
  const wants = new Set(setting.flows.map((flow) => setup.wants[kindOf(flow)] ?? ""));
  const isShown = (name) => name !== "jain_index" || (count > 1 && wants.size === 1 && !wants.has(""));
  const ofStations = setting.kind.stations.flatMap((station) => setup.stationMetrics.map((metric) => (
    { ...metric, name: `station.${station}.${metric.name}`, title: `${metric.title}: ${station}` })));
  const rows = [...setup.metrics, ...ofStations].filter(({ name }) => isShown(name) && SIDES.some((side) => Number.isFinite(run.reports[side]?.metrics[name])));
  $("numbers").tBodies[0].replaceChildren(...rows.map(({ name, title, unit, scale }) => {
    const row = document.createElement("tr");
    const label = cell("th", unit ? `${title} (${unit})` : title);
    label.scope = "row";
    const values = SIDES.map((side) => run.reports[side]?.metrics[name] * scale);
    row.append(label, ...values.map((value) => Object.assign(cell("td", readable(value)), { className: "value" })));
    return row;
  }));
}

function play() {
  if (run.isOver) return simulate();
  if (run.isPaused) run.goOn();
  else run.pause();
  showPlayer();
}

// Shows an earlier time of the run, which waits.
function lookBack() {
  if (!run) return;
  if (!run.isOver) run.pause();
  $("time").value = Math.min($("time").value, (1000 * run.reachedNs) / run.durationNs);
  showUntil();
  showPlayer();
}

function fillChoices() {
  const groups = Map.groupBy(setup.disciplines, (discipline) => discipline.group);
  for (const side of SIDES) {
    $(`${side}-name`).append(...[...groups].map(([label, members]) => {
      const group = Object.assign(document.createElement("optgroup"), { label });
      group.append(...members.map(({ name }) => new Option(name, name)));
      return group;
    }));
    $(`${side}-name`).addEventListener("change", (event) => change({ [side]: event.target.value }));
  }
  for (const name of ["duration", "speed"]) $(name).append(...setup.choices[name].map((choice) => new Option(choice, choice)));
}

function listen() {
  for (const [name, slider] of Object.entries(SLIDERS)) {
    $(name).addEventListener("input", (event) => {
      const value = slider.low * (slider.high / slider.low) ** (Number(event.target.value) / 100);
      $(`${name}-value`).value = slider.write(value);
      later(() => change({ [name]: slider.write(value) }));
    });
  }
  for (const name of ["duration", "seed"]) $(name).addEventListener("change", (event) => change({ [name]: event.target.value }));
  $("add").addEventListener("change", (event) => change({ flows: [...setting.flows, `1*${event.target.value}`] }));
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  $("play").addEventListener("click", play);
  $("speed").addEventListener("change", (event) => {
    put({ speed: event.target.value });
    if (run) run.speed = setup.speeds[setting.speed];
  });
  $("time").addEventListener("input", lookBack);
  $("copy").addEventListener("click", async () => {
    // A page from a disk may have no clipboard: the address bar has the link too.
    $("copied").textContent = (await copied(location.href)) ? "copied" : "copy it from the address bar";
  });
  addEventListener("hashchange", () => {
    if (location.hash.includes("my-down=")) { showLine(lineOf(location.hash)); return turn(true); }
    turn(false);
    setting = fromLink(location.hash);
    showSetting();
    simulate();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { showSetting(); if (run) showUntil(); });
}

// Large parts are in the page compressed, as text.
function unpacked(id) {
  const packed = Uint8Array.from(atob($(id).textContent.trim()), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
}

const workerUrl = URL.createObjectURL(new Blob([$("worker").textContent], { type: "text/javascript" }));
begin().catch((error) => { $("status").textContent = `This browser cannot run the simulator: ${error.message}`; });

async function begin() {
  setup = await unpacked("setup").json();
  disciplines = new Map(setup.disciplines.map((discipline) => [discipline.name, discipline]));
  module = await WebAssembly.compile(await unpacked("module").arrayBuffer());
  resolver = (await WebAssembly.instantiate(module, {})).exports;
  setting = fromLink(location.hash);
  fillChoices();
  listen();
  listenToLink();
  listenToLine();
  showSetting();
  simulate();
}
