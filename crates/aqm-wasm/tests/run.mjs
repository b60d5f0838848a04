// node run.mjs MODULE CAPTURE TRACE SEED SCENARIO...: runs each scenario in uneven steps, in an instance of its own, and writes
// a line for each: its report, or its error.
import { readFileSync, writeSync } from "node:fs";

const [file, capture, trace, seed, ...scenarios] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
for (const scenario of scenarios) {
  const line = Buffer.from(`${answer(scenario)}\n`);
  for (let written = 0; written < line.length; ) written += writeSync(1, line, written);
}

function answer(scenario) {
  const simulator = new WebAssembly.Instance(module, {}).exports;

  function pass(bytes) {
    // The memory may move when it grows: look at it only once there is room.
    const at = simulator.room(bytes.length);
    new Uint8Array(simulator.memory.buffer).set(bytes, at);
  }

  function said(length) {
    return Buffer.from(simulator.memory.buffer, simulator.answer(), length).toString();
  }

  pass(readFileSync(capture));
  simulator.add_capture();
  pass(readFileSync(trace));
  simulator.add_link_trace();
  pass(Buffer.from(scenario));
  let last = said(simulator.start(BigInt(seed)));
  const told = { time_s: [], queue_packets: [] };
  const duration = JSON.parse(scenario).duration_ns;
  for (let until = 1, stretch = 1e5; until < duration; until += stretch, stretch *= 2) {
    last = said(simulator.step(BigInt(until)));
    const { error, reached_ns, series } = JSON.parse(last);
    if (error) return last;
    if (reached_ns !== until) throw new Error(`reached ${reached_ns}, not ${until}`);
    told.time_s.push(...series.time_s);
    told.queue_packets.push(...(series.columns.queue_packets ?? []));
  }
  last = said(simulator.report());
  const { error, report } = JSON.parse(last);
  if (error) return last;
  for (const [name, values] of Object.entries({ time_s: report.series.time_s, ...report.series.columns })) {
    if (name in told && told[name].some((value, at) => value !== values[at])) throw new Error(`${name} was told otherwise`);
  }
  if (told.time_s.length < report.series.time_s.length / 3) throw new Error("little was told");
  return last;
}
