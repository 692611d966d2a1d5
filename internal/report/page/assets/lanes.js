"use strict";

const linkWords = [
  ["starts it", "started by"], ["unlock to lock", "lock released by"], ["send to receive", "sent by"],
  ["close to receive", "closed by"], ["done to Wait", "counted down by"], ["signal to Wait", "signalled by"],
];
const headHeight = 46, gutter = 58, railWidth = 14;

// A LanesView draws a lane for each goroutine, time going down. It draws what is in sight and
// nothing else: rows one by one where there is room, and the counts of the index where there is not.
class LanesView {
  constructor(root, steps, onSelect) {
    this.root = root;
    this.steps = steps;
    this.run = steps.run;
    this.rows = new Rows(steps);
    this.onSelect = onSelect;
    this.canvas = root.querySelector("canvas");
    this.ink = this.canvas.getContext("2d");
    this.option = root.querySelector("[role=option]");
    this.count = root.querySelector(".count");
    this.width = this.height = 0;
    this.rowHeight = 24;
    this.scroll = 0; // rows above the sight
    this.shift = 0; // pixels that lanes are moved to the left
    this.selected = -1;
    this.hover = -1;
    this.marks = new Map();
    for (const m of this.run.marks) this.marks.set(m.step, (this.marks.get(m.step) || []).concat(m));
    this.races = new Map();
    for (const pair of this.run.races) for (const s of pair) this.races.set(s, (this.races.get(s) || []).concat([pair]));
    this.colours();
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement);
    this.filter({ relevant: this.run.relevant > 0 });
  }

  colours() {
    const style = getComputedStyle(document.documentElement), get = (n) => style.getPropertyValue("--" + n).trim();
    this.c = {};
    for (const n of ["ink", "soft", "faint", "line", "hair", "panel", "accent", "bad", "warn", "good", "select", "hover", "code", "bad-soft", "accent-soft", "warn-soft"]) this.c[n] = get(n);
    this.laneColour = [];
    for (let i = 0; i < 8; i++) this.laneColour.push(get("lane" + i));
    this.mono = get("mono");
    this.draw();
  }

  filter(change) {
    const keep = this.selected;
    this.rows.set(change, () => {
      this.shownLanes();
      this.countText();
      this.root.style.setProperty("--rows", Math.min(this.rows.total, 200)); // on a phone, lanes are no higher than what is in them
      if (keep >= 0 && this.rows.rowOf(keep) >= 0) this.reveal(keep);
      this.clamp();
      this.draw();
    });
  }

  countText() {
    const n = this.rows.total.toLocaleString("en"), all = this.run.steps.toLocaleString("en");
    this.count.textContent = `${n} of ${all} steps` + (this.rows.done ? "" : ", looking …");
  }

  // shownLanes leaves out goroutines that have nothing to show.
  shownLanes() {
    const f = this.rows.filter, has = new Set();
    for (const c of this.steps.chunks) for (const [lane, n, m] of c.g) if ((f.relevant ? m : n) > 0) has.add(lane);
    this.lanes = [];
    for (let i = 0; i < this.run.lanes.length; i++) if (has.has(i) && (f.lane < 0 || f.lane === i)) this.lanes.push(i);
    this.column = new Map(this.lanes.map((lane, i) => [lane, i]));
  }

  resize() {
    const box = this.canvas.parentElement.getBoundingClientRect();
    if (box.width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    this.width = box.width;
    this.height = box.height;
    this.canvas.width = Math.round(box.width * ratio);
    this.canvas.height = Math.round(box.height * ratio);
    this.ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.selected < 0 && !this.placed) {
      this.placed = true;
      this.rowHeight = Math.min(34, Math.max(24, (this.seenHeight() - headHeight) / Math.max(1, this.rows.total + 1)));
      this.first();
    }
    this.clamp();
    this.draw();
  }

  // first selects what the page is about: the failure; of a run that passes, where the schedule takes over.
  first() {
    const m = this.run.marks.find((m) => m.kind === "failure") || this.run.marks.findLast((m) => m.kind === "waits");
    const taken = this.run.marks.findLast((m) => m.kind === "preemption");
    if (m) this.select(m.step);
    else if (taken) this.selectShown(taken.step);
    else if (this.run.steps > 0) this.rows.total > 0 && this.rows.load(0).then((s) => this.select(s));
  }

  get inSight() { return Math.max(1, (this.height - headHeight) / this.rowHeight); }

  // seenHeight is how much of the picture is above the lower edge of the window, below which it may go on.
  seenHeight() {
    const below = window.innerHeight - this.canvas.getBoundingClientRect().top;
    return below > headHeight + 120 ? Math.min(this.height, below) : this.height;
  }

  // rowsSeen are those that have room there.
  get rowsSeen() { return Math.max(1, (this.seenHeight() - headHeight) / this.rowHeight); }

  clamp() {
    if (!this.height || !this.lanes) return;
    this.scroll = Math.min(Math.max(0, this.scroll), Math.max(0, this.rows.total - this.rowsSeen + 1));
    // A finger moves the page where there is nothing to move in the picture.
    this.canvas.style.touchAction = this.rows.total <= this.rowsSeen && this.geometry().all <= this.geometry().room ? "pan-y" : "none";
    const g = this.geometry();
    this.shift = Math.min(Math.max(0, this.shift), Math.max(0, g.all - g.room));
  }

  // geometry says where lanes and texts are. Lanes that are wide enough have their texts in them;
  // otherwise there is one column of texts on the right.
  geometry() {
    const n = Math.max(1, (this.lanes || []).length), room = (this.width || 0) - gutter - railWidth;
    if (room / n >= 210) return { lane: room / n, inside: true, all: room, room, text: 0 };
    const lane = Math.min(60, Math.max(12, (room * 0.42) / n)), most = Math.max(room * 0.5, 40);
    return { lane, inside: false, all: lane * n, room: Math.min(lane * n, most), text: gutter + Math.min(lane * n, most) + 8 };
  }

  x(lane) {
    const g = this.geometry(), at = this.column.get(lane);
    return gutter + (g.inside ? at * g.lane + 16 : at * g.lane + g.lane / 2 - this.shift);
  }

  y(row) { return headHeight + (row - this.scroll + 0.5) * this.rowHeight; }

  colour(lane) { return lane < 0 ? this.c.faint : this.laneColour[lane % 8]; }

  draw() {
    if (!this.width || !this.lanes || this.pending) return;
    this.pending = requestAnimationFrame(() => { this.pending = 0; this.paint(); });
  }

  paint() {
    const p = this.ink, c = this.c;
    p.clearRect(0, 0, this.width, this.height);
    p.fillStyle = c.panel;
    p.fillRect(0, 0, this.width, this.height);
    const g = this.geometry();
    p.save();
    p.beginPath();
    p.rect(0, headHeight, this.width - railWidth, this.height - headHeight);
    p.clip();
    for (const lane of this.lanes) {
      p.strokeStyle = c.hair;
      p.lineWidth = 1;
      p.beginPath();
      p.moveTo(this.x(lane), headHeight);
      p.lineTo(this.x(lane), this.height);
      p.stroke();
    }
    if (this.rowHeight >= 7) this.paintRows(g); else this.paintDensity(g);
    p.restore();
    this.paintHead(g);
    this.paintRail();
    this.canvas.dataset.rows = this.rows.total;
    this.canvas.dataset.painted = String(Number(this.canvas.dataset.painted || 0) + 1);
  }

  paintHead(g) {
    const p = this.ink, c = this.c;
    p.fillStyle = c.code;
    p.fillRect(0, 0, this.width, headHeight);
    p.fillStyle = c.line;
    p.fillRect(0, headHeight - 1, this.width, 1);
    p.textBaseline = "middle";
    p.textAlign = "left";
    p.fillStyle = c.faint;
    p.font = "11px system-ui, sans-serif";
    p.fillText("event", 8, headHeight - 13);
    p.save();
    p.beginPath();
    p.rect(gutter, 0, (g.inside ? g.all : g.room) + 4, headHeight);
    p.clip();
    const step = g.inside ? 1 : Math.ceil(16 / g.lane);
    this.lanes.forEach((lane, i) => {
      const x = this.x(lane), l = this.run.lanes[lane];
      p.fillStyle = this.colour(lane);
      if (g.inside) {
        p.textAlign = "left";
        p.font = "600 13px system-ui, sans-serif";
        p.fillText(fit(p, `${this.run.noun} ${l.g}`, g.lane - 20), x - 6, 15);
        p.fillStyle = c.soft;
        p.font = "12px system-ui, sans-serif";
        p.fillText(fit(p, l.name || "", g.lane - 20), x - 6, 33);
      } else if (i % step === 0) {
        p.textAlign = "center";
        p.font = "600 12px system-ui, sans-serif";
        p.fillText(String(l.g), x, headHeight - 13);
      }
    });
    p.restore();
    if (!g.inside) {
      p.textAlign = "left";
      p.fillStyle = c.faint;
      p.font = "11px system-ui, sans-serif";
      p.fillText(this.run.noun + "s", gutter, 12);
      p.fillText("what it does", g.text, headHeight - 13);
    }
  }

  // paintRows draws each row in sight, and asks for the chunks that are missing.
  paintRows(g) {
    const p = this.ink, c = this.c, h = this.rowHeight;
    const first = Math.floor(this.scroll), last = Math.min(this.rows.total - 1, Math.ceil(this.scroll + this.inSight));
    const seen = [], chunks = new Set();
    for (let row = first; row <= last; row++) {
      const i = this.rows.chunkOfRow(row), chunk = this.steps.ready(i);
      if (!chunk) {
        if (!chunks.has(i)) { chunks.add(i); this.steps.load(i).then(() => this.draw()); }
        p.fillStyle = c.hair;
        p.fillRect(gutter, this.y(row) - 3, 140, 6);
        continue;
      }
      chunks.add(i);
      seen.push({ row, ...this.steps.at(chunk, this.rows.pick(chunk)[row - this.rows.start[i]]) });
    }
    this.words = [];
    this.taken = []; // what is written and marked, as boxes
    for (const s of seen) this.paintBand(s);
    this.paintToken(seen, g);
    this.paintLinks(chunks, seen);
    for (const s of seen) this.paintStep(s, g);
    for (const w of this.words) this.paintWord(w); // over what steps say, or neither can be read
    this.seen = seen;
  }

  bandColour(s) {
    const c = this.c, marks = this.marks.get(s.step) || [];
    return s.step === this.selected ? c.select : marks.some((m) => m.kind === "failure" || m.kind === "waits") ? c["bad-soft"] : s.row === this.hover ? c.hover : "";
  }

  paintBand(s) {
    const p = this.ink, h = this.rowHeight, colour = this.bandColour(s);
    if (!colour) return;
    p.fillStyle = colour;
    p.fillRect(0, this.y(s.row) - h / 2, this.width, h);
  }

  // paintToken draws the one line of control: down the lane of the goroutine that runs, and across
  // where another one goes on.
  paintToken(seen) {
    const p = this.ink, c = this.c;
    for (let i = 1; i < seen.length; i++) {
      const a = seen[i - 1], b = seen[i];
      if (a.lane < 0 || b.lane < 0 || b.row !== a.row + 1) continue;
      // The step after which the goroutine is stopped need not be one of those that are shown.
      const preempted = this.run.marks.find((m) => m.kind === "preemption" && m.step >= a.step && m.step < b.step);
      const ya = this.y(a.row), yb = this.y(b.row), xa = this.x(a.lane), xb = this.x(b.lane);
      p.beginPath();
      p.moveTo(xa, ya);
      if (a.lane === b.lane) {
        p.strokeStyle = this.colour(a.lane);
        p.globalAlpha = 0.55;
        p.lineWidth = 2.5;
        p.lineTo(xb, yb);
      } else {
        p.globalAlpha = preempted ? 1 : 0.5;
        p.strokeStyle = preempted ? c.bad : c.faint;
        p.lineWidth = preempted ? 2 : 1.2;
        p.setLineDash(preempted ? [] : [3, 3]);
        const mid = (ya + yb) / 2;
        p.bezierCurveTo(xa, mid + 2, xb, mid - 2, xb, yb);
      }
      p.stroke();
      p.setLineDash([]);
      p.globalAlpha = 1;
      if (preempted) this.paintPreemption((ya + yb) / 2, preempted);
    }
  }

  paintPreemption(y, mark) {
    const p = this.ink, c = this.c;
    p.strokeStyle = c.bad;
    p.globalAlpha = 0.45;
    p.setLineDash([5, 4]);
    p.lineWidth = 1;
    p.beginPath();
    p.moveTo(0, y);
    p.lineTo(this.width - railWidth, y);
    p.stroke();
    p.setLineDash([]);
    p.globalAlpha = 1;
    const high = Math.min(18, this.rowHeight - 12); // what fits between two lines of text
    if (high < 11) return;
    p.font = `600 ${high < 16 ? 9 : 11}px system-ui, sans-serif`;
    const text = `preempted: ${this.run.noun} ${mark.to} goes`, w = p.measureText(text).width + 14;
    const x = this.width - railWidth - w - 8;
    p.fillStyle = c["bad-soft"];
    roundRect(p, x, y - high / 2, w, high, high / 2);
    p.fill();
    p.fillStyle = c.bad;
    p.textAlign = "left";
    p.textBaseline = "middle";
    p.fillText(text, x + 7, y + 0.5);
    this.taken.push({ x, y: y - high / 2, w, h: high });
  }

  paintLinks(chunks, seen) {
    if (seen.length === 0) return;
    const low = seen[0].step, high = seen[seen.length - 1].step, done = new Set(), visible = new Map(seen.map((s) => [s.step, s]));
    const place = (step) => {
      const s = visible.get(step);
      if (s) return [this.x(s.lane), this.y(s.row)];
      return (step < low || step > high) && this.rows.mayHave(step) ? null : undefined;
    };
    const drawn = (from, to, colour, dash, width, word) => {
      const a = place(from), b = place(to);
      if (a === undefined || b === undefined || (!a && !b)) return;
      const [x1, y1] = a || [b[0] + 26, headHeight - 20], [x2, y2] = b || [a[0] + 26, this.height + 20];
      this.arrow(x1, y1, x2, y2, colour, dash, width, word);
    };
    for (const i of chunks) {
      const chunk = this.steps.ready(i);
      if (!chunk) continue;
      for (const l of chunk.links) {
        const key = l.from * 8 + l.kind + "," + l.to;
        if (done.has(key)) continue;
        done.add(key);
        const on = l.from === this.selected || l.to === this.selected;
        drawn(l.from, l.to, on ? this.c.accent : this.c.soft, [], on ? 2.2 : 1.2, on ? linkWords[l.kind][0] : "");
      }
    }
    for (const [from, to] of this.run.races) drawn(from, to, this.c.bad, [6, 4], 2, "race");
    for (const [from, to] of this.run.heldUp) drawn(from, to, this.c.bad, [2, 3], 2, "holds it");
  }

  arrow(x1, y1, x2, y2, colour, dash, width, word) {
    const p = this.ink;
    const side = x2 >= x1 ? 1 : -1, near = Math.abs(x2 - x1) < 4, reach = near ? 40 : Math.abs(x2 - x1) * 0.45;
    const cx1 = x1 + side * reach, cx2 = near ? x2 + side * reach : x2 - side * reach;
    p.strokeStyle = p.fillStyle = colour;
    p.lineWidth = width;
    p.globalAlpha = 0.85;
    p.setLineDash(dash);
    p.beginPath();
    p.moveTo(x1 + side * 5, y1);
    p.bezierCurveTo(cx1, y1, cx2, y2, x2 - (near ? -side : side) * 7, y2);
    p.stroke();
    p.setLineDash([]);
    const d = near ? -side : side;
    p.beginPath();
    p.moveTo(x2 - d * 6, y2);
    p.lineTo(x2 - d * 13, y2 - 4);
    p.lineTo(x2 - d * 13, y2 + 4);
    p.fill();
    p.globalAlpha = 1;
    if (word) this.words.push({ word, colour, near, curve: [[x1, y1], [cx1, y1], [cx2, y2], [x2, y2]] });
  }

  // paintWord paints what an arrow means, on it: at its middle, or as near to that as nothing else is
  // written or marked. An arrow from a step to another of its lane is beside the text of all rows between.
  paintWord({ word, colour, near, curve }) {
    const p = this.ink;
    p.font = "600 11px system-ui, sans-serif";
    const w = p.measureText(word).width + 10;
    const box = (t) => {
      const at = (i) => (1 - t) ** 3 * curve[0][i] + 3 * (1 - t) ** 2 * t * curve[1][i] + 3 * (1 - t) * t * t * curve[2][i] + t ** 3 * curve[3][i];
      return { x: at(0) - w / 2, y: at(1) - 8, w, h: 16 };
    };
    const free = (b) => b.y >= headHeight && b.y + b.h <= this.height && !this.taken.some((o) => b.x < o.x + o.w && o.x < b.x + b.w && b.y < o.y + o.h && o.y < b.y + b.h);
    let best = this.geometry().inside && !near ? box(0.5) : null; // between narrow lanes it would hide them
    for (let d = 0; d <= 0.4; d += 0.05) {
      const found = [box(0.5 + d), box(0.5 - d)].find(free);
      if (found) { best = found; break; }
    }
    if (!best) return;
    this.taken.push(best);
    const x = best.x + w / 2, y = best.y + 8;
    p.fillStyle = this.c.panel;
    roundRect(p, x - w / 2, y - 8, w, 16, 8);
    p.fill();
    p.strokeStyle = colour;
    p.lineWidth = 1;
    p.stroke();
    p.fillStyle = colour;
    p.textAlign = "center";
    p.textBaseline = "middle";
    p.fillText(word, x, y + 0.5);
  }

  // siteOf is where a step is; of a failure, the line of the program that it comes from.
  siteOf(s) {
    const m = (this.marks.get(s.step) || []).find((m) => m.site);
    return m ? this.run.sites[m.site - 1] : s.site;
  }

  paintStep(s, g) {
    const p = this.ink, c = this.c, h = this.rowHeight, y = this.y(s.row), marks = this.marks.get(s.step) || [];
    const failed = marks.some((m) => m.kind === "failure" || m.kind === "waits"), colour = failed ? c.bad : this.colour(s.lane);
    if (s.lane >= 0) {
      p.globalAlpha = s.relevant || !this.rows.filter.relevant ? 1 : 0.5;
      this.taken.push({ x: this.x(s.lane) - 7, y: y - 7, w: 14, h: 14 });
      shape(p, failed ? "failure" : s.class, this.x(s.lane), y, Math.min(5.2, h * 0.26), colour, c.panel);
      p.globalAlpha = 1;
    }
    if (h < 15) return;
    p.textBaseline = "middle";
    p.textAlign = "left";
    p.font = "11px " + this.mono;
    p.fillStyle = c.faint;
    p.fillText(String(s.seq), 8, y);
    const x = g.inside ? this.x(Math.max(s.lane, this.lanes[0] || 0)) + 14 : g.text;
    const room = (g.inside ? g.lane - 34 : this.width - railWidth - g.text - 6);
    const place = this.siteOf(s).p || "", font = (s.step === this.selected ? "600 " : "") + "12.5px " + this.mono;
    const label = failed && s.class === "failure" ? this.run.kind + ": " + this.run.message : this.steps.label(s);
    p.font = "11px " + this.mono;
    const placeWidth = p.measureText(place).width + 14;
    p.font = font;
    // In a narrow lane, what a step does is worth more than where.
    const wide = place && room > 190 && (room > 320 || p.measureText(label).width <= room - placeWidth);
    p.fillStyle = failed ? c.bad : s.relevant ? c.ink : c.soft;
    const text = fit(p, label, wide ? room - placeWidth : room);
    const back = this.bandColour(s) || c.panel;
    this.written(text, x, y, back);
    if (wide) {
      const w = p.measureText(text).width;
      p.font = "11px " + this.mono;
      p.fillStyle = c.faint;
      this.written(place, x + w + 10, y, back);
    }
  }

  // written draws a text over the arrows that cross it, also between its words.
  written(text, x, y, back) {
    const p = this.ink, ink = p.fillStyle, w = p.measureText(text).width;
    const half = Math.max(5, Math.min(8, this.rowHeight / 2 - 6)); // what lies between two rows stays whole
    p.fillStyle = back;
    p.fillRect(x - 3, y - half, w + 6, 2 * half);
    p.fillStyle = ink;
    p.fillText(text, x, y);
    this.taken.push({ x: x - 2, y: y - 7, w: w + 4, h: 14 });
  }

  // paintDensity draws runs that do not fit: points where their chunks are open, and counts otherwise.
  paintDensity(g) {
    const p = this.ink, first = Math.floor(this.scroll), last = Math.min(this.rows.total - 1, Math.ceil(this.scroll + this.inSight));
    this.seen = [];
    if (this.rows.total === 0) return;
    const from = this.rows.chunkOfRow(first), to = this.rows.chunkOfRow(last), close = to - from < 12;
    for (let i = from; i <= to; i++) {
      if (this.rows.counts[i] <= 0) continue;
      const chunk = close ? this.steps.ready(i) : null;
      if (close && !chunk) this.steps.load(i).then(() => this.draw());
      if (chunk) {
        const list = this.rows.pick(chunk), cols = chunk.columns, size = Math.max(1, this.rowHeight);
        for (let k = 0; k < list.length; k++) {
          const y = this.y(this.rows.start[i] + k), lane = cols.g[list[k] - chunk.first] - 1;
          if (lane < 0 || y < headHeight || y > this.height) continue;
          p.fillStyle = this.colour(lane);
          p.fillRect(this.x(lane) - 5, y - size / 2, 10, size);
        }
        continue;
      }
      const y0 = this.y(this.rows.start[i] - 0.5), y1 = this.y(this.rows.start[i + 1] - 0.5), c = this.steps.chunks[i];
      for (const [lane, n, m] of c.g) {
        if (!this.column.has(lane)) continue;
        const share = (this.rows.filter.relevant ? m : n) / Math.max(1, this.rows.filter.relevant ? c.m : c.n);
        if (share === 0) continue;
        p.fillStyle = this.colour(lane);
        p.globalAlpha = 0.2 + 0.8 * share;
        p.fillRect(this.x(lane) - 6, y0, 12, Math.max(1, y1 - y0));
        p.globalAlpha = 1;
      }
    }
    for (const m of this.run.marks) {
      const y = this.y(this.about(m.step));
      if (y < headHeight || y > this.height) continue;
      p.fillStyle = this.c.bad;
      p.globalAlpha = m.kind === "preemption" ? 0.5 : 1;
      p.fillRect(gutter - 8, y - 1, this.width, m.kind === "preemption" ? 1 : 2);
      p.globalAlpha = 1;
    }
    if (this.selected >= 0) {
      p.fillStyle = this.c.accent;
      p.fillRect(0, this.y(this.about(this.selected)) - 1, this.width, 2);
    }
  }

  // about is nearly the row of a step, without its chunk.
  about(step) {
    const row = this.rows.rowOf(step);
    if (row >= 0) return row;
    const i = this.steps.chunkOf(step), c = this.steps.chunks[i];
    return this.rows.start[i] + ((step - c.first) / c.n) * Math.max(0, this.rows.counts[i]);
  }

  // paintRail draws the whole run at the right, with the part in sight.
  paintRail() {
    const p = this.ink, c = this.c, x = this.width - railWidth, h = this.height - headHeight, total = Math.max(1, this.rows.total);
    p.fillStyle = c.code;
    p.fillRect(x, headHeight, railWidth, h);
    p.fillStyle = c.faint;
    p.globalAlpha = 0.35;
    const size = Math.max(18, (h * this.inSight) / Math.max(total, this.inSight));
    const top = headHeight + ((h - size) * this.scroll) / Math.max(1, total - this.inSight + 1);
    if (total > this.inSight) { roundRect(p, x + 3, top, railWidth - 6, size, 4); p.fill(); }
    p.globalAlpha = 1;
    if (total <= this.inSight) return;
    for (const m of this.run.marks) {
      p.fillStyle = m.kind === "preemption" ? c.warn : c.bad;
      p.fillRect(x + 1, headHeight + (h * (this.about(m.step) + 0.5)) / total - 1, railWidth - 2, 2);
    }
  }
}

function fit(p, text, room) {
  if (p.measureText(text).width <= room) return text;
  let lo = 0, hi = text.length;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (p.measureText(text.slice(0, mid) + "…").width <= room) lo = mid; else hi = mid - 1;
  }
  return lo > 0 ? text.slice(0, lo) + "…" : "";
}

function roundRect(p, x, y, w, h, r) {
  p.beginPath();
  p.roundRect(x, y, w, h, r);
}

// shape draws a step by its class: open for what only looks, filled for what changes something.
function shape(p, kind, x, y, r, colour, paper) {
  p.fillStyle = colour;
  p.strokeStyle = colour;
  p.lineWidth = Math.max(1, r * 0.36);
  p.beginPath();
  switch (kind) {
    case "read": p.arc(x, y, r, 0, 7); p.fillStyle = paper; break;
    case "write": p.arc(x, y, r, 0, 7); break;
    case "atomic": p.moveTo(x, y - r * 1.2); p.lineTo(x + r * 1.2, y); p.lineTo(x, y + r * 1.2); p.lineTo(x - r * 1.2, y); p.closePath(); break;
    case "lock": p.rect(x - r, y - r, 2 * r, 2 * r); break;
    case "channel": p.moveTo(x - r, y - r); p.lineTo(x + r * 1.1, y); p.lineTo(x - r, y + r); p.closePath(); break;
    case "wait": p.rect(x - r, y - r, r * 0.7, 2 * r); p.rect(x + r * 0.3, y - r, r * 0.7, 2 * r); break;
    case "failure": p.lineWidth = Math.max(1.5, r * 0.6); p.moveTo(x - r, y - r); p.lineTo(x + r, y + r); p.moveTo(x + r, y - r); p.lineTo(x - r, y + r); p.stroke(); return;
    default: p.arc(x, y, r * 0.7, 0, 7);
  }
  p.fill();
  p.stroke();
}
