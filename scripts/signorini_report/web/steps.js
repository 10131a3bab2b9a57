/* A table of steps, or of recordings: marks against any column, their running median, how they are distributed, and a line per series. Missing
   values (a step without contacts has no residual) are left out everywhere. */
"use strict";

const CURVE = 400; // points of a distribution that are drawn

/* The middle of `window` neighbours in order of x. points: [[x, y]], sorted. */
function runningMedian(points, window) {
  const half = window >> 1;
  return points.map(([x], at) => [x, median(points.slice(Math.max(0, at - half), at + half + 1).map(point => point[1]))]);
}

class Steps extends View {
  firstState() {
    const {settings} = this, state = {against: settings.first.x, show: settings.first.y, by: settings.first.by, line: settings.lines[0], x: settings.first.x_scale, y: settings.first.y_scale,
      share: settings.first.y_scale, sort: "name", down: "", runsort: "", rundown: "", file: "", step: "", run: "", off: []};
    for (const {name} of this.filters) state[name] = null;
    return state;
  }

  mend() {
    const columns = this.settings.columns.map(([name]) => name);
    this.keep("against", columns);
    this.keep("show", columns);
    this.keep("by", this.settings.by.map(([name]) => name));
    this.keep("line", this.settings.lines);
    for (const key of ["x", "y", "share"]) this.keep(key, ["log", "linear"]);
  }

  /* Other series are all shown. */
  set(changes) { super.set("by" in changes ? {...changes, off: []} : changes); }

  nameSeries() { this.seriesOf = row => String(valueOf(this.table, this.state.by, row)); }
  wordsOf(column) { return this.settings.columns.find(([name]) => name === column)?.[1] ?? column; }
  unitOf(column) { return this.settings.meanings[column]?.[0] || ""; }
  look(name) { return this.settings.looks[this.state.by]?.[name] ?? ["#777777", ""]; }
  allSeries() { return [...this.names]; }
  amount(value, column = this.state.show) { return this.unitOf(column) === "s" ? duration(value) : words(value) + (this.unitOf(column) ? ` ${this.unitOf(column)}` : ""); }

  select() {
    const {state} = this, order = Object.keys(this.settings.looks[state.by] ?? {});
    this.rows = this.through(this.allowed(state));
    this.names = [...new Set(this.rows.map(this.seriesOf))].sort((a, b) => order.indexOf(a) - order.indexOf(b) || compared(a, b));
    const off = new Set(state.off);
    this.shown = new Set(this.names.filter(name => !off.has(name)));
    this.shownRows = this.rows.filter(row => this.shown.has(this.seriesOf(row)));
    this.valued = new Map([...this.names].map(name => [name, []])); // rows with a value of what is shown
    const values = this.table.numbers[state.show];
    for (const row of this.rows) if (Number.isFinite(values[row])) this.valued.get(this.seriesOf(row)).push(row);
  }

  draw() {
    this.select();
    this.write();
    this.drawControls();
    this.drawCounts();
    this.drawPlots();
    this.drawSeriesTable(this.seriesColumns(), this.seriesRows());
    this.drawRows();
    this.drawDetails();
  }

  drawControls() {
    const {settings} = this;
    this.fill("ordinate", settings.columns, "show");
    this.fill("abscissa", settings.columns, "against");
    this.fill("by", settings.by, "by");
    this.fill("line", settings.lines.map(line => [line, line]), "line");
    this.scales([["x-scale", "x"], ["y-scale", "y"], ...(settings.joined ? [] : [["share-scale", "share"]])]);
    this.drawFilters();
  }

  drawCounts() {
    const {settings, state} = this, files = new Set(this.shownRows.map(row => this.table.texts.file.at[row])).size;
    const values = [...this.shown].reduce((sum, name) => sum + this.valued.get(name).length, 0);
    this.el("counts").textContent = `${counted(this.shownRows.length, settings.word)} of ${this.table.count} in ${counted(files, "recording")}, ${this.shown.size} of ${this.names.length} series; `
      + `${values} have a value of ${this.wordsOf(state.show)}.`
      + (settings.every > 1 ? ` The page holds one ${settings.word} of ${settings.every} of each recording; all are in ${settings.whole}.` : "");
  }

  drawPlots() {
    this.drawMarks();
    if (!this.settings.joined) this.drawShares();
  }

  /* The line through the marks of a series: broken from one recording to the next, where a recording has many. */
  lineOf(marks) {
    const {line} = this.state, window = /\d+/.exec(line);
    if (line === "none") return [];
    const files = this.settings.joined ? [marks] : [...new Set(marks.map(mark => mark.file))].map(file => marks.filter(mark => mark.file === file));
    return files.flatMap((own, place) => {
      const points = own.map(mark => [mark.x, mark.y]).filter(point => this.state.y !== "log" || point[1] > 0).sort((a, b) => a[0] - b[0]);
      const found = window ? runningMedian(points, Number(window[0])) : points;
      return place ? [[NaN, NaN], ...found] : found;
    });
  }

  drawMarks() {
    const {state, table} = this, x = table.numbers[state.against], y = table.numbers[state.show], [across, up] = [state.against, state.show].map(name => this.wordsOf(name));
    const series = [...this.shown].map(name => {
      const marks = this.valued.get(name).filter(row => Number.isFinite(x[row])).map(row => ({x: x[row], y: y[row], reached: true, row, file: table.texts.file.at[row]})), [colour, dashes] = this.look(name);
      return {name, marks, colour, dashes, points: this.lineOf(marks)};
    });
    const axis = (column, title) => title + (this.unitOf(column) ? ` [${this.unitOf(column)}]` : "");
    this.marks = drawMarks(this.el("scatter"), `${up} of ${counted(d3.sum(series, one => one.marks.length), this.settings.word)} against ${across}`, series,
      {xScale: state.x, yScale: state.y, xWords: axis(state.against, across), yWords: axis(state.show, up), faint: state.line !== "none"});
    bindMarks(this.marks, mark => { this.el("tip").textContent = this.tipOf(mark.row); }, mark => this.open(mark.row));
  }

  drawShares() {
    const {state} = this, values = this.table.numbers[state.show];
    const lines = [...this.shown].map(name => {
      const sorted = this.valued.get(name).map(row => values[row]).filter(value => state.share !== "log" || value > 0).sort((a, b) => a - b), count = this.valued.get(name).length || 1;
      const every = Math.max(1, Math.ceil(sorted.length / CURVE)), below = count === sorted.length ? 0 : count - sorted.length, [colour, dashes] = this.look(name);
      const points = sorted.map((value, place) => [value, 100 * (below + place + 1) / count]).filter((_, place) => place % every === 0 || place === sorted.length - 1);
      return {name, colour, dashes, step: true, points};
    });
    drawLines(this.el("shares"), `Distribution of ${this.wordsOf(state.show)} in ${lines.length} series`, lines, {xScale: state.share, yDomain: [0, 104],
      xWords: this.wordsOf(state.show) + (this.unitOf(state.show) ? ` [${this.unitOf(state.show)}]` : ""), yWords: `${this.settings.word}s [%]`});
  }

  nameOf(row) {
    const step = valueOf(this.table, "step", row);
    return valueOf(this.table, "file", row) + (step === undefined ? "" : `, step ${step}`);
  }

  tipOf(row) {
    const {state, table} = this, part = name => `${this.wordsOf(name)} ${this.amount(valueOf(table, name, row), name)}`;
    return `${this.nameOf(row)}: ${this.seriesOf(row)}, ${part(state.show)}, ${part(state.against)}`;
  }

  open(row) {
    this.set({file: valueOf(this.table, "file", row), step: String(valueOf(this.table, "step", row) ?? ""), run: this.seriesOf(row)});
    this.showDetails();
  }

  /* Mean of a series on every scene: {scene: mean}. */
  meansOf(name) {
    const values = this.table.numbers[this.state.show], sums = new Map();
    for (const row of this.valued.get(name)) {
      const scene = this.settings.scenes[valueOf(this.table, "file", row)] ?? "", own = sums.get(scene) ?? [0, 0];
      sums.set(scene, [own[0] + values[row], own[1] + 1]);
    }
    return new Map([...sums].map(([scene, [sum, count]]) => [scene, sum / count]));
  }

  seriesRows() {
    const values = this.table.numbers[this.state.show], means = new Map(this.names.map(name => [name, this.meansOf(name)])), least = new Map();
    for (const name of this.shown) for (const [scene, mean] of means.get(name)) least.set(scene, Math.min(mean, least.get(scene) ?? Infinity));
    return this.names.map(name => {
      const own = this.valued.get(name).map(row => values[row]).sort((a, b) => a - b), shown = this.shown.has(name);
      const ratios = shown ? [...means.get(name)].map(([scene, mean]) => mean / least.get(scene)) : [];
      const usable = ratios.length && ratios.every(ratio => Number.isFinite(ratio) && ratio >= 1);
      return {name, shown, count: own.length, median: d3.quantile(own, 0.5) ?? null, mean: own.length ? d3.mean(own) : null, high: d3.quantile(own, 0.9) ?? null, most: own.at(-1) ?? null,
        sum: own.length ? d3.sum(own) : null, ratio: usable ? geometricMean(ratios) : null};
    });
  }

  seriesColumns() {
    const number = (key, title, meaning) => ({key, title, meaning, number: true, text: row => row[key] === null ? "–" : this.amount(row[key])});
    return [{key: "name", title: "series", text: row => this.seriesCell(row, this.look(row.name)), value: row => row.name}, {key: "count", title: `${this.settings.word}s`, number: true},
      number("median", "median"), number("mean", "mean"), number("high", "90 %", `nine tenths of the ${this.settings.word}s have at most this`), number("most", "largest"),
      ...(this.settings.every > 1 ? [] : [number("sum", "sum")]), {key: "ratio", title: "÷ least", number: true, meaning: "mean over the least mean on the same scene"}];
  }

  rowColumns() {
    const {table, state} = this, own = [...new Set([...this.settings.listed, state.against, state.show])];
    const opener = line => openerButton(valueOf(table, "file", line.row), `${valueOf(table, "file", line.row)}: open ${this.nameOf(line.row)}`, () => this.open(line.row));
    return [{key: "file", title: "recording", value: line => valueOf(table, "file", line.row), text: opener},
      ...own.map(name => ({key: name, title: this.wordsOf(name), number: true, value: line => valueOf(table, name, line.row), text: line => this.amount(valueOf(table, name, line.row), name)}))];
  }

  drawRows(paper = false) { this.drawRowsTable(this.rowColumns(), this.shownRows.map(row => ({row})), {paper, whole: this.settings.whole}); }

  drawDetails() {
    const {state, table, settings} = this, panel = this.el("details");
    const row = this.rows.find(one => valueOf(table, "file", one) === state.file && String(valueOf(table, "step", one) ?? "") === state.step);
    panel.hidden = row === undefined;
    if (panel.hidden) return;
    this.el("details-title").textContent = this.nameOf(row);
    this.el("details-facts").textContent = `${this.tipOf(row).split(": ").slice(1).join(": ")}.`;
    this.el("command").textContent = settings.commands[state.file] ?? "";
    fillNumbers(table, this.el("run-numbers").tBodies[0], settings, row);
    fillReplay(this.el("replay"), settings, state.file, state.step || settings.replays[state.file]?.steps.at(-1) || "0");
  }

  csv() { return this.rowsCsv(this.shownRows); }
}
