// Runs scenarios in a module of its own, so that the page stays alive: gets {module, scenario, seed}, answers with what
// the module says, or with why it stopped.

onmessage = async ({ data: { module, scenario, seed } }) => {
  const started = performance.now();
  try {
    const simulator = (await WebAssembly.instantiate(module, {})).exports;
    const bytes = new TextEncoder().encode(JSON.stringify(scenario));
    // The memory may move when it grows: look at it only once there is room.
    const at = simulator.room(bytes.length);
    new Uint8Array(simulator.memory.buffer).set(bytes, at);
    const length = simulator.run(BigInt(seed));
    const answer = new Uint8Array(simulator.memory.buffer, simulator.answer(), length);
    postMessage({ ...JSON.parse(new TextDecoder().decode(answer)), tookMs: performance.now() - started });
  } catch (error) {
    postMessage({ error: `the simulator stopped: ${error.message}` });
  }
};
