// node run.mjs MODULE CAPTURE TRACE SCENARIO SEED: runs the simulator and writes its answer.
import { readFileSync, writeSync } from "node:fs";

const [module, capture, trace, scenario, seed] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const simulator = instance.exports;

function pass(bytes) {
  // The memory may move when it grows: look at it only once there is room.
  const at = simulator.room(bytes.length);
  new Uint8Array(simulator.memory.buffer).set(bytes, at);
}

pass(readFileSync(capture));
simulator.add_capture();
pass(readFileSync(trace));
simulator.add_link_trace();
pass(Buffer.from(scenario));
const length = simulator.run(BigInt(seed));
const answer = Buffer.from(simulator.memory.buffer, simulator.answer(), length);
for (let written = 0; written < length; ) written += writeSync(1, answer, written);
