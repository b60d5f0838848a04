// node run.mjs MODULE CAPTURE TRACE SCENARIO SEED: runs the simulator in uneven steps and writes its report, or its error.
import { readFileSync, writeSync } from "node:fs";

const [module, capture, trace, scenario, seed] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const simulator = instance.exports;

function pass(bytes) {
  // The memory may move when it grows: look at it only once there is room.
  const at = simulator.room(bytes.length);
  new Uint8Array(simulator.memory.buffer).set(bytes, at);
}

function answer(length) {
  return Buffer.from(simulator.memory.buffer, simulator.answer(), length);
}

function answered(length) {
  const said = JSON.parse(answer(length));
  if (said.error) end(JSON.stringify(said));
  return said;
}

function end(said) {
  const bytes = Buffer.from(said);
  for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
  process.exit();
}

pass(readFileSync(capture));
answered(simulator.add_capture());
pass(readFileSync(trace));
answered(simulator.add_link_trace());
pass(Buffer.from(scenario));
answered(simulator.start(BigInt(seed)));
const told = { time_s: [], queue_packets: [] };
const duration = JSON.parse(scenario).duration_ns;
for (let until = 1, stretch = 1e5; until < duration; until += stretch, stretch *= 2) {
  const { reached_ns, series } = answered(simulator.step(BigInt(until)));
  if (reached_ns !== until) throw new Error(`reached ${reached_ns}, not ${until}`);
  told.time_s.push(...series.time_s);
  told.queue_packets.push(...(series.columns.queue_packets ?? []));
}
const report = Buffer.from(answer(simulator.report()));
const { series } = JSON.parse(report).report ?? {};
for (const [name, values] of Object.entries({ time_s: series?.time_s, ...series?.columns })) {
  if (name in told && told[name].some((value, at) => value !== values[at])) throw new Error(`${name} was told otherwise`);
}
if (series && told.time_s.length < series.time_s.length / 3) throw new Error("little was told");
end(report);
