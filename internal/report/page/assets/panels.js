"use strict";

function el(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (k === "class") e.className = v;
    else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v !== undefined && v !== null && v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined && c !== "") e.append(c);
  return e;
}

// A RunView is a run with all that is around its lanes: filters, the step that is selected, the
// source and the machine.
class RunView {
  constructor(root, run, blob, machine) {
    this.root = root;
    this.run = run;
    this.steps = new Steps(run, blob);
    this.step = root.querySelector(".step");
    this.source = root.querySelector(".source");
    this.file = -1;
    this.machine = machine && root.querySelector(".machine") ? new MachineView(root.querySelector(".machine"), machine) : null;
    this.filters();
    this.sideTabs();
    this.lanes = new LanesView(root, this.steps, (s, chunk) => this.show(s, chunk));
    this.relevant.setAttribute("aria-pressed", String(run.relevant > 0));
  }

  filters() {
    const bar = this.root.querySelector(".filters"), run = this.run;
    const choice = (name, label, options, change) => {
      const s = el("select", { "aria-label": label, name, onchange: () => change(s.value) }, options.map(([v, t]) => el("option", { value: v }, t)));
      return s;
    };
    this.relevant = el("button", { class: "button", type: "button", name: "relevant", title: "Shared memory and synchronisation of the program itself; everything else otherwise",
      onclick: () => {
        const on = this.relevant.getAttribute("aria-pressed") !== "true";
        this.relevant.setAttribute("aria-pressed", String(on));
        this.lanes.filter({ relevant: on });
      } }, "What matters");
    const classes = [...new Set(run.kinds.map((k) => k.class))].filter((c) => run.chunks.some((ch) => ch.k.some((k) => run.kinds[k[0]].class === c)));
    const lanes = choice("lane", "Filter by " + run.noun, [[-1, "All " + run.noun + "s"], ...run.lanes.map((l, i) => [i, `${run.noun} ${l.g}${l.name ? " (" + l.name + ")" : ""}`])], (v) => this.lanes.filter({ lane: Number(v) }));
    const vars = choice("variable", "Filter by variable", [[-1, "All variables"], ...run.variables.map((v, i) => [i, v])], (v) => this.lanes.filter({ variable: Number(v) }));
    const kinds = choice("kind", "Filter by kind", [["", "All kinds"], ...classes.sort().map((c) => [c, c])], (v) => this.lanes.filter({ class: v }));
    const press = (text, label, act) => el("button", { class: "button", type: "button", "aria-label": label, title: label, onclick: act }, text);
    bar.prepend(this.relevant, lanes, vars, kinds,
      el("span", { class: "together" }, press("−", "Zoom out", () => this.lanes.zoom(1 / 1.5)), press("+", "Zoom in", () => this.lanes.zoom(1.5)), press("Fit", "Show the whole run", () => this.lanes.fitAll())));
  }

  sideTabs() {
    const list = this.root.querySelector(".code [role=tablist]");
    if (list) tabs(list, (id) => { if (this.machine && id.startsWith("machine")) this.machine.show(); });
  }

  go(step) { return el("button", { class: "link", type: "button", "data-step": step, onclick: () => this.lanes.select(step) }); }

  // link is a step as something to click on.
  link(step) {
    const b = this.go(step);
    b.textContent = "step " + step;
    this.steps.get(step).then((s) => { b.textContent = `${this.run.noun} ${(this.run.lanes[s.lane] || { g: 0 }).g}: ${this.steps.label(s)}${s.site.p ? ", " + s.site.p : ""}`; });
    return b;
  }

  show(s, chunk) {
    const run = this.run, lane = run.lanes[s.lane], marks = this.lanes.marks.get(s.step) || [];
    const rows = [], site = this.lanes.siteOf(s), failed = marks.find((m) => m.kind === "failure");
    const row = (name, ...value) => rows.push(el("dt", {}, name), el("dd", {}, ...value));
    if (s.before || s.after) {
      row("value", el("span", { class: "change" }, s.before ? el("span", { class: s.after ? "was" : "now" }, s.before) : null, s.after ? "→" : null, s.after ? el("span", { class: "now" }, s.after) : null));
    }
    if (!s.before && !s.after && /^map /.test(run.kinds[s.kind].name)) row("value", el("span", { class: "muted" }, "the key and the value of this access are not recorded"));
    if (s.variable >= 0) {
      row("variable", el("span", { class: "mono" }, run.variables[s.variable]), s.object ? el("span", { class: "muted" }, " in " + s.object) : null);
    }
    const held = run.held[s.held].map((l) => el("span", { class: "lockname" }, run.locks[l]));
    row("locks held", held.length ? held : "none");
    const links = chunk.links.filter((l) => l.to === s.step), out = chunk.links.filter((l) => l.from === s.step);
    if (links.length) row("after", el("ul", {}, links.map((l) => el("li", {}, linkWords[l.kind][1] + " ", this.link(l.from)))));
    if (out.length) row("before", el("ul", {}, out.map((l) => el("li", {}, linkWords[l.kind][0] + ": ", this.link(l.to)))));
    for (const pair of this.lanes.races.get(s.step) || []) row("races with", this.link(pair[0] === s.step ? pair[1] : pair[0]));
    for (const [taken, waits] of run.heldUp) {
      if (waits === s.step) row("held by", this.link(taken));
      if (taken === s.step) row("held up", this.link(waits));
    }
    const stack = this.steps.functions(s.stack);
    if (failed && failed.calls) row("stack", el("ol", { class: "mono stack" }, failed.calls.map((f) => el("li", {}, shortFunction(f)))));
    else if (stack.length) row("stack", el("ol", { class: "mono stack" }, stack.map((f) => el("li", {}, shortFunction(f)))));
    else if (s.site.fn) row("in", el("span", { class: "mono" }, s.site.fn));
    const flags = marks.map((m) => m.kind === "preemption" ? el("p", { class: "flag warn" }, `The schedule stops ${run.noun} ${lane.g} here: ${run.noun} ${m.to} goes next.`)
      : m.kind === "failure" ? el("p", { class: "flag" }, `${run.kind}: ${run.message}`) : m.kind === "waits" ? el("p", { class: "flag" }, "It waits here for ever.") : null);
    const press = (text, key, act) => el("button", { class: "button", type: "button", title: "key " + key, onclick: act }, text);
    this.step.replaceChildren(
      el("h2", { tabindex: -1 }, el("span", { class: "mono" }, failed ? run.kind : shortValue(s.what) || (this.steps.key(s) ? this.steps.label(s) : run.kinds[s.kind].name + " " + (site.x || "")))),
      laneText(run, s.lane, `event ${s.seq}${site.p ? " · " + site.p : ""}`),
      ...flags.filter(Boolean), el("dl", { class: "rows" }, rows),
      el("div", { class: "moves" }, press("↑ Step", "k", () => this.lanes.move(-1)), press("↓ Step", "j", () => this.lanes.move(1)),
        s.variable >= 0 ? press("Only this variable", "", () => this.only(s.variable)) : null));
    this.step.dataset.step = s.step;
    this.showSource(site);
    if (this.machine) this.machine.light(s);
  }

  only(variable) {
    const select = this.root.querySelector("select[name=variable]");
    select.value = String(Number(select.value) === variable ? -1 : variable);
    select.dispatchEvent(new Event("change"));
  }

  showSource(place) {
    const f = place.f, run = this.run;
    this.source.querySelector(".here")?.classList.remove("here");
    if (f < 0) {
      this.source.replaceChildren(el("p", { class: "empty" }, place.p ? `${place.fn || place.p} is in no file of the program.` : "This step has no place in the source."));
      this.file = -1;
      return;
    }
    if (this.file !== f) {
      this.file = f;
      const file = run.files[f], who = new Map();
      for (const site of run.sites) if (site.f === f && site.g) who.set(site.l, [...new Set([...(who.get(site.l) || []), ...site.g])]);
      const lines = [];
      for (const [i, part] of file.parts.entries()) {
        if (i > 0 || part.first > 1) lines.push(el("div", { class: "gap" }, "⋯"));
        part.lines.forEach((text, k) => {
          const no = part.first + k, by = who.get(no) || [];
          const dots = by.slice(0, 3).map((l) => { const d = el("i", { title: run.noun + " " + run.lanes[l].g }); d.style.background = `var(--lane${l % 8})`; return d; });
          lines.push(el("div", { class: "line" + (by.length ? " touched" : ""), "data-line": no, title: by.length ? by.map((l) => run.noun + " " + run.lanes[l].g).join(", ") : null }, el("span", { class: "who" }, dots), el("span", { class: "no" }, String(no)), el("span", { class: "text" }, goSource(text))));
        });
      }
      this.source.replaceChildren(el("div", { class: "note", hidden: !file.note }, file.note || ""), ...lines);
      const name = this.root.querySelector(".filename");
      if (name) name.textContent = file.name;
    }
    const line = this.source.querySelector(`[data-line="${place.l}"]`);
    if (!line) return;
    line.classList.add("here");
    this.reveal(line);
  }

  // reveal scrolls the source to a line, where that can be seen: the panel may go on below the window.
  reveal(line) {
    const panel = this.source, below = window.innerHeight - panel.getBoundingClientRect().top;
    const seen = below > 120 ? Math.min(panel.clientHeight, below) : panel.clientHeight;
    const at = line.offsetTop - panel.offsetTop;
    if (at < panel.scrollTop + 40 || at > panel.scrollTop + seen - 60) panel.scrollTop = at - seen / 2.5;
  }
}

function laneText(run, lane, more) {
  const l = run.lanes[lane], p = el("p", { class: "by" });
  if (l) {
    const d = el("span", { class: "dot" });
    d.style.color = `var(--lane${lane % 8})`;
    p.append(d, `${run.noun} ${l.g}${l.name ? " (" + l.name + ")" : ""} · `);
  }
  p.append(more);
  return p;
}

function shortFunction(name) { return name.slice(name.lastIndexOf("/") + 1); }

const goWords = new Set("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false".split(" "));

// goSource colours a line of Go. A text that goes on over lines is not followed.
function goSource(text) {
  const out = [], re = /(\/\/.*)|("(?:\\.|[^"\\])*"|`[^`]*`?|'(?:\\.|[^'\\])*')|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;
  let at = 0;
  for (const m of text.matchAll(re)) {
    const kind = m[1] ? "c" : m[2] ? "s" : m[3] ? "n" : goWords.has(m[4]) ? "k" : "";
    if (!kind) continue;
    out.push(text.slice(at, m.index), el("span", { class: kind }, m[0]));
    at = m.index + m[0].length;
  }
  out.push(text.slice(at));
  return out;
}

// tabs makes a tablist of buttons work, by mouse and arrow keys.
function tabs(list, shown) {
  const all = [...list.querySelectorAll("[role=tab]")];
  const choose = (tab, focus) => {
    for (const t of all) {
      const on = t === tab;
      t.setAttribute("aria-selected", String(on));
      t.tabIndex = on ? 0 : -1;
      document.getElementById(t.getAttribute("aria-controls")).hidden = !on;
    }
    if (focus) tab.focus();
    if (shown) shown(tab.getAttribute("aria-controls"));
  };
  all.forEach((t, i) => {
    t.addEventListener("click", () => choose(t));
    t.addEventListener("keydown", (e) => {
      const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
      if (by) { e.preventDefault(); e.stopPropagation(); choose(all[(i + by + all.length) % all.length], true); }
    });
  });
  return (id) => { const t = all.find((t) => t.getAttribute("aria-controls") === id); if (t) choose(t); };
}
