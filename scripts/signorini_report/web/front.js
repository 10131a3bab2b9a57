/* The map of winners: scenes × solvers, colour = cost over the best on the same snapshot. */
"use strict";

const WORST = 30; // worse than this has the same colour
const SURE = 3;   // snapshots; fewer say little
const NEAR = 1.1; // as good as the best, for who measures times

function isDark() { return matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches; }

function ratioWords(ratio) { return ratio < 9.95 ? ratio.toFixed(1) : ratio < 9999 ? String(Math.round(ratio)) : ratio.toExponential(0).replace("e+", "e"); }

/* 3/4; from five signs on in two lines, so that neighbours in narrow columns stay apart. */
function fractionWords(part, whole) {
  const words = [`${part}/`, `${whole}`];
  if (words.join("").length < 5) return [words.join("")];
  return words.map(text => {
    const line = document.createElement("span");
    line.className = "line";
    line.textContent = text;
    return line;
  });
}

/* Colour of a ratio and of letters on it. */
function colourOf(ratio) {
  const colour = d3.rgb(d3.interpolateYlGnBu(1 - Math.log(Math.min(Math.max(ratio, 1), WORST)) / Math.log(WORST)));
  const light = part => { const value = part / 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const shade = 0.2126 * light(colour.r) + 0.7152 * light(colour.g) + 0.0722 * light(colour.b);
  return [colour.toString(), shade > 0.18 ? "#000000" : "#ffffff"];
}

class Front {
  constructor(settings, pictures) {
    Object.assign(this, {settings, pictures, tables: new Map()});
    this.ids = settings.experiments.map(one => one.id);
    this.first = {experiment: this.ids[0], target: "", measure: "total", law: "", regions: "", threads: "", protocol: "", scene: "", sort: "", down: ""};
    this.state = readState(this.first);
  }

  async load() {
    if (!this.ids.includes(this.state.experiment)) this.state.experiment = this.ids[0];
    const id = this.state.experiment;
    if (!this.tables.has(id)) this.tables.set(id, rowsOf(await unpacked([...document.querySelectorAll("script.rows")].find(one => one.dataset.id === id).textContent)));
    this.table = this.tables.get(id);
    this.about = this.settings.experiments.find(one => one.id === id);
  }

  choices() {
    const {table, about} = this, some = (name, wanted) => { const values = valuesOf(table, name).map(String); return [values, wanted.find(value => values.includes(value)) ?? values[0]]; };
    const [laws, law] = some("law", ["cone"]), [regions, mode] = some("region_mode", ["points", "none"]), [threads, thread] = some("threads", ["1"]);
    return {target: [about.targets.map((_, place) => String(place)), String(about.target)], measure: [Object.keys(measuresOf(table)), "total"], law: [laws, law], regions: [regions, mode],
      threads: [threads, thread], protocol: [about.protocols, about.protocols[0]]};
  }

  /* What is asked for, or what stands for nothing asked. */
  now() {
    return Object.fromEntries(Object.entries(this.choices()).map(([key, [values, usual]]) => [key, values.includes(this.state[key]) ? this.state[key] : usual]));
  }

  select() {
    const {table} = this, now = this.now();
    this.keys ??= new Map();
    if (!this.keys.has(table)) this.keys.set(table, {snapshot: Array.from({length: table.count}, (_, row) => `${table.texts.file.at[row]}|${table.texts.step.at[row]}`),
      series: Array.from({length: table.count}, (_, row) => valueOf(table, "name", row))});
    const rows = chosenRows(table, now.protocol, {law: new Set([now.law]), region_mode: new Set([now.regions]), threads: new Set([now.threads])});
    const order = Object.keys(this.about.looks), byScene = new Map();
    for (const row of rows) {
      const scene = valueOf(table, "scene", row);
      if (!byScene.has(scene)) byScene.set(scene, []);
      byScene.get(scene).push(row);
    }
    this.scenes = [...byScene].map(([scene, part]) => this.sceneOf(scene, part, now)).sort((a, b) => compared(a.scene, b.scene));
    const present = new Set(this.scenes.flatMap(scene => [...scene.series.keys()]));
    this.solvers = order.filter(name => present.has(name));
  }

  /* One line of the map: what every solver did, and which one to take. */
  sceneOf(scene, rows, now) {
    const found = cellsOf(this.table, rows, this.keys.get(this.table), now.target, now.measure), profile = profileOf(found, new Set(found.series)), series = new Map();
    for (const [name, own] of profile.series) series.set(name, {name, asked: own.asked, solved: own.ratios.length, best: own.best, ratio: geometricMean(own.ratios),
      low: d3.quantile(own.ratios, 0.25) ?? null, high: d3.quantile(own.ratios, 0.75) ?? null, whole: own.asked === profile.snapshots && own.ratios.length === own.asked});
    const ranked = [...series.values()].sort((a, b) => b.whole - a.whole || (a.whole ? 0 : b.solved - a.solved) || compared(a.ratio, b.ratio));
    const contacts = median(rows.map(row => this.table.numbers.contacts[row])), dofs = median(rows.map(row => this.table.numbers.dofs[row]));
    return {scene, series, ranked, snapshots: profile.snapshots, contacts, dofs, solvedAll: ranked.filter(one => one.whole).length};
  }

  /* {take: "Newton", why: "best on 7 of 8; within 10 %: PGS", sure}. */
  adviceOf(line) {
    const [first, second] = line.ranked;
    if (!first || first.ratio === null) return {take: "none", why: `no solver reached it on any of ${line.snapshots}`, sure: false};
    if (!first.whole) return {take: first.name, why: `reached it on ${first.solved} of ${line.snapshots}; no solver on all`, sure: false};
    const near = line.ranked.slice(1).filter(one => one.whole && one.ratio <= NEAR * first.ratio).map(one => one.name);
    const others = near.length ? `; within 10 %: ${near.slice(0, 3).join(", ")}${near.length > 3 ? ` and ${near.length - 3} more` : ""}`
      : second?.whole ? `; next ${second.name}, ${ratioWords(second.ratio / first.ratio)} ×` : "; the only one on all";
    return {take: first.name, why: `best on ${first.best} of ${line.snapshots}${others}`, sure: line.snapshots >= SURE};
  }

  /* The last line: every solver over all scenes, each scene counted once. */
  wholeLine() {
    const series = new Map(), snapshots = d3.sum(this.scenes, line => line.snapshots);
    for (const name of this.solvers) {
      const own = this.scenes.map(line => line.series.get(name)).filter(Boolean), ratios = own.map(one => one.ratio).filter(ratio => ratio !== null).sort((a, b) => a - b);
      series.set(name, {name, asked: d3.sum(own, one => one.asked), solved: d3.sum(own, one => one.solved), best: d3.sum(own, one => one.best), ratio: geometricMean(ratios),
        low: d3.quantile(ratios, 0.25) ?? null, high: d3.quantile(ratios, 0.75) ?? null, whole: own.length === this.scenes.length && own.every(one => one.whole)});
    }
    const ranked = [...series.values()].sort((a, b) => b.whole - a.whole || (a.whole ? 0 : b.solved - a.solved) || compared(a.ratio, b.ratio));
    return {scene: "", series, ranked, snapshots, contacts: median(this.scenes.map(line => line.contacts)), dofs: median(this.scenes.map(line => line.dofs)), solvedAll: ranked.filter(one => one.whole).length};
  }

  async draw() {
    await this.load();
    this.select();
    writeState(this.state, this.first);
    this.drawControls();
    this.drawMap();
    this.drawScene();
  }

  set(changes) { Object.assign(this.state, changes); return this.draw(); }

  drawControls() {
    const now = this.now(), choices = this.choices(), titles = {target: place => this.about.targets[place].toExponential(0), measure: name => MEASURES[name].title,
      protocol: name => ({time: "timed", "self-stopped": "own stop", converge: "traced"}[name] ?? name)};
    fillSelect(el("experiment"), this.settings.experiments.map(one => [one.id, `${one.title} (${counted(one.scenes, "scene")})`]), this.state.experiment,
      id => this.set({...this.first, experiment: id}));
    for (const [key, [values]] of Object.entries(choices)) {
      fillSelect(el(key), values.map(value => [value, titles[key]?.(value) ?? value]), now[key], value => this.set({[key]: value}));
      el(key).closest("label").hidden = values.length < 2;
    }
    const few = this.scenes.filter(line => line.snapshots < SURE).length;
    el("counts").textContent = `${this.about.id}${this.about.size ? `, size ${this.about.size}` : ""}: ${counted(this.scenes.length, "scene")}, ${counted(this.solvers.length, "solver")}, `
      + `${counted(d3.sum(this.scenes, line => line.snapshots), "snapshot")}; ${counted(this.about.rows, "run")} in all.`
      + (few ? ` ${counted(few, "scene")} with fewer than ${SURE} snapshots: the advice stands in italics.` : "");
  }

  drawMap() {
    const columns = [{key: "scene", title: "scene", text: line => this.sceneCell(line)}, {key: "take", title: "take", value: line => this.adviceOf(line).take, text: line => this.adviceCell(line)},
      {key: "snapshots", title: "snap-shots", number: true},
      ...this.solvers.map(name => ({key: `of ${name}`, title: name, number: true, value: line => line.series.get(name)?.ratio ?? null, text: line => this.ratioCell(line, name)}))];
    const {state} = this;
    fillTable(el("map"), columns, this.scenes, state.sort ? {key: state.sort, down: state.down === "1"} : null, ({key, down}) => this.set({sort: key, down: down ? "1" : ""}));
    this.addWholeLine(columns);
    const box = el("colours");
    box.textContent = "";
    for (const ratio of [1, 2, 5, 10, WORST]) {
      const sample = document.createElement("span"), [back, ink] = colourOf(ratio);
      Object.assign(sample.style, {background: back, color: ink});
      sample.className = "sample";
      sample.textContent = ratio === WORST ? `${ratio} ×` : ratio;
      box.append(sample);
    }
  }

  addWholeLine(columns) {
    if (this.scenes.length < 2) return;
    const line = this.wholeLine(), row = el("map").createTFoot().insertRow();
    columns.forEach((column, place) => {
      const cell = place ? row.insertCell() : row.appendChild(document.createElement("th"));
      if (!place) { cell.textContent = "all scenes"; cell.scope = "row"; return; }
      if (column.number) cell.className = "number";
      const content = column.text ? column.text(line) : words(line[column.key]);
      if (content instanceof Node) cell.append(content);
      else cell.textContent = content;
    });
  }

  sceneCell(line) {
    const button = document.createElement("button"), picture = this.pictures[line.scene];
    button.type = "button";
    button.className = "opener scene";
    if (picture) {
      const image = document.createElement("img");
      image.src = picture;
      image.alt = "";
      image.width = 72;
      button.append(image);
    }
    const text = document.createElement("span"), small = document.createElement("small");
    text.textContent = line.scene.replaceAll("_", " ");
    small.textContent = `${Math.round(line.contacts).toLocaleString("en")} contacts, ${Math.round(line.dofs).toLocaleString("en")} dofs`;
    button.append(text, small);
    button.addEventListener("click", () => this.open(line.scene));
    return button;
  }

  adviceCell(line) {
    const advice = this.adviceOf(line), place = document.createElement("span"), name = document.createElement("b"), why = document.createElement("small");
    place.className = advice.sure ? "advice" : "advice unsure";
    name.textContent = advice.take;
    why.textContent = advice.why;
    place.append(name, why);
    return place;
  }

  ratioCell(line, name) {
    const own = line.series.get(name), place = document.createElement("button");
    place.type = "button";
    place.className = "ratio";
    if (!own) { place.textContent = "–"; place.disabled = true; return place; }
    place.title = `${name} on ${line.scene || "all scenes"}: ${own.solved} of ${own.asked} snapshots reached` + (own.ratio === null ? "" : `; ${words(own.ratio)} × the best (quartiles ${words(own.low)} to ${words(own.high)}), best on ${own.best}`);
    if (own.whole) {
      const [back, ink] = colourOf(own.ratio);
      Object.assign(place.style, {background: back, color: ink, fontWeight: own === line.ranked[0] ? 700 : 400});
      place.textContent = ratioWords(own.ratio);
      if (own === line.ranked[0]) place.classList.add("winner");
    } else {
      place.classList.add("differs");
      place.append(...fractionWords(own.solved, line.snapshots));
    }
    place.setAttribute("aria-label", `${place.textContent}: ${place.title}`);
    if (line.scene) place.addEventListener("click", () => this.open(line.scene));
    else place.disabled = true;
    return place;
  }

  async open(scene) {
    await this.set({scene});
    el("scene").focus({preventScroll: true});
    el("scene").scrollIntoView({block: "nearest"});
  }

  drawScene() {
    const line = this.scenes.find(one => one.scene === this.state.scene), panel = el("scene"), now = this.now();
    panel.hidden = !line;
    if (!line) return;
    el("scene-title").textContent = line.scene.replaceAll("_", " ");
    const advice = this.adviceOf(line);
    el("scene-facts").textContent = `${counted(line.snapshots, "snapshot")}; ${line.solvedAll} of ${line.series.size} solvers reached the residual on all of them. Take ${advice.take}: ${advice.why}.`;
    el("scene-picture").hidden = !this.pictures[line.scene];
    if (this.pictures[line.scene]) { el("scene-picture").src = this.pictures[line.scene]; el("scene-picture").alt = `Picture of the scene ${line.scene}`; }
    const number = (key, title) => ({key, title, number: true, plain: true});
    fillTable(el("ranking"), [{key: "name", title: "solver", plain: true}, {...number("solved", "reached"), text: one => `${one.solved} of ${one.asked}`}, number("ratio", "÷ best"),
      number("low", "lower quartile"), number("high", "upper quartile"), number("best", "best on")], line.ranked, null, () => {});
    const wanted = new URLSearchParams({scene: line.scene, target: now.target, measure: now.measure, law: now.law, region_mode: now.regions, threads: now.threads, protocol: now.protocol});
    el("scene-link").href = `${encodeURIComponent(this.about.id)}/index.html#${wanted}`;
  }

  csv() {
    return csvOf(["experiment", "scene", "solver", "snapshots", "asked", "reached", "ratio_to_best", "lower_quartile", "upper_quartile", "best_on"], this.scenes.flatMap(line =>
      line.ranked.map(one => [this.about.id, line.scene, one.name, line.snapshots, one.asked, one.solved, one.ratio, one.low, one.high, one.best])));
  }

  bind() {
    el("reset").onclick = () => this.set({...this.first});
    el("link").onclick = () => copyText(location.href, el("link"));
    el("map-csv").onclick = () => saveAs("winners.csv", "text/csv", this.csv());
    el("scene-close").onclick = () => this.set({scene: ""});
    addEventListener("hashchange", () => { this.state = readState(this.first); this.draw(); });
  }
}

async function startFront() {
  try {
    const front = new Front(JSON.parse(el("settings").textContent), JSON.parse(el("pictures").textContent));
    window.signorini = front;
    el("winners").hidden = false;
    front.bind();
    await front.draw();
    document.documentElement.dataset.ready = "1";
  } catch (error) {
    document.documentElement.dataset.failed = "1";
    el("counts").textContent = `This browser cannot show the map (${error.message}); the pages of the experiments stand below.`;
    console.error(error);
  }
}
startFront();
