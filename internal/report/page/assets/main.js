"use strict";

const views = {};

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  for (const v of Object.values(views)) v.lanes.colours();
}

function rememberedTheme() {
  try { return localStorage.getItem("cofferdam-theme"); } catch { return null; }
}

const dark = matchMedia("(prefers-color-scheme: dark)");
setTheme(rememberedTheme() || (dark.matches ? "dark" : "light"));
dark.addEventListener("change", () => { if (!rememberedTheme()) setTheme(dark.matches ? "dark" : "light"); });

function start() {
  const doc = JSON.parse(document.getElementById("document").textContent);
  document.getElementById("theme").addEventListener("click", () => {
    const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("cofferdam-theme", theme); } catch { /* it is not kept */ }
    setTheme(theme);
  });
  for (const t of document.querySelectorAll("table.sorted")) sortable(t);
  for (const i of document.querySelectorAll("input[data-search]")) searchable(i);
  const open = (id) => {
    const root = document.querySelector(`#${CSS.escape(id)} .run`);
    if (!root || views[id]) return;
    const after = root.dataset.run === "after", run = after ? doc.after : doc.run;
    if (!("DecompressionStream" in window)) {
      root.querySelector(".step").replaceChildren(el("p", { class: "flag" }, "This browser cannot unpack the steps: use one of 2023 or later."));
      return;
    }
    views[id] = new RunView(root, run, document.getElementById(after ? "data-after" : "data-run").textContent, after ? null : doc.machine);
    const at = new URLSearchParams(location.hash.slice(1)).get("step");
    if (at !== null && !after) views[id].lanes.select(Math.min(Math.max(0, Number(at) || 0), run.steps - 1));
  };
  const list = document.querySelector("nav[role=tablist]");
  if (list) {
    const choose = tabs(list, open);
    const wanted = new URLSearchParams(location.hash.slice(1)).get("tab");
    choose(wanted && document.getElementById(wanted) ? wanted : list.querySelector("[role=tab]").getAttribute("aria-controls"));
  } else if (document.querySelector("#run")) open("run");
  const help = document.getElementById("help");
  document.getElementById("keys")?.addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (e) => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) || document.querySelector("dialog[open]")) return;
    if (e.key === "?" && help) { help.showModal(); e.preventDefault(); return; }
    if (e.key === "/") {
      const field = document.querySelector("section:not([hidden]) select[name=variable], section:not([hidden]) input[data-search]");
      if (field) { field.focus(); e.preventDefault(); }
      return;
    }
    if (e.target.tagName === "CANVAS" || e.target.closest("[role=tab], button, a, summary")) return;
    const id = document.querySelector("main > section:not([hidden])")?.id;
    if (views[id] && views[id].lanes.key(e)) e.preventDefault();
  });
  if (document.documentElement.dataset.live) watch(document.documentElement.dataset.live);
  document.documentElement.dataset.ready = "true";
}

start();
