"""The live link: a real program behind a real bottleneck, with the simulator's disciplines.

`line` resolves each direction by the rules of `compare`; `carrying` starts the process that carries packets (`worker`);
`log` is the record of calls into disciplines; `document` is the result as JSON. `comparing` runs the same traffic
(`workload`, and a `page` in a browser) under several disciplines, and `checkup` says whether links work on this
machine.

Nothing is imported here: `worker` and `workload` are programs of their own, which have to begin at once, and the first
with one thread.
"""
