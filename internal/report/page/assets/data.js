"use strict";

// The steps of a run. Their chunks are taken apart when they are asked for; the index of the
// run, which is there at once, says which ones that must be.
class Steps {
  constructor(run, blob) {
    this.run = run;
    this.blob = blob;
    this.chunks = run.chunks;
    this.open = new Map(); // by number: a chunk, or a promise of one
    this.kept = 96;
    this.kindClass = run.kinds.map((k) => k.class);
  }

  chunkOf(step) {
    let lo = 0, hi = this.chunks.length - 1;
    while (lo < hi) {
      const mid = (lo + hi + 1) >> 1;
      if (this.chunks[mid].first <= step) lo = mid; else hi = mid - 1;
    }
    return lo;
  }

  // ready is a chunk that is open, or null.
  ready(i) {
    const c = this.open.get(i);
    return c && c.columns ? c : null;
  }

  load(i) {
    const known = this.open.get(i);
    if (known) {
      if (known.columns) { this.open.delete(i); this.open.set(i, known); } // the last used is the last to go
      return Promise.resolve(known);
    }
    const promise = this.unpack(i).then((c) => {
      this.open.set(i, c);
      if (this.open.size > this.kept) this.open.delete(this.open.keys().next().value);
      return c;
    });
    this.open.set(i, promise);
    return promise;
  }

  async unpack(i) {
    const at = this.chunks[i];
    const columns = await inflate(this.blob.substr(at.o, at.l));
    const links = await inflate(this.blob.substr(at.lo, at.ll));
    const relevant = new Uint8Array(at.n);
    let k = 0;
    for (const d of columns.m || []) relevant[k += d] = 1;
    const seq = new Float64Array(at.n);
    let q = 0;
    for (let j = 0; j < at.n; j++) seq[j] = q += columns.q[j];
    const list = [];
    const [from, to, kind] = links;
    for (let j = 0; j < (from || []).length; j++) list.push({ from: from[j], to: to[j], kind: kind[j] });
    return { index: i, first: at.first, n: at.n, columns, relevant, seq, links: list };
  }

  // at is a step as an object, of a chunk that is open.
  at(chunk, step) {
    const j = step - chunk.first, c = chunk.columns, text = (n) => (n ? c.t[n - 1] : "");
    return {
      step, seq: chunk.seq[j], lane: c.g[j] - 1, kind: c.k[j], site: this.run.sites[c.s[j]], siteIndex: c.s[j], stack: c.c[j] - 1, variable: c.v[j] - 1,
      held: c.h[j], before: text(c.b[j]), after: text(c.a[j]), object: text(c.o[j]), what: text(c.w[j]), relevant: !!chunk.relevant[j],
      class: this.kindClass[c.k[j]],
    };
  }

  async get(step) {
    return this.at(await this.load(this.chunkOf(step)), step);
  }

  // label says in a few words what a step did.
  label(s) {
    if (s.what) return shortValue(s.what);
    let text = this.run.kinds[s.kind].name, before = shortValue(s.before), after = shortValue(s.after);
    const key = this.key(s);
    if (key) {
      // The key that was used says more than the expression for it.
      text += " " + withKey(s.site.x || "", key);
      [before, after] = [before, after].map((v) => v && v.slice(key.length + 2));
    } else if (s.site.x) text += " " + s.site.x;
    if (before && after) return text + "  " + before + " → " + after;
    if (after) return text + "  → " + after;
    return before ? text + "  " + before : text;
  }

  // key is that of an entry of a map, in brackets; "" if the step is on none, or it is not known.
  key(s) {
    const entry = /^map /.test(this.run.kinds[s.kind].name) && /^(\[[^]*?\]): /.exec(shortValue(s.before));
    return entry ? entry[1] : "";
  }

  functions(stack) {
    const all = [];
    for (let at = stack; at >= 0; at = this.run.stacks[at][0]) all.push(this.run.functions[this.run.stacks[at][1]]);
    return all;
  }
}

// withKey puts a key in the place of the last index of an expression; one with a text in it is left alone.
function withKey(expr, key) {
  if (!expr.endsWith("]") || (/["'`]/.test(expr) && expr.split("[").length > 2)) return (expr + " " + key).trim();
  for (let at = expr.length - 1, depth = 0; at >= 0; at--) {
    if (expr[at] === "]") depth++;
    if (expr[at] === "[" && --depth === 0) return expr.slice(0, at) + key;
  }
  return expr + " " + key;
}

// shortValue leaves out an address whose object has a name, and those of an interface value that has none: the
// panel of the step has them.
function shortValue(text) { return text.replace(/0x[0-9a-f]+ \((obj[^)]*)\)/g, "$1").replace(/interface\(0x[0-9a-f]+, 0x[0-9a-f]+\)/g, "…"); }

async function inflate(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

// Rows are the steps that a filter lets through. A row is found by its number through the
// counts of the chunks, so that no list of all of them is needed.
class Rows {
  constructor(steps) {
    this.steps = steps;
    this.filter = { relevant: true, lane: -1, class: "", variable: -1 };
    this.generation = 0;
    this.counts = [];
    this.start = [0];
    this.done = true;
  }

  // set takes a filter; changed is called whenever more is known of it.
  set(filter, changed) {
    Object.assign(this.filter, filter);
    const mine = ++this.generation, f = this.filter, chunks = this.steps.chunks;
    this.picks = new Map();
    this.counts = chunks.map((c) => {
      const counted = (list, wanted) => list.reduce((n, one) => n + (wanted(one[0]) ? one[f.relevant ? 2 : 1] : 0), 0);
      const ofLane = f.lane < 0 ? (f.relevant ? c.m : c.n) : counted(c.g, (lane) => lane === f.lane);
      const ofClass = f.class === "" ? ofLane : counted(c.k, (k) => this.steps.kindClass[k] === f.class);
      if (ofLane === 0 || ofClass === 0) return 0;
      if (f.variable >= 0) return c.v && !c.v.includes(f.variable) ? 0 : -1;
      if (f.class === "") return ofLane;
      return f.lane < 0 || c.g.length === 1 ? ofClass : -1; // of a lane and a class together the index knows nothing
    });
    this.sum();
    this.done = !this.counts.includes(-1);
    if (!this.done) this.scan(mine, changed);
    changed();
  }

  // scan opens the chunks whose counts the index does not tell, and lets the page go on in between.
  async scan(mine, changed) {
    let rested = performance.now(), shown = rested;
    for (let i = 0; i < this.counts.length; i++) {
      if (this.counts[i] >= 0) continue;
      const chunk = await this.steps.load(i);
      if (mine !== this.generation) return;
      this.counts[i] = this.pick(chunk).length;
      if (performance.now() - rested < 12) continue;
      if (performance.now() - shown > 200) {
        this.sum();
        changed();
        shown = performance.now();
      }
      await new Promise((r) => setTimeout(r));
      if (mine !== this.generation) return;
      rested = performance.now();
    }
    this.done = true;
    this.sum();
    changed();
  }

  sum() {
    this.start = new Float64Array(this.counts.length + 1);
    for (let i = 0; i < this.counts.length; i++) this.start[i + 1] = this.start[i] + Math.max(this.counts[i], 0);
  }

  get total() { return this.start[this.start.length - 1]; }

  // pick lists the steps of an open chunk that the filter lets through.
  pick(chunk) {
    let list = this.picks.get(chunk.index);
    if (list) return list;
    const f = this.filter, c = chunk.columns, all = [];
    for (let j = 0; j < chunk.n; j++) {
      if (f.relevant && !chunk.relevant[j]) continue;
      if (f.lane >= 0 && c.g[j] - 1 !== f.lane) continue;
      if (f.variable >= 0 && c.v[j] - 1 !== f.variable) continue;
      if (f.class && this.steps.kindClass[c.k[j]] !== f.class) continue;
      all.push(chunk.first + j);
    }
    list = Uint32Array.from(all);
    this.picks.set(chunk.index, list);
    return list;
  }

  chunkOfRow(row) {
    let lo = 0, hi = this.counts.length - 1;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (this.start[mid + 1] > row) hi = mid; else lo = mid + 1;
    }
    return lo;
  }

  // step is that of a row; -1 if its chunk is not open.
  step(row) {
    const i = this.chunkOfRow(row), chunk = this.steps.ready(i);
    return chunk ? this.pick(chunk)[row - this.start[i]] : -1;
  }

  async load(row) {
    const i = this.chunkOfRow(row);
    return this.pick(await this.steps.load(i))[row - this.start[i]];
  }

  // mayHave says no only of a step that the filter does not let through, as far as is known.
  mayHave(step) {
    const chunk = this.steps.ready(this.steps.chunkOf(step));
    return !chunk || this.step(this.rowOf(step)) === step;
  }

  // rowOf is the row of a step, or of the next one that is shown; -1 if its chunk is not open.
  rowOf(step) {
    const i = this.steps.chunkOf(step), chunk = this.steps.ready(i);
    if (!chunk) return -1;
    const list = this.pick(chunk);
    let lo = 0, hi = list.length;
    while (lo < hi) {
      const mid = (lo + hi) >> 1;
      if (list[mid] < step) lo = mid + 1; else hi = mid;
    }
    return Math.min(this.start[i] + lo, this.total - 1);
  }
}
