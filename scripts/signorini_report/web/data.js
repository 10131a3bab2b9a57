/* Rows of a page: interactive.py packs them as columns (JSON, deflated, base64). */
"use strict";

const el = id => document.getElementById(id);

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/* {count, columns}: every column an array; {words, at} for text, which filters compare by place. */
function rowsOf(raw) {
  const table = {count: raw.count, numbers: {}, texts: {}};
  for (const [name, column] of Object.entries(raw.columns)) {
    if ("words" in column) table.texts[name] = {words: column.words, at: column.at ? column.at : Array(raw.count).fill(0)};
    else table.numbers[name] = column.numbers ? JSON.parse(column.numbers) : Array(raw.count).fill(JSON.parse(column.one));
  }
  return table;
}

function valueOf(table, name, row) {
  if (name in table.texts) return table.texts[name].words[table.texts[name].at[row]];
  return name in table.numbers ? table.numbers[name][row] : undefined;
}

/* Distinct values of a column; numbers by size. */
function valuesOf(table, name) {
  if (name in table.texts) return [...table.texts[name].words];
  return [...new Set(table.numbers[name])].sort((a, b) => a - b);
}

/* Rows that filters let through. `allowed`: {column: Set of values, as text} of the filters that say something. */
function matchingRows(table, allowed) {
  const tests = Object.entries(allowed).map(([name, set]) => {
    const text = table.texts[name];
    if (!text) return row => set.has(String(table.numbers[name][row]));
    const places = text.words.map(word => set.has(word));
    return row => places[text.at[row]];
  });
  const found = [];
  for (let row = 0; row < table.count; ++row) if (tests.every(test => test(row))) found.push(row);
  return found;
}

function stepNumber(step) { return Number.parseFloat(step) || 0; }

/* Text for a reader: three digits. */
function words(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  const size = Math.abs(value);
  return size >= 1e-3 && size < 1e7 ? String(Number(value.toPrecision(3))) : value.toExponential(2);
}

/* "1 scene", "2 scenes" */
function counted(count, word) { return `${count} ${word}${count === 1 ? "" : "s"}`; }

/* Seconds in the unit that reads best. */
function duration(seconds) {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const [factor, unit] = seconds >= 1 ? [1, "s"] : seconds >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
  return `${Number((seconds * factor).toPrecision(3))} ${unit}`;
}

function residualWords(value) { return value === null ? "no number" : Number.isFinite(value) ? value.toExponential(1) : "overflow"; }

function csvCell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  const safe = /^[=+@\t\r]/.test(text) || /^-[^\d.]/.test(text) ? `'${text}` : text; // a spreadsheet must not take a name for a formula
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvOf(header, rows) { return [header, ...rows].map(row => row.map(csvCell).join(",")).join("\n") + "\n"; }

function saveAs(name, kind, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type: kind}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
