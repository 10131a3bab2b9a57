/* What every interactive part of a page does: keeps its state in the address, lets rows through its filters, takes series in and out, saves what
   is shown, follows the reader's colours, and goes on paper. A page may hold several parts: `key` stands before the ids of a part (`t-counts`) and
   before its words in the address (`t.x`); the part of the runs has none.

   A part says: firstState(), mend() after an address was read, nameSeries(), draw(), drawRows(paper), drawPlots(), csv(). */
"use strict";

class View {
  constructor(table, settings, key = "") {
    Object.assign(this, {table, settings, key, moreRows: false});
    this.filters = settings.filters.map(([name, title]) => ({name, title, values: valuesOf(table, name).map(String)}));
  }

  el(id) { return el(this.key ? `${this.key}-${id}` : id); }

  begin() {
    this.el("explorer").hidden = false;
    this.first = this.firstState();
    this.readAddress();
    this.bind();
    this.draw();
  }

  readAddress() {
    this.state = readState(this.first, this.key);
    this.mend();
    for (const {name, values} of this.filters) if (this.state[name]) this.state[name] = this.state[name].filter(value => values.includes(value));
    this.nameSeries();
  }

  /* What an address names and this page does not have is as in the first view. */
  keep(key, known) { if (!known.includes(this.state[key])) this.state[key] = this.first[key]; }

  write() { writeState(this.state, this.first, this.key); }

  set(changes) {
    Object.assign(this.state, changes);
    if (Object.keys(changes).some(key => this.filters.some(filter => filter.name === key))) this.nameSeries();
    this.draw();
  }

  allowed(state) {
    return Object.fromEntries(this.filters.filter(({name}) => state[name] !== null).map(({name}) => [name, new Set(state[name])]));
  }

  /* Rows that these filters let through. */
  through(allowed) { return matchingRows(this.table, allowed); }

  /* Of a filter: {value: rows that the other filters let through}. */
  countsOf(name) {
    const allowed = this.allowed(this.state), counts = new Map();
    delete allowed[name];
    for (const row of this.through(allowed)) {
      const value = String(valueOf(this.table, name, row));
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return counts;
  }

  fill(id, pairs, key) { fillSelect(this.el(id), pairs, this.state[key], value => this.set({[key]: value})); }
  scales(pairs) { for (const [id, key] of pairs) bindSelect(this.el(id), this.state[key], value => this.set({[key]: value})); }
  drawFilters() { fillFilters(this.el("filters"), this.filters, this.state, this.first, name => this.countsOf(name), changes => this.set(changes)); }

  /* The name of a series with its line and its box. */
  seriesCell(row, look) {
    return seriesBox(row.name, row.shown, look, shown => {
      this.set({off: offAfter(this.state.off, row.name, shown)});
      focusBox(this.el("series-table"), row.name);
    });
  }

  /* Columns are sorted by state.sort and state.down; by name, the order of the rows stays. */
  drawSeriesTable(columns, rows) {
    const order = {key: this.state.sort, down: this.state.down === "1"};
    fillTable(this.el("series-table"), columns, rows, order.key === "name" && !order.down ? null : order, ({key, down}) => this.set({sort: key, down: down ? "1" : ""}));
  }

  /* The long table of rows; `whole`: the file that holds all of them. */
  drawRowsTable(columns, lines, {paper = false, whole}) {
    const order = {key: this.state.runsort, down: this.state.rundown === "1"};
    const limit = limitRows(id => this.el(`runs-${id}`), lines.length, {paper, all: this.moreRows, whole});
    fillTable(this.el("runs-table"), columns, lines, order, ({key, down}) => this.set({runsort: key, rundown: down ? "1" : ""}), limit);
  }

  showDetails() {
    this.el("details").focus({preventScroll: true});
    this.el("details").scrollIntoView({block: "start"});
  }

  /* All columns of rows, as the page holds them. */
  rowsCsv(rows) {
    const {table} = this, names = [...Object.keys(table.texts), ...Object.keys(table.numbers)].filter(name => !name.startsWith("reached."));
    return csvOf(names, rows.map(row => names.map(name => valueOf(table, name, row))));
  }

  seriesCsv() {
    const columns = this.seriesColumns().map(column => column.key);
    return csvOf(columns, this.seriesRows().filter(row => row.shown).map(row => columns.map(key => row[key])));
  }

  bind() {
    const click = (id, act) => { this.el(id).onclick = act; };
    click("reset", () => { this.state = structuredClone(this.first); this.moreRows = false; this.nameSeries(); this.draw(); });
    click("link", () => copyText(location.href, this.el("link")));
    click("copy", () => copyText(this.el("command").textContent, this.el("copy")));
    click("details-close", () => { this.set({file: "", step: "", run: ""}); this.el("scatter").querySelector("svg")?.focus(); });
    click("all-series", () => this.set({off: []}));
    click("no-series", () => this.set({off: this.allSeries()}));
    click("runs-more", () => { this.moreRows = true; this.drawRows(); });
    click("runs-csv", () => saveAs(`${this.settings.what}_shown.csv`, "text/csv", this.csv()));
    click("series-csv", () => saveAs("series_shown.csv", "text/csv", this.seriesCsv()));
    for (const button of this.el("explorer").querySelectorAll("[data-save]")) button.onclick = () => saveSvg(this.el(button.dataset.save), button.dataset.save);
    addEventListener("hashchange", () => { this.readAddress(); this.draw(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    addEventListener("beforeprint", () => { this.drawRows(true); this.drawPlots(); });
    addEventListener("afterprint", () => this.draw());
  }
}

/* Starts the parts of a page, [[key, make(table, settings)]]; the page is ready when all of them are. */
async function startViews(parts) {
  for (const [key, make] of parts) {
    const id = name => el(key ? `${key}-${name}` : name);
    try {
      const view = make(rowsOf(await unpacked(id("rows").textContent)), JSON.parse(id("settings").textContent));
      (window.signoriniParts ??= {})[key || "runs"] = view;
      window.signorini ??= view;
      view.begin();
    } catch (error) {
      document.documentElement.dataset.failed = "1";
      id("explorer").hidden = false;
      id("counts").textContent = `This browser cannot show the interactive part (${error.message}); static figures and tables stand below.`;
      console.error(error);
    }
  }
  if (!document.documentElement.dataset.failed) document.documentElement.dataset.ready = "1";
}
