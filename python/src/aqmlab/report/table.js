// Tables sort by a click on a column's head: numbers first by size, then texts.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descends = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descends ? "descending" : "ascending");
      const key = (row) => row.cells[column].textContent.trim();
      const rows = [...body.rows].sort((one, other) => {
        const [a, b] = [parseFloat(key(one)), parseFloat(key(other))];
        if (isNaN(a) && isNaN(b)) return key(one).localeCompare(key(other)) * (descends ? -1 : 1);
        if (isNaN(a) || isNaN(b)) return isNaN(a) ? 1 : -1;
        return descends ? b - a : a - b;
      });
      body.append(...rows);
    });
  });
}
// On a screen all but the first few disciplines are folded; without this script, and in print, nothing is.
for (const part of document.querySelectorAll("details.fold")) part.open = false;
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = true)));
