/* What series of runs are compared by: cost of a run, the best on a snapshot, profiles after Dolan and Moré 2002.
   A snapshot is one recorded problem (file, step); a series is one combination of solver, law, region mode, threads.
   Cost of a series on a snapshot: of its run with the loosest tolerance of its own among those that reached the residual asked for
   (first_to_reach of data.py); infinite where none did. */
"use strict";

const MEASURES = {
  total: {title: "time with set-up", label: "time with set-up", seconds: true, of: (table, row) => table.numbers.setup_seconds[row] + table.numbers.solve_seconds[row]},
  solve: {title: "time without set-up", label: "time without set-up", seconds: true, of: (table, row) => table.numbers.solve_seconds[row]},
  iterations: {title: "iterations", label: "iterations", of: (table, row) => table.numbers.iterations[row]},
  products: {title: "products with W", label: "products with W", column: "products", of: (table, row) => table.numbers.products[row]},
};

function measuresOf(table) {
  return Object.fromEntries(Object.entries(MEASURES).filter(([, measure]) => !measure.column || table.numbers[measure.column]?.some(value => value > 0)));
}

function costOf(table, measure, row) {
  const value = MEASURES[measure].of(table, row);
  return value === null || Number.isNaN(value) ? Infinity : value;
}

/* The runs of a protocol that the filters let through; what a solver does not support is no run. */
function chosenRows(table, protocol, allowed) {
  const wanted = table.texts.protocol.words.indexOf(protocol), at = table.texts.protocol.at;
  const status = table.texts.status, unsupported = status.words.indexOf("unsupported");
  return matchingRows(table, allowed).filter(row => at[row] === wanted && status.at[row] !== unsupported);
}

/* {snapshots: [key], series: [key], cells: Map snapshot → Map series → {row, cost, reached}} of rows. */
function cellsOf(table, rows, keys, target, measure) {
  const reached = table.numbers[`reached.${target}`], tolerance = table.numbers.tolerance;
  const cells = new Map(), series = new Set();
  for (const row of rows) {
    const snapshot = keys.snapshot[row], name = keys.series[row];
    series.add(name);
    if (!cells.has(snapshot)) cells.set(snapshot, new Map());
    const line = cells.get(snapshot), known = line.get(name), good = reached[row] === 1;
    if (!known || good > known.reached || (good === known.reached && tolerance[row] > tolerance[known.row]))
      line.set(name, {row, reached: good, cost: good ? costOf(table, measure, row) : Infinity});
  }
  return {snapshots: [...cells.keys()], series: [...series], cells};
}

function ratioOf(cost, best) {
  if (!Number.isFinite(cost)) return Infinity;
  return cost === best ? 1 : best > 0 ? cost / best : Infinity;
}

/* {series: {ratios: sorted finite ratios, asked: snapshots with a run of it}, snapshots: number of all}; `shown`: Set of series. */
function profileOf(found, shown) {
  const profile = {series: new Map([...shown].map(name => [name, {ratios: [], asked: 0, best: 0}])), snapshots: 0};
  for (const line of found.cells.values()) {
    const present = [...line].filter(([name]) => shown.has(name));
    if (!present.length) continue;
    ++profile.snapshots;
    const best = Math.min(...present.map(([, cell]) => cell.cost));
    for (const [name, cell] of present) {
      const own = profile.series.get(name), ratio = ratioOf(cell.cost, best);
      ++own.asked;
      cell.ratio = ratio;
      if (Number.isFinite(ratio)) own.ratios.push(ratio);
      if (ratio === 1) ++own.best;
    }
  }
  for (const own of profile.series.values()) own.ratios.sort((a, b) => a - b);
  return profile;
}

/* The share of all snapshots that a series solves within `factor` of the best. */
function shareWithin(profile, name, factor) {
  const ratios = profile.series.get(name)?.ratios ?? [];
  return profile.snapshots ? ratios.filter(ratio => ratio <= factor).length / profile.snapshots : 0;
}

function median(values) {
  if (!values.length) return null;
  const sorted = [...values].sort((a, b) => a - b), middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function geometricMean(values) {
  return values.length ? Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length) : null;
}
