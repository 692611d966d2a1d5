"use strict";

const svgName = "http://www.w3.org/2000/svg";

function svg(tag, props, ...children) {
  const e = document.createElementNS(svgName, tag);
  for (const [k, v] of Object.entries(props || {})) e.setAttribute(k, v);
  e.append(...children.filter((c) => c !== null && c !== undefined));
  return e;
}

// wrapText breaks a text into lines of about so many letters.
function wrapText(text, most) {
  const lines = [];
  for (const piece of text.split("\n")) {
    let line = "";
    for (const word of piece.split(" ")) {
      if (line && line.length + word.length + 1 > most) { lines.push(line); line = ""; }
      line = line ? line + " " + word : word;
    }
    lines.push(line);
  }
  return lines;
}

const fileStyle = `text { font: 12.5px sans-serif; fill: #16202c } .edge text { font-size: 11.5px; fill: #4d5b6a } .node rect { fill: #fff; stroke: #5f6c7a }
.edge path { fill: none; stroke: #5f6c7a } .edge .back { fill: #fff } .crash rect { fill: #fdecec; stroke: #c0262d } .fine rect { fill: #e4f5ea; stroke: #14743b }`;

const mostNodes = 400;

// A MachineView is the machine that predicts the failure, as a graph in layers. At a step, the
// states light up whose readings the goroutine has made by then.
class MachineView {
  constructor(root, machine) {
    this.root = root;
    this.machine = machine;
    this.nodes = [];
    this.edges = [];
    this.last = null; // the step that is selected
  }

  // show lays the machine out when it is looked at for the first time. One with very many states
  // says nothing as a picture, and would take long.
  show() {
    if (this.picture) return;
    if (this.machine.nodes.length > mostNodes) {
      this.root.replaceChildren(el("ol", { class: "muted words" }, this.machine.words.map((w) => el("li", {}, w))),
        el("p", { class: "empty" }, `The machine has ${this.machine.nodes.length} states, which are too many for a picture: cofferdam report -dot writes them for Graphviz.`));
      return;
    }
    this.build();
    if (this.last) this.light(this.last);
  }

  build() {
    const g = new dagre.graphlib.Graph({ multigraph: true });
    g.setGraph({ rankdir: "TB", nodesep: 30, ranksep: 44, edgesep: 14, marginx: 12, marginy: 12 });
    const letter = 6.9, line = 16;
    const lines = this.machine.nodes.map((n) => wrapText(n.label, 34));
    this.machine.nodes.forEach((n, i) => {
      g.setNode(String(i), { width: Math.max(...lines[i].map((l) => l.length)) * letter + 28, height: lines[i].length * line + 18 });
    });
    const words = this.machine.edges.map((e) => (e.label ? wrapText(e.label, 30) : []));
    this.machine.edges.forEach((e, i) => {
      const w = words[i];
      g.setEdge(String(e.from), String(e.to), w.length ? { width: Math.max(...w.map((l) => l.length)) * 6.4 + 8, height: w.length * 15 + 4, labelpos: "c" } : { width: 0, height: 0 }, String(i));
    });
    dagre.layout(g);
    const size = g.graph(), id = "tip" + Math.random().toString(36).slice(2);
    const picture = svg("svg", { width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": "The machine that predicts the failure: " + this.machine.words.join(" ") },
      svg("defs", {}, svg("marker", { id, markerUnits: "userSpaceOnUse", markerWidth: 9, markerHeight: 9, refX: 8, refY: 4.5, orient: "auto" }, svg("path", { d: "M0,0 L9,4.5 L0,9 z" }))));
    const text = (x, y, all, gap) => svg("text", { "text-anchor": "middle" }, ...all.map((l, k) => {
      const t = svg("tspan", { x, y: y + (k - (all.length - 1) / 2) * gap + 4 });
      t.textContent = l;
      return t;
    }));
    this.machine.edges.forEach((e, i) => {
      const at = g.edge({ v: String(e.from), w: String(e.to), name: String(i) }), pts = at.points;
      let d = `M${pts[0].x},${pts[0].y}`;
      for (let k = 1; k < pts.length - 1; k++) {
        const end = k === pts.length - 2 ? pts[k + 1] : { x: (pts[k].x + pts[k + 1].x) / 2, y: (pts[k].y + pts[k + 1].y) / 2 };
        d += ` Q${pts[k].x},${pts[k].y} ${end.x},${end.y}`;
      }
      if (pts.length === 2) d += ` L${pts[1].x},${pts[1].y}`;
      const w = words[i];
      const edge = svg("g", { class: "edge" }, svg("path", { d, "marker-end": `url(#${id})` }),
        w.length ? svg("rect", { class: "back", x: at.x - at.width / 2, y: at.y - at.height / 2, width: at.width, height: at.height, rx: 4 }) : null, w.length ? text(at.x, at.y, w, 15) : null);
      this.edges.push(edge);
      picture.append(edge);
    });
    this.machine.nodes.forEach((n, i) => {
      const at = g.node(String(i)), left = at.x - at.width / 2, top = at.y - at.height / 2;
      const node = svg("g", { class: "node " + n.kind }, svg("rect", { x: left, y: top, width: at.width, height: at.height, rx: n.kind === "test" ? 6 : 16 }), text(at.x, at.y, lines[i], line));
      this.nodes.push(node);
      picture.append(node);
    });
    this.picture = picture;
    const save = el("button", { class: "button", type: "button", onclick: () => this.save() }, "Save as SVG");
    this.root.replaceChildren(save, el("ol", { class: "muted words" }, this.machine.words.map((w) => el("li", {}, w))), picture);
  }

  // file is the picture by itself, with the colours of a light page.
  file() {
    const copy = this.picture.cloneNode(true);
    copy.setAttribute("xmlns", svgName);
    for (const e of copy.querySelectorAll(".lit, .passed")) e.classList.remove("lit", "passed");
    copy.prepend(svg("style", {}, fileStyle));
    return new XMLSerializer().serializeToString(copy);
  }

  save() {
    const link = el("a", { href: URL.createObjectURL(new Blob([this.file()], { type: "image/svg+xml" })), download: "machine.svg" });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  // light shows how far the goroutine has come at a step.
  light(s) {
    this.last = s;
    if (!this.picture) return;
    const now = s.seq, all = this.machine.nodes;
    const last = all.map((n) => (n.reads && n.reads.length ? Math.max(...n.reads.map((r) => r.seq || Infinity)) : n.kind === "start" ? 0 : Infinity));
    const failed = this.machine.failed > 0 && now >= this.machine.failed;
    let current = -1;
    all.forEach((n, i) => { if (last[i] <= now && (current < 0 || last[i] >= last[current])) current = i; });
    const passed = all.map((n, i) => last[i] <= now || (n.kind === "crash" && failed));
    all.forEach((n, i) => {
      this.nodes[i].classList.toggle("passed", passed[i] && i !== current);
      this.nodes[i].classList.toggle("lit", failed ? n.kind === "crash" : i === current);
    });
    this.machine.edges.forEach((e, i) => this.edges[i].classList.toggle("passed", passed[e.from] && passed[e.to]));
  }
}
