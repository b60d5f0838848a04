// A run of both sides in lock step: each has a worker, and both are asked for the next stretch of simulated time when
// both have answered. `speed` is simulated time over real time; none is as fast as it goes.

const SIDES = ["a", "b"];
// Real time of a stretch: often enough to look like a movement.
const FRAME_MS = 40;

class Run {
  constructor({ module, scenarios, seed, speed, onFrame }) {
    this.durationNs = scenarios.a.duration_ns;
    this.speed = speed;
    this.onFrame = onFrame;
    this.reachedNs = 0;
    this.stretchNs = this.durationNs / 200;
    this.isPaused = false;
    this.isOver = false;
    this.tookMs = 0;
    this.series = {};
    this.reports = {};
    this.errors = {};
    this.workers = {};
    for (const side of SIDES) {
      this.workers[side] = new Worker(workerUrl);
      this.workers[side].onmessage = ({ data }) => this.hear(side, data);
      this.workers[side].onerror = ({ message }) => this.hear(side, { error: `the simulator stopped: ${message}` });
    }
    this.ask((side) => ({ module, scenario: scenarios[side], seed }));
  }

  pause() {
    this.isPaused = true;
    clearTimeout(this.timer);
  }

  goOn() {
    this.isPaused = false;
    if (!this.awaited) this.ask();
  }

  stop() {
    this.pause();
    for (const worker of Object.values(this.workers)) worker.terminate();
  }

  ask(first = () => ({})) {
    this.askedAt = performance.now();
    const stretchNs = this.speed ? this.speed * FRAME_MS * 1e6 : this.stretchNs;
    this.untilNs = Math.min(Math.round(this.reachedNs + stretchNs), this.durationNs);
    this.slowestMs = 0;
    this.awaited = Object.keys(this.workers).length;
    for (const [side, worker] of Object.entries(this.workers)) worker.postMessage({ ...first(side), untilNs: this.untilNs });
  }

  hear(side, { series, report, tookMs, error }) {
    if (error) {
      this.errors[side] = error;
      this.workers[side].terminate();
      delete this.workers[side];
    } else {
      this.series[side] = joined(this.series[side], series);
      this.reports[side] = report;
      this.slowestMs = Math.max(this.slowestMs, tookMs);
    }
    this.awaited -= 1;
    if (!this.awaited) this.advance();
  }

  // All sides have answered.
  advance() {
    this.reachedNs = this.untilNs;
    this.tookMs += this.slowestMs;
    this.stretchNs *= Math.min(Math.max(FRAME_MS / this.slowestMs, 0.5), 2);
    this.isOver = this.reachedNs === this.durationNs || Object.keys(this.workers).length === 0;
    if (this.isOver) this.stop();
    else if (!this.isPaused) {
      // What is to be as fast as it goes is computed while it is drawn.
      const early = FRAME_MS - (performance.now() - this.askedAt);
      if (this.speed && early > 0) this.timer = setTimeout(() => this.ask(), early);
      else this.ask();
    }
    this.onFrame();
  }
}

// A series and its new points; a column that comes late was unknown before.
function joined(series, { time_s, columns }) {
  series ??= { time_s: [], columns: {} };
  for (const [name, values] of Object.entries(columns)) {
    series.columns[name] ??= Array(series.time_s.length).fill(null);
    series.columns[name].push(...values);
  }
  series.time_s.push(...time_s);
  return series;
}
