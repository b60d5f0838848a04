// Holds the run of one side, so that the page stays alive. Each message asks for the simulation until a time; the first
// brings {module, scenario, seed} too. Each answer has the new points of the series, the last one the report; or {error}.
// A message with a question about a line, or with a household to run, is answered by {answer, key}.

let simulator = null;
let durationNs;

onmessage = ({ data }) => {
  const began = performance.now();
  try {
    if (data.module) simulator = new WebAssembly.Instance(data.module, {}).exports;
    if (data.question) return postMessage({ answer: advised(data.question) });
    if (data.household) return postMessage({ answer: household(data), key: data.key });
    if (data.scenario) start(data);
    const { series } = answered(simulator.step(BigInt(data.untilNs)));
    const { report } = data.untilNs < durationNs ? {} : answered(simulator.report());
    postMessage({ series, report, tookMs: performance.now() - began });
  } catch (error) {
    postMessage({ error: error instanceof Refusal ? error.message : `the simulator stopped: ${error.message}` });
  }
};

// What the simulator says is wrong.
class Refusal extends Error {}

function start({ scenario, seed }) {
  durationNs = scenario.duration_ns;
  give(simulator, scenario);
  answered(simulator.start(BigInt(seed)));
}

function advised(question) {
  give(simulator, question);
  return answered(simulator.advise());
}

// What a household notices of a run of its line in a setup.
function household({ household: { minutes, ...asked }, seed }) {
  start({ ...advised({ ask: "scenario", ...asked }), seed });
  const { report } = answered(simulator.report());
  return advised({ ask: "run", metrics: report.metrics, minutes });
}

function answered(length) {
  const found = answer(simulator, length);
  if (found.error) throw new Refusal(found.error);
  return found;
}
