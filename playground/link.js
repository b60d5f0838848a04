// The field for the link, as `--link` has it, and the scenes that one click shows.

// Shows the kind of the link, and what can be written behind it.
function showLink() {
  const { kind, stations, has_rate: hasRate } = setting.kind;
  const declared = setup.links.find(({ name }) => name === kind);
  $("link-kind").value = kind;
  if (document.activeElement !== $("link")) showWritten(setting.link);
  $("link-about").textContent = declared.summary;
  $("rate").disabled = hasRate;
  $("placing").hidden = stations.length === 0;
  $("placement").value = setting.placement;
  if ($("link-params").dataset.of === kind) return;
  $("link-params").dataset.of = kind;
  $("link-params").replaceChildren(...declared.params.flatMap(({ name, default: usual, range, help, reference }) => [
    Object.assign(document.createElement("dt"), { textContent: `${name} ${usual}` }),
    Object.assign(document.createElement("dd"), { textContent: `${help}. Allowed: ${range}. ${reference}` }),
  ]));
}

function showWritten(text, problem = "") {
  $("link").value = text;
  $("link").setAttribute("aria-invalid", problem !== "");
  $("link-problem").textContent = problem;
}

// Takes a link, unless it is refused: then the text stays, with what is wrong.
function takeLink(text) {
  const found = LINK.test(text) ? resolved({ ...setting, link: text }) : { error: "a link has letters, digits and none of '\"\\$`", option: "link" };
  if (found.error && found.option === "link") return showWritten(text, shortened(found.error));
  showWritten(text);
  const { stations } = found.kind ?? kindOfLink(text);
  change({ link: text, ...(stations.length ? {} : { placement: setup.start.placement }) });
}

function listenToLink() {
  $("link-kind").append(...setup.links.map(({ name }) => new Option(name, name)));
  $("placement").append(...setup.choices.placement.map((choice) => new Option(choice, choice)));
  $("link-kind").addEventListener("change", (event) => takeLink(event.target.value));
  $("link").addEventListener("change", (event) => takeLink(event.target.value.trim()));
  $("placement").addEventListener("change", (event) => change({ placement: event.target.value }));
  $("scenes").append(...Object.entries(setup.scenes).map(([title, scene]) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: title });
    button.addEventListener("click", () => change({ ...setup.start, ...scene }));
    return button;
  }));
}
