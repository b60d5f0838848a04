// A setting: what the controls say, as a link, as scenarios for the simulator, and as a command for a terminal.
// Quantities are texts in tc's notation, as on the command line.

const setup = JSON.parse(document.getElementById("setup").textContent);
const disciplines = new Map(setup.disciplines.map((discipline) => [discipline.name, discipline]));

const UNITS = {
  rate: { kbit: 1e3, mbit: 1e6, gbit: 1e9 },
  time: { us: 1e3, ms: 1e6, s: 1e9 },
};

// What a setting has one value of, besides the disciplines.
const NAMES = ["rate", "rtt", "buffer", "duration", "speed", "seed"];
// Of a wrong text, so much is shown; a longer discipline is none.
const SHOWN = 40;
const LONGEST_SPEC = 1000;
// A discipline stands in the command below: nothing else than words that mean nothing to a shell between quotes.
const SPEC = /^[a-z0-9_-]+( [A-Za-z0-9_.,:%*[\]-]+)*$/;

// A quantity in base units (bit/s, ns), or NaN.
function parsed(text, units) {
  const match = /^([0-9]+(?:\.[0-9]+)?)([a-z]+)$/.exec(text);
  return match && units[match[2]] ? Math.round(Number(match[1]) * units[match[2]]) : NaN;
}

// The largest unit in which a quantity is at least one, and two significant digits.
function written(value, units) {
  const [unit, size] = Object.entries(units).filter(([, size]) => value >= size).at(-1) ?? Object.entries(units)[0];
  return `${Number((value / size).toPrecision(2))}${unit}`;
}

function fromLink(link) {
  const given = new URLSearchParams(link.replace(/^#/, ""));
  const wanted = { ...setup.start };
  for (const name of NAMES) {
    if (given.has(name)) wanted[name] = given.get(name);
  }
  if (given.has("flow")) wanted.flows = given.getAll("flow");
  for (const side of ["a", "b"]) if (given.has(side)) wanted[side] = given.get(side);
  return checked(wanted);
}

// A setting from texts, each replaced by that of the start where it cannot be understood.
function checked(texts) {
  const setting = { problems: [] };
  const take = (name, fine, called = name) => {
    setting[name] = fine(texts[name]) ? texts[name] : setup.start[name];
    if (setting[name] !== texts[name]) setting.problems.push(`${called} '${shortened(`${texts[name]}`)}' cannot be used: ${setting[name]} is`);
  };
  const within = (value, low, high) => value >= low && value <= high;
  take("rate", (text) => within(parsed(text, UNITS.rate), 1e5, 1e9));
  take("rtt", (text) => within(parsed(text, UNITS.time), 1e5, 2e9));
  take("buffer", (text) => /^[0-9]{1,6}p$/.test(text) && parseInt(text) > 0);
  for (const name of ["duration", "speed"]) take(name, (text) => setup.choices[name].includes(text));
  take("seed", (text) => /^[0-9]{1,4}$/.test(text) && within(Number(text), 1, 1000));
  const known = (text) => /^[0-9]{1,3}\*/.test(text) && within(countOf(text), 1, setup.mostFlows) && Object.hasOwn(setup.flows, kindOf(text));
  const differ = (flows) => new Set(flows.map(kindOf)).size === flows.length;
  take("flows", (flows) => flows.length > 0 && flows.every(known) && differ(flows));
  // All disciplines have the buffer of the setting: `compare` refuses unequal ones.
  const limited = (text) => text.split(/[ [\]]/).includes("limit");
  const named = (text) => text.length <= LONGEST_SPEC && SPEC.test(text) && disciplines.has(text.split(" ")[0]) && !limited(text);
  take("a", named, "first discipline");
  take("b", named, "second discipline");
  return setting;
}

// In one line.
function shortened(text) {
  const line = text.replace(/\s/g, " ");
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}

function kindOf(flow) {
  return flow.slice(flow.indexOf("*") + 1);
}

function countOf(flow) {
  return Number(flow.split("*")[0]);
}

function toLink(setting) {
  const pairs = [...NAMES, "a", "b"].map((name) => [name, setting[name]]);
  return `#${new URLSearchParams([...pairs, ...setting.flows.map((flow) => ["flow", flow])])}`;
}

// The scenario of one side, as `aqmlab` resolves the command below.
function scenario(setting, side) {
  const durationNs = parsed(setting.duration, UNITS.time);
  const taken = [];
  const flows = setting.flows.map((flow) => {
    const group = structuredClone(setup.flows[kindOf(flow)]);
    group.count = countOf(flow);
    let name = group.name;
    for (let number = 2; taken.includes(name); number++) name = `${group.name}-${number}`;
    taken.push(name);
    return { ...group, name };
  });
  return {
    ...setup.scenario,
    aqm: withLimit(setting[side], setting.buffer),
    capacity: { rate_bps: parsed(setting.rate, UNITS.rate) },
    rtt_ns: parsed(setting.rtt, UNITS.time),
    duration_ns: durationNs,
    warmup_ns: warmupMs(setting) * 1e6,
    sample_ns: Math.max(Math.floor(durationNs / setup.samples / 1e6) * 1e6, setup.shortestSampleNs),
    flows,
  };
}

// A discipline that has a limit gets the buffer.
function withLimit(spec, buffer) {
  const limited = disciplines.get(spec.split(" ")[0]).params.some((param) => param.name === "limit");
  return limited ? `${spec} limit ${buffer}` : spec;
}

function warmupMs(setting) {
  return Math.floor(parsed(setting.duration, UNITS.time) / 3e6);
}

function command(setting) {
  const flows = setting.flows.map((flow) => `--flows '${flow}'`).join(" ");
  const [a, b] = [setting.a, setting.b].map((spec) => `--aqm '${spec}'`);
  return [
    `aqmlab compare --rate ${setting.rate} --rtt ${setting.rtt} --buffer ${setting.buffer} \\`,
    `    ${flows} \\`,
    `    ${a} ${a === b ? "" : `${b} `}\\`,
    `    --duration ${setting.duration} --warmup ${warmupMs(setting)}ms --seeds 1 --first-seed ${setting.seed}`,
  ].join("\n");
}
