/* Plots with D3: steps of a profile, marks of runs, curves. Each is one SVG with all its looks inside, so that it can be saved as it is. */
"use strict";

const SIZE = {width: 620, height: 380, left: 64, right: 26, top: 12, bottom: 46};
const LEGEND = {most: 24, letter: 7, line: 16, mark: 34}; // names; widths in units of the picture

function isDark() { return matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches; }

/* A colour of the figures that can be seen on the page's paper. */
function seen(colour) {
  const shade = d3.lab(colour);
  if (isDark() && shade.l < 60) shade.l = 60 + shade.l / 6;
  return d3.rgb(shade).toString();
}

function inks() {
  return isDark() ? {ink: "#e6e6e6", rule: "#44474b", paper: "#16181a"} : {ink: "#1b1b1b", rule: "#d9d9d9", paper: "#ffffff"};
}

function scaleOf(kind, values, range, floor) {
  const finite = values.filter(value => Number.isFinite(value) && (kind !== "log" || value > 0));
  let [low, high] = finite.length ? d3.extent(finite) : [1, 10];
  if (floor !== undefined) low = Math.min(floor, low);
  if (kind === "log") {
    if (low === high) [low, high] = [low / 2, high * 2];
    const margin = (high / low) ** 0.03;
    return d3.scaleLog().domain([floor === undefined ? low / margin : low, high * margin]).range(range);
  }
  if (low === high) [low, high] = [Math.min(0, low), high || 1];
  return d3.scaleLinear().domain([low, high]).range(range).nice();
}

function tickText(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(4))) : value.toExponential(0).replace("e+", "e");
}

function axisOf(maker, scale, log) {
  if (!log) return maker(scale).ticks(6).tickFormat(tickText);
  const decades = Math.log10(scale.domain()[1] / scale.domain()[0]);
  const every = Math.max(1, Math.ceil(decades / 7));
  return maker(scale).ticks(8).tickFormat(value => {
    const power = Math.log10(value), digit = value / 10 ** Math.floor(power + 1e-9);
    const whole = Math.abs(power - Math.round(power)) < 1e-9;
    if (whole) return Math.round(power) % every ? "" : tickText(value);
    return decades < 1.6 && [2, 3, 5].includes(Math.round(digit)) ? tickText(value) : "";
  });
}

/* An empty plot: {svg, inner}, with axes and their words. */
function frame(place, title, x, y, xLog, yLog, xWords, yWords) {
  const {width, height, left, right, top, bottom} = SIZE, ink = inks();
  const svg = d3.select(place).html("").append("svg").attr("xmlns", "http://www.w3.org/2000/svg").attr("viewBox", `0 0 ${width} ${height}`)
    .attr("role", "img").attr("aria-label", title).attr("font-family", "system-ui, sans-serif").attr("font-size", 12);
  svg.append("rect").attr("width", width).attr("height", height).attr("fill", ink.paper);
  const grid = (axis, length) => axis.tickSize(-length);
  const horizontal = svg.append("g").attr("transform", `translate(0,${height - bottom})`).call(grid(axisOf(d3.axisBottom, x, xLog), height - top - bottom));
  const vertical = svg.append("g").attr("transform", `translate(${left},0)`).call(grid(axisOf(d3.axisLeft, y, yLog), width - left - right));
  for (const axis of [horizontal, vertical]) {
    axis.attr("font-family", "inherit").attr("font-size", 11);
    axis.selectAll(".tick line").attr("stroke", ink.rule).attr("stroke-opacity", 0.7);
    axis.selectAll("text").attr("fill", ink.ink);
    axis.selectAll(".domain").attr("stroke", ink.ink);
  }
  svg.append("text").attr("x", (left + width - right) / 2).attr("y", height - 8).attr("text-anchor", "middle").attr("fill", ink.ink).text(xWords);
  svg.append("text").attr("transform", `translate(14,${(top + height - bottom) / 2}) rotate(-90)`).attr("text-anchor", "middle").attr("fill", ink.ink).text(yWords);
  const id = `clip-${place.id}`;
  svg.append("clipPath").attr("id", id).append("rect").attr("x", left).attr("y", top - 6).attr("width", width - left - right + 6).attr("height", height - top - bottom + 12);
  return {svg, inner: svg.append("g").attr("clip-path", `url(#${id})`), ink};
}

const ranges = () => ({x: [SIZE.left, SIZE.width - SIZE.right], y: [SIZE.height - SIZE.bottom, SIZE.top]});

/* The names of what is drawn, below the axes, so that a saved picture explains itself. entries: [{name, colour, dashes}]; `dot`: marks instead of lines. */
function addLegend({svg, ink}, entries, dot = false) {
  const words = entries.slice(0, LEGEND.most).map(entry => entry.name);
  if (entries.length > words.length) words.push(`and ${entries.length - words.length} more, see the table of series`);
  if (!words.length) return;
  const room = SIZE.width - 2 * SIZE.right, widest = LEGEND.mark + LEGEND.letter * Math.max(...words.map(text => text.length));
  const columns = Math.max(1, Math.floor(room / widest)), step = room / columns, most = Math.floor((step - LEGEND.mark) / LEGEND.letter);
  const legend = svg.append("g").attr("class", "legend").attr("font-size", 11);
  words.forEach((text, place) => {
    const x = SIZE.right + step * (place % columns), y = SIZE.height + 8 + LEGEND.line * Math.floor(place / columns), entry = entries[place];
    if (place < LEGEND.most) {
      const mark = legend.append("line").attr("x1", dot ? x + 14 : x).attr("x2", dot ? x + 14 : x + 28).attr("y1", y - 4).attr("y2", y - 4).attr("stroke", seen(entry.colour));
      if (dot) mark.attr("stroke-width", 7).attr("stroke-linecap", "round");
      else mark.attr("stroke-width", 2).attr("stroke-dasharray", entry.dashes || null);
    }
    const word = legend.append("text").attr("x", x + LEGEND.mark).attr("y", y).attr("fill", ink.ink).text(text.length > most ? `${text.slice(0, most - 1)}…` : text);
    word.append("title").text(text);
  });
  const height = SIZE.height + 8 + LEGEND.line * Math.ceil(words.length / columns);
  svg.attr("viewBox", `0 0 ${SIZE.width} ${height}`).select("rect").attr("height", height);
}

/* lines: [{name, colour, dashes, points: [[x, y]], step}] */
function drawLines(place, title, lines, options) {
  const all = lines.flatMap(line => line.points), range = ranges();
  const x = scaleOf(options.xScale, all.map(point => point[0]), range.x, options.xFloor);
  const y = options.yDomain ? d3.scaleLinear().domain(options.yDomain).range(range.y) : scaleOf(options.yScale, all.map(point => point[1]), range.y);
  const parts = frame(place, title, x, y, options.xScale === "log", !options.yDomain && options.yScale === "log", options.xWords, options.yWords);
  const good = value => Number.isFinite(value);
  const label = parts.svg.append("text").attr("x", range.x[0] + 6).attr("y", SIZE.top + 14).attr("fill", parts.ink.ink).attr("font-weight", 600);
  for (const line of lines) {
    const path = d3.line().x(point => x(point[0])).y(point => y(point[1])).defined(point => good(x(point[0])) && good(y(point[1])));
    if (line.step) path.curve(d3.curveStepAfter);
    const width = line.strong ? 3 : 1.7, drawn = path(line.points);
    const visible = parts.inner.append("path").attr("d", drawn).attr("fill", "none").attr("stroke", seen(line.colour)).attr("stroke-width", width)
      .attr("stroke-dasharray", line.dashes || null);
    visible.append("title").text(line.name);
    parts.inner.append("path").attr("d", drawn).attr("fill", "none").attr("stroke", "transparent").attr("stroke-width", 9)  // easier to point at
      .on("pointerenter", () => { label.text(line.name); visible.attr("stroke-width", 4); })
      .on("pointerleave", () => { label.text(""); visible.attr("stroke-width", width); });
  }
  addLegend(parts, lines);
  if (options.level > 0) parts.inner.append("line").attr("x1", range.x[0]).attr("x2", range.x[1]).attr("y1", y(options.level)).attr("y2", y(options.level))
    .attr("stroke", parts.ink.ink).attr("stroke-dasharray", "2 3");
  return parts;
}

/* series: [{name, colour, marks: [{x, y, reached, ...}], points}]; one path per series, so that ten thousand marks are quick to draw. `points`: a line
   through them, with `dashes`, NaN where it is broken; options.faint: marks pale behind it. Returns {parts, marks: [{px, py, mark}]} in the order of x. */
function drawMarks(place, title, series, options) {
  const all = series.flatMap(line => line.marks), range = ranges();
  const x = scaleOf(options.xScale, all.map(mark => mark.x), range.x), y = scaleOf(options.yScale, all.map(mark => mark.y), range.y);
  const parts = frame(place, title, x, y, options.xScale === "log", options.yScale === "log", options.xWords, options.yWords);
  const placed = [];
  for (const line of series) {
    let dots = "", crosses = "";
    for (const mark of line.marks) {
      const px = Math.round(10 * x(mark.x)) / 10, py = Math.round(10 * y(mark.y)) / 10;
      if (!Number.isFinite(px) || !Number.isFinite(py)) continue;
      placed.push({px, py, mark});
      if (mark.reached) dots += `M${px},${py}h0`;
      else crosses += `M${px - 3},${py - 3}l6,6m0,-6l-6,6`;
    }
    const colour = seen(line.colour), path = (d, width) => parts.inner.append("path").attr("d", d).attr("stroke", colour).attr("stroke-width", width).attr("fill", "none");
    if (dots) path(dots, options.faint ? 4 : 5.5).attr("stroke-linecap", "round").attr("stroke-opacity", options.faint ? 0.3 : 0.75);
    if (crosses) path(crosses, 1.3);
  }
  const finite = point => Number.isFinite(x(point[0])) && Number.isFinite(y(point[1]));
  for (const line of series.filter(one => one.points?.length))
    parts.inner.append("path").attr("d", d3.line().x(point => x(point[0])).y(point => y(point[1])).defined(finite)(line.points)).attr("fill", "none")
      .attr("stroke", seen(line.colour)).attr("stroke-width", 1.7).attr("stroke-dasharray", line.dashes || null);
  addLegend(parts, series, !series.some(line => line.points?.length));
  parts.ring = parts.svg.append("circle").attr("r", 7).attr("fill", "none").attr("stroke", parts.ink.ink).attr("stroke-width", 2).attr("visibility", "hidden");
  placed.sort((a, b) => a.px - b.px || b.py - a.py);
  return {parts, marks: placed, tree: d3.quadtree().x(item => item.px).y(item => item.py).addAll(placed)};
}

/* The marks can be pointed at, clicked, and walked with the arrow keys: ten at a time up and down. `tell(mark)`, `open(mark)`. */
function bindMarks({parts, marks, tree}, tell, open) {
  const svg = parts.svg.node();
  svg.setAttribute("tabindex", "0");
  svg.setAttribute("role", "application");
  svg.setAttribute("aria-roledescription", "plot with a mark for every row");
  svg.style.cursor = "pointer";
  let at = -1;
  const show = item => {
    parts.ring.attr("cx", item.px).attr("cy", item.py).attr("visibility", "visible");
    tell(item.mark);
  };
  const under = event => {
    const box = svg.getBoundingClientRect(), scale = SIZE.width / box.width;
    return tree.find((event.clientX - box.left) * scale, (event.clientY - box.top) * scale, 24);
  };
  svg.addEventListener("pointermove", event => { const item = under(event); if (item) show(item); });
  svg.addEventListener("click", event => { const item = under(event); if (item) open(item.mark); });
  svg.addEventListener("keydown", event => {
    const by = {ArrowRight: 1, ArrowDown: 10, ArrowLeft: -1, ArrowUp: -10}[event.key];
    if (by && marks.length) at = Math.max(0, Math.min(marks.length - 1, at + by)), show(marks[at]), event.preventDefault();
    if ((event.key === "Enter" || event.key === " ") && marks[at]) open(marks[at].mark), event.preventDefault();
  });
}

function saveSvg(place, name) {
  const svg = place.querySelector("svg");
  if (svg) saveAs(`${name}.svg`, "image/svg+xml", new XMLSerializer().serializeToString(svg));
}
