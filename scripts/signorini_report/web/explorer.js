/* The runs of an experiment: series of solvers on snapshots, with profiles, marks, curves. */
"use strict";

class Explorer extends View {
  constructor(table, settings, key) {
    super(table, settings, key);
    this.measures = measuresOf(table);
    this.numberKeys();
  }

  /* The view of the static figures: the timed rows of the first law, by regions where there are some, on the fewest threads. */
  firstState() {
    const {table, settings} = this, state = {protocol: settings.protocols[0] ?? "", target: String(settings.target), measure: "total", profile: "log", against: "contacts", x: "log", y: "log",
      over: "iterations", curvex: "log", sort: "name", down: "", runsort: "", rundown: "", file: "", step: "", run: "", off: []};
    for (const {name} of this.filters) state[name] = null;
    const narrow = (name, wanted) => {
      const values = this.filters.find(filter => filter.name === name)?.values ?? [];
      if (values.length > 1) state[name] = [wanted.find(value => values.includes(value)) ?? values[0]];
    };
    narrow("law", ["cone", "pyramid"]);
    narrow("region_mode", ["points", "none"]);
    narrow("threads", ["1"]);
    const rows = chosenRows(table, state.protocol, this.allowed(state));
    if (!rows.length) for (const {name} of this.filters) state[name] = null;
    return state;
  }

  mend() {
    this.keep("protocol", this.settings.protocols);
    this.keep("target", this.settings.targets.map((_, place) => String(place)));
    this.keep("measure", Object.keys(this.measures));
    for (const key of ["profile", "x", "y", "curvex"]) this.keep(key, ["log", "linear"]);
    this.keep("against", Object.keys(this.abscissae()));
    this.keep("over", ["iterations", "seconds"]);
  }

  through(allowed) { return chosenRows(this.table, this.state.protocol, allowed); }

  abscissae() {
    const number = {snapshot: "number of the snapshot"};
    for (const [name, title] of [["contacts", "contacts"], ["dofs", "degrees of freedom"], ["largest_region", "contacts of the largest region"], ["threads", "threads"]])
      if (this.table.numbers[name] && valuesOf(this.table, name).length > 1) number[name] = title;
    return number;
  }

  seriesName(name, law, regions, threads, more = "") {
    const words = [name];
    const varies = filter => (this.state[filter]?.length ?? this.filters.find(one => one.name === filter)?.values.length ?? 1) > 1;
    if (varies("law")) words.push(law);
    if (varies("region_mode")) words.push(regions);
    if (varies("threads")) words.push(`${threads} threads`);
    return words.join(" · ") + more;
  }

  /* keys.snapshot[row], keys.series[row]: what tells snapshots and series apart; further filters than the five tell series apart too. */
  numberKeys() {
    const {table} = this, further = this.filters.map(filter => filter.name).filter(name => !["scene", "solver", "law", "region_mode", "threads"].includes(name));
    const snapshots = new Map(), order = new Map();
    this.keys = {snapshot: [], series: []};
    for (let row = 0; row < table.count; ++row) {
      const key = `${table.texts.file.at[row]}|${table.texts.step.at[row]}`;
      if (!snapshots.has(key)) snapshots.set(key, row);
      this.keys.snapshot.push(key);
    }
    const stepOf = key => stepNumber(valueOf(table, "step", snapshots.get(key))), fileOf = key => valueOf(table, "file", snapshots.get(key));
    [...snapshots.keys()].sort((a, b) => fileOf(a).localeCompare(fileOf(b)) || stepOf(a) - stepOf(b)).forEach((key, place) => order.set(key, place + 1));
    this.order = order;
    this.further = further;
  }

  nameSeries() {
    const {table, further} = this, at = name => row => valueOf(table, name, row), [name, law, regions, threads] = ["name", "law", "region_mode", "threads"].map(at);
    const varying = further.filter(one => (this.state[one] ?? this.filters.find(filter => filter.name === one).values).length > 1);
    this.keys.series = Array.from({length: table.count}, (_, row) =>
      this.seriesName(name(row), law(row), regions(row), threads(row), varying.map(one => ` · ${valueOf(table, one, row)}`).join("")));
    this.lookOf = new Map(this.keys.series.map((series, row) => [series, row]));
  }

  look(name) { return this.settings.looks[name] ?? ["#777777", ""]; }
  lookOfSeries(series) { return this.look(valueOf(this.table, "name", this.lookOf.get(series))); }

  /* Whether a curve belongs to a series that is shown. */
  isShown(name, law, regions, threads) {
    const allowed = this.allowed(this.state), inside = (filter, value) => !allowed[filter] || allowed[filter].has(String(value));
    return inside("law", law) && inside("region_mode", regions) && inside("threads", threads) && this.shown.has(this.seriesName(name, law, regions, threads));
  }

  select() {
    const {state} = this;
    this.rows = this.through(this.allowed(state));
    this.found = cellsOf(this.table, this.rows, this.keys, state.target, state.measure);
    const off = new Set(state.off), order = Object.keys(this.settings.looks);
    const rank = series => order.indexOf(valueOf(this.table, "name", this.lookOf.get(series)));
    this.found.series.sort((a, b) => rank(a) - rank(b) || compared(a, b));
    this.shown = new Set(this.found.series.filter(series => !off.has(series)));
    this.profile = profileOf(this.found, this.shown);
    this.shownRows = this.rows.filter(row => this.shown.has(this.keys.series[row]));
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

  drawPlots() { this.drawProfile(); this.drawScatter(); }

  drawControls() {
    const {settings} = this;
    this.fill("protocol", settings.protocols.map(name => [name, {time: "timed", "self-stopped": "own stop", converge: "traced"}[name] ?? name]), "protocol");
    this.fill("target", settings.targets.map((target, place) => [place, target.toExponential(0)]), "target");
    this.fill("measure", Object.entries(this.measures).map(([key, measure]) => [key, measure.title]), "measure");
    this.fill("abscissa", Object.entries(this.abscissae()), "against");
    this.scales([["profile-scale", "profile"], ["x-scale", "x"], ["y-scale", "y"], ["curve-over", "over"], ["curve-scale", "curvex"]]);
    this.drawFilters();
  }

  drawCounts() {
    const runs = this.shownRows.length, failed = this.failures();
    this.el("counts").textContent = `${counted(runs, "run")} of ${this.table.count}: ${counted(this.profile.snapshots, "snapshot")}, ${this.shown.size} of ${this.found.series.length} series; `
      + `on ${failed} of ${counted(this.pairs(), "pair")} of snapshot and series the residual was not reached.`;
  }

  pairs() { return [...this.profile.series.values()].reduce((sum, own) => sum + own.asked, 0); }
  failures() { return [...this.profile.series.values()].reduce((sum, own) => sum + own.asked - own.ratios.length, 0); }

  drawProfile() {
    const measure = MEASURES[this.state.measure], lines = [], all = [...this.profile.series.values()].flatMap(own => own.ratios);
    const limit = Math.max(2, 1.15 * (all.length ? d3.max(all) : 1));
    for (const [name, own] of this.profile.series) {
      const [colour, dashes] = this.lookOfSeries(name), count = this.profile.snapshots || 1;
      const points = [[1, own.ratios.filter(ratio => ratio <= 1).length / count]];
      own.ratios.forEach((ratio, place) => points.push([ratio, (place + 1) / count]));
      points.push([limit, own.ratios.length / count]);
      lines.push({name, colour, dashes, step: true, points: points.map(([x, y]) => [x, 100 * y])});
    }
    drawLines(this.el("profile"), `Performance profile of ${lines.length} series over ${this.profile.snapshots} snapshots; the table of series has its numbers`, lines, {xScale: this.state.profile, xFloor: 1, yDomain: [0, 104],
      xWords: `${measure.label} ÷ best on the snapshot`, yWords: "snapshots solved [%]"});
  }

  drawScatter() {
    const {state, table} = this, measure = MEASURES[state.measure], bySeries = new Map([...this.shown].map(name => [name, []]));
    for (const [snapshot, line] of this.found.cells)
      for (const [name, cell] of line)
        if (this.shown.has(name)) bySeries.get(name).push({x: state.against === "snapshot" ? this.order.get(snapshot) : table.numbers[state.against][cell.row],
          y: costOf(table, state.measure, cell.row), reached: cell.reached, row: cell.row, series: name, ratio: cell.ratio});
    const series = [...bySeries].map(([name, marks]) => ({name, marks, colour: this.lookOfSeries(name)[0]}));
    const drawn = drawMarks(this.el("scatter"), `${measure.label} of ${this.pairs()} runs against ${this.abscissae()[state.against]}`, series,
      {xScale: state.x, yScale: state.y, xWords: this.abscissae()[state.against], yWords: measure.label + (measure.seconds ? " [s]" : "")});
    this.marks = drawn;
    bindMarks(drawn, mark => { this.el("tip").textContent = this.tipOf(mark); }, mark => this.open(mark.row));
  }

  tipOf(mark) {
    const {table} = this, get = name => valueOf(table, name, mark.row), measure = MEASURES[this.state.measure];
    const amount = measure.seconds ? duration(mark.y) : `${words(mark.y)} ${measure.label}`;
    return `${get("file")}, step ${get("step")} (${get("contacts")} contacts): ${mark.series}, ${amount}, `
      + (mark.reached ? `${words(mark.ratio)} × the best` : `residual ${residualWords(get("residual"))}, not reached`);
  }

  open(row) {
    const get = name => valueOf(this.table, name, row);
    this.set({file: get("file"), step: get("step"), run: this.keys.series[row]});
    this.showDetails();
  }

  /* One row per series. */
  seriesRows() {
    return this.found.series.map(name => {
      const shown = this.shown.has(name), own = this.profile.series.get(name) ?? {ratios: [], asked: 0, best: 0}, cells = [];
      for (const line of this.found.cells.values()) if (line.has(name)) cells.push(line.get(name));
      const solved = cells.filter(cell => cell.reached), at = (column, cell) => this.table.numbers[column][cell.row];
      const share = factor => shown && this.profile.snapshots ? 100 * shareWithin(this.profile, name, factor) : null;
      return {name, shown, asked: cells.length, solved: solved.length, best: share(1), within2: share(2), within10: share(10), ratio: shown ? geometricMean(own.ratios) : null,
        setup: median(solved.map(cell => at("setup_seconds", cell))), solve: median(solved.map(cell => at("solve_seconds", cell))),
        iterations: median(solved.map(cell => at("iterations", cell))), residual: d3.max(cells, cell => at("residual", cell)) ?? null};
    });
  }

  seriesColumns() {
    const percent = key => row => row[key] === null ? "–" : `${Number(row[key].toFixed(1))}`;
    return [{key: "name", title: "series", text: row => this.seriesCell(row, this.lookOfSeries(row.name)), value: row => row.name},
      {key: "asked", title: "snapshots", number: true}, {key: "solved", title: "reached", number: true, text: row => this.solvedCell(row)},
      {key: "best", title: "best %", number: true, text: percent("best"), meaning: "share of all snapshots on which it is the best of the series shown"},
      {key: "within2", title: "≤ 2× %", number: true, text: percent("within2"), meaning: "share of all snapshots that it solves within twice the best"}, {key: "within10", title: "≤ 10× %", number: true, text: percent("within10")},
      {key: "ratio", title: "÷ best", number: true, meaning: "geometric mean over the snapshots that it solved"},
      {key: "setup", title: "set-up", number: true, text: row => duration(row.setup)}, {key: "solve", title: "solve", number: true, text: row => duration(row.solve)},
      {key: "iterations", title: "iterations", number: true}, {key: "residual", title: "worst residual", number: true, text: row => residualWords(row.residual)}];
  }

  solvedCell(row) {
    const span = document.createElement("span");
    span.textContent = `${row.solved} of ${row.asked}`;
    span.className = row.solved < row.asked ? "whole differs" : "whole";
    return span;
  }

  runColumns(plain = false) {
    const {table} = this, column = (key, title, more = {}) => ({key, title, value: line => valueOf(table, key, line.row), text: line => words(valueOf(table, key, line.row)), ...more});
    const opener = line => {
      const step = valueOf(table, "step", line.row);
      return openerButton(step, `Open ${valueOf(table, "file", line.row)} step ${step}, ${line.series}`, () => this.open(line.row));
    };
    const time = name => ({number: true, text: line => duration(valueOf(table, name, line.row))});
    return [column("file", "recording"), column("step", "step", plain ? {} : {text: opener}), {key: "series", title: "series"}, column("contacts", "contacts", {number: true}),
      column("tolerance", "tolerance", {number: true, text: line => valueOf(table, "tolerance", line.row).toExponential()}), column("status", "status"), column("iterations", "iterations", {number: true}),
      column("residual", "residual", {number: true, text: line => residualWords(valueOf(table, "residual", line.row))}),
      column("setup_seconds", "set-up", time("setup_seconds")), column("solve_seconds", "solve", time("solve_seconds"))];
  }

  drawRows(paper = false) {
    this.drawRowsTable(this.runColumns(), this.shownRows.map(row => ({row, series: this.keys.series[row]})), {paper, whole: "runs.csv"});
  }

  drawDetails() {
    const {state, table} = this, panel = this.el("details"), files = table.texts.file.words.indexOf(state.file), steps = table.texts.step.words.indexOf(state.step);
    const key = `${files}|${steps}`, line = this.found.cells.get(key);
    panel.hidden = !this.order.has(key) || !line;
    if (panel.hidden) return;
    const present = [...line].filter(([name]) => this.shown.has(name)), own = line.get(state.run) ?? present[0]?.[1] ?? [...line.values()][0], row = own.row;
    const series = this.keys.series[row];
    this.el("details-title").textContent = `${state.file}, step ${state.step}`;
    this.el("details-facts").textContent = ["contacts", "dofs", "regions", "largest_region"].filter(name => table.numbers[name]).map(name => `${words(table.numbers[name][row])} ${name.replaceAll("_", " ")}`).join(", ") + ".";
    this.el("run-name").textContent = series;
    this.el("command").textContent = commandOf(table, this.settings, row);
    fillNumbers(table, this.el("run-numbers").tBodies[0], this.settings, row);
    const others = present.filter(([, cell]) => cell.reached && valueOf(table, "solver", cell.row) !== valueOf(table, "solver", row)).sort((a, b) => a[1].cost - b[1].cost);
    fillReplay(this.el("replay"), this.settings, state.file, state.step, {solver: valueOf(table, "solver", row), command: replayCommandOf(table, this.settings, [row, ...others.slice(0, 1).map(([, cell]) => cell.row)])});
    this.drawSnapshotTable(present, series);
    this.curvesDrawn = drawCurves(this.el("curves-plot"), this.el("curves-note"), {file: state.file, step: state.step}, this, series);
  }

  drawSnapshotTable(present, selected) {
    const best = Math.min(...present.map(([, cell]) => cell.cost));
    const rows = present.map(([name, cell]) => ({name, cell, selected: name === selected, cost: cell.reached ? cell.cost : null, ratio: cell.reached ? ratioOf(cell.cost, best) : null}));
    const pick = row => {
      const button = openerButton(row.name, "", () => this.set({run: row.name}));
      button.setAttribute("aria-pressed", row.selected);
      return button;
    };
    const number = (key, title, text) => ({key, title, number: true, text});
    const at = (name, row) => valueOf(this.table, name, row.cell.row);
    const columns = [{key: "name", title: "series", text: pick}, number("ratio", "÷ best"), {key: "status", title: "status", plain: true, text: row => at("status", row)},
      {...number("iterations", "iterations", row => words(at("iterations", row))), plain: true}, {...number("residual", "residual", row => residualWords(at("residual", row))), plain: true},
      {...number("setup", "set-up", row => duration(at("setup_seconds", row))), plain: true}, {...number("solve", "solve", row => duration(at("solve_seconds", row))), plain: true}];
    fillTable(this.el("snapshot-table"), columns, rows, this.snapshotOrder ?? {key: "ratio", down: false}, order => { this.snapshotOrder = order; this.drawDetails(); });
  }

  csv() { return this.rowsCsv(this.shownRows); }
  allSeries() { return [...this.found.series].sort(); }
}
