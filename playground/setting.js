// A setting: what the controls say, as a link, as scenarios for the simulator, and as a command for a terminal.
// The module reads what stands in the texts, as the command line does.

// What the page knows, and the disciplines by name; there once it is unpacked.
let setup = null;
let disciplines = null;

// What a setting has one value of, besides the disciplines.
const NAMES = ["rate", "link", "placement", "rtt", "buffer", "duration", "speed", "seed"];
// Of a wrong text, so much is shown; a longer text is none.
const SHOWN = 160;
const LONGEST = 1000;
// Texts stand in the command below: nothing else than words that mean nothing to a shell between quotes.
const SPEC = /^[a-z0-9_-]+( [A-Za-z0-9_.,:%*[\]-]+)*$/;
const FLOWS = /^[A-Za-z0-9_.,:%*|=+-]+$/;
const LINK = /^[A-Za-z0-9_.,:%*|=+ [\]-]+$/;

// The module's answers to questions about texts.
let resolver = null;

// A quantity of an option in base units (bit/s, ns), or NaN.
function read(option, text) {
  give(resolver, { option, text: `${text}` });
  return answer(resolver, resolver.read()).value ?? NaN;
}

// A quantity with two significant digits.
function write(option, value) {
  give(resolver, { option, value: Math.round(Number(value.toPrecision(2))) });
  return answer(resolver, resolver.write()).text;
}

// A link's kind, its stations, and whether it has a rate of its own; or {error}.
function kindOfLink(text) {
  give(resolver, { text });
  return answer(resolver, resolver.link());
}

function fromLink(address) {
  const given = new URLSearchParams(address.replace(/^#/, ""));
  const wanted = { ...setup.start };
  for (const name of NAMES) {
    if (given.has(name)) wanted[name] = given.get(name);
  }
  if (given.has("flow")) wanted.flows = given.getAll("flow");
  for (const side of ["a", "b"]) if (given.has(side)) wanted[side] = given.get(side);
  return checked(wanted);
}

// A setting from texts, each replaced by that of the start where it cannot be used.
function checked(texts) {
  const setting = { problems: [] };
  const replace = (name, problem) => {
    setting[name] = setup.start[name];
    setting.problems.push(`${shortened(problem)}: ${setup.start[name]} is used`);
  };
  const take = (name, fine, called = name) => {
    setting[name] = texts[name];
    if (!fine(texts[name])) replace(name, `${called} '${texts[name]}' cannot be used here`);
  };
  const within = (value, low, high) => value >= low && value <= high;
  for (const name of ["duration", "speed", "placement"]) take(name, (text) => setup.choices[name].includes(text));
  take("seed", (text) => /^[0-9]{1,4}$/.test(text) && within(Number(text), 1, 1000));
  // Any other text is the module's to refuse; what it takes stands in the command as it is.
  for (const name of ["rate", "rtt", "buffer"]) take(name, (text) => text.length <= LONGEST);
  take("link", (text) => text.length <= LONGEST && LINK.test(text));
  const differ = (flows) => new Set(flows.map(kindOf)).size === flows.length;
  take("flows", (flows) => flows.length <= setup.flows.length && differ(flows) && flows.every((flow) => FLOWS.test(flow) && flow.length <= LONGEST));
  // All disciplines have the buffer of the setting: `compare` refuses unequal ones.
  const limited = (text) => text.split(/[ [\]]/).includes("limit");
  const named = (text) => text.length <= LONGEST && SPEC.test(text) && disciplines.has(text.split(" ")[0]) && !limited(text);
  take("a", named, "first discipline");
  take("b", named, "second discipline");
  let found = resolved(setting);
  // Each round replaces a text by one that can be used.
  for (let rounds = 0; found.error && rounds < NAMES.length; rounds++) {
    replace(found.option, found.error);
    found = resolved(setting);
  }
  const { scenario } = found;
  const most = { rate: within(scenario.capacity.rate_bps, 1e5, 1e9), rtt: within(scenario.rtt_ns, 1e5, 2e9) };
  most.buffer = found.buffer_bytes <= setup.mostBufferBytes;
  most.flows = found.counts.every((count) => count <= setup.mostFlows);
  const beyond = Object.keys(most).filter((name) => !most[name]);
  // A link with a rate of its own has no other.
  const cause = (name) => (name === "rate" && found.kind.has_rate ? "link" : name);
  for (const name of beyond.map(cause)) replace(name, `${name} '${setting[name]}' is too much or too little for a page`);
  return Object.assign(setting, beyond.length ? resolved(setting) : found);
}

// What the module makes of a setting, without a discipline or with that of a side; with it comes the kind of its link.
function resolved(setting, aqm) {
  const kind = kindOfLink(setting.link);
  if (kind.error) return kind;
  const options = ["link", ...pathOptions(kind), "duration"].map((name) => [name, setting[name]]);
  options.push(...setting.flows.map((flow) => ["flows", flow]));
  if (aqm) options.push(["aqm", aqm]);
  give(resolver, options);
  return { ...answer(resolver, resolver.resolve()), kind };
}

// What is given beside a link of this kind.
function pathOptions(kind) {
  return [...(kind.has_rate ? [] : ["rate"]), ...(kind.stations.length ? ["placement"] : []), "rtt", "buffer"];
}

// In one line.
function shortened(text) {
  const line = text.replace(/\s/g, " ");
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}

function kindOf(flow) {
  return flow.slice(flow.indexOf("*") + 1);
}

function toLink(setting) {
  const pairs = [...NAMES, "a", "b"].map((name) => [name, setting[name]]);
  return `#${new URLSearchParams([...pairs, ...setting.flows.map((flow) => ["flow", flow])])}`;
}

// The scenario of one side, as `aqmlab` resolves the command below; a discipline that is refused is refused again by the run.
function scenario(setting, side) {
  return resolved(setting, setting[side]).scenario ?? { ...setting.scenario, aqm: setting[side] };
}

function command(setting) {
  const flows = setting.flows.map((flow) => `--flows '${flow}'`).join(" ");
  const [a, b] = [setting.a, setting.b].map((spec) => `--aqm '${spec}'`);
  const link = setting.link === setup.start.link ? "" : `--link '${setting.link}' \\\n    `;
  const path = pathOptions(setting.kind).filter((name) => name !== "placement" || setting[name] !== setup.start[name]);
  return [
    `aqmlab compare ${link}${path.map((name) => `--${name} ${setting[name]}`).join(" ")} \\`,
    `    ${flows} \\`,
    `    ${a} ${a === b ? "" : `${b} `}\\`,
    `    --duration ${setting.duration} --seeds 1 --first-seed ${setting.seed}`,
  ].join("\n");
}
