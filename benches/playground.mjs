// The playground's module beside the native simulator: bottleneck packets a second, in turns.
//
//   node benches/playground.mjs [ROUNDS]
//
// It needs `make playground`, and builds the native side (crates/aqm-sim/examples/speed.rs, release). Both run the same scenario
// with all metrics and checks. Use an idle machine; the ratios of one run hardly depend on it.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const ROOT = new URL("..", import.meta.url).pathname;
const MODULE = `${ROOT}target/wasm/wasm32-unknown-unknown/wasm/aqm_wasm.wasm`;
const SPEED = `${process.env.CARGO_TARGET_DIR ?? `${ROOT}target`}/release/examples/speed`;
// Flows, discipline, simulated seconds, and keys of the native program.
const CASES = [
  ["20", "fifo limit 300p", "20", "mbit=100"],
  ["20", "fq_codel limit 1000p", "20", "mbit=100"],
  ["20", "cake", "20", "mbit=100"],
  ["10", "fifo limit 300p", "20", "mbit=100", "transport=bbr3"],
  ["100", "fifo limit 1667p", "10"],
];

function native(words) {
  return JSON.parse(execFileSync(SPEED, words, { encoding: "utf8" }));
}

// The module's packets and seconds for a scenario as JSON.
function inModule(module, scenario) {
  const simulator = new WebAssembly.Instance(module, {}).exports;
  const answer = (length) => JSON.parse(Buffer.from(simulator.memory.buffer, simulator.answer(), length).toString());
  const bytes = Buffer.from(scenario);
  const at = simulator.room(bytes.length);
  new Uint8Array(simulator.memory.buffer).set(bytes, at);
  const { error } = answer(simulator.start(1n));
  if (error) throw new Error(error);
  const began = process.cpuUsage();
  const { report } = answer(simulator.report());
  const { user, system } = process.cpuUsage(began);
  return { packets: report.bottleneck_packets, seconds: (user + system) / 1e6 };
}

function median(values) {
  return values.toSorted((one, other) => one - other)[values.length >> 1];
}

const rounds = Number(process.argv[2] ?? 5);
const build = ["build", "--release", "--locked", "--quiet", "-p", "aqm-sim", "--example", "speed"];
execFileSync("cargo", build, { cwd: ROOT, stdio: "inherit" });
const module = new WebAssembly.Module(readFileSync(MODULE));
console.log("| Flows, discipline | native, packets/s | module, packets/s | module over native |\n|---|---|---|---|");
for (const words of CASES) {
  const scenario = execFileSync(SPEED, [...words, "scenario=on"], { encoding: "utf8" });
  // The engine optimises what it runs often, on other threads: not counted.
  inModule(module, scenario);
  const found = Array.from({ length: rounds }, () => {
    const one = native(words);
    const ours = inModule(module, scenario);
    if (ours.packets !== one.bottleneck_packets) throw new Error(`${ours.packets} packets, natively ${one.bottleneck_packets}`);
    return [one.packets_per_cpu_s, ours.packets / ours.seconds];
  });
  const [natively, inPage] = [0, 1].map((side) => Math.round(median(found.map((pair) => pair[side]))));
  const ratio = median(found.map(([one, ours]) => ours / one)).toFixed(2);
  console.log(`| ${[words[0], words[1], ...words.slice(3)].join(", ")} | ${natively} | ${inPage} | ${ratio} |`);
}
