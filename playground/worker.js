// Holds the run of one side, so that the page stays alive. Each message asks for the simulation until a time; the first
// brings {module, scenario, seed} too. Each answer has the new points of the series, the last one the report; or {error}.

let simulator = null;
let durationNs;

onmessage = ({ data }) => {
  const began = performance.now();
  try {
    if (!simulator) start(data);
    const { series } = answered(simulator.step(BigInt(data.untilNs)));
    const { report } = data.untilNs < durationNs ? {} : answered(simulator.report());
    postMessage({ series, report, tookMs: performance.now() - began });
  } catch (error) {
    postMessage({ error: error instanceof Refusal ? error.message : `the simulator stopped: ${error.message}` });
  }
};

// What the simulator says is wrong.
class Refusal extends Error {}

function start({ module, scenario, seed }) {
  simulator = new WebAssembly.Instance(module, {}).exports;
  durationNs = scenario.duration_ns;
  const bytes = new TextEncoder().encode(JSON.stringify(scenario));
  // The memory may move when it grows: look at it only once there is room.
  const at = simulator.room(bytes.length);
  new Uint8Array(simulator.memory.buffer).set(bytes, at);
  answered(simulator.start(BigInt(seed)));
}

function answered(length) {
  const bytes = new Uint8Array(simulator.memory.buffer, simulator.answer(), length);
  const said = JSON.parse(new TextDecoder().decode(bytes));
  if (said.error) throw new Refusal(said.error);
  return said;
}
