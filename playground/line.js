// A home's line: asks the module for its setups, runs a household over each with several seeds, and shows
// which setup is named, what it brings, and the lines to paste. What is asked here is what `aqmlab advise` asks.

const LINE = { down: "16mbit", up: "1mbit", layer: "adsl", rtt: "40ms", buffer: "" };
const BEATS_MS = 200;
// What the answer shows before all figures: name, title, unit, digits.
const BESIDE = [["ping_increase_ms", "Pings rise by", "ms", 0], ["rpm", "Round trips a minute (RPM)", "", 0], ["goodput_mbit", "In total", "Mbit/s", 1]];

// The texts of a line as the link has them, each replaced by its start where it cannot be understood.
function lineOf(link) {
  const given = new URLSearchParams(link.replace(/^#/, ""));
  return Object.fromEntries(Object.entries(LINE).map(([name, start]) => [name, given.get(`my-${name}`) ?? start]));
}

function lineLink(texts) {
  return `#${new URLSearchParams(Object.entries(texts).map(([name, text]) => [`my-${name}`, text]))}`;
}

// How a quantity is written: a number without a unit, or as people write it (50 Mbit/s), with tc's, or else an example.
function spelled(text, unit, example, plain) {
  const number = /^([0-9]+(?:[.,][0-9]+)?) *(?:m[a-z]*(?:\/s)?)?$/i.exec(text)?.[1].replace(",", ".");
  return number > 0 ? `${number}${unit} for ${number} ${plain}` : `${example}${unit}`;
}

// What is wrong with the texts, or the line for the module.
function lineAsked(texts) {
  const rates = ["down", "up"].map((name) => read("rate", texts[name]));
  const wrong = ["down", "up"].filter((name, at) => !(rates[at] >= 1e5 && rates[at] <= 1e10));
  if (wrong.length) return { problem: `${texts[wrong[0]] || "nothing"} is no rate from 100kbit to 10gbit: write ${spelled(texts[wrong[0]], "mbit", "16", "Mbit/s")}` };
  const rttNs = read("rtt", texts.rtt);
  if (!(rttNs > 0 && rttNs <= 2e9)) return { problem: `${texts.rtt || "nothing"} is no round trip up to 2s: write ${spelled(texts.rtt, "ms", "40", "ms")}` };
  const layer = setup.advice.layers.find((one) => one.name === texts.layer);
  if (!layer) return { problem: `${texts.layer} is no link layer` };
  if (texts.buffer && !/^[1-9][0-9]{0,5}kb$/.test(texts.buffer)) return { problem: `${texts.buffer} is no buffer: write 256kb` };
  return { line: { down_bps: rates[0], up_bps: rates[1], layer, is_recorded: false, rtt_ns: rttNs, modem_buffer: texts.buffer, share: null } };
}

// Runs everything that a line needs in workers, and tells how far it is; `stop` ends it.
class Asked {
  constructor({ module, line, onProgress, onEnd, onProblem }) {
    Object.assign(this, { line, onProgress, onEnd, onProblem, tasks: [], found: new Map(), done: 0 });
    const count = Math.min(Math.max(navigator.hardwareConcurrency ?? 2, 1), 8);
    this.workers = Array.from({ length: count }, () => {
      const worker = new Worker(workerUrl);
      worker.onmessage = ({ data }) => this.hear(worker, data);
      worker.onerror = ({ message }) => this.hear(worker, { error: `the simulator stopped: ${message}` });
      worker.postMessage({ module, question: { ask: "setups", line } });
      return worker;
    });
    this.waiting = count;
  }

  stop() {
    for (const worker of this.workers) worker.terminate();
    this.isOver = true;
  }

  hear(worker, { answer, error, key }) {
    if (this.isOver) return;
    if (error) return this.fail(error);
    if (!this.asked) this.plan(answer);
    if (key) {
      this.found.get(key).push(answer.values);
      this.done += 1;
    }
    this.onProgress(this.done, this.total);
    const task = this.tasks.shift();
    if (task) worker.postMessage(task);
    else if (this.done === this.total) this.end();
  }

  fail(error) {
    this.stop();
    this.onProblem(error);
  }

  plan(asked) {
    this.asked = asked;
    const minutes = (asked.plan.duration_s - asked.warmup_s) / 60;
    const { scenario } = setup.advice;
    for (let seed = 1; seed <= asked.plan.quick_seeds; seed++) {
      for (const { setup } of asked.setups) this.tasks.push({ household: { scenario, line: this.line, setup, minutes }, seed, key: setup.name });
    }
    for (const { setup } of asked.setups) this.found.set(setup.name, []);
    this.total = this.tasks.length;
  }

  // The means of all runs are ranked by the module.
  end() {
    this.stop();
    const asker = new Worker(workerUrl);
    const means = [...this.found].map(([name, runs]) => ({ name, values: mean(runs) }));
      let choice = null;
    asker.onerror = ({ message }) => this.onProblem(`the simulator stopped: ${message}`);
    asker.onmessage = ({ data: { answer, error } }) => {
      if (error) return this.onProblem(error);
      if (choice) {
        asker.terminate();
        return this.onEnd({ ...this.asked, ...choice, means, paste: answer });
      }
      choice = answer;
      const { setup } = this.asked.setups.find((one) => one.setup.name === choice.named);
      asker.postMessage({ question: { ask: "paste", line: this.line, setup } });
    };
    asker.postMessage({ module, question: { ask: "choice", means } });
  }
}

// The mean of each value over runs.
function mean(runs) {
  const names = Object.keys(runs[0]);
  return Object.fromEntries(names.map((name) => [name, runs.reduce((sum, run) => sum + run[name], 0) / runs.length]));
}

let household = null;

function showLine(texts) {
  for (const [name, text] of Object.entries(texts)) $(`my-${name}`).value = text;
  $("my-unknown").checked = !texts.buffer;
  $("my-buffer").disabled = !texts.buffer;
}

function lineShown() {
  const texts = Object.fromEntries(Object.keys(LINE).map((name) => [name, $(`my-${name}`).value.trim()]));
  return $("my-unknown").checked ? { ...texts, buffer: "" } : texts;
}

function ask() {
  if (household && !household.isOver) return stopAsking("Stopped.");
  const texts = lineShown();
  history.replaceState(null, "", lineLink(texts));
  const { line, problem } = lineAsked(texts);
  $("answer").hidden = true;
  if (problem) return sayLine(problem, true);
  $("ask").textContent = "Stop";
  const began = performance.now();
  let shownAt = 0;
  household = new Asked({
    module,
    line,
    onProgress: (done, total) => {
      const now = performance.now();
      if (done < total && now - shownAt < BEATS_MS) return;
      shownAt = now;
      Object.assign($("progress"), { hidden: false, max: total, value: done });
      sayLine(`${done} of ${total} runs of a household`);
    },
    onProblem: (error) => stopAsking(error, true),
    onEnd: (found) => {
      const seconds = ((performance.now() - began) / 1000).toFixed(0);
      stopAsking(`${household.total} runs of ${found.plan.duration_s} s each, packet by packet, in ${seconds} s.`);
      showAnswer(found, texts);
      dispatchEvent(new CustomEvent("advised", { detail: found }));
    },
  });
}

function stopAsking(text, isProblem = false) {
  household.stop();
  $("ask").textContent = "Ask";
  $("progress").hidden = true;
  sayLine(text, isProblem);
}

function sayLine(text, isProblem = false) {
  $("asking").textContent = text;
  $("asking").className = isProblem ? "problem" : "";
}

const AS_IT_IS = "as it is";
const POOR = ["D", "F"];

function showAnswer(found, texts) {
  const [now, then] = [AS_IT_IS, found.named].map((name) => ({
    rank: found.ranked.find((one) => one.name === name),
    values: found.means.find((one) => one.name === name).values,
  }));
  const { setup: chosen, shaped } = found.setups.find((one) => one.setup.name === found.named);
  const changes = found.named !== AS_IT_IS;
  $("headline").textContent = headline(chosen, shaped, then.rank.grade);
  const rows = [["Grade", "", [now.rank.grade, then.rank.grade]]];
  const figures = [...BESIDE, ...setup.advice.figures.map(({ name, title, unit, digits }) => [name, title, unit.replace("median / ", ""), digits])];
  for (const [name, title, unit, digits] of figures) rows.push([title, unit, [now, then].map(({ values }) => values[name]?.toFixed(digits) ?? "-")]);
  fill($("brings"), ["", "As it is", ...(changes ? [found.named] : [])], rows.map(([title, unit, values]) => [unit ? `${title} (${unit})` : title, ...values.slice(0, changes ? 2 : 1)]));
  const order = found.ranked.toSorted((one, other) => one.behind - other.behind);
  fill($("setups"), ["Setup", "Grade", "Behind, steps"], order.map((one) => [one.name, one.grade, one.behind.toFixed(1)]));
  for (const [system, name] of Object.entries(found.paste.interfaces)) $(`interface-${system}`).textContent = name;
  for (const [id, lines] of Object.entries({ tc: found.paste.tc, undo: found.paste.undo, sqm: found.paste.sqm })) {
    $(id).textContent = lines.join("\n");
    $(`${id}-part`).hidden = !lines.length;
  }
  $("half").textContent = `Each setup has ${found.plan.quick_seeds} runs here, half of those of the command below, which also tells what is chance. ` +
    `The modem is taken to hold ${found.buffers.map(size).join(" down and ")} up${texts.buffer ? "" : ", as is typical"}.` +
    (texts.layer === "starlink" ? " The rate of a Starlink line changes all the time: the command also prints settings of cake-autorate, which follows it." : "");
  $("my-command").textContent = `aqmlab advise --down ${texts.down} --up ${texts.up} --linklayer ${texts.layer} --rtt ${texts.rtt}${texts.buffer ? ` --modem-buffer ${texts.buffer}` : ""}`;
  $("answer").hidden = false;
}

// A buffer in tc's notation, in which a kb is 1024 bytes.
function size(text) {
  return text.endsWith("kb") ? text.replace("kb", " KiB") : `${Math.round(parseInt(text) / 1024)} KiB`;
}

function headline(chosen, shaped, grade) {
  if (chosen.name === AS_IT_IS) return POOR.includes(grade) ? "Nothing tried here makes this line good: leave it as it is." : `Leave the line as it is: nothing tried here is noticeably better. Grade ${grade}.`;
  if (!chosen.share) return `Use ${chosen.name} (${chosen.about}): grade ${grade}.`;
  const [down, up] = shaped.map((rate) => `${rate / 1e6} Mbit/s`);
  return `Use ${chosen.name} (${chosen.about}), shaped to ${down} down and ${up} up: grade ${grade}.`;
}

// A table from texts: the first of a row is its heading.
function fill(table, head, rows) {
  const cell = (tag, text, scope) => Object.assign(document.createElement(tag), { textContent: text, ...(scope ? { scope } : {}) });
  const row = (cells) => { const one = document.createElement("tr"); one.append(...cells); return one; };
  table.tHead.replaceChildren(row(head.map((text) => (text ? cell("th", text, "col") : cell("td", "")))));
  table.tBodies[0].replaceChildren(...rows.map(([first, ...others]) => row([cell("th", first, "row"), ...others.map((text) => cell("td", text))])));
}

async function copied(text) {
  return navigator.clipboard?.writeText(text).then(() => true, () => false);
}

// One of the page's two halves is shown: that of a line where the link is one.
function turn(toLine) {
  document.body.classList.toggle("asks", toLine);
  $("to-line").setAttribute("aria-pressed", toLine);
  $("to-queues").setAttribute("aria-pressed", !toLine);
}

function listenToLine() {
  $("my-layer").append(...setup.advice.layers.filter(({ name }) => name !== "lte").map(({ name, about }) => new Option(`${name}: ${about.split(":")[0]}`, name)));
  showLine(lineOf(location.hash));
  turn(location.hash.includes("my-down="));
  $("to-line").addEventListener("click", () => { turn(true); history.replaceState(null, "", lineLink(lineShown())); });
  $("to-queues").addEventListener("click", () => { turn(false); history.replaceState(null, "", toLink(setting)); });
  $("line").addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  $("my-unknown").addEventListener("change", () => {
    $("my-buffer").disabled = $("my-unknown").checked;
    if (!$("my-unknown").checked && !$("my-buffer").value) $("my-buffer").value = "256kb";
  });
  for (const button of document.querySelectorAll("button[data-copies]")) {
    button.addEventListener("click", async () => {
      button.textContent = (await copied($(button.dataset.copies).textContent)) ? "Copied" : "Mark and copy it";
    });
  }
}
