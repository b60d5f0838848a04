// node doors.mjs MODULE OPTIONS...: writes a line for the options of each entry: its scenario or those of its sweep, or the message about it.
import { readFileSync, writeSync } from "node:fs";

const [file, ...entries] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
const { memory, room, resolve, sweep, answer } = new WebAssembly.Instance(module, {}).exports;
for (const entry of entries) {
  const pairs = Object.entries(JSON.parse(entry)).flatMap(([name, texts]) => [texts].flat().map((text) => [name, text]));
  const bytes = Buffer.from(JSON.stringify(pairs));
  // The memory may move when it grows: look at it only once there is room.
  const at = room(bytes.length);
  new Uint8Array(memory.buffer).set(bytes, at);
  const length = "sweep" in JSON.parse(entry) ? sweep() : resolve();
  const found = Buffer.from(memory.buffer, answer(), length).toString();
  const line = Buffer.from(`${found}\n`);
  for (let written = 0; written < line.length; ) written += writeSync(1, line, written);
}
