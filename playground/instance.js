// How page and workers talk to an instance of the module.

// Puts data where the module reads it.
function give(instance, data) {
  const bytes = new TextEncoder().encode(JSON.stringify(data));
  // The memory may move when it grows: look at it only once there is room.
  const at = instance.room(bytes.length);
  new Uint8Array(instance.memory.buffer).set(bytes, at);
}

// The module's answer of this length.
function answer(instance, length) {
  const bytes = new Uint8Array(instance.memory.buffer, instance.answer(), length);
  return JSON.parse(new TextDecoder().decode(bytes));
}
