"use strict";

// sortable lets the heads of a table sort its rows, by data-value where a cell has one.
function sortable(table) {
  const body = table.tBodies[0];
  table.querySelectorAll("th button").forEach((button) => {
    const head = button.parentElement, at = head.cellIndex;
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending";
      table.querySelectorAll("th").forEach((h) => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = (row) => {
        const cell = row.cells[at], v = cell.dataset.value;
        return v === undefined ? cell.textContent.trim().toLowerCase() : Number(v);
      };
      [...body.rows].sort((a, b) => {
        const x = value(a), y = value(b), order = x < y ? -1 : x > y ? 1 : 0;
        return up ? order : -order;
      }).forEach((row) => body.append(row));
    });
  });
}

// searchable hides what does not have the words of a search.
function searchable(input) {
  const items = [...document.querySelectorAll(input.dataset.search)];
  const said = document.getElementById(input.getAttribute("aria-describedby"));
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    for (const item of items) {
      const text = item.textContent.toLowerCase(), on = words.every((w) => text.includes(w));
      item.hidden = !on;
      if (on) n++;
    }
    if (said) said.textContent = words.length ? `${n} of ${items.length}` : "";
  });
}

// watch asks a server again and again whether what it serves has changed. The answer is held back
// until it has, so that nothing is asked in vain.
async function watch(stamp) {
  for (;;) {
    try {
      const r = await fetch("/changed?since=" + encodeURIComponent(stamp));
      if (r.status === 200 && (await r.text()) !== stamp) return location.reload();
    } catch {
      document.documentElement.dataset.offline = "true";
      await new Promise((done) => setTimeout(done, 2000));
    }
  }
}
