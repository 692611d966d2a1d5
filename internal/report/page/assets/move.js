"use strict";

// What a person does with lanes: choose a step, move, zoom; by mouse, touch and keyboard.
Object.assign(LanesView.prototype, {
  listen() {
    const c = this.canvas;
    c.addEventListener("wheel", (e) => {
      if (e.ctrlKey || e.metaKey) { e.preventDefault(); return this.zoom(Math.exp(-e.deltaY / 240), e.offsetY); }
      const scroll = this.scroll, shift = this.shift;
      if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.shift += e.deltaX || e.deltaY;
      else this.scroll += (e.deltaMode === 1 ? e.deltaY * 24 : e.deltaY) / this.rowHeight;
      this.clamp();
      if (this.scroll === scroll && this.shift === shift) return; // at an end the wheel moves the page
      e.preventDefault();
      this.draw();
    }, { passive: false });
    this.touches = new Map();
    c.addEventListener("pointerdown", (e) => this.down(e));
    c.addEventListener("pointermove", (e) => this.drag(e));
    c.addEventListener("pointerup", (e) => this.up(e));
    c.addEventListener("pointercancel", (e) => { this.touches.delete(e.pointerId); this.rail = false; });
    c.addEventListener("pointerleave", () => { this.hover = -1; this.draw(); });
    c.addEventListener("dblclick", (e) => this.zoom(2, e.offsetY));
    c.addEventListener("keydown", (e) => { if (this.key(e)) e.preventDefault(); });
  },

  rowAt(y) { return Math.floor((y - headHeight) / this.rowHeight + this.scroll); },

  down(e) {
    this.canvas.focus({ preventScroll: true });
    this.canvas.setPointerCapture(e.pointerId);
    this.rail = e.offsetX > this.width - railWidth;
    this.touches.set(e.pointerId, { x: e.offsetX, y: e.offsetY, moved: 0 });
    if (this.rail) this.toRail(e.offsetY);
  },

  toRail(y) {
    this.scroll = ((y - headHeight) / (this.height - headHeight)) * this.rows.total - this.inSight / 2;
    this.clamp();
    this.draw();
  },

  drag(e) {
    const t = this.touches.get(e.pointerId);
    if (!t) {
      const row = e.offsetY > headHeight ? this.rowAt(e.offsetY) : -1;
      if (row !== this.hover) { this.hover = row; this.draw(); }
      return;
    }
    if (this.rail) return this.toRail(e.offsetY);
    if (this.touches.size === 2) {
      const other = [...this.touches.entries()].find(([id]) => id !== e.pointerId)[1];
      const before = Math.hypot(t.x - other.x, t.y - other.y), now = Math.hypot(e.offsetX - other.x, e.offsetY - other.y);
      if (before > 0) this.zoom(now / before, (e.offsetY + other.y) / 2);
    } else {
      this.scroll -= (e.offsetY - t.y) / this.rowHeight;
      this.shift -= e.offsetX - t.x;
    }
    t.moved += Math.abs(e.offsetX - t.x) + Math.abs(e.offsetY - t.y);
    t.x = e.offsetX;
    t.y = e.offsetY;
    this.clamp();
    this.draw();
  },

  up(e) {
    const t = this.touches.get(e.pointerId);
    this.touches.delete(e.pointerId);
    const rail = this.rail;
    this.rail = false;
    if (!t || rail || t.moved > 6 || e.offsetY < headHeight) return;
    const row = this.rowAt(e.offsetY);
    if (row >= 0 && row < this.rows.total) this.rows.load(row).then((s) => this.select(s));
  },

  // zoom keeps what is at a height where it is.
  zoom(by, at) {
    const y = (at === undefined ? this.height / 2 : at) - headHeight, row = this.scroll + y / this.rowHeight;
    const least = Math.min(24, (this.height - headHeight) / Math.max(1, this.rows.total));
    this.rowHeight = Math.min(44, Math.max(least, this.rowHeight * by));
    this.scroll = row - y / this.rowHeight;
    this.clamp();
    this.draw();
  },

  fitAll() {
    this.rowHeight = 0;
    this.zoom(1);
    this.scroll = 0;
    this.clamp();
    this.draw();
  },

  reveal(step) {
    const row = this.rows.rowOf(step);
    if (row < 0) return;
    if (row < this.scroll + 1) this.scroll = row - Math.min(4, this.rowsSeen / 3);
    else if (row > this.scroll + this.rowsSeen - 3) this.scroll = row - this.rowsSeen * 0.62;
    this.clamp();
  },

  async select(step) {
    const chunk = await this.steps.load(this.steps.chunkOf(step));
    this.selected = step;
    if (this.rowHeight < 7) this.rowHeight = 24;
    this.reveal(step);
    this.draw();
    const s = this.steps.at(chunk, step), lane = this.run.lanes[s.lane];
    this.option.textContent = `event ${s.seq}, ${lane ? this.run.noun + " " + lane.g : ""}: ${this.steps.label(s)}, ${s.site.p || "no place"}`;
    this.canvas.dataset.step = step;
    this.onSelect(s, chunk);
  },

  // selectShown selects a step, or the row above it if the filter does not let it through.
  async selectShown(step) {
    if (this.rows.total === 0) return this.select(step);
    await this.steps.load(this.steps.chunkOf(step));
    const row = this.rows.rowOf(step), there = await this.rows.load(row);
    return this.select(there > step && row > 0 ? await this.rows.load(row - 1) : there);
  },

  // inTurn does what a key asks for when what the keys before it ask for is done: a key that is held down
  // comes again before the chunk of the next step is there.
  inTurn(act) { return (this.turn = (this.turn || Promise.resolve()).then(act)); },

  // move selects a row so many further.
  move(by) {
    return this.inTurn(async () => {
      if (this.rows.total === 0) return;
      const row = this.selected < 0 ? 0 : await this.near(this.selected, by);
      await this.select(await this.rows.load(Math.min(Math.max(0, row), this.rows.total - 1)));
    });
  },

  // near is the row that lies so many from a step, which need not be one of the rows.
  async near(step, by) {
    await this.steps.load(this.steps.chunkOf(step));
    const row = this.rows.rowOf(step), there = await this.rows.load(row);
    return there > step && by > 0 ? row + by - 1 : there < step && by < 0 ? row + by + 1 : row + by;
  },

  // sameLane selects the next step of the goroutine, or the one before. Chunks that have none of its are
  // not opened.
  sameLane(by) {
    return this.inTurn(async () => {
      if (this.selected < 0 || this.rows.total === 0) return;
      const lane = (await this.steps.get(this.selected)).lane;
      for (let row = await this.near(this.selected, by); row >= 0 && row < this.rows.total; row += by) {
        const i = this.rows.chunkOfRow(row);
        if (!this.steps.chunks[i].g.some(([l]) => l === lane)) { row = by > 0 ? this.rows.start[i + 1] - 1 : this.rows.start[i]; continue; }
        const step = await this.rows.load(row);
        if ((await this.steps.get(step)).lane === lane) return this.select(step);
      }
    });
  },

  // end selects the first row or the last one.
  end(last) {
    return this.inTurn(async () => { if (this.rows.total > 0) await this.select(await this.rows.load(last ? this.rows.total - 1 : 0)); });
  },

  // mark selects the next step that is marked so, or the one before. Where the filter hides it, the row
  // above is selected in its place, and the search goes on from the mark all the same.
  mark(by, kinds) {
    return this.inTurn(async () => {
      const all = this.run.marks.filter((m) => kinds.includes(m.kind)).map((m) => m.step);
      const from = this.at && this.at.row === this.selected ? this.at.mark : this.selected;
      const next = by > 0 ? all.find((s) => s > from) : all.filter((s) => s < from).pop();
      const step = next === undefined ? (by > 0 ? all[0] : all[all.length - 1]) : next;
      if (step === undefined) return;
      await (kinds.includes("preemption") ? this.selectShown(step) : this.select(step));
      this.at = { mark: step, row: this.selected };
    });
  },

  // race selects the other side of a race, or of the first one.
  race() {
    const pair = this.run.races.find((p) => p.includes(this.selected)) || this.run.races[0];
    if (pair) this.select(pair.find((s) => s !== this.selected));
  },

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return false;
    switch (e.key) {
      case "ArrowDown": case "j": this.move(1); return true;
      case "ArrowUp": case "k": this.move(-1); return true;
      case "PageDown": this.move(Math.floor(this.inSight) - 1); return true;
      case "PageUp": this.move(1 - Math.floor(this.inSight)); return true;
      case "Home": this.end(false); return true;
      case "End": this.end(true); return true;
      case "ArrowRight": case "]": this.sameLane(1); return true;
      case "ArrowLeft": case "[": this.sameLane(-1); return true;
      case "n": this.mark(1, ["preemption", "stall"]); return true;
      case "p": this.mark(-1, ["preemption", "stall"]); return true;
      case "f": this.mark(1, ["failure", "waits"]); return true;
      case "r": this.race(); return true;
      case "+": case "=": this.zoom(1.35); return true;
      case "-": this.zoom(1 / 1.35); return true;
      case "0": this.fitAll(); return true;
    }
    return false;
  },
});
